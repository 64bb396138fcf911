"""Errors of jax's that tell of a sharp bit: they carry prose alone, so that their first words tell which; what caused them stands in
the frames that they went through."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from types import FrameType
from typing import Any, NamedTuple

from jitscope.core import call_sites
from jitscope.core.source import Position, is_internal

from ..source_code.frames import entries, position_of
from ..source_code.places import path_at, position_of_result, result_of
from . import private
from .walking import is_closed


class Mistake(NamedTuple):
    """An id of `advise.catalogue`, the position that caused the error where that is another than the line that raised, and a sentence
    on what jax's error does not tell."""

    sharp_bit: str
    where: Position | None = None
    told: str = ""


def mistake(error: BaseException) -> Mistake | None:
    """The sharp bit that an error of jax's tells of; None where it tells of none, or is not known."""
    if not private.there():
        return None
    if (known := getattr(error, _KEPT, None)) is not None:
        return known
    said = str(error)
    for words, found in _TOLD:
        if (match := words.match(said)) is not None:
            return found(error, match) if callable(found) else Mistake(found)
    return None


def remember_mistake(error: BaseException) -> None:
    """Keep what caused an error, before jax's frames, which tell it, are taken out of its traceback."""
    with suppress(Exception):  # showing an error must not make another
        if (found := mistake(error)) is not None:
            setattr(error, _KEPT, found)


_KEPT = "jitscope_mistake"


def warned(text: str) -> str:
    """The sharp bit that a warning of jax's tells of, or ""."""
    return next((found for words, found in _WARNED if private.there() and words in text), "")


_WARNED = (
    ("is not available, and will be truncated to dtype", "x64-truncation"),
    ("Some donated buffers were not usable", "donation-misuse"),
)


# --- what caused it -----------------------------------------------------------------------------------------------------


def _frames(error: BaseException) -> Iterator[FrameType]:
    """jax's frames, the innermost first."""
    frames = [one.tb_frame for one in entries(error.__traceback__)]
    return (one for one in reversed(frames) if one.f_code.co_filename.startswith(private.folder()))


def _carry(error: BaseException, match: re.Match[str]) -> Mistake:
    """A carry that goes out otherwise than it comes in: where its first such part is made, else what the body returns."""
    for frame in _frames(error):
        closed, function = private.body_of_loop(frame)
        if is_closed(closed):
            made = _first_differing(closed.jaxpr, zip(closed.in_avals, closed.jaxpr.outvars))
            return Mistake("loop-carry-mismatch", made or position_of_result(function))
    return Mistake("loop-carry-mismatch")


def _branches(error: BaseException, match: re.Match[str]) -> Mistake:
    """Branches that give different types: where the first differing result of the second is made, else what it returns."""
    for frame in _frames(error):
        closed, function = private.branches(frame)
        if closed and all(map(is_closed, closed)):
            other = next((one for one in closed if _types(one) != _types(closed[0])), closed[-1])
            return _differing(closed[0], other, function)
    return Mistake("cond-branch-mismatch")


def _differing(one: Any, other: Any, function: Any) -> Mistake:
    pairs = [(a.aval, b) for a, b in zip(one.jaxpr.outvars, other.jaxpr.outvars)]
    alike = len(one.jaxpr.outvars) == len(other.jaxpr.outvars)
    made = _first_differing(other.jaxpr, pairs) if alike else None
    if made is None and alike:
        made = _first_differing(one.jaxpr, [(b.aval, a) for a, b in zip(one.jaxpr.outvars, other.jaxpr.outvars)])
    return Mistake("cond-branch-mismatch", made or position_of_result(function) or _of_debug(other.jaxpr))


def _types(closed: Any) -> list[Any]:
    return [(a.shape, a.dtype) for a in closed.out_avals]


def _first_differing(jaxpr: Any, pairs: Any) -> Position | None:
    """Where the first of some results is made whose type is not the other one."""
    for wanted, atom in pairs:
        if (atom.aval.shape, atom.aval.dtype) != (wanted.shape, wanted.dtype):
            eqn = next((eqn for eqn in jaxpr.eqns if any(v is atom for v in eqn.outvars)), None)
            return call_sites.user_position(eqn.source_info.traceback) if eqn is not None else None
    return None


def _of_debug(jaxpr: Any) -> Position | None:
    info = getattr(jaxpr, "debug_info", None)
    return _result_at(str(getattr(info, "func_src_info", "")))


_AT = re.compile(r"(?P<name>\S+) at (?P<file>.+?):(?P<line>\d+)")


def _result_at(said: str) -> Position | None:
    """What a function returns that a text names by its place."""
    at = _AT.search(said)
    if at is None or is_internal(at["file"]):
        return None
    line = int(at["line"])
    return result_of(Position(at["file"], line, line, 0, 0, at["name"].rpartition(".")[2]))


def _result(error: BaseException, match: re.Match[str]) -> Mistake:
    return Mistake("not-a-jax-type", _result_at(match["function"]))


def _argument(error: BaseException, match: re.Match[str]) -> Mistake:
    """An argument that is no array: a text or a member of an enum that is an argument by itself chooses what the program is."""
    whole = re.fullmatch(r"\w+", match["path"]) is not None
    chooses = match["type"] == "str" or match["of"] != "class"
    return Mistake("flag-arg-traced" if whole and chooses else "not-a-jax-type")


def _transposed(error: BaseException, match: re.Match[str]) -> Mistake:
    for frame in _frames(error):
        if (eqn := frame.f_locals.get("eqn")) is not None and hasattr(eqn, "source_info"):
            return Mistake("grad-of-while", call_sites.user_position(eqn.source_info.traceback))
    return Mistake("grad-of-while")


def _differentiated(error: BaseException, match: re.Match[str]) -> Mistake:
    """An argument that has no derivative, by its path."""
    for frame in _frames(error):
        if (refused := private.refused_leaf(frame)) is not None:
            path, kind = refused
            return Mistake("grad-bad-signature", told=f"{path} is {kind}, and gradients are of floats.")
    return Mistake("grad-bad-signature")


def _defined_again(error: BaseException, match: re.Match[str]) -> Mistake:
    """Trees with objects of two classes, which jax's error calls by one name."""
    said = (
        f"Both are of a {match['type']}: two classes have this name, as where the cell that defines it was run again."
    )
    return Mistake("pytree-registered-twice", told=said)


def _metadata(error: BaseException, match: re.Match[str]) -> Mistake:
    """Static data of a tree that cannot be compared: what the class gives that the line makes, or names."""
    users = [one for one in entries(error.__traceback__) if not is_internal(one.tb_frame.f_code.co_filename)]
    if users:
        frame = users[-1].tb_frame
        for name in _names(position_of(users[-1])):
            value = frame.f_locals.get(name, frame.f_globals.get(name))
            flatten = getattr(value if isinstance(value, type) else type(value), "tree_flatten", None)
            if flatten is not None and (where := position_of_result(flatten)) is not None:
                return Mistake("pytree-array-in-aux", where)
    return Mistake("pytree-array-in-aux")


def _names(where: Position) -> list[str]:
    path = path_at(where)
    return [node.id for node in ast.walk(path[0]) if isinstance(node, ast.Name)] if path else []


_CREATED = re.compile(r"created on line (?P<file>.+?):(?P<line>\d+)(?::(?P<column>\d+))?")


def _leaked(error: BaseException, match: re.Match[str]) -> Mistake:
    at = _CREATED.search(str(error))
    if at is None or is_internal(at["file"]):
        return Mistake("tracer-leak")
    line = int(at["line"])
    return Mistake("tracer-leak", Position(at["file"], line, line, 0, 0, ""))


Found = str | Callable[[BaseException, "re.Match[str]"], Mistake]
_TOLD: tuple[tuple[re.Pattern[str], Found], ...] = tuple(
    (re.compile(words, re.DOTALL), found)
    for words, found in (
        (r".{0,80}(?:carry input and carry output must|must have .{0,20}same pytree structure as.{0,40}carry|body_fun output and input must)", _carry),
        (r"(?:cond|switch|platform_dependent) branch(?:es)? (?:outputs? )?must have", _branches),
        (r"scan body output must be a pair", _carry),
        (r"Cannot mutate '?\w+'? from (?:a )?different trace level", "trace-time-mutation"),
        (r"Reverse-mode differentiation does not work for lax\.while_loop", _transposed),
        (r"Gradient only defined for", "grad-bad-signature"),
        (r"(?:grad|jacrev|jacfwd|hessian|value_and_grad)[^.]{0,60} requires (?:real|complex|float)", _differentiated),
        (r"Non-hashable static arguments", "static-unhashable"),
        (r"Error interpreting argument to .* as an abstract array\..* of type <(?P<of>class|enum|flag) '(?P<type>[^']*)'>.* at path (?P<path>\S+?)\.\s", _argument),
        (r"function (?P<function>.{1,300}?) traced for \w+ returned a value of type .* not a valid JAX type", _result),
        (r"Argument .* of type .* is not a valid JAX type", "not-a-jax-type"),
        (r"Exception raised while checking equality of metadata fields of pytree", _metadata),
        (r"pytree structure error: different types.{0,200} subtree of type\s+(?P<type><class '[^']+'>).{0,200} different type\s+(?P=type)", _defined_again),
        (r"Duplicate custom PyTreeDef type registration", "pytree-registered-twice"),
        (r"Encountered an unexpected tracer", _leaked),
        (r"(?:.*[Bb]uffer has been deleted or donated|Array has been deleted|.{0,40}Attempt to donate the same buffer twice|.{0,40}Attempt to use a buffer that was previously donated in the same call)", "donation-misuse"),
        (r"(?:.{0,80}JAX arrays are immutable|'?\w+'? object does not support item assignment\. JAX)", "item-assignment"),
    )
)  # fmt: skip
