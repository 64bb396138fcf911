"""Loops over few things that the text names, `for d in (-1, 0, 1)`: each turn is traced for itself, with the thing known."""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from . import naming
from .loops import indent, without_leaving
from .parts import placed_at


if TYPE_CHECKING:
    from .statements import Statements


MOST = 32
"""More numbers than this are not gone through one by one."""


def one_by_one(w: Statements, s: ast.For, live: set[str], guard: str | None) -> list[str]:
    """A loop over few things that the text names: each turn is traced for itself. What leaves a turn, or the loop, is a flag."""
    head = f"for {ast.unparse(s.target)} in {w.text(s.iter)}:"
    names, last = naming.bound([s.target]), list[str]()
    known = names - naming.bound(s.body) - (w.moving if w.moves(s.iter) else set())
    moving = known & w.moving
    w.moving -= moving
    body, flags, stop = s.body, set[str](), w.fresh("stop")
    if naming.leaves(s.body):
        flags, body = {stop}, without_leaving(s.body, stop)
    if naming.breaks(s.body):
        left = {n: w.fresh(f"left_{n}") for n in sorted(names & live)}
        flags |= {*left.values()}
        body = _while_it_goes(body, stop, left, s)
        w.moving |= flags
        last = [f"{n} = {kept}" for n, kept in left.items()]
    unsure = sorted(naming.bound(body) - naming.bound_for_certain(body) - w.defined | flags)
    w.defined |= {*unsure}
    lines = [head, *indent(w.block(body, live | {*unsure} | naming.loaded(body), guard))]
    w.moving |= moving | (names if last else set())
    return [*(f"{n} = False" for n in unsure), *lines, *last]


def spelled_out(s: ast.For, w: Statements) -> ast.For | None:
    """The loop over a tuple that the text names, where it goes through one, through two at once, or counts in one; None for other loops. A name of
    few known numbers is replaced by them, under a test that it still is these."""
    if row_of_floats(s.iter, w) is not None:
        return None
    changing = w.expressions.local | naming.bound(w.region) | naming.stored_into(w.region)
    found = _things(s.iter, w.values, changing, w.functions.tests)
    if found is None:
        return None
    new = copy.copy(s)
    new.iter = ast.copy_location(ast.Tuple([placed_at(copy.deepcopy(e), s.iter) for e in found], ast.Load()), s.iter)
    return new


def row_of_floats(node: ast.expr, w: Statements) -> str | None:
    """The array of floating numbers that the text names, of which no turn needs to know which one it has; None where there is an array of other
    floating numbers, whose type they would change."""
    if not isinstance(node, (ast.Tuple, ast.List)) or not node.elts or not w.home.numpy:
        return None
    arrays = [v.dtype for v in [*w.values.values(), *w.after.values()] if isinstance(v, (np.ndarray, np.generic))]
    if any(d.kind in "fc" and d not in (np.float64, np.complex128) for d in arrays):
        return None
    try:
        numbers = ast.literal_eval(node)
    except ValueError:
        return None
    return f"{w.jnp}.asarray({ast.unparse(node)})" if all(type(v) is float for v in numbers) else None


def _things(
    node: ast.expr, values: Mapping[str, object], changing: set[str], tests: dict[str, str]
) -> list[ast.expr] | None:
    match node:
        case ast.Tuple(elts=parts) | ast.List(elts=parts) if not any(isinstance(p, ast.Starred) for p in parts):
            return parts
        case ast.Call(func=ast.Name(id="enumerate"), args=[of], keywords=[]) if (
            found := _things(of, values, changing, tests)
        ) is not None:
            return [ast.Tuple([ast.Constant(k), e], ast.Load()) for k, e in enumerate(found)]
        case ast.Call(func=ast.Name(id="reversed"), args=[of]):
            found = _things(of, values, changing, tests)
            return found and found[::-1]
        case ast.Call(func=ast.Name(id="zip"), args=[_, *_] as args, keywords=[]):
            told: dict[str, str] = {}
            each = [_things(a, values, changing, told) for a in args]
            known = [e for e in each if e is not None]
            if len(known) < len(each):
                return None
            tests.update(told)
            return [ast.Tuple(list(row), ast.Load()) for row in zip(*known, strict=False)]
        case ast.Name(id=name) if name not in changing and _are_numbers(value := values.get(name)):
            tests[name] = f"{name} == {value!r}"
            return ast.parse(repr(list(value)), mode="eval").body.elts  # type: ignore[attr-defined, arg-type]
    return None


def _are_numbers(value: object, deep: bool = True) -> bool:
    """Whether these are a few of Python's whole numbers, or rows of such, as steps to neighbours are."""
    if type(value) not in (list, tuple) or not 0 < len(value) <= MOST:  # type: ignore[arg-type]
        return False
    return all(type(v) is int or (deep and _are_numbers(v, False)) for v in value)  # type: ignore[attr-defined]


def _while_it_goes(body: list[ast.stmt], stop: str, left: Mapping[str, str], at: ast.For) -> list[ast.stmt]:
    """A turn that is only done while the loop has not been left, and notes what it was done with."""
    going = ast.parse(f"if not {stop}: pass").body[0]
    assert isinstance(going, ast.If)
    told = [ast.parse(f"{kept} = {n}").body[0] for n, kept in left.items()]
    placed_at(going, at)
    going.body = [*(placed_at(t, at) for t in told), *body]
    return [going]
