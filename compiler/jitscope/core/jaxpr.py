"""The jaxpr: a typed, functional program of equations."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

from ..named_tuple import NamedTuple
from ..xla import tracebacks
from .annotations import ArrayLike, Primitive
from .avals import ShapedArray
from .effects import Effects, RefEffect, has_refs, matters, no_effects, ref_effect
from .forgetful_caches import DerivationCache


__all__ = ["ClosedJaxpr", "Jaxpr", "JaxprEqn", "Literal", "Var", "count", "subjaxprs", "walk"]


class Var:
    """A variable, defined once. Names are given when printing."""

    __slots__ = ("aval",)

    def __init__(self, aval: ShapedArray):
        self.aval = aval

    def __repr__(self) -> str:
        return f"Var({self.aval.short()})"


class Literal:
    """A scalar written into the equation. `value` is a NumPy scalar, or a Python one if the aval is weak, so that the
    equation gives the same aval when it is run anew."""

    __slots__ = ("aval", "value")

    def __init__(self, val: ArrayLike, aval: ShapedArray):
        self.value = val
        self.aval = aval

    @property
    def val(self) -> ArrayLike:
        """`value`, by JAX's name."""
        return self.value

    def __repr__(self) -> str:
        return f"Literal({self.value})"


Atom = Var | Literal


class JaxprEqn:
    """`outvars = primitive[params] invars`, with its effects and a handle of where it was written."""

    __slots__ = ("effects", "invars", "outvars", "params", "primitive", "traceback")

    def __init__(
        self,
        invars: list[Atom],
        outvars: list[Var],
        primitive: Primitive,
        params: dict[str, Any],
        effects: Effects = no_effects,
        traceback: tracebacks.Handle | None = None,
    ):
        self.invars, self.outvars, self.primitive, self.params = invars, outvars, primitive, params
        self.effects, self.traceback = effects, traceback

    def replace(
        self,
        invars: list[Atom] | None = None,
        outvars: list[Var] | None = None,
        primitive: Primitive | None = None,
        params: dict[str, Any] | None = None,
        effects: Effects | None = None,
        traceback: tracebacks.Handle | None = None,
    ) -> JaxprEqn:
        """A copy with some fields changed, those that are not None."""
        return JaxprEqn(
            self.invars if invars is None else invars,
            self.outvars if outvars is None else outvars,
            self.primitive if primitive is None else primitive,
            self.params if params is None else params,
            self.effects if effects is None else effects,
            self.traceback if traceback is None else traceback,
        )

    def __repr__(self) -> str:
        from .printing import format_equation  # printing reads this file's classes

        return format_equation(self)


class DebugInfo(NamedTuple):
    """What people call the parts of a jaxpr: the function's name, its arguments and results by path. `inner`: an operation calls it, such
    as a loop, and no caller can make an argument of it static."""

    name: str = "<unnamed>"
    arg_names: tuple[str, ...] = ()
    result_names: tuple[str, ...] = ()
    defined: Any = None
    inner: bool = False

    def argument(self, i: int) -> str:
        """What argument `i` is called: `params['w']`, or `argument 2` where that is not known."""
        return self.arg_names[i] if i < len(self.arg_names) else f"argument {i}"


NO_DEBUG = DebugInfo()


class Jaxpr:
    """A program: `constvars` are its captured values, `invars` its arguments."""

    __slots__ = ("__weakref__", "_live", "constvars", "debug", "effects", "eqns", "invars", "outvars")

    def __init__(
        self,
        constvars: list[Var],
        invars: list[Var],
        outvars: list[Atom],
        eqns: list[JaxprEqn],
        effects: Effects = no_effects,
        debug: DebugInfo = NO_DEBUG,
    ):
        self.constvars, self.invars, self.outvars, self.eqns = constvars, invars, outvars, eqns
        self.effects = _numbered(effects, constvars, invars, eqns) if effects and has_refs(effects) else effects
        self.debug = debug
        self._live: tuple[list[tuple[int, JaxprEqn]], set[Var]] | None = None

    @property
    def debug_info(self) -> DebugInfo:
        """`debug`, by JAX's name."""
        return self.debug

    def replace(self, **changes: object) -> Jaxpr:
        """A copy with some of `constvars`, `invars`, `outvars`, `eqns`, `effects`, `debug_info` changed. Raises TypeError
        for other names."""
        if "debug_info" in changes:
            changes["debug"] = changes.pop("debug_info")
        names = ("constvars", "invars", "outvars", "eqns", "effects", "debug")
        return Jaxpr(**{**{name: getattr(self, name) for name in names}, **changes})

    @property
    def in_avals(self) -> list[ShapedArray]:
        """The avals of the arguments."""
        return [v.aval for v in self.invars]

    @property
    def out_avals(self) -> list[ShapedArray]:
        """The avals of the results."""
        return [v.aval for v in self.outvars]

    def live(self) -> tuple[list[tuple[int, JaxprEqn]], set[Var]]:
        """The equations that somebody reads or that have effects, with their indices, and the variables that are read.
        Computed once: a jaxpr does not change."""
        if self._live is None:
            self._live = _live(self)
        return self._live

    def read_arguments(self) -> list[int]:
        """Indices of the arguments that a live equation or a result reads."""
        read = self.live()[1]
        return [i for i, v in enumerate(self.invars) if v in read]

    def pretty_print(
        self,
        *,
        source_info: bool = False,
        print_shapes: bool = True,
        name_stack: bool = False,
        **kwargs: bool | None,
    ) -> str:
        """The program as text; with `source_info`, every equation followed by its place in the source, with `name_stack` by
        the named scopes it was written in; without `print_shapes`, variables without their avals. Of JAX's styles only
        `use_color` is known, and the text has no colours. Raises TypeError for others."""
        if unknown := kwargs.keys() - {"use_color"}:
            raise TypeError(f"pretty_print has no argument {', '.join(sorted(unknown))}")
        from .printing import format_jaxpr  # printing reads this file's classes

        return format_jaxpr(self, source_info, name_stack, shapes=print_shapes)

    def __repr__(self) -> str:
        return self.pretty_print()


def _numbered(effects: Effects, constvars: list[Var], invars: list[Var], eqns: list[JaxprEqn]) -> Effects:
    """The effects of a program, those on references with the numbers of its arguments. Its own references are nobody's."""
    places = {var: i for i, var in enumerate((*constvars, *invars))}
    found = {e for e in effects if not isinstance(e, RefEffect)}
    for eqn in eqns:
        for e in eqn.effects:
            if isinstance(e, RefEffect) and (place := places.get(eqn.invars[e.index])) is not None:  # pyright: ignore
                found.add(ref_effect(e.name, place))
    return frozenset(found)


def _live(jaxpr: Jaxpr) -> tuple[list[tuple[int, JaxprEqn]], set[Var]]:
    read = {a for a in jaxpr.outvars if type(a) is Var}
    live = []
    eqns = jaxpr.eqns
    for i in range(len(eqns) - 1, -1, -1):
        eqn = eqns[i]
        if (eqn.effects and matters(eqn.effects)) or not read.isdisjoint(eqn.outvars):
            live.append((i, eqn))
            for a in eqn.invars:
                if type(a) is Var:
                    read.add(a)
    return live[::-1], read


def backward_slice(jaxpr: Jaxpr, wanted: Collection[int]) -> list[int]:
    """The numbers of the equations `wanted` and of those that they depend on, in order."""
    read: set[Var] = set()
    needed = []
    for i in range(max(wanted, default=-1), -1, -1):
        eqn = jaxpr.eqns[i]
        if i in wanted or not read.isdisjoint(eqn.outvars):
            needed.append(i)
            read.update(a for a in eqn.invars if type(a) is Var)
    return needed[::-1]


def last_uses(jaxpr: Jaxpr) -> dict[int, list[Var]]:
    """For each equation, the variables nobody reads after it: their values can go."""
    seen = {a for a in jaxpr.outvars if type(a) is Var}
    last: dict[int, list[Var]] = {}
    for i in range(len(jaxpr.eqns) - 1, -1, -1):
        eqn = jaxpr.eqns[i]
        for a in (*eqn.invars, *eqn.outvars):
            if type(a) is Var and a not in seen:
                seen.add(a)
                last.setdefault(i, []).append(a)
    return last


class ClosedJaxpr(Jaxpr):
    """A jaxpr with the values of its constvars. `derived` memoizes programs made from it (its jvp, its batched form),
    the last few hundred."""

    __slots__ = ("consts", "derived", "jaxpr")

    def __init__(self, jaxpr: Jaxpr, consts: Sequence[Any] = ()):
        self.jaxpr = jaxpr
        self.consts = list(consts)
        self._live = None
        self.derived: dict[Any, Any] = DerivationCache()

    @property
    def in_avals(self) -> list[ShapedArray]:
        """The avals of the arguments."""
        return self.jaxpr.in_avals

    @property
    def out_avals(self) -> list[ShapedArray]:
        """The avals of the results."""
        return self.jaxpr.out_avals

    @property
    def constvars(self) -> list[Var]:
        """The variables of `consts`."""
        return self.jaxpr.constvars

    @property
    def invars(self) -> list[Var]:
        """The variables of the arguments."""
        return self.jaxpr.invars

    @property
    def all_invars(self) -> list[Var]:
        """The variables of `consts`, then those of the arguments."""
        return [*self.constvars, *self.invars]

    @property
    def num_consts(self) -> int:
        """How many values the program holds."""
        return len(self.consts)

    @property
    def outvars(self) -> list[Atom]:
        """The results."""
        return self.jaxpr.outvars

    @property
    def debug(self) -> DebugInfo:
        """What people call the parts of its jaxpr."""
        return self.jaxpr.debug

    @property
    def literals(self) -> list[Any]:
        """`consts`, by JAX's older name."""
        return self.consts

    def replace(
        self, *, jaxpr: Jaxpr | None = None, consts: Sequence[Any] | None = None, **changes: object
    ) -> ClosedJaxpr:
        """A copy with another `jaxpr`, other `consts`, or other parts of the jaxpr (as `Jaxpr.replace` has it)."""
        jaxpr = self.jaxpr if jaxpr is None else jaxpr
        return ClosedJaxpr(jaxpr.replace(**changes) if changes else jaxpr, self.consts if consts is None else consts)

    @property
    def eqns(self) -> list[JaxprEqn]:
        """The equations of its jaxpr."""
        return self.jaxpr.eqns

    @property
    def effects(self) -> Effects:
        """The effects of its equations."""
        return self.jaxpr.effects

    def map_jaxpr(self, f: Callable[[Jaxpr], Jaxpr]) -> ClosedJaxpr:
        """A copy with `f(jaxpr)`."""
        return self.replace(jaxpr=f(self.jaxpr))

    def pretty_print(
        self,
        *,
        source_info: bool = False,
        print_shapes: bool = True,
        name_stack: bool = False,
        **kwargs: bool | None,
    ) -> str:
        """The program as text, see `Jaxpr.pretty_print`."""
        return self.jaxpr.pretty_print(
            source_info=source_info, print_shapes=print_shapes, name_stack=name_stack, **kwargs
        )

    def __repr__(self) -> str:
        return repr(self.jaxpr)

    __str__ = __repr__


def subjaxprs(params: dict[str, Any]) -> Sequence[tuple[str, ClosedJaxpr]]:
    """The inner jaxprs of an equation, with the segment each adds to a path.

    One jaxpr adds nothing (`e2/e0`); several add the parameter's name and index (`e2/branches1/e0`).
    """
    if not params:
        return ()
    found: list[tuple[str, ClosedJaxpr]] = []
    for name, value in params.items():
        if isinstance(value, ClosedJaxpr):
            found.append((name, value))
        elif isinstance(value, tuple) and value and isinstance(value[0], ClosedJaxpr):
            found.extend((f"{name}{i}", jaxpr) for i, jaxpr in enumerate(value))
    return [("", found[0][1])] if len(found) == 1 else found


def running(eqn: JaxprEqn) -> Sequence[tuple[str, ClosedJaxpr]]:
    """The inner jaxprs of an equation that can run where it runs, as `subjaxprs` gives them."""
    inner, idle = subjaxprs(eqn.params), eqn.primitive.idle
    return [one for one in inner if one[0] not in idle] if idle else inner


def rearranged(
    closed: ClosedJaxpr, arguments: Sequence[int | ShapedArray], results: Sequence[Atom | int] | None = None
) -> ClosedJaxpr:
    """The same equations with other arguments and results: `arguments` are indices of the old ones, or avals of new ones
    that nobody reads; `results` indices of the old ones, or variables."""
    old = closed.jaxpr
    invars = [old.invars[a] if isinstance(a, int) else Var(a) for a in arguments]
    outvars = old.outvars if results is None else [old.outvars[r] if isinstance(r, int) else r for r in results]
    names = old.debug.arg_names
    shown = tuple(names[a] if isinstance(a, int) and a < len(names) else "_" for a in arguments) if names else ()
    debug = DebugInfo(old.debug.name, shown, (), old.debug.defined)
    return ClosedJaxpr(Jaxpr(old.constvars, invars, list(outvars), old.eqns, old.effects, debug), closed.consts)


def subpath(path: str, segment: str) -> str:
    """The prefix of the equations of an inner jaxpr: `e2/` or `e2/branches1/`."""
    return f"{path}/{segment}/" if segment else f"{path}/"


def walk(jaxpr: Jaxpr, prefix: str = "") -> Iterator[tuple[str, JaxprEqn]]:
    """All equations with their paths, those of inner jaxprs after their equation."""
    for i, eqn in enumerate(jaxpr.eqns):
        path = f"{prefix}e{i}"
        yield path, eqn
        for segment, sub in subjaxprs(eqn.params):
            yield from walk(sub.jaxpr, subpath(path, segment))


def jaxprs_in(jaxpr: Jaxpr) -> Iterator[Jaxpr]:
    """A jaxpr and its inner ones at all levels, outer ones first, each once, however often it occurs."""
    found, seen = [jaxpr], {jaxpr}
    for current in found:  # grows meanwhile
        yield current
        inner = dict.fromkeys(sub.jaxpr for eqn in current.eqns if eqn.params for _, sub in subjaxprs(eqn.params))
        found += [one for one in inner if one not in seen]
        seen.update(inner)


def equations_in(jaxpr: Jaxpr) -> Iterator[JaxprEqn]:
    """The equations of a jaxpr and of its inner ones, those of a jaxpr that occurs several times once."""
    return (eqn for one in jaxprs_in(jaxpr) for eqn in one.eqns)


def count(jaxpr: Jaxpr) -> int:
    """The number of equations at all levels that can run, those of an inner jaxpr that occurs several times counted each time."""
    return _count(jaxpr, {})


def _count(jaxpr: Jaxpr, known: dict[Jaxpr, int]) -> int:
    if jaxpr not in known:
        inner = [sub.jaxpr for eqn in jaxpr.eqns if eqn.params for _, sub in running(eqn)]
        known[jaxpr] = len(jaxpr.eqns) + sum([_count(one, known) for one in inner])
    return known[jaxpr]
