"""What a jitted function remembers: its traces, and for each kind of call the program that answers it."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from itertools import count, islice
from types import BuiltinFunctionType, FunctionType
from typing import Any

from .. import tree
from ..core.jaxpr import ClosedJaxpr
from ..xla.program import RuntimeFailure, translate
from .array import Array
from .compile import Program
from .signature import Signature


_function_numbers = count(1)


class Traced:
    """A traced function: its jaxpr and the structure of its result."""

    __slots__ = ("__weakref__", "closed", "number", "out_tree", "signature")

    def __init__(self, closed: ClosedJaxpr, out_tree: Any, signature: Signature, number: int):
        self.closed, self.out_tree, self.signature, self.number = closed, out_tree, signature, number


class Tally:
    """How often a program ran. The ledger holds it, the program it may not hold."""

    __slots__ = ("calls",)

    def __init__(self):
        self.calls = 0


class Ready:
    """What a key answers with: a program, and how to put its results together. `tally` counts for the ledger."""

    __slots__ = ("__weakref__", "out_tree", "program", "single", "tally")

    def __init__(self, program: Program, out_tree: Any):
        self.program, self.out_tree, self.tally = program, out_tree, Tally()
        self.single = program.out_avals[0] if out_tree == _LEAF else None

    def run(self, bufs: list[Any]) -> Any:
        """Run on the buffers of all arguments. The body of `Program.run` stands here again: this is every call's way."""
        self.tally.calls += 1
        program, given = self.program, bufs
        if not program.takes_all:
            bufs = [*program.hidden, *[bufs[i] for i in program.kept]]
        executable = program.executable
        try:
            outs = executable.raw_execute(bufs).consume_with_handlers(executable.handlers)
        except RuntimeFailure as error:
            raise translate(error, bufs) from None
        if program.donated:
            program.take(given)
        if self.single is not None:
            return Array(outs[0], self.single)
        return self.out_tree.unflatten(list(map(Array, outs, program.out_avals)))


class Completed:
    """A program for calls whose buffers come in another order than it takes them, or that leave defaults out. `order` has
    the place of each among the call's buffers, or the default's own."""

    __slots__ = ("order", "ready")

    def __init__(self, ready: Ready, order: list[Any]):
        self.ready, self.order = ready, order

    def run(self, bufs: list[Any]) -> Any:
        return self.ready.run([bufs[i] if type(i) is int else i for i in self.order])


class CheckedReady(Ready):
    """With `debug_key_reuse`, a look at the keys of each call; with `debug_nans`, at its results."""

    __slots__ = ("checked",)
    checked: Callable[[Any], Any]

    def run(self, bufs: Any) -> Any:
        return self.checked(bufs)


_LEAF = tree.structure(0)


MAX_KEYS = 4096
"""So many kinds of arguments are remembered for one function, the oldest are forgotten first."""


class Caches:
    """The caches of one function under one set of jit options. `number` is the function's; `cleared` and `dropped` count
    how often its traces were forgotten."""

    __slots__ = ("__weakref__", "cleared", "dropped", "fast", "mixed", "number", "ready", "traces")

    def __init__(self, number: int):
        self.number, self.cleared, self.dropped = number, -1, 0
        self.clear()

    def remember(self, cache: dict[Any, Any], key: Any, value: Any) -> None:
        if len(cache) >= MAX_KEYS:
            for old in list(islice(cache, MAX_KEYS // 8)):
                cache.pop(old, None)
            self.dropped += cache is self.traces
        cache[key] = value

    def clear(self) -> None:
        self.cleared += 1
        self.traces: dict[Any, Traced] = {}
        self.ready: dict[Any, Ready] = {}
        self.fast: dict[Any, Ready | Completed] = {}
        self.mixed: dict[Any, Ready | Completed] = {}


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
