"""Programs that several processes run: that all of them run the same one is looked at before its first run."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from functools import partial
from typing import Any

from . import processes
from .errors import XlaError
from .runtime import RuntimeFailure


AHEAD = 8
"""Runs that may be under way. jaxlib 0.10.2 takes 32 for each device, and then waits within a device for one that others wait for: with
several devices in a process that is for ever."""

_under_way: deque[Any] = deque()
_begun: Counter[tuple[int, ...]] = Counter()
_known: set[tuple[tuple[int, ...], str]] = set()


def processes_of(group: Any) -> tuple[int, ...]:
    """The numbers of the processes whose devices a group has."""
    return tuple(sorted({d.process_index for d in group.devices}))


def _wait(token: Any) -> None:
    try:
        token.block_until_ready()
    except RuntimeFailure:
        pass  # whoever reads the results hears of it


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
        while len(_under_way) >= AHEAD:
            processes.asked(partial(_wait, _under_way.popleft()))
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
