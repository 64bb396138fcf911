"""Functions that call themselves with a smaller whole number each time (`N(i, p, u)` by `N(i, p - 1, u)`, as splines do), where the region says with
which one they begin: one function for each of the numbers, none of which calls itself."""

from __future__ import annotations

import ast
import copy
import linecache
from collections.abc import Mapping
from dataclasses import replace
from types import FunctionType

from . import naming, words
from .functions import Definitions, definition_of
from .parts import Renamed, whole_number
from .stand_ins import StandIns
from .watching import Visit


MOST = 12
"""So many functions are made of one."""
MOST_CALLS = 64
"""So many calls may one call come to."""
_ARITHMETIC = (
    *(ast.Constant, ast.BinOp, ast.Compare, ast.UnaryOp, ast.BoolOp),
    *(ast.operator, ast.cmpop, ast.unaryop, ast.boolop),
)


def apart(form: StandIns, definitions: Definitions) -> StandIns:
    """The statements with such functions in the place of those that call themselves; the same where there are none."""
    writer = _Writer(form, definitions)
    body = tuple(writer.visit(copy.deepcopy(s)) for s in form.body)
    if not writer.made:
        return form
    visit, functions = form.visit, {n: writer.functions[n] for n in writer.made}
    return replace(
        form,
        body=body,
        visit=replace(visit, values={**visit.values, **functions}, live={**visit.live, **functions}),
        before=(*form.before, *(line for text in writer.made.values() for line in text.splitlines())),
        after=(f"del {', '.join(writer.made)}", *form.after),
        tests=(*form.tests, *writer.tests),
    )


class _Writer(ast.NodeTransformer):
    """Puts a function for each number in the place of those that call themselves. `made` has their texts, inner ones first."""

    def __init__(self, form: StandIns, definitions: Definitions) -> None:
        self.visit_seen, self.definitions = form.visit, definitions
        self.changing = naming.bound(form.body) | naming.stored_into(form.body)
        self.taken = {*form.visit.values, *form.visit.after, *form.visit.around, *naming.names(form.body)}
        self.made: dict[str, str] = {}
        self.functions: dict[str, FunctionType] = {}
        self.tests: dict[str, None] = {}

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """A call with a number that is known."""
        self.generic_visit(node)
        function = self.visit_seen.live.get(node.func.id) if isinstance(node.func, ast.Name) else None
        if not isinstance(function, FunctionType) or function.__closure__ or not words.of_users(function):
            return node
        one = _OfNumbers.of(definition_of(function, self.definitions), node, self.visit_seen)
        if one is None or node.keywords or not one.place < len(node.args):
            return node
        known = self._known(node.args[one.place])
        if known is None or not one.begin(known, self.taken):
            return node
        for name, text in one.texts.items():
            self.made[name], self.functions[name] = (
                text,
                _function(name, text, {**function.__globals__, **self.functions}),
            )
        self.taken |= one.texts.keys()
        if isinstance(node.args[one.place], ast.Name):
            self.tests[f"type({(n := ast.unparse(node.args[one.place]))}) is int and {n} == {known}"] = None
        new = ast.Call(
            ast.Name(one.names[known], ast.Load()), [a for k, a in enumerate(node.args) if k != one.place], []
        )
        return ast.fix_missing_locations(ast.copy_location(new, node))

    def _known(self, node: ast.expr) -> int | None:
        if (
            isinstance(node, ast.Name)
            and node.id not in self.changing
            and type(value := self.visit_seen.values.get(node.id)) is int
        ):
            return value
        return whole_number(node)


class _OfNumbers:
    """A function that calls itself with a smaller number in one `place`, and its texts for the numbers that come up."""

    def __init__(self, node: ast.FunctionDef, parameter: str, place: int) -> None:
        self.node, self.parameter, self.place = node, parameter, place
        self.names: dict[int, str] = {}
        self.texts: dict[str, str] = {}
        self.calls: dict[int, int] = {}

    @staticmethod
    def of(node: ast.FunctionDef | None, call: ast.Call, visit: Visit) -> _OfNumbers | None:
        """None for other functions."""
        if node is None or node.decorator_list or node.name not in naming.loaded(node.body):
            return None
        own = [c for c in naming.all_of(ast.Call, node.body) if ast.unparse(c.func) == node.name]
        parameters = naming.positional(node)
        if len(naming.uses(node.name, node.body)) != len(own) or any(
            c.keywords or len(c.args) != len(parameters) for c in own
        ):
            return None
        if (
            len(call.args) != len(parameters)
            or naming.loaded(node.body) & visit.own
            or naming.has((ast.Global, ast.Nonlocal), [node])
        ):
            return None
        bound = naming.bound(node.body)
        for k, p in enumerate(parameters):
            if p not in bound and all(_is_smaller(c.args[k], p) for c in own):
                return _OfNumbers(node, p, k)
        return None

    def begin(self, number: int, taken: set[str]) -> bool:
        """Writes the functions for a number and all smaller ones that are called; whether there are few."""
        name = f"{self.node.name}_{number}" if number >= 0 else f"{self.node.name}_below_{-number}"
        while name in taken:
            name += "_"
        self.names[number], self.calls[number] = name, MOST_CALLS + 1
        if len(self.names) > MOST:
            return False
        new = copy.deepcopy(self.node)
        new.body = _decided([Renamed({self.parameter: ast.Constant(number)}).visit(s) for s in new.body])
        count = 1
        for call in naming.all_of(ast.Call, new.body):
            if ast.unparse(call.func) == self.node.name:
                less = _value(call.args.pop(self.place))
                if type(less) is not int or (less not in self.names and not self.begin(less, taken)):
                    return False
                count += self.calls[less]
                call.func = ast.Name(self.names[less], ast.Load())
        if count > MOST_CALLS:
            return False
        self.calls[number] = count
        new.name = name
        del new.args.args[self.place - len(new.args.posonlyargs)]
        self.texts[name] = ast.unparse(ast.fix_missing_locations(new))
        return not new.args.posonlyargs and not new.args.defaults


def _is_smaller(node: ast.expr, name: str) -> bool:
    match node:
        case ast.BinOp(left=ast.Name(id=of), op=ast.Sub(), right=ast.Constant(value=int(less))):
            return of == name and less > 0
    return False


def _decided(body: naming.Statements) -> list[ast.stmt]:
    """The statements without the branches that numbers in the text do not take, and without what stands after the end."""
    new: list[ast.stmt] = []
    for s in body:
        if isinstance(s, ast.If):
            known = _value(s.test)
            if known is None:
                s.body, s.orelse = _decided(s.body), _decided(s.orelse)
                new.append(s)
            else:
                new += _decided(s.body if known else s.orelse)
        else:
            new.append(s)
        if new and isinstance(new[-1], ast.Return):
            break
    return new or [ast.Pass()]


def _value(node: ast.expr) -> int | bool | None:
    """What is made of numbers that the text names; None for all else."""
    if not all(isinstance(n, _ARITHMETIC) for n in ast.walk(node)):
        return None
    try:
        value = eval(ast.unparse(node), {"__builtins__": {}})
    except (ArithmeticError, TypeError):
        return None
    return value if type(value) in (int, bool) else None


def _function(name: str, text: str, names: Mapping[str, object]) -> FunctionType:
    """The function of a text that is known to those who ask for it."""
    file, made = f"<{name}>", dict(names)
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    exec(compile(text, file, "exec"), made)
    function = made[name]
    assert isinstance(function, FunctionType)
    return function
