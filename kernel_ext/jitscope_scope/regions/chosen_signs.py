"""Vectors whose signs nothing but rounding chooses: those of `svd`, `eigh` and `eig`. A compiled form may give the other ones."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping

from . import naming
from .answers import CannotCompile
from .array_arguments import value_of


_VECTORS = {"svd": (0, 2), "eigh": (1,), "eig": (1,)}


def not_left(body: naming.Statements, values: Mapping[str, object], outs: Collection[str]) -> None:
    """Refuses statements that leave such vectors of NumPy's behind under a name."""
    for s in naming.all_of(ast.Assign, body):
        match s:
            case ast.Assign(
                targets=[ast.Tuple(elts=targets)], value=ast.Call(func=ast.Attribute(attr=word) as function)
            ):
                pass
            case _:
                continue
        of_numpy = (getattr(value_of(function, values), "__module__", None) or "").startswith("numpy")
        places = [k for k in _VECTORS.get(word, ()) if k < len(targets)] if of_numpy else []
        if name := next((t.id for k in places if isinstance(t := targets[k], ast.Name) and t.id in outs), ""):
            note = f"rounding alone chooses the signs of the vectors in `{name}`, and may choose other ones"
            raise CannotCompile(s.lineno, "differences", note)
