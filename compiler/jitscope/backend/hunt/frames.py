"""Where the hunt stands: a straight program with the values it was given, and the loop or branch around it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ...core import call_sites
from ...core.forgetful_caches import RecencyCache
from ...core.jaxpr import Atom, ClosedJaxpr, JaxprEqn, Var, subpath
from ..array import to_array
from ..watching import Test, has_bad, nans
from .finding import Iteration
from .flat import flat
from .programs import CLEAN, Choice, can_be_bad, flags, needed_for, propagates, run, stopping_loop, values


_array: Any = to_array
_AT_ONCE = 256
"""Values that are asked about together, where what is not known yet leads far back."""


class Frame:
    """A program that runs once: the whole one, a branch, or one iteration of a loop.

    `order` are numbers that sort equations of all frames as they ran; `owner` is what the program is part of.
    """

    def __init__(
        self,
        closed: ClosedJaxpr,
        args: Sequence[Any],
        prefix: str = "",
        order: tuple[int, ...] = (),
        iterations: tuple[Iteration, ...] = (),
        owner: Branch | LoopIteration | None = None,
    ):
        self.flat, self.args = flat(closed), list(args)
        self.prefix, self.order, self.iterations, self.owner = prefix, order, iterations, owner
        self._known: dict[tuple[Any, Test], bool] = {}
        self._looked_through: set[Test] = set()
        self._entered: dict[int, Any] = {}

    def path(self, i: int) -> str:
        return self.prefix + self.flat.paths[i]

    def values(self, atoms: Sequence[Atom]) -> list[Any]:
        return values(self.flat, self.args, atoms)

    def ask(self, asked: Iterable[Var | Choice], test: Test, shown: Sequence[Var] = ()) -> list[Any]:
        """Have it known of values whether they are bad; gives the values `shown`, as the program that tells computed them."""
        fresh = [one for one in dict.fromkeys(asked) if (one, test) not in self._known]
        fresh = [one for one in fresh if not isinstance(one, Var) or can_be_bad(one.aval)]
        if not fresh:
            return []
        found, *values = run(flags(self.flat, fresh, test, shown), self.args)
        self._known.update(((one, test), bool(flag)) for one, flag in zip(fresh, np.asarray(found).tolist()))
        return values

    def is_bad(self, var: Var, test: Test) -> bool:
        self.ask([var], test)
        return self._known.get((var, test), False)

    def look_through(self, wanted: Sequence[Var], test: Test, shown: Sequence[Var] = ()) -> list[Any]:
        """Have as much known as a walk from these values will need; see `propagates`. Gives the values `shown`."""
        if test in self._looked_through or test is not nans or not wanted:
            return self.ask(wanted, test, shown)
        self._looked_through.add(test)
        needed = needed_for(self.flat, set(wanted))
        asked: dict[Any, None] = dict.fromkeys(wanted)
        asked.update(dict.fromkeys(self.flat.inputs))
        for i in needed:
            eqn = self.flat.eqns[i]
            if not propagates(eqn, test):
                asked.update(dict.fromkeys(self.asked_of(i)))
                asked.update(dict.fromkeys(eqn.outvars))
        values = self.ask(asked, test, shown)
        for i in needed:  # what a bad operand is sure to have made bad
            eqn = self.flat.eqns[i]
            if propagates(eqn, test) and any(self._known.get((a, test)) for a in eqn.invars):
                self._known[eqn.outvars[0], test] = True
        return values

    def asked_of(self, i: int) -> list[Any]:
        """What to ask to know which operands of an equation are guilty."""
        eqn = self.flat.eqns[i]
        if eqn.primitive.name == "select_n":
            return [Choice(i, k) for k, a in enumerate(eqn.invars) if k and isinstance(a, Var) and can_be_bad(a.aval)]
        return [a for a in eqn.invars if isinstance(a, Var)]

    def guilty(self, i: int, test: Test) -> list[Var]:
        """The operands of an equation from which a bad element of its result may be; of a choice, those that were chosen."""
        eqn = self.flat.eqns[i]
        asked = self.asked_of(i)
        if any(self._known.get((one, test)) for one in asked):
            return self._bad_of(eqn, asked, test)
        if any((one, test) not in self._known for one in asked):
            self.ask(self._before(i, test), test)
        return self._bad_of(eqn, asked, test)

    def _bad_of(self, eqn: JaxprEqn, asked: list[Any], test: Test) -> list[Var]:
        bad = [one for one in asked if self._known.get((one, test))]
        return [eqn.invars[one.operand] if isinstance(one, Choice) else one for one in bad]  # pyright: ignore

    def _before(self, i: int, test: Test) -> list[Any]:
        """What is not known yet of the equation and of those that lead to it, the nearest ones."""
        todo, found, read = [i], {}, {i}
        while todo and len(found) < _AT_ONCE:
            index = todo.pop(0)
            for one in self.asked_of(index):
                if (one, test) in self._known:
                    continue
                found[one] = None
                var = self.flat.eqns[index].invars[one.operand] if isinstance(one, Choice) else one
                maker = self.flat.makers.get(var)  # pyright: ignore[reportArgumentType]
                if maker is not None and maker not in read:
                    read.add(maker)
                    todo.append(maker)
        return list(found)

    def inside(self, i: int) -> Any:
        """What an equation that holds programs is entered by; None for others."""
        eqn = self.flat.eqns[i]
        kinds = {"cond": Branch, "scan": Scan, "while": While}
        if eqn.primitive.name not in kinds:
            return None
        if i not in self._entered:
            self._entered[i] = kinds[eqn.primitive.name](self, i, eqn)
        return self._entered[i]


class Branch:
    """The branch that a `cond` took."""

    def __init__(self, frame: Frame, index: int, eqn: JaxprEqn):
        self.frame, self.index, self.eqn = frame, index, eqn
        number, *operands = frame.values(eqn.invars)
        branches = eqn.params["branches"]
        taken = min(max(int(np.asarray(number)), 0), len(branches) - 1)
        segment = f"branches{taken}" if len(branches) > 1 else ""
        prefix = subpath(frame.path(index), segment)
        self.inner = Frame(branches[taken], operands, prefix, (*frame.order, index, 0), frame.iterations, self)

    def operand(self, place: int) -> Atom:
        """The operand that an argument of the branch is."""
        return self.eqn.invars[place + 1]


class LoopIteration:
    """One iteration of a loop. `since` tells of each part of the carry at its start since when it is bad, by test."""

    def __init__(self, loop: Loop, number: int, carry: Sequence[Any]):
        self.loop, self.number = loop, number
        frame, where = loop.frame, call_sites.user_position(loop.eqn.traceback)
        iteration = Iteration(number, loop.length, where)
        self.frame, self.index, self.eqn = frame, loop.index, loop.eqn
        self.inner = Frame(
            loop.body,
            loop.arguments(number, carry),
            subpath(frame.path(loop.index), loop.segment),
            (*frame.order, loop.index, number),
            (*frame.iterations, iteration),
            self,
        )


class Loop:
    """A loop with the values of its operands."""

    body: ClosedJaxpr
    segment = ""
    length: int | None = None
    first: int
    """The number of the body's arguments before the carry."""

    def __init__(self, frame: Frame, index: int, eqn: JaxprEqn):
        self.frame, self.index, self.eqn = frame, index, eqn
        self.operands = frame.values(eqn.invars)
        self.entered: dict[int, LoopIteration] = {}
        self._runs = RecencyCache(8)

    def until(self, stop: int, test: Test) -> tuple[int, list[Any], dict[int, int], int]:
        """The number of iterations before `stop`, the carry then, since when each part of it has been bad, and since when any
        part that was not so from the start."""
        if (stop, test) not in self._runs:
            program, looked = stopping_loop(self.eqn, test)
            count, *carry, since, together = run(program, [np.int32(stop), *self.operands])
            since = dict(zip(looked, np.asarray(since).tolist()))
            found = int(np.asarray(count)), carry, since, int(np.asarray(together))
            return self._runs.keep((stop, test), found)
        return self._runs[stop, test]

    def iteration(self, number: int, test: Test) -> LoopIteration:
        if number not in self.entered:
            self.entered[number] = LoopIteration(self, number, self.until(number, test)[1])
        return self.entered[number]

    def arguments(self, number: int, carry: Sequence[Any]) -> list[Any]:
        """Those of the body in an iteration."""
        raise NotImplementedError

    def operand(self, place: int) -> Atom | None:
        """The operand that an argument of the body comes from; None for the carry."""
        raise NotImplementedError

    def initial(self, k: int) -> Atom:
        """The operand that a part of the carry begins as."""
        raise NotImplementedError

    def bad_since(self, out: int, test: Test) -> int:
        """The iteration that made a result of the loop bad."""
        return self.until(_ALWAYS, test)[2].get(out, CLEAN)


_ALWAYS = np.iinfo(np.int32).max


class Scan(Loop):
    def __init__(self, frame: Frame, index: int, eqn: JaxprEqn):
        super().__init__(frame, index, eqn)
        self.body, self.length = eqn.params["jaxpr"], eqn.params["length"]
        self.first, self.carried = eqn.params["num_consts"], eqn.params["num_carry"]

    def place(self, number: int) -> int:
        """Which elements an iteration takes and gives."""
        return self.eqn.params["length"] - 1 - number if self.eqn.params["reverse"] else number

    def arguments(self, number: int, carry: Sequence[Any]) -> list[Any]:
        xs = [array[self.place(number)] for array in map(_array, self.operands[self.first + self.carried :])]
        return [*self.operands[: self.first], *carry, *xs]

    def operand(self, place: int) -> Atom | None:
        of_carry = self.first <= place < self.first + self.carried
        return None if of_carry else self.eqn.invars[place]

    def initial(self, k: int) -> Atom:
        return self.eqn.invars[self.first + k]

    def bad_since(self, out: int, test: Test) -> int:
        if out < self.carried:
            return super().bad_since(out, test)
        (stacked,) = self.frame.values([self.eqn.outvars[out]])
        return min(map(self.place, has_bad(stacked, test).nonzero()[0].tolist()), default=CLEAN)


class While(Loop):
    segment = "body_jaxpr"

    def __init__(self, frame: Frame, index: int, eqn: JaxprEqn):
        super().__init__(frame, index, eqn)
        self.body = eqn.params["body_jaxpr"]
        self.of_condition, self.first = eqn.params["cond_nconsts"], eqn.params["body_nconsts"]

    def arguments(self, number: int, carry: Sequence[Any]) -> list[Any]:
        return [*self.operands[self.of_condition : self.of_condition + self.first], *carry]

    def operand(self, place: int) -> Atom | None:
        return self.eqn.invars[self.of_condition + place] if place < self.first else None

    def initial(self, k: int) -> Atom:
        return self.eqn.invars[self.of_condition + self.first + k]
