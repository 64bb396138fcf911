"""A document of a NaN hunt."""

from typing import Any


Document = dict[str, Any]


def nan_hunt() -> Document:
    """A NaN in the second iteration of a loop, from an infinity before it."""
    place = {
        "file": "cell-1",
        "cell": "In [1]",
        "line": 3,
        "end_line": 3,
        "column": 11,
        "end_column": 16,
        "function": "f",
    }
    position = {**place, "text": "    return x - x"}
    turn = {"number": 1, "count": 4, "position": position}
    step = {
        "path": "e2/e0",
        "primitive": "sub",
        "position": position,
        "transforms": ["transpose"],
        "iterations": [turn],
    }
    array = {
        "name": "operand 0",
        "type": "f32[2]",
        "text": "[inf 1.]",
        "smallest": 1.0,
        "largest": 1.0,
        "nans": 0,
        "infinities": 1,
        "size": 2,
        "index": [0],
        "element": "inf",
    }
    edit = {"line": 3, "column": 11, "end_line": 3, "end_column": 16, "text": "0 * y"}
    fix = {
        "text": "Write 0.",
        "edits": [edit],
        "checked": "Run: the NaN is gone.",
        "position": position,
        "before": ["    return x - x"],
    }
    return {
        "kind": "nan-hunt",
        "version": 1,
        "title": "f",
        "what": "NaN",
        "found": True,
        "sentence": "f gives NaN: it is made first by sub in line 3 of f.",
        "cause": "inf - inf",
        "sharp_bit": "silent-nan",
        "operation": step,
        "where": position,
        "values": [array],
        "infinity": {"step": {**step, "path": "e1", "iterations": []}, "values": [array]},
        "given": [],
        "route": [{**step, "path": "e2", "iterations": []}],
        "left_out": 0,
        "differs": "",
        "seconds": {"value": 0.5, "unit": "s", "origin": "measured", "note": "the hunt"},
        "fixes": [fix],
    }
