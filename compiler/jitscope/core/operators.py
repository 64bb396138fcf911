"""The Python operators and methods that tracers and arrays share.

The class is empty here: one assignment at import (`install`, called by `numpy.operators` with its table) fills it, since
`x + y` means `numpy.add` with promotion and broadcasting, which lives far above.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any


class Operators:
    """Mixin of `Tracer` and `Array`: everything in the table of `numpy.operators`."""

    __slots__ = ()
    __array_priority__ = 1000
    __hash__ = None  # pyright: ignore[reportAssignmentType]

    if TYPE_CHECKING:  # what the table holds cannot be seen by type checkers

        def __getattr__(self, name: str) -> Any: ...


def install(table: dict[str, Callable[..., Any] | property]) -> None:
    """Fill `Operators`; done once, by `numpy.operators`."""
    for name, method in table.items():
        setattr(Operators, name, method)
