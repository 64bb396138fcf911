"""Which of XLA's passes ran, in which order and for how long, and which of them left a new state of the program."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from jitscope.core.errors import Unavailable
from jitscope.xla.dumps import CompilationDump, DumpFile
from jitscope.xla.profiler import Phase


COMPILING = ("PjRtCpuClient::Compile", "CompileCpuExecutable")
"""The phase that is the whole compilation of a program: its name in XLA of jaxlib 0.10, and since 0.11."""

_CHECK = "RunInvariantCheckers"


@dataclass(slots=True)
class Pass:
    """One run of a pass.

    pipelines: those it is in, from the outermost; round: which run of the innermost it belongs to, from 1, of `rounds` (some
    repeat until nothing changes); seconds: its own, without those of passes in it, None where that was not recorded; texts: the
    states of the program that it wrote down, the last as it left it.
    """

    name: str
    pipelines: tuple[str, ...]
    round: int = 1
    rounds: int = 1
    seconds: float | None = None
    texts: list[str] = field(default_factory=list)


def run_of(told: CompilationDump) -> tuple[str, list[Pass]]:
    """The text of the program before the passes, and the passes in order. Raises Unavailable where XLA wrote down no state of it."""
    states = sorted((file for file in told.files if file.number is not None), key=lambda file: file.number or 0)
    before = [file for file in told.files if file.name == "before_optimizations.txt"] or states
    if not before:
        raise Unavailable(f"XLA wrote down no state of {told.module}")
    passes = [one for pipeline in _pipelines(told.phases, told.module) for one in _passes(pipeline, ())]
    return before[0].text, _with_texts(passes, states)


@dataclass(slots=True)
class _Node:
    """A phase with those that lie in it, of the program that is a `module` of XLA's."""

    phase: Phase
    module: str
    inside: list[_Node] = field(default_factory=list)

    @property
    def pipeline(self) -> str | None:
        """Its name if it is a run of a pipeline over the program: that begins with a check, which passes do not. Its
        phase names the module, too."""
        checked = self.inside and self.inside[0].phase.name == _CHECK
        ours = self.phase.module in (None, self.module)
        return self.phase.name.removesuffix(f" ({self.module})") if checked and ours else None

    def outermost(self) -> Iterator[_Node]:
        """The pipelines in it that are in no other."""
        for node in self.inside:
            yield from [node] if node.pipeline else node.outermost()


def _pipelines(phases: Sequence[Phase], module: str) -> list[_Node]:
    """The runs of pipelines over a module; none if several threads may have worked on it."""
    threads = {phase.thread for phase in phases if phase.module == module}
    if len(threads) != 1:
        return []
    root = _Node(Phase("", "", float("-inf"), float("inf"), None), module)
    stack = [root]
    for phase in phases:
        if phase.thread not in threads:
            continue
        while phase.start >= stack[-1].phase.start + stack[-1].phase.seconds:
            stack.pop()
        node = _Node(phase, module)
        stack[-1].inside.append(node)
        stack.append(node)
    return list(root.outermost())


def _passes(pipeline: _Node, around: tuple[str, ...], number: int = 1, of: int = 1) -> Iterator[Pass]:
    pipelines = (*around, pipeline.pipeline or "")
    for node in _run_in(pipeline):
        rounds = list(node.outermost())
        for k, inner in enumerate(rounds, 1):
            yield from _passes(inner, pipelines, k, len(rounds))
        own = node.phase.seconds - sum(inner.phase.seconds for inner in rounds)
        yield Pass(node.phase.name, pipelines, number, of, max(0.0, own))


def _run_in(pipeline: _Node) -> list[_Node]:
    """The passes directly in a pipeline; checks of the compiler on itself are none."""
    return [node for node in pipeline.inside if node.phase.name != _CHECK]


_STATE = re.compile(r"(?P<pipeline>.+?)\.after_(?P<name>.+?)(?P<next>\.before_.+)?\.txt")


def _with_texts(passes: list[Pass], states: Sequence[DumpFile]) -> list[Pass]:
    """The passes, each with the texts it left. One that was not recorded stands where its text does."""
    found, at = list(passes), 0
    for file in states:
        state = _STATE.fullmatch(file.name)
        if state is None or state["name"] == "pipeline-start":
            continue
        number = next((n for n in range(at, len(found)) if _wrote(found[n], state)), None)
        if number is None:
            found.insert(at, Pass(state["name"], (state["pipeline"],)))
            number = at
        found[number].texts.append(file.text)
        at = number + (state["next"] is not None)
    return found


def _wrote(one: Pass, state: re.Match[str]) -> bool:
    """Whether a file's name means that pass: after it, in its pipeline; or, of a step within a pass, by the pass's name."""
    if state["next"] is None:
        return _spelled(one.name) == state["pipeline"]
    return (_spelled(one.pipelines[-1]), _spelled(one.name)) == (state["pipeline"], state["name"])


def _spelled(name: str) -> str:
    """A name as XLA spells it in those of files."""
    return re.sub(r"[^\w.\-]", "_", name)
