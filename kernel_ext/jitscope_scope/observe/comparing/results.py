"""How far the results of two programs are apart."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from jitscope.backend.call_arguments import CallArguments
from jitscope.xla import client

from .sides import Side


class Apart(NamedTuple):
    """The largest absolute and relative difference of all elements, and where each is; `why` they could not be compared, "" if they
    were. NaN at the same place in both is no difference; at one alone, or infinities that differ, an infinite one (None, as documents
    have no infinities), told in `where`."""

    absolute: float | None
    relative: float | None
    where: str
    equal: bool
    why: str = ""


def apart(one: Side, other: Side) -> Apart:
    """The results of one run of each, if they get the same arguments."""
    why = _incomparable(one, other)
    if why:
        return Apart(None, None, "", False, why)
    results = [_run(side) for side in (one, other)]
    if any(value is None for values in results for value in values):
        return Apart(None, None, "", False, "some results are no plain numbers")
    pairs = list(zip(*results, strict=True))
    return _largest(pairs)


def _incomparable(one: Side, other: Side) -> str:
    if one.argument_types != other.argument_types:
        return "they ran on arguments of different shapes or dtypes"
    if list(one.executable.outputs) != list(other.executable.outputs):
        return "they give results of different shapes or dtypes"
    if one.rerun.on != other.rerun.on:
        return "they did not run on the arguments of one call"
    if one.rerun.stand_ins and not _same_stand_ins(one, other):
        return "what they capture is gone, too, or they read different arguments"
    if not one.rerun.stand_ins and one.row is not other.row and not _same(one.given, other.given):
        return "they ran on different arguments"
    return ""


def _same_stand_ins(one: Side, other: Side) -> bool:
    """Whether random numbers of the same types are the same arguments for both."""
    if one.row is other.row:
        return True
    captured, read = one.row.takes.arguments if one.row.takes is not None else (1, [])
    return not captured and other.row.takes is not None and other.row.takes.arguments == (0, read)


def _same(one: CallArguments | None, other: CallArguments | None) -> bool:
    """Whether two calls had equal arguments."""
    if one is other:
        return True
    arrays = [given.arrays() if given is not None else None for given in (one, other)]
    first, second = arrays
    if first is None or second is None or len(first) != len(second):
        return False
    return all(a is b or _equal(a, b) for a, b in zip(first, second, strict=True))


def _equal(a: Any, b: Any) -> bool:
    """Whether two arrays, of the compiler's own or of another library, hold the same; not known of keys that are two objects."""
    if a.aval != b.aval:
        return False
    try:
        return np.array_equal(*(_plain(getattr(x, "buf", x)) for x in (a, b)), equal_nan=False)
    except TypeError:
        return False


def _run(side: Side) -> list[np.ndarray | None]:
    outs = side.rerun.run(side.rerun.prepared())
    return [_numbers(out) for out in outs]


def _plain(buf: Any) -> np.ndarray:
    return np.asarray(client.to_numpy(buf))


def _numbers(buf: Any) -> np.ndarray | None:
    found = _plain(buf)
    if found.dtype.kind == "c":
        return found.astype(np.complex128)
    try:
        return found.astype(np.float64)
    except (TypeError, ValueError):
        return None


def _told_apart(a: Any, b: Any) -> str:
    """Two numbers that differ, with as many digits as show that, and no fewer than seven."""
    told = (f"{a:.{digits}g} and {b:.{digits}g}" for digits in range(7, 18))
    return next((both for both in told if len(set(both.split(" and "))) == 2), f"{a!r} and {b!r}")


def _largest(pairs: list[tuple[Any, Any]]) -> Apart:
    absolute, relative, where = 0.0, 0.0, ""
    for number, (a, b) in enumerate(pairs):
        if not a.size:
            continue
        same = (a == b) | (np.isnan(a) & np.isnan(b))
        with np.errstate(all="ignore"):
            gap = np.where(same, 0.0, np.abs(a - b))
            part = np.where(same, 0.0, gap / np.maximum(np.abs(a), np.abs(b)))
        odd = ~np.isfinite(gap)
        if odd.any():
            return Apart(
                None, None, f"{_place(number, odd.argmax(), a.shape)}: one is {a[odd][0]}, the other {b[odd][0]}", False
            )
        if gap.max() > absolute:
            at = int(gap.argmax())
            absolute, where = float(gap.max()), f"{_place(number, at, a.shape)}: {_told_apart(a.flat[at], b.flat[at])}"
        relative = max(relative, float(part.max()))
    return Apart(absolute, relative, where, absolute == 0.0)


def _place(number: int, at: Any, shape: tuple[int, ...]) -> str:
    index = ", ".join(str(int(i)) for i in np.unravel_index(int(at), shape)) if shape else ""
    return f"result {number}[{index}]" if shape else f"result {number}"
