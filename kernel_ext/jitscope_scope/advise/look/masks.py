"""Dropout and noise of a module's: one key in each step is one mask in each step."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...source_code.parameters import keyword, parameters
from ...source_code.tree import Function
from ..code.functions import TracedFunction
from ..code.walk import Walk
from ..diagnostic import Diagnostic
from .diagnostics import diagnostic, short


_EACH = {"jit": "call", "nnx.jit": "call", "filter_jit": "call", "scan": "iteration", "fori_loop": "iteration"}
_SEEDS = ("jax.random.key", "jax.random.PRNGKey")
_KEYS = (*_SEEDS, "jax.random.split", "jax.random.fold_in")


def masks(walk: Walk) -> Iterator[Diagnostic]:
    """key-not-threaded of `net.apply(params, x, rngs={"dropout": key})` in a compiled step, where `key` is from outside of it."""
    if "rngs" not in walk.code.text:
        return
    for call in walk.code.of(ast.Call):
        if not _draws(call, walk):
            continue
        rngs = _meant(keyword(call, "rngs"), walk)
        if isinstance(rngs, ast.Name) and isinstance(call.func, ast.Name):
            continue  # an object of nnx, which counts what it gave
        found = [(key, each) for key in _keys(rngs, walk) for each in [_repeated(key, call, walk)] if each]
        if not found:
            continue
        key, each = found[0]
        message = f"`{short(walk.code, key)}` is the same in every {each}, so every {each} draws the same mask."
        fix = {
            "call": "Take the key as an argument, and pass another one in each call; or jax.random.fold_in(key, step).",
            "iteration": "Give each iteration its own key: scan over jax.random.split(key, n), or jax.random.fold_in(key, i).",
        }[each]
        seeded = not isinstance(key, ast.Name)
        yield diagnostic(walk.code, "key-not-threaded", call, message, fix, "info" if seeded else None)


def _draws(call: ast.Call, walk: Walk) -> bool:
    """Whether a call applies a module: `net.apply(...)`, or an argument of the function that is called."""
    if any(k.arg in _SILENT and getattr(k.value, "value", None) is _SILENT[k.arg] for k in call.keywords):
        return False
    match call.func:
        case ast.Attribute(attr="apply" | "apply_fn"):
            return True
        case ast.Name(id=name):
            function = walk.code.function_around(call)
            return function is not None and name in parameters(function)
    return False


_SILENT = {"deterministic": True, "train": False, "training": False, "is_training": False}


def _meant(rngs: ast.expr | None, walk: Walk) -> ast.expr | None:
    """What a name holds that is given a dict once, in a scope that is no function."""
    if not isinstance(rngs, ast.Name):
        return rngs
    scope = walk.code.scopes.binding(rngs.id, rngs)
    made = walk.code.scopes.binders(scope, rngs.id) if isinstance(scope, ast.Module) else ()
    parent = walk.code.parents.get(made[0]) if len(made) == 1 else None
    return parent.value if isinstance(parent, ast.Assign) and isinstance(parent.value, ast.Dict) else rngs


def _keys(rngs: ast.expr | None, walk: Walk) -> list[ast.expr]:
    """The keys that a call gives its random streams, but for parameters."""
    match rngs:
        case ast.Dict(keys=names, values=values):
            return [value for name, value in zip(names, values) if getattr(name, "value", "params") != "params"]
        case ast.Call(func=func, args=args, keywords=keywords) if walk.code.dotted(func) == "flax.nnx.Rngs":
            return [*args, *(k.value for k in keywords if k.arg != "params")]
        case ast.Name():
            return [rngs]
    return []


def _repeated(key: ast.expr, call: ast.Call, walk: Walk) -> str:
    """What runs again and again with a key that is from outside of it, or a constant: "call", "iteration", or ""."""
    code = walk.code
    scope: ast.AST | None = None
    match key:
        case ast.Name(id=name):
            scope = code.scopes.binding(name, key)
            if scope is None or not _is_key(name, scope, walk):
                return ""
        case ast.Constant(value=int()):
            pass
        case ast.Call(func=func, args=[ast.Constant(value=int())]) if code.dotted(func) in _SEEDS:
            pass
        case _:
            return ""
    for function in _around(call, walk):
        if function is scope:
            return ""
        for traced in walk.functions.traced:
            if traced.function is function and parameters(function) and _lasts(traced, scope):
                return _EACH.get(traced.by, "")
    return ""


def _around(node: ast.AST, walk: Walk) -> Iterator[Function]:
    """The functions around a node, and around the place where one of them is differentiated, the nearest first."""
    last = node
    for one in walk.code.around(node):
        if isinstance(one, Function):
            last = one
            yield one
    sites = [t.site for t in walk.functions.traced if t.function is last and t.by in ("grad", "value_and_grad")]
    for site in sites[:1]:
        yield from (one for one in walk.code.around(site) if isinstance(one, Function))


def _lasts(traced: TracedFunction, scope: ast.AST | None) -> bool:
    """Whether a function is compiled once for a key: one that is made in the function that has the key may be made with each."""
    return traced.by in ("scan", "fori_loop") or (traced.by in _EACH and not isinstance(scope, Function))


def _is_key(name: str, scope: ast.AST, walk: Walk) -> bool:
    """Whether all that gives a name a value gives it keys; an argument is one where it is given as the key of a stream."""
    if isinstance(scope, Function) and name in parameters(scope):
        return True
    binders = walk.code.scopes.binders(scope, name)
    return bool(binders) and all(_is_made_of_keys(one, walk) for one in binders)


def _is_made_of_keys(binder: ast.AST, walk: Walk) -> bool:
    statement = walk.code.statement_around(binder)
    value = statement.value if isinstance(statement, ast.Assign) else None
    return isinstance(value, ast.Call) and walk.code.dotted(value.func) in _KEYS
