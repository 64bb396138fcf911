"""`debug_key_reuse`: the keys of this process that were used up, and the check of each call that gets or gives keys.

Labels (`key_uses`) belong to the runtime's buffers: a slice of a key array, taken outside any trace, shares those of the
array. They are forgotten with the buffers.
"""

from __future__ import annotations

import threading
import weakref
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import tree
from ..core import call_sites
from ..core.avals import ShapedArray, aval_of
from ..core.jaxpr import ClosedJaxpr
from .array import Array
from .key_uses import Labels, Summary, Use, key_reuse_error, mentions_keys, refuse, summary
from .watching import is_key


_lock = threading.RLock()
_labels: dict[int, tuple[Any, Labels]] = {}
_used: dict[int, Use] = {}
_parts: list[tuple[frozenset[int], Use]] = []
_alive: Counter[int] = Counter()
_next = 0


def _new(count: int) -> Labels:
    global _next
    _next += count
    return np.arange(_next - count, _next)


def _labels_of(buf: Any, aval: ShapedArray) -> Labels:
    found = _labels.get(id(buf))
    if found is None:
        _file(buf, _new(aval.size))
        found = _labels[id(buf)]
    return found[1]


def _file(buf: Any, labels: Labels) -> None:
    """Give a buffer its labels; they are kept while one buffer has them."""
    number = id(buf)
    _labels[number] = (weakref.ref(buf, lambda _: _forget(number)), labels)
    _alive.update(labels.tolist())


def _forget(number: int) -> None:
    with _lock:
        _, labels = _labels.pop(number)
        gone = []
        for label in labels.tolist():
            _alive[label] -= 1
            if not _alive[label]:
                del _alive[label]
                _used.pop(label, None)
                gone.append(label)
        if gone and _parts:
            _parts[:] = [(part, use) for part, use in _parts if part.isdisjoint(gone)]


class CheckedProgram:
    """A program with a check before it and an account of its results after it. `in_library`: it is a function of this
    library, so that a use is where it was called."""

    def __init__(self, closed: ClosedJaxpr, in_library: bool):
        self.summary: Summary = summary(closed)
        self.in_library = in_library
        self.captured = [(c.buf, c.aval) for c in closed.consts if is_key(aval_of(c))]
        self.own = sum(aval.size for _, aval in self.captured)
        self.places = [(i, aval) for i, aval in enumerate(closed.in_avals) if is_key(aval)]

    def before(self, bufs: Sequence[Any]) -> Labels:
        """Use up what the program uses up. Raises KeyReuseError. Gives the labels of all keys that go in."""
        with _lock:
            given = [_labels_of(buf, aval) for buf, aval in (*self.captured, *[(bufs[i], a) for i, a in self.places])]
            labels = np.concatenate(given) if given else np.empty(0, np.int64)
            call = call_sites.capture()
            uses: dict[int, Use] = {}
            heres: dict[int, Use] = {}  # one for each use of the program: an array may hold a key twice
            for number, use in self.summary.used:
                caller = None if number < self.own else call  # a key that the program captured is used by its own line
                here = heres.setdefault(id(use), Use(call) if self.in_library else Use(use.line, caller))
                label = int(labels[number])
                first = _used.get(label) or uses.get(label)
                if first is not None and first is not here:
                    refuse(key_reuse_error(first, here))
                uses[label] = here
            for part, first in _parts:
                if part <= uses.keys():
                    refuse(key_reuse_error(first, uses[min(part)]))
            for numbers, use in self.summary.parts:
                here = Use(call) if self.in_library else Use(use.line, call)
                part = frozenset(int(labels[n]) for n in numbers)
                if part <= _used.keys():
                    refuse(key_reuse_error(_used[min(part)], here))
                _parts.append((part, here))
            _used.update(uses)
            return labels

    def after(self, labels: Labels, results: Sequence[Array]) -> None:
        """Give the results their labels."""
        with _lock:
            renamed: dict[int, int] = {}
            for out, numbers in zip(results, self.summary.outs):
                if numbers is None:
                    continue
                own = []
                for number in numbers.ravel().tolist():
                    if number >= self.summary.count and number not in renamed:
                        renamed[number] = int(_new(1)[0])
                        if number in self.summary.spent:
                            _used[renamed[number]] = self.summary.spent[number]
                    own.append(renamed[number] if number >= self.summary.count else int(labels[number]))
                _file(out.buf, np.array(own, np.int64))


def with_key_check(
    closed: ClosedJaxpr, run: Callable[[Sequence[Any]], Any], in_library: bool = True
) -> Callable[[Sequence[Any]], Any]:
    """`run`, which runs the program on the buffers of its arguments, with the check if keys occur in it.

    Raises KeyReuseError if the program uses a key twice by itself.
    """
    if not mentions_keys(closed):
        return run
    check = CheckedProgram(closed, in_library)

    def watched(bufs: Sequence[Any]) -> Any:
        labels = check.before(bufs)
        out = run(bufs)
        check.after(labels, tree.leaves(out))
        return out

    return watched
