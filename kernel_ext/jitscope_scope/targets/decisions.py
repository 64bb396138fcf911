"""Why XLA's compiler for GPUs fused operations, and why not: the record that it keeps of its decisions.

jaxlib 0.10 writes a page of HTML with a list of pictures and what each shows; later releases an archive that holds a SQLite database with
the table `frames`. The times that its model gave for both ways stand in another file (`priority_fusion_dump`). Names are those of the
program before this pass; a fusion that it made bears a name of its own, and holds what was fused into it.
"""

from __future__ import annotations

import io
import json
import re
import sqlite3
import tempfile
import zipfile
import zlib
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from jitscope.xla import hlo_module
from jitscope.xla.dumps import DumpFile

from ..observe.hlo_flow import paths_in, unique


class Decision(NamedTuple):
    """One decision about a producer and a consumer ("" where XLA names none): XLA's reason, and its model's seconds for both ways; `paths` of
    the equations that the two stem from."""

    producer: str
    consumer: str
    fused: bool
    reason: str
    label: str
    producer_paths: tuple[str, ...]
    consumer_paths: tuple[str, ...]
    fused_seconds: float | None = None
    apart_seconds: float | None = None


_PAGE = re.compile(rb"const frames = (\[.*?\]);?\n", re.DOTALL)
_DATABASE = b"SQLite format 3"
_BEFORE_FUSION = re.compile(r"(?:^|\.)fusion\.after_pipeline-start|before_priority-fusion|pre-fusion\.after")


def labels_of(files: Iterable[DumpFile]) -> list[str]:
    """What each picture of the record shows, in order; nothing where there is no record."""
    found: list[str] = []
    for file in files:
        if (
            file.name.endswith(("_fusion.html", "_fusion.zip", "_fusion.db", "_fusion.sqlite", "_fusion.tar"))
            or "_fusion." in file.name
        ):
            found += _labels(file.content)
    return found


def _labels(content: bytes) -> list[str]:
    content = _database(content) or content
    at = content.find(_DATABASE)
    if at < 0:
        page = _PAGE.search(content)
        return [str(frame[1]) for frame in json.loads(page[1])] if page else []
    with tempfile.TemporaryDirectory(prefix="jitscope-") as folder:
        path = Path(folder, "frames.db")
        path.write_bytes(content[at:])
        try:
            with closing(sqlite3.connect(path)) as base:
                return [str(label) for (label,) in base.execute("select label from frames order by rowid")]
        except sqlite3.Error:
            return []


def _database(archive: bytes) -> bytes:
    """The database in an archive; nothing where it is none."""
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as parts:
            return next((parts.read(name) for name in parts.namelist() if name.endswith(".db")), b"")
    except (zipfile.BadZipFile, zlib.error):
        return b""


class _Rule(NamedTuple):
    """How a label reads, and whether it says that something was fused."""

    pattern: re.Pattern[str]
    fused: bool
    reason: str = ""


_RULES = (
    _Rule(re.compile(r"Not considering fusion of producer \|(?P<p>[^|]*)\| into consumer \|(?P<c>[^|]*)\| due to: (?P<why>.*)", re.DOTALL), False),
    _Rule(re.compile(r"(?:Not fusing|Cannot fuse|Did not fuse) (?:producer )?\|(?P<p>[^|]*)\|(?: (?:into|with) (?:consumer )?\|(?P<c>[^|]*)\|)?(?:[ ,;:]*(?:because|due to|as)?:? ?)(?P<why>.*)", re.DOTALL), False),
    _Rule(re.compile(r"(?:Rejected|Not) [^|]*\|(?P<p>[^|]*)\|(?:[^|]*\|(?P<c>[^|]*)\|)?[^:]*: ?(?P<why>.*)", re.DOTALL), False),
)  # fmt: skip
_UNDECIDED = "(will try fallback)"
"""Says that one kind of kernel cannot be, and that another one is looked at next."""
_ABOUT = re.compile(r"About to fuse (?:sibling )?\|([^|]*)\| into (?:sibling )?\|([^|]*)\| inside (.*)")
_DONE = re.compile(r"Fused (?:\|([^|]*)\| )?into \|([^|]*)\| inside (.*)")


def decisions_of(files: Sequence[DumpFile]) -> list[Decision]:
    """XLA's decisions in their order, each once; nothing where it kept no record."""
    members = _Members(_paths_before(files))
    times = _times(files)
    found: dict[tuple[str, ...], Decision] = {}
    about: tuple[str, str] | None = None
    for label in labels_of(files):
        if _UNDECIDED in label:
            continue
        if asked := _ABOUT.fullmatch(label):
            about = asked[1], asked[2]
            continue
        made = members.decision(label, about, times)
        if _DONE.fullmatch(label):
            about = None
        if made is not None:
            found.setdefault((made.producer, made.consumer, str(made.fused), made.reason), made)
    steps = [step for file in files if "priority_fusion_dump" in file.name for step in _steps(file.text)]
    if not found:
        for made in _fused_of_model(steps, members, times):
            found.setdefault((made.producer, made.consumer, str(made.fused), made.reason), made)
    for made in _of_model(steps, members, {one.producer for one in found.values() if one.fused}):
        found.setdefault((made.producer, made.consumer, str(made.fused), made.reason), made)
    return list(found.values())


class _Members:
    """The equations that the operations and fusions of the pass stem from, by name."""

    def __init__(self, paths: Mapping[str, tuple[str, ...]]):
        self.paths = dict(paths)

    def of(self, name: str) -> tuple[str, ...]:
        return self.paths.get(name, ())

    def decision(
        self, label: str, about: tuple[str, str] | None, times: Mapping[tuple[str, str], tuple[float, float]]
    ) -> Decision | None:
        if done := _DONE.fullmatch(label):
            producer, consumer = about or (done[1] or "", done[2])
            given, taking = self.of(producer), self.of(consumer)
            self.paths[done[2]] = unique((*given, *taking, *self.of(done[2])))
            fused, apart = times.get((producer, consumer), (None, None))
            return Decision(producer, consumer, True, f"fused by {_pass(done[3])}", label, given, taking, fused, apart)
        for rule in _RULES:
            if said := rule.pattern.fullmatch(label):
                producer, consumer = said["p"], said["c"] or ""
                fused, apart = times.get((producer, consumer), (None, None))
                why = said["why"].strip().strip(".") or "XLA gives no reason"
                return Decision(
                    producer, consumer, False, why, label, self.of(producer), self.of(consumer), fused, apart
                )
        return None


def _pass(name: str) -> str:
    return {"PriorityFusion": "priority fusion"}.get(name.strip(), name.strip())


def _before(files: Iterable[DumpFile]) -> DumpFile | None:
    """The last state of the program before the pass."""
    states = [f for f in files if f.number is not None and _BEFORE_FUSION.search(f.name)]
    return max(states, key=lambda file: file.number or 0, default=None)


def size_before(files: Iterable[DumpFile]) -> int:
    """The instructions of the program before the pass; 0 where XLA wrote down no state of it."""
    last = _before(files)
    return 0 if last is None else last.text.count(" = ")


def _paths_before(files: Iterable[DumpFile]) -> dict[str, tuple[str, ...]]:
    """The equations of each instruction of the program before the pass, with those of the computations that fusions call."""
    last = _before(files)
    if last is None:
        return {}
    try:
        computations = hlo_module.parse(last.text)
    except ValueError:
        return {}
    inside = {c.name: unique(path for i in c.instructions for path in paths_in(i.op_name)) for c in computations}
    found: dict[str, tuple[str, ...]] = {}
    for computation in computations:
        for i in computation.instructions:
            called = inside[i.calls[0]] if i.opcode == "fusion" and i.calls and i.calls[0] in inside else ()
            found[i.name] = unique((*called, *paths_in(i.op_name)))
    return found


class _Step(NamedTuple):
    """A step of priority fusion: "fusion", "update_priority" or "producer_ineligible", with its fields; one may stand several times."""

    kind: str
    fields: tuple[tuple[str, str], ...]

    def of(self, name: str) -> str:
        return next((value for field, value in self.fields if field == name), "")

    @property
    def consumers(self) -> list[str]:
        return [value for field, value in self.fields if field == "consumer_names"]

    @property
    def times(self) -> tuple[float, float] | None:
        """Seconds fused, and apart."""
        together, apart = self.of("us_fused"), self.of("us_unfused")
        return (float(together) * 1e-6, float(apart) * 1e-6) if together and apart else None


_STEP = re.compile(r"^  (\w+) \{\n(.*?)^  \}", re.MULTILINE | re.DOTALL)
_FIELD = re.compile(r'^    (\w+): "?([^"\n]*)"?$', re.MULTILINE)


def _steps(text: str) -> Iterator[_Step]:
    steps = text.partition("\ngpu_device_info")[0]
    return (_Step(found[1], tuple(_FIELD.findall(found[2]))) for found in _STEP.finditer(steps))


def _times(files: Iterable[DumpFile]) -> dict[tuple[str, str], tuple[float, float]]:
    """(seconds fused, seconds apart) that XLA's model gave last for a producer and each of its consumers; with several consumers, for
    fusing it into all of them."""
    found: dict[tuple[str, str], tuple[float, float]] = {}
    for file in files:
        for step in _steps(file.text) if "priority_fusion_dump" in file.name else ():
            if step.times is not None:
                found |= {(step.of("producer_name"), consumer): step.times for consumer in step.consumers}
    return found


def _fused_of_model(
    steps: Iterable[_Step], members: _Members, times: Mapping[tuple[str, str], tuple[float, float]]
) -> Iterator[Decision]:
    """What priority fusion fused, where there is no record with pictures."""
    for step in steps:
        if step.kind == "fusion":
            producer, consumer = step.of("producer_name"), step.of("consumer_name")
            done = f"Fused |{producer}| into |{step.of('fusion_name')}| inside PriorityFusion"
            if (made := members.decision(done, (producer, consumer), times)) is not None:
                yield made


def _of_model(steps: Iterable[_Step], members: _Members, fused: set[str]) -> Iterator[Decision]:
    """What priority fusion left apart without a picture: producers that cannot be fused, and those for which its model gave more time fused
    the last time that it was asked."""
    last: dict[str, _Step] = {}
    for step in steps:
        producer = step.of("producer_name")
        if step.kind == "producer_ineligible":
            yield Decision(producer, "", False, step.of("reason"), step.kind, members.of(producer), ())
        elif step.times is not None:
            last[producer] = step
    for producer, step in last.items():
        together, apart = step.times or (0.0, 0.0)
        if producer not in fused and together > apart:
            paths = unique(path for name in step.consumers for path in members.of(name))
            names = ", ".join(step.consumers)
            yield Decision(producer, names, False, SLOWER, step.kind, members.of(producer), paths, together, apart)


SLOWER = "XLA's model gives more time if they are fused"


NOTHING_TO_FUSE = "No users to fuse"
"""XLA's reason where nothing reads the producer that could take it in: it says nothing of two kernels."""


class Apart:
    """What decisions say of pairs of a program's `kernels`, given by name."""

    def __init__(self, decisions: Sequence[Decision], kernels: Container[str] = ()):
        self._kernels = kernels
        self._refused = [
            (number, one) for number, one in enumerate(decisions) if not (one.fused or one.reason == NOTHING_TO_FUSE)
        ]
        self._by_giver: dict[tuple[str, str], list[int]] = defaultdict(list)
        for place, (_, one) in enumerate(self._refused):
            for key in (("name", one.producer), *(("path", path) for path in one.producer_paths)):
                self._by_giver[key].append(place)

    def between(self, giver: tuple[str, set[str]], reader: tuple[str, set[str]]) -> int | None:
        """The place of the decision that keeps apart two kernels, each given by its name and the equations that it stems from; None where
        XLA says nothing of them. It is about the same kernels, or about operations of which most equations are theirs; not about others of
        the program's kernels."""
        best, found = 0.0, None
        keys = (("name", giver[0]), *(("path", path) for path in giver[1]))
        for place in sorted({place for key in keys for place in self._by_giver.get(key, ())}):
            number, one = self._refused[place]
            if self._is_of_others(one, giver[0], reader[0]):
                continue
            gives = 1.0 if one.producer == giver[0] else _shared(giver[1], one.producer_paths)
            reads = _read(one, reader)
            if gives >= 0.5 and reads > 0 and gives + reads >= best:
                best, found = gives + reads, number
        return found

    def _is_of_others(self, one: Decision, giver: str, reader: str) -> bool:
        return any(end in self._kernels and end != own for end, own in ((one.producer, giver), (one.consumer, reader)))


def _read(one: Decision, reader: tuple[str, set[str]]) -> float:
    if not one.consumer:
        return 0.5
    return 1.0 if one.consumer == reader[0] else _shared(reader[1], one.consumer_paths)


def _shared(own: set[str], told: Sequence[str]) -> float:
    """The share of the equations of both that are those of one and the other."""
    return len(own & set(told)) / len(own | set(told)) if own or told else 0.0
