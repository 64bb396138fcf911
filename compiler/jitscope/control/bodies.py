"""The functions that control flow takes: traced once for each kind of argument, with what they capture made explicit."""

from __future__ import annotations

import inspect
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from .. import tree
from ..core import source
from ..core.avals import ShapedArray, aval_of, not_an_array
from ..core.axes import current_axes
from ..core.config import settings
from ..core.jaxpr import ClosedJaxpr, DebugInfo, Jaxpr, Var
from ..core.meshes_in_force import mesh_in_force
from ..core.staging import recording, trace_to_jaxpr
from ..core.trace import current_trace
from ..core.varying import manual
from ..core.wrapping import own_name


class Body:
    """A traced function of trees: `closed` takes and gives flat leaves; `out_tree` is the structure of its result."""

    __slots__ = ("closed", "out_tree")

    def __init__(self, closed: ClosedJaxpr, out_tree: Any):
        self.closed, self.out_tree = closed, out_tree


class _LeafText:
    """A leaf of a tree that is printed."""

    def __init__(self, text: str):
        self.text = text

    def __repr__(self) -> str:
        return self.text


def shown(structure: Any, leaves: Sequence[str]) -> str:
    """A structure as a tree of these texts."""
    return repr(tree.unflatten(structure, list(map(_LeafText, leaves))))


def short(avals: Sequence[ShapedArray]) -> list[str]:
    return [aval.short() for aval in avals]


_traced: weakref.WeakKeyDictionary[Any, dict[Any, Body]] = weakref.WeakKeyDictionary()
_while_tracing: weakref.WeakKeyDictionary[Any, weakref.WeakKeyDictionary[Any, dict[Any, Body]]] = (
    weakref.WeakKeyDictionary()
)
_MAX_KINDS = 256


def trace_body(fun: Callable[..., Any], in_tree: Any, avals: Sequence[ShapedArray]) -> Body:
    """`fun`, a function of the trees that `in_tree` (a tuple's structure) says, traced for leaves of these avals.

    The trace is remembered with the function object, as for jit, unless it captured tracers; while another function is
    traced, only until that trace ends, so that a function traced anew sees today's globals here too. A function that was made
    around one of the user's says so by `traced_as`, (the user's, what was made of it): the trace is remembered with that.
    Raises TypeError for results that are not arrays.
    """
    owner, kind = getattr(fun, "traced_as", (fun, None))
    key = (settings(), current_axes(), mesh_in_force(), manual(), in_tree, tuple(avals), kind)
    try:
        known = _memory().setdefault(owner, {})
        body = known.get(key)
    except TypeError:  # a callable that cannot be held weakly, or static data in the tree that cannot be hashed
        return _trace(fun, in_tree, avals)
    if body is None:
        body = _trace(fun, in_tree, avals)
        if not any(getattr(c, "transient", False) for c in body.closed.consts):
            while len(known) >= _MAX_KINDS:
                known.pop(next(iter(known)), None)
            known[key] = body
    return body


def _memory() -> weakref.WeakKeyDictionary[Any, dict[Any, Body]]:
    root = recording(current_trace())
    return _while_tracing.setdefault(root, weakref.WeakKeyDictionary()) if root else _traced


def flattened(fun: Callable[..., Any], in_tree: Any) -> tuple[Callable[..., list[Any]], list[Any]]:
    """`fun` as a function of flat leaves that gives flat leaves, and a list to which it appends the structure of its result.
    It raises TypeError for results that are not arrays."""
    trees: list[Any] = []

    def flat(*leaves: Any) -> list[Any]:
        out = fun(*in_tree.unflatten(leaves))
        found, out_tree = tree.flatten(out)
        check_leaves(found, out, f"{name_of(fun)} returned, at result")
        trees.append(out_tree)
        return found

    return flat, trees


def _trace(fun: Callable[..., Any], in_tree: Any, avals: Sequence[ShapedArray]) -> Body:
    flat, trees = flattened(fun, in_tree)
    names = tuple(_named(path, roots_of(fun)) for path in tree.paths_in(in_tree))
    debug = DebugInfo(name_of(fun), names, defined=source.position_of_function(fun), inner=True)
    return Body(trace_to_jaxpr(flat, avals, debug), trees[0])


def roots_of(fun: Any) -> dict[str, str]:
    """What a function calls its arguments, by their places, `{"[0]": "carry", "[1]": "x"}`. A function that was made around one of the
    user's says in `argument_roots` where the user's arguments are in its own."""
    own = getattr(fun, "argument_roots", None)
    if own is not None:
        return own
    try:
        parameters = inspect.signature(fun).parameters.values()
    except (TypeError, ValueError):  # a callable without a signature
        return {}
    return {f"[{i}]": one.name for i, one in enumerate(parameters) if one.kind in _BY_PLACE}


_BY_PLACE = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def _named(path: str, roots: dict[str, str]) -> str:
    root = next((root for root in roots if path.startswith(root)), "")
    return roots[root] + path.removeprefix(root) if root else path


def clear_bodies() -> None:
    """Forget all traces."""
    _traced.clear()


def check_leaves(leaves: Sequence[Any], whole: Any, what: str) -> list[ShapedArray]:
    """The avals of a tree's leaves. Raises TypeError for one that is not an array: `what`, its path, and why."""
    avals: list[ShapedArray] = []
    for i, leaf in enumerate(leaves):
        try:
            avals.append(aval_of(leaf))
        except TypeError:
            path = tree.leaf_paths(whole)[i]
            raise TypeError(f"{what}{path}, something that is not an array: {not_an_array(leaf)}") from None
    return avals


def name_of(fun: Any) -> str:
    """The function's name, for messages."""
    return own_name(fun) or type(fun).__name__


def lift_constants(closeds: Sequence[ClosedJaxpr]) -> tuple[list[Any], list[ClosedJaxpr]]:
    """Programs that capture nothing: each takes all values that any of them captured as leading arguments. Those values,
    and the programs; the same objects for the same programs."""
    values: list[Any] = []
    numbers: dict[int, int] = {}
    for closed in closeds:
        for value in closed.consts:
            if id(value) not in numbers:
                numbers[id(value)] = len(values)
                values.append(value)
    if not values:
        return [], list(closeds)
    avals = tuple(aval_of(v) for v in values)
    return values, [_lifted(closed, avals, tuple(numbers[id(c)] for c in closed.consts)) for closed in closeds]


def _lifted(closed: ClosedJaxpr, avals: tuple[ShapedArray, ...], places: tuple[int, ...]) -> ClosedJaxpr:
    key = ("lifted", avals, places)
    if key not in closed.derived:
        closed.derived[key] = _lift(closed, avals, places)
    return closed.derived[key]


def _lift(closed: ClosedJaxpr, avals: tuple[ShapedArray, ...], places: tuple[int, ...]) -> ClosedJaxpr:
    old = closed.jaxpr
    own = dict(zip(places, old.constvars))
    leading = [own[i] if i in own else Var(aval) for i, aval in enumerate(avals)]
    names = tuple(f"const{i}" for i in range(len(avals)))
    debug = old.debug._replace(arg_names=names + old.debug.arg_names)
    return ClosedJaxpr(Jaxpr([], [*leading, *old.invars], old.outvars, old.eqns, old.effects, debug))
