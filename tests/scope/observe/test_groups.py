"""Groups of a graph: runs of calls and named scopes, repeats, trees. What is equal, what contains what and what is before what is
found here again by other means."""

from __future__ import annotations

import functools
import re
from collections import Counter, defaultdict
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import jitscope as jx
import jitscope.numpy as jnp
from jitscope_scope import observe
from jitscope_scope.observe.groups.repeats import LEAST, stretches
from jitscope_scope.observe.groups.trees import parts_of
from jitscope_widgets import validate
from jitscope_widgets.still import still
from tests.extent import examples
from tests.programs import training
from tests.programs.rows import row_of
from tests.programs.training import optimizer


def graph_of(fun, *args):
    closed = jx.jit(fun).trace(*args).jaxpr
    graph = observe.jaxpr_graph(closed.jaxpr, "f", observe.positions_of(closed.jaxpr))
    validate(graph)
    return graph, closed.jaxpr


def inside(graph):
    """What each scope holds, by id."""
    found = defaultdict(list)
    for node in graph["nodes"]:
        found[node["scope"]].append(node)
    return found


def groups(graph, what):
    return [node for node in graph["nodes"] if node.get("what") == what]


def labels(graph, what):
    return [node["label"] for node in groups(graph, what)]


def equations_in(node, held):
    """The equations in a node at all depths, in the order of the document."""
    if node["kind"] != "group":
        return [node]
    return [leaf for part in held[node["id"]] for leaf in equations_in(part, held)]


def shape_of(node, held, names):
    """A node's text with its variables numbered in the order in which they come, and the groups in it."""
    if node["kind"] == "group":
        return (
            node["what"],
            re.sub(r" [\d,]+ of", " of", node["label"]),
            tuple(shape_of(p, held, names) for p in held[node["id"]]),
        )

    results, _, rest = node["text"].partition(" = ")
    mine = [f"{names.setdefault(r.split(':')[0], len(names))}:{r.split(':')[1]}" for r in results.split()]
    operands = [str(names[word]) if word in names else "?" * word.isalpha() or word for word in rest.split()[1:]]
    return rest.split()[0], tuple(operands), tuple(mine)


def check(graph, jaxpr):
    """What holds for the groups of every graph."""
    nodes = {node["id"]: node for node in graph["nodes"]}
    held = inside(graph)
    equations = [n for n in graph["nodes"] if n["kind"] in ("equation", "scope") and n["paths"]]
    assert Counter(n["id"] for n in equations) == Counter(path for path, _ in walk(jaxpr))
    assert len(nodes) == len(graph["nodes"])
    order = {ident: i for i, ident in enumerate(nodes)}
    for node in graph["nodes"]:
        assert node["scope"] is None or order[node["scope"]] < order[node["id"]]
        if node["kind"] == "group":
            check_group(node, held)
    for scope in [None, *held]:
        assert is_acyclic(graph, nodes, scope)
    for repeat in groups(graph, "repeat"):
        instances = held[repeat["id"]]
        assert len(instances) == repeat["count"] >= 3
        assert all(i["what"] == "instance" and i["count"] == repeat["count"] for i in instances)
        contents = [[shape_of(n, held, names) for n in held[i["id"]]] for i in instances for names in ({},)]
        assert all(content == contents[0] for content in contents)


def check_group(group, held):
    parts = held[group["id"]]
    if group["what"] == "tree":
        assert group["count"] == len(leaves := equations_in(group, held)) >= 2
        assert group["bytes"] == sum(leaf["bytes"] for leaf in leaves)
    elif group["what"] in ("function", "named scope", "line"):
        assert len(equations_in(group, held)) >= 2
        assert group["count"] >= len(equations_in(group, held))
    assert len(parts) > (group["what"] == "tree")


def walk(jaxpr, prefix=""):
    for i, eqn in enumerate(jaxpr.eqns):
        yield f"{prefix}e{i}", eqn
        held = [(name, v) for name, v in eqn.params.items() if hasattr(v, "jaxpr")]
        held += [
            (f"{name}{i}", p)
            for name, v in eqn.params.items()
            if type(v) is tuple
            for i, p in enumerate(v)
            if hasattr(p, "jaxpr")
        ]
        for name, value in held:
            yield from walk(value.jaxpr, f"{prefix}e{i}/{name}/" if len(held) > 1 else f"{prefix}e{i}/")


def is_acyclic(graph, nodes, scope):
    """Whether what stands directly in a scope, groups closed, gives values in one direction only."""
    after = defaultdict(set)
    for edge in graph["edges"]:
        a, b = (within(nodes, edge[end], scope) for end in ("from", "to"))
        if a is not None and b is not None and a != b:
            after[a].add(b)
    left = {a: len(bs) for a, bs in after.items()}
    before = defaultdict(list)
    for a, bs in after.items():
        for b in bs:
            before[b].append(a)
    todo = [b for b in before if not left.get(b)]
    done = 0
    while todo:
        done += 1
        for a in before[todo.pop()]:
            left[a] -= 1
            if not left[a]:
                todo.append(a)
    return done == len({*after, *before})


def within(nodes, ident, scope):
    """The node directly in a scope that is or holds the node `ident`."""
    while ident is not None and nodes[ident]["scope"] != scope:
        ident = nodes[ident]["scope"]
    return ident


@pytest.mark.parametrize("name", ["transformer", "lstm", "resnet"])
def test_groups_of_whole_programs(name):
    module = import_module(f"tests.programs.{name}")
    check(*graph_of(module.program, *module.arguments()))


def test_equal_layers_are_one_block_in_both_passes():
    module = import_module("tests.programs.transformer")
    graph, _ = graph_of(module.program, *module.arguments())
    assert [x for x in labels(graph, "repeat") if "block" in x] == ["block × 12", "block (backward) × 12"]
    held = inside(graph)
    forward = next(n for n in groups(graph, "repeat") if n["label"] == "block × 12")
    third = held[forward["id"]][2]
    assert third["label"] == "block 3 of 12"
    assert third["params"]["params['layers'][0]['wq']"] == "params['layers'][2]['wq']"
    source = Path(module.__file__).read_text().splitlines()
    assert "block(x, layer)" in source[forward["positions"][0]["line"] - 1]
    outer = [n["label"] for n in held[None] if n["kind"] == "group" and n["what"] != "tree"]
    assert outer[0] == "model" and "model (backward)" in outer


def test_trees_are_closed_in_one_pill():
    module = import_module("tests.programs.transformer")
    graph, _ = graph_of(module.program, *module.arguments())
    nodes = {n["id"]: n for n in graph["nodes"]}
    assert [n["id"] for n in inside(graph)[None] if n["kind"] in ("input", "group") and n.get("what", "tree") == "tree"] == [
        "in:params", "in121", "in122", "out:result"]  # fmt: skip
    assert nodes["in:params"]["count"] == 121
    assert nodes["in:params['layers'][3]"]["label"] == "[3]" and nodes["in:params['layers'][3]"]["count"] == 10


def test_an_unrolled_loop_is_one_repeat():
    def f(x):
        for _ in range(500):
            x = jnp.sin(x) * 1.0001
        return x

    graph, jaxpr = graph_of(f, np.ones(3, np.float32))
    check(graph, jaxpr)
    assert labels(graph, "repeat") == ["sin, mul × 500"]


def test_loops_in_loops_are_repeats_in_repeats():
    def inner(x):
        for _ in range(3):
            x = jnp.sin(x) * 2
        return x

    def f(x):
        for _ in range(4):
            x = inner(x) + jnp.cos(x)
        return x

    graph, jaxpr = graph_of(f, 1.0)
    check(graph, jaxpr)
    assert labels(graph, "repeat")[0].endswith("× 4")
    assert labels(graph, "repeat")[1:] == ["sin, mul × 3"] * 4


def test_calls_that_are_not_equal_are_told_apart():
    def layer(x, wide):
        x = jnp.sin(x) * 2
        return jnp.exp(x) + 1 if wide else x

    def f(x):
        for wide in (True, False, True):
            x = layer(x, wide)
        return jnp.cos(x)

    graph, jaxpr = graph_of(f, 1.0)
    check(graph, jaxpr)
    assert [(g["label"], g["count"]) for g in groups(graph, "function")] == [("layer", 4), ("layer", 2), ("layer", 4)]


def test_blocks_that_pass_on_other_values_are_not_equal():
    def f(x, y):
        for i in range(6):
            a, b = jnp.sin(x), jnp.cos(x)
            x = a / b if i % 2 else b / a
        return x + y

    graph, jaxpr = graph_of(f, 1.0, 2.0)
    check(graph, jaxpr)
    assert labels(graph, "repeat") == ["sin, cos, div × 3"]


def test_what_one_call_of_a_library_wrote_is_named_by_the_call():
    params = {"layers": [{"w": jnp.ones((3, 3)), "b": jnp.ones(3)} for _ in range(20)], "scale": jnp.ones(3)}
    update = optimizer.scale_by_moments(0.9)

    def step(grads, state):
        first = jnp.sin(grads["scale"])
        updates, state = update(grads, state)
        return updates, state, first

    graph, jaxpr = graph_of(step, params, params)
    check(graph, jaxpr)
    (line,) = groups(graph, "line")
    assert line["label"] == "update" and line["count"] == 41 * 6
    assert [p["text"].strip() for p in line["positions"]] == ["updates, state = update(grads, state)"]
    held = inside(graph)
    assert [n["label"] for n in held[line["id"]] if n.get("what") == "function"] == ["moments"]
    # blocks are called by the arrays they read
    (moments,) = groups(graph, "function")
    assert [n["label"] for n in held[moments["id"]] if n["kind"] == "group"] == ["layers × 20"]
    # but not where one block reads one array of a layer, the next one another
    flat = {"layers": [{name: jnp.ones(3) for name in "abc"} for _ in range(4)], "scale": jnp.ones(3)}
    assert "layers × 12" not in labels(graph_of(step, flat, flat)[0], "repeat")


def test_a_still_picture_opens_the_model_and_not_the_optimizer():
    graph, _ = graph_of(training.program, *training.arguments())
    shown = still(graph)
    opened = {shown.scopes.nodes[ident]["label"] for ident in shown.opened}
    assert {"loss", "model"} <= opened
    assert not opened & {"opt.update", "moments", "loss (backward)", "model (backward)"}


def test_a_long_level_is_folded_by_its_lines_and_a_short_one_is_not():
    def f(x, y):
        x = jnp.sin(x) * 2 + y * y - jnp.cos(y) / x + jnp.tanh(x - y) * jnp.exp(y + x)
        y = jnp.tanh(x) + 3 * x - jnp.sqrt(y) * x / y + jnp.sin(y * x) - jnp.log(x / y)
        return jnp.exp(y) * x + y - x * x / 3 + jnp.cos(x - y) + jnp.exp(x) / jnp.sin(y)

    graph, jaxpr = graph_of(f, 1.0, 2.0)
    check(graph, jaxpr)
    assert len(jaxpr.eqns) > 30
    assert labels(graph, "line") == [
        "x = jnp.sin(x) * 2 + y * y - jnp.cos(y)…",
        "y = jnp.tanh(x) + 3 * x - jnp.sqrt(y) *…",
        "return jnp.exp(y) * x + y - x * x / 3 +…",
    ]
    held = inside(graph)
    for group in groups(graph, "line"):
        (place,) = group["positions"]
        assert {node["positions"][0]["line"] for node in equations_in(group, held)} == {place["line"]}
        assert group["count"] == len(held[group["id"]]) > 8

    def short(x):
        return jnp.sin(x) * 2 + x * x - jnp.cos(x)

    assert labels(graph_of(short, 1.0)[0], "line") == []


def test_classes_and_lambdas_are_told_apart():
    class Layer:
        def __init__(self, scale):
            self.scale = scale

        def __call__(self, x):
            return jnp.sin(x) * self.scale

    def f(x):
        x = Layer(2.0)(x)
        x = jnp.exp((lambda v: jnp.cos(v) * 2)(x))
        return jnp.exp((lambda v: jnp.tan(v) / 3)(x))

    graph, jaxpr = graph_of(f, 1.0)
    check(graph, jaxpr)
    first = f.__code__.co_firstlineno
    assert labels(graph, "function") == ["Layer", f"lambda, line {first + 2}", f"lambda, line {first + 3}"]
    source = observe.compilation_document(row_of(f, 1.0))["source"]
    assert [one["name"] for one in source["functions"]] == ["f", *labels(graph, "function")]


def test_numbered_scopes_of_equal_modules_are_one_repeat():
    def f(x):
        for i in range(4):
            with jx.named_scope(f"Block_{i}"):
                x = jnp.sin(x) * 2
        with jx.named_scope("Dense_0"):
            return jnp.cos(x) + 1

    graph, jaxpr = graph_of(f, 1.0)
    check(graph, jaxpr)
    assert labels(graph, "repeat") == ["Block × 4"] and labels(graph, "named scope") == ["Dense_0"]
    assert labels(graph, "instance") == [f"Block {i} of 4" for i in (1, 2, 3, 4)]
    assert [one["params"].get("Block_0") for one in groups(graph, "instance")] == [
        None,
        "Block_1",
        "Block_2",
        "Block_3",
    ]


def test_named_scopes_are_groups_inside_and_outside_of_functions():
    def head(x):
        with jx.named_scope("scores"):
            x = jnp.sin(x) * 2
        return jnp.exp(x) + 1

    def f(x):
        with jx.named_scope("attention"):
            y = head(x) + jnp.cos(x)
        return y * x

    graph, jaxpr = graph_of(f, 1.0)
    check(graph, jaxpr)
    nodes = {n["id"]: n for n in graph["nodes"]}
    outward = {
        n["label"]: nodes[n["scope"]]["label"] if n["scope"] else None for n in graph["nodes"] if n["kind"] == "group"
    }
    assert outward == {"attention": None, "head": "attention", "scores": "head"}


@st.composite
def blocks(draw):
    """A program of blocks: operations by number, each block repeated some times."""
    names = st.sampled_from(["sin", "cos", "exp", "tanh", "abs", "neg"])
    return draw(st.lists(st.tuples(st.lists(names, min_size=1, max_size=4), st.integers(1, 9)), min_size=1, max_size=5))


@settings(max_examples=examples(60), deadline=None)
@given(blocks(), st.booleans(), st.integers(0, 3))
def test_groups_of_random_programs(program, backward, every):
    operations = {**{n: getattr(jnp, n) for n in ("sin", "cos", "exp", "tanh", "abs")}, "neg": lambda x: -x}

    def run(x, names):
        for n, name in enumerate(names):
            x = operations[name](x) if every and n % every == 0 else operations[name](x) * x
        return x

    def f(x):
        for names, times in program:
            for _ in range(times):
                x = run(x, names)
        return x

    check(*graph_of(jx.grad(f) if backward else f, 0.5))


@given(st.lists(st.integers(0, 3), max_size=60))
def test_stretches_repeat(sequence):
    covered = set()
    for start, end, period in stretches(sequence):
        assert end - start >= LEAST * period
        assert all(sequence[i] == sequence[i + period] for i in range(start, end - period))
        assert covered.isdisjoint(range(start, end))
        covered.update(range(start, end))


@given(st.lists(st.integers(0, 5), max_size=12), st.lists(st.integers(0, 5), min_size=1, max_size=9, unique=True),
       st.integers(3, 9), st.lists(st.integers(0, 5), max_size=12))  # fmt: skip
def test_what_is_repeated_is_found(before, block, times, after):
    sequence = [10 + x for x in before] + block * times + [20 + x for x in after]
    found = [s for s in stretches(sequence) if s.start <= len(before) and s.end >= len(before) + len(block) * times]
    assert [(s.period, s.times) for s in found] == [(len(block), times)]


@given(
    st.recursive(
        st.none(), lambda inner: st.dictionaries(st.text(max_size=4), inner, max_size=3) | st.lists(inner, max_size=3)
    )
)
def test_paths_are_taken_apart(tree):
    for path, _ in jx.tree_util.tree_leaves_with_path(tree, is_leaf=lambda x: x is None):
        keys = [jx.tree_util.keystr((key,)) for key in path]
        assert parts_of(f"x{''.join(keys)}") == ["x", *keys]
        assert parts_of(f"new x{''.join(keys)}") == ["new x", *keys]


@functools.cache
def document_of(name):
    """The compilation document of a program run once."""
    module = import_module(f"tests.programs.{name}")
    document = observe.compilation_document(row_of(module.program, *module.arguments()))
    validate(document)
    return document


@pytest.mark.parametrize("name", ["lstm", "resnet"])
@pytest.mark.parametrize("level", ["before", "after"])
def test_kernels_stand_in_the_groups_of_their_origin(name, level):
    document = document_of(name)
    of_equations = {n["id"]: n for n in document["graph"]["nodes"]}
    graph = document["fusion"][level]
    nodes, held = {n["id"]: n for n in graph["nodes"]}, inside(graph)
    for scope in [None, *held]:
        assert is_acyclic(graph, nodes, scope)
    for node in graph["nodes"]:
        if node["kind"] != "group" and node["scope"] and nodes[node["scope"]].get("what") in ("function", "line"):
            paths = {*node["paths"], *(p for m in equations_inside(node, held) for p in m["paths"])}
            paths -= set(nodes[node["scope"]].get("others", ()))  # that a kernel computes, too
            if not paths:  # a constant or a copy, which stands where it is read
                continue
            around = [{nodes_label(s, of_equations) for s in scopes_of(p, of_equations)} for p in paths]
            assert nodes[node["scope"]]["label"] in set.intersection(*around)
    assert len(groups(graph, "function")) >= 3


def equations_inside(node, held):
    return [m for part in held[node["id"]] for m in (part, *equations_inside(part, held))]


def scopes_of(path, nodes):
    scope = nodes[path]["scope"]
    while scope is not None:
        yield scope
        scope = nodes[scope]["scope"]


def nodes_label(scope, nodes):
    return nodes[scope]["label"]
