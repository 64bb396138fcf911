"""Objects of the user's taken apart: in a region a name stands for each attribute (`self.w` is `w_of_self`), and a function for each method,
which takes the attributes that it reads and hands back those that it binds. Where a part of an object is used in another way, none is."""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping
from dataclasses import replace
from types import FunctionType

import numpy as np

from . import naming, paths
from .answers import CannotCompile
from .functions import definition_of
from .homes import attributes_of, is_number, is_users_object
from .parts import EditText, placed_at
from .returns import at_the_end
from .stand_ins import StandIns
from .watching import Visit
from .words import is_static


Definitions = Mapping[tuple[str, int], ast.FunctionDef]
_READING, _STORING = ("__getattr__", "__getattribute__"), ("__setattr__", "__delattr__")


class InWholes(Exception):
    """Raised where an object is used as a whole."""


def taken_apart(
    body: naming.Statements, visit: Visit, definitions: Definitions
) -> tuple[StandIns, dict[tuple[str, int], ast.FunctionDef], Apart] | None:
    """The statements with names in place of the attributes of objects, and the definitions of functions in place of methods; None where there
    are no objects, or one of them is used as a whole."""
    roots = [n for n in sorted(naming.loaded(body)) if is_users_object(visit.values.get(n))]
    if not roots or naming.bound(body) & set(roots) or len({id(visit.live.get(n)) for n in roots}) < len(roots):
        return None
    try:
        apart = Apart(visit, definitions, roots)
        new = apart.block([copy.deepcopy(s) for s in body], {n: n for n in roots})
        return apart.stood_in(new), apart.definitions, apart
    except InWholes:
        return None


class Apart:
    """Objects that are taken apart: what names stand for."""

    def __init__(self, visit: Visit, definitions: Definitions, roots: list[str]) -> None:
        self.visit, self.definitions, self.roots = visit, dict(definitions), roots
        self.names: dict[str, str] = {}
        """The names that stand for attributes, by the text of these."""
        self.stored: set[str] = set()
        """The attributes that are bound, by their text."""
        self.owners: dict[str, object] = {}
        """The objects whose attributes or methods are used, by their text."""
        self.methods: dict[tuple[str, str], Method] = {}
        self._open: list[tuple[str, str]] = []
        self._taken = {*visit.values, *visit.after, *visit.around}

    def block(self, body: list[ast.stmt], here: Mapping[str, str], used: set[str] | None = None) -> list[ast.stmt]:
        """The statements, in which local names stand for the objects `here`; `used` gets the attributes that they read or bind."""
        writer = _Writer(self, here, set() if used is None else used)
        new: list[ast.stmt] = []
        for s in body:
            one = writer.visit(s)
            new += one if isinstance(one, list) else [one]
        return new

    def object_at(self, text: str) -> object:
        """The object in a place; raises InWholes where there is none of the user's."""
        try:
            found = paths.at(text, self.visit.values)
        except Exception:
            raise InWholes from None
        if not is_users_object(found) or _has_its_own(type(found), _READING):
            raise InWholes
        return found

    def attribute(self, owner: str, name: str, stores: bool) -> str:
        """The name that stands for an attribute of an object."""
        of, text = self.object_at(owner), f"{owner}.{name}"
        if stores and _has_its_own(type(of), _STORING):  # as a frozen dataclass has
            raise InWholes
        if self._of_class(of, name, stores) or not self._goes_in(text, of, name):
            raise InWholes
        self.owners[owner] = of
        if stores:
            self.stored.add(text)
        if text not in self.names:
            wish = f"{name}_of_{owner.replace('.', '_')}"
            while wish in self._taken:
                wish += "_"
            self._taken.add(wish)
            self.names[text] = wish
        return self.names[text]

    def _of_class(self, of: object, name: str, stores: bool) -> bool:
        """Whether the class, and not the object, answers for an attribute: a property, or a value that a store would hide."""
        found = next((vars(k)[name] for k in type(of).__mro__ if name in vars(k)), None)
        slot = type(found).__name__ == "member_descriptor"
        return (
            found is not None
            and not slot
            and (hasattr(type(found), "__set__") or hasattr(type(found), "__get__") or stores)
        )

    def _goes_in(self, text: str, of: object, name: str) -> bool:
        after = self.after(text)
        found = [v for v in (getattr(of, name, after), after) if v is not None]
        return all(
            is_number(v) or is_static(v) or (type(v) is list and not any(map(is_users_object, v))) for v in found
        )

    def after(self, text: str) -> object:
        """What was in a place at the end."""
        leaf = self.visit.places_after.get(text)
        if leaf is None:
            return None
        return list(leaf.value[: leaf.size]) if type(leaf.value) is list else leaf.value

    def method(self, owner: str, name: str) -> Method:
        """The function that stands for a method of an object."""
        key = owner, name
        if key in self.methods:
            return self.methods[key]
        of = self.object_at(owner)
        function = next((vars(k)[name] for k in type(of).__mro__ if name in vars(k)), None)
        if key in self._open or name in attributes_of(of) or not isinstance(function, FunctionType):
            raise InWholes
        node = definition_of(function, self.definitions)
        if node is None or node.decorator_list or not node.args.args or function.__closure__:
            raise InWholes
        self.owners[owner] = of
        self._open.append(key)
        self.methods[key] = found = self._written(function, copy.deepcopy(node), owner)
        self._open.pop()
        return found

    def _written(self, function: FunctionType, node: ast.FunctionDef, owner: str) -> Method:
        first, *rest = node.args.args
        if {a.arg for a in rest} & set(self.roots) or naming.bound(node.body) & {first.arg}:
            raise InWholes
        node = at_the_end(node)
        node.args.args, used = rest, set[str]()
        stored, self.stored = self.stored, set()
        node.body = self.block(node.body, {first.arg: owner}, used)
        bound = sorted(self.names[t] for t in self.stored if self.names[t] in naming.bound(node.body))
        self.stored |= stored
        read = sorted(self.names[t] for t in used)
        node.args.kwonlyargs = [*node.args.kwonlyargs, *(ast.arg(n) for n in read)]
        node.args.kw_defaults = [*node.args.kw_defaults, *(None for _ in read)]
        node.name = f"{node.name}_of_{owner.replace('.', '_')}"
        while node.name in self._taken:
            node.name += "_"
        self._taken.add(node.name)
        gives = _hands_back(node, bound)
        ast.fix_missing_locations(node)
        file = f"<cell method {node.name}>"
        made: dict[str, object] = {}
        exec(compile(ast.Module([node], []), file, "exec"), dict(function.__globals__), made)
        self.definitions[file, node.lineno] = node
        return Method(node.name, made[node.name], tuple(read), tuple(bound), gives)

    def stood_in(self, body: list[ast.stmt]) -> StandIns:
        """The statements with what was seen under the names that stand in, and what binds these before and the attributes after."""
        visit = self.visit
        seen = [dict(v) for v in (visit.values, visit.live, visit.after, visit.ends)]
        values, live, after, ends = seen
        inside = set(visit.changed)
        for text, name in self.names.items():
            owner, _, attribute = text.rpartition(".")
            leaf, last = visit.places.get(text), visit.places_after.get(text)
            if hasattr(self.object_at(owner), attribute):
                values[name] = getattr(self.object_at(owner), attribute)
                live[name] = values[name] if leaf is None else leaf.value
            if last is not None:
                after[name], ends[name] = self.after(text), last.value
            if isinstance(live.get(name), np.ndarray) and visit.inner_changed(text, live[name]):  # type: ignore[arg-type]
                inside.add(name)
        for method in self.methods.values():
            values[method.name] = live[method.name] = method.function
        mine = lambda text: any(text == r or text.startswith((f"{r}.", f"{r}[")) for r in self.roots)
        kept = lambda found: {t: v for t, v in found.items() if not mine(t)}
        new = replace(
            visit,
            **dict(zip(("values", "live", "after", "ends"), map(kept, seen))),
            changed=frozenset(inside),
            **{
                n: kept(getattr(visit, n))
                for n in ("places", "places_after", "states", "states_after", "lists", "lists_after")
            },
        )
        needed = naming.read_first(body) | naming.stored_into(body) | naming.bound_or_not(body)
        before = [f"{n} = {t}" for t, n in self.names.items() if n in values and n in needed]
        bound = naming.bound(body)
        again = [f"{t} = {n}" for t, n in self.names.items() if n in bound and n in after]
        gone = sorted({n for n in self.names.values() if (n in values and n in needed) or (n in bound and n in after)})
        return StandIns(tuple(body), new, tuple(before), (*again, *([f"del {', '.join(gone)}"] if gone else [])))

    def guarded(self, edit: EditText, body: naming.Statements) -> EditText:
        """The edit for objects of the classes that were seen; for others the statements as they are. Raises CannotCompile where a class has no
        name in the session."""
        tests = []
        for text, of in sorted(self.owners.items()):
            name = type(of).__name__
            if self.visit.around.get(name) is not type(of):
                raise CannotCompile(body[0].lineno, "object", f"the class of `{text}` has no name here")
            tests.append(f"type({text}) is {name}")
        return edit.guarded(tests, body)


class Method:
    """A function in place of a method: the attributes that it takes and those that it hands back, by their names, and whether it gives a
    result as well."""

    def __init__(
        self, name: str, function: object, reads: tuple[str, ...], binds: tuple[str, ...], gives: bool
    ) -> None:
        self.name, self.function, self.reads, self.binds, self.gives = name, function, reads, binds, gives


def _has_its_own(kind: type, names: tuple[str, ...]) -> bool:
    """Whether a class says itself what happens when attributes are read, or set."""
    return any(hasattr(kind, n) and getattr(kind, n) is not getattr(object, n, None) for n in names)


def _hands_back(node: ast.FunctionDef, names: list[str]) -> bool:
    """Has a function hand back these names beside its result; whether it has one."""
    ends = [n for b in node.body for n in ast.walk(b) if isinstance(n, ast.Return) and n.value is not None]
    if not names:
        return bool(ends)
    if len(ends) > 1 or (ends and ends[0] is not node.body[-1]):
        raise InWholes
    given: list[ast.expr] = [ast.Name(n, ast.Load()) for n in names]
    if ends:
        assert ends[0].value is not None
        given.insert(0, ends[0].value)
        node.body.pop()
    made = ast.Tuple(given, ast.Load()) if len(given) > 1 else given[0]
    node.body.append(placed_at(ast.Return(made), ends[0] if ends else node.body[-1]))
    return bool(ends)


class _Writer(ast.NodeTransformer):
    def __init__(self, apart: Apart, here: Mapping[str, str], used: set[str]) -> None:
        self.apart, self.here, self.used = apart, here, used

    def path(self, node: ast.expr) -> str | None:
        """The text of an object or attribute, from a name of the region's own on."""
        if isinstance(node, ast.Name):
            return self.here.get(node.id)
        if isinstance(node, ast.Attribute) and (owner := self.path(node.value)) is not None:
            return f"{owner}.{node.attr}"
        return None

    def _owner(self, node: ast.expr) -> str | None:
        """The text of an object of the user's."""
        text = self.path(node)
        if text is None:
            return None
        try:
            self.apart.object_at(text)
        except InWholes:
            return None
        return text

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id in self.here:
            raise InWholes
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        owner = self._owner(node.value)
        if owner is None:
            return self.generic_visit(node)
        if self._owner(node) is not None:
            raise InWholes
        name = self.apart.attribute(owner, node.attr, isinstance(node.ctx, ast.Store))
        self.used.add(f"{owner}.{node.attr}")
        return ast.copy_location(ast.Name(name, node.ctx), node)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self.generic_visit(node)
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        if naming.loaded([node]) & self.here.keys():
            raise InWholes
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        if naming.loaded(node.body) & self.here.keys():
            raise InWholes
        return node

    def _method(self, call: ast.Call) -> Method | None:
        """The method that a call is of; the call is made one of the function."""
        if not isinstance(call.func, ast.Attribute) or (owner := self._owner(call.func.value)) is None:
            return None
        if call.func.attr in attributes_of(self.apart.object_at(owner)):
            return None
        method = self.apart.method(owner, call.func.attr)
        texts = {n: t for t, n in self.apart.names.items()}
        self.used |= {texts[n] for n in method.reads}
        call.func = ast.copy_location(ast.Name(method.name, ast.Load()), call.func)
        call.args = [self.visit(a) for a in call.args]
        named = [ast.keyword(n, ast.copy_location(ast.Name(n, ast.Load()), call)) for n in method.reads]
        call.keywords = [*(self.visit(k) for k in call.keywords), *named]
        return method

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if (method := self._method(node)) is None:
            return self.generic_visit(node)
        if method.binds or not method.gives:
            raise InWholes
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        if not isinstance(node.value, ast.Call) or (method := self._method(node.value)) is None:
            return self.generic_visit(node)
        return self._bound(node, node.value, method, None) if method.binds else node

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        if not isinstance(node.value, ast.Call) or (method := self._method(node.value)) is None:
            return self.generic_visit(node)
        if not method.gives or (method.binds and len(node.targets) > 1):
            raise InWholes
        node.targets = [self.visit(t) for t in node.targets]
        return self._bound(node, node.value, method, node.targets[0]) if method.binds else node

    def _bound(self, node: ast.stmt, call: ast.Call, method: Method, target: ast.expr | None) -> ast.AST:
        names: list[ast.expr] = [ast.Name(n, ast.Store()) for n in method.binds]
        if method.gives:
            names.insert(0, target or ast.Name(f"result_of_{method.name}", ast.Store()))
        to = ast.Tuple(names, ast.Store()) if len(names) > 1 else names[0]
        return ast.fix_missing_locations(ast.copy_location(ast.Assign([to], call), node))
