"""Time per kernel: `measurement` (calls with and without the profiler), `spans` (what each instruction took in them), `recorded_call` (one of
them on a time axis), `owners`, `bounds` and `estimate` (what that says of lines and named scopes), `peaks` (what the machine can do) and `roofline` (what bounds a kernel), `document` (all of
it as plain data)."""
