"""What a program is filed under on disk: what it computes, and everything else that its machine code depends on.

Two programs with one key are interchangeable, in whichever process they were compiled. The key has two halves, so that a
miss can be explained by an entry that differs in the second alone: `program`, the jaxpr by its structural hash, and
`environment`, whose parts have names.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from types import MappingProxyType
from typing import Any

from ..core.digest import blake2b
from ..core.hashing import StructuralHash
from ..core.jaxpr import ClosedJaxpr, Jaxpr
from ..core.primitive import Primitive, _made
from ..xla.program import compiler_version, default_options
from .disk_machine import cores, cpu
from .disk_source import PACKAGE, ROOMS, source_version


Options = tuple[tuple[str, Any], ...]


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


class Wanted:
    """A program that is looked for in `folder`. Its environment is found out when it is asked for: where the folder knows
    nothing of the program, nobody needs to wait for that."""

    def __init__(self, program: bytes, options: Options, device: Any, folder: str):
        self.program, self._options, self._device, self._folder = program, options, device, folder

    def key(self) -> Key | None:
        """The whole key; None where the compiler's own source cannot be read, or is no longer what this process runs."""
        source = source_version(self._folder)
        if source is None:
            return None
        parts = _parts(self._options, self._device, source)
        return Key(self.program, _digest(parts), dict(parts))


def wanted(
    closed: ClosedJaxpr, structure: StructuralHash, options: Options, device: Any, donated: Sequence[int], folder: str
) -> Wanted | Refusal:
    """What to look for in `folder`, or why a program is not kept: a part of it exists in this process alone."""
    if structure.kept:
        return Refusal("it holds objects of this process, such as Python functions it calls")
    primitives = primitives_of(closed.jaxpr)
    if others := strangers(primitives):
        return Refusal(f"the operation {others[0].name} is defined outside {PACKAGE}")
    if patched := sorted(p.name for p in primitives if "lower" in vars(p)):
        return Refusal(f"the rule that lowers {patched[0]} was replaced")
    if changed := changed_lowerings():
        return Refusal(f"a lowering rule is registered for {', '.join(changed)}")
    if asks_for_dumps(options):
        return Refusal("XLA is asked to write down what it does")
    program = blake2b(structure.digest + repr(tuple(donated)).encode(), digest_size=16).digest()
    return Wanted(program, tuple(sorted(options)), device, folder)


# What it computes -----------------------------------------------------------------------------------------------------


def primitives_of(jaxpr: Jaxpr) -> set[Primitive]:
    """The operations of a program, those of the jaxprs it holds too."""
    found: set[Primitive] = set()
    seen: set[int] = set()
    waiting = [jaxpr]
    while waiting:
        program = waiting.pop()
        if id(program) in seen:
            continue
        seen.add(id(program))
        for eqn in program.eqns:
            found.add(eqn.primitive)
            for value in eqn.params.values():
                waiting.extend(_held(value))
    return found


def _held(value: Any) -> Iterator[Jaxpr]:
    kind = type(value)
    if kind is ClosedJaxpr:
        yield value.jaxpr
    elif kind is tuple and value and type(value[0]) is ClosedJaxpr:
        yield from [closed.jaxpr for closed in value]


_library: dict[int, Primitive] = {}


def strangers(primitives: Iterable[Primitive]) -> list[Primitive]:
    """Those that no module of `ROOMS` defines. They may have the name of one that is defined there, and what they do is not
    to be seen from their name."""
    unknown = [p for p in primitives if id(p) not in _library]
    if unknown:
        modules = _modules()
        at_hand = {
            p for p in unknown if any(vars(module).get(f"{p.name.replace('-', '_')}_p") is p for module in modules)
        }
        known = at_hand if len(at_hand) == len(unknown) else library_primitives()
        _library.update((id(p), p) for p in unknown if p in known)
    return sorted((p for p in unknown if id(p) not in _library), key=lambda p: p.name)


def library_primitives() -> set[Primitive]:
    """The operations that modules of `ROOMS` define."""
    return {x for module in _modules() for x in list(vars(module).values()) if isinstance(x, Primitive)}


def _modules() -> list[Any]:
    return [
        module
        for name, module in list(sys.modules.items())
        if name.startswith(_PREFIX) and name[len(_PREFIX) :].partition(".")[0] in ROOMS
    ]


_PREFIX = f"{PACKAGE}."


def changed_lowerings() -> list[str]:
    """The names of the library's operations that a lowering rule is registered for. One of them may be part of what another
    one is lowered to, so while there are any, nothing is read from disk and nothing kept."""
    if max(_made.values(), default=0) <= 1:  # where a rule is registered the operation is made anew
        return []
    return sorted({p.name for p in library_primitives() if p.lowerings})


# Everything else ------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=256)
def _parts(options: Options, device: Any, source: str) -> MappingProxyType[str, str]:
    """The parts of the environment that a program depends on."""
    return MappingProxyType(
        {
            "options": ", ".join(f"{name}={value!r}" for name, value in options) or "none",
            "flags": _flags(),
            "device": f"{device.device_kind}:{device.id}",
            "jaxlib": compiler_version(),
            PACKAGE: source,
            "cpu": cpu(),
            "cores": str(cores()),
        }
    )


def process_parts(device: Any, folder: str) -> dict[str, str]:
    """The parts that are the same for all programs of this process on a device, in words."""
    parts = dict(_parts((), device, source_version(folder) or "unknown"))
    del parts["options"]
    return parts


def asks_for_dumps(options: Options) -> bool:
    """Whether XLA is to write files while it compiles."""
    return "xla_dump" in os.environ.get("XLA_FLAGS", "") or any(name.startswith("xla_dump") for name, _ in options)


def _digest(parts: MappingProxyType[str, str]) -> bytes:
    return blake2b(repr(sorted(parts.items())).encode(), digest_size=16).digest()


@cache
def _flags() -> str:
    """XLA's options where a call gives none, XLA_FLAGS among them."""
    digest = blake2b(default_options(), digest_size=6).hexdigest()
    given = os.environ.get("XLA_FLAGS", "").strip()
    return f"{digest} ({given})" if given else digest
