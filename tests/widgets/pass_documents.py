"""A document of passes for tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.widgets.parts import Document, node, position, quantity


def passes() -> Document:
    def run(name: str, state: int | None = None, **fields: Any) -> Document:
        whole = {"name": name, "does": "", "pipelines": ["simplification"], "round": 1, "rounds": 1}
        return whole | {"seconds": quantity(2e-5), "state": state} | fields

    def state(
        operations: int,
        kernels: int,
        sentence: str = "",
        rows: Sequence[Document] = (),
        left_out: int = 0,
        graph: Document | None = None,
    ) -> Document:
        kinds = ("removed", "added", "changed", "rewired", "fused", "moved")
        counts = {kind: sum(row["kind"] == kind for row in rows) for kind in kinds}
        sizes = {"flops": quantity(81920, "flop", "modelled"), "bytes": quantity(8192, "B", "modelled")}
        return {"operations": operations, "kernels": kernels, **sizes, "counts": counts, "sentence": sentence,
                "rows": list(rows), "left_out": left_out, "also": ["e5"] * left_out, "graph": graph,
                "graph_left_out": left_out}  # fmt: skip

    def row(kind: str, before: str | None, after: str | None, opcode: str, *paths: str) -> Document:
        places = {"from": "main" if before else None, "to": "fused_computation" if after else None}
        return {"kind": kind, "before": before, "after": after, **places, "opcode": opcode, "paths": list(paths)}

    merged = row("removed", "e4.1 = f32[64,7] exponential(x.1)", None, "exponential", "e4")
    rewired = row("rewired", "e5 = f32[64,7] negate(e4.1)", "e5 = f32[64,7] negate(e3.1)", "negate", "e5")
    step = {
        "kind": "graph",
        "version": 1,
        "level": "hlo",
        "title": "",
        "nodes": [
            node("before: main/e4.1", "instruction", "exponential", paths=["e4"], mark="removed"),
            node("main/e5", "instruction", "negate", paths=["e5"], mark="rewired"),
            node("main/e3.1", "instruction", "exponential", paths=["e3"]),
        ],
        "edges": [
            {"from": "main/e3.1", "to": "main/e5", "type": "f32[64,7]", "bytes": 1792},
            {"from": "before: main/e4.1", "to": "main/e5", "type": "f32[64,7]", "bytes": 1792, "gone": True},
        ],
    }
    fused = row("fused", "e3.1 = f32[64,7] exponential(x.1)", "e3.2 = f32[64,7] exponential(p.0)", "exponential", "e3")
    return {
        "kind": "passes",
        "version": 1,
        "title": "layer",
        "stages": [
            {"name": name, "does": f"stage {name}", "seconds": quantity(took)}
            for name, took in (("passes", 0.002), ("kernels", 0.02), ("machine code", 0.06), ("rest", 0.004))
        ],
        "passes": [
            run("algsimp", does="simplifies arithmetic"),
            run("cse", 1, does="keeps one of several operations that give the same value"),
            run("dce", round=2, rounds=3),
            run("fusion", 2, seconds=quantity(None)),
            run("copy-insertion"),
        ],
        "states": [
            state(5, 5),
            state(4, 4, "1 operation removed, 1 given other operands", [merged, rewired], graph=step),
            state(4, 2, "2 operations fused", [fused], left_out=1),
        ],
        "fates": [
            {"path": "e4", "state": 1, "what": "merged", "into": ["e3"]},
            {"path": "e3", "state": 2, "what": "fused", "into": ["exp_fusion"]},
        ],
        "positions": {"e3": position(3), "e4": position(4), "e5": position(4)},
        "cost": quantity(0.2, note="compiled twice more"),
    }


def transformations() -> Document:
    """The steps of a gradient."""

    def line(text: str, origin: int | None = None, *transforms: str) -> Document:
        return {"text": text, "origin": origin, "transforms": list(transforms)}

    def program(title: str, *lines: Document, left_out: int = 0) -> Document:
        return {"title": title, "lines": list(lines), "left_out": left_out}

    before = program("", line("takes a:f32[3]"), line("b:f32[3] = tanh a", 0), line("gives b:f32[3]"))
    both = program("values and tangents", line("c:f32[3] = tanh a", 0), line("d:f32[3] = mul b c", 0, "jvp"))
    back = program("to those of the arguments", line("e:f32[3] = mul b c", 0, "jvp", "transpose"), left_out=3)
    return {
        "kind": "transformations",
        "version": 1,
        "title": "layer",
        "steps": [
            {"transform": "jvp", "function": "layer", "depth": 0, "before": before, "after": [both]},
            {"transform": "transpose", "function": "layer", "depth": 1, "before": both, "after": [back, before]},
        ],
        "left_out": 0,
        "missed": ["vmap of scale: it cannot be traced apart from its values (a reason)"],
        "origins": [{"position": position(2), "paths": ["e1"]}],
        "cost": quantity(0.02, note="traced once more"),
    }
