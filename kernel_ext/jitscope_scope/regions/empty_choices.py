"""Where compiled code does not say, as NumPy does, that a mask picks nothing."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from . import naming
from .masks import FOUND, Masks
from .picked_names import held
from .sizes import Parts


def empty_choices(body: naming.Statements, values: Mapping[str, object]) -> list[int]:
    """The lines in which picked values are reduced: NumPy warns, or raises, where a mask picks nothing."""
    masks = Masks(values, "jnp")
    masks.parts = Parts(naming.bound(body), "numpy")
    masks.names = held(list(body), masks)
    asked = {"mean", "max", "min", "std", "var", *FOUND}
    calls = naming.all_of(ast.Call, body)
    found = [n.lineno for n in calls if getattr(n.func, "attr", "") in asked and _takes(masks, n)]
    return sorted(set(found))


def _takes(masks: Masks, call: ast.Call) -> bool:
    parts = [*call.args[:1], *([call.func.value] if isinstance(call.func, ast.Attribute) else [])]
    return any(masks.picked(p) is not None for p in parts)
