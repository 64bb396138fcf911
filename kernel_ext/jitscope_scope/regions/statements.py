"""Statements of a cell, written for the compiler: loops become `fori_loop`, `scan` and `while_loop`, branches selections, stores `.at[…].set`."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Collection, Mapping
from types import ModuleType

import numpy as np

from jitscope.core.words import cut

from ..source_code.tree import parts_of
from . import named_turns, naming
from .answers import CannotCompile
from .asked_arrays import whole
from .expressions import MISSING, Expressions, difference
from .functions import Functions
from .homes import Home
from .in_place import GatheredStore
from .loops import Loop, indent, with_own_targets
from .merging import merged
from .returns import RETURNED


_VIEWING = frozenset("reshape ravel transpose squeeze swapaxes diagonal asarray atleast_1d atleast_2d".split())
"""What may give a view."""


class Statements:
    """Writes the body of a compiled function, line by line. `values` are the values seen before the region, `moving` the names that
    are not known while tracing."""

    def __init__(
        self,
        values: Mapping[str, object],
        moving: set[str],
        stored: Collection[str],
        jnp: str,
        lax: str,
        home: Home,
        functions: Functions,
    ) -> None:
        self.values, self.moving, self.stored, self.jnp, self.lax = values, moving, set(stored), jnp, lax
        self.functions, self.count, self.home, self.ours = functions, 0, home, functions.ours
        self.items: list[str] | None = None
        self.columns: frozenset[str] = frozenset()
        self.defined = set(moving)
        """Names that have a value where the writing is."""
        self.counts: set[str] = set()
        """What loops over ranges count with."""
        self.turn: list[ast.stmt] = []
        """The statements of the loop that is being written."""
        self.local = False
        """Whether these are the statements of a function, whose names nobody else reads."""
        self.made_of: dict[str, set[str]] = {}
        """The names that this turn has bound so far, and of which others they are made."""
        self._flat = ""
        """A name of a row of numbers, whose parts are copies."""
        self.after: Mapping[str, object] = {}
        """The values seen after the region."""
        self.traced_turns = 0
        """The line of a loop whose turns are traced one by one; 0 for none."""
        self.region: naming.Statements = ()
        """The statements of the whole region, or of the function that is written inside of it."""
        self.expressions = Expressions(values, moving, jnp, self._inlined, home, functions.tests, functions.windows)

    def _inlined(self, name: str, node: ast.expr) -> None:
        self.functions.need(name, node.lineno)

    def text(self, node: ast.expr) -> str:
        """The expression as it is written for the compiler."""
        return ast.unparse(ast.fix_missing_locations(self.expressions.visit(copy.deepcopy(node))))

    def fresh(self, word: str) -> str:
        """A name of the writer's own."""
        self.count += 1
        return f"{word}_{self.count}"

    def block(self, body: naming.Statements, live: set[str], guard: str | None = None) -> list[str]:
        """The lines of statements; `live` are the names that somebody reads after them."""
        lines: list[str] = []
        for k, s in enumerate(body):
            after = live | naming.loaded(body[k + 1 :])
            lines += self.statement(s, after, guard)
            self.defined |= naming.bound_for_certain([s])
            self._made((naming.bound_for_certain([s]) & after) | naming.stored_into([s]), s)
        return lines or ["pass"]

    def statement(self, s: ast.stmt, live: set[str], guard: str | None) -> list[str]:
        match s:
            case ast.Assign():
                return self._assign(s, guard)
            case ast.AugAssign():
                return self._augmented(s, guard)
            case ast.AnnAssign(value=ast.expr(), target=ast.Name()):
                return [f"{s.target.id} = {self.text(s.value)}"]  # type: ignore[union-attr, arg-type]
            case ast.For():
                return self._for(s, live, guard)
            case ast.While():
                return self._while(s, live, guard)
            case ast.If():
                return self._if(s, live, guard)
            case ast.Pass() | ast.Expr(value=ast.Constant()):
                return []
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append"), args=[item])) if (
                not isinstance(self.values.get(name), ModuleType)
            ):
                return self._append(s, item, guard)
            case ast.Expr():
                self.text(s.value)
                raise CannotCompile(s.lineno, "effect", f"`{ast.unparse(s)[:60]}` is called for what it does")
            case ast.Raise() | ast.Assert() | ast.Try():
                raise CannotCompile(
                    s.lineno, "exception", f"`{ast.unparse(s).splitlines()[0][:60]}` may raise or catch an exception"
                )
            case ast.With():
                for item in s.items:
                    self.text(item.context_expr)
                raise CannotCompile(s.lineno, "effect", f"`{ast.unparse(s).splitlines()[0][:60]}` enters a context")
            case ast.Import() | ast.ImportFrom():
                raise CannotCompile(s.lineno, "object", "a module is imported")
            case ast.FunctionDef() | ast.ClassDef() | ast.AsyncFunctionDef():
                raise CannotCompile(s.lineno, "object", f"`{s.name}` is defined")
            case ast.Return():
                raise CannotCompile(s.lineno, "object", "a value is returned here")
        raise CannotCompile(s.lineno, "object", f"`{ast.unparse(s).splitlines()[0][:60]}` has no compiled form")

    def _assign(self, s: ast.Assign, guard: str | None) -> list[str]:
        match s.targets:
            case [ast.Subscript(value=ast.Name(id=name))] if name in self.columns and self.items is not None:
                return [self._item(name, s.value)]
        match s:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Lambda() as made):
                return [f"{name} = {ast.unparse(self.expressions.named(name, copy.deepcopy(made)))}"]
        moves = self.expressions.moves(s.value)
        value = self.text(s.value)
        flat = [t for of in s.targets for t in (of.elts if isinstance(of, (ast.Tuple, ast.List)) else [of])]
        if moves:
            self.moving |= {t.id for t in flat if isinstance(t, ast.Name)}
        if all(isinstance(t, ast.Name) for t in flat):
            self._aliases(s)
            return [f"{' = '.join(ast.unparse(t) for t in s.targets)} = {value}"]
        if len(s.targets) > 1:
            return self._stored_at_once(s, value, guard)
        if isinstance(s.targets[0], ast.Subscript):
            value = f"{self.jnp}.asarray({value})" if isinstance(s.value, (ast.List, ast.Tuple)) else value
            return self._store(s.targets[0], value, guard)
        if isinstance(s.targets[0], ast.Attribute):
            raise CannotCompile(s.lineno, "object", f"`{ast.unparse(s.targets[0])}` is an attribute of an object")
        if any(not isinstance(t, (ast.Name, ast.Subscript)) for t in flat):
            raise CannotCompile(s.lineno, "object", f"`{ast.unparse(s.targets[0])}` is stored to")
        names = [t.id if isinstance(t, ast.Name) else self.fresh("part") for t in flat]
        one = "," if len(names) == 1 and isinstance(s.targets[0], (ast.Tuple, ast.List)) else ""
        lines = [f"{', '.join(names)}{one} = {value}"]
        for t, n in zip(flat, names, strict=True):
            lines += self._store(t, n, guard) if isinstance(t, ast.Subscript) else []
        return lines

    def _stored_at_once(self, s: ast.Assign, value: str, guard: str | None) -> list[str]:
        """`x[0] = x[-1] = v`: one value, stored from left to right."""
        places = [t for t in s.targets if isinstance(t, ast.Subscript)]
        if len(places) < len(s.targets) or self._view_of(s.value) in naming.stored_into([s]):
            raise CannotCompile(s.lineno, "effect", "one value is stored in several places")
        name = self.fresh("part")
        return [f"{name} = {value}", *(line for t in places for line in self._store(t, name, guard))]

    def _aliases(self, s: ast.Assign) -> None:
        """Refuses a second name for an array that is stored into in place, but for an exchange of names."""
        targets = [t.id for target in s.targets for t in ast.walk(target) if isinstance(t, ast.Name)]
        parts = parts_of(s.value)
        roots = [r for p in parts if (r := self._view_of(p))]
        if all(isinstance(t, ast.Tuple) for t in s.targets) and isinstance(s.value, ast.Subscript):
            roots = [] if self._is_element(s.value, less=1) else roots  # a row of numbers that is taken apart
        touched = [r for r in roots if r in self.stored] + [t for t in targets if t in self.stored and roots]
        if touched and (
            s.type_comment == RETURNED
            or self._settled(s, targets, roots)
            or self._handed_over(s, targets, roots)
            or self._spent(s, targets, roots)
        ):
            return
        if touched and not (
            len(parts) > 1 and sorted(targets) == sorted(roots) and all(isinstance(p, ast.Name) for p in parts)
        ):
            raise CannotCompile(
                s.lineno, "effect", f"`{touched[0]}` is stored into in place and has two names here (aliasing)"
            )

    def _settled(self, s: ast.Assign, targets: list[str], roots: list[str]) -> bool:
        """Whether no statement after this one, which no loop repeats, stores into what has two names from here on."""
        if self.turn or self.local or s not in self.region:
            return False
        later = self.region[self.region.index(s) + 1 :]
        return not {*targets, *roots} & naming.changed(later)

    def _handed_over(self, s: ast.Assign, targets: list[str], roots: list[str]) -> bool:
        """Whether `old = new`, or `old, now = now, new`, hands arrays over that each turn makes anew before it stores into them, and
        does not touch afterwards."""
        parts = parts_of(s.value)
        turn = naming.in_a_row(self.turn)
        if s not in turn:  # under a branch of the turn
            turn = [s if isinstance(t, ast.If) and s in naming.statements([t]) else t for t in turn]
        if s not in turn or not all(isinstance(p, ast.Name) for p in parts) or len(roots) != len(targets):
            return False
        k, stored = turn.index(s), naming.stored_into(self.turn)
        added = {ast.unparse(t.target) for t in self.turn if isinstance(t, ast.AugAssign)}
        if set(targets) & (stored | added):
            return False
        return all(self._made_anew(new, turn, k) for new in set(roots) & (stored | self.stored))

    def _made_anew(self, name: str, turn: list[ast.stmt], k: int) -> bool:
        """Whether each turn makes this array before its statement `k`, without reading its earlier one, and leaves it alone from there on."""
        made = [
            j
            for j, t in enumerate(turn[:k])
            if isinstance(t, ast.Assign) and ast.unparse(t.targets[0]) == name and self._view_of(t.value) is None
        ]
        if len(made) != 1 or name in naming.stored_into(turn[k:]):
            return False
        return name not in naming.loaded(turn[: made[0]]) | naming.stored_into(turn[: made[0]])

    def _spent(self, s: ast.Assign, targets: list[str], roots: list[str]) -> bool:
        """Whether `row = a[i]` is read only before the turn stores into `a`, or only where `a` is not stored into (`a[i + 1] = …`)."""
        view = s.value
        if (
            len(targets) != 1
            or not isinstance(view, ast.Subscript)
            or not isinstance(view.value, ast.Name)
            or s not in self.turn
        ):
            return False
        k, (row,), root = self.turn.index(s), targets, view.value.id
        later, others = self.turn[k + 1 :], [n for t in self.turn for n in ast.walk(t) if t is not s]
        if root in naming.bound(self.turn) or row in naming.loaded(self.turn[: k + 1]):
            return False
        again = {id(n) for t in self.turn for n in ast.walk(t)}
        outside = [n for b in self.region for n in ast.walk(b) if id(n) not in again]
        if any(isinstance(n, ast.Name) and n.id == row for n in outside):
            return False
        self._flat = row if self._is_element(view, less=1) else ""
        if any(row in {ast.unparse(t) for t in naming.targets_of(n)} or self._looks_into(n, row) for n in others):
            return False
        stores = [j for j, t in enumerate(later) if root in naming.changed([t])]
        if not stores:
            return True
        if row not in naming.loaded(later[stores[0] + 1 :]) and isinstance(later[stores[0]], ast.Assign):
            return True
        return all(self._elsewhere(t, view) for j in stores for t in naming.subscripts_into(later[j], root))

    def _looks_into(self, node: ast.AST, row: str) -> bool:
        """Whether a statement names a view of the row, or stores into it."""
        if isinstance(node, (ast.Assign, ast.AugAssign)) and row in naming.stored_into([node]):
            return True
        if not isinstance(node, ast.Assign) or self._view_of(node.value) != row:
            return False
        return not (isinstance(node.targets[0], ast.Tuple) and isinstance(node.value, ast.Name) and self._flat == row)

    def _elsewhere(self, target: ast.Subscript, view: ast.Subscript) -> bool:
        """Whether a store is never into the row that was looked at: their first indices differ by a constant."""
        first = lambda i: i.elts[0] if isinstance(i, ast.Tuple) else i
        a, b = first(target.slice), first(view.slice)
        array = self.values.get(ast.unparse(view.value))
        if isinstance(a, ast.Slice) or isinstance(b, ast.Slice) or not isinstance(array, np.ndarray):
            return False
        apart = difference(a, b, self.expressions.moves)
        if apart is None or naming.has(ast.Name, [apart]):
            return False
        try:
            gap = eval(compile(ast.fix_missing_locations(ast.Expression(apart)), "<gap>", "eval"), {"__builtins__": {}})
        except Exception:
            return False
        return isinstance(gap, int) and gap % len(array) != 0

    def _view_of(self, node: ast.expr) -> str | None:
        """The array that the value may be, or be a view of."""
        while True:
            if isinstance(node, ast.Name):
                return node.id if not callable(self.values.get(node.id)) else None
            if isinstance(node, ast.Subscript) and (self._is_element(node) or self._picks(node)):
                return None
            if isinstance(node, (ast.Subscript, ast.Attribute)):
                node = node.value
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _VIEWING:
                inner = node.func.value
                node = (
                    node.args[0]
                    if isinstance(self.values.get(getattr(inner, "id", "")), type(ast)) and node.args
                    else inner
                )
            else:
                return None

    def _is_element(self, node: ast.Subscript, less: int = 0) -> bool:
        """Whether this is one number of an array, which is a copy; or a part of it of so many axes."""
        array = self._whole(ast.unparse(node.value))
        parts = parts_of(node.slice)
        if type(array) is list and array and all(isinstance(v, (int, float, complex)) for v in array):
            array = np.empty(len(array))
        return isinstance(array, np.ndarray) and array.ndim == len(parts) + less and all(map(self._is_count, parts))

    def _picks(self, node: ast.Subscript) -> bool:
        """Whether an index has an array or a list in it: what it picks is a copy."""
        parts = parts_of(node.slice)
        names = [self._whole(p.id) for p in parts if isinstance(p, ast.Name)]
        return any(isinstance(p, ast.List) for p in parts) or any(isinstance(v, np.ndarray) and v.ndim for v in names)

    def _whole(self, name: str) -> object:
        """What a name stands for before the region, or, where the region makes it, after."""
        found = self.values.get(name, MISSING)
        return found if found is not MISSING or name in self.expressions.local else self.after.get(name)

    def _is_count(self, node: ast.expr) -> bool:
        """Whether an index is one whole number: made of constants, of the counts of loops and of whole numbers and their arrays' elements."""
        match node:
            case ast.Constant(value=value):
                return type(value) is int
            case ast.Name(id=name):
                found = self.values.get(name)
                if name in self.counts or (isinstance(found, (int, np.integer)) and name not in self.moving):
                    return True
                last = self.after.get(name) if name not in self.expressions.local else None
                return type(last) is int or isinstance(last, np.integer)
            case ast.BinOp(left=a, right=b):
                return self._is_count(a) and self._is_count(b)
            case ast.UnaryOp(operand=a):
                return self._is_count(a)
            case ast.Subscript():
                return self._is_element(node)
        return False

    def _store(self, target: ast.Subscript, value: str, guard: str | None) -> list[str]:
        if not isinstance(target.value, ast.Name):
            raise CannotCompile(target.lineno, "object", f"`{ast.unparse(target)}` is stored to")
        name = target.value.id
        seen = self.values.get(name, MISSING)
        if seen is not MISSING and name not in self.expressions.local and not hasattr(seen, "dtype"):
            raise CannotCompile(
                target.lineno, "object", f"`{name}` is a Python {type(seen).__name__} that is stored into"
            )
        index = self.expressions.index(copy.deepcopy(target.slice))
        place = ast.unparse(ast.fix_missing_locations(ast.Subscript(ast.Name("x"), index)))[2:-1]
        if guard:
            value = f"{self.jnp}.where({guard}, {value}, {name}[{place}])"
        self.moving.add(name)
        if isinstance(seen, np.ndarray) and seen.dtype not in (np.float64, np.complex128, bool) and not guard:
            value = self._converted(name, value)
        read = self._read_before(name, target)
        if read is None:
            return [f"{name} = {name}.at[{place}].set({value})"]
        new = self.fresh("new")
        first = ", ".join([new, *read, name])
        barrier = f"{first} = {self.lax}.optimization_barrier(({', '.join([value, *read, name])}))"
        return [barrier, f"{name} = {name}.at[{place}].set({new})"]

    def _read_before(self, name: str, target: ast.Subscript) -> list[str] | None:
        """The names that this turn has made of an array that it stores into here: XLA stores in place if they are there before, and else
        copies the array in each turn. None where it does so anyway: the turn reads no other place of the array, or the store is as large."""
        if not self.turn or not self.moves(target.slice):
            return None
        place, nodes = ast.unparse(target), [n for s in self.turn for n in ast.walk(s)]
        same = [n.value for n in nodes if isinstance(n, ast.Subscript) and ast.unparse(n) == place]
        if all(any(n is m for m in same) for n in nodes if isinstance(n, ast.Name) and n.id == name):
            return None
        return sorted(n for n, of in self.made_of.items() if name in of and n != name)

    def _made(self, names: Collection[str], s: ast.stmt) -> None:
        """Notes of which names a statement makes others."""
        of = self._source_of([s])
        self.made_of |= {n: of | self.made_of.get(n, set()) for n in names if n in self.moving}

    def _source_of(self, nodes: Collection[ast.AST]) -> set[str]:
        """The names that these read, and those that the turn made them of."""
        of = naming.loaded(nodes)
        return of.union(*(self.made_of[n] for n in of if n in self.made_of))

    def _converted(self, name: str, value: str) -> str:
        """A value in the dtype of the array that it is stored into, as NumPy stores it; whole numbers that are written there fit."""
        if value.lstrip("-").isdigit():
            return value
        return f"{self.jnp}.asarray({value}).astype({name}.dtype)"

    def _augmented(self, s: ast.AugAssign, guard: str | None) -> list[str]:
        load = copy.deepcopy(s.target)
        for node in ast.walk(load):
            if hasattr(node, "ctx"):
                node.ctx = ast.Load()  # type: ignore[attr-defined]
        if isinstance(s, GatheredStore):
            return [self._gathered(s, guard)]
        whole = ast.copy_location(ast.BinOp(load, s.op, s.value), s)
        if isinstance(s.target, ast.Subscript):
            return self._store(s.target, self.text(whole), guard)
        if not isinstance(s.target, ast.Name):
            raise CannotCompile(s.lineno, "object", f"`{ast.unparse(s.target)}` is an attribute of an object")
        return [f"{s.target.id} = {self.text(whole)}"]

    def _gathered(self, s: GatheredStore, guard: str | None) -> str:
        assert isinstance(s.target, ast.Subscript) and isinstance(s.target.value, ast.Name)
        name, value = s.target.value.id, self.text(s.value)
        index = self.expressions.index(copy.deepcopy(s.target.slice))
        place = ast.unparse(ast.fix_missing_locations(ast.Subscript(ast.Name("x"), index)))[2:-1]
        if guard and s.word != "add":
            raise CannotCompile(s.lineno, "value read by Python", f"`{name}` is stored into under a branch on a value")
        value = f"{self.jnp}.where({guard}, {value}, 0)" if guard else value
        seen = self.values.get(name)
        if isinstance(seen, np.ndarray) and seen.dtype not in (np.float64, np.complex128):
            value = self._converted(name, value)
        self.moving.add(name)
        return f"{name} = {name}.at[{place}].{s.word}({value})"

    def _append(self, s: ast.Expr, item: ast.expr, guard: str | None) -> list[str]:
        assert isinstance(s.value, ast.Call) and isinstance(s.value.func, ast.Attribute)
        name = ast.unparse(s.value.func.value)
        if (root := self._view_of(item)) in self.stored and root and not self._given_away(s, item, root):
            raise CannotCompile(s.lineno, "object", f"`{name}` gets `{root}`, or a view of it, and that is stored into")
        if self.items is None or guard:
            raise CannotCompile(s.lineno, "object", f"`{name}` is a Python list that grows")
        if isinstance(item, (ast.Tuple, ast.List)):
            raise CannotCompile(s.lineno, "object", f"`{name}` is a Python list of tuples that grows")
        return [self._item(name, item)]

    def _given_away(self, s: ast.stmt, item: ast.expr, root: str) -> bool:
        """Whether each turn makes the array that a list gets anew, and nothing stores into it from there on."""
        turn, stored = self.turn, lambda among: [t for t in naming.statements(among) if root in naming.changed([t])]
        if not isinstance(item, ast.Name) or s not in turn or not self._made_anew(root, turn, turn.index(s)):
            return False
        return all(t in stored(turn) or s in naming.statements([t]) for t in stored(self.region))

    def _item(self, name: str, item: ast.expr) -> str:
        """Keeps what one turn puts into a list or an array that is filled turn by turn. Python's number of it is made afterwards."""
        assert self.items is not None
        self.items.append(name)
        match item:
            case _ if self.home.arrays == "numpy":
                pass
            case ast.Call(func=ast.Name(id="float"), args=[inner]):
                item = inner
            case ast.Call(func=ast.Attribute(value=inner, attr="item"), args=[]):
                item = inner
            case ast.Call(func=ast.Name(id="int"), args=[inner]):
                item = whole(inner)
        return f"item_{len(self.items)}_of_{name} = {self.text(item)}"

    def _if(self, s: ast.If, live: set[str], guard: str | None) -> list[str]:
        if not self.expressions.moves(s.test):
            parts = [f"if {self.text(s.test)}:", *indent(self.block(s.body, live, guard))]
            return parts + (["else:", *indent(self.block(s.orelse, live, guard))] if s.orelse else [])
        if guard is None and (one := merged(s)) is not None:
            return self._assign(one, None)
        test, both = self.fresh("test"), [*s.body, *s.orelse]
        if not self._branches_over_loops() and naming.has((ast.For, ast.While), both):
            raise CannotCompile(s.lineno, "value read by Python", f"a loop stands under `if {ast.unparse(s.test)}`")
        lines = [f"{test} = {self.text(s.test)}"]
        self.made_of[test] = self._source_of([s.test])
        names = [*sorted((naming.bound(both)) & (live | naming.loaded(both))), *self.places_bound(both)]
        inner = f"({guard}) & {test}" if guard else test
        other = f"{self.jnp}.logical_not({test})"  # Python's own truth value in a turn that is looked at for its types
        other = f"({guard}) & {other}" if guard else other
        if not names:
            return lines + self.block(s.body, live, inner) + (self.block(s.orelse, live, other) if s.orelse else [])
        self.moving |= set(names)
        anew = naming.bound_for_certain(s.body) & naming.bound_for_certain(s.orelse)
        kept = [n for n in names if n not in anew - naming.read_first(s.body) - naming.read_first(s.orelse)]
        if (
            self.local and not self.turn
        ):  # a function's own names that one branch alone binds have no value on the other way
            both_bind = naming.bound(s.body) & naming.bound(s.orelse)
            names = [n for n in names if n in self.defined or n in both_bind]
            kept = [n for n in kept if n in self.defined]
        tuple_of, kept_of = (", ".join(of) + "," if of else "()" for of in (names, kept))
        before, taken, defined = self.fresh("before"), self.fresh("taken"), set(self.defined)
        lines += [
            f"{before} = {kept_of}",
            *self.block(s.body, live, inner),
            f"{taken} = {tuple_of}",
            f"{kept_of} = {before}",
        ]
        self.defined = set(defined)
        lines += self.block(s.orelse, live, other) if s.orelse else []
        self.defined = defined
        if not names:
            return lines
        chosen = f"{self.choice()}({test}, p, q) for p, q in zip({taken}, ({tuple_of}))"
        return [*lines, f"{tuple_of} = ({chosen})"]

    def _branches_over_loops(self) -> bool:
        """Whether a loop may stand under a branch on a value: it has no turn where the branch is not taken. Outside of a loop the names
        that it binds have no values to keep, but for a function's own."""
        return bool(self.turn) or self.local

    def places_bound(self, body: naming.Statements) -> list[str]:
        """The attributes that a branch on a value binds; these statements' are names alone."""
        return []

    def choice(self) -> str:
        """The function that takes one of two values."""
        return f"{self.jnp}.where"

    def _for(self, s: ast.For, live: set[str], guard: str | None) -> list[str]:
        if s.lineno == self.traced_turns:
            return [f"for {ast.unparse(s.target)} in {self.text(s.iter)}:", *indent(self.block(s.body, live, guard))]
        if s.orelse:
            raise CannotCompile(s.lineno, "object", "the loop has an `else`")
        if (named := named_turns.spelled_out(s, self)) is not None:
            return named_turns.one_by_one(self, named, live, guard)
        s, first = with_own_targets(s, self.fresh), list[str]()
        head, length = self._counted(s, first)
        return [*first, *self.loop(s, live, guard).counted(head, length)]

    def _counted(self, s: ast.For, first: list[str]) -> tuple[list[str], str]:
        """What binds the targets from the count `{k}`, and how often the loop runs. What Python reads once, and the loop binds anew, gets
        a name in `first`."""
        again = naming.bound(s.body)

        def text(node: ast.expr) -> str:
            if not naming.loaded([node]) & again:
                return self.text(node)
            first.append(f"{(name := self.fresh('once'))} = {self.text(node)}")
            return name

        if (found := self._gone_through(s.target, s.iter, text)) is None:
            self.text(s.iter)
            called = f"{ast.unparse(s.iter.func)}(…)" if isinstance(s.iter, ast.Call) else cut(ast.unparse(s.iter), 50)
            raise CannotCompile(s.lineno, "object", f"`{called}` is iterated over by Python")
        binds, lengths = found
        return binds, f"min({', '.join(lengths)})" if len(lengths) > 1 else lengths[0]

    def _gone_through(
        self, target: ast.expr, node: ast.expr, text: Callable[[ast.expr], str], k: str = "{k}"
    ) -> tuple[list[str], list[str]] | None:
        """What binds a target that goes through this, and the lengths of which the smallest is how often; None where Python has to."""
        if isinstance(target, ast.Name) and (row := named_turns.row_of_floats(node, self)) is not None:
            return [f"{target.id} = {row}[{k}]"], [f"len({ast.unparse(node)})"]
        match node, target:
            case ast.Call(func=ast.Name(id="range"), args=[_, *_] as args, keywords=[]), ast.Name(id=name):
                self.counts.add(name)
                if (size := naming.size_of_range(args)) is not None:
                    length = self._range([text(size)], self.expressions.moves(size), k)[1]
                    return [f"{name} = {text(args[0])} + {k}"], [length]
                rule, length = self._range([text(a) for a in args], any(map(self.expressions.moves, args)), k)
                return [f"{name} = {rule}"], [length]
            case ast.Call(
                func=ast.Name(id="reversed"), args=[ast.Call(func=ast.Name(id="range")) as inner]
            ), ast.Name():
                if (found := self._gone_through(target, inner, text)) is not None:
                    return [line.format(k=f"({found[1][0]} - 1 - {k})") for line in found[0]], found[1]
            case ast.Call(func=ast.Name(id="reversed"), args=[rows]), ast.Name() | ast.Tuple() if self._rows(rows):
                return self._gone_through(target, naming.backwards(rows), text, k)
            case ast.Call(func=ast.Name(id="enumerate"), args=[inner, *start]), ast.Tuple(
                elts=[ast.Name(id=name), rest]
            ):
                start = [*start, *(w.value for w in node.keywords)]  # type: ignore[attr-defined]
                if (found := self._gone_through(rest, inner, text, k)) is not None and not any(map(self.moves, start)):
                    self.counts.add(name)
                    return [f"{name} = {' + '.join([k, *map(text, start)])}", *found[0]], found[1]
            case ast.Call(func=ast.Name(id="zip"), args=[_, *_] as parts, keywords=[]), ast.Tuple(elts=targets) if len(
                parts
            ) == len(targets):
                each = [self._gone_through(t, p, text, k) for t, p in zip(targets, parts, strict=True)]
                if (all_of := [e for e in each if e is not None]) == each and (
                    len(each) == 1 or not any(map(self.moves, (p for p in parts if not self._rows(p))))
                ):
                    return [line for e in all_of for line in e[0]], [length for e in all_of for length in e[1]]
            case _, ast.Name() | ast.Tuple() if self._rows(node):
                return [f"{ast.unparse(target)} = {(rows := text(node))}[{k}]"], [f"len({rows})"]
        return None

    def moves(self, node: ast.AST) -> bool:
        """Whether a value is not known while tracing."""
        return self.expressions.moves(node)

    def _range(self, parts: list[str], moves: bool, k: str) -> tuple[str, str]:
        """The count of a range by the loop's own count `k`, and how many there are."""
        lo, hi, step = {1: ("0", parts[0], "1"), 2: (*parts, "1"), 3: tuple(parts)}[len(parts)]  # type: ignore[misc]
        rule = k if (lo, step) == ("0", "1") else (f"{lo} + {k}" if step == "1" else f"{lo} + {k} * ({step})")
        if not moves:
            return rule, f"len(range({', '.join(parts)}))" if len(parts) > 1 else parts[0]
        if step != "1":
            return rule, f"-((({lo}) - ({hi})) // ({step}))"
        return rule, f"({hi}) - ({lo})" if lo != "0" else hi

    def _rows(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Name):
            found = self.after.get(node.id, self.values.get(node.id))
            if not hasattr(found, "shape") and not hasattr(self.values.get(node.id), "shape"):
                return False
        return self.expressions.moves(node)

    def _while(self, s: ast.While, live: set[str], guard: str | None) -> list[str]:
        if s.orelse:
            raise CannotCompile(s.lineno, "object", "the loop has an `else`")
        if s.lineno == self.traced_turns:
            return [f"while {self.text(s.test)}:", *indent(self.block(s.body, live, guard))]
        return self.loop(s, live, guard).by_value()

    def loop(self, s: ast.For | ast.While, live: set[str], guard: str | None) -> Loop:
        """The loop, ready to be written: without a turn where `guard`, if any, is false."""
        return Loop(self, s.body, live, s, guard)
