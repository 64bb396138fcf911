"""Tapes: what a trace records, as it is known in the middle of it."""

from __future__ import annotations

from collections.abc import Sequence
from types import CodeType
from typing import Any, Literal, NamedTuple, Protocol

from jitscope import tree
from jitscope.core.effects import no_effects
from jitscope.core.jaxpr import Atom, Jaxpr, Var
from jitscope.core.printing import Names
from jitscope.core.staging import JaxprTrace, JaxprTracer, recording
from jitscope.core.trace import Tracer, traced_by


class Variable(NamedTuple):
    """A traced value: the variable of a tape that it is, or that it is made of; its type in words."""

    tape: Any
    variable: Any
    type: str
    how: str
    """What a transformation makes of it: "differentiated", …; empty for the variable itself."""


class TapeText(NamedTuple):
    """A tape at the end, as text."""

    name: str
    takes: str
    lines: list[str]
    names: dict[int, str]
    """The names of its variables, by their identity."""


class Tapes(Protocol):
    """What a library's traces record."""

    library: Literal["jitscope", "jax"]

    def current(self) -> Any:
        """What operations are recorded on now; None where they are evaluated."""

    def length(self, tape: Any) -> int:
        """How many equations it has."""
        ...

    def is_of_trees(self, code: CodeType) -> bool:
        """Whether code takes objects of registered classes apart, or rebuilds them, which no line of the program asks for."""
        ...

    def variable(self, value: Any) -> Variable | None:
        """What a traced value is; None for other values."""

    def written(self, tape: Any) -> TapeText:
        """The tape as text."""
        ...


class OwnTapes:
    """The tapes of the compiler's own traces."""

    library: Literal["jitscope", "jax"] = "jitscope"

    def current(self) -> JaxprTrace | None:
        """What operations are recorded on now; None where they are evaluated."""
        trace = traced_by()
        return recording(trace) if trace is not None else None

    def is_of_trees(self, code: CodeType) -> bool:
        """Whether code takes objects of registered classes apart, or rebuilds them."""
        return tree.is_flatten(code) or tree.is_unflatten(code)

    def length(self, tape: JaxprTrace) -> int:
        """How many equations it has."""
        return len(tape.eqns)

    def variable(self, value: Any) -> Variable | None:
        """What a traced value is; None for other values."""
        if not isinstance(value, Tracer):
            return None
        inner, how = value, ""
        while type(inner) is not JaxprTracer:
            how = how or transformed(inner)
            below = inner.underlying()
            if not isinstance(below, Tracer):
                return Variable(None, None, value.aval.short(), how)
            inner = below
        return Variable(inner.tracing, inner.atom, value.aval.short(), how)

    def written(self, tape: JaxprTrace) -> TapeText:
        """The tape as text."""
        captured = [var for var, _ in tape.constants.values()]
        outvars: list[Atom] = [
            v for eqn in tape.eqns for v in eqn.outvars
        ]  # all have a name, also those that nobody reads
        jaxpr = Jaxpr(captured, tape.invars, outvars, tape.eqns, no_effects, tape.debug)
        names = Names(jaxpr, brief=True)
        takes = listed([*tape.invars, *captured], names)
        name = tape.debug.name or "a function"
        known = {id(v): names.of(v) for v in (*captured, *tape.invars, *outvars) if isinstance(v, Var)}
        return TapeText(name, takes, [names.line(eqn).strip() for eqn in tape.eqns], known)


def transformed(tracer: object) -> str:
    """What a transformation makes of a traced value, in words."""
    kind = type(tracer).__name__.lower()
    if "batch" in kind or "vmap" in kind:
        return "one of a batch"
    return "differentiated" if any(word in kind for word in ("jvp", "linear", "tangent")) else "transformed"


def listed(atoms: Sequence[Any], names: Names) -> str:
    """Values with their types, variables as they are called."""
    shown = [f"{names.of(a) if isinstance(a, Var) else a.value}:{a.aval.short()}" for a in atoms[:24]]
    more = [f"… {len(atoms) - 24} more"] if len(atoms) > 24 else []
    return ", ".join([*shown, *more])
