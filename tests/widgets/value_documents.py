"""A document of the values of a program, made up for tests of views."""

from __future__ import annotations

from typing import Any

from tests.widgets.parts import Document, position, quantity


def values() -> Document:
    def row(path: str, label: str, line: int | None, **fields: Any) -> Document:
        whole = {
            "path": path,
            "result": 0,
            "label": label,
            "type": "f32[8,7]",
            "iterations": None,
            "devices": None,
            "first_bad": None,
            "line": line,
        }
        figures = {"size": 56, "min": -1.5, "max": 3.25, "mean": 0.125, "std": 1.0, "zeros": 7, "nan": 0, "inf": 0}
        return whole | figures | fields

    cells = "".join("0123456789abcdef"[(i + j) % 16] for i in range(8) for j in range(7))
    return {
        "kind": "values",
        "version": 1,
        "title": "layer",
        "sentence": "6 values, 2 of them with NaN or infinity; the first with NaN is log in line 4 of layer.",
        "rows": [
            row("in0", "x", None),
            row("e3", "exp", 0, min=0.0, max=25.0),
            row("e4", "log", 1, nan=2, inf=1, first_bad=3, iterations=5),
            row("e6", "psum", 1, devices={"count": 2, "alike": True}),
            row("e7", "sin", 1, devices={"count": 2, "alike": False}, nan=1),
            row("e5", "random_wrap", 1, type="key[]", size=0, min=None, max=None, mean=None, std=None, zeros=0),
        ],
        "first_bad": 2,
        "details": [
            {
                "path": "e3",
                "result": 0,
                "iteration": None,
                "histogram": {"low": 0.001, "high": 25.0, "log": True, "zeros": 7, "counts": [1, 4, 9, 20, 12, 3]},
                "picture": {
                    "rows": 8,
                    "columns": 7,
                    "cells": cells,
                    "low": 0.0,
                    "high": 25.0,
                    "folded": "axis 0 (8) from top to bottom",
                },
                "first": ["0.1", "2.5"],
                "parts": [],
            },
            {
                "path": "e4",
                "result": 0,
                "iteration": 4,
                "histogram": None,
                "picture": {
                    "rows": 1,
                    "columns": 3,
                    "cells": "0ni",
                    "low": 0.0,
                    "high": 0.0,
                    "folded": "axis 0 (3) from left to right",
                },
                "first": ["0", "nan", "-inf"],
                "parts": [],
            },
            {
                "path": "e7",
                "result": 0,
                "iteration": None,
                "histogram": None,
                "picture": None,
                "first": ["0.25", "nan"],
                "parts": [
                    {"place": "x 0", "min": 0.25, "max": 3.25, "mean": 1.5, "nan": 1, "inf": 0},
                    {"place": "x 1", "min": -1.5, "max": 0.5, "mean": 0.0, "nan": 0, "inf": 0},
                ],
            },
        ],
        "loops": [{"path": "e4", "count": 30000, "looked": "0, 29999"}],
        "lines": [position(3), position(4)],
        "differs": "The results are those of the compiled program, bit by bit.",
        "remarks": [],
        "cost": quantity(0.4, note="the program was run equation by equation"),
    }
