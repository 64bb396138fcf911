"""The decisions of XLA's fusion pass for the CPU, read from its log.

The log says which operation is looked at, which of its operands are put into it, and why others are not. Operations are told by name, opcode and
the equations that they stem from; a fusion has those of all that was put into it.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from .hlo_flow import paths_in, unique


class End(NamedTuple):
    """An operation that the pass looked at."""

    name: str
    opcode: str
    paths: tuple[str, ...]


class Decision(NamedTuple):
    """What was decided last about a producer and a consumer; `reason` is XLA's, "" where they were fused."""

    producer: End
    consumer: End
    reason: str


_CONSIDERED, _REFUSED, _FUSED, _MADE = (
    "] Considering fusion of: %",
    "] not fusing operand %",
    "] Fusing %",
    "created new fusion: %",
)
_BECAUSE = " because "
_INTO = " into %"


def decisions_of(log: Iterable[str]) -> list[Decision]:
    """The last decision about each pair, in the order of the log."""
    found: dict[tuple[str, str], Decision] = {}
    known: dict[str, End] = {}
    consumer = End("", "", ())
    put_in = consumer
    for line in log:
        if (at := line.find(_REFUSED)) >= 0:
            text, because, reason = line[at + len(_REFUSED) :].rpartition(_BECAUSE)
            if because:
                producer = _end(text, known)
                found[producer.name, consumer.name] = Decision(producer, consumer, reason.strip())
        elif (at := line.find(_CONSIDERED)) >= 0:
            consumer = _end(line[at + len(_CONSIDERED) :], known)
        elif (at := line.find(_FUSED)) >= 0:
            put_in = _end(line[at + len(_FUSED) :].rpartition(_INTO)[0], known)
            consumer = consumer._replace(paths=unique((*consumer.paths, *put_in.paths)))
            if consumer.opcode == "fusion":
                known[consumer.name] = consumer
            found[put_in.name, consumer.name] = Decision(put_in, consumer, "")
        elif (at := line.find(_MADE)) >= 0:
            made = _end(line[at + len(_MADE) :], known)
            consumer = known[made.name] = made._replace(paths=unique((*consumer.paths, *made.paths)))
            found[put_in.name, consumer.name] = Decision(put_in, consumer, "")
    return list(found.values())


def _end(text: str, known: dict[str, End]) -> End:
    """The operation of `name = type opcode(…), metadata={op_name="…"}`, which may be cut off."""
    name, _, rest = text.partition(" = ")
    end = known.get(name)
    if end is None:
        at = rest.rfind('op_name="')
        op_name = rest[at + 9 :].partition('"')[0] if at >= 0 else ""
        end = known[name] = End(name, _opcode(rest), _paths(op_name))
    return end


def _opcode(text: str) -> str:
    """The opcode of `f32[8]{0} add(…)`, `(f32[], s32[2]{0}) while(…)`."""
    if text.startswith("("):
        depth = 0
        for at, letter in enumerate(text):
            depth += (letter == "(") - (letter == ")")
            if not depth:
                text = text[at + 1 :].lstrip()
                break
    else:
        text = text.partition(" ")[2]
    return text.partition("(")[0].strip()


_paths = cache(paths_in)
