"""The smallest program that still fails in the same way."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Iterator

import numpy as np

from .programs import Call, Function, Program, Statement, Var
from .running import Failure, alone


TRIES = 300
SECONDS = 60.0


def shrunk(failure: Failure, judge: Callable[[Program], Failure | None] = alone) -> Failure:
    """The failure of the smallest program found: `failure` itself if nothing smaller fails likewise."""
    best, tries, end = failure, 0, time.monotonic() + SECONDS
    while True:
        for candidate in smaller(best.program):
            if tries == TRIES or time.monotonic() > end:
                return best
            if _size(candidate) >= _size(best.program):
                continue
            tries += 1
            found = judge(candidate)
            if found is not None and found.kind == failure.kind:
                best = found
                break
        else:
            return best


def report(failure: Failure, judge: Callable[[Program], Failure | None] = alone) -> str:
    """The failing program, what was expected, and the smallest one that fails likewise, both to be pasted and run."""
    small = shrunk(failure, judge)
    return (
        f"program {failure.program.seed} ({' of '.join(failure.program.chain)}) fails: {failure.reason}\n\n"
        f"{failure.program.source()}\nThe smallest program that fails likewise ({small.reason}):\n\n{small.program.source()}"
    )


def _size(program: Program) -> tuple[int, ...]:
    """Combinators, then operations, then the length of the text."""
    found = [body[i] for body, i in program.function.statements()]
    combinators = sum(isinstance(s, Call) and s.text != s.direct for s in found)
    operations = sum(bool(s.args) for s in found)
    return combinators, operations, len(program.function.results), len(program.text())


def smaller(program: Program) -> Iterator[Program]:
    """Programs with something less, those with most less first."""
    for _, call in program.function.calls():
        for held in call.held:
            yield _promoted(program, held)
    yield _changed(program, _without_unread)
    for i, s in enumerate(program.function.body):
        for j in range(len(s.targets)):
            yield _changed(program, lambda f, i=i, j=j: _ended(f, i, j))
    count = sum(1 for _ in program.function.statements())
    for change in (_as_constant, _as_direct, _dropped):
        for k in range(count):
            yield _changed(program, lambda f, k=k, change=change: change(f, *_place(f, k)))


def _place(function: Function, number: int) -> tuple[list[Statement], int]:
    return list(function.statements())[number]


def _changed(program: Program, change: Callable[[Function], None]) -> Program:
    function = copy.deepcopy(program.function)
    change(function)
    return Program(program.seed, program.chain, function, program.constants, program.args)


def _promoted(program: Program, held: Function) -> Program:
    """A function inside as the whole program; what it reads from outside becomes constant."""
    function = copy.deepcopy(held)
    function.body = [_constant(v) for v in function.free()] + function.body
    function.name, function.opening = "program", []
    function.params = ", ".join(v.name for v in function.vars)
    rng = np.random.default_rng(program.seed)
    args = [np.array(1) if v.integer else np.round(rng.normal(size=v.shape) * 0.8, 3) for v in function.vars]
    return Program(program.seed, program.chain, function, program.constants, args)


def _constant(v: Var) -> Statement:
    text = "np.int64(1)" if v.integer else f"np.full({v.shape}, 0.5)" if v.shape else "np.float64(0.5)"
    return Statement([v], text, [])


def _ended(function: Function, i: int, j: int) -> None:
    """With what statement `i` gives as the only result."""
    function.body = function.body[: i + 1]
    function.results, function.returned = [function.body[i].targets[j]], "{0}"


def _as_constant(function: Function, body: list[Statement], i: int) -> None:
    """What a statement gives, as constants."""
    body[i : i + 1] = [_constant(t) for t in body[i].targets]


def _as_direct(function: Function, body: list[Statement], i: int) -> None:
    """The function that a combinator was given, its body in place of the call."""
    call = body[i]
    if not isinstance(call, Call) or not call.direct:
        return
    (held,) = call.held
    if len(held.vars) == len(call.args) and held.returned == "{0}":
        body[i : i + 1] = held.body
        _replace(function, dict(zip(held.vars, call.args)) | {call.targets[0]: held.results[0]})
    else:
        call.text, call.before = call.direct, []


def _dropped(function: Function, body: list[Statement], i: int) -> None:
    """An operation left out: one of its operands in its place."""
    statement = body[i]
    target = statement.targets[0]
    same = [a for a in statement.args if (a.shape, a.integer) == (target.shape, target.integer)]
    if same and not isinstance(statement, Call):
        del body[i]
        _replace(function, {target: same[0]})


def _replace(function: Function, new: dict[Var, Var]) -> None:
    """Read other variables."""

    def of(v: Var) -> Var:
        return of(new[v]) if v in new else v

    for body, i in function.statements():
        body[i].args = [of(a) for a in body[i].args]
    for f in _functions(function):
        f.results = [of(r) for r in f.results]


def _functions(function: Function) -> Iterator[Function]:
    yield function
    for s in function.body:
        for f in s.functions():
            yield from _functions(f)


def _without_unread(function: Function) -> None:
    """Without the statements that nobody reads."""
    while True:
        read = {id(v) for statements, k in function.statements() for v in statements[k].args}
        read |= {id(r) for f in _functions(function) for r in f.results}
        dead = [(body, i) for body, i in function.statements() if not any(id(t) in read for t in body[i].targets)]
        if not dead:
            return
        for body, i in reversed(dead):
            del body[i]
