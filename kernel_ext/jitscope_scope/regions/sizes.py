"""Parts of arrays whose size is not known while tracing (`x[:k]`, `a[i, k:]`), as masks over the whole axis."""

from __future__ import annotations

import ast

from .expressions import difference
from .parts import placed_at, whole_number
from .picks import Line


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
        return placed_at(ast.parse(" & ".join(tests), mode="eval").body, part)

    def line(self, part: ast.expr, array: str, axis: int) -> Line | None:
        """How the places of a part of an axis lie; None for steps but by one."""
        if not isinstance(part, ast.Slice):
            return None
        length, step = f"{array}.shape[{axis}]", 1 if part.step is None else whole_number(part.step)
        if step not in (1, -1) or (step < 0 and part.lower is None):
            return None
        low, high = (_plain_from_the_start(e, length) for e in (part.lower, part.upper))
        if step > 0:
            count = f"({high or length}) - ({low or '0'})"
        else:
            count = f"({low}) - ({high or '-1'})"
        texts = (_from_the_start(part.lower, length), count, length)
        first, many, size = (placed_at(ast.parse(t, mode="eval").body, part) for t in texts)
        return Line(first, step, many, size)

    def backwards(self, part: ast.expr, array: str) -> ast.expr | None:
        """The mask of a part that goes backwards by one, `x[k:0:-1]`, over an array of one axis; None for others, and where nothing moves."""
        if not isinstance(part, ast.Slice) or part.step is None or whole_number(part.step) != -1 or part.lower is None:
            return None
        if not any(map(self.moves, filter(None, (part.lower, part.upper)))):
            return None
        length, places = f"{array}.shape[0]", f"{self.numpy}.arange({array}.shape[0])"
        tests = [f"({places} <= {_from_the_start(part.lower, length)})"]
        tests += [f"({places} > {_from_the_start(part.upper, length)})"] if part.upper is not None else []
        return placed_at(ast.parse(" & ".join(tests), mode="eval").body, part)

    def turned(self, part: ast.expr, array: str) -> ast.expr:
        """For each place of a part of an array of one axis, the one that stands there when the part is turned round."""
        assert isinstance(part, ast.Slice)
        length = f"{array}.shape[0]"
        low, high = _from_the_start(part.lower, length), _from_the_start(part.upper, length) if part.upper else length
        text = f"({low}) + {self.numpy}.minimum({high}, {length}) - 1 - {self.numpy}.arange({length})"
        return placed_at(ast.parse(text, mode="eval").body, part)

    def start(self, part: ast.expr, array: str, axis: int) -> ast.expr | None:
        """Where a part of an axis begins; None for parts with steps."""
        if not isinstance(part, ast.Slice) or part.step is not None:
            return None
        edge = ast.parse(_from_the_start(part.lower, f"{array}.shape[{axis}]"), mode="eval").body
        return placed_at(edge, part)


def _plain_from_the_start(edge: ast.expr | None, length: str) -> str | None:
    """The same as a sum alone, in which what counts from the end is written with a minus sign."""
    if edge is None:
        return None
    text = ast.unparse(edge)
    return f"{length} + ({text})" if isinstance(edge, ast.UnaryOp) and isinstance(edge.op, ast.USub) else text


def _from_the_start(edge: ast.expr | None, length: str) -> str:
    """An edge as a count from the start: negative ones count from the end."""
    if edge is None:
        return "0"
    text = ast.unparse(edge)
    if isinstance(edge, ast.Constant):
        return text
    return f"(({text}) + {length} * (({text}) < 0))"
