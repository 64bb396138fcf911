"""Random keys that jax's programs use up: what is told where a second one draws from the same key.

A key is the array of its words. One that is made anew of the same seed, or cloned, is another one, and so is an element of an array of
keys each time it is taken.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from types import FrameType
from typing import Any

from ...core import notices, source
from ...core.avals import ShapedArray
from ...core.jaxpr import Jaxpr, Literal, subjaxprs
from ...core.source import Position
from ...jaxwatch import Run, buffer_of, room_of
from ...observe.stacks import is_installed


_USE = frozenset(("random_bits", "random_split"))
_NO_USE = frozenset(("fold_in", "clone", "key_data", "wrap_key_data", "key_impl", "key", "PRNGKey"))
"""Functions of `jax.random` that use no key up."""
_CALLS = frozenset(("jit", "pjit", "closed_call", "core_call", "remat", "remat2", "checkpoint", "custom_jvp_call",
                    "custom_vjp_call"))  # fmt: skip
_MESSAGE = "a random key was used twice{first}: the numbers drawn with it are not independent of each other."
_FIX = (
    "Split it first: key, own = jax.random.split(key), and use each part once; jax.random.clone(key) where the same numbers "
    "are wanted."
)
_Stack = list[Position]
"""The user's lines that led to a run, the outermost first."""


class KeysOfJax:
    """The keys that were used up so far, while they are there, and the lines that did."""

    def __init__(self) -> None:
        self._used: dict[int, tuple[Any, _Stack]] = {}
        self._of: dict[int, tuple[Any, list[int]]] = {}
        self._drawing: FrameType | None = None

    def ran(self, run: Run) -> None:
        """Note what a run uses up, and tell of a key that was used before."""
        drawing = _drawing(run)
        if drawing is not None and drawing is self._drawing:
            return  # one draw, several programs
        self._drawing = drawing
        keys = [buffer_of(x) for x in (self._given(run) if drawing is None else _key_of(drawing))]
        if not keys:
            return
        stack = list(_users_lines(run))
        for key in keys:
            before = self._used.get(id(key))
            if before is not None and before[0]() is key:
                _tell(before[1], stack)
            else:
                self._used[id(key)] = weakref.ref(key), stack

    def _given(self, run: Run) -> list[Any]:
        """The keys that a program is given and uses up."""
        return [run.args[at] for at in self._numbers(run)]

    def _numbers(self, run: Run) -> list[int]:
        """Which arguments of a program are single keys that it uses up."""
        program = run.program
        if id(program) not in self._of:
            jaxpr = program.translation.jaxpr
            given = {v: at for at, v in enumerate(jaxpr.invars) if _is_one_key(v.aval)}
            self._of[id(program)] = program, sorted(_used_up(jaxpr, given))
        return self._of[id(program)][1]


def _drawing(run: Run) -> FrameType | None:
    """The call of a function of `jax.random` that led to a run outside of a compiled function; None where there is none."""
    found = None
    for frame in run.stack():
        if not source.is_internal(frame.f_code.co_filename) and not is_installed(frame.f_code.co_filename):
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


def _is_one_key(aval: Any) -> bool:
    """A key, or the two words that may be one."""
    if not isinstance(aval, ShapedArray):
        return False
    return (
        aval.shape == () if str(aval.dtype).startswith("key<") else aval.shape == (2,) and str(aval.dtype) == "uint32"
    )


def _used_up(jaxpr: Jaxpr, keys: dict[Any, int]) -> set[int]:
    """The numbers of those keys that a program certainly uses up, whatever it branches on; `keys` gives those of variables."""
    keys, used = dict(keys), set()
    for eqn in jaxpr.eqns:
        given = [None if isinstance(a, Literal) else keys.get(a) for a in eqn.invars]
        if given.count(None) == len(given):
            continue
        inner = subjaxprs(eqn.params)
        if eqn.primitive.name in _USE:
            used.update(number for number in given[:1] if number is not None)
        elif eqn.primitive.name == "random_wrap" and given[0] is not None:
            keys[eqn.outvars[0]] = given[0]
        elif eqn.primitive.name in _CALLS and len(inner) == 1 and len(inner[0][1].jaxpr.invars) == len(given):
            own = inner[0][1].jaxpr
            used |= _used_up(own, {v: number for v, number in zip(own.invars, given) if number is not None})
    return used


def _users_lines(run: Run) -> Iterator[Position]:
    frames = [(f.f_code, f.f_lasti) for f in run.stack()]
    for code, lasti in reversed(frames):
        if not source.is_internal(code.co_filename) and not is_installed(code.co_filename):
            yield source.position_in(code, lasti)


def _tell(first: _Stack, again: _Stack) -> None:
    """The line is that where the calls that led to both uses part: the caller of a function that draws, not the function."""
    parted = next(((a, b) for a, b in zip(first, again) if a != b), None)
    before, where = parted or (None, again[-1] if again else None)
    said = "" if before is None or where is None or before.file != where.file else f", first in line {before.line}"
    notices.tell("key-reuse", _MESSAGE.format(first=said if parted else ", by the same line"), _FIX, where)
