"""Looks at what programs get and give: for keys used twice (`debug_key_reuse`), for NaNs and infinities (`debug_nans`,
`debug_infs`). What a look needs is loaded when one is on: few programs are watched.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import tree
from ..core import call_sites, config, dtypes, notices
from ..core.avals import ShapedArray, aval_of
from ..core.jaxpr import ClosedJaxpr, equations_in
from ..core.messages import message_here
from ..core.part_types import sums_of
from ..ops.rng import KeyDType
from .array import Array, array_from_numpy


Run = Callable[[Sequence[Any]], Any]
"""Runs a program on buffers."""
Test = Callable[[np.ndarray], np.ndarray]
"""Which elements are bad."""


def nans(x: np.ndarray) -> np.ndarray:
    """Which elements are NaN, for the option `debug_nans`."""
    return np.isnan(x)


def infinities(x: np.ndarray) -> np.ndarray:
    """Which elements are infinite, for the option `debug_infs`."""
    return np.isinf(x)


def nans_and_infinities(x: np.ndarray) -> np.ndarray:
    """Which elements are not finite, where both options are on."""
    return ~np.isfinite(x)


WHAT: dict[Test, str] = {nans: "NaN", infinities: "an infinity", nans_and_infinities: "NaN or an infinity"}


def is_bad(x: Any, test: Test) -> bool:
    """Whether an array has a bad element. Integers, booleans and keys have none."""
    if not dtypes.is_inexact(x.dtype):
        return False
    return bool(test(wide(x)).any())


def numbers(x: Any) -> np.ndarray:
    """The values; of a sum over devices that is still to be taken, its terms."""
    is_open = type(x) is Array and sums_of(x.aval).unreduced
    if is_open:
        return np.stack([np.asarray(s.data) for s in x.addressable_shards])
    return np.asarray(x, getattr(x, "dtype", None) or aval_of(x).dtype)


def has_bad(x: Any, test: Test) -> np.ndarray:
    """For each part of an array along its leading axis, whether it has a bad element."""
    return np.asarray(test(wide(x)).any(axis=tuple(range(1, len(x.shape)))))


def wide(x: Any) -> np.ndarray:
    """The values in a dtype that NumPy's tests know."""
    values = numbers(x)
    return values if values.dtype.kind in "fc" else values.astype(np.float32)


def test_in_force() -> Test | None:
    """What is looked for now, by `debug_nans` and `debug_infs`; None: nothing. Raises RuntimeError with `no_execution`: whoever
    is about to run something asks this first."""
    options = config.settings()
    if options.no_execution:
        raise RuntimeError(
            message_here(
                "the option no_execution is set, and something was to run",
                "jitscope.make_jaxpr, eval_shape and jit(f).lower() look at programs without running them",
            )
        )
    if options.debug_infs:
        return nans_and_infinities if options.debug_nans else infinities
    return nans if options.debug_nans else None


def with_watches(closed: ClosedJaxpr, name: str, run: Run, in_library: bool = True) -> Run:
    """What runs a program, with the looks that the options in force ask for: with `debug_nans` or `debug_infs` at its results, with
    `debug_key_reuse` at the keys it gets. Everything that runs programs asks here, once for each program; the options are part of
    the keys under which those are kept."""
    test = test_in_force()
    if test is not None:
        run = _looking_for(test, closed, name, run)
    if config.settings().sharp_bits:
        run = _telling(closed, name, run, in_library and not _holds_programs(closed))
    counting = config.settings().debug_key_reuse or config.settings().sharp_bits
    return _counting_keys(closed, run, in_library) if counting else run


def _holds_programs(closed: ClosedJaxpr) -> bool:
    """Whether a program has loops or branches: their bodies may be the user's."""
    return any(eqn.primitive.name in ("scan", "while", "cond") for eqn in equations_in(closed.jaxpr))


def _telling(closed: ClosedJaxpr, name: str, run: Run, here: bool) -> Run:
    """A program whose runs are shown to `notices.run_listeners`, with copies of its arguments (it may take over their memory).
    With `here` what they find is in the line that runs it: the program serves many lines."""

    def run_and_tell(bufs: Sequence[Any]) -> Any:
        if not notices.run_listeners or sum(aval.bytes for aval in closed.in_avals) > notices.MOST_COPIED:
            return run(bufs)
        args = [_copied(Array(buf, aval)) for buf, aval in zip(bufs, closed.in_avals)]
        out = run(bufs)
        notices.tell_run(closed, name, args, tree.leaves(out), call_sites.here() if here else None)
        return out

    return run_and_tell


def _copied(x: Array) -> Any:
    """The array with memory of its own; keys and what has no numbers as it is."""
    return x if dtypes.is_extended(x.aval.dtype) else array_from_numpy(np.array(x), x.aval.weak_type)


def _looking_for(test: Test, closed: ClosedJaxpr, name: str, run: Run) -> Run:
    """A program that raises FloatingPointError for bad results, saying which equation made the first one. It may not take
    over its arguments' memory: they are needed for that."""

    def run_and_look(bufs: Sequence[Any]) -> Any:
        out = run(bufs)
        if any(is_bad(x, test) for x in tree.leaves(out)):
            from .hunt import failure

            raise failure(closed, name, [Array(b, a) for b, a in zip(bufs, closed.in_avals)], test, tree.leaves(out))
        return out

    return run_and_look


def look_at(x: Array, name: str) -> None:
    """Raise FloatingPointError for an array made of bad values."""
    test = test_in_force()
    if test is not None and is_bad(x, test):
        raise FloatingPointError(message_here(f"{name} was given {WHAT[test]}"))


def is_key(aval: ShapedArray) -> bool:
    """Whether these are random keys."""
    return isinstance(aval.dtype, KeyDType)


def _counting_keys(closed: ClosedJaxpr, run: Run, in_library: bool) -> Run:
    """A program that raises KeyReuseError where it gets a key for the second time, or uses one twice itself."""
    from .key_reuse import with_key_check

    return with_key_check(closed, run, in_library)
