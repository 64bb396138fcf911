"""What a jitted function remembers: its traces, and for each kind of call the program that answers it."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from itertools import count
from types import BuiltinFunctionType, FunctionType
from typing import Any

from .. import tree
from ..core.forgetful_caches import make_room
from ..core.jaxpr import ClosedJaxpr
from .compile import Program
from .signature import Signature


_function_numbers = count(1)


class TraceEntry:
    """A traced function: its jaxpr and the structure of its result. `again` traces it once more, for those who look; it holds the
    function weakly."""

    __slots__ = ("__weakref__", "again", "closed", "number", "out_tree", "signature")

    def __init__(
        self,
        closed: ClosedJaxpr,
        out_tree: Any,
        signature: Signature,
        number: int,
        again: Callable[[], ClosedJaxpr] | None = None,
    ):
        self.closed, self.out_tree, self.signature, self.number, self.again = closed, out_tree, signature, number, again


class Tally:
    """How often a program ran. The ledger holds it, the program it may not hold."""

    __slots__ = ("calls",)

    def __init__(self):
        self.calls = 0


class CacheEntry:
    """What a key answers with: a program, and how to put its results together. `places` says for each argument of the
    program where it stands among the buffers of the call (None: in the same order); `tally` counts for the ledger. `single` is
    the aval of a result that is one array. `plain`: its executable takes the buffers of a call as they are, or after the hidden
    ones those that are `kept`. `moves`: over several devices, arguments may have to be moved first."""

    __slots__ = ("__weakref__", "kept", "moves", "out_tree", "places", "plain", "program", "single", "tally")

    def __init__(self, program: Program, out_tree: Any, places: Sequence[int] | None = None):
        self.program, self.out_tree, self.places, self.tally = program, out_tree, places, Tally()
        self.single = program.out_avals[0] if out_tree == _LEAF else None
        self.moves = type(program) is not Program
        self.plain = self._simple() and not self.moves
        as_given = program.takes_as_given and places is None
        self.kept = None if as_given else [i if places is None else places[i] for i in program.kept]

    def reordered(self, places: Sequence[int]) -> CacheEntry:
        """The same program for calls that give their buffers in another order."""
        ready = CacheEntry(self.program, self.out_tree, places)
        ready.tally = self.tally
        return ready

    def run(self, bufs: Sequence[Any]) -> Any:
        """Run on the buffers of a call."""
        self.tally.calls += 1
        bufs = bufs if self.places is None else [bufs[i] for i in self.places]
        outs = self.program.run(bufs) if self.moves else Program.run(self.program, bufs)
        return outs[0] if self.single is not None else self.out_tree.unflatten(outs)

    def in_place(self) -> None:
        """Arguments of its calls all lie as the program over several devices takes them: nothing is looked at."""
        self.moves, self.plain = False, self._simple()

    def _simple(self) -> bool:
        return type(self) is CacheEntry and not (self.program.donated or self.program.gives_float0)


class CheckedEntry(CacheEntry):
    """With `debug_key_reuse`, a look at the keys of each call; with `debug_nans`, at its results: `checked` runs `ready` so."""

    __slots__ = ("checked", "ready")

    def __init__(self, ready: CacheEntry, checked: Callable[[Any], Any], places: Sequence[int] | None = None):
        super().__init__(ready.program, ready.out_tree, places)
        self.ready, self.checked, self.tally = ready, checked, ready.tally

    def reordered(self, places: Sequence[int]) -> CacheEntry:
        return CheckedEntry(self.ready, self.checked, places)

    def run(self, bufs: Any) -> Any:
        return self.checked(bufs if self.places is None else [bufs[i] for i in self.places])


_LEAF = tree.structure(0)


MAX_KEYS = 4096
"""So many kinds of arguments are remembered for one function, the oldest are forgotten first."""


class Caches:
    """The two caches of one function under one set of jit options: `calls` finds the program of a call as it was written,
    `traces` the trace for its arguments' structure and avals. `number` is the function's; `cleared` and `dropped` count how
    often its traces were forgotten. `unfinished` has the keys of the traces that run now, with their threads."""

    __slots__ = ("__weakref__", "calls", "cleared", "dropped", "number", "traces", "unfinished")

    def __init__(self, number: int):
        self.number, self.cleared, self.dropped = number, -1, 0
        self.unfinished: set[Any] = set()
        self.clear()

    def remember(self, cache: dict[Any, Any], key: Any, value: Any) -> None:
        if make_room(cache, MAX_KEYS):
            self.dropped += cache is self.traces
        cache[key] = value

    def clear(self) -> None:
        self.cleared += 1
        self.traces: dict[Any, TraceEntry] = {}
        self.calls: dict[Any, CacheEntry] = {}


_caches: weakref.WeakKeyDictionary[Any, dict[Any, Caches]] = weakref.WeakKeyDictionary()
_all_caches: weakref.WeakSet[Caches] = weakref.WeakSet()


def caches_of(fun: Any, configuration: Any) -> Caches:
    """The caches of a function object: two `jit` of one function under the same options share them. Bound methods and
    callable objects have state, and may be equal without being the same: each `jit` of those has caches of its own."""
    if isinstance(fun, (FunctionType, BuiltinFunctionType)):
        by_configuration = _caches.setdefault(fun, {})
        caches = by_configuration.get(configuration)
        if caches is None:
            number = next((c.number for c in by_configuration.values()), None) or next(_function_numbers)
            caches = by_configuration.setdefault(configuration, Caches(number))
    else:
        caches = Caches(next(_function_numbers))
    _all_caches.add(caches)
    return caches


def clear_traces() -> None:
    """Forget all traces."""
    for caches in list(_all_caches):
        caches.clear()


def forget_calls(entry: Any) -> None:
    """Let calls that a compiled program answers ask for their program again. (`entry` is what the programs of one executable share.)"""
    for caches in list(_all_caches):
        for key, ready in list(caches.calls.items()):
            if ready.program.entry is entry:
                caches.calls.pop(key, None)
