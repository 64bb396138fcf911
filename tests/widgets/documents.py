"""Documents to test the views with: the tour's layer, a long program of any length, and small ones to build others from."""

from __future__ import annotations

import copy
import random
from typing import Any

from tests.targets.record import recorded
from tests.widgets.communication_documents import communication, shardings
from tests.widgets.machine_documents import machine
from tests.widgets.memory_documents import memory
from tests.widgets.nan_documents import nan_hunt
from tests.widgets.parts import CODE, Document, edge, graph, node, position, quantity
from tests.widgets.pass_documents import passes, transformations
from tests.widgets.profile_documents import comparison, profile
from tests.widgets.reason_documents import reasons
from tests.widgets.target_documents import target
from tests.widgets.tuning_documents import tuning
from tests.widgets.value_documents import values


def timing(run: float | None = 0.00021) -> Document:
    steady = {
        "median": quantity(run, note="100 runs on the arguments of the call"),
        "low": quantity(0.0002),
        "high": quantity(0.00023),
        "runs": 100,
        "source": "button",
    }
    stages = (("trace", 0.0021), ("lower", 0.003), ("compile", 0.061), ("first run", 0.0004))
    return {
        "kind": "timing",
        "version": 1,
        "title": "layer",
        "stages": [{"name": name, "seconds": quantity(spent)} for name, spent in stages],
        "total": quantity(0.0665),
        "steady": steady if run is not None else None,
        "can_measure": True,
    }


def card(compilations: int = 1, function: str = "layer") -> Document:
    changed = [False] + [True] * compilations
    return {
        "function": function,
        "cause": "shape",
        "compilations": compilations,
        "retraces": 0,
        "because": "the last batch is smaller: axis 0 of x is 64, then 40",
        "seconds": quantity(0.061 * compilations),
        "definition": position(1, 0, 30),
        "sites": [
            {
                "position": position(1, 0, 30),
                "compilations": compilations,
                "retraces": 0,
                "seconds": 0.061 * compilations,
            }
        ],
        "sites_left": 0,
        "matrix": {
            "columns": [{"label": str(at + 1), "what": "compiled", "calls": 3} for at in range(compilations + 1)],
            "rows": [
                {"path": "x", "cells": ["f32[64,20]"] + ["f32[40,20]"] * compilations, "changed": changed},
                {"path": "w", "cells": ["f32[20,7]"] * (compilations + 1), "changed": [False] * (compilations + 1)},
            ],
            "columns_left": 0,
            "columns_left_after": compilations + 1,
            "rows_left": 0,
        },
        "fix": {
            "text": "Pad axis 0 of x to 64 in the last batch.",
            "edits": [],
            "checked": "The edited code ran on 2 recorded calls: 2 compilations become 1, same results.",
            "position": position(1, 0, 30),
        },
        "quiet": False,
    }


def recompilations(*cards: Document) -> Document:
    return {"kind": "recompilations", "version": 1, "title": "layer", "cards": list(cards)}


_EQUATIONS = [  # name, primitive, operands, line, line of the program
    ("e0", "dot_general", ["in0", "in1"], 2, "d:f32[64,7] = dot_general[dimension_numbers=(([1], [0]), ([], []))] a b"),
    ("e1", "broadcast_in_dim", ["in2"], 2, "e:f32[64,7] = broadcast_in_dim[shape=(64, 7)] c"),
    ("e2", "add", ["e0", "e1"], 2, "f:f32[64,7] = add d e"),
    ("e3", "gt", ["e2"], 4, "g:bool[64,7] = gt f 0.0"),
    ("e4", "exp", ["e2"], 4, "h:f32[64,7] = exp f"),
    ("e5", "sub", ["e4"], 4, "i:f32[64,7] = sub h 1.0"),
    ("e6", "mul", ["e5"], 4, "j:f32[64,7] = mul 1.67 i"),
    ("e7", "jit", ["e3", "e2", "e6"], 3, "k:f32[64,7] = jit[name=where] g f j"),
    ("e8", "mul", ["e7"], 3, "l:f32[64,7] = mul 1.05 k"),
]


def layer_graph() -> Document:
    nodes = [
        node(f"in{at}", "input", name, types=[kind], bytes=size)
        for at, (name, kind, size) in enumerate(
            [("x", "f32[64,20]", 5120), ("w", "f32[20,7]", 560), ("b", "f32[7]", 28)]
        )
    ]
    edges = []
    for name, primitive, operands, line, said in _EQUATIONS:
        kind = "scope" if primitive == "jit" else "equation"
        label = "where" if primitive == "jit" else primitive
        nodes.append(node(name, kind, label, text=said, paths=[name], positions=[position(line)]))
        if kind == "equation":
            edges += [edge(operand, name) for operand in operands]
    select = node("e7/e0", "equation", "select_n", scope="e7", text="o:f32[64,7] = select_n g j f", paths=["e7/e0"])
    nodes += [select | {"positions": [position(3)]}, node("out0", "output", "out")]
    edges += [edge("e3", "e7/e0", "bool[64,7]", 448), edge("e2", "e7/e0"), edge("e6", "e7/e0")]
    edges = [e for e in edges if e["from"] != "e7"] + [edge("e7/e0", "e8"), edge("e8", "out0")]
    given = {n["id"]: {"type": n["types"][0], "bytes": n["bytes"]} for n in nodes}
    return graph(nodes, [e | given[e["from"]] for e in edges])


def hlo_after() -> Document:
    members = [
        "broadcast.1",
        "add.1",
        "compare.1",
        "exponential.1",
        "subtract.1",
        "multiply.1",
        "select.1",
        "multiply.2",
    ]
    nodes = [
        node("p0", "input", "x", types=["f32[64,20]"]),
        node("p1", "input", "w", types=["f32[20,7]"]),
        node("p2", "input", "b", types=["f32[7]"]),
        node("dot.1", "library", "dot", text="%dot.1 = f32[64,7]{1,0} dot(%x, %w)", positions=[position(2)]),
        node("fusion.1", "fusion", "fusion", positions=[position(2), position(3), position(4)]),
    ]
    nodes += [
        node(
            name,
            "instruction",
            name.split(".")[0],
            scope="fusion.1",
            text=f"%{name} = f32[64,7]{{1,0}} {name.split('.')[0]}(…)",
            positions=[position(2 if at < 2 else 4)],
        )
        for at, name in enumerate(members)
    ]
    nodes.append(node("out0", "output", "out"))
    edges = [edge("p0", "dot.1"), edge("p1", "dot.1"), edge("p2", "broadcast.1"), edge("dot.1", "add.1")]
    edges += [edge(a, b) for a, b in [("broadcast.1", "add.1"), ("add.1", "compare.1"), ("add.1", "exponential.1")]]
    edges += [edge(a, b) for a, b in [("exponential.1", "subtract.1"), ("subtract.1", "multiply.1")]]
    edges += [edge(a, "select.1") for a in ("compare.1", "add.1", "multiply.1")]
    edges += [edge("select.1", "multiply.2"), edge("multiply.2", "out0")]
    return graph(nodes, edges, "hlo", "layer after fusion")


def line(number: int, text: str, name: str = "", paths: list[str] | None = None) -> Document:
    return {"number": number, "text": text, "name": name, "paths": paths or []}


def layer_fusion() -> Document:
    opcodes = ["broadcast", "add", "compare", "exponential", "subtract", "multiply", "select", "multiply"]
    members = [
        {"name": f"{opcode}.{at}", "opcode": opcode, "type": "f32[64,7]", "paths": [f"e{at}"]}
        for at, opcode in enumerate(opcodes)
    ]
    kernels = [
        {
            "name": "dot.1",
            "kind": "library",
            "opcode": "dot",
            "type": "f32[64,7]",
            "members": [],
            "paths": ["e0"],
            "positions": [position(2)],
            "text": "%dot.1 = f32[64,7]{1,0} dot(%x, %w)",
            "note": "On the CPU a matrix product is a call into a library, so it is no part of a fusion.",
        },
        {
            "name": "fusion.1",
            "kind": "fusion",
            "opcode": "fusion",
            "type": "f32[64,7]",
            "members": members,
            "paths": [f"e{at}" for at in range(1, 9)],
            "positions": [position(2), position(3), position(4)],
            "text": "%fusion.1 = f32[64,7]{1,0} fusion(%dot.1, %b), kind=kLoop",
            "note": "",
        },
    ]
    heads = ["HloModule layer", "", *(f"%arg{at} = f32[64,20]{{1,0}} parameter({at})" for at in range(6))]
    rows = [
        {"kind": "same", "left": line(at, said), "right": line(at, said), "caption": ""}
        for at, said in enumerate(heads, 1)
    ]
    dot = "dot.1 = f32[64,7]{1,0} dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}"
    rows.append({"kind": "changed", "left": line(9, dot), "right": line(9, "%" + dot), "caption": ""})
    for at, opcode in enumerate(opcodes):
        said = f'{opcode}.{at} = f32[64,7]{{1,0}} {opcode}(dot.1), metadata={{op_name="e{at}"}}'
        right = line(10, kernels[1]["text"], "fusion.1") if at == 0 else None
        rows.append(
            {"kind": "fused", "left": line(10 + at, said), "right": right, "caption": "8 operations became 1 kernel"}
        )
    rows.append(
        {
            "kind": "removed",
            "left": line(18, "ROOT tuple = (f32[64,7]) tuple(multiply.7)"),
            "right": None,
            "caption": "",
        }
    )
    rows.append(
        {"kind": "added", "left": None, "right": line(11, "ROOT %tuple = (f32[64,7]) tuple(%fusion.1)"), "caption": ""}
    )
    return {
        "kind": "fusion",
        "version": 1,
        "title": "layer",
        "before": graph([node(member["name"], "instruction", member["opcode"]) for member in members], [], "hlo"),
        "after": hlo_after(),
        "kernels": kernels,
        "rows": rows,
        "summary": {
            "before": 12,
            "after": 2,
            "kernels": 2,
            "fusions": 1,
            "library": 1,
            "sentence": "9 operations became 2 kernels: 1 library call and 1 fusion of 8.",
        },
    }


def source_function(name: str, lines: list[str], first_line: int = 1) -> Document:
    return {
        "name": name,
        "label": "In [3]",
        "file": "cell-3",
        "cell": "In [3]",
        "first_line": first_line,
        "lines": lines,
    }


def source_mark(line: int, nodes: list[str], call: int = 0) -> Document:
    return {"call": call, "line": line, "nodes": nodes, "forward": len(nodes), "backward": 0}


def layer_compilation() -> Document:
    program = layer_graph()
    return {
        "kind": "compilation",
        "version": 1,
        "id": 2,
        "function": "layer",
        "signature": "layer(x: f32[64,20], w: f32[20,7], b: f32[7]) -> f32[64,7]",
        "equations": 10,
        "cache": "compiled",
        "headline": "10 equations → 2 kernels (1 fusion of 8)",
        "source": {
            "kind": "source",
            "version": 1,
            "functions": [source_function("layer", CODE)],
            "calls": [{"function": 0, "parent": None, "line": None}],
            "marks": [
                source_mark(at, [n["id"] for n in program["nodes"] if at in {p["line"] for p in n["positions"]}])
                for at in (2, 3, 4)
            ],
        },
        "jaxpr": "{ lambda ; a:f32[64,20] b:f32[20,7] c:f32[7]. let\n    "
        + "\n    ".join(said for *_, said in _EQUATIONS)
        + "\n  in (l,) }",
        "graph": program,
        "fusion": layer_fusion(),
        "timing": timing(),
        "recompilations": recompilations(card()),
        "cost": {
            "flops": quantity(17920 + 64 * 7 * 8, "flop", "modelled", "XLA's cost analysis"),
            "bytes": quantity(8192, "B", "modelled", "XLA's cost analysis"),
            "memory": quantity(None, "B"),
        },
    }


def cell(*compilations: Document, **fields: Any) -> Document:
    whole = {
        "kind": "cell",
        "version": 1,
        "cell": "In [3]",
        "cell_id": "cell-3",
        "compilations": list(compilations),
        "reused": [],
        "left_alone": [],
        "error": None,
        "note": "",
    }
    return whole | fields


def layer_cell() -> Document:
    return cell(
        layer_compilation(),
        recompilations=recompilations(card()),
        reused=[{"function": "step", "calls": 3}],
        left_alone=[{"name": "Model", "reason": "a class"}, {"name": "report", "reason": "no parameters"}],
    )


def regions() -> Document:
    """What was found in a cell of two loops."""
    times = {"eager_s": 0.2, "compiled_s": 0.0005, "compile_s": 0.5, "break_even_runs": 3}
    same = {"max_abs": 1e-15, "max_rel": 1e-13, "bits": False, "ulp": 4.0, "seen_abs": 1e-16}
    first = {
        "cell": 3,
        "line": 4,
        "end_line": 5,
        "verdict": "compile",
        "reason": "no effect seen in this run; reads `x`; differs by at most 1e-15",
        "cuts": [],
        **times,
        "same": same,
        "reads": ["x"],
        "edit": "x = region_4(x)",
    }
    cut = {"line": 7, "why": "random", "note": "`rand` draws from NumPy's random generator"}
    unknown = dict.fromkeys([*times, "same", "edit"])
    second = (
        first | unknown | {"line": 6, "end_line": 8, "verdict": "cannot", "reason": "line 7 is random", "cuts": [cut]}
    )
    return {"kind": "regions", "version": 1, "title": "In [3]", "note": "", "regions": [first, second]}


def trace() -> Document:
    """A function of three lines with a branch that was not taken, and an error at the end."""
    code = {"function": "layer", "position": position(1), "lines": CODE}
    names = [{"name": "x", "text": "a:f32[3]", "traced": True, "changed": True}]
    step = {"call": 0, "line": 2, "names": names, "tapes": [{"tape": 0, "length": 1}], "told": "", "printed": "seen\n"}
    return {
        "kind": "trace",
        "version": 1,
        "function": "layer",
        "library": "jitscope",
        "codes": [code],
        "calls": [{"code": 0, "depth": 0, "skipped": [{"first": 3, "last": 4, "why": "not taken"}]}],
        "tapes": [{"name": "layer", "takes": "a:f32[3]", "lines": ["b:f32[3] = sin a", "c:f32[3] = exp b"]}],
        "steps": [
            {"kind": "line"} | step,
            {"kind": "error"} | step | {"told": "ValueError: too large", "names": [], "printed": ""},
        ],
        "left_out": 2,
        "error": "ValueError: too large",
    }


def ledger() -> Document:
    row = {
        "id": 1,
        "function": "layer",
        "signature": "layer(x: f32[64,20])",
        "cell": "In [3]",
        "cell_id": "cell-3",
        "what": "recompiled",
        "because": "x has another shape",
        "seconds": {"trace": 0.0021, "lower": 0.003, "compile": 0.061},
        "equations": 14,
        "calls": 3,
    }
    return {"kind": "ledger", "version": 1, "rows": [row, row | {"id": 2, "what": "compiled", "cell": None}]}


def diagnostics() -> Document:
    where = position(3, 11, 15) | {"text": "    y = jnp.where(z > 0, z, 1.05)"}
    edit = {"line": 3, "column": 28, "end_line": 3, "end_column": 32, "text": "jnp.float32(1.05)"}
    fix = {"text": "write jnp.float32(1.05)", "edits": [edit], "checked": "traced", "position": where}
    item = {
        "id": "recompile-weak-type",
        "severity": "warning",
        "title": "compiled again because one call passed a Python number",
        "message": "the constant 1.05 is a Python float: it takes the dtype of z",
        "why": "A Python number takes the dtype of what it meets.",
        "evidence": ["z: f32[3]"],
        "origin": "look",
        "position": where,
        "fix": fix | {"before": [where["text"]]},
        "silence": None,
    }
    bare = {"severity": "info", "position": None, "fix": None, "evidence": []}
    return {"kind": "diagnostics", "version": 1, "items": [item, item | bare]}


def stopped() -> Document:
    """The trace of the layer, stopped at an `if`."""
    whole = copy.deepcopy(layer_compilation()["graph"])
    first = next(node for node in whole["nodes"] if node["kind"] == "equation")
    last = {
        **copy.deepcopy(first),
        "id": "stop",
        "label": "✕ if z > 0",
        "types": [],
        "bytes": 0,
        "text": "",
        "mark": "stop",
    }
    first["mark"] = "path"
    whole["nodes"].append(last)
    edit = {"line": 3, "column": 4, "end_line": 3, "end_column": 9, "text": "jnp.where(z > 0, z, 0)"}
    fix = {
        "text": "Choose elements.",
        "edits": [edit],
        "checked": "It was traced with this change.",
        "position": position(3, 4, 9),
    }
    steps = [
        {"kind": "argument", "text": "z: f32[3]", "position": None, "nodes": [first["id"]]},
        {"kind": "line", "text": "z = x @ w", "position": position(2, 4, 9), "nodes": [first["id"]]},
        {"kind": "stop", "text": "if z > 0", "position": position(3, 4, 9), "nodes": ["stop"]},
    ]
    return {
        "kind": "stopped",
        "version": 1,
        "function": "layer",
        "asked": "if z > 0",
        "graph": whole,
        "stop": "stop",
        "steps": steps,
        "left_out": 2,
        "fixes": [fix],
    }


def every_kind() -> list[Document]:
    """One good document of each kind."""
    compilation = layer_compilation()
    parts = [compilation[name] for name in ("source", "graph", "fusion", "timing", "recompilations")]
    return copy.deepcopy(
        [
            layer_cell(),
            compilation,
            *parts,
            diagnostics(),
            stopped(),
            {**nan_hunt(), "graph": layer_graph()},
            ledger(),
            regions(),
            trace(),
            tuning(),
            passes(),
            transformations(),
            memory(),
            profile(),
            comparison(),
            values(),
            machine(),
            communication(),
            reasons(),
            target(),
            recorded("norm-beside"),
            *shardings(),
        ]
    )


# --- a long program -----------------------------------------------------------------------------------------------------

_PRIMITIVES = [
    "add",
    "mul",
    "exp",
    "tanh",
    "dot_general",
    "broadcast_in_dim",
    "reduce_sum",
    "transpose",
    "select_n",
    "sub",
]


def long_program(equations: int = 300, scopes: int = 0) -> Document:
    """A cell with one compilation of `equations` equations on 40 lines, some of them in nested scopes."""
    chance = random.Random(7)
    lines = [
        f"    h{at} = jnp.tanh(h{at - 1} @ params['layer_{at}']['w'] + params['layer_{at}']['b'])" for at in range(40)
    ]
    nodes = [
        node(f"in{at}", "input", f"params['layer_{at}']['w']", types=["f32[128,128]"], bytes=65536) for at in range(8)
    ]
    nodes += [node(f"s{at}", "scope", "scan", text=f"s{at} = scan[length=10]") for at in range(scopes)]
    names = [n["id"] for n in nodes if n["kind"] == "input"]
    edges: list[Document] = []
    for at in range(equations - scopes):
        name, primitive = f"e{at}", chance.choice(_PRIMITIVES)
        operands = [names[-1], chance.choice(names[-5:] if chance.random() < 0.9 else names)]
        number = 2 + at * 40 // equations
        kind = f"f32[{chance.choice((64, 128))},{chance.choice((32, 64, 128))}]"
        place = position(number, 4, 60, lines[number - 2])
        scope = f"s{at * scopes // equations}" if scopes else None
        nodes.append(
            node(
                name,
                label=primitive,
                scope=scope,
                types=[kind],
                bytes=32768,
                text=f"{name}:{kind} = {primitive}[dimension_numbers=(([1], [0]), ([], []))] {' '.join(operands)}",
                params={"dimension_numbers": "(([1], [0]), ([], []))"},
                paths=[name],
                positions=[place],
            )
        )
        edges += [edge(operand, name, kind, 32768) for operand in operands]
        names.append(name)
    nodes.append(node("out0", "output", "out"))
    edges.append(edge(names[-1], "out0"))
    program = graph(nodes, edges)
    compilation = layer_compilation()
    compilation |= {
        "graph": program,
        "equations": equations,
        "jaxpr": "{ lambda ; a. let\n" + "\n".join("    " + n["text"] for n in nodes if n["text"]) + "\n  in (a,) }",
        "fusion": _long_fusion(program, chance),
        "headline": f"{equations} equations → {equations // 6} kernels",
    }
    compilation["source"] |= {
        "functions": [source_function("deep", ["def deep(params, h0):", *lines])],
        "marks": [
            source_mark(at, [n["id"] for n in nodes if n["positions"] and n["positions"][0]["line"] == at])
            for at in range(2, 42)
        ],
    }
    return cell(compilation)


def _long_fusion(program: Document, chance: random.Random) -> Document:
    """Every six equations become a kernel; the HLO of each equation is one instruction."""
    equations = [n for n in program["nodes"] if n["kind"] == "equation"]
    before, after, rows, kernels = [], [], [], []
    for at, equation in enumerate(equations):
        opcode, kernel = equation["label"].replace("_", "-"), f"fusion.{at // 6}"
        name = f"{opcode}.{at}"
        said = (
            f"  %{name} = {equation['types'][0]}{{1,0}} {opcode}(%{chance.choice(_PRIMITIVES)}.{at - 1}, %p.{at % 8})"
        )
        said += f', metadata={{op_name="{equation["id"]}"}}'
        common = {"text": said, "paths": [equation["id"]], "positions": equation["positions"]}
        common |= {"types": equation["types"], "bytes": 32768}
        before.append(node(name, "instruction", opcode, fused_into=kernel, **common))
        if at % 6 == 0:
            text = f"  %{kernel} = {equation['types'][0]}{{1,0}} fusion(%p.{at % 8}), kind=kLoop, calls=%fused_computation.{at // 6}"
            after.append(node(kernel, "fusion", "fusion", text=text, positions=equation["positions"]))
            kernels.append(layer_fusion()["kernels"][1] | {"name": kernel, "text": text, "members": []})
        after.append(node(name, "instruction", opcode, scope=kernel, **common))
        kernels[-1]["members"].append(
            {"name": name, "opcode": opcode, "type": equation["types"][0], "paths": [equation["id"]]}
        )
        right = line(at, kernels[-1]["text"], kernel) if at % 6 == 0 else None
        rows.append(
            {
                "kind": "fused",
                "left": line(at + 1, said, name, [equation["id"]]),
                "right": right,
                "caption": f"6 operations became {kernel}",
            }
        )
    ids = {n["id"]: f"{n['label'].replace('_', '-')}.{at}" for at, n in enumerate(equations)}
    kept = [e for e in program["edges"] if e["from"] in ids and e["to"] in ids]
    edges = [e | {"from": ids[e["from"]], "to": ids[e["to"]]} for e in kept]
    return layer_fusion() | {
        "before": graph(before, edges, "hlo", "deep before"),
        "after": graph(after, edges, "hlo", "deep after"),
        "kernels": kernels,
        "rows": rows,
    }
