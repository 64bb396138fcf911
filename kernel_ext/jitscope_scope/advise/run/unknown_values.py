"""What jax's errors about values that are not known while tracing say, in the words that jitscope's own have."""

from __future__ import annotations

import re
from typing import NamedTuple

from jitscope.core.trace import Tracer

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
    named = f" (static_argnames={depends[1]!r})" if depends is not None and depends[1].isidentifier() else ""
    fix = f"Keep the computation in jnp, or make the argument it stems from static{named}, so that each value gets its own program."
    return UnknownValue(f"{asked}, but {Tracer.refusal}.", tuple(evidence), fix)


_ASKED = {
    "TracerBoolConversionError": "Python needs to know whether this is true",
    "TracerIntegerConversionError": "Python needs this value as a number",
    "ConcretizationTypeError": "Python needs this value as a number",
    "TracerArrayConversionError": "NumPy needs the values of this array",
}
