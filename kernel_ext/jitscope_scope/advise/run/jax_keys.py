"""Random keys that jax's programs use up: what is told where a second one draws from the same key.

A key is the array of its words. One that is made anew of the same seed, or cloned, is another one, and so is an element of an array of
keys each time it is taken. What an installed library does with keys of its own is its affair: there a use counts if the user's line
hands it the key. Objects that are made from one key are meant to be equal.
"""

from __future__ import annotations

import re
import weakref
from collections.abc import Iterable, Iterator
from types import CodeType, FrameType
from typing import Any, NamedTuple

from jitscope.core import notices, source
from jitscope.core.avals import ShapedArray
from jitscope.core.jaxpr import Jaxpr, Literal, subjaxprs
from jitscope.core.source import Position

from ...jaxwatch import Run, buffer_of, room_of
from ...observe.stacks import is_installed


_USE = frozenset(("random_bits", "random_split"))
_NO_USE = frozenset(("fold_in", "clone", "key_data", "wrap_key_data", "key_impl", "key", "PRNGKey"))
"""Functions of `jax.random` that use no key up."""
_ORDERS = frozenset(("permutation", "choice"))
"""Functions that bring arrays into an order: two arrays are often brought into one on purpose."""
_CALLS = frozenset(("jit", "pjit", "closed_call", "core_call", "remat", "remat2", "checkpoint", "custom_jvp_call",
                    "custom_vjp_call"))  # fmt: skip
_MESSAGE = "a random key was used twice{first}: the numbers drawn with it are not independent of each other."
_FIX = (
    "Split it first: key, own = jax.random.split(key), and use each part once; jax.random.clone(key) where the same numbers "
    "are wanted."
)


class _Line(NamedTuple):
    """A line of the user's that led to a run; `makes`: its function, or the library's that calls it, makes an object."""

    where: Position
    makes: bool


_Stack = list[_Line]
"""The user's lines that led to a run, the outermost first."""
_MAKING = re.compile(r"_*(init|make|create|build|reset|tabulate)", re.IGNORECASE)


class _Use(NamedTuple):
    """A use of a key: the user's lines that led to it, and whether a library made it of what it was handed."""

    key: Any
    stack: _Stack
    by_library: bool
    sampler: str
    """The function of `jax.random` that was called; "" in a compiled program."""


class KeysOfJax:
    """The keys that were used up so far, while they are there, and the lines that did."""

    def __init__(self) -> None:
        self._used: dict[int, _Use] = {}
        self._of: dict[int, tuple[Any, list[int]]] = {}
        self._drawing: FrameType | None = None

    def ran(self, run: Run) -> None:
        """Note what a run uses up, and tell of a key that was used before."""
        drawing = _drawing(run)
        if drawing is not None and drawing is self._drawing:
            return  # one draw, several programs
        self._drawing = drawing
        keys = [buffer_of(x) for x in (self._given(run) if drawing is None else _key_of(drawing))]
        library = _library(run)
        if library is not None:
            passed = _passed(library)
            keys = [key for key in keys if id(key) in passed]
        if not keys or (library is not None and _makes(run)):
            return
        stack, by_library = list(_users_lines(run)), library is not None and not _is_of_user(run)
        sampler = drawing.f_code.co_name if drawing is not None else ""
        for key in keys:
            before = self._used.get(id(key))
            if before is None or before.key() is not key:
                self._used[id(key)] = _Use(weakref.ref(key), stack, by_library, sampler)
            elif not (before.sampler in _ORDERS and sampler in _ORDERS and _are_two(before.stack, stack)):
                _tell(before, stack, by_library)

    def _given(self, run: Run) -> list[Any]:
        """The keys that a program is given and uses up."""
        return [run.args[at] for at in self._numbers(run)]

    def _numbers(self, run: Run) -> list[int]:
        """Which arguments of a program are single keys that it uses up."""
        program = run.program
        if id(program) not in self._of:
            jaxpr = program.translation.jaxpr
            given = {v: at for at, v in enumerate(jaxpr.invars) if is_one_key(v.aval)}
            self._of[id(program)] = program, sorted(used_up(jaxpr, given))
        return self._of[id(program)][1]


def _library(run: Run) -> FrameType | None:
    """The call of an installed library's function, other than jax's, that the user's line makes and a run belongs to."""
    found = None
    for frame in run.stack():
        if is_installed(frame.f_code.co_filename) and not source.is_internal(frame.f_code.co_filename):
            found = frame
        elif not source.is_internal(frame.f_code.co_filename):
            return found
    return found


def _makes(run: Run) -> bool:
    """Whether a run belongs to a library that makes an object, a layer for instance."""
    return any(is_installed(code.co_filename) and _MAKING.match(code.co_name) for code in run.passed())


def _passed(call: FrameType) -> set[int]:
    """The identities of the arrays that a call is handed, alone, or in a list, a tuple or a dict."""
    values = [call.f_locals[name] for name in _parameters(call.f_code) if name in call.f_locals]
    inner = [x for value in values for x in _elements(value)]
    return {id(buffer_of(x)) for x in (*values, *inner, *(x for value in inner for x in _elements(value)))}


def _parameters(code: CodeType) -> tuple[str, ...]:
    count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4) + bool(code.co_flags & 8)
    return code.co_varnames[:count]


def _elements(value: Any) -> Iterable[Any]:
    if type(value) is dict:
        return value.values()
    return value if type(value) in (list, tuple) else ()


def _is_of_user(run: Run) -> bool:
    """Whether the program that runs is a function of the user's, which a library's compiler calls."""
    defined = run.program.translation.jaxpr.debug.defined
    return defined is not None and source.in_program(defined.file)


def _drawing(run: Run) -> FrameType | None:
    """The call of a function of `jax.random` that led to a run outside of a compiled function; None where there is none."""
    found = None
    for frame in run.stack():
        if source.in_program(frame.f_code.co_filename):
            return found
        if room_of(frame.f_code) == "random":
            found = frame
    return found


def _key_of(drawing: FrameType) -> list[Any]:
    """The key that a call of a function of `jax.random` uses up, if it is a single one."""
    key = drawing.f_locals.get("key")
    if drawing.f_code.co_name in _NO_USE or key is None:
        return []
    shape = getattr(key, "shape", None)
    typed = str(getattr(key, "dtype", "")).startswith("key<")
    return [key] if shape == (() if typed else (2,)) else []


def is_one_key(aval: Any) -> bool:
    """A key, or the two words that may be one."""
    if not isinstance(aval, ShapedArray):
        return False
    return (
        aval.shape == () if str(aval.dtype).startswith("key<") else aval.shape == (2,) and str(aval.dtype) == "uint32"
    )


def used_up(jaxpr: Jaxpr, keys: dict[Any, int], folded: bool = False) -> set[int]:
    """The numbers of those keys that a program certainly uses up, whatever it branches on; `keys` gives those of variables. `folded`: so are
    those of which it uses up what they become with a number that is written in the program."""
    keys, used = dict(keys), set()
    for eqn in jaxpr.eqns:
        given = [None if isinstance(a, Literal) else keys.get(a) for a in eqn.invars]
        if given.count(None) == len(given):
            continue
        inner = subjaxprs(eqn.params)
        if eqn.primitive.name in _USE:
            used.update(number for number in given[:1] if number is not None)
        elif given[0] is not None and (
            eqn.primitive.name == "random_wrap"
            or (folded and eqn.primitive.name == "random_fold_in" and isinstance(eqn.invars[1], Literal))
        ):
            keys[eqn.outvars[0]] = given[0]
        elif eqn.primitive.name in _CALLS and len(inner) == 1 and len(inner[0][1].jaxpr.invars) == len(given):
            own = inner[0][1].jaxpr
            used |= used_up(own, {v: number for v, number in zip(own.invars, given) if number is not None}, folded)
    return used


def _users_lines(run: Run) -> Iterator[_Line]:
    making: list[str] = []
    for code, lasti in reversed([(f.f_code, f.f_lasti) for f in run.stack()]):
        if is_installed(code.co_filename):
            making.append(code.co_name)
        elif not source.is_internal(code.co_filename):
            yield _Line(source.position_in(code, lasti), any(map(_MAKING.match, [*making, code.co_name])))
            making.clear()


def _are_two(first: _Stack, again: _Stack) -> bool:
    """Whether two calls that the code writes used a key, and not one that ran twice."""
    return bool(first) and bool(again) and first[-1].where != again[-1].where


def _tell(first: _Use, again: _Stack, by_library: bool) -> None:
    """The line is that where the calls that led to both uses part: the caller of a function that draws, not the function."""
    at = next((at for at, (a, b) in enumerate(zip(first.stack, again)) if a.where != b.where), None)
    if at is None and (by_library or first.by_library):
        return  # it may be one call of the library's
    if at is not None and any(line.makes for line in (*first.stack[at + 1 :], *again[at + 1 :])):
        return
    before, where = (
        (None, again[-1].where if again else None) if at is None else (first.stack[at].where, again[at].where)
    )
    said = "" if before is None or where is None or before.file != where.file else f", first in line {before.line}"
    notices.tell("key-reuse", _MESSAGE.format(first=", by the same line" if at is None else said), _FIX, where)
