"""Compiled programs on disk: what one process compiled, the next one loads. It needs no MLIR for that and lowers nothing.

`programs` is what the backend asks; `report` is for people. Below them: `store` (one folder), `entry` (a program as bytes),
`key` (what it is filed under), `writer` (the thread that writes).
"""
