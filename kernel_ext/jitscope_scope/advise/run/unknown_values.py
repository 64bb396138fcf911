"""What jax's errors about values that are not known while tracing say, in the words that jitscope's own have."""

from __future__ import annotations

import re
from typing import NamedTuple

from jitscope.core.trace import Tracer
from jitscope.core.unfinished_traces import is_of_python, unfinished

from ... import jaxwatch


class UnknownValue(NamedTuple):
    """What is wrong, and what is known of the value, each a sentence; what to do where no code says it better."""

    said: str
    evidence: tuple[str, ...]
    fix: str


def unknown_value(error: BaseException) -> UnknownValue | None:
    """What an error of jax's says of a value that it did not know; None of all others."""
    asked = _ASKED.get(type(error).__name__)
    if asked is None or not jaxwatch.raised_by_jax(error):
        return None
    text = str(error)
    kind = re.search(r"traced array with shape (\w+\[[\d,]*\])", text)
    depends = re.search(r"(?<=because it )depends on the values? of the arguments? (.+?)\.\s", text + " ")
    where = re.search(r"while tracing the function (\w+) at ", text)
    evidence = [f"the value is a traced {kind[1]}"] if kind is not None else []
    if depends is not None:
        evidence.append(f"it {depends[0].strip().rstrip('.')}{f' of {where[1]}' if where is not None else ''}")
    if where is None and "while tracing" not in text:
        return UnknownValue(f"{asked}, but {_NOT_STAGED}.", tuple(evidence), "Keep the computation in jnp.")
    fix = _fix(error, depends[1] if depends is not None else "")
    return UnknownValue(f"{asked}, but {Tracer.refusal}.", tuple(evidence), fix)


_NOT_STAGED = "a tracer of grad, vmap or another transformation stands for it, which has no number to give"


def _fix(error: BaseException, argument: str) -> str:
    """What to do, where the value depends on an argument: one that is an array cannot be static."""
    given = {name: var.aval for one in unfinished(error)[-1:] for name, var in zip(one.debug.arg_names, one.invars)}
    if argument in given and not is_of_python(given[argument]):
        return (
            f"Keep the computation in jnp: jnp.where chooses between values, lax.cond between computations. `{argument}` is an array, "
            "which cannot be static."
        )
    named = f" (static_argnames={argument!r})" if argument.isidentifier() else ""
    return f"Keep the computation in jnp, or make the argument it stems from static{named}, so that each value gets its own program."


_ASKED = {
    "TracerBoolConversionError": "Python needs to know whether this is true",
    "TracerIntegerConversionError": "Python needs this value as a number",
    "ConcretizationTypeError": "Python needs this value as a number",
    "TracerArrayConversionError": "NumPy needs the values of this array",
}
