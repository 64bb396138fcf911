"""The values of dimension variables, from the shapes of a call's arguments.

An argument of shape (b, 2*n + b) says what b and n are: equations of one unknown are solved one after another, in terms of
the actual sizes, which have names like `args[0].shape[1]`. What must hold for the solution to be one is checked: when a
function is called with known shapes, at once; in the program, by shape assertions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..core.errors import InconclusiveDimensionOperation
from ..core.messages import with_advice
from ..named_tuple import NamedTuple
from .dimension import Dim, UnknownVariable, evaluated, variable


class Check(NamedTuple):
    """That `left` equals `right` (or is at least that). `pieces` of the message are texts and sizes."""

    equal: bool
    left: Any
    right: Any
    pieces: tuple[Any, ...]

    def run(self, actual: Mapping[str, Any]) -> None:
        """Raise ValueError unless it holds, or if that cannot be told."""
        left, right = evaluated(self.left, actual), evaluated(self.right, actual)
        cause = None
        try:
            holds = left == right if self.equal else left >= right
        except InconclusiveDimensionOperation as error:
            holds, cause = False, error
        if not holds:
            text = "".join(p if isinstance(p, str) else str(evaluated(p, actual)) for p in self.pieces)
            raise ValueError(text) from cause

    def message(self) -> tuple[str, list[Any]]:
        """The text with {0}, {1}, … in the place of sizes, and those sizes (at most 32, which is what XLA takes)."""
        sizes: list[Any] = []
        text = ""
        for piece in self.pieces:
            if isinstance(piece, str):
                text += piece
            elif piece in sizes or len(sizes) < 32:
                if piece not in sizes:
                    sizes.append(piece)
                text += f"{{{sizes.index(piece)}}}"
            else:
                text += "N/A"
        return text, sizes


class Source(NamedTuple):
    """The size along `axis` of argument number `argument`, by its name in messages."""

    name: str
    argument: int
    axis: int


class Solution(NamedTuple):
    """The variables' values in terms of the sources' names."""

    values: dict[str, Any]
    checks: list[Check]
    sources: list[Source]

    def at(self, shapes: Sequence[Sequence[Any]]) -> dict[str, Any]:
        """The values for arguments of these shapes. Raises ValueError for shapes that do not fit."""
        actual = {s.name: shapes[s.argument][s.axis] for s in self.sources}
        for check in self.checks:
            check.run(actual)
        return {name: evaluated(value, actual) for name, value in self.values.items()}


def variables_of(shapes: Sequence[Sequence[Any]]) -> list[str]:
    """The names of the dimension variables in shapes, sorted."""
    return sorted({name for shape in shapes for d in shape if isinstance(d, Dim) for name in d.variables()})


def solve(shapes: Sequence[Sequence[Any]], names: Sequence[str]) -> Solution:
    """The solution for arguments of symbolic shapes; `names` are the arguments' in messages. Raises ValueError if it cannot
    be found."""
    shaped = [(i, shape) for i, shape in enumerate(shapes) if any(isinstance(d, Dim) for d in shape)]
    specs = ",".join(f"{names[i]}.shape = ({', '.join(map(str, s))}{',' if len(s) == 1 else ''})" for i, s in shaped)
    solver = _Solver(f" Using the following polymorphic shapes specifications: {specs}.")
    todo = []
    for i, shape in shaped:
        for axis, d in enumerate(shape):
            if isinstance(d, Dim):
                source = Source(f"{names[i]}.shape[{axis}]", i, axis)
                solver.sources.append(source)
                todo.append((source, d))
    while todo:
        left = [pair for pair in todo if not solver.use(*pair)]
        if len(left) == len(todo):
            raise solver.unsolved(left)
        todo = left
    solver.check_constraints()
    return Solution(solver.values, solver.checks, solver.sources)


class _Solver:
    def __init__(self, specs: str):
        self.specs = specs
        self.values: dict[str, Any] = {}
        self.checks: list[Check] = []
        self.sources: list[Source] = []
        self.found: tuple[Any, ...] = (" Obtained dimension variables: ",)
        self.scope: Any = None

    def use(self, source: Source, spec: Dim) -> bool:
        """Solve `spec = size of source` for the one variable that is not known yet, or check it if all are. False: it has
        several, or not in a linear way."""
        self.scope = spec.scope
        size = variable(source.name, spec.scope)
        rest, unknown, times = size, None, 1
        for term, count in spec.terms:
            try:
                rest = rest - evaluated(Dim(((term, count),), spec.scope), self.values)
            except UnknownVariable:
                if unknown is not None or term.variable is None:
                    return False
                unknown, times = term.variable, count
        if unknown is None:
            self._check_size(source, spec, size)
        else:
            self._solved(unknown, rest, times, source, spec, size)
        return True

    def _check_size(self, source: Source, spec: Dim, size: Any) -> None:
        value = evaluated(spec, self.values)
        self._check(
            True,
            size,
            value,
            "Input shapes do not match the polymorphic shapes specification. "
            f"Found inconsistency between dimension size {source.name} (= ",
            size,
            f") and the specification '{spec}' (= ",
            value,
            ").",
        )

    def _solved(self, unknown: str, rest: Any, times: int, source: Source, spec: Dim, size: Any) -> None:
        value = rest
        if times != 1:
            value, left_over = divmod(rest, times)
            self._check(
                True,
                left_over,
                0,
                "Input shapes do not match the polymorphic shapes specification. Division had remainder ",
                left_over,
                f" when computing the value of '{unknown}'.",
            )
        self.values[unknown] = value
        origin = f" from specification '{spec}' for dimension {source.name} (= "
        self.found += (f"'{unknown}' = ", value, origin, size, "), ")
        self._check(
            False,
            value,
            1,
            "Input shapes do not match the polymorphic shapes specification. "
            f"Expected value >= 1 for dimension variable '{unknown}'.",
        )

    def check_constraints(self) -> None:
        if not self.values:
            return
        for zero, difference, shown in self.scope.constraints:
            try:
                value = evaluated(difference, self.values)
            except UnknownVariable as error:
                raise ValueError(f"{error} The constraint '{shown}' has it.") from None
            self._check(
                zero,
                value,
                0,
                f"Input shapes do not match the symbolic shape constraint {shown}. Expected '{difference}' to be "
                f"{'equal' if zero else 'greater or equal'} to 0, but found ",
                value,
                ". ",
            )

    def _check(self, equal: bool, left: Any, right: Any, *pieces: Any) -> None:
        self.checks.append(Check(equal, left, right, (*pieces, self.specs, *self.found, ".")))

    def unsolved(self, left: Sequence[tuple[Source, Dim]]) -> ValueError:
        unknown = {name for _, spec in left for name in spec.variables()} - set(self.values)
        specs = ", ".join(f"'{spec}' for dimension size {source.name}" for source, spec in left)
        return ValueError(
            with_advice(
                f"Cannot solve for values of dimension variables {unknown}. We can only solve linear uni-variate constraints."
                f"{self.specs} Unprocessed specifications: {specs}.",
                "let each variable stand alone as a size of some argument, or in one with variables that do",
            )
        )
