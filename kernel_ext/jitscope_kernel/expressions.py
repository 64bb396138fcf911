"""What an expression in a magic means: `f(x, y)` is a call to look at, anything else a function of the arrays it names."""

from __future__ import annotations

import ast
import dataclasses
import linecache
from collections.abc import Callable
from types import ModuleType
from typing import Any

from IPython.core.error import UsageError

from jitscope.core.words import cut


_ARGUMENTS = "__jitscope_arguments__"


@dataclasses.dataclass(frozen=True)
class Call:
    """A function, the arguments it is looked at with, and the text that names the function."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    name: str


def evaluate(text: str, names: dict[str, Any]) -> Any:
    """The value of an expression. Raises UsageError when `text` is none, and what it raises."""
    tree, file = _parsed(text)
    return eval(compile(tree, file, "eval"), dict(names))


def read(text: str, names: dict[str, Any]) -> Call:
    """The call that `text` stands for; `names` are those it may use. The call itself is not made.

    Raises UsageError when `text` is no expression, and what evaluating the function and the arguments raises.
    """
    tree, file = _parsed(text)
    return _call(tree.body, names, file) if isinstance(tree.body, ast.Call) else _of_arrays(tree, names, file)


def _parsed(text: str) -> tuple[ast.Expression, str]:
    text = text.strip().removesuffix(";").rstrip()
    if not text:
        raise UsageError("an expression is needed, such as f(x)")
    file = f"<{cut(text, 60)}>"
    linecache.cache[file] = (len(text), None, [text + "\n"], file)  # so that tracebacks and views have the line
    try:
        return ast.parse(text, file, "eval"), file
    except SyntaxError as error:
        raise UsageError(f"{text!r} is not an expression: {error.msg}") from None


def _call(node: ast.Call, names: dict[str, Any], file: str) -> Call:
    function = eval(compile(ast.Expression(node.func), file, "eval"), dict(names))
    if not callable(function):
        raise UsageError(f"{ast.unparse(node.func)} is not a function but a {type(function).__name__}")
    taken = ast.Call(ast.copy_location(ast.Name(_ARGUMENTS, ast.Load()), node.func), node.args, node.keywords)
    code = compile(ast.Expression(ast.copy_location(taken, node)), file, "eval")
    args, kwargs = eval(code, names | {_ARGUMENTS: lambda *args, **kwargs: (args, kwargs)})
    return Call(function, args, kwargs, cut(ast.unparse(node.func), _LONGEST_NAME))


_LONGEST_NAME = 60


def _of_arrays(tree: ast.Expression, names: dict[str, Any], file: str) -> Call:
    used = dict.fromkeys(node.id for node in ast.walk(tree) if isinstance(node, ast.Name))
    arrays = {name: names[name] for name in used if _is_array(names.get(name))}
    if not arrays or isinstance(tree.body, ast.Lambda):
        raise UsageError(_nothing_to_trace(tree, names, file))
    parameters = ast.arguments(
        posonlyargs=[], args=[ast.arg(name) for name in arrays], kwonlyargs=[], kw_defaults=[], defaults=[]
    )
    function = ast.Expression(ast.copy_location(ast.Lambda(parameters, tree.body), tree.body))
    made = eval(compile(ast.fix_missing_locations(function), file, "eval"), dict(names))
    made.__name__ = made.__qualname__ = "expression"
    made.__code__ = made.__code__.replace(co_name="expression", co_qualname="expression")
    return Call(made, tuple(arrays.values()), {}, made.__name__)


def _nothing_to_trace(tree: ast.Expression, names: dict[str, Any], file: str) -> str:
    text, value = ast.unparse(tree), None
    if isinstance(tree.body, (ast.Name, ast.Attribute, ast.Lambda)):
        try:
            value = eval(compile(tree, file, "eval"), dict(names))
        except (NameError, AttributeError) as error:
            return str(error)
    if callable(value):
        called = f"({text})" if isinstance(tree.body, ast.Lambda) else text
        return f"{text} is a function: write a call of it, such as {called}(x)"
    return f"{text} is not a call and names no array, so there is nothing to trace"


def _is_array(value: Any) -> bool:
    """Modules such as `jnp` have functions of these names."""
    return hasattr(value, "shape") and hasattr(value, "dtype") and not isinstance(value, type | ModuleType)
