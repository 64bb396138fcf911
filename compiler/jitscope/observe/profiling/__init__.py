"""Time per kernel: `taking` (calls with and without the profiler), `spans` (what each instruction took in them), `owners` and `bounds`
(what that says of lines and named scopes), `peaks` (what the machine can do) and `roofline` (what bounds a kernel), `document` (all of
it as plain data)."""

from .document import profile_of


__all__ = ["instrument", "profile_of"]

instrument = profile_of
