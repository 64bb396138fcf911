"""A table of rules: what one method of each primitive does, looked up and set by the primitive."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..api import clear_caches
from ..core.primitive import Primitive


Rule = Callable[..., Any]


class RuleTable:
    """`table[primitive] = rule` makes `rule` the primitive's method of the name `method`; `table[primitive]` gives it.

    `inward` and `outward` translate between the rule's signature in the table and the method's. What was compiled is
    forgotten if the operation had a rule before. Raises KeyError for an operation that has none.
    """

    def __init__(
        self, method: str, inward: Callable[[Rule], Rule] | None = None, outward: Callable[[Rule], Rule] | None = None
    ):
        self.method, self.inward, self.outward = method, inward, outward

    def __contains__(self, primitive: object) -> bool:
        if self.method in vars(primitive):
            return True
        return getattr(type(primitive), self.method) is not getattr(Primitive, self.method)

    def __getitem__(self, primitive: Primitive) -> Rule:
        if primitive not in self:
            raise KeyError(primitive)
        rule = getattr(primitive, self.method)
        return rule if self.outward is None else self.outward(rule)

    def get(self, primitive: Primitive, default: Any = None) -> Any:
        """The rule of a primitive, or `default` where it has none."""
        return self[primitive] if primitive in self else default

    def __setitem__(self, primitive: Primitive, rule: Rule) -> None:
        before = primitive in self
        setattr(primitive, self.method, rule if self.inward is None else self.inward(rule))
        if before:
            _forget(primitive)

    def __delitem__(self, primitive: Primitive) -> None:
        """Take back the rule that was set; an operation's own rule is in force again."""
        if self.method not in vars(primitive):
            raise KeyError(primitive)
        delattr(primitive, self.method)
        _forget(primitive)


def _forget(primitive: Primitive) -> None:
    primitive.renew()
    clear_caches()
