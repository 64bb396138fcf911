"""A document of the memory of a program, made up for tests of views."""

from __future__ import annotations

from typing import Any

from tests.widgets.parts import Document, position, quantity


def memory() -> Document:
    def buffer(label: str, kind: str, size: int, born: int, dies: int, **fields: Any) -> Document:
        whole = {"label": label, "kind": kind, "bytes": size, "offset": 0, "allocation": 0, "born": born, "dies": dies}
        rest = {"type": "f32[64,20]", "instruction": "fusion.1", "values": 1, "argument": None, "kernel": None}
        return whole | rest | {"path": None, "paths": []} | fields

    def size(bytes: int) -> Document:
        return quantity(bytes, "B", "modelled", "as XLA planned it")

    buffers = [
        buffer("x", "argument", 5120, 0, 3, argument=0, instruction="x.1"),
        buffer("exponential", "temporary", 4000, 1, 2, path="e3", paths=["e3", "e4"], kernel="exp_fusion"),
        buffer("result", "result", 1792, 2, 3, path="e4", paths=["e4"], instruction="dot.1"),
    ]
    flops = quantity(9000.0, "flop", "modelled", "")
    tried = {
        "peak": 9120,
        "reserved": 9120,
        "temporary": 4000,
        "aliased": 1792,
        "flops": flops,
        "flops_before": flops,
        "seconds": quantity(0.1),
        "note": "",
    }
    edit = {"line": 1, "column": 0, "end_line": 1, "end_column": 4, "text": "jx.checkpoint(layer)"}
    return {
        "kind": "memory",
        "version": 1,
        "title": "layer",
        "sentence": "At most 10.9 kB are in use, at step 2 of 4.",
        "length": 4,
        "peak": {
            "position": 2,
            "bytes": 10912,
            "instruction": "dot.1",
            "kernel": "dot.1",
            "paths": ["e4"],
            "kinds": {"argument": 5120, "constant": 0, "result": 1792, "temporary": 4000},
            "buffers": [0, 1, 2],
            "count": 3,
            "lines": [
                {"path": None, "given": True, "buffers": 1, "bytes": 5120, "saved": 0},
                {"path": "e3", "given": False, "buffers": 1, "bytes": 4000, "saved": 4000},
                {"path": "e4", "given": False, "buffers": 1, "bytes": 1792, "saved": 0},
            ],
        },
        "kept": {
            "position": 2,
            "bytes": 4000,
            "buffers": 1,
            "lines": [{"path": "e3", "given": False, "buffers": 1, "bytes": 4000, "saved": 4000}],
        },
        "reserved": {
            "argument": size(5120),
            "constant": size(0),
            "result": size(1792),
            "temporary": size(4000),
            "aliased": size(0),
            "total": size(10912),
        },
        "curve": {
            "positions": [0, 1, 2, 3],
            "instructions": ["x.1", "exp_fusion", "dot.1", "tuple"],
            "argument": [5120, 5120, 5120, 5120],
            "constant": [0, 0, 0, 0],
            "result": [0, 0, 1792, 1792],
            "temporary": [0, 4000, 4000, 0],
        },
        "scopes": [
            {
                "instruction": "while.1",
                "text": "body of the loop",
                "iterations": 5,
                "start": 1,
                "end": 1,
                "paths": ["e3"],
            }
        ],
        "buffers": buffers,
        "left_out": {"buffers": 1, "bytes": 8},
        "changes": [
            {"id": "donate:0", "text": "donate x", "what": "donation", "edits": [], "position": None, "tried": tried},
            {
                "id": "checkpoint:0",
                "text": "checkpoint layer",
                "what": "checkpoint",
                "edits": [edit],
                "position": position(1),
                "tried": None,
            },
        ],
        "positions": {"e3": position(3), "e4": position(4)},
        "cost": quantity(0.2, note="compiled once more"),
    }
