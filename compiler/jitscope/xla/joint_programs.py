"""Programs that several processes run: that all of them run the same one is looked at before its first run."""

from __future__ import annotations

import zlib
from collections import Counter, deque
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np

from . import processes
from .errors import XlaError
from .runtime import RuntimeFailure
from .spread import Spread


AHEAD = 8
"""Runs that may be under way. jaxlib 0.10.2 takes 32 for each device, and then waits within a device for one that others wait for: with
several devices in a process that is for ever."""

_under_way: deque[Any] = deque()
_never: list[Any] = []
"""Runs that wait for processes that died."""
_begun: Counter[tuple[int, ...]] = Counter()
_put: Counter[tuple[int, ...]] = Counter()
_known: set[tuple[tuple[int, ...], str]] = set()


def processes_of(device: Any) -> tuple[int, ...]:
    """The numbers of the processes on whose devices a program is."""
    group = device.group.devices if type(device) is Spread else (device,)
    return tuple(sorted({d.process_index for d in group}))


def _wait(tokens: Sequence[Any]) -> None:
    for token in tokens:
        with suppress(RuntimeFailure):  # whoever reads the results hears of it
            token.block_until_ready()


def _there(bufs: Sequence[Any]) -> bool:
    return all(buf.is_deleted() or buf.is_ready() for buf in bufs)


def _sort_out() -> None:
    """Which runs that were under way when a process died will never end."""
    while _under_way:
        token = _under_way.popleft()
        try:
            processes.answer_of(partial(_wait, [token]), (), processes.GRACE)
        except TimeoutError:
            _never.append(token)


def check_alike(value: Any, group: Any) -> None:
    """That all processes with devices of a group have this NumPy value, of which each puts its part there: they tell each other a
    digest. Raises AssertionError where they differ, XlaError where one says nothing."""
    who = tuple(sorted({d.process_index for d in group.devices}))
    if processes.joined is None or len(who) == 1:
        return
    number, _put[who] = _put[who], _put[who] + 1
    own = f"{value.dtype}[{','.join(map(str, value.shape))}] {zlib.crc32(np.ascontiguousarray(value).tobytes()):08x}"
    said = processes.hear(f"array {number} on processes {','.join(map(str, who))}", own, who)
    other = next((one for one, text in sorted(said.items()) if text != own), None)
    if other is not None:
        raise AssertionError(
            f"device_put: the processes have different values for one array, here {own.split()[0]} and in process {other} another "
            f"{said[other].split()[0]}. What to do: give all of them the same, or make the array of what each has with "
            "jitscope.make_array_from_process_local_data"
        )


class ProgramOfProcesses:
    """Runs a program of one process or more in a process that has joined others (`who`: the numbers of those that run it). Once
    one of the others died, a run begins when its arguments are there, and ends before the call returns: so a value that is not
    there is one that waits for the dead, and nothing is computed from it."""

    __slots__ = ("run", "several", "who")

    def __init__(self, run: Any, device: Any):
        self.run, self.who, self.several = run, processes_of(device), type(device) is Spread

    def __call__(self, bufs: Sequence[Any]) -> Any:
        now = processes.joined
        if now is None or not now.gone:
            return self.run(bufs)
        if now.gone.keys() & set(self.who):
            raise now.missing()
        processes.wait_for(lambda: _there(bufs))
        _sort_out()
        if self.several and _never:
            raise XlaError(
                f"process {now.number} began a computation with a process that died, and jaxlib lets none over several of its devices begin "
                "before that ends, which it never does. What to do: end this process, so that those which did not wait go on, or all "
                "start again; on one of its own devices this process can still compute"
            )
        return _AwaitedResults(self.run(bufs), self.who)


class _AwaitedResults:
    """The results of a run, in the form of jaxlib's own, which are waited for."""

    __slots__ = ("results", "who")

    def __init__(self, results: Any, who: tuple[int, ...]):
        self.results, self.who = results, who

    def consume_with_handlers(self, handlers: Sequence[Any]) -> list[Any]:
        outs = self.results.consume_with_handlers(handlers)
        processes.wait_for(lambda: _there(outs), self.who)
        return outs


class Together:
    """Runs a program of several processes. Before its first run each says which program it is about to run, and hears the others:
    with different programs each would wait for data that nobody sends. `said` is equal for equal programs: name, then a digest."""

    __slots__ = ("checked", "run", "said", "who")

    def __init__(self, run: Any, who: tuple[int, ...], said: str, raw: Any):
        if raw is not None:  # what `run` guards, with word of when it is done
            run.run = partial(raw.execute_sharded, with_tokens=True)
        self.run, self.who, self.said = run, who, said
        self.checked = (who, said) in _known

    def __call__(self, bufs: Sequence[Any]) -> Any:
        if not self.checked:
            self._check()
        if len(_under_way) >= AHEAD:
            oldest = [
                _under_way.popleft() for _ in range(AHEAD // 2)
            ]  # several in one question: each takes as long as a short run
            processes.answer_of(partial(_wait, oldest))
        results = self.run(bufs)
        if hasattr(results, "consume_token"):
            _under_way.append(results.consume_token())
        return results

    def _check(self) -> None:
        self.checked = True
        if (self.who, self.said) in _known:
            return
        _known.add((self.who, self.said))
        number, _begun[self.who] = _begun[self.who], _begun[self.who] + 1
        among = ",".join(map(str, self.who))
        said = processes.hear(f"program {number} on processes {among}", self.said, self.who)
        if len(set(said.values())) > 1:
            parts = [f"process {who} runs {one.rpartition(' ')[0]}" for who, one in sorted(said.items())]
            raise XlaError(
                f"the processes are about to run different programs together: {'; '.join(parts)}. All processes must call the same "
                "functions, with arguments of the same shapes, dtypes and layouts, in the same order"
            )
