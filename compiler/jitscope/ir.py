"""`jitscope.ir`: programs as data.

`make_jaxpr(f)(x)` gives a ClosedJaxpr: a Jaxpr (its `invars`, `eqns`, `outvars`) with the values of its `constvars`. An
equation has `primitive`, `invars` (each a Var or a Literal), `outvars`, `params` and `source_position(eqn)`, the line that
made it. `walk` gives the equations of all levels with their paths, `eval_jaxpr` and `jaxpr_as_fun` run a program under
whatever transformation is at work, `pretty_print(source_info=True)` prints it with its source lines.
"""

from .core.avals import ShapedArray
from .core.call_sites import user_position
from .core.jaxpr import *
from .core.primitive import Primitive
from .core.printing import format_jaxpr
from .core.source import Position
from .core.staging import *
from .core.trace import Tracer


def source_position(eqn: JaxprEqn) -> Position | None:
    """The user's line and columns that made an equation, or None where that is not known."""
    return user_position(eqn.traceback)


__all__ = ["ClosedJaxpr", "Jaxpr", "JaxprEqn", "Literal", "Position", "Primitive", "ShapedArray", "Tracer", "Var",
           "count", "eval_jaxpr", "format_jaxpr", "jaxpr_as_fun", "source_position", "subjaxprs", "walk"]  # fmt: skip
