"""A profile to test the views with."""

from __future__ import annotations

from typing import Any

from tests.widgets.parts import Document, edge, graph, node, position, quantity


def profile() -> Document:
    """What the kernels of the layer took: one product, one fusion, and a loop with a copy in it."""

    def bounds(least: float, most: float, estimate: float) -> Document:
        return {"least": least, "most": most, "estimate": estimate}

    def kernel(called: str, kind: str, share: float | None, lines: list[int], **fields: Any) -> Document:
        whole = {"name": called.replace(" ", "."), "called": called, "kind": kind, "opcode": kind, "operations": 1, "type": "f32[64,7]",
                 "loop": None, "runs": 1.0, "median": 2e-5, "low": 1.9e-5, "high": 2.4e-5, "fast": 1.9e-5, "total": 2e-5, "share": share,
                 "flops": 17920.0, "bytes": 8192.0, "needs": 1.2e-5, "nearest": "memory", "bound": "memory", "why": "", "lines": lines}  # fmt: skip
        return whole | fields

    timed = [
        kernel(
            "kernel 1",
            "library",
            0.7,
            [0],
            block=1,
            opcode="dot",
            bound="arithmetic",
            nearest="arithmetic",
            median=7e-5,
            fast=7e-5,
            total=7e-5,
            needs=6e-5,
        ),
        kernel(
            "kernel 2",
            "fusion",
            0.2,
            [1, 2],
            block=0,
            operations=13,
            opcode="fusion",
            split=[0.3, 0.7],
            equations={"e1": 0.3, "e2": 0.7},
        ),
        kernel(
            "loop 1",
            "loop",
            None,
            [],
            opcode="while",
            bound=None,
            needs=None,
            nearest=None,
            flops=None,
            bytes=None,
            total=1e-5,
        ),
        kernel(
            "kernel 3",
            "copy",
            0.1,
            [],
            opcode="copy",
            loop="loop.1",
            runs=10.0,
            median=1e-6,
            total=1e-5,
            bound="overhead",
            fast=9e-7,
            needs=1e-8,
        ),
        kernel(
            "kernel 4",
            "other",
            0.0,
            [],
            opcode="custom-call",
            bound="unknown",
            needs=None,
            nearest=None,
            flops=None,
            why="no model",
        ),
    ]
    lines = [
        {"position": position(2), "own": bounds(0.7, 0.7, 0.7), "whole": bounds(0.7, 0.7, 0.7)},
        {"position": position(3), "own": bounds(0.0, 0.2, 0.06), "whole": bounds(0.1, 0.2, 0.15)},
        {"position": position(4), "own": bounds(0.0, 0.2, 0.14), "whole": bounds(0.0, 0.2, 0.14)},
        {"position": position(1), "own": None, "whole": bounds(0.9, 1.0, 0.95)},
    ]
    blocks = [
        {"label": "layer", "outer": None, "positions": [position(1)]},
        {"label": "dense × 2", "outer": 0, "positions": []},
    ]
    runs = [(0, 1.5e-5, 6.5e-5), (1, 8.2e-5, 1.9e-5), *((3, (102 + 1.2 * n) * 1e-6, 9e-7) for n in range(10))]
    call = {
        "seconds": 1.2e-4,
        "threads": ["thread 1", "thread 2"],
        "thread": [0, 0, *(n % 2 for n in range(10))],
        "kernel": [at for at, _, _ in runs],
        "start": [start for _, start, _ in runs],
        "length": [length for _, _, length in runs],
        "left_out": 3,
        "busy": [0.0, 1.0, 1.0, 1.0, 0.75, 0.25, 0.9, 0.6],
    }
    took = {
        "wall": 1e-4,
        "low": 9e-5,
        "high": 1.3e-4,
        "recorded": 1.2e-4,
        "busy": 1e-4,
        "together": 0.0,
        "between": 2e-5,
    }
    return {
        "kind": "profile",
        "version": 1,
        "title": "layer",
        "on": "the arguments of the call",
        "runs": 40,
        "count": 5,
        **{name: quantity(value, note=name) for name, value in took.items()},
        "fresh": {
            "faults": 12,
            "size": quantity(49152, "B"),
            "seconds": quantity(1.6e-5),
            "tunables": "glibc.malloc.hugetlb=1",
        },
        "kernels": timed,
        "lines": lines,
        "scopes": [{"name": "layer/attention", **bounds(0.1, 0.3, 0.2)}],
        "blocks": blocks,
        "estimated": "the time of a kernel of several lines is split by the work of its operations, calibrated on 2 kernels of one line",
        "timeline": call,
        "machine": {
            "measured": "2026-01-02T03:04:05+00:00",
            "seconds": quantity(0.9),
            "bandwidth": [{"bytes": 1 << n, "rate": quantity(2e11 / n, "B/s")} for n in (18, 21, 24, 27)],
            "fresh": quantity(3e9, "B/s"),
            "dispatch": quantity(5e-7),
            "peaks": [{"dtype": "f32", "rate": quantity(2e11, "flop/s")}],
        },
        "times": "single runs",
        "work": "of one run",
        "cost": quantity(2.1, note="wall time of this profile"),
    }


def comparison() -> Document:
    """Two forms of the layer: one product less, a little faster, results a little apart."""
    sizes = {"flops": quantity(17920, "flop", "modelled"), "bytes": quantity(8192, "B", "modelled")}

    def side(title: str, wall: float) -> Document:
        took = {"wall": quantity(wall), "compile": quantity(0.05), "memory": quantity(8012, "B", "modelled")}
        return {"title": title, "on": "the arguments of the call", "donated": [title], **took, **sizes}

    kernel = {"name": "fusion.1", "kind": "fusion", "opcode": "fusion", "operations": 3, "type": "f32[64,7]"}
    kernel |= {"details": "2 add, tanh", "times": 2}
    equation = {"text": "tanh f32[64,7] -> f32[64,7]", "position": position(3), "times": 2}
    nodes = [
        node("in0", "input", "x"),
        node("eA0", label="tanh", mark="removed", positions=[position(3)]),
        node("e0", label="sum", mark="rewired", positions=[position(4), position(9)]),
    ]
    edges = [edge("in0", "e0"), *(one | {"gone": True} for one in (edge("in0", "eA0"), edge("eA0", "e0")))]
    return {
        "kind": "comparison",
        "version": 1,
        "title": "layer and layer2",
        "a": side("layer", 1e-4),
        "b": side("layer2", 9e-5),
        "ratio": 0.9,
        "low": 0.88,
        "high": 0.93,
        "pairs": 120,
        "method": "runs in pairs",
        "verdict": "faster",
        "joint": {"graph": graph(nodes, edges), "left_out": 11, "sources": {"a": None, "b": None}},
        "equations": {"common": 12, "rewired": 1, "a": [equation], "b": [], "only_a": 3, "only_b": 0},
        "kernels": {
            "common": 1,
            "a": [kernel],
            "b": [kernel | {"kind": "copy", "opcode": "copy"}],
            "only_a": 2,
            "only_b": 2,
        },
        "results": {
            "absolute": quantity(1e-7, ""),
            "relative": quantity(2e-7, ""),
            "where": "result 0[3, 2]: 1.0 and 1.0000001",
            "equal": False,
            "why": "",
        },
        "cost": quantity(1.1),
    }
