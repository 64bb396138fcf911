"""Whether all operations of a program are the library's own: only of those its source tells what they do."""

from __future__ import annotations

from collections.abc import Iterable

from ...core.primitive import Primitive, with_rules
from .source import FOLDERS, PACKAGE


def strangers(primitives: Iterable[Primitive]) -> list[Primitive]:
    """Those that no module of `FOLDERS` defines. They may have the name of one that is defined there, and what they do is not
    to be seen from their name."""
    return sorted((p for p in primitives if not _is_known(p)), key=lambda p: p.name)


def changed_lowerings() -> list[str]:
    """The names of the library's operations that a lowering rule is registered for. One of them may be part of what another
    one is lowered to, so while there are any, nothing is read from disk and nothing kept."""
    return sorted({p.name for p in with_rules if p.lowerings and _is_known(p)})


def _is_known(primitive: Primitive) -> bool:
    package, _, rest = primitive.home.partition(".")
    return package == PACKAGE and rest.partition(".")[0] in FOLDERS
