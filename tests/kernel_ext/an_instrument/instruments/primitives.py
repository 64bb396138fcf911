"""The primitives of a program."""

from collections import defaultdict
from typing import Any

from jitscope.core.jaxpr import walk
from jitscope_scope.observe.instruments.offer import Offer


OFFER = Offer("Count primitives", "How often each primitive is used.", "Nothing is compiled or run.")


def instrument(row: Any, given: object = None) -> dict[str, Any]:
    """The document of a row's program."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for path, equation in walk(row.jaxpr):
        found[equation.primitive.name].append(path)
    uses = [{"primitive": name, "paths": paths} for name, paths in sorted(found.items(), key=lambda one: -len(one[1]))]
    return {"kind": "primitives", "version": 1, "title": row.function, "uses": uses}
