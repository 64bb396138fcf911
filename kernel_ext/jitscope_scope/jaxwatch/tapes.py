"""The tapes of jax's traces, as they are known in the middle of them (see `observe.stepping`)."""

from __future__ import annotations

from types import CodeType, SimpleNamespace
from typing import Any, Literal

from jitscope.core.jaxpr import NO_DEBUG
from jitscope.core.printing import Names

from ..observe.stepping.tapes import TapeText, Variable, listed, transformed
from . import private
from .errors import is_tracer
from .translating import Translation, aval_of


class JaxTapes:
    """The tapes of jax's traces. Equations that nobody reads may vanish from them while they grow: those that were seen once stay here."""

    library: Literal["jitscope", "jax"] = "jax"

    def __init__(self) -> None:
        self._seen: dict[int, dict[int, Any]] = {}
        self._frames: dict[int, Any] = {}

    def current(self) -> Any:
        """What operations are recorded on now; None where they are evaluated."""
        return private.recording()

    def is_of_trees(self, code: CodeType) -> bool:
        """Whether code takes objects of registered classes apart, or rebuilds them."""
        return private.takes_apart(code) or private.rebuilds(code)

    def length(self, tape: Any) -> int:
        """How many equations it has had."""
        self._frames[id(tape)] = tape
        seen = self._seen.setdefault(id(tape), {})
        for eqn in private.equations(tape):
            seen.setdefault(id(eqn.outvars[0]) if eqn.outvars else id(eqn), eqn)
        return len(seen)

    def variable(self, value: Any) -> Variable | None:
        """What a traced value is; None for other values."""
        if not is_tracer(value):
            return None
        tape, variable = private.recorded(value)
        own = getattr(getattr(value, "_trace", None), "frame", None) is not None
        type_of = aval_of(value.aval).short()
        return Variable(tape, variable, type_of, "" if own else transformed(value))

    def written(self, tape: Any) -> TapeText:
        """The tape as text."""
        self.length(tape)
        eqns = list(self._seen[id(tape)].values())
        invars = [getattr(one, "val", one) for one in tape.invars]
        outvars = [v for eqn in eqns for v in eqn.outvars]
        program = SimpleNamespace(
            constvars=[], invars=invars, outvars=outvars, eqns=eqns, debug_info=getattr(tape, "debug_info", None)
        )
        translated = Translation(program)
        jaxpr = translated.jaxpr
        names = Names(jaxpr, brief=True)
        known = {key: names.of(var) for key, var in translated.variables.items()}
        takes = listed([*jaxpr.invars, *jaxpr.constvars], names)
        name = jaxpr.debug.name if jaxpr.debug is not NO_DEBUG and jaxpr.debug.name else "a function"
        return TapeText(name, takes, [names.line(eqn).strip() for eqn in jaxpr.eqns], known)
