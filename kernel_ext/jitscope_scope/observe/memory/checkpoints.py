"""Programs with `checkpoint` where their functions do not have it: the function is traced once more, and what it differentiates is
changed before the derivative is taken, as if it had been written so."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from typing import Any, NamedTuple

from jitscope.control.callbacks import calls_python
from jitscope.control.remat import checkpoint_p
from jitscope.core import call_sites
from jitscope.core.errors import Unavailable
from jitscope.core.jaxpr import ClosedJaxpr, Jaxpr, JaxprEqn, subjaxprs, walk
from jitscope.core.staging import jaxpr_as_fun, trace_to_jaxpr
from jitscope.core.steps import Recorder, recording_steps

from ..ledger import Row


MOST = 8
"""Places that are offered, besides the whole of what is differentiated."""

_OPTIONS = {"prevent_cse": True, "differentiated": False, "policy": None}


class Place(NamedTuple):
    """What `checkpoint` would be put round in what is differentiated: the body of a scan, known by where it was written, a jitted
    function by its name, or all of it. `path` is that of such an equation in the program; "" for all of it."""

    path: str
    text: str
    key: object = None

    def holds(self, eqn: JaxprEqn) -> bool:
        return self.key is not None and _key(eqn) == self.key


def _key(eqn: JaxprEqn) -> object:
    if eqn.primitive.name == "scan":
        return call_sites.user_position(eqn.traceback)
    return eqn.params["name"] if eqn.primitive.name == "jit" else None


def places_of(jaxpr: Jaxpr) -> list[Place]:
    """The places in a program; none where nothing in it is the backward pass of a derivative, or where it calls Python, which tracing it
    again might run again."""
    backward = [(path, eqn) for path, eqn in walk(jaxpr) if "transpose" in call_sites.transforms_of(eqn.traceback)]
    if not backward or calls_python(jaxpr):
        return []
    found: dict[Any, Place] = {}
    for path, eqn in backward:
        if (key := _key(eqn)) is not None:
            text = f"checkpoint {key}" if isinstance(key, str) else "checkpoint the body of the scan"
            found.setdefault(key, Place(path, text, key))
    whole = Place("", "checkpoint all that is differentiated")
    return [*list(found.values())[:MOST], whole]


def checkpointed_again(row: Row, place: Place) -> ClosedJaxpr:
    """The program of a row with `checkpoint` at a place. Raises Unavailable where its function is gone, or takes no derivative of what
    stands at the place when it is traced alone."""
    again = row.needed("again")
    changing = _CheckpointTrial(place)
    with recording_steps(changing), redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        closed = again()
    if not changing.changed:
        raise Unavailable("what is differentiated there cannot be traced apart from its values")
    return closed


class _CheckpointTrial(Recorder):
    """Records nothing; what is linearized is linearized with `checkpoint` at a place."""

    def __init__(self, place: Place):
        super().__init__(most=0)
        self.place, self.changed = place, False

    def instead(self, transform: str, closed: ClosedJaxpr) -> Callable[..., list[Any]]:
        return jaxpr_as_fun(self._with(closed) if transform == "linearize" else closed)

    def _with(self, closed: ClosedJaxpr) -> ClosedJaxpr:
        if self.place.key is None:
            self.changed = True
            return _checkpointed(closed)
        return self._inside(closed)

    def _inside(self, closed: ClosedJaxpr) -> ClosedJaxpr:
        old = closed.jaxpr
        eqns = [self._equation(eqn) for eqn in old.eqns]
        return ClosedJaxpr(
            Jaxpr(old.constvars, old.invars, old.outvars, eqns, old.effects, old.debug), list(closed.consts)
        )

    def _equation(self, eqn: JaxprEqn) -> JaxprEqn:
        primitive, params = eqn.primitive, eqn.params
        if self.place.holds(eqn):
            self.changed = True
            body = params["jaxpr"]
            if primitive.name == "scan":
                params = {**params, "jaxpr": _checkpointed(body)}
            else:
                primitive, params = checkpoint_p, {"jaxpr": body, **_OPTIONS}
        elif subjaxprs(params):
            params = {name: self._parameter(value) for name, value in params.items()}
        return JaxprEqn(eqn.invars, eqn.outvars, primitive, params, eqn.effects, eqn.traceback)

    def _parameter(self, value: Any) -> Any:
        if isinstance(value, ClosedJaxpr):
            return self._inside(value)
        if isinstance(value, tuple) and value and isinstance(value[0], ClosedJaxpr):
            return tuple(map(self._inside, value))
        return value


def _checkpointed(closed: ClosedJaxpr) -> ClosedJaxpr:
    """A program that is one call of the other under `checkpoint`."""
    old, consts = closed.jaxpr, list(closed.consts)
    inner = ClosedJaxpr(Jaxpr([], [*old.constvars, *old.invars], old.outvars, old.eqns, old.effects, old.debug), [])

    def call(*args: Any) -> Sequence[Any]:
        return checkpoint_p.bind(*consts, *args, jaxpr=inner, **_OPTIONS)

    return trace_to_jaxpr(call, closed.in_avals, old.debug)
