"""Time per kernel: `taking` (calls with and without the profiler), `spans` (what each instruction took in them), `owners` and `bounds`
(what that says of lines and named scopes), `peaks` (what the machine can do) and `roofline` (what bounds a kernel), `document` (all of
it as plain data)."""
