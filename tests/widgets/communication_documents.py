"""A document of communication for tests."""

from __future__ import annotations

from typing import Any

from tests.widgets.parts import Document, position


def communication() -> Document:
    def collective(name: str, what: str, **fields: Any) -> Document:
        return {"name": name, "what": what, "types": ["f32[4,16]"], "gives": 256, "gets": 256, "groups": [[0, 1], [2, 3]],
                "axes": ["model"], "runs": 1, "paths": ["e1"]} | fields  # fmt: skip

    def value(role: str, name: str, asked: str | None, lies: str | None, differs: bool = False) -> Document:
        return {"role": role, "name": name, "type": "f32[8,4]", "asked": asked, "lies": lies, "differs": differs,
                "part": "f32[4,4]", "bytes": 64}  # fmt: skip

    return {
        "kind": "communication",
        "version": 1,
        "title": "step",
        "devices": 4,
        "mesh": [{"name": "data", "size": 2}, {"name": "model", "size": 2}],
        "collectives": [
            collective("all-reduce.1", "all-reduce", types=["f32[4,16]", "f32[]"], runs=5, gives=260, gets=260),
            collective("all-gather.1", "all-gather", gets=512, groups=None, axes=None, paths=[]),
            collective("permute.1", "collective-permute", groups=[[0, 2], [2, 0]], axes=None, runs=None, paths=["e2"]),
        ],
        "values": [
            value("argument", "x", "P('data',)", "P('data',)"),
            value("result", "result[0]", None, "P()"),
            value("result", "result[1]", "P('model',)", "P()", True),
            value("result", "result[2]", None, None),
        ],
        "left_out": {"collectives": 3, "values": 1},
        "totals": [
            {"what": "all-reduce", "count": 1, "runs": 5, "gives": 1300},
            {"what": "all-gather", "count": 1, "runs": 1, "gives": 256},
            {"what": "collective-permute", "count": 1, "runs": None, "gives": None},
        ],
        "positions": {"e1": position(2, 4, 9), "e2": position(3, 4, 9)},
    }
