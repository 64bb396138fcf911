"""What the writers of a region without its objects share: what has been written, what names stand for, and each other's ways."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping

from .functions import Definitions
from .structures import Box, Function, Leaf, Part, Roots, Scope


class State(ABC):
    """The state of writing. `copies` says whether parts are copied when they are given a second name, `bound` are the names that the region
    binds."""

    def __init__(
        self,
        roots: Roots,
        bound: set[str],
        definitions: Definitions,
        copies: bool,
    ) -> None:
        self.roots, self.bound_in_region, self.definitions, self.copies = roots, bound, definitions, copies
        self.top = Scope()
        self.scopes = [self.top]
        self.out: list[ast.stmt] = []
        self.count, self.total, self.unsure = 0, 0, 0
        self.calls = 0
        """How deep in calls what is being written stands."""
        self.dynamic = 0
        """How many loops of the region are open that stay loops."""
        self.quiet = False
        """Whether nothing may be written before the expression that is being written."""
        self.at: ast.stmt | None = None
        self.leaving: list[object] = []
        """What things stand for where the innermost open loop is left."""
        self.last: dict[str, str] = {}
        """What names that only Python's own loops bind stand for in the end."""
        self.inlined: set[str] = set()
        self.pinned: dict[str, int] = {}
        """Numbers that the text was written with, by their names."""

    @abstractmethod
    def emit(self, s: ast.stmt) -> None:
        """Writes a statement."""

    @abstractmethod
    def assign(self, names: list[str], values: list[ast.expr]) -> None:
        """Binds names, all at once where one's value reads another one."""

    @abstractmethod
    def store(self, holder: dict[object, Part], key: object, part: Part, path: str) -> None:
        """Has a key of a scope or a box stand for a part; `path` names it."""

    @abstractmethod
    def changed(self, box: Box) -> None:
        """Notes that a box gets another part; raises InWholes where it must not."""

    @abstractmethod
    def rebinds(self, body: list[ast.stmt], name: str, part: Part) -> bool:
        """Whether statements bind a name again that stands for this part."""

    @abstractmethod
    def block(self, body: Iterable[ast.stmt], scope: Scope) -> bool:
        """Writes statements; whether the last one leaves what is around them."""

    @abstractmethod
    def ev(self, node: ast.expr, scope: Scope) -> Part:
        """What an expression stands for."""

    @abstractmethod
    def in_order(self, nodes: Iterable[ast.expr], scope: Scope) -> list[Part]:
        """What expressions stand for that are evaluated one after the other."""

    @abstractmethod
    def text(self, part: Part) -> ast.expr:
        """A part as an expression."""

    @abstractmethod
    def lookup(self, name: str, scope: Scope) -> Part:
        """What a name stands for."""

    @abstractmethod
    def attribute(self, owner: Part, name: str) -> Part:
        """What an attribute stands for."""

    @abstractmethod
    def things(self, node: ast.expr, loop: ast.For | None, scope: Scope) -> list[Part] | None:
        """The parts that a loop goes through; None for other loops."""

    @abstractmethod
    def begins(self, source: ast.expr, scope: Scope) -> str | None:
        """What is true when the region begins if a loop inside of it has a turn each time."""

    @abstractmethod
    def is_whole(self, leaf: Leaf) -> bool:
        """Whether a name stands for a whole number of Python's that is not copied."""

    @abstractmethod
    def call(self, node: ast.Call, scope: Scope) -> Part:
        """What a call gives."""

    @abstractmethod
    def inline(self, function: Function, args: list[Part], named: Mapping[str, Part]) -> Part:
        """The function's statements are written here; its result."""
