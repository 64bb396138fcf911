"""Scalar replacement of aggregates: statements with names in place of the parts of objects and containers, and with the statements of
methods and functions in place of their calls. Python's own work, done once in the text: loops over layers and keys are written out; what is left
are arrays and numbers."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterable

from . import naming
from .aggregate_calls import Calls
from .aggregate_state import NeedsCopies
from .parts import placed_at
from .structures import Box, Function, InWholes, Known, Leaf, Part, PickedByValue, Scope, may_store


class AggregateReplacement(Calls):
    """Writes statements; `copies` says whether parts are copied when they are given a second name."""

    # Binding ---------------------------------------------------------------------------------------------------

    def bind(self, target: ast.expr, part: Part, scope: Scope) -> None:
        """What an assignment to a target does."""
        match target:
            case ast.Name(id=name):
                self._bind_name(name, part, scope)
            case ast.Attribute(value=of, attr=attr):
                owner = self.ev(of, scope)
                if not isinstance(owner, Box) or not owner.is_object or not may_store(owner) or self.hides(owner, attr):
                    raise InWholes(f"`{ast.unparse(target)}` is stored")
                self.changed(owner)
                self.store(owner.parts, attr, part, f"{self.path(owner)}.{attr}")
            case ast.Subscript(value=of, slice=index):
                owner = self.ev(of, scope)
                if isinstance(owner, Box):
                    self.changed(owner)
                    key = self.key(owner, index, scope)
                    if owner.of is list and key not in owner.parts:
                        raise InWholes("a list is stored into beyond its end")
                    self.store(owner.parts, key, part, f"{self.path(owner)}[{key!r}]")
                    return
                where = self.ev(index, scope)
                to = ast.Subscript(self.text(owner), self.text(where), ast.Store())
                self.emit(ast.Assign([to], self.text(part)))
            case ast.Tuple(elts=targets) | ast.List(elts=targets):
                self._bind_each(targets, part, scope)
            case _:
                raise InWholes("a target is starred")

    def _bind_name(self, name: str, part: Part, scope: Scope) -> None:
        if isinstance(part, (Box, Function)) or (
            isinstance(part, Known) and not isinstance(part.value, (bool, int, float))
        ):
            self.store(scope.names, name, part, self.path_in(name, scope))  # type: ignore[arg-type]
            return
        if isinstance(part, Leaf) and name in scope.once and self.is_whole(part):
            scope.names[name] = part
            return
        value = self.text(part)
        self._is_plain_now(name, scope)
        self.assign([self.name_in(name, scope)], [value])

    def path_in(self, name: str, scope: Scope) -> str:
        """What the names of the parts of a name's object end with."""
        return f"{name}_now" if scope is self.top and self.roots.at(name) is not None else self.name_in(name, scope)

    def _is_plain_now(self, name: str, scope: Scope) -> None:
        scope.names.pop(name, None)
        if scope is self.top and self.roots.at(name) is not None:
            scope.names[name] = Leaf(name)

    def _bind_each(self, targets: list[ast.expr], part: Part, scope: Scope) -> None:
        if any(isinstance(t, ast.Starred) for t in targets):
            raise InWholes("a target is starred")
        if isinstance(part, Box):
            parts = [self.roots.reached(p) for p in part.parts.values()]
            if len(parts) != len(targets):
                raise InWholes("as many targets as parts")
            plain = [isinstance(t, ast.Name) and self.is_plain(p) for t, p in zip(targets, parts, strict=True)]
            if all(plain):
                values = [self.text(p) for p in parts]
                for t in targets:
                    self._is_plain_now(t.id, scope)  # type: ignore[attr-defined]
                self.assign([self.name_in(t.id, scope) for t in targets], values)  # type: ignore[attr-defined]
                return
            held = [self.held(p) for p in parts]
            for t, p in zip(targets, held, strict=True):
                self.bind(t, p, scope)
            return
        if all(isinstance(t, ast.Name) for t in targets):
            names = [self.name_in(t.id, scope) for t in targets]  # type: ignore[attr-defined]
            value = self.text(part)
            for t, n in zip(targets, names, strict=True):
                self._is_plain_now(t.id, scope)  # type: ignore[attr-defined]
                self._is_free(n)
            to = ast.Tuple([ast.Name(n, ast.Store()) for n in names], ast.Store())
            self.emit(ast.Assign([to], value))
            return
        fresh = [self.fresh("part") for _ in targets]
        self.emit(ast.Assign([ast.Tuple([ast.Name(n, ast.Store()) for n in fresh], ast.Store())], self.text(part)))
        for t, n in zip(targets, fresh, strict=True):
            self.bind(t, Leaf(n), scope)

    # Statements --------------------------------------------------------------------------------------------------

    def block(self, body: Iterable[ast.stmt], scope: Scope) -> bool:
        """Writes statements; whether the last one leaves what is around them."""
        for s in body:
            if self.statement(s, scope):
                return True
        return False

    def statement(self, s: ast.stmt, scope: Scope) -> bool:
        self.at = s if not self.calls else self.at
        match s:
            case ast.Assign(targets=targets, value=value):
                part = self.ev(value, scope)
                if len(targets) > 1:
                    part = self.held(part)
                for t in targets:
                    self.bind(t, part, scope)
            case ast.AnnAssign(target=target, value=value):
                if value is not None:
                    self.bind(target, self.ev(value, scope), scope)
            case ast.AugAssign():
                self._augmented(s, scope)
            case ast.Expr(value=value):
                if isinstance(value, ast.Constant):
                    return False
                part = self.ev(value, scope)
                if isinstance(part, ast.expr) and not isinstance(part, ast.Name):
                    self.emit(ast.Expr(part))
            case ast.If():
                return self._if(s, scope)
            case ast.For(orelse=[]):
                return self._for(s, scope)
            case ast.While(orelse=[]):
                self._while(s, scope)
            case ast.Break() | ast.Continue():
                if not self.dynamic:
                    raise InWholes("a loop over parts is left")
                self.leaving.append(self.described())
                self.emit(copy.copy(s))
                return True
            case ast.Pass():
                pass
            case ast.FunctionDef(decorator_list=[]):
                scope.names[s.name] = Function(s, around=scope)
            case ast.Assert():
                self.emit(ast.Assert(self.text(self.ev(s.test, scope))))
            case _:
                raise InWholes(f"`{ast.unparse(s)[:40]}`")
        return False

    def _augmented(self, s: ast.AugAssign, scope: Scope) -> None:
        match s.target:
            case ast.Name(id=name):
                old = self.ev(ast.Name(name, ast.Load()), scope)
                if isinstance(old, Leaf) and old.name != self.name_in(name, scope) and not self._is_array(old):
                    raise InWholes("a parameter is added to")
                target = ast.Name(self.name_in(name, scope), ast.Store())
            case ast.Attribute(value=of, attr=attr):
                owner = self.ev(of, scope)
                old = self.attribute(owner, attr)
                if isinstance(owner, Box):
                    self.changed(owner)
                target = None
            case ast.Subscript(value=of, slice=index):
                owner = self.ev(of, scope)
                if isinstance(owner, Box):
                    self.changed(owner)
                    old, target = owner.parts.get(self.key(owner, index, scope)), None
                else:
                    where = self.text(self.ev(index, scope))
                    old, target = None, ast.Subscript(self.text(owner), where, ast.Store())
        if target is None and isinstance(old, Known):
            raise InWholes("a known part is added to")
        if target is None and not isinstance(old, Leaf):
            raise InWholes("what is added to is no array")
        if isinstance(old, Box):
            raise InWholes("a container is added to")
        value = self.text(self.ev(s.value, scope))
        if isinstance(old, Leaf):
            if not self._is_array(old):
                self._is_free(old.name)
            target = ast.Name(old.name, ast.Store())
        assert target is not None
        self.emit(ast.AugAssign(target, s.op, value))

    def _if(self, s: ast.If, scope: Scope) -> bool:
        test = self.ev(s.test, scope)
        if isinstance(test, Known):
            return self.block(s.body if test.value else s.orelse, scope)
        if isinstance(test, (Box, Function)):
            raise InWholes("an object is a test")
        start, out = self.state(), self.out
        self.unsure += 1
        sides: list[list[ast.stmt]] = []
        ends: list[tuple[bool, object, Callable[[], None]]] = []
        for side in (s.body, s.orelse):
            start()
            self.out = []
            leaves = self.block(side, scope)
            sides.append(self.out)
            ends.append((leaves, self.described(), self.state()))
        self.unsure -= 1
        self.out = out
        at = self.at
        assert at is not None
        new = ast.If(self.text(test), sides[0] or [placed_at(ast.Pass(), at)], sides[1])
        if sides[0] or sides[1]:
            self.emit_whole(new)
        if ends[0][0] and ends[1][0]:
            return True
        if ends[0][0] or ends[1][0]:
            ends[ends[0][0]][2]()
        elif ends[0][1] != ends[1][1]:
            self._joined(ends[0], ends[1])
        return False

    def _joined(
        self, one: tuple[bool, object, Callable[[], None]], other: tuple[bool, object, Callable[[], None]]
    ) -> None:
        """Forgets the names that two ways leave with other parts; refuses other differences."""
        one[2]()
        first = self.described_by_names()
        other[2]()
        second = self.described_by_names()
        for scope_at, scope in enumerate(self.scopes):
            for n in {*first[scope_at], *second[scope_at]}:
                if first[scope_at].get(n) != second[scope_at].get(n):
                    if not self.copies and n in first[scope_at] and n in second[scope_at]:
                        raise NeedsCopies
                    scope.names[n] = ast.Constant(...)  # never read
        before = self.described()
        one[2]()
        for scope_at, scope in enumerate(self.scopes):
            for n in {*first[scope_at], *second[scope_at]}:
                if first[scope_at].get(n) != second[scope_at].get(n):
                    scope.names[n] = ast.Constant(...)
        if self.described() != before:
            raise NeedsCopies if not self.copies else InWholes("two ways leave other parts")

    def emit_whole(self, s: ast.stmt) -> None:
        """Emits a statement whose inner ones have their places."""
        if self.quiet:
            raise InWholes("an expression acts on an object")
        assert self.at is not None
        ast.copy_location(s, self.at)
        for n in ast.walk(s):
            if not hasattr(n, "lineno") and isinstance(n, (ast.expr, ast.stmt)):
                ast.copy_location(n, self.at)
        self.out.append(s)

    def _for(self, s: ast.For, scope: Scope) -> bool:
        things = self.things(s.iter, s, scope)
        if things is not None:
            return self._written_out(s, things, scope)
        part = self.ev(s.iter, scope)
        source = self.text(part)
        start, count, out, dynamic = self.state(), self.count, self.out, self.dynamic
        scopes, calls, leaving, unsure = [*self.scopes], self.calls, self.leaving, self.unsure
        try:
            turns = self._turns(s.target, s.body, scope, begins=self.begins(s.iter, scope))
        except PickedByValue:
            start()
            self.out = out
            self.count, self.dynamic, self.scopes, self.calls, self.leaving = count, dynamic, scopes, calls, leaving
            self.unsure = unsure
            numbers = [*part.parts.values()] if isinstance(part, Box) else self.numbers(source)
            if numbers is None:
                raise
            return self._written_out(s, numbers, scope)
        at = self.at
        assert at is not None
        target = self._target(s.target, scope)
        self.emit_whole(ast.For(target, source, turns, []))
        return False

    def _target(self, target: ast.expr, scope: Scope) -> ast.expr:
        new = copy.deepcopy(target)
        for n in ast.walk(new):
            if isinstance(n, (ast.Attribute, ast.Subscript)):
                raise InWholes("a loop binds a part")
            if isinstance(n, ast.Name):
                n.id = self.name_in(n.id, scope)
        return new

    def _turns(
        self,
        target: ast.expr | None,
        body: list[ast.stmt],
        scope: Scope,
        test: ast.expr | None = None,
        begins: str | None = None,
    ) -> list[ast.stmt]:
        """The statements of a loop's turn, whichever it is. `begins` is what is true if it has one, in a loop inside of another."""
        bound = naming.bound([target]) if target is not None else set()
        if self.copies:
            self._own_parts(body, scope)
        before, out, at = self.described_by_names(), self.out, self.at
        parts_before = self._described_boxes()
        outer = self.top is scope and not (self.dynamic or self.unsure)
        certain = outer or (begins is not None and not self.unsure)
        count, leaving = self.count, self.leaving
        self.dynamic += 1
        texts, ends = list[list[ast.stmt]](), []
        while len(texts) < 2 or (len(texts) < 3 and certain and not _same(texts, ends)):
            self.out, self.count, self.at, self.leaving = [], count, at, []
            for n in bound:
                scope.names.pop(n, None)
                self._is_free(self.name_in(n, scope))
            if test is not None:
                part = self.ev(test, scope)
                stop = ast.If(ast.UnaryOp(ast.Not(), self.text(part)), [placed_at(ast.Break(), at)], [])  # type: ignore[type-var]
                self.emit_whole(stop)
            self.block(body, scope)
            texts.append(self.out)
            ends.append((self.described_by_names(), self._described_boxes()))
            for left in self.leaving:
                if left != self.described():
                    raise NeedsCopies if not self.copies else InWholes("a loop is left with other parts")
        self.dynamic -= 1
        self.out, self.leaving = out, leaving
        if not _same(texts, ends):
            raise NeedsCopies if not self.copies else InWholes("a turn leaves other parts than it began with")
        if len(texts) == 3 and not self._first_turn(texts[0], texts[2], {self.name_in(n, scope) for n in bound}):
            raise NeedsCopies if not self.copies else InWholes("a first turn is another one")
        if certain and begins is not None and not outer and ends[-1][1] != parts_before:
            self.roots.tests[begins] = begins
            outer = True
        if not outer:  # there may be no turn
            for k, names in enumerate(before):
                for n, p in names.items():
                    if ends[-1][0][k].get(n) != p:
                        self.scopes[k].names[n] = ast.Constant(...)
            if ends[-1][1] != parts_before:
                raise InWholes("a loop that may have no turn gives an object other parts")
        return texts[-1] or [placed_at(ast.Pass(), at)]  # type: ignore[type-var]

    def _first_turn(self, first: list[ast.stmt], others: list[ast.stmt], done: set[str]) -> bool:
        """What a loop's first turn alone does, before the loop: it makes parts that the other turns find. Whether it can stand there."""
        rest, more = [ast.dump(s) for s in others], list[ast.stmt]()
        for s in first:
            if rest and ast.dump(s) == rest[0]:
                rest.pop(0)
                done |= naming.bound([s]) | naming.changed([s])
                continue
            if not isinstance(s, ast.Assign) or naming.loaded([s]) & done or naming.bound([s]) & done:
                return False
            more.append(s)
        if rest:
            return False
        self.out += more
        return True

    def _own_parts(self, body: list[ast.stmt], scope: Scope) -> None:
        """Names that a loop binds again, each with parts of its own from the start."""
        for n in sorted(naming.bound(body) & naming.read_first(body)):
            part = scope.names.get(n) or (self.roots.at(n) if scope is self.top else None)
            if isinstance(part, Box):
                self.store(scope.names, n, part, self.path_in(n, scope))  # type: ignore[arg-type]

    def _while(self, s: ast.While, scope: Scope) -> None:
        state, out = self.state(), self.out
        self.out = []
        test = self.ev(s.test, scope)
        writes, self.out = self.out, out
        state()
        if isinstance(test, Known) and not test.value:
            return
        if not writes:
            turns = self._turns(None, s.body, scope)
            test = self.ev(s.test, scope)
            self.emit_whole(ast.While(self.text(test), turns, []))
            return
        turns = self._turns(None, s.body, scope, s.test)
        self.emit_whole(ast.While(ast.Constant(True), turns, []))

    def _written_out(self, s: ast.For, things: list[Part], scope: Scope) -> bool:
        if naming.leaves(s.body):
            raise InWholes("a loop over parts is left")
        dynamic, self.dynamic = self.dynamic, 0
        for thing in things:
            self._bind_thing(s.target, thing, scope, s.body)
            if self.block(s.body, scope):
                raise InWholes("a loop over parts is left")
        self.dynamic = dynamic
        if scope is self.top and things:
            self._note_last(s.target, things[-1])
        return False

    def _bind_thing(self, target: ast.expr, thing: Part, scope: Scope, body: list[ast.stmt]) -> None:
        if (
            isinstance(target, ast.Name)
            and not isinstance(thing, ast.expr)
            and not self.rebinds(body, target.id, thing)
        ):
            if isinstance(thing, Leaf) and self.copies:
                self._is_plain_now(target.id, scope)
                self.assign([self.name_in(target.id, scope)], [self.text(thing)])
            else:
                scope.names[target.id] = thing
            return
        if (
            isinstance(target, (ast.Tuple, ast.List))
            and isinstance(thing, Box)
            and len(target.elts) == len(thing.parts)
        ):
            for t, p in zip(target.elts, thing.parts.values(), strict=True):
                self._bind_thing(t, p, scope, body)
            return
        self.bind(target, thing, scope)

    def _note_last(self, target: ast.expr, thing: Part) -> None:
        if isinstance(target, ast.Name) and isinstance(thing, Known):
            if self.unsure:
                raise InWholes("a loop over parts may not be reached")
            self.last[target.id] = repr(thing.value)
        elif isinstance(target, (ast.Tuple, ast.List)) and isinstance(thing, Box):
            for t, p in zip(target.elts, thing.parts.values(), strict=False):
                self._note_last(t, p)

    # States ------------------------------------------------------------------------------------------------------

    def state(self) -> Callable[[], None]:
        """What brings the parts of all that can be reached back to what they are now."""
        kept = [(h, dict(h)) for h in self._holders()]
        marks = [(b, b.name, b.fixed) for b in self._boxes()]

        def back() -> None:
            for h, was in kept:
                h.clear()
                h.update(was)
            for b, name, fixed in marks:
                b.name, b.fixed = name, fixed

        return back

    def _boxes(self) -> list[Box]:
        found: dict[int, Box] = {id(b): b for b in self.roots.boxes.values()}
        for h in self._holders():
            found |= {id(p): p for p in h.values() if isinstance(p, Box)}
        return list(found.values())

    def described(self) -> object:
        """All that names and parts stand for, equal where they stand for the same."""
        return [sorted(d.items()) for d in self.described_by_names()], self._described_boxes()

    def _described_boxes(self) -> list[object]:
        """What the region's first objects hold that they did not hold when it began."""
        changed = [b for b in self.roots.boxes.values() if b.parts != self.roots.first[id(b)]]
        return [[b.text, *((repr(k), self._description(p, {})) for k, p in b.parts.items())] for b in changed]

    def described_by_names(self) -> list[dict[str, object]]:
        return [{n: self._description(p, {}) for n, p in s.names.items()} for s in self.scopes]

    def _description(self, part: Part, known: dict[int, int]) -> object:
        if isinstance(part, Box):
            if part.text is not None:
                return "root", part.text
            if id(part) in known:
                return "again", known[id(part)]
            known[id(part)] = len(known) + 1
            inside = tuple((repr(k), self._description(p, known)) for k, p in part.parts.items())
            return part.of.__name__, part.name or "", inside
        if isinstance(part, Leaf):
            return "leaf", part.name
        if isinstance(part, Known):
            return "known", repr(part.value)
        if isinstance(part, Function):
            return (
                "function",
                id(part.node) if part.value is None else id(part.value),
                part.owner.text or part.owner.name if part.owner else None,
            )
        return "text", ast.dump(part)


def _same(texts: list[list[ast.stmt]], ends: list[tuple[list[dict[str, object]], list[object]]]) -> bool:
    """Whether the last two turns are the same, and leave the same."""
    if [ast.dump(t) for t in texts[-2]] != [ast.dump(t) for t in texts[-1]]:
        return False
    return ends[-2] == ends[-1]
