"""`python -m tests.many_devices.partitioned`: what `custom_partitioning` says of callbacks and rules that are wrong; the process goes on."""

from __future__ import annotations

import os
import re
from typing import Any


os.environ["JITSCOPE_NUM_CPU_DEVICES"] = "8"

import numpy as np

import jitscope as jx
from jitscope import export, lax
from jitscope.experimental.custom_partitioning import custom_partitioning
from jitscope.sharding import AxisType, NamedSharding, PartitionSpec as P


MESH = jx.make_mesh((4, 2), ("x", "y"), axis_types=(AxisType.Auto,) * 2)
N = np.arange(32, dtype=np.float32).reshape(8, 4)
X = jx.device_put(N, NamedSharding(MESH, P("x", "y")))


def made(partition: Any, rule: Any = "i j -> i j", **factors: Any) -> Any:
    doubled = custom_partitioning(lambda x: x * 2)
    doubled.def_partition(partition, sharding_rule=rule, **factors)
    return doubled


def giving(*changed: Any) -> Any:
    """A partition whose result is right but for what `changed` says: (place, value), …"""

    def partition(mesh: Any, args: Any, result: Any) -> Any:
        s = args[0].sharding
        found = [mesh, lambda x: x * 2, s, (s,)]
        for place, value in changed:
            found[place] = value
        return tuple(found)

    return partition


def raises(kind: type, words: str, call: Any) -> None:
    try:
        call()
    except kind as error:
        assert re.search(words, str(error)), str(error)
    else:
        raise AssertionError(f"nothing was raised: {words}")


def fails(*_: Any) -> Any:
    raise KeyError("mine")


def wrong_callbacks() -> None:
    for kind, words, partition in (
        (KeyError, "mine", fails),
        (ValueError, "is to give .mesh, a function", lambda *_: 3),
        (ValueError, "is to give a mesh of devices", giving((0, None))),
        (ValueError, r"returns float32\[1, 2\] on one device.*each device has float32\[2, 2\]", giving((1, lambda x: x[:1]))),
        (ZeroDivisionError, "", giving((1, lambda x: x * (1 // 0)))),
        (NameError, "nowhere", giving((1, lambda x: lax.psum(x, "nowhere")))),
        (ValueError, "NamedShardings of the results, it gave 'no'", giving((2, "no"))),
        (ValueError, "shardings of the arguments", giving((3, ()))),
    ):  # fmt: skip
        raises(kind, words, lambda partition=partition: jx.jit(made(partition))(X))
        np.testing.assert_array_equal(jx.jit(made(partition))(N), 2 * N)  # on one device nobody asks
    np.testing.assert_array_equal(jx.jit(made(giving()))(X), 2 * N)


def wrong_rules() -> None:
    for words, rule, factors in (
        ("one '->'", "i j", {}),
        ("names no factor", "i j -> i $", {}),
        ("brackets", "(i j -> i j", {}),
        ("brackets hold two", "(i) j -> i j", {}),
        ("stands first", "i ... -> i ...", {}),
        ("no factors", "i j -> i j", {"reduction_factors": ("k",)}),
        ("of two kinds", "i j -> i j", {"reduction_factors": ("i",), "permutation_factors": ("i",)}),
    ):
        raises(ValueError, words, lambda rule=rule, factors=factors: made(giving(), rule, **factors))
    for words, rule in (
        ("2 operands", "i j, k -> i j"),
        ("3 axes", "i j k -> i j"),
        ("i is an axis of 4", "i i -> i i"),
        ("give it as an argument", "(a b) j -> (a b) j"),
    ):
        raises(ValueError, words, lambda rule=rule: jx.jit(made(giving(), rule))(X))
    raises(TypeError, "a text such as", lambda: made(giving(), 3))
    raises(ValueError, "it gave 3", lambda: jx.jit(made(giving(), lambda *_: 3))(X))


def wrong_uses() -> None:
    right = made(giving())
    raises(ValueError, "without a partition", lambda: custom_partitioning(lambda x: x)(X))
    asked = custom_partitioning(lambda x: x)
    asked.def_partition(giving(), infer_sharding_from_operands=lambda *_: None)
    raises(NotImplementedError, "sharding_rule", lambda: asked(X))
    raises(NotImplementedError, "no derivative", lambda: jx.grad(lambda x: right(x).sum())(N))
    raises(NotImplementedError, "vmap", lambda: jx.vmap(right)(N))
    raises(ValueError, "no compatibility guarantees", lambda: export.export(jx.jit(right))(X))
    captured = lambda y: custom_partitioning_of(lambda x: x * y)(X)
    raises(ValueError, "pass it as an argument", lambda: jx.jit(captured)(N))
    static = custom_partitioning(lambda x, n: x * n[0], static_argnums=1)
    static.def_partition(giving())
    raises(TypeError, "hashable", lambda: static(N, [2]))


def custom_partitioning_of(fun: Any) -> Any:
    found = custom_partitioning(fun)
    found.def_partition(giving(), sharding_rule="i j -> i j")
    return found


if __name__ == "__main__":
    wrong_callbacks()
    wrong_rules()
    wrong_uses()
    print("partitioned")
