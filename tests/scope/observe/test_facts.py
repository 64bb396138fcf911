"""What documents say, against the compiler's own texts, on ninety programs: counts, members, lines, shapes, trip counts. The
texts are read here by other means than the documents' own."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
import pytest

from tests.scope.fact_sheets import every, made
from tests.scope.xla_text import Program


@pytest.fixture(scope="module")
def facts(request):
    """Made once for each program, whose tests run one after the other."""
    return made(request.param)


# --- the jaxpr --------------------------------------------------------------------------------------------------------


_BINDER = r"(?<![\w.])(?!(?:inf|nan):\S+ [a-z_]\w*:\S+ = )[a-z_]\w*:([\w<>]+\[[\d,]*\])"


def equations_in(text):
    """(primitive, type of the first result) of each equation printed in a jaxpr, those of shared programs as often as these are
    named."""
    *shared, main = re.split(r"^(?=let \w+ = |\{ lambda)", text, flags=re.MULTILINE)[1:]
    programs = {re.match(r"let (\w+) = ", part)[1]: part for part in shared}

    def of(part):
        body = that_runs(re.sub(r"\s+", " ", part))
        found = Counter((m[1], m[m.lastindex]) for m in re.finditer(rf"{_BINDER}(?: {_BINDER})* = ([\w-]+)", body))
        for name, program in programs.items():
            for _ in range(len(re.findall(rf"\b(?!name=)\w+={name}(?![\w=])", body)) if program is not part else 0):
                found += of(program)
        return found

    return of(main)


def that_runs(text):
    """A printed program without what is there for derivatives of a linear solve alone: of its four programs, `solve` runs."""
    while found := re.search(r" (?:matvec|vecmat|transpose_solve)=", text):
        end = after = found.end()
        depth = 0
        while text[after] not in " ]" or depth:
            depth += {"{": 1, "}": -1}.get(text[after], 0)
            after += 1
        assert after > end
        text = text[: found.start()] + text[after:]
    return text


@pytest.mark.parametrize("facts", ["newton", "libraries"], indirect=True)
def test_programs_for_derivatives_alone_are_not_shown(facts):
    assert "transpose_solve=" in facts.jaxpr and "vecmat=" in facts.jaxpr
    ids = [n["id"] for n in facts.document["graph"]["nodes"]]
    assert any("/solve/e" in i for i in ids)
    assert not any(re.search(r"/(matvec|vecmat|transpose_solve)(/|$)", i) for i in ids)
    assert all(mark["backward"] == 0 for mark in facts.document["source"]["marks"])


@every
def test_equations_are_those_of_the_printed_program(facts):
    nodes = [n for n in facts.document["graph"]["nodes"] if n["kind"] in ("equation", "scope") and n["paths"]]
    assert facts.document["equations"] == len(nodes)
    said = Counter(
        (n["types"][0], re.sub(r"^.* = ([\w-]+).*$", r"\1", n["text"], flags=re.DOTALL)) for n in nodes if n["types"]
    )
    printed = equations_in(facts.document["jaxpr"])
    assert {k: v for k, v in said.items() if printed[k] != v} == {}
    assert sum(printed.values()) == sum(said.values())


@every
def test_lines_are_those_that_ran(facts):
    ran = {(found.file, found.line) for found in facts.recorded}
    nodes = [n for n in facts.document["graph"]["nodes"] if n["kind"] == "equation"]
    for node in nodes:
        for position in node["positions"]:
            assert (position["file"], position["line"]) in ran, node
    assert all(n["positions"] for n in nodes)


@every
def test_counts_of_groups_and_marks_add_up(facts):
    document = facts.document
    nodes = {n["id"]: n for n in document["graph"]["nodes"]}
    inside = Counter()
    for node in nodes.values():
        if node["kind"] in ("equation", "scope") and node["paths"]:
            scope = node["scope"]
            while scope is not None:
                inside[scope] += 1
                scope = nodes[scope]["scope"]
    for node in nodes.values():
        if node.get("what") in ("function", "named scope"):
            assert node["count"] == inside[node["id"]]
    if document["source"]:
        marks = document["source"]["marks"]
        assert all(m["forward"] + m["backward"] == len(m["nodes"]) for m in marks)
        assert sum(len(m["nodes"]) for m in marks) <= document["equations"]


@every
def test_a_line_counts_as_backward_what_stands_in_a_box_of_the_backward_pass(facts):
    """Also what is inside of an equation there: a call, a loop."""
    nodes = {n["id"]: n for n in facts.document["graph"]["nodes"]}

    def is_in_backward_box(scope):
        while scope is not None:
            if "(backward)" in nodes[scope]["label"]:
                return True
            scope = nodes[scope]["scope"]
        return False

    for mark in (facts.document["source"] or {"marks": ()})["marks"]:
        forward = [n for n in mark["nodes"][: mark["forward"]] if n in nodes]
        assert not [n for n in forward if is_in_backward_box(nodes[n]["scope"])]


@every
def test_lengths_of_scans_are_in_the_program(facts):
    lengths = Counter(re.findall(r"\blength=(\d+)", facts.document["jaxpr"]))
    said = Counter(
        n["label"].split(" × ")[1] for n in facts.document["graph"]["nodes"] if n["label"].startswith("scan ×")
    )
    assert set(said) == set(lengths)


# --- XLA's program ----------------------------------------------------------------------------------------------------


@every
def test_kernels_are_those_of_xlas_text(facts):
    program = Program(facts.hlo)
    own = list(program.kernels())
    said = [k for k in facts.document["fusion"]["kernels"] if k["kind"] != "loop"]
    assert facts.document["fusion"]["summary"]["kernels"] == len(said) == len(own)
    assert Counter(k["type"].split("{")[0] for k in said) == Counter(line.type.split("{")[0] for line in own)
    by_name = {line.name: line for line in own if line.opcode in ("fusion", "call")}
    for kernel in said:
        if kernel["kind"] == "fusion" and kernel["name"] in by_name:
            assert len(kernel["members"]) == sum(program.members(by_name[kernel["name"]]).values()), kernel["name"]


@every
def test_loops_are_those_of_xlas_text(facts):
    loops = list(Program(facts.hlo).loops())
    assert sum(k["kind"] == "loop" for k in facts.document["fusion"]["kernels"]) == len(loops)


@every
def test_origins_of_kernels_are_equations_of_the_program(facts):
    paths = {p for n in facts.document["graph"]["nodes"] for p in n["paths"]}
    for kernel in facts.document["fusion"]["kernels"]:
        assert {p for m in kernel["members"] for p in m["paths"]} <= set(kernel["paths"]) <= paths
        places = [
            n["positions"][0]
            for n in facts.document["graph"]["nodes"]
            if n["paths"] and n["paths"][0] in kernel["paths"] and n["positions"]
        ]
        assert {(p["file"], p["line"]) for p in kernel["positions"]} == {(p["file"], p["line"]) for p in places}


@pytest.mark.parametrize(
    "facts", ["scan_in_cond_in_while", "open_loop", "integers", "scanned", "branches"], indirect=True
)
def test_kernels_in_loops_and_branches_know_their_own_lines(facts):
    """Each equation that computes (and is no counter), at any depth, is in some kernel: XLA simplifies none of these away."""
    plumbing = ("slice", "squeeze", "broadcast_in_dim", "convert_element_type", "reshape", "select_n", "concatenate")
    nodes = [n for n in facts.document["graph"]["nodes"] if n["kind"] == "equation" and n["label"] not in plumbing]
    known = {p for k in facts.document["fusion"]["kernels"] if k["kind"] != "loop" for p in k["paths"]}
    inside = {n["id"] for n in nodes if "/" in n["id"] and n["types"] != ["i32[]"]}
    assert inside and inside <= known


@pytest.mark.parametrize(
    "facts",
    ["resnet", "ordered", "masked_attention", "mixed_precision", "libraries", "sorted_by_two_keys"],
    indirect=True,
)
def test_origins_that_are_certain_are_known(facts):
    """XLA lost names in all of these: it changed layouts, made reductions of two steps, merged what two equations shared."""
    assert facts.document["fusion"]["summary"]["unknown"]["kernels"] == 0


@pytest.mark.parametrize("facts", ["lstm"], indirect=True)
def test_what_a_loop_starts_with_is_not_of_the_lines_in_it(facts):
    """The zeros that the state begins with have no name in XLA's program; equations in the loop read them through it."""
    zeros = [k for k in facts.document["fusion"]["kernels"] if "broadcast" in k["opcode"] and k["type"] == "f32[8,16]"]
    assert zeros and all("/" not in path for kernel in zeros for path in kernel["paths"])


@pytest.mark.parametrize("facts", ["nested", "jitted_functions_that_call_each_other", "transformer"], indirect=True)
def test_a_call_of_a_function_computes_nothing_itself(facts):
    """XLA names what MLIR merged in a function, constants in the first place, after the call."""
    calls = {
        n["paths"][0]
        for n in facts.document["graph"]["nodes"]
        if n["paths"] and re.match(r".* = jit\b", n["text"], re.DOTALL)
    }
    for kernel in facts.document["fusion"]["kernels"]:
        assert calls.isdisjoint(kernel["paths"]), kernel["name"]


@pytest.mark.parametrize("facts", ["limited_memory"], indirect=True)
def test_what_xla_names_after_an_inner_loop_is_not_of_the_outer_one(facts):
    named = {line.name: re.search(r'op_name="(e[\w/]*)"', line.rest) for line in Program(facts.xla).lines()}
    for kernel in facts.document["fusion"]["kernels"]:
        said = named.get(kernel["name"]) if kernel["kind"] in ("copy", "other") else None
        assert not said or not any(said[1].startswith(f"{path}/") for path in kernel["paths"]), kernel["name"]


_NEVER_A_LOOPS_OWN = (
    "reduce reduce-window exponential negate divide tanh log sqrt rsqrt power dot convolution sine cosine sort scatter maximum minimum"
).split()


@every
def test_what_is_computed_in_a_loop_is_not_of_its_call(facts):
    """A loop itself counts, compares, slices and copies; sums in two steps, parts of a logistic function and so on are of its body."""
    nodes = {n["paths"][0]: n for n in facts.document["graph"]["nodes"] if n["paths"]}
    loops = {path for path, node in nodes.items() if re.match(r"scan( ×|$)|while", node["label"])}
    for kernel in facts.document["fusion"]["kernels"]:
        for member in kernel["members"] if kernel["kind"] != "loop" else ():
            if member["opcode"] in _NEVER_A_LOOPS_OWN and member["paths"]:
                assert not set(member["paths"]) <= loops, (kernel["name"], member)


_MADE_BY = {
    "sine": "sin|exp",
    "cosine": "cos|exp",
    "tanh": "tanh|logistic",
    "log": "log|select_n|digamma|lgamma|erf_inv",
    "log-plus-one": "log1p|erf_inv",
    "sort": "sort|top_k|argsort",
    "convolution": "conv_general_dilated|dot_general",
    "dot": "dot_general|conv_general_dilated",
    "fft": "fft",
    "cholesky": "cholesky",
    "triangular-solve": "triangular_solve|linear_solve|custom_linear_solve",
    "scatter": "scatter.*|unique|segment_sum",
    "population-count": "population_count",
    "count-leading-zeros": "clz",
    "shift-left": "shift_left|threefry2x32|random_bits|random_split|random_seed",
}


@every
def test_operations_stem_from_equations_that_may_make_them(facts):
    primitives = {n["paths"][0]: n["text"] for n in facts.document["graph"]["nodes"] if n["paths"]}
    for kernel in facts.document["fusion"]["kernels"]:
        for member in kernel["members"] if kernel["kind"] != "loop" else ():
            if member["paths"] and member["opcode"] in _MADE_BY:
                made = [re.sub(r"^.* = ([\w-]+).*$", r"\1", primitives[p], flags=re.DOTALL) for p in member["paths"]]
                assert any(re.fullmatch(_MADE_BY[member["opcode"]], p) for p in made), (member, made)


# --- sizes, sides, words ----------------------------------------------------------------------------------------------

_WIDTHS = {"pred": 8, "bool": 8, "key": 64}


def bytes_in(kind):
    """The bytes of the arrays in a type such as `f32[3,4]` or `(s32[], bf16[2])`."""
    total = 0
    for name, shape in re.findall(r"([a-z]+\d*[\w<>]*)\[([\d,]*)\]", kind):
        bits = _WIDTHS.get(name.split("<")[0]) or int(re.search(r"\d+", name)[0])
        total += np.prod([int(n) for n in shape.split(",") if n], dtype=int) * bits // 8
    return total


@every
def test_bytes_are_those_of_the_types(facts):
    fusion = facts.document["fusion"]
    for graph in (facts.document["graph"], fusion["before"], fusion["after"]):
        for part in (*graph["nodes"], *graph["edges"]):
            types = part["types"] if "types" in part else [part["type"]]
            if part.get("what") != "tree" and "<" not in "".join(types):
                assert part["bytes"] == sum(map(bytes_in, types)), part


def around(nodes, name):
    """The boxes around a node of a graph, the innermost first."""
    while (name := nodes[name]["scope"]) is not None:
        yield name


@every
def test_the_two_sides_hold_each_operation_once(facts):
    fusion = facts.document["fusion"]
    for side, graph in (("left", fusion["before"]), ("right", fusion["after"])):
        numbers = sorted(row[side]["number"] for row in fusion["rows"] if row[side])
        assert numbers == list(range(1, len(numbers) + 1))
        named = [row[side]["name"] for row in fusion["rows"] if row[side]]
        nodes = {n["id"]: n for n in graph["nodes"]}
        kernels = {n for n in nodes if nodes[n]["kind"] in ("fusion", "library")}
        alone = {
            n for n in nodes if nodes[n]["kind"] not in ("group", "output") and kernels.isdisjoint(around(nodes, n))
        }
        assert Counter(named) == Counter(
            alone if side == "right" else [n for n in nodes if nodes[n]["kind"] not in ("group", "output")]
        )


@every
def test_the_text_says_the_same_counts(facts):
    fusion = facts.document["fusion"]
    said = facts.said
    equations, kernels = re.search(r"([\d,]+) equations? -> ([\d,]+) kernels?", re.sub(r"\s+", " ", said)).groups()
    assert int(equations.replace(",", "")) == facts.document["equations"]
    assert int(kernels.replace(",", "")) == fusion["summary"]["kernels"]
    listed = len(re.findall(r"^  \S (?:kernel|loop|copy|library)\b.*$", said, re.MULTILINE))
    more = re.findall(r"([\d,]+) more (?:kernel|loop)", said)
    assert listed + sum(int(count.replace(",", "")) for count in more) == len(fusion["kernels"])


@every
def test_the_headline_counts_every_kernel(facts):
    found = re.search(r"→ ([\d,]+) kernels?(?: \((.*)\))?", facts.document["headline"])
    assert found is not None
    parts = [int(part.split()[0].replace(",", "")) for part in found[2].split(", ")] if found[2] else []
    total = int(found[1].replace(",", ""))
    assert total == facts.document["fusion"]["summary"]["kernels"] and (not parts or sum(parts) == total)
