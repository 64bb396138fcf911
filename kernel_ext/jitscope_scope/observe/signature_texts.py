"""The arguments and results of a program in one line: trees of many arrays by their number, long lists cut."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from jitscope.core.jaxpr import Jaxpr
from jitscope.core.words import counted, root_of as argument_of


MOST_LISTED = 12
"""So many parts of a signature are listed."""
MOST_OF_TREE = 6
"""Arrays up to which those of one argument, or of one part of a result, are listed; of a tree of more their number is given."""


def shortened(parts: Sequence[str], most: int = MOST_LISTED) -> list[str]:
    """The first parts of a list, and how many more there are."""
    return [*parts[:most], f"… {len(parts) - most} more"] if len(parts) > most else list(parts)


def arguments_text(leaves: Iterable[tuple[str, str]]) -> list[str]:
    """The arrays of arguments, given as (path, type): `x: f32[64,20]`, or `params: 121 arrays`."""
    of_root: dict[str, list[str]] = {}
    for path, text in leaves:
        of_root.setdefault(argument_of(path), []).append(f"{path}: {text}")
    return [part for root, listed in of_root.items() for part in _listed(listed, f"{root}: ")]


def result_text(jaxpr: Jaxpr) -> str:
    """`f32[64,7]`, `(121 arrays, f32[])`."""
    names, texts = jaxpr.debug.result_names, [a.aval.short() for a in jaxpr.outvars]
    of_part: dict[str, list[str]] = {}
    for name, text in zip(names if len(names) == len(texts) else map(str, range(len(texts))), texts):
        of_part.setdefault(_PART.match(name)[0], []).append(text)  # type: ignore[index]
    parts = [part for listed in of_part.values() for part in _listed(listed)]
    if len(parts) > MOST_LISTED:
        parts = [counted(len(texts), "array")]
    return parts[0] if len(parts) == 1 else f"({', '.join(parts)})"


_PART = re.compile(r"[^\[.]*(?:\[[^\]]*\]|\.\w+)?")
"""Of the name of a result (`result[1].weight`), the outermost part."""


def _listed(texts: list[str], name: str = "") -> list[str]:
    return texts if len(texts) <= MOST_OF_TREE else [f"{name}{counted(len(texts), 'array')}"]
