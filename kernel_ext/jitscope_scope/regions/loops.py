"""Loops of a cell, written for the compiler: what they carry, and their text."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from . import naming
from .answers import CannotCompile
from .homes import is_number
from .parts import Renamed, placed_at


if TYPE_CHECKING:
    from .statements import Statements


class Loop:
    """One loop: what it carries, and its text."""

    def __init__(
        self,
        writer: Statements,
        body: list[ast.stmt],
        live: set[str],
        s: ast.For | ast.While,
        guard: str | None = None,
    ) -> None:
        self.w, self.s, self.live, self.guard = writer, s, live, guard
        self.stops = naming.breaks(body)
        self.stop = writer.fresh("stop")
        self.body = without_leaving(body, self.stop) if naming.leaves(body) else body
        target = naming.names([s.target]) if isinstance(s, ast.For) else set()
        written = (naming.bound(body) | naming.stored_into(body)) - target - writer.columns
        early = naming.read_first(self.body) - target
        if isinstance(s, ast.While):
            early |= naming.loaded([s.test])
        unsure = written - naming.bound_for_certain(self.body) - (naming.stored_into(body) - naming.bound(body))
        self.target, self.unsure = target, unsure
        kept = self._kept(written if self._may_be_empty() or isinstance(s, ast.While) else unsure & written)
        before = written & (early | naming.stored_into(body)) - _made_inside(body, early) | kept
        made = (
            naming.bound(body) - writer.defined - writer.values.keys() - writer.expressions.local
        )  # by a loop inside, if at all
        self.before = sorted(before - made)
        self.after = sorted(((written & live) | (written & unsure) | before & made) - set(self.before))
        self.ends = sorted(target & live)
        writer.moving |= target | set(self.before) | set(self.after)
        _spread(body, writer)
        self.step, self.carry, self.earlier = writer.fresh("step"), writer.fresh("carry"), ""

    def _kept(self, names: set[str]) -> set[str]:
        """Of names that the loop may leave alone, those that have a value before it. Raises CannotCompile for what a branch makes a number,
        or an array of another shape, of."""
        w = self.w
        for n in names & self.unsure & self.live - w.defined & w.values.keys() - w.expressions.local:
            raise CannotCompile(
                self.s.lineno,
                "object",
                f"`{n}` is a {type(w.values[n]).__name__}, and a number only where a value says so",
            )
        kept = names & w.defined
        for n in [
            n for n in kept if is_number(w.values.get(n)) and is_number(w.after.get(n)) and n not in w.expressions.local
        ]:
            if np.shape(w.values[n]) != np.shape(w.after[n]):  # type: ignore[arg-type]
                if n in self.unsure & self.live:
                    raise CannotCompile(self.s.lineno, "shape", f"`{n}` has another shape only where a value says so")
                kept = kept - {n}
        return kept

    def counted(self, head: list[str], length: str) -> list[str]:
        """A loop whose number of turns is known before it begins."""
        w, k = self.w, self.w.fresh("k")
        if self.guard and not self.stops:
            length = f"{w.jnp}.where({self.guard}, {length}, 0)"
        bind = [line.format(k=k) for line in head]
        outer, w.items = w.items, [] if not self.stops else None
        lines = self._block()
        items, w.items = w.items or [], outer
        if items and (outer is not None or self.guard):
            raise CannotCompile(
                self.s.lineno, "object", f"`{items[0]}` is a Python list that grows in a loop inside a loop"
            )
        kept = ", ".join(f"item_{j}_of_{name}" for j, name in enumerate(items, 1))
        if self.stops:
            return [*self._opening(), *self._until(bind, lines, k, head, length)]
        out = self._turned()
        end = f"return ({out}), ({kept},)" if items else f"return {out}"
        text = [*self._opening(), f"def {self.step}({k}, {self.carry}):", *indent([self._open(), *bind, *lines, end])]
        text += self._started(f"{self.step}(0, c)" + ("[0]" if items else ""))
        if items:
            names = ", ".join(f"items_of_{n}" for n in items)
            text.append(
                f"{self._target()}({names},) = {w.lax}.scan(lambda c, k: {self.step}(k, c), {self.carry}, {w.jnp}.arange({length}))"
            )
        else:
            text.append(f"{self._target(last=True)}{w.lax}.fori_loop(0, {length}, {self.step}, {self.carry})")
        return text + self._final(head, f"({length}) - 1", length)

    def _until(self, bind: list[str], lines: list[str], k: str, head: list[str], length: str) -> list[str]:
        w, state, out = self.w, self.w.fresh("state"), self._names()
        text = [f"def {self.step}({state}):"]
        text += indent(
            [
                f"{k}, {self.stop}, {self.carry} = {state}",
                self._open(),
                *bind,
                *lines,
                f"return {k} + 1, {w.jnp}.asarray({self.stop}, bool), ({self._turned()})",
            ]
        )
        text += self._started(f"{self.step}((0, False, c))[2]")
        going = f"lambda s: (s[0] < {length}) & ~s[1]"
        start = f"({w.jnp}.asarray(0), {self._stopped()}, {self.carry})"
        text.append(f"{k}, {self.stop}, ({out}) = {w.lax}.while_loop({going}, {self.step}, {start})")
        return text + self._final(head, f"{k} - 1", k)

    def _going(self) -> str:
        """Whether the loop goes on."""
        return self.w.text(self._test())

    def by_value(self) -> list[str]:
        """A loop that goes on while a value says so."""
        w, state, out = self.w, self.w.fresh("state"), self._names()
        outer, w.items = w.items, None
        going = self.w.fresh("going")
        test = [
            f"def {going}({state}):",
            *indent(
                [
                    f"{self.stop}, {self.carry} = {state}",
                    self._open(),
                    f"return {w.jnp}.logical_and({w.jnp}.logical_not({self.stop}), {self._going()})",
                ]
            ),
        ]
        lines = self._block()
        w.items = outer
        text = [*test, f"def {self.step}({state}):"]
        text += indent(
            [
                f"{self.stop}, {self.carry} = {state}",
                self._open(),
                *lines,
                f"return {w.jnp}.asarray({self.stop}, bool), ({self._turned()})",
            ]
        )
        text += self._started(f"{self.step}((False, c))[1]")
        text.append(
            f"{self.stop}, ({out}) = {w.lax}.while_loop({going}, {self.step}, ({self._stopped()}, {self.carry}))"
        )
        return text

    def _stopped(self) -> str:
        """Whether the loop has no turn at all, because the branch that it stands under is not taken."""
        return f"{self.w.jnp}.logical_not({self.guard})" if self.guard else f"{self.w.jnp}.asarray(False)"

    def _test(self) -> ast.expr:
        assert isinstance(self.s, ast.While)
        return self.s.test

    def _block(self) -> list[str]:
        inner = set(self.before) | set(self.after) | {self.stop}
        opening = [f"{self.stop} = False"] if naming.leaves(self.s.body) else []
        if naming.leaves(self.s.body):
            self.w.moving.add(self.stop)
        outer, self.w.turn = self.w.turn, self.body
        made, self.w.made_of = self.w.made_of, {}
        defined, self.w.defined = self.w.defined, self.w.defined | inner | self.target
        lines = opening + self.w.block(self.body, inner)
        self.w.turn, self.w.defined, self.w.made_of = outer, defined | inner | self.target, made
        return lines

    def _names(self) -> str:
        names = [*self.before, *self.after]
        return ", ".join(names) + "," if names else "()"

    def _given(self) -> list[str]:
        """What the loop begins with."""
        return self.before

    def _may_be_empty(self) -> bool:
        """Whether values decide how many turns there are."""
        args = self.s.iter.args if isinstance(self.s, ast.For) and isinstance(self.s.iter, ast.Call) else []
        return bool(self.guard) or any(map(self.w.expressions.moves, args))

    def _turned(self) -> str:
        """The carried values at the end of a turn."""
        return self._names()

    def _open(self) -> str:
        """Takes the carried values apart; names that have none yet are False until the body binds them."""
        if not self.after:
            return f"{self._names()} = {self.carry}" if self.before else "pass"
        count = len(self.before) + len(self.after)
        return f"{self._names()} = (*{self.carry}, {', '.join(['False'] * len(self.after))})[:{count}]"

    def _started(self, one_step: str) -> list[str]:
        """The carried values before the first turn, in the shapes and types of those after it."""
        return [self._carried(tuple_of(self.before), one_step)]

    def _carried(self, start: str, one_step: str) -> str:
        """Binds the carried values, which begin with those of the tuple `start`."""
        if start == "()" and not self.after:
            return f"{self.carry} = ()"
        first = f"{self.w.ours}.first_carry({self.w.home.library}, lambda c: {one_step}, {start})"
        return f"{self.carry} = {first}"

    def _target(self, last: bool = False) -> str:
        out = self._names()
        if last:
            return f"{out} = " if out != "()" else ""
        return f"({out}), " if out != "()" else "_, "

    def _final(self, head: list[str], k: str, turns: str) -> list[str]:
        """Binds the loop's own names to what they were in the last turn."""
        if not self.ends:
            return []
        bind = [line.format(k=f"({k})") for line in head]
        if self.earlier:
            bind += [f"{n} = {self.w.jnp}.where(({turns}) > 0, {n}, {self.earlier}_{n})" for n in self.ends]
        return bind

    def _opening(self) -> list[str]:
        """Keeps what the loop's own names were before, where it may have no turn in a turn of the loop around it."""
        if not self.ends or not self.w.turn or not self._may_be_empty():
            return []
        self.earlier = self.w.fresh("earlier")
        return [f"{self.earlier}_{n} = {n}" for n in self.ends]


def with_own_targets(s: ast.For, fresh: Callable[[str], str]) -> ast.For:
    """The loop with names of its own for what it goes through, where its turns bind the names anew: they keep what was bound last."""
    names = {n: fresh(f"given_{n}") for n in sorted(naming.bound([s.target]) & naming.bound(s.body))}
    if not names:
        return s
    new = copy.copy(s)
    new.target = Renamed(names).visit(copy.deepcopy(s.target))
    bind = [ast.Assign([ast.Name(n, ast.Store())], ast.Name(of, ast.Load())) for n, of in names.items()]
    new.body = [*(placed_at(b, s) for b in bind), *s.body]
    return new


def _made_inside(body: naming.Statements, early: set[str]) -> set[str]:
    """Names of arrays that each turn makes before it stores into them."""
    return {n for n in naming.bound(body) if n not in early}


def _spread(body: naming.Statements, w: Statements) -> None:
    """Names that are bound to values that move, move."""
    for _ in range(4):
        for s in [n for b in body for n in ast.walk(b)]:
            if isinstance(s, ast.Assign) and w.expressions.moves(s.value):
                w.moving |= {*naming.stored(s.targets)}
            elif isinstance(s, ast.AugAssign) and isinstance(s.target, ast.Name):
                w.moving.add(s.target.id)


def without_leaving(body: list[ast.stmt], stop: str) -> list[ast.stmt]:
    """The same body with flags instead of `break` and `continue`: what stands after them is done only while no flag is set."""
    done: list[ast.stmt] = []
    for k, s in enumerate(body):
        if isinstance(s, ast.Break):
            flag = ast.Assign([ast.Name(stop, ast.Store())], ast.Constant(True))
            return [*done, ast.fix_missing_locations(ast.copy_location(flag, s))]
        if isinstance(s, ast.Continue):
            return done
        if isinstance(s, ast.If) and (naming.leaves(s.body) or naming.leaves(s.orelse)):
            rest = body[k + 1 :]
            ends, other = _always_leaves(s.body), _always_leaves(s.orelse)
            if sum(isinstance(n, ast.If) for r in rest for n in ast.walk(r)) > 8:
                raise CannotCompile(s.lineno, "value read by Python", "the loop is left in the middle of a branch")
            yes = without_leaving([*s.body, *([] if ends else rest)], stop)
            no = without_leaving([*s.orelse, *([] if other else rest)], stop)
            return [*done, ast.copy_location(ast.If(s.test, yes or [ast.copy_location(ast.Pass(), s)], no), s)]
        done.append(s)
    return done


def _always_leaves(body: naming.Statements) -> bool:
    return bool(body) and isinstance(body[-1], (ast.Break, ast.Continue)) and not naming.leaves(body[:-1])


def indent(lines: list[str]) -> list[str]:
    """The lines one level further in."""
    return ["    " + line for line in lines]


def tuple_of(parts: list[str]) -> str:
    """The text of a tuple of these."""
    return f"({', '.join(parts)},)" if parts else "()"
