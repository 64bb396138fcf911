"""Parts of arrays whose size is not known while tracing (`x[:k]`, `a[i, k:]`), as masks over the whole axis."""

from __future__ import annotations

import ast

from .expressions import difference


class Parts:
    """Writes these masks. `moving` are the names that are not known while tracing, `numpy` is NumPy's name."""

    def __init__(self, moving: set[str], numpy: str) -> None:
        self.moving, self.numpy = moving, numpy

    def moves(self, node: ast.AST) -> bool:
        """Whether a value is not known while tracing."""
        return any(isinstance(n, ast.Name) and n.id in self.moving for n in ast.walk(node))

    def mask(self, part: ast.expr, array: str, axis: int) -> ast.expr | None:
        """The mask over an axis of an array; None for parts of a size that is known, and for steps of a sign that is not."""
        if not isinstance(part, ast.Slice):
            return None
        edges = [e for e in (part.lower, part.upper) if e is not None]
        if not any(map(self.moves, [*edges, *([part.step] if part.step else [])])):
            return None
        if part.step is None and len(edges) == 2 and difference(edges[1], edges[0], self.moves) is not None:
            return None
        length, places = f"{array}.shape[{axis}]", f"{self.numpy}.arange({array}.shape[{axis}])"
        low = _from_the_start(part.lower, length)
        tests = [f"({places} >= {low})"] if part.lower is not None else []
        tests += [f"({places} < {_from_the_start(part.upper, length)})"] if part.upper is not None else []
        if part.step is not None:
            if not isinstance(part.step, ast.Constant) or not isinstance(part.step.value, int) or part.step.value < 1:
                return None
            tests.append(f"(({places} - ({low})) % {part.step.value} == 0)")
        return _placed(ast.parse(" & ".join(tests), mode="eval").body, part)

    def start(self, part: ast.expr, array: str, axis: int) -> ast.expr | None:
        """Where a part of an axis begins; None for parts with steps."""
        if not isinstance(part, ast.Slice) or part.step is not None:
            return None
        edge = ast.parse(_from_the_start(part.lower, f"{array}.shape[{axis}]"), mode="eval").body
        return _placed(edge, part)


def _placed(made: ast.expr, at: ast.expr) -> ast.expr:
    for n in ast.walk(made):
        ast.copy_location(n, at)
    return made


def _from_the_start(edge: ast.expr | None, length: str) -> str:
    """An edge as a count from the start: negative ones count from the end."""
    if edge is None:
        return "0"
    text = ast.unparse(edge)
    if isinstance(edge, ast.Constant):
        return text
    return f"(({text}) + {length} * (({text}) < 0))"
