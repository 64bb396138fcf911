"""Which values are copies of a NaN or infinity that stands in the program: `jnp.where(n > 0, x / n, jnp.nan)` has one for all `n`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from jitscope.core import dtypes
from jitscope.core.jaxpr import Atom, ClosedJaxpr, Jaxpr, JaxprEqn, Var, running, subpath


Called = Callable[[JaxprEqn], ClosedJaxpr | None]


def written(
    jaxpr: Jaxpr, called: Called, prefix: str = "", given: Mapping[Var, bool] | None = None
) -> Iterator[tuple[str, int]]:
    """The path and number of each result that is computed of literals alone, of which one is not finite. `called` says which program an
    equation runs once, on all its operands; `given` which of the arguments are computed of literals, and whether of such."""
    known = dict(given or {})
    for i, eqn in enumerate(jaxpr.eqns):
        path = f"{prefix}e{i}"
        operands = [_of(atom, known) for atom in eqn.invars]
        if operands and None not in operands and not eqn.effects:
            known |= dict.fromkeys(eqn.outvars, any(operands))
            if any(operands):
                yield from ((path, number) for number in range(len(eqn.outvars)))
        inner = called(eqn) if eqn.params else None
        for segment, program in running(eqn) if eqn.params else ():
            inside = zip(program.jaxpr.invars, operands) if program is inner else ()
            yield from written(
                program.jaxpr, called, subpath(path, segment), {v: o for v, o in inside if o is not None}
            )


def _of(atom: Atom, known: Mapping[Var, bool]) -> bool | None:
    """Whether a value that is computed of literals alone is computed of one that is not finite; None of what is computed of others."""
    if isinstance(atom, Var):
        return known.get(atom)
    if not dtypes.is_inexact(atom.aval.dtype):
        return False
    return not np.isfinite(np.asarray(atom.value).astype(complex)).all()
