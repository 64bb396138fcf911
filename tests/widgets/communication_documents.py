"""Documents of communication, and of how arrays lie, for tests."""

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
            collective(
                "all-reduce.1",
                "all-reduce",
                types=["f32[4,16]", "f32[]"],
                runs=5,
                gives=260,
                gets=260,
                seconds={"median": 3e-4, "low": 2e-4, "high": 9e-4, "least": 1e-4},
            ),
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
        "backward": ["e2"],
        "measured": {"runs": 20, "on": "the arguments of the call"},
    }


def shardings() -> list[Document]:
    """One and two axes that are cut, copies, an array of three axes, one that cannot be drawn, one on a single device."""

    def tile(at: list[int], index: list[str], *devices: int) -> Document:
        return {"at": at, "index": index, "devices": [f"CPU {n}" for n in devices]}

    def array(title: str, axes: list[tuple[int, int, list[str]]], tiles: list[Document], **fields: Any) -> Document:
        said = [{"size": n, "parts": parts, "along": along} for n, parts, along in axes]
        return {"kind": "sharding", "version": 1, "title": title, "type": "f32[8,4]", "spec": "P('data', 'model')",
                "mesh": [{"name": "data", "size": 2}, {"name": "model", "size": 2}], "memory": "device", "devices": 4, "axes": said,
                "part": "f32[4,2]", "bytes": 32, "copies": 1, "drawn": True, "rows": 0, "columns": 1, "drawing": [],
                "tiles": tiles, "left_out": 0} | fields  # fmt: skip

    halves = ["0:4", "4:8"]
    box = ["┌────────┐", "│ CPU 0  │", "└────────┘"]
    return [
        array("x", [(8, 2, ["data"]), (4, 2, ["model"])],
              [tile([i, j], [halves[i], ["0:2", "2:4"][j]], 2 * i + j) for i in range(2) for j in range(2)]),
        array("v", [(8, 2, ["model"])], [tile([i], [halves[i]], i, i + 2) for i in range(2)], rows=None, columns=0, copies=2),
        array("whole", [(8, 1, []), (4, 1, [])], [tile([0, 0], ["0:8", "0:4"], 0, 1, 2, 3)], copies=4, spec="P()"),
        array("", [(8, 2, ["data"]), (4, 1, []), (2, 2, ["model"])],
              [tile([i, 0, j], [halves[i], "0:4", f"{j}:{j + 1}"], 2 * i + j) for i in range(2) for j in range(2)], columns=2),
        array("cube", [(2, 2, ["a"])] * 3, [tile([0, 0, n], ["0:1", "0:1", f"{n}:{n + 1}"], n) for n in range(2)],
              drawn=False, rows=None, columns=None, copies=None, bytes=None, spec=None, mesh=[], left_out=6),
        array("one", [], [tile([], [], 0)], devices=1, rows=None, columns=None, spec=None, mesh=[], drawing=box, memory="pinned_host"),
    ]  # fmt: skip
