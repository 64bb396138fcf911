"""The parameters of functions, and what calls give them."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from .tree import Function, own_nodes


def positional(function: Function) -> list[str]:
    """The names of the parameters that a call can give by their place."""
    return [one.arg for one in (*function.args.posonlyargs, *function.args.args)]


def parameters(function: Function) -> list[str]:
    """The names of all parameters, those of `*args` and `**kwargs` last."""
    a = function.args
    many = [one.arg for one in (a.vararg, a.kwarg) if one is not None]
    return [*positional(function), *(one.arg for one in a.kwonlyargs), *many]


def default_values(function: Function) -> dict[str, ast.expr]:
    """The defaults of the parameters that have one."""
    a, names = function.args, positional(function)
    found = dict(zip(names[len(names) - len(a.defaults) :], a.defaults))
    return found | {one.arg: default for one, default in zip(a.kwonlyargs, a.kw_defaults) if default is not None}


def keyword(call: ast.Call, name: str) -> ast.expr | None:
    """What a call gives an argument by name."""
    return next((k.value for k in call.keywords if k.arg == name), None)


def arguments(call: ast.Call) -> list[ast.expr]:
    """What a call gives, by place and then by name."""
    return [*call.args, *(k.value for k in call.keywords)]


def given_to(names: Sequence[str], call: ast.Call) -> dict[str, ast.expr]:
    """What a call gives to each parameter, of those in their places or by name."""
    return dict(zip(names, call.args)) | {k.arg: k.value for k in call.keywords if k.arg}


def is_open(call: ast.Call) -> bool:
    """Whether `*args` or `**kwargs` of a call hide what it gives."""
    return any(isinstance(one, ast.Starred) for one in call.args) or any(k.arg is None for k in call.keywords)


def argument_for(call: ast.Call, name: str, places: Sequence[str]) -> ast.expr | None:
    """What a call gives a parameter, by name or, as one of those in their `places`, by place; None where it gives none, or where
    `*args` before it hides which."""
    named = keyword(call, name)
    if named is not None or name not in places:
        return named
    before = call.args[: places.index(name) + 1]
    if len(before) <= places.index(name) or any(isinstance(one, ast.Starred) for one in before):
        return None
    return before[-1]


def is_generator(function: Function) -> bool:
    """Whether a call of a function gives a generator."""
    return any(isinstance(node, ast.Yield | ast.YieldFrom) for node in own_nodes(function))
