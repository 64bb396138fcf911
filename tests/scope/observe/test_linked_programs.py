"""From a line to its equations, kernels, times and machine code and back, on ten programs, against the names in XLA's own text."""

from __future__ import annotations

import functools
import re
from typing import NamedTuple

import pytest

import jitscope as jx
from jitscope.xla import hlo_module
from jitscope_scope import observe
from jitscope_scope.observe.instruments import look
from tests.extent import some
from tests.programs.rows import row_of
from tests.scope.linked_programs import PROGRAMS
from tests.scope.xla_text import Program


EACH = pytest.mark.parametrize("name", some(PROGRAMS, always="lstm unet scattered stepping steered several"))
KEPT = {name: jx.jit(fun) for name, (fun, *_) in PROGRAMS.items()}


class Linked(NamedTuple):
    row: observe.Row
    document: dict
    kernels: dict
    named: dict[str, tuple[set[str], bool]]
    """By kernel, the equations that XLA's text names in it, and whether some instruction of it has no name."""


@functools.cache
def linked(name: str) -> Linked:
    row = row_of(KEPT[name], *PROGRAMS[name][1:])
    document = observe.compilation_document(row)
    program = Program(hlo_module.text(hlo_module.optimized(row.entry.executable), metadata=True))
    kernels = {kernel["name"]: kernel for kernel in document["fusion"]["kernels"]}
    found = {}
    for kernel in program.kernels():
        lines = [one.rest for one in program.fused(kernel)]
        names = {n for line in lines for said in re.findall(r'op_name="([^"]*)"', line) for n in said.split(";")}
        paths = {re.sub(r"\(\d+\)", "", n) for n in names if re.match(r"e\d", n)}  # others are arguments
        found[kernel.name] = paths, not all(re.search(r'op_name="e\d', line) for line in lines)
    return Linked(row, document, kernels, found)


@EACH
def test_kernels_stem_from_what_xla_names_in_them(name):
    at = linked(name)
    assert set(at.named) == {k["name"] for k in at.kernels.values() if k["kind"] != "loop"}
    nodes = at.document["graph"]["nodes"]
    calls = {
        path for n in nodes for path in n["paths"] if re.match(r"[^\n]* = jit\b", n["text"])
    }  # compute nothing themselves
    for kernel, (named, nameless) in at.named.items():
        claimed, paths = set(at.kernels[kernel]["paths"]), named - calls
        # of what bears the name of the loop it is in, the equation inside may be known
        inside = {path for path in claimed if any(path.startswith(f"{outer}/") for outer in paths - claimed)}
        assert all(path in claimed or any(one.startswith(f"{path}/") for one in inside) for path in paths), kernel
        assert claimed <= paths | inside or nameless, kernel
    assert at.document["fusion"]["summary"]["unknown"]["bytes"] < 0.001


@EACH
def test_each_line_that_computes_leads_to_its_kernels(name):
    """What XLA's text names is in the kernels of that line; a line without kernels has equations that XLA merged or took away."""
    at = linked(name)
    nodes = [n for n in at.document["graph"]["nodes"] if n["kind"] in ("equation", "scope") and n["positions"]]
    line_of = {path: n["positions"][0]["line"] for n in nodes for path in n["paths"]}
    for kernel, (paths, _) in at.named.items():
        own = {line_of[p] for p in paths & set(at.kernels[kernel]["paths"]) if p in line_of}
        assert own <= {position["line"] for position in at.kernels[kernel]["positions"]}
    merged = {"broadcast_in_dim", "iota", "convert_element_type", "stop_gradient", "reshape"}
    known = {path for kernel in at.kernels.values() for path in kernel["paths"]}
    computing = {line_of[n["id"]] for n in nodes if n["kind"] == "equation" and n["label"] not in merged}
    assert computing <= {line_of[path] for path in known if path in line_of}


@EACH
def test_lines_lead_to_machine_code_and_back(name):
    at, document = linked(name), look(linked(name).row, "machine")
    place = lambda index: document["positions"][index]["line"]
    lines = {name: {position["line"] for position in kernel["positions"]} for name, kernel in at.kernels.items()}
    told = {kernel["name"]: kernel for kernel in document["kernels"]}
    for kernel in told.values():
        assert {place(index) for index in kernel["lines"]} == lines[kernel["name"]]
        assert kernel["function"] is not None or kernel["note"]
    for function in document["functions"]:
        if function["role"] == "kernel":
            runs = {kernel for kernel, said in told.items() if said["function"] == function["name"]}
            assert set(function["kernels"]) == runs and runs
            assert {place(index) for index in function["lines"]} == set().union(*(lines[kernel] for kernel in runs))
    own_code = {kernel for kernel, said in at.kernels.items() if said["kind"] in ("fusion", "other") and kernel in told}
    assert {kernel for kernel in own_code if told[kernel]["function"] is None} <= {
        kernel for kernel in own_code if at.kernels[kernel]["opcode"] in ("sort", "iota")
    }


@EACH
def test_times_belong_to_the_lines_that_xla_names(name):
    at, document = linked(name), look(linked(name).row, "profile", limit=0.0)
    busy, between, together, held_up, recorded = (
        document[part]["value"] for part in ("busy", "between", "together", "held_up", "recorded")
    )
    alone = [kernel for kernel in document["kernels"] if kernel["share"] is not None]
    assert sum(kernel["total"] for kernel in alone) == pytest.approx(busy, rel=1e-3)
    assert busy - together + between + held_up == pytest.approx(recorded) and between > 0
    assert sum(kernel["share"] for kernel in alone) == pytest.approx(1, abs=0.02)
    line_of = [line["position"]["line"] for line in document["lines"]]
    for kernel in alone:
        wanted = {position["line"] for position in at.kernels[kernel["name"]]["positions"]}
        assert {line_of[index] for index in kernel["lines"]} <= wanted and bool(kernel["lines"]) == bool(wanted)
    for number, line in enumerate(document["lines"]):
        if line["own"] is None:
            continue
        shares = [(kernel["share"], len(kernel["lines"])) for kernel in alone if number in kernel["lines"]]
        assert line["own"]["most"] == pytest.approx(sum(share for share, _ in shares), rel=2e-3, abs=1e-5)
        assert line["own"]["least"] <= sum(share for share, count in shares if count == 1) + 1e-3
