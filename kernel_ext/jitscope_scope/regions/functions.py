"""Functions of the user's that a region calls: each is written once more, for the compiler, inside the region's own function."""

from __future__ import annotations

import ast
import copy
import inspect
import textwrap
from collections.abc import Callable, Mapping
from types import CodeType, FunctionType, ModuleType
from weakref import WeakKeyDictionary

from . import naming
from .answers import CannotCompile
from .homes import has_value
from .parts import OURS


_LAMBDA = "lambda"
Definitions = Mapping[tuple[str, int], ast.FunctionDef]
"""The functions that cells define, by the file and line of their code."""
EditText = Callable[[ast.FunctionDef, "set[str]"], "list[str]"]


class Functions:
    """The functions that were needed. `definitions` are the functions that cells define, by the file and line of their code."""

    def __init__(self, values: Mapping[str, object], definitions: Definitions) -> None:
        self.values, self.definitions = values, definitions
        self.lines: list[str] = []
        self.reads: set[str] = set()
        self.names: set[str] = set()
        self.ours = OURS
        """What the edit calls the module that it asks."""
        self._open: list[str] = []
        """The functions that are being written, one inside of the other."""
        self.write: EditText | None = None
        self.changed: Mapping[str, tuple[str, ...]] = {}
        """The parameters that functions store into and hand back."""
        self.outside: Callable[[str, object], bool] = lambda name, value: False
        """Whether a name stands for this value wherever the region's function reads it."""
        self.hand_in: Callable[[str, object], bool] = lambda name, value: False
        """Whether a value that a function keeps can be handed in under a name of its own; it is known by that name from then on."""
        self.tests: dict[str, str] = {}
        """Names in whose place their values stand, and what has to be true of them before the region."""
        self.windows: list[ast.Slice] = []
        """Parts of arrays that move, of a fixed size."""
        self.kept: dict[str, str] = {}
        """Those names, and the text of their values in the cell."""

    def need(self, name: str, line: int) -> None:
        """Has the function of this name written. Raises CannotCompile where it cannot be."""
        if name in self._open:
            raise CannotCompile(line, "object", f"`{name}` calls itself", runs=True)
        if name in self.names:
            return
        self.names.add(name)
        function = self.values[name]
        assert isinstance(function, FunctionType) and self.write is not None
        code = function.__code__
        node = definition_of(function, self.definitions)
        if node is None or node.decorator_list:
            raise CannotCompile(line, "object", f"`{name}` is not a plain function of a cell")
        own, of = dict[str, str](), self.kept.get(name, name)
        for k, (n, cell) in enumerate(zip(code.co_freevars, function.__closure__ or (), strict=True)):
            if self.outside(n, cell) or n in naming.parameters(node):  # it is handed in by each call
                continue
            if not has_value(cell) or not self.hand_in(f"{n}_of_{name}", cell.cell_contents):
                raise CannotCompile(line, "object", f"`{name}` keeps `{n}` of the function that made it")
            own[n], self.kept[f"{n}_of_{name}"] = f"{n}_of_{name}", f"{of}.__closure__[{k}].cell_contents"
        node = _renamed(node, name, own)
        if code.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE):
            raise CannotCompile(line, "effect", f"`{name}` is a generator or a coroutine")
        given = set(naming.parameters(node))
        if node.args.vararg or node.args.kwarg:
            raise CannotCompile(line, "object", f"`{name}` takes any number of arguments")
        if naming.has((ast.Global, ast.Nonlocal), [node]):
            raise CannotCompile(line, "effect", f"`{name}` binds names outside of itself")
        if touched := naming.stored_into(node.body) - naming.bound(node.body) - {*self.changed.get(name, ())}:
            raise CannotCompile(line, "effect", f"`{name}` stores into `{min(touched)}`")
        for n in ast.walk(node):
            if isinstance(n, ast.Expr) and isinstance(n.value, ast.Call) and isinstance(n.value.func, ast.Attribute):
                root = naming.root_of(n.value.func)
                of_module = isinstance(self.values.get(root or ""), ModuleType)
                if root is not None and root not in naming.bound(node.body) and not of_module:
                    raise CannotCompile(line, "effect", f"`{name}` does `{ast.unparse(n)[:50]}` to what lives on")
        free = naming.loaded(node.body) - given - naming.bound(node.body)
        self.reads |= {n for n in free if n in self.values}
        self._open.append(name)
        try:
            self.lines += self.write(node, given)
        except CannotCompile as reason:  # its lines are those of the cell that defines the function
            raise CannotCompile(line, reason.cut.why, f"{reason.cut.note} (in `{name}`)", runs=reason.runs) from None
        finally:
            self._open.pop()


def _renamed(node: ast.FunctionDef, name: str, own: Mapping[str, str]) -> ast.FunctionDef:
    """The function under the name that the region calls it by, with the names of its own for what it keeps."""
    if node.name == name and not own:
        return node
    new = copy.deepcopy(node)
    new.name = name
    for n in ast.walk(new):
        if isinstance(n, ast.Name) and n.id in own:
            n.id = own[n.id]
    return new


def definitions(tree: ast.Module, file: str) -> dict[tuple[str, int], ast.FunctionDef]:
    """The functions that a cell defines, by file and line; a lambda is one that returns, and has the others of its line beside it."""
    found: dict[tuple[str, int], ast.FunctionDef] = {}
    names = {
        n.value: n.targets[0].id
        for n in ast.walk(tree)
        if isinstance(n, ast.Assign) and isinstance(n.targets[0], ast.Name)
    }
    lambdas: dict[int, list[ast.FunctionDef]] = {}
    for n in ast.walk(tree):
        if isinstance(n, ast.FunctionDef):
            found[file, min([n.lineno, *(d.lineno for d in n.decorator_list)])] = n
        elif isinstance(n, ast.Lambda):
            lambdas.setdefault(n.lineno, []).append(_of_lambda(n, names.get(n, "function")))
    for line, many in lambdas.items():
        if (file, line) not in found:
            found[file, line], many[0].decorator_list = many[0], []
            _BESIDE[many[0]] = many
    return found


_BESIDE: WeakKeyDictionary[ast.FunctionDef, list[ast.FunctionDef]] = WeakKeyDictionary()
"""The lambdas of a line, by the first one."""


def _of_lambda(value: ast.Lambda, name: str) -> ast.FunctionDef:
    whole = ast.parse(f"def {name}(): pass").body[0]
    assert isinstance(whole, ast.FunctionDef)
    whole.args, whole.body, whole.type_comment = (
        value.args,
        [ast.copy_location(ast.Return(value.body), value.body)],
        _LAMBDA,
    )
    return ast.copy_location(whole, value)


def definition_of(function: FunctionType, definitions: Definitions) -> ast.FunctionDef | None:
    """The definition of a function: of a cell, or of a file that Python knows the text of."""
    code = function.__code__
    node = definitions.get((code.co_filename, code.co_firstlineno)) or _source(function)
    if node is None or code.co_name != ("<lambda>" if node.type_comment == _LAMBDA else node.name):
        return None  # another one on the same line
    beside = [n for n in _BESIDE.get(node, [node]) if len(_BESIDE.get(node, [node])) == 1 or _is_text_of(n, code)]
    return beside[0] if len(beside) == 1 else None


def _is_text_of(node: ast.FunctionDef, code: CodeType) -> bool:
    """Whether the code's instructions stand in the result of a lambda."""
    body = node.body[0].value  # type: ignore[attr-defined]
    places = [p for p in code.co_positions() if None not in p and p[2:] != (0, 0)]
    found = {(p[0], p[2]) for p in places}, {(p[1], p[3]) for p in places}
    return (
        bool(places)
        and min(found[0]) == (body.lineno, body.col_offset)
        and max(found[1]) == (body.end_lineno, body.end_col_offset)
    )


def codes_of(code: CodeType, found: dict[tuple[str, int, str], CodeType]) -> None:
    """The code objects in a code object, by file, line and name."""
    for c in code.co_consts:
        if isinstance(c, CodeType):
            found[c.co_filename, c.co_firstlineno, c.co_qualname] = c
            codes_of(c, found)


def _source(function: FunctionType) -> ast.FunctionDef | None:
    """The definition of a function of another cell, where Python knows its text."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError):
        return None
    return tree.body[0] if tree.body and isinstance(tree.body[0], ast.FunctionDef) else None
