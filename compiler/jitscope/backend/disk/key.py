"""What a program is filed under on disk: what it computes, and everything else that its machine code depends on.

Two programs with one key are interchangeable, in whichever process they were compiled. The key has two halves, so that a
miss can be explained by an entry that differs in the second alone: `program`, the jaxpr by its structural hash, and
`environment`, whose parts have names.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.digest import blake2b
from ...core.hashing import StructuralHash
from ...core.jaxpr import ClosedJaxpr, equations_in
from .environment import Options, asks_for_dumps, program_parts
from .known_operations import changed_lowerings, strangers
from .source import PACKAGE, source_version


class Key:
    """`program` and `environment`: 16 bytes each. `parts`: the environment in words, by component."""

    __slots__ = ("environment", "parts", "program")

    def __init__(self, program: bytes, environment: bytes, parts: dict[str, str]):
        self.program, self.environment, self.parts = program, environment, parts

    @property
    def name(self) -> tuple[bytes, bytes]:
        """What an entry is found by."""
        return self.program, self.environment


class Refusal:
    """Why a program is not kept on disk, as a clause."""

    __slots__ = ("why",)

    def __init__(self, why: str):
        self.why = why


class DiskQuery:
    """A program that is looked for in `folder`. Its environment is found out when it is asked for: where the folder knows
    nothing of the program, nobody needs to wait for that."""

    def __init__(self, program: bytes, options: Options, device: Any, folder: str):
        self.program, self._options, self._device, self._folder = program, options, device, folder

    def key(self) -> Key | None:
        """The whole key; None where the compiler's own source cannot be read, or is no longer what this process runs."""
        source = source_version(self._folder)
        if source is None:
            return None
        parts = program_parts(self._options, self._device, source)
        environment = blake2b(repr(sorted(parts.items())).encode(), digest_size=16).digest()
        return Key(self.program, environment, dict(parts))


def disk_query(
    closed: ClosedJaxpr, structure: StructuralHash, options: Options, device: Any, donated: Sequence[int], folder: str
) -> DiskQuery | Refusal:
    """What to look for in `folder`, or why a program is not kept: a part of it exists in this process alone."""
    if structure.kept:
        return Refusal("it holds objects of this process, such as Python functions it calls")
    primitives = {eqn.primitive for eqn in equations_in(closed.jaxpr)}
    if others := strangers(primitives):
        return Refusal(f"the operation {others[0].name} is defined outside {PACKAGE}")
    if patched := sorted(p.name for p in primitives if "lower" in vars(p)):
        return Refusal(f"the rule that lowers {patched[0]} was replaced")
    if changed := changed_lowerings():
        return Refusal(f"a lowering rule is registered for {', '.join(changed)}")
    if asks_for_dumps(options):
        return Refusal("XLA is asked to write down what it does")
    program = blake2b(structure.digest + repr(tuple(donated)).encode(), digest_size=16).digest()
    return DiskQuery(program, tuple(sorted(options)), device, folder)


def process_parts(device: Any, folder: str) -> dict[str, str]:
    """The parts that are the same for all programs of this process on a device, in words."""
    parts = dict(program_parts((), device, source_version(folder) or "unknown"))
    del parts["options"]
    return parts
