"""The passes document against the dumps XLA wrote, which are read here by other means, and on programs whose passes are known."""

from __future__ import annotations

import functools
import os
import pickle
import re
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax
from jitscope.xla.dumps import Source, compiled_again
from jitscope_scope import observe
from jitscope_scope.observe.passes import instrument, passes_document
from jitscope_widgets import text as text_of, validate
from jitscope_widgets.quantities import percent, seconds
from tests.extent import full, some
from tests.programs.rows import row_of
from tests.scope.fact_programs import PROGRAMS


BROUGHT_ALONG = {"parameter", "constant", "tuple", "get-tuple-element"}


@functools.cache
def known(name):
    """(row, what XLA told) of one of the thirty programs, compiled once."""
    fun, args = PROGRAMS[name][:2]
    row = row_of(fun, *args)
    return row, compiled_again(Source.of(row.entry))


def changed(document):
    """(pass, its state) of those passes that changed something."""
    return [(p["name"], document["states"][p["state"]]) for p in document["passes"] if p["state"] is not None]


def fates(document):
    return {fate["path"]: fate["what"] for fate in document["fates"]}


def instructions(text):
    """{computation: {name: (opcode, what follows it)}} of a dump, without computations that nobody calls any more."""
    found, inside, asked = {}, {}, []
    for line in text.splitlines():
        if header := re.match(r"(ENTRY )?%?([\w.\-]+) (?:\(.*\{|\{)$", line):
            inside = found[header[2]] = {}
            asked += [header[2]] if header[1] else []
        elif parts := re.match(r"  (?:ROOT )?%?([\w.\-]+) = (?:\(.*?\)|\S+) ([\w\-]+)\((.*)", line):
            inside[parts[1]] = parts[2], re.sub(r", (metadata|backend_config)=.*", "", parts[3])
            for element in re.findall(
                r"%([\w.\-]+#\d+)", parts[3]
            ):  # since jaxlib 0.11 they have no lines of their own
                inside[element] = "get-tuple-element", f"%{element.partition('#')[0]})"
    for name in asked:  # grows: what is called
        said = {word for _, rest in found[name].values() for word in re.findall(r"[\w.\-]+", rest)}
        asked += sorted(said & found.keys() - set(asked))
    return {name: inside for name, inside in found.items() if name in asked}


def dumps(told):
    """(name of the pass or "", instructions) of the states, in the order in which XLA wrote them."""
    files = sorted((file for file in told.files if file.number is not None), key=lambda file: file.number)
    after = [name for file in files for name in re.findall(r"\.after_(.+?)(?:\.before_|\.txt)", file.name)[:1]]
    return [(name, instructions(file.text)) for name, file in zip(after, files, strict=True)]


@pytest.mark.parametrize(
    "name",
    some(
        ["log_softmax_gradient", "dense", "update", "counted_loop", "lstm", "resnet"],
        always="log_softmax_gradient dense update counted_loop lstm",
    ),
)
def test_what_changed_stands_in_xlas_dumps(name):
    told = known(name)[1]
    document = passes_document(told, name, {}, rows=None)
    written = dumps(told)
    at = 0
    for name, state in changed(document):
        spelled = re.sub(r"[^\w.\-]", "_", name)
        at = next(n for n in range(at + 1, len(written)) if written[n][0] == spelled)
        while written[at + 1 : at + 2] and written[at + 1][0] == spelled:
            at += 1
        holds(state, written[at][1])
    for old, new in pairwise(document["states"]):
        counts, copied = new["counts"], re.search(r"([\d,]+) copied", new["sentence"])
        more = counts["added"] - counts["removed"] + int(copied[1].replace(",", "") if copied else 0)
        assert new["operations"] == old["operations"] + more, new["sentence"]
    # every instruction that XLA's last dump has and its first has not came with one of the passes
    (_, first), (_, last) = written[0], written[-1]
    came = {row["after"].split(" = ")[0] for _, state in changed(document) for row in state["rows"] if row["after"]}
    for computation in first.keys() & last.keys():
        for new in last[computation].keys() - first[computation].keys():
            assert last[computation][new][0] in BROUGHT_ALONG or new in came


def holds(state, dump):
    """What a state says stands so in the dump after its pass."""
    for row in state["rows"]:
        if row["after"] is not None:
            instruction, text = row["after"].split(" = ", 1)
            opcode, rest = dump[row["to"]][instruction]
            assert opcode == row["opcode"] and f" {opcode}(" in text
            operands = re.findall(r"%([\w.\-#]+)", rest[: rest.index(")")])
            assert text.endswith("…") or f"{opcode}({', '.join(operands)})" in text
        if row["kind"] == "removed":
            assert row["before"].split(" = ")[0] not in dump.get(row["from"], {})


def test_passes_that_change_nothing_are_there_with_their_times():
    document = instrument(row_of(*small()))
    names = [p["name"] for p in document["passes"]]
    assert {"algsimp", "cse", "dce", "fusion", "layout-assignment", "copy-insertion"} <= set(names)
    assert all(p["seconds"]["value"] > 0 for p in document["passes"])
    assert len(changed(document)) < len(names) / 5
    assert next(p["pipelines"][-1] for p in document["passes"] if p["name"] == "algsimp") == "simplification"


def test_the_stages_add_up():
    stages = instrument(row_of(*small()))["stages"]
    assert [stage["name"] for stage in stages] == ["passes", "kernels", "machine code", "rest"]
    seconds = [stage["seconds"]["value"] for stage in stages]
    assert all(s > 0 for s in seconds) and seconds[2] > seconds[0]


@pytest.mark.parametrize("name", some(["log_softmax", "lstm", "resnet", "unrolled"], always="log_softmax lstm"))
def test_the_last_state_has_the_kernels_of_the_program(name):
    row, told = known(name)
    kernels = observe.compilation_document(row)["fusion"]["summary"]["kernels"]
    assert passes_document(told, name, {})["states"][-1]["kernels"] == kernels


def small():
    def twice(x):
        return jnp.exp(x) @ jnp.ones((40, 3)), jnp.sin(x) + jnp.exp(x)[::-1]

    return twice, np.ones((300, 40), np.float32)


def test_equal_operations_are_merged_by_cse():
    document = instrument(row_of(*small()))
    state = dict(changed(document))["cse"]
    assert state["sentence"] == "1 operation removed, 1 given other operands"
    merged = next(fate for fate in document["fates"] if fate["what"] == "merged")
    assert (merged["path"], merged["into"], merged["state"]) == ("e4", ["e0"], 1)
    rewritten = "dot-library-rewriter" in dict(changed(document))  # jaxlib 0.10 has it; before, a dot stays one
    assert fates(document).get("e2") == ("library" if rewritten else None)
    assert fates(document)["e3"] == fates(document)["e6"] == "fused"


def test_what_is_the_same_in_each_iteration_moves_out_of_the_loop():
    def loop(x, w):
        def body(carry, _):
            return jnp.tanh(carry + (w @ w).sum()), carry.sum()

        return lax.scan(body, x, None, length=50)

    document = instrument(row_of(loop, np.ones((300, 40), np.float32), np.ones((30, 30), np.float32)))
    state = dict(changed(document))["while-loop-invariant-code-motion"]
    moved = [row for row in state["rows"] if row["kind"] == "moved"]
    assert [row["opcode"] for row in moved] == ["dot", "reduce"]
    assert all(row["to"].startswith("main") and row["from"].startswith("region") for row in moved)
    assert not [row for row in state["rows"] if row["kind"] in ("removed", "added")]


def test_called_functions_keep_their_paths_through_inlining():
    inner = jx.jit(lambda x: jnp.cos(x) + 1)

    def calls(x):
        return inner(x) * inner(x + 2)

    row = row_of(calls, np.ones(30, np.float32))
    document = instrument(row)
    rows = [r for _, state in changed(document) for r in state["rows"]]
    assert {"e0/e0", "e2/e0"} <= {path for r in rows for path in r["paths"]}
    assert fates(document)["e2/e0"] == "fused"


@pytest.mark.parametrize(("name", "least"), [("lstm", 40), pytest.param("resnet", 500, marks=full)])
def test_where_equations_went_agrees_with_the_kernels(name, least):
    row, told = known(name)
    kernels = {k["name"]: k for k in observe.compilation_document(row)["fusion"]["kernels"]}
    last = {}
    for fate in passes_document(told, name, {})["fates"]:
        last[fate["path"]] = fate
    told = [fate for fate in last.values() if fate["what"] in ("fused", "library")]
    there = [kernel for fate in told for kernel in fate["into"] if kernel in kernels]
    assert len(told) > least and len(there) > least
    for fate in told:
        for kernel in fate["into"]:
            if kernel in kernels:
                assert any(path == fate["path"] for path in kernels[kernel]["paths"])


def test_a_long_list_is_cut_and_says_so():
    told = known("lstm")[1]
    short, whole = (dict(changed(passes_document(told, "lstm", {}, rows=rows)))["fusion"] for rows in (10, None))
    assert short["rows"] == whole["rows"][:10] and short["counts"] == whole["counts"]
    assert short["left_out"] == len(whole["rows"]) - 10 > 100 and whole["left_out"] == 0


def test_the_document_has_its_form_and_nothing_is_run():
    runs = []

    def calling(x):
        jx.debug.callback(lambda v: runs.append(float(v)), x)
        return x + 1

    row = row_of(calling, np.float32(3))
    jx.effects_barrier()
    document = instrument(row)
    jx.effects_barrier()
    assert runs == [3.0]
    validate(document)
    assert document["states"][0]["sentence"] == ""
    for (_, old), (_, new) in pairwise(changed(document)):
        assert old is not new


def operands_in(dump, computation, name):
    """The names that an instruction of a dump reads."""
    rest = dump[computation][name][1]
    return re.findall(r"%([\w.\-#]+)", rest[: rest.index(")")])


def place_in(node):
    """(whether it is there after the pass, computation, name) of a node."""
    of, name = node["id"].removeprefix("before: ").rsplit("/", 1)
    return not node["id"].startswith("before: "), of, name


@pytest.mark.parametrize(
    "name",
    some(
        ["log_softmax_gradient", "dense", "counted_loop", "lstm", "resnet"],
        always="log_softmax_gradient dense counted_loop lstm",
    ),
)
def test_the_graph_of_a_step_stands_in_xlas_dumps(name):
    told = known(name)[1]
    document = passes_document(told, name, {})
    written, at, seen = dumps(told), 0, set()
    whole = {re.sub(r"[^\w.\-]", "_", one["name"]) for one in document["passes"]}
    for name, state in changed(document):
        spelled = re.sub(r"[^\w.\-]", "_", name)
        at = first = next(n for n in range(at + 1, len(written)) if written[n][0] == spelled)
        while written[at + 1 : at + 2] and written[at + 1][0] == spelled:
            at += 1
        last = max(n for n in range(first) if n == 0 or written[n][0] in whole)  # the others are steps within passes
        seen |= graph_holds(state, written[last][1], written[at][1])
        marked = sum("mark" in node for node in state["graph"]["nodes"])
        assert marked + state["graph_left_out"] == len(state["rows"]) + state["left_out"]
    assert {"removed", "added", "edge", "gone"} <= seen


WRITTEN = """
import json, pickle, sys
from jitscope_scope.observe.passes import passes_document
print(json.dumps(passes_document(pickle.load(sys.stdin.buffer), "lstm", {})))
"""


def test_the_document_does_not_hang_on_the_order_of_hashes():
    told = pickle.dumps(known("lstm")[1])
    one, other = (
        subprocess.run(
            [sys.executable, "-c", WRITTEN],
            input=told,
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1")
    )
    assert one == other


def graph_holds(state, old, new):
    """What was there before a pass, and is now, is what its graph says."""
    seen, nodes = set(), {node["id"]: node for node in state["graph"]["nodes"]}
    for node in nodes.values():
        if node["kind"] == "scope":
            continue
        now, of, name = place_in(node)
        assert name in (new if now else old)[of]
        if node.get("mark") == "removed":
            assert not now and name not in new.get(of, {})
        if node.get("mark") == "added":
            assert now and name not in old.get(of, {})
        seen.add(node.get("mark"))
    for edge in state["graph"]["edges"]:
        (now, of, name), (there, into, reader) = place_in(nodes[edge["from"]]), place_in(nodes[edge["to"]])
        if of == into and not edge.get("gone"):
            assert now and there and name in operands_in(new, into, reader)
            seen.add("edge")
        elif of == into and edge.get("gone") and reader in old.get(into, {}):
            renamed = nodes[edge["from"]].get("mark") in ("fused", "moved", "changed", "rewired")
            assert name in operands_in(old, into, reader) or renamed
            assert not (now and there and name in operands_in(new, into, reader))
            seen.add("gone")
    return seen


def test_merged_operations_stand_in_the_graph_beside_what_is_kept():
    graph = dict(changed(instrument(row_of(*small()))))["cse"]["graph"]
    marks = {node["id"]: node.get("mark") for node in graph["nodes"]}
    (gone,) = [name for name, mark in marks.items() if mark == "removed"]
    (reader,) = [name for name, mark in marks.items() if mark == "rewired"]
    flows = {(edge["from"], edge["to"]): edge.get("gone", False) for edge in graph["edges"]}
    assert flows[gone, reader]
    kept = [source for source, to in flows if to == reader and source != gone]
    assert [next(n["paths"] for n in graph["nodes"] if n["id"] == name) for name in kept] == [["e0"]]


def test_what_moved_out_of_a_loop_stands_outside_of_it_in_the_graph():
    def looping(x, w):
        return lax.scan(lambda carry, _: (jnp.tanh(carry + (w @ w).sum()), carry.sum()), x, None, length=50)

    document = instrument(row_of(looping, np.ones((300, 40), np.float32), np.ones((30, 30), np.float32)))
    graph = dict(changed(document))["while-loop-invariant-code-motion"]["graph"]
    moved = [node for node in graph["nodes"] if node.get("mark") == "moved"]
    assert [(node["label"], node["scope"]) for node in moved] == [("dot", None), ("reduce", None)]


def test_every_change_is_told_by_its_equations_though_its_line_is_left_out():
    told = known("lstm")[1]
    whole = passes_document(told, "lstm", {}, rows=None)["states"]
    for short, state in zip(passes_document(told, "lstm", {}, rows=3)["states"], whole, strict=True):
        paths = {path for row in short["rows"] for path in row["paths"]} | set(short["also"])
        assert paths == {path for row in state["rows"] for path in row["paths"]}


def test_a_loop_with_two_programs_inside_has_its_passes():
    f = jx.jit(lambda x: lax.while_loop(lambda c: c < 5, lambda c: c + jnp.exp(c), x))
    f(1.0)
    document = instrument(list(observe.ledger())[-1])
    validate(document)
    assert "body_jaxpr/e0" in str(document)


def selu(x, w):
    z = x @ w
    return 1.05 * jnp.where(z > 0, z, 1.67 * (jnp.exp(z) - 1))


def softmax(x):
    e = jnp.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def scanned(x):
    def body(carry, _):
        return jnp.tanh(carry) * 2, carry.sum()

    return lax.scan(body, x, None, length=20)


def convolved(x, w):
    y = lax.conv_general_dilated(x, w, (1, 1), "SAME")
    return jnp.maximum(y, 0) + 1


LINKED = {
    "selu": (selu, np.ones((64, 20), np.float32), np.ones((20, 7), np.float32)),
    "softmax": (softmax, np.ones((30, 40), np.float32)),
    "scanned": (scanned, np.ones(300, np.float32)),
    "convolved": (convolved, np.ones((2, 3, 16, 16), np.float32), np.ones((4, 3, 3, 3), np.float32)),
}


@pytest.mark.parametrize("name", LINKED)
def test_from_a_line_to_its_passes_and_back(name):
    fun, *args = LINKED[name]
    row = row_of(fun, *args)
    document, compilation = instrument(row), observe.compilation_document(row)
    kernels = {path for kernel in compilation["fusion"]["kernels"] for path in kernel["paths"]}
    written = {node["id"]: node["positions"][0]["line"] for node in compilation["graph"]["nodes"] if node["positions"]}
    code = fun.__code__
    last = max(line for c in (code, *code.co_consts) if hasattr(c, "co_lines") for *_, line in c.co_lines() if line)
    touched = [
        {path for row in state["rows"] for path in row["paths"]} | set(state["also"]) for state in document["states"]
    ]
    # there: whatever became of an equation, the pass that did it names it among its changes
    assert document["fates"]
    for fate in document["fates"]:
        assert any(path == fate["path"] for path in touched[fate["state"]])
    # every equation that is in a kernel was touched by some pass, or reached its kernel as it was lowered
    assert kernels & set().union(*touched)
    # and back: what a pass changed leads to the line that the graph of the jaxpr has for it
    for state in document["states"]:
        nodes = state["graph"]["nodes"] if state["graph"] else []
        for path in {path for one in (*state["rows"], *nodes) for path in one["paths"]}:
            assert document["positions"][path]["line"] == written[path]
            assert code.co_firstlineno <= written[path] <= last


def test_the_comparator_of_a_library_call_is_no_kernel():
    row = row_of(lambda x: lax.top_k(x, 3), np.ones((5, 20), np.float32))
    assert instrument(row)["states"][-1]["kernels"] == observe.compilation_document(row)["fusion"]["summary"]["kernels"]


def test_the_pass_that_fused_an_equation_is_one_that_fuses():
    """A product is handed to the library though a bitcast of its name stays outside; and what a kernel that was merged with its equal
    leaves behind was fused before that."""

    def mixing(x, w):
        q, k, v = (jnp.reshape(x @ each, (16, 4, 8)) for each in w)
        return jnp.einsum("hqk,khd->qhd", jnp.tanh(jnp.einsum("qhd,khd->hqk", q, k)), v).sum()

    row = row_of(jx.grad(mixing), np.ones((16, 32), np.float32), np.ones((3, 32, 32), np.float32))
    document, jaxpr = instrument(row), row.needed("closed").jaxpr
    products = {f"e{n}": eqn.outvars[0].aval for n, eqn in enumerate(jaxpr.eqns) if eqn.primitive.name == "dot_general"}
    flat = {path for path, aval in products.items() if aval.ndim == 2}
    names = {p["state"]: p["name"] for p in document["passes"]}
    by = {(fate["what"], names[fate["state"]]) for fate in document["fates"] if fate["what"] in ("fused", "library")}
    library = {("library", "dot-library-rewriter")} & {
        ("library", name) for name in names.values()
    }  # none before jaxlib 0.10
    assert by == {("fused", "fusion"), ("fused", "fusion-wrapper")} | library
    to_library = {fate["path"] for fate in document["fates"] if fate["what"] == "library"}
    assert len(flat) > 5 and to_library <= products.keys() and (flat <= to_library or not library)


def test_an_operation_without_origin_that_gets_a_kernel_of_its_own_is_fused():
    """The first step of a sum in two, which XLA makes: it is neither removed nor added, and counts as before."""
    document = observe.look(row_of(lambda x: jnp.sin(x.sum(1)), np.ones((16, 64), np.float32)), "passes")
    (number,) = [one["state"] for one in document["passes"] if one["name"] == "fusion-wrapper" and one["state"]]
    state, before = document["states"][number], document["states"][number - 1]
    rows = [row for row in state["rows"] if row["opcode"] == "reduce-window"]
    assert [row["kind"] for row in rows] == ["fused"] and not rows[0]["paths"]
    assert {kind for kind, count in state["counts"].items() if count} == {"fused"} and state["operations"] == before[
        "operations"
    ]


def one_large_kernel(x):
    y = jnp.cumsum(x)
    for k in range(80):
        x = jnp.sin(x) * k + 1.0  # the large one
    return x, jnp.flip(jnp.pad(y, 3)), y.sort()


def test_the_kernel_that_took_longest_to_write_is_the_one_with_most_in_it():
    document = instrument(row_of(one_large_kernel, jnp.ones(1000)))
    writing = document["writing"]
    assert writing["count"] == len(writing["kernels"]) > 1
    took = [kernel["seconds"]["value"] for kernel in writing["kernels"]]
    assert took == sorted(took, reverse=True) and sum(took) == pytest.approx(writing["total"]["value"])
    texts = [{document["positions"][path]["text"].strip() for path in k["paths"]} for k in writing["kernels"]]
    assert any("the large one" in text for text in texts[0])
    text = jx.jit(one_large_kernel).lower(jnp.ones(1000)).compile().as_text()
    names = set(re.findall(r"^\s*(?:ROOT )?%?([\w.\-]+) = ", text, re.M))
    assert {kernel["name"] for kernel in writing["kernels"]} <= names  # as XLA writes them
    code = next(stage["seconds"]["value"] for stage in document["stages"] if stage["name"] == "machine code")
    assert writing["parts"] >= writing["count"] and 0 < writing["longest"]["value"] <= code


def test_the_sentence_names_the_dearest_pass_and_stage():
    document = instrument(row_of(one_large_kernel, jnp.ones(1000)))
    told = " ".join(" ".join(text_of(document).split()).split())
    spent: dict[str, float] = {}
    for one in document["passes"]:
        spent[one["name"]] = spent.get(one["name"], 0.0) + one["seconds"]["value"]
    name = max(spent, key=spent.__getitem__)
    assert f"Of the passes {name} took longest: {seconds(spent[name])}" in told
    stages = {stage["name"]: stage["seconds"]["value"] for stage in document["stages"]}
    share = percent(max(stages.values()) / sum(stages.values()))
    assert f"Compiling once more took {seconds(sum(stages.values()))}" in told and f"Most of it, {share}, was" in told


def test_operations_and_kernels_are_those_of_fusion():
    """A loop and a call are no operations, and what is called twice counts twice."""

    @jx.jit
    def softened(x):
        return jnp.log1p(jnp.exp(x))

    def steps(x):
        x = lax.while_loop(lambda x: x.sum() < 100, lambda x: softened(x) + 1, softened(x))
        return lax.cond(x[0] > 3, lambda x: softened(x + 1), jnp.sin, x)

    row = row_of(steps, np.ones(8, np.float32))
    passes, fusion = instrument(row), observe.compilation_document(row)["fusion"]["summary"]
    assert passes["states"][-1]["kernels"] == fusion["kernels"]
    assert passes["states"][-1]["operations"] == fusion["after"]
    assert passes.get("inlined", passes["states"][0]["operations"]) == fusion["before"]
    assert passes["inlined"] > passes["states"][0]["operations"]
    told = f"{fusion['before']} operations ({passes['states'][0]['operations']} as written, each function once)"
    assert f"{told} -> {fusion['kernels']} kernels" in " ".join(text_of(passes).split())
