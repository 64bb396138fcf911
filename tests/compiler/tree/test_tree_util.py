"""`jitscope.tree_util`, `tree` and `flatten_util` and what they are for. (What JAX answers: tests/oracle/cases/trees.py.)"""

from __future__ import annotations

import copy
import dataclasses
import functools
import operator
import pickle
from collections import OrderedDict, defaultdict, namedtuple
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import flatten_util, random, tree, tree_util as tu
from tests.oracle import tables
from tests.oracle.cases import trees as cases


cases.register(tu)


def test_nothing_is_missing() -> None:
    names = {n for n in tables.table("surface").names if n.startswith("tree_util.")}
    assert len(names) > 25 and all(hasattr(tu, n.split(".")[1]) for n in names)
    for name in ("DictKey", "SequenceKey", "GetAttrKey", "FlattenedIndexKey", "KeyPath", "KeyEntry", "Partial",
                 "PyTreeDef", "default_registry"):  # fmt: skip
        assert hasattr(tu, name) and name in tu.__all__


# Round trips ----------------------------------------------------------------------------------------------------------

KEYS = st.text(max_size=2) | st.sampled_from(["w", "b"])
TREES = st.recursive(
    st.integers() | st.floats(allow_nan=False) | st.text(max_size=2) | st.booleans() | st.none(),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.tuples(inner, inner),
        st.dictionaries(KEYS, inner, max_size=3),
        st.dictionaries(KEYS, inner, max_size=2).map(lambda d: defaultdict(int, d)),
        st.lists(st.tuples(KEYS, inner), max_size=3).map(OrderedDict),
        st.builds(cases.Point, inner, inner),
        st.builds(cases.Fields, inner, inner, st.sampled_from("xy")),
        st.lists(inner, max_size=2).map(lambda xs: cases.Node(*xs)),
        st.builds(lambda a, b: tu.Partial(max, a, key=b), inner, inner),
    ),
    max_leaves=10,
)


def by_hand(x: Any) -> list[tuple[str, Any]]:
    """Paths and leaves by the rules as documented, in plain Python."""
    if x is None:
        return []
    if isinstance(x, tu.Partial):
        parts = [(".args", x.args), (".keywords", x.keywords)]
    elif isinstance(x, (cases.Point, cases.Fields)):
        parts = [(f".{n}", getattr(x, n)) for n in (("x", "y") if isinstance(x, cases.Point) else ("a", "b"))]
    elif isinstance(x, cases.Node):
        parts = [(f"part{i}", v) for i, v in enumerate(x.parts)]
    elif isinstance(x, dict):
        parts = [(f"[{k!r}]", x[k]) for k in (x if isinstance(x, OrderedDict) else sorted(x))]
    elif isinstance(x, (list, tuple)):
        parts = [(f"[{i}]", v) for i, v in enumerate(x)]
    else:
        return [("", x)]
    return [(key + path, leaf) for key, child in parts for path, leaf in by_hand(child)]


@given(TREES)
def test_there_and_back(x: Any) -> None:
    found, treedef = tu.tree_flatten_with_path(x)
    assert [(tu.keystr(path), leaf) for path, leaf in found] == by_hand(x)
    assert (
        tree.leaf_paths(x)
        == [path for path, _ in by_hand(x)]
        == tree.leaves(tree.map_with_path(lambda p, _: tree.keystr(p), x))
    )
    assert tu.tree_flatten(x) == ([leaf for _, leaf in by_hand(x)], treedef)
    again = tu.tree_unflatten(treedef, [leaf for _, leaf in found])
    assert type(again) is type(x) and by_hand(again) == by_hand(x)
    assert tu.tree_structure(again) == treedef and hash(tu.tree_structure(again)) == hash(treedef)
    assert tu.tree_leaves(tu.tree_map(lambda v: (v, v), x)) == [v for _, leaf in by_hand(x) for v in (leaf, leaf)]
    assert by_hand(tree.broadcast(7, x)) == [(path, 7) for path, _ in by_hand(x)]


@given(TREES, TREES)
def test_one_level_at_a_time(x: Any, y: Any) -> None:
    def count(node: Any) -> int:
        return sum(map(count, tu.flatten_one_level(node)[0])) if tu.is_tree_node(type(node)) else 1

    assert count(x) == tu.tree_structure(x).num_leaves == len(by_hand(x))
    if tu.is_tree_node(type(x)):
        assert len(tu.flatten_one_level_with_keys(x)[0]) == len(list(tu.flatten_one_level(x)[0]))
    assert (tree.structure(x) == tree.structure(y)) == (repr(tree.structure(x)) == repr(tree.structure(y)))
    assert tu.treedef_tuple([tu.tree_structure(x), tu.tree_structure(y)]) == tu.tree_structure((x, y))
    assert tu.all_leaves([x, y]) == (not tu.is_tree_node(type(x)) and not tu.is_tree_node(type(y)))


@given(TREES, TREES)
def test_a_difference_is_found_where_there_is_one(x: Any, y: Any) -> None:
    try:
        tu.tree_structure(x).flatten_up_to(y)
        assert tree.first_difference(x, y) == ""
    except (ValueError, TypeError):
        assert tree.first_difference(x, y).startswith("at ")


@given(st.lists(st.integers(), max_size=20))
def test_reductions_keep_the_order(xs: list[int]) -> None:
    words = [str(x) for x in xs]
    assert tu.tree_reduce_associative(operator.add, words, identity="") == "".join(words)
    assert tu.tree_reduce(operator.add, words, "") == "".join(words)


# Errors that say where ------------------------------------------------------------------------------------------------

W = {"layers": [{"w": 1, "b": 2}, {"w": 3, "b": 4}], "name": (5, None)}


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"layers": [{"w": 1, "b": 2}, {"w": 3}], "name": (5, None)}, ["['layers'][1]", "the first tree alone has key 'b'"]),
        ({"layers": [{"w": 1, "b": 2}], "name": (5, None)}, ["['layers']", "a list of 2", "a list of 1"]),
        ({"layers": W["layers"], "name": (5, 6)}, ["['name'][1]", "None", "an int"]),
        ({"layers": W["layers"], "name": [5, None]}, ["['name']", "a tuple of 2", "a list of 2"]),
        (7, ["at the top", "a dict of 2", "an int"]),
        ({"layers": W["layers"], "name": cases.Point(5, None)}, ["['name']", "a tuple of 2", "a Point"]),
    ],
)  # fmt: skip
def test_maps_of_unlike_trees_say_where(other: Any, words: list[str]) -> None:
    with pytest.raises(ValueError) as error:
        tree.map(lambda a, b: a, W, other)
    assert "tree 1" in str(error.value) and all(word in str(error.value) for word in words), error.value
    with pytest.raises(ValueError, match=r"tree.map_with_path: tree 2"):
        tree.map_with_path(lambda p, a, b, c: a, W, W, other)


def test_static_data_and_prefixes_that_differ() -> None:
    with pytest.raises(ValueError, match=r"at \[0\], the static data of two Fields differ"):
        tree.map(lambda a, b: a, [cases.Fields(1, 2, "x")], [cases.Fields(1, 2, "y")])
    with pytest.raises(ValueError, match=r"not a prefix of the second: at \['a'\], the prefix has a tuple of 2"):
        tree.broadcast({"a": (1, 2)}, {"a": [3, 4]})
    structure = tree.structure({"a": (1, 2), "b": {"c": 3}})
    with pytest.raises(ValueError, match=r"in_axes must be a prefix .*: at \['a'\], it has a tuple of 3 where the tree has a tuple of 2"):  # fmt: skip
        tree.broadcast_prefix({"a": (0, 0, 0), "b": 1}, structure, "in_axes")
    with pytest.raises(ValueError, match=r"at \['b'\]\['c'\], it has a tuple of 2 where the tree has a leaf"):
        tree.broadcast_prefix({"a": 0, "b": {"c": (0, 0)}}, structure, "in_axes")
    with pytest.raises(TypeError, match="outer structure has no leaves"):
        tree.transpose(tree.structure(()), None, ())
    with pytest.raises(TypeError, match="no method tree_flatten"):
        try:
            tu.register_pytree_node_class(type("C", (), {}))
        except AttributeError as error:
            raise TypeError(str(error)) from None
    with pytest.raises(TypeError, match="flatten_func"):
        tu.register_pytree_node(type("C", (), {}), None, None)  # pyright: ignore[reportArgumentType]


class Plain:
    pass


@dataclasses.dataclass
class PlainData:
    x: Any


class Unregistered:
    def tree_flatten(self) -> Any:
        return (), None

    @classmethod
    def tree_unflatten(cls, data: Any, children: Any) -> Any:
        return cls()


@pytest.mark.parametrize(
    ("thing", "words"),
    [
        (Plain(), ["register_dataclass", "register_pytree_node_class", "above class Plain"]),
        (PlainData(1.0), ["@tu.register_dataclass above @dataclass"]),
        (Unregistered(), ["@tu.register_pytree_node_class above class Unregistered"]),
    ],
)
def test_objects_that_are_no_trees_are_told_how_to_become_some(thing: Any, words: list[str]) -> None:
    for use in (
        lambda: jx.jit(lambda x: x)(thing),
        lambda: jx.jit(lambda x: thing)(1.0),
        lambda: jx.grad(lambda x: 1.0)(thing),
        lambda: jx.lax.scan(lambda c, x: (c, x), thing, jnp.arange(3)),
        lambda: jx.lax.while_loop(lambda c: True, lambda c: c, thing),
    ):
        with pytest.raises(TypeError) as error:
            use()
        assert type(thing).__name__ in str(error.value) and all(w in str(error.value) for w in words), error.value


def test_registering_with_the_decorators() -> None:
    @tu.register_dataclass
    @dataclasses.dataclass
    class Model:
        w: Any
        b: Any = 0.0
        act: str = tree.static(default="tanh")
        size: int = dataclasses.field(default=3, metadata={"static": True})

    @functools.partial(tu.register_dataclass, data_fields=["x"], meta_fields=["label"])
    class Bare:
        def __init__(self, x: Any, label: str):
            self.x, self.label = x, label

    seen = []
    f = jx.jit(lambda m, b: seen.append((m.act, b.label)) or Model(m.w * b.x, m.b, m.act))
    out = f(Model(jnp.arange(3.0)), Bare(2.0, "l"))
    assert isinstance(out, Model) and out.w.tolist() == [0, 2, 4] and out.act == "tanh"
    f(Model(jnp.arange(3.0), act="relu"), Bare(2.0, "l"))
    assert seen == [("tanh", "l"), ("relu", "l")]
    slopes = jx.grad(lambda m: (m.w * m.b).sum())(Model(jnp.arange(3.0), 2.0))
    assert slopes.w.tolist() == [2, 2, 2] and float(slopes.b) == 3.0


# Partial --------------------------------------------------------------------------------------------------------------


def test_partial_is_an_argument_of_transformed_functions() -> None:
    def line(a: Any, x: Any, b: Any = 0.0) -> Any:
        return a * x + b

    call = jx.jit(lambda f, x: f(x))
    assert float(call(tu.Partial(line, 2.0, b=1.0), 3.0)) == 7.0
    assert float(call(tu.Partial(line, 3.0, b=1.0), 3.0)) == 10.0
    slopes = jx.grad(lambda f, x: f(x))(tu.Partial(line, 2.0, b=1.0), 3.0)
    assert isinstance(slopes, tu.Partial) and float(slopes.args[0]) == 3.0 and float(slopes.keywords["b"]) == 1.0
    mapped = jx.vmap(lambda f: f(1.0))(tu.Partial(line, jnp.arange(3.0)))
    assert mapped.tolist() == [0, 1, 2]
    inner = functools.partial(line, 2.0)
    assert tu.tree_leaves(tu.Partial(inner, 5.0)) == [5.0] and float(call(tu.Partial(inner), 3.0)) == 6.0
    assert tu.Partial(max, 1, key=None)(3) == 3 and repr(tu.Partial(max, 1)) == "Partial(<built-in function max>, 1)"


# ravel_pytree ---------------------------------------------------------------------------------------------------------


def described(x: Any) -> tuple[str, tuple[int, ...], bool]:
    return x.dtype.name, x.shape, x.weak_type


@given(st.lists(st.tuples(st.sampled_from(["float32", "int8", "bfloat16", "bool"]), st.lists(st.integers(0, 2), max_size=2)), max_size=4))  # fmt: skip
def test_ravel_and_back(parts: list[tuple[str, list[int]]]) -> None:
    values = {str(i): jnp.ones(shape, dtype) * 1 for i, (dtype, shape) in enumerate(parts)}
    flat, unravel = flatten_util.ravel_pytree(values)
    assert flat.shape == (sum(v.size for v in values.values()),)
    assert flat.dtype == (jnp.result_type(*values.values()) if values else jnp.float32)
    back = unravel(flat)
    assert list(back) == list(values)
    for name, value in values.items():
        assert described(back[name])[:2] == described(value)[:2] and (np.asarray(back[name]) == np.asarray(value)).all()


def test_ravel_in_transformations_and_its_errors() -> None:
    x = {"a": jnp.arange(3.0), "b": (jnp.ones(2, "int32"), None)}
    flat, unravel = flatten_util.ravel_pytree(x)
    assert flat.tolist() == [0, 1, 2, 1, 1] and described(unravel(flat)["b"][0]) == ("int32", (2,), False)
    slopes = jx.grad(lambda p: (flatten_util.ravel_pytree(p)[0] ** 2).sum())({"a": jnp.arange(3.0), "b": 2.0})
    assert slopes["a"].tolist() == [0, 2, 4] and float(slopes["b"]) == 4.0
    assert jx.grad(lambda v: unravel(v)["a"].sum())(flat).tolist() == [1, 1, 1, 0, 0]
    assert jx.vmap(lambda p: flatten_util.ravel_pytree(p)[0])({"a": jnp.ones((2, 3)), "b": jnp.zeros(2)}).shape == (
        2,
        4,
    )
    seen = []
    f = jx.jit(lambda u, v: seen.append(1) or u(v))
    for again in (unravel, flatten_util.ravel_pytree(x)[1]):
        assert f(again, flat)["a"].tolist() == [0, 1, 2]
    assert seen == [1]
    for value, described_as in ((1, ("int32", (1,), True)), ((1j, 2.0), ("complex64", (2,), False)), ({}, ("float32", (0,), False))):  # fmt: skip
        assert described(flatten_util.ravel_pytree(value)[0]) == described_as
    assert described(flatten_util.ravel_pytree((1j, 2.0))[1](jnp.array([1j, 2j]))[1]) == ("float32", (), False)
    with pytest.raises(ValueError, match=r"size 5.*f32\[4\]"):
        unravel(flat[:4])
    with pytest.raises(TypeError, match=r"float32.*i32"):
        unravel(flat.astype("int32"))
    with pytest.raises(ValueError, match="no common type"):
        flatten_util.ravel_pytree((jnp.ones(1, "int4"), jnp.ones(1)))


def test_keys_pass_through_trees() -> None:
    keys = random.split(random.key(0), 3)
    stacked = tree.map(lambda *ks: jnp.stack(ks), *[{"k": k} for k in keys])
    assert stacked["k"].shape == (3,) and (random.key_data(stacked["k"]) == random.key_data(keys)).all()


Point = namedtuple("Point", "x y")


@pytest.mark.parametrize(
    "x",
    [1, None, [1, (2, None)], {"a": [1]}, Point(1, 2), OrderedDict(b=1, a=2), defaultdict(list, a=1),
     tu.Partial(divmod, 1)],
    ids=repr,
)  # fmt: skip
def test_structures_pickle(x: Any) -> None:
    structure = tu.tree_structure(x)
    for again in (pickle.loads(pickle.dumps(structure)), copy.deepcopy(structure)):
        assert again == structure and hash(again) == hash(structure)
        assert tu.tree_structure(again.unflatten(tu.tree_leaves(x))) == structure


def test_what_the_outer_structure_does_not_fit() -> None:
    rows = [{"a": 1}, {"a": 2}]
    with pytest.raises(ValueError, match="arity mismatch"):
        tu.tree_transpose(tu.tree_structure([0]), None, rows)
    with pytest.raises(TypeError, match="arity mismatch"):
        tu.tree_transpose(tu.tree_structure([0]), tu.tree_structure({"a": 0}), rows)


def test_unravel_of_one_dtype_takes_any() -> None:
    _, unravel = flatten_util.ravel_pytree([jnp.ones(2), jnp.ones(1)])
    assert [x.dtype.name for x in unravel(np.arange(3, dtype=np.int32))] == ["int32"] * 2
    _, unravel = flatten_util.ravel_pytree([jnp.ones(2), np.arange(2)])
    with pytest.raises(TypeError, match="unravel takes float32"):
        unravel(np.arange(4))
