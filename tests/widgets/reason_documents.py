"""A document of reasons, for tests."""

from __future__ import annotations

from typing import Any


def reasons() -> dict[str, Any]:
    def end(kernel: str, opcode: str, path: str, line: int | None) -> dict[str, Any]:
        position = {
            "file": "cell-3", "cell": "In [3]", "line": line, "end_line": line, "column": 8, "end_column": 17,
            "function": "layer", "text": "    h = np.tanh(x @ w)",
        }  # fmt: skip
        return {"kernel": kernel, "opcode": opcode, "paths": [path], "positions": [position] if line else []}

    library = {"kind": "library", "text": "the first is a library call, which the fusion pass leaves as it is"}
    return {
        "kind": "reasons",
        "version": 1,
        "title": "layer",
        "pairs": [
            {
                "giver": end("dot_fusion", "dot", "e0", 2),
                "reader": end("add_tanh_fusion", "add", "e1", 2),
                "bytes": 4096,
                "reason": "Producer is not loop-fusible.",
                "observed": [library],
            },
            {
                "giver": end("add_tanh_fusion", "tanh", "e2", 2),
                "reader": end("sum_fusion<script>", "reduce", "e3", None),
                "bytes": 4096,
                "reason": "a reason of another release",
                "observed": [],
            },
            {
                "giver": end("add_tanh_fusion", "tanh", "e2", 2),
                "reader": end("copy.1", "copy", "", None),
                "bytes": 4096,
                "reason": "",
                "observed": [],
            },
        ],
        "left_out": 7,
        "told": 5,
        "decisions": 31,
        "fused": 20,
        "cost": {
            "value": 0.9,
            "unit": "s",
            "origin": "measured",
            "note": "compiled once more in a process of its own, and read",
        },
    }
