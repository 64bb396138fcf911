"""What a walk over a program meets, and where."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ...source_code.tree import Function
from .decided import Known
from .functions import TracedFunction
from .values import Kind


@dataclass
class Event:
    """Something the walk met. `what`: "truth" (of `kind`), "index" (of `kind`, by `inner`), "store" (into an element or attribute), "call" (with `inner`
    kinds of the arguments), "iterate", "format", "drop" (an expression whose value nobody takes), "name" (assigned in another scope)."""

    what: str
    node: Any
    kind: Kind
    region: Region
    dotted: str = ""
    inner: list[Kind] = field(default_factory=list)
    stored: Kind = Kind.UNKNOWN
    """What is stored."""


@dataclass
class Region:
    """The function that is walked: `traced` tells by what it is traced (None: it runs), `depth` how many calls below it, `outer`
    which arguments are objects from outside of the trace."""

    function: Function | None
    traced: TracedFunction | None
    depth: int = 0
    outer: frozenset[str] = frozenset()
    known: Known = field(default_factory=dict)
    """What is known of names before anything runs."""

    @property
    def abstract(self) -> bool:
        """Whether arguments have no values here."""
        return self.traced is not None and self.traced.abstract

    @property
    def stages(self) -> bool:
        """Whether all operations of arrays are traced here, and not only those of the arguments."""
        return self.traced is not None and not self.traced.each_time
