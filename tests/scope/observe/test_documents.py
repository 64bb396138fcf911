"""Documents made from the ledger: they have the form that docs/documents.md says, and say what the jaxpr says."""

from __future__ import annotations

import gc
import json
import re
import time
import weakref
from collections import Counter, defaultdict
from typing import Any

import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax, nn
from jitscope.backend.call_arguments import CallArguments
from jitscope.core.errors import Unavailable
from jitscope.core.jaxpr import Jaxpr, Literal, Var
from jitscope_scope import observe
from jitscope_scope.observe.ledger import Ledger, Row
from jitscope_scope.observe.timing import measure_steady
from jitscope_widgets import validate
from jitscope_widgets.scopes import Scopes
from tests.compiler.backend.test_stages import CELL, cell
from tests.compiler.programs import add, cos, exp, floats, matmul, mul, sin, tanh, total


X = floats(3)


def checked(document: dict[str, Any]) -> dict[str, Any]:
    """A document that has the right form and survives JSON."""
    validate(document)
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    return document


def row_of(ledger: Ledger, fun: Any, *args: Any) -> Row:
    """The row of a function's first call."""
    jx.clear_caches()
    jx.jit(fun)(*args)
    return next(row for row in reversed(list(ledger)) if not row.nested and not row.derived)


inner = jx.jit(lambda x: mul(sin(x), 2.0))
big = floats(30)


def plain(x, y):
    return mul(sin(x), add(y, 1.0))


def nested(x, y):
    return add(inner(x), jx.jit(lambda z: inner(cos(z)))(y))


def unread(x, y):
    exp(y)
    return sin(x), 2.0, x


def captured(x, y):
    return total(mul(x, X)), total(add(big, y[0] if hasattr(y, "__getitem__") else 0.0)), y


def gradient(x, y):
    return jx.grad(lambda x: total(tanh(matmul(x, y))))(x)


counter, written = jx.new_ref(jnp.zeros(3)), jx.new_ref(jnp.zeros(3))


def references(x, y):
    counter[...] += x
    jx.jit(lambda r, z: r.__setitem__(0, z))(written, y[1])
    own = jx.new_ref(y)
    jx.ref.addupdate(own, 1, counter[0])
    return sin(jx.freeze(own)), written[:2]


PROGRAMS = {"references": (references, X, X), "plain": (plain, X, X), "nested": (nested, X, X), "unread": (unread, X, X), "captured": (captured, X, X),
            "gradient": (gradient, floats(3, 3), floats(3, 3)), "identity": (lambda x: x, X),
            "tree": (lambda t: {"a": sin(t["b"][0]), "c": t["b"][1]}, {"b": (X, 1.0)}),
            "mapped": (jx.vmap(jx.grad(lambda x: mul(inner(x), x))), X)}  # fmt: skip


# Graphs ---------------------------------------------------------------------------------------------------------------


def count_equations(jaxpr: Jaxpr) -> int:
    """Equations at all levels, counted without the library's own walk."""
    total = 0
    for eqn in jaxpr.eqns:
        total += 1
        for value in eqn.params.values():
            held = getattr(value, "jaxpr", None)
            if isinstance(held, Jaxpr):
                total += count_equations(held)
    return total


def data_flow(jaxpr: Jaxpr, prefix: str = "", sources: dict[Var, str] | None = None) -> Counter[tuple[str, str]]:
    """Who gives a value to whom: (producer, user) with calls seen through, as often as it is used."""
    edges: Counter[tuple[str, str]] = Counter()
    outermost = sources is None
    sources = {} if sources is None else sources
    if outermost:
        sources.update({v: f"const{i}" for i, v in enumerate(jaxpr.constvars)})
        sources.update({v: f"in{i}" for i, v in enumerate(jaxpr.invars)})
    for i, eqn in enumerate(jaxpr.eqns):
        path = f"{prefix}e{i}"
        if eqn.primitive.name != "jit":
            edges.update((sources[a], path) for a in eqn.invars if isinstance(a, Var))
            sources.update((v, path) for v in eqn.outvars)
            continue
        held = eqn.params["jaxpr"].jaxpr
        own = {v: sources[a] for v, a in zip(held.invars, eqn.invars) if isinstance(a, Var)}
        own |= {v: f"{path}/in{n}" for n, (v, a) in enumerate(zip(held.invars, eqn.invars)) if isinstance(a, Literal)}
        edges += data_flow(held, f"{path}/", own)
        for v, a in zip(eqn.outvars, held.outvars):
            sources[v] = own[a] if isinstance(a, Var) else path
    if outermost:
        edges.update((sources[a], f"out{i}") for i, a in enumerate(jaxpr.outvars) if isinstance(a, Var))
    return edges


def outside_of_groups(node, nodes):
    """The id of the scope that a node is in; groups are seen through."""
    scope = node["scope"]
    while scope is not None and nodes[scope]["kind"] == "group":
        scope = nodes[scope]["scope"]
    return scope


@pytest.mark.parametrize("name", PROGRAMS)
def test_graphs_hold_the_equations_and_their_data_flow(ledger, name):
    fun, *args = PROGRAMS[name]
    row = row_of(ledger, fun, *args)
    document = checked(observe.compilation_document(row))
    graph, jaxpr = document["graph"], row.jaxpr
    assert jaxpr is not None
    kinds = Counter(node["kind"] for node in graph["nodes"])
    assert kinds["equation"] + kinds["scope"] == document["equations"] == count_equations(jaxpr)
    assert (kinds["constant"], kinds["output"]) == (len(jaxpr.constvars), len(jaxpr.outvars))
    nodes = {node["id"]: node for node in graph["nodes"]}
    assert len(nodes) == len(graph["nodes"])
    for node in nodes.values():
        if node["kind"] != "group":
            scope = outside_of_groups(node, nodes)
            assert scope is None or nodes[scope]["kind"] == "scope"
            assert scope == (node["id"].rpartition("/")[0] or None)
    assert Counter((e["from"], e["to"]) for e in graph["edges"]) == data_flow(jaxpr)
    for edge in graph["edges"]:
        assert edge["type"] in nodes[edge["from"]]["types"] and edge["bytes"] > 0


def test_nodes_read_like_the_printed_jaxpr(ledger):
    document = observe.compilation_document(row_of(ledger, nested, X, X))
    printed = {line.strip() for line in document["jaxpr"].splitlines()}
    for node in document["graph"]["nodes"]:
        if node["kind"] == "equation":
            assert any(node["text"] in line for line in printed), (node["text"], document["jaxpr"])
        if node["kind"] == "scope":
            assert node["text"].split(" = ")[0] in document["jaxpr"]


def test_scopes_are_called_by_the_functions_name(ledger):
    def helper(x):
        return sin(x)

    def caller(x):
        return jx.jit(helper)(x)

    graph = observe.compilation_document(row_of(ledger, caller, X))["graph"]
    (scope,) = [node for node in graph["nodes"] if node["kind"] == "scope"]
    assert scope["label"] == "helper" and scope["id"] == "e0"
    assert [node["id"] for node in graph["nodes"] if node["scope"] == "e0"] == ["e0/e0"]


def test_inputs_are_called_by_their_paths(ledger):
    document = observe.compilation_document(row_of(ledger, *PROGRAMS["tree"]))
    assert [n["label"] for n in document["graph"]["nodes"] if n["kind"] == "input"] == ["t['b'][0]", "t['b'][1]"]
    assert document["signature"] == "<lambda>(t['b'][0]: f32[3], t['b'][1]: f32[] (weak)) -> (f32[3], f32[])"


# Source ---------------------------------------------------------------------------------------------------------------


def test_source_and_marks_point_at_the_right_lines(ledger):
    made = cell(CELL, "<documents>")
    ledger.cell_of = {"<documents>": ("In [3]", "cell-3")}.get
    row = row_of(ledger, made.model, floats(4, 3), floats(3, 3))
    document = checked(observe.compilation_document(row))
    shown, lines = document["source"]["functions"][0], CELL.splitlines()
    assert (shown["name"], shown["label"], shown["cell"], shown["file"], shown["first_line"]) == (
        "model",
        "In [3]",
        "In [3]",
        "cell-3",
        lines.index("def model(x, w):") + 1,
    )
    assert document["source"]["calls"][0] == {"function": 0, "parent": None, "line": None}
    start = shown["first_line"] - 1
    assert shown["lines"] == lines[start : start + len(shown["lines"])] and shown["lines"][-1].strip() == "exp(c)))"
    marked = defaultdict(list)
    for mark in document["source"]["marks"]:
        marked[mark["line"]] += mark["nodes"]
    nodes = {node["id"]: node for node in document["graph"]["nodes"]}
    for line, ids in marked.items():
        for i in ids:
            (position,) = nodes[i]["positions"]
            assert (position["line"], position["cell"], position["file"], position["text"]) == (
                line, "In [3]", "cell-3", lines[line - 1])  # fmt: skip
    everything = {i for ids in marked.values() for i in ids}
    assert everything == {n["id"] for n in nodes.values() if n["kind"] in ("equation", "scope")}
    assert {nodes[i]["label"] for i in marked[lines.index("    a = mul(h, h)") + 1]} == {"mul"}


def test_functions_without_source(ledger):
    scope = {"sin": sin}
    exec("def f(x): return sin(x)", scope)
    assert checked(observe.compilation_document(row_of(ledger, scope["f"], X)))["source"] is None
    jx.jit(sin)(floats(7))
    row = list(ledger)[-1]
    assert checked(observe.compilation_document(row))["source"] is None


# Timing and cost ------------------------------------------------------------------------------------------------------


def test_times_are_measured_and_add_up(ledger):
    row = row_of(ledger, lambda x: mul(sin(x), 47.0), X)
    timing = checked(observe.compilation_document(row)["timing"])
    names = [stage["name"] for stage in timing["stages"]]
    assert [n for n in names if n != "convert arguments"] == [
        "trace",
        "lower",
        "compile",
        "first run",
    ]  # that is told where it was slow
    seconds = [stage["seconds"]["value"] for stage in timing["stages"]]
    assert all(0 < s < 60 for s in seconds) and timing["total"]["value"] == pytest.approx(sum(seconds))
    assert all(
        stage["seconds"]["origin"] == "measured" and stage["seconds"]["unit"] == "s" for stage in timing["stages"]
    )
    assert timing["steady"] is None and timing["can_measure"]


def test_steady_times_are_measured_when_asked_for(ledger):
    row = row_of(ledger, lambda x, k: (mul(sin(x), 53.0), jx.random.bits(k), x), X, jx.random.key(0))
    steady = checked(observe.measure_row(row.id, ledger))["timing"]["steady"]
    assert 0 < steady["low"]["value"] <= steady["median"]["value"] <= steady["high"]["value"] < 1
    assert steady["runs"] >= 5 and steady["source"] == "button"
    assert row.calls == 1  # measuring is no call of the user's
    with pytest.raises(Unavailable, match="no longer holds"):
        observe.measure_row(10**9, ledger)
    jx.clear_caches()
    with pytest.raises(Unavailable, match="call the function again"):
        observe.measure_row(row.id, ledger)


def note_of(document) -> str:
    return document["timing"]["steady"]["median"]["note"]


def test_steady_times_are_those_of_the_call(ledger):
    """A loop that ends at once on the user's numbers, and would run for minutes on others."""
    x, n = jnp.asarray(X), jnp.float32(3)
    row = row_of(ledger, lambda x, n: lax.while_loop(lambda c: c.sum() < n, lambda c: c + 1e-9, x), x + 1, x[0])
    with pytest.raises(Unavailable, match="depends on the values"):
        observe.measure_row(row.id, ledger)
    big = x + 100
    row = row_of(ledger, lambda x, n: lax.while_loop(lambda c: c.sum() < n, lambda c: c + 1e-9, x) * 2, big, n)
    document = checked(observe.measure_row(row.id, ledger))
    assert note_of(document).endswith("on the arguments of the call")
    assert document["timing"]["steady"]["median"]["value"] < 0.01
    ready = weakref.ref(big)
    del big
    gc.collect()
    assert ready() is None  # the ledger keeps nobody's array


def test_arguments_that_are_gone_have_stand_ins(ledger):
    row = row_of(ledger, lambda x, y: add(mul(x, y), 67.0), jnp.asarray(X), 2.0)
    assert "stand-ins, random numbers of the same shapes" in note_of(observe.measure_row(row.id, ledger))
    held = X + 1
    row = row_of(ledger, lambda x, y: add(mul(x, y), 71.0), held, 2.0)
    assert "on the arguments of the call" in note_of(observe.measure_row(row.id, ledger))


def test_captured_arrays_and_what_nobody_reads(ledger):
    big, x = jnp.asarray(floats(40, 40)), jnp.asarray(floats(40))
    keep = jnp.ones(3)
    row = row_of(ledger, lambda x, unread, y: (big @ x) * y + 1, x, keep, x)
    assert "on the arguments of the call" in note_of(observe.measure_row(row.id, ledger))


def test_measuring_donates_nothing_and_ends(ledger):
    f = jx.jit(lambda x, y: (add(x, y), mul(y, 2.0)), donate_argnums=0)
    x, y = jx.device_put(X), jx.device_put(X)
    f(x, y)
    row = list(ledger)[-1]
    assert "stand-ins" in note_of(observe.measure_row(row.id, ledger)) and not y.is_deleted()
    given = CallArguments([held := jx.device_put(X), y])
    for _ in range(2):
        assert "on the arguments of the call" in note_of(observe.measure_row(row.id, ledger, given))
    assert not held.is_deleted()
    start = time.process_time()
    assert measure_steady(row, given, budget=0.0)["steady"]["runs"] == 1 and time.process_time() - start < 5


def test_costs_are_modelled(ledger):
    document = observe.compilation_document(row_of(ledger, lambda x: matmul(x, x), floats(16, 16)))
    cost = document["cost"]
    assert (cost["flops"]["value"], cost["flops"]["origin"]) == (2 * 16**3, "modelled")
    assert cost["memory"]["value"] >= 2 * 4 * 16**2 and cost["bytes"]["value"] > 0


def test_what_is_gone_is_unknown_not_zero(ledger):
    row = row_of(ledger, lambda x: mul(sin(x), 61.0), X)
    jx.clear_caches()
    document = checked(observe.compilation_document(row))
    flops = document["cost"]["flops"]
    assert document["fusion"] is None and (flops["value"], flops["origin"]) == (None, "unknown")
    assert "no longer kept" in flops["note"]
    assert not document["timing"]["can_measure"]


# Headlines and fusion -------------------------------------------------------------------------------------------------


def test_headlines_count(ledger):
    heads = {
        name: observe.compilation_document(row_of(ledger, *PROGRAMS[name]))["headline"]
        for name in ("plain", "gradient")
    }
    assert heads["plain"] == "3 equations → 1 kernel (1 fusion of 4)"
    assert heads["gradient"].startswith(f"{count_equations(list(ledger)[-1].jaxpr)} equations")
    assert "library call" not in heads["gradient"], "XLA writes products of 3 × 3 out"
    assert (
        "library call" in observe.compilation_document(row_of(ledger, gradient, floats(9, 9), floats(9, 9)))["headline"]
    )


def test_fusions_name_equations_that_exist(ledger):
    row = row_of(ledger, gradient, floats(3, 3), floats(3, 3))
    document = observe.compilation_document(row)
    paths = {node["id"] for node in document["graph"]["nodes"]}
    named = {p for kernel in document["fusion"]["kernels"] for p in kernel["paths"]}
    assert named and named <= paths
    positions = [p for kernel in document["fusion"]["kernels"] for p in kernel["positions"]]
    assert positions and {p["file"] for p in positions} <= {__file__, programs_file()}


def programs_file() -> str:
    from tests.compiler import programs

    return str(programs.__file__)


# Cells ----------------------------------------------------------------------------------------------------------------


def test_a_cell_that_compiles_recompiles_reuses_and_fails(ledger):
    def step(x, k):
        return mul(sin(x), k) if k.aval.shape == () else missing_name  # noqa: F821  # pyright: ignore

    f = jx.jit(step)
    f(floats(2), 67.0)
    mark = ledger.mark()
    f(floats(2), 67.0)
    f(floats(2), 1.0)
    f(floats(5), 67.0)
    jx.jit(lambda x, k: mul(sin(x), k))(floats(2), 67.0)
    with pytest.raises(NameError):
        f(floats(2), floats(2))
    error = {"type": "NameError", "message": "no <b>", "position": None}
    document = checked(observe.cell_document(
        mark, cell="In [2]", cell_id="c2", left_alone=[("g", "a generator")], error=error, ledger=ledger))  # fmt: skip
    assert [(c["function"], c["cache"]) for c in document["compilations"]] == [
        ("step", "compiled"),
        ("<lambda>", "reused"),
    ]
    (card,) = document["compilations"][0]["recompilations"]["cards"]
    assert (card["cause"], card["compilations"], card["because"]) == ("shape", 1, "axis 0 of x is 2, then 5")
    (site,) = card["sites"]
    assert card["seconds"]["value"] == site["seconds"] > 0 and site["position"]["file"] == __file__
    assert [c["cause"] for c in document["recompilations"]["cards"]] == ["shape"]
    assert document["reused"] == [{"function": "step", "calls": 2}]
    assert document["left_alone"] == [{"name": "g", "reason": "a generator"}] and document["error"] == error


def test_a_cell_that_compiles_nothing(ledger):
    document = checked(observe.cell_document(ledger.mark(), cell="In [1]", note="nothing to compile", ledger=ledger))
    assert document["compilations"] == document["reused"] == [] and document["note"] == "nothing to compile"


def test_the_sessions_list(ledger):
    def listed(x):
        return mul(sin(x), 73.0)

    f = jx.jit(listed)
    f(X), f(X), f(floats(2)), jx.jit(lambda x: f(x))(X)
    with pytest.raises(TypeError):
        jx.jit(lambda x: "text")(X)
    rows = checked(observe.ledger_document(ledger))["rows"]
    assert [(r["function"], r["what"], r["calls"]) for r in rows] == [
        ("listed", "compiled", 2), ("listed", "recompiled", 1), ("<lambda>", "compiled", 1), ("<lambda>", "failed", 0)]  # fmt: skip
    assert all(r["because"] for r in rows) and all(r["seconds"]["trace"] > 0 for r in rows[:3])
    assert "text" not in rows[0]["because"]
    assert rows[0]["equations"] == 2 and rows[0]["signature"] == "listed(x: f32[3]) -> f32[3]"


def test_what_the_user_wrote_stays_text(ledger):
    def f(x):
        return {"<script>alert(1)</script>": sin(x)}

    f.__name__ = "<img src=x onerror=alert(1)>"
    document = checked(observe.compilation_document(row_of(ledger, f, X)))
    assert document["function"] == "<img src=x onerror=alert(1)>"


def test_long_signatures_are_cut(ledger):
    row = row_of(ledger, lambda t: t, [floats(1)] * 40)
    text = observe.signature_text(row)
    assert text.endswith("(t: 40 arrays) -> 40 arrays")


def test_positions_as_documents():
    assert observe.position_document(None) is None


def test_a_loop_says_how_often_it_runs_and_its_equations_lie_in_it():
    def f(x):
        return lax.scan(lambda c, _: (jnp.sin(c), None), lax.cond(x > 0, jnp.cos, jnp.tanh, x), length=7)[0]

    nodes = {n["id"]: n for n in observe.jaxpr_graph(jx.make_jaxpr(f)(1.0).jaxpr, "f", {})["nodes"]}
    loop = next(n for n in nodes.values() if n["label"] == "scan × 7")
    assert [n["label"] for n in nodes.values() if n["scope"] == loop["id"] and n["kind"] == "equation"] == ["sin"]
    branch = next(n for n in nodes.values() if n["label"] == "cond")
    inside = {
        n["id"].split("/")[1]: n["label"]
        for n in nodes.values()
        if n["scope"] == branch["id"] and n["kind"] == "equation"
    }
    assert inside == {}
    parts = {n["id"]: n["label"] for n in nodes.values() if n["scope"] == branch["id"]}
    assert parts == {f"{branch['id']}/branches0": "if false", f"{branch['id']}/branches1": "if true"}
    for part, label in zip(parts, ("tanh", "cos")):
        assert [n["label"] for n in nodes.values() if n["scope"] == part] == [label]


def with_branches(x, xs):
    def body(c, x):
        c = lax.cond(c.sum() > 0, lambda c: c + jx.jit(jnp.tanh)(x), lambda c: c - x * 2, c)
        return c, c.sum()

    return lax.scan(body, x, xs)


def with_while(x, n):
    return lax.while_loop(lambda c: c[0] < n, lambda c: (c[0] + 1, lax.switch(n, [jnp.sin, jnp.cos], c[1]) * x), (0, x))


@pytest.mark.parametrize("fun, args", [(with_branches, (X, floats(5, 3))), (with_while, (X, 3))])
def test_control_flow_as_a_graph(fun, args):
    closed = jx.make_jaxpr(fun)(*args)
    graph = observe.jaxpr_graph(closed.jaxpr, "f", {})
    nodes = {n["id"]: n for n in graph["nodes"]}
    assert len(nodes) == len(graph["nodes"])
    # One count for one thing: the scopes' own, and that of the printed program.
    everything = str(closed).count(" = ")
    scopes = Scopes(graph)
    assert scopes.operations(nodes) == everything
    for ident, node in nodes.items():
        if node["kind"] == "scope" and node["paths"]:
            inner = sum(other.startswith(f"{ident}/") and bool(nodes[other]["paths"]) for other in nodes)
            assert scopes.operations(scopes.inside(ident)) == inner
    # What an edge carries is what the node gives that it leaves.
    for edge in graph["edges"]:
        assert edge["type"] in nodes[edge["from"]]["types"], edge
    assert all(n["kind"] != "input" or not re.search(r"[\\<>]", n["label"]) for n in nodes.values())


def test_slices_and_stacks_of_a_scan_have_their_own_types():
    graph = observe.jaxpr_graph(jx.make_jaxpr(with_branches)(X, floats(5, 3)).jaxpr, "f", {})
    nodes = {n["id"]: n for n in graph["nodes"]}
    (whole,) = [e for e in graph["edges"] if e["from"] == "in1"]
    assert whole["type"] == "f32[5,3]" and nodes[whole["to"]]["label"] in ("x", "xs[i]")
    assert nodes[whole["to"]]["types"] == ["f32[3]"]
    assert {e["type"] for e in graph["edges"] if e["from"] == whole["to"]} == {"f32[3]"}
    assert {e["from"]: e["type"] for e in graph["edges"] if e["to"] == "out1"} == {"e0": "f32[5]"}


# Origins of what XLA made without a name ------------------------------------------------------------------------------


def product(m, v):
    y = m @ v
    return jnp.tanh(y)


def reduction(m, v):
    y = jnp.exp(m)
    z = jnp.sum(y, axis=1)
    return z * v[0]


def convolution(m, v):
    y = jnp.sin(m[None, :, :, None])
    z = lax.conv_general_dilated(y, jnp.ones((3, 3, 1, 4)), (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    return jnp.sum(z) + v


def inlined(m, v):
    a = jx.jit(nn.log_softmax)(m)
    b = jx.jit(nn.log_softmax)(a * 2)
    return b * v


@pytest.mark.parametrize("fun, shape, opcode, line", [
    (product, (200, 100), "dot", 1),
    (reduction, (16, 50), "reduce-window", 2),
    (convolution, (32, 32), "convolution", 2),
])  # fmt: skip
def test_operations_without_a_name_belong_to_the_equation_they_are_a_step_of(ledger, fun, shape, opcode, line):
    document = checked(observe.compilation_document(row_of(ledger, fun, floats(*shape), floats(shape[1]))))
    first = document["source"]["functions"][0]["first_line"]
    meant = [k for k in document["fusion"]["kernels"] if opcode in {k["opcode"], *(m["opcode"] for m in k["members"])}]
    assert meant
    for kernel in meant:
        assert first + line in {p["line"] for p in kernel["positions"]}
    assert all(k["positions"] or k["kind"] == "copy" for k in document["fusion"]["kernels"])


@pytest.mark.parametrize("fun", [product, reduction, convolution, inlined])
def test_no_origin_is_claimed_that_the_data_flow_contradicts(ledger, fun):
    """A kernel of an equation reads, through any number of kernels, only what the equation depends on."""
    row = row_of(ledger, fun, floats(32, 32), floats(32))
    document = observe.compilation_document(row)
    needs = dependencies(row.jaxpr)
    after = {n["id"]: n for n in document["fusion"]["after"]["nodes"]}
    for edge in document["fusion"]["after"]["edges"]:
        source, target = after[edge["from"]], after[edge["to"]]
        if source["paths"] and target["paths"] and target["kind"] != "output":
            reached = set().union(*(needs[path] | {path} for path in target["paths"]))
            assert any(related(a, b) for a in source["paths"] for b in reached), (source["paths"], target["paths"])


def related(a: str, b: str) -> bool:
    """Whether two paths are the same, or one is of an equation in the other."""
    return a == b or a.startswith(f"{b}/") or b.startswith(f"{a}/")


def dependencies(jaxpr: Jaxpr, prefix: str = "", sources: dict[Var, set[str]] | None = None) -> dict[str, set[str]]:
    """Equation → all equations it depends on, through calls."""
    found: dict[str, set[str]] = {}
    sources = {} if sources is None else sources
    for i, eqn in enumerate(jaxpr.eqns):
        path = f"{prefix}e{i}"
        found[path] = set().union(*(sources.get(a, set()) for a in eqn.invars if isinstance(a, Var)))
        outs = {path} | found[path]
        if eqn.primitive.name == "jit":
            held = eqn.params["jaxpr"].jaxpr
            own = {v: sources.get(a, set()) for v, a in zip(held.invars, eqn.invars) if isinstance(a, Var)}
            found |= dependencies(held, f"{path}/", own)
            outs = outs | {p for p in found if p.startswith(f"{path}/")}
        sources.update((v, outs) for v in eqn.outvars)
    return found


def test_inputs_and_results_have_the_users_names_in_all_graphs(ledger):
    """Names in HLO are printed with escapes, which nobody should see."""

    def layer(params, x):
        return {"out é": tanh(matmul(x, params["w'1"])), "loss": (total(x), x)}

    document = checked(
        observe.compilation_document(row_of(ledger, layer, {"w'1": floats(3, 3), "ü\n": 1.0}, floats(2, 3)))
    )
    read = {'params["w\'1"]', "x"}
    results = ["result['loss'][0]", "result['loss'][1]", "result['out é']"]
    for graph in (document["graph"], document["fusion"]["before"], document["fusion"]["after"]):
        labels = {kind: [n["label"] for n in graph["nodes"] if n["kind"] == kind] for kind in ("input", "output")}
        assert read <= set(labels["input"]) and labels["output"] == results
    document = observe.compilation_document(row_of(ledger, lambda x: sin(x), X))
    assert [n["label"] for n in document["graph"]["nodes"] if n["kind"] == "output"] == ["result"]
