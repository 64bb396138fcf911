"""What the writers of a region without its objects share: what has been written, what names stand for, and each other's ways."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping

import numpy as np

from . import naming
from .functions import Definitions
from .parts import placed_at
from .structures import Box, Function, InWholes, Known, Leaf, Part, Roots, Scope


LONGEST = 600
"""More statements than this are not written out."""


class NeedsCopies(Exception):
    """Raised where a name would be bound again that still stands for a part of something else: parts are then copied when they are given
    a second name."""


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
    def block(self, body: Iterable[ast.stmt], scope: Scope) -> bool:
        """Writes statements; whether the last one leaves what is around them."""

    @abstractmethod
    def text(self, part: Part) -> ast.expr:
        """A part as an expression."""

    @abstractmethod
    def call(self, node: ast.Call, scope: Scope) -> Part:
        """What a call gives."""

    @abstractmethod
    def inline(self, function: Function, args: list[Part], named: Mapping[str, Part]) -> Part:
        """The function's statements are written here; its result."""

    # What is written ---------------------------------------------------------------------------------------------

    def emit(self, s: ast.stmt) -> None:
        self.total += 1
        if self.quiet or self.total > LONGEST * 8 or len(self.out) > LONGEST:
            raise InWholes("an expression acts on an object")
        assert self.at is not None
        self.out.append(placed_at(s, self.at))

    def assign(self, names: list[str], values: list[ast.expr]) -> None:
        """Binds names, all at once where one's value reads another one."""
        pairs = [(n, v) for n, v in zip(names, values, strict=True) if not (isinstance(v, ast.Name) and v.id == n)]
        if not pairs:
            return
        for n, _ in pairs:
            self._is_free(n)
        reads = naming.loaded([v for _, v in pairs[1:]])
        if len(pairs) > 1 and reads & {n for n, _ in pairs}:
            targets = ast.Tuple([ast.Name(n, ast.Store()) for n, _ in pairs], ast.Store())
            self.emit(ast.Assign([targets], ast.Tuple([v for _, v in pairs], ast.Load())))
            return
        for n, v in pairs:
            self.emit(ast.Assign([ast.Name(n, ast.Store())], v))

    def _is_free(self, name: str) -> None:
        holders = [h for h in self._holders() for k, p in h.items() if p == Leaf(name)]
        if len(holders) > 1:
            raise NeedsCopies if not self.copies else InWholes(f"`{name}` stands for a part of two things")

    def _holders(self) -> Iterable[dict[object, Part]]:
        found: dict[int, dict[object, Part]] = {}

        def walk(parts: dict[object, Part]) -> None:
            if id(parts) in found:
                return
            found[id(parts)] = parts
            for p in parts.values():
                if isinstance(p, Box):
                    walk(p.parts)
                if isinstance(p, Function) and p.owner is not None:
                    walk(p.owner.parts)

        for scope in self.scopes:
            walk(scope.names)  # type: ignore[arg-type]
        for box in self.roots.boxes.values():
            walk(box.parts)
        return found.values()

    # Binding -----------------------------------------------------------------------------------------------------

    def store(self, holder: dict[object, Part], key: object, part: Part, path: str) -> None:
        """Has a key of a scope or a box stand for a part; `path` names it."""
        names: list[str] = []
        values: list[ast.expr] = []
        new = self._named(holder.get(key), part, path, names, values)
        self.assign(names, values)
        holder[key] = new

    def _named(self, old: Part | None, part: Part, path: str, names: list[str], values: list[ast.expr]) -> Part:
        if isinstance(part, Box):
            if part.name is not None:
                if not self.copies or (isinstance(old, Box) and old is part):
                    return part
                part.fixed = part.changes
                part = Box(part.of, dict(part.parts), fixed=part.changes, source=part)
            before = old.parts if isinstance(old, Box) and old.of is part.of and old.text is None else {}
            part.name = path
            for k, p in part.parts.items():
                part.parts[k] = self._named(before.get(k), p, f"{path}[{k!r}]", names, values)
            return part
        if isinstance(part, Function) or (
            isinstance(part, Known) and (part.value is None or isinstance(part.value, str))
        ):
            return part
        name = old.name if isinstance(old, Leaf) else self.roots.name(path)
        names.append(name)
        values.append(self.text(part))
        return Leaf(name)

    def changed(self, box: Box) -> None:
        if box.fixed or not box.changes:
            raise InWholes("what has a second name is changed")
        box.touched = True

    def rebinds(self, body: list[ast.stmt], name: str, part: Part) -> bool:
        """Whether statements bind a name again that stands for this part: adding to an array is no new binding."""
        if name not in naming.bound(body):
            return False
        given = [t for s in naming.statements(body) if not isinstance(s, ast.AugAssign) for t in naming.targets_of(s)]
        anew = any(isinstance(t, ast.Name) and t.id == name for t in given)
        return anew or not isinstance(part, Leaf) or not self._is_array(part)

    def _is_array(self, leaf: Leaf) -> bool:
        """Whether a name stands for an array, which is added to in place, whatever other names it has."""
        return isinstance(self.roots.values.get(leaf.name), np.ndarray)
