"""checkpoint: less memory for derivatives, more computation; and a look at what is kept."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Iterable
from typing import Any, ParamSpec, TypedDict, TypeVar, Unpack, overload

from .. import tree
from ..backend.arguments import Arguments, Statics
from ..backend.static import StaticSpec
from ..control.bodies import Body, check_leaves, lift_constants, name_of, trace_body
from ..control.policies import Policy
from ..control.remat import checkpoint_p
from ..core import call_sites
from ..core.annotations import PyTree
from ..core.avals import ShapedArray, aval_of
from ..core.errors import ConcretizationTypeError
from ..core.jaxpr import ClosedJaxpr, DebugInfo, JaxprEqn, Literal
from ..core.staging import trace_to_jaxpr
from ..core.wrapping import wraps
from ..ops.marks import name_p
from ..transforms.linearize import linearize_flat
from ._flat import Flat


T = TypeVar("T")


__all__ = ["checkpoint", "checkpoint_name", "print_saved_residuals", "remat", "saved_residuals"]


P = ParamSpec("P")
R = TypeVar("R")


class CheckpointOptions(TypedDict, total=False):
    """What `checkpoint` takes besides the function."""

    prevent_cse: Any
    policy: Policy | None
    static_argnums: int | tuple[int, ...]
    static_argnames: str | Iterable[str]


@overload
def checkpoint(fun: Callable[P, R], **options: Unpack[CheckpointOptions]) -> Callable[P, R]: ...
@overload
def checkpoint(
    fun: None = None, **options: Unpack[CheckpointOptions]
) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
def checkpoint(
    fun: Callable[..., Any] | None = None,
    *,
    prevent_cse: Any = True,
    policy: Policy | None = None,
    static_argnums: int | tuple[int, ...] = (),
    static_argnames: str | Iterable[str] = (),
) -> Callable[..., Any]:
    """`fun`, of which a derivative keeps the arguments, and what `policy` lets be saved (see `checkpoint_policies`;
    nothing without one), and computes all other intermediate values anew on the way back.

    `prevent_cse=False` leaves out the barrier that keeps the compiler from merging the second computation with the
    first; it is not needed in the body of a scan. It may be a tree of booleans, a prefix of the positional arguments: the
    barrier stands if one of them is True. Arguments in `static_argnums` or `static_argnames` are Python values.
    Also a decorator, with or without arguments. Raises TypeError for arguments or results that are not arrays.
    """
    wrong = [x for x in tree.leaves(prevent_cse) if not isinstance(x, bool)]
    if wrong:
        raise TypeError(f"checkpoint: prevent_cse must be True or False, or a tree of those, not {wrong[0]!r}")
    if fun is None:
        return functools.partial(
            checkpoint,
            prevent_cse=prevent_cse,
            policy=policy,
            static_argnums=static_argnums,
            static_argnames=static_argnames,
        )
    if not callable(fun):
        raise TypeError(f"checkpoint takes a function; it got {type(fun).__name__}")
    # What is empty is not said: the other follows from what is.
    spec = StaticSpec(
        fun, None if static_argnums == () else static_argnums, None if static_argnames == () else static_argnames
    )

    @wraps(fun)
    def checkpointed(*args: Any, **kwargs: Any) -> Any:
        arguments = Arguments(spec, args, kwargs, keyed=False)
        leaves, in_tree, dynamic = arguments.leaves, arguments.in_tree, arguments.dynamic
        bound = _bound_to(fun, arguments.statics)
        apart = prevent_cse if isinstance(prevent_cse, bool) else _any_apart(prevent_cse, dynamic[0])
        avals = check_leaves(leaves, dynamic, f"checkpoint of {name_of(fun)} was called with, at arguments")
        body = _traced(bound, in_tree, avals)
        consts, (closed,) = lift_constants([body.closed])
        outs = checkpoint_p.bind(*consts, *leaves, jaxpr=closed, prevent_cse=apart, differentiated=False, policy=policy)
        return body.out_tree.unflatten(outs)

    return checkpointed


remat = checkpoint


def _any_apart(prevent_cse: Any, args: tuple) -> bool:
    """Whether a barrier is asked for, by a tree of booleans that is a prefix of the arguments."""
    return any(tree.broadcast_prefix(prevent_cse, tree.structure(args), "checkpoint: prevent_cse"))


class _PartialFunction:
    """A function with its static arguments, as a function of the other positional ones and those by name."""

    def __init__(self, fun: Callable[..., Any], statics: Statics):
        self.fun, self.statics = weakref.ref(fun) if _has_weakref(fun) else lambda: fun, statics
        self.__name__ = name_of(fun)

    @property
    def __wrapped__(self) -> Any:
        return self.fun()

    def __call__(self, *dynamic: Any) -> Any:
        args, kwargs = self.statics.merge(dynamic)
        fun = self.fun()
        assert fun is not None
        return fun(*args, **kwargs)


def _has_weakref(fun: Any) -> bool:
    try:
        weakref.ref(fun)
    except TypeError:
        return False
    return True


_MAX_STATIC = 256
_bound: weakref.WeakKeyDictionary[Any, dict[Any, _PartialFunction]] = weakref.WeakKeyDictionary()


def _bound_to(fun: Any, statics: Statics) -> _PartialFunction:
    """The function of the arguments that are not static, the same object for the same static values."""
    try:
        known = _bound.setdefault(fun, {})
        while len(known) >= _MAX_STATIC and statics.key not in known:
            known.pop(next(iter(known)), None)
        return known.setdefault(statics.key, _PartialFunction(fun, statics))
    except TypeError:  # what cannot be hashed is traced anew each time
        return _PartialFunction(fun, statics)


def _traced(bound: _PartialFunction, in_tree: Any, avals: list[ShapedArray]) -> Body:
    try:
        return trace_body(bound, in_tree, avals)
    except ConcretizationTypeError as error:
        error.add_note(
            "checkpoint traces its function. Arguments that Python must see (flags, sizes) can be made static: "
            "checkpoint(f, static_argnums=...)"
        )
        raise


def checkpoint_name(x: T, name: str) -> T:
    """The tree `x` with its arrays called `name`, for policies of `checkpoint` that go by name. Computes nothing.
    Raises TypeError if the name is not text."""
    if not isinstance(name, str):
        raise TypeError(f"checkpoint_name(x, name) takes a string as name; it got {type(name).__name__}")
    return tree.map(lambda leaf: name_p(leaf, name=name), x)


# What is kept --------------------------------------------------------------------------------------------------------


def saved_residuals(f: Callable[..., Any], *args: PyTree, **kwargs: PyTree) -> list[tuple[ShapedArray, str]]:
    """The values that `vjp(f, *args, **kwargs)` keeps for the way back: of each its aval, and in words where it comes
    from. Nothing is run; arguments may be ShapeDtypeStructs."""
    arguments = Arguments(StaticSpec(f), args, kwargs)
    flat = Flat(f, arguments.in_tree, named=True)
    names = tuple(arguments.names())

    def residuals(*tracers: Any) -> list[Any]:
        return linearize_flat(flat, tracers).jaxpr.consts

    return _told(trace_to_jaxpr(residuals, [aval_of(x) for x in arguments.leaves], DebugInfo(name_of(f), names)))


def print_saved_residuals(f: Callable[..., Any], *args: PyTree, **kwargs: PyTree) -> None:
    """Print what `saved_residuals` tells, one line for each value."""
    for aval, where in saved_residuals(f, *args, **kwargs):
        print(aval.short(), where)


def _told(closed: ClosedJaxpr) -> list[tuple[ShapedArray, str]]:
    jaxpr, names = closed.jaxpr, closed.jaxpr.debug.arg_names
    kept = {a for a in jaxpr.outvars if not isinstance(a, Literal)}
    found = [(a.aval, "from a literal") for a in jaxpr.outvars if isinstance(a, Literal)]
    found += [(v.aval, "from a constant") for v in jaxpr.constvars if v in kept]
    found += [(v.aval, f"from the argument {n}") for v, n in zip(jaxpr.invars, names) if v in kept]
    return found + [(v.aval, _told_equation(eqn)) for eqn in jaxpr.eqns for v in eqn.outvars if v in kept]


def _told_equation(eqn: JaxprEqn) -> str:
    where = call_sites.qualified_position(eqn.traceback)
    line = f" from {where}" if where else ""
    if eqn.primitive is name_p:
        return f"named '{eqn.params['name']}'{line}"
    if eqn.primitive.name == "jit":
        return f"output of jitted function '{eqn.params['name']}'{line}"
    return f"output of {eqn.primitive.name}{line}"
