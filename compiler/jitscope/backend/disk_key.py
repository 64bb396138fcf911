"""What a program is filed under on disk: what it computes, and everything else that its machine code depends on.

Two programs with one key are interchangeable, in whichever process they were compiled. The key has two halves, so that a
miss can be explained by an entry that differs in the second alone: `program`, the jaxpr by its structural hash, and
`environment`, whose parts have names.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import sys
import time
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple

from ..core.hashing import StructuralHash
from ..core.jaxpr import ClosedJaxpr, Jaxpr
from ..core.primitive import Primitive
from ..xla.program import default_options
from ..xla.versions import JAXLIB


Options = tuple[tuple[str, Any], ...]
PACKAGE = __name__.split(".")[0]
_loaded = time.time()


class Key(NamedTuple):
    """`program` and `environment`: 16 bytes each. `parts`: the environment in words, by component."""

    program: bytes
    environment: bytes
    parts: dict[str, str]

    @property
    def name(self) -> tuple[bytes, bytes]:
        """What an entry is found by."""
        return self.program, self.environment


class Refusal(NamedTuple):
    """Why a program is not kept on disk, as a clause."""

    why: str


def key_of(
    closed: ClosedJaxpr, structure: StructuralHash, options: Options, device: Any, donated: Sequence[int]
) -> Key | Refusal:
    """The key of a program, or why there is none: a part of it exists in this process alone."""
    if structure.kept:
        return Refusal("it holds objects of this process, such as Python functions it calls")
    ours = library_primitives()
    for primitive in sorted(primitives_of(closed.jaxpr), key=lambda p: p.name):
        if id(primitive) not in ours:
            return Refusal(f"the operation {primitive.name} is defined outside {PACKAGE}")
    if changed := changed_lowerings():
        return Refusal(f"a lowering rule is registered for {', '.join(changed)}")
    if asks_for_dumps(options):
        return Refusal("XLA is asked to write down what it does")
    source = _source()
    if source is None:
        return Refusal(f"{PACKAGE}'s own source cannot be read, or was changed since it was loaded")
    parts = _parts(tuple(sorted(options)), device, source)
    program = hashlib.blake2b(structure.digest + repr(tuple(donated)).encode(), digest_size=16).digest()
    return Key(program, _digest(parts), dict(parts))


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


ROOMS = ("xla", "core", "ops", "transforms", "control", "special", "backend", "api", "checkify", "export")
"""Where what decides the way from a jaxpr to its program is written: all operations and what lowers them."""

_library: dict[int, Primitive] = {}
_modules_seen = 0


def library_primitives() -> dict[int, Primitive]:
    """The operations that modules of `ROOMS` define, by id. Another operation may have the name of one of them, and what
    it does is not to be seen from its name."""
    global _modules_seen
    if len(sys.modules) != _modules_seen:
        _modules_seen = len(sys.modules)
        for name, module in list(sys.modules.items()):
            package, _, inside = name.partition(".")
            if package == PACKAGE and inside.partition(".")[0] in ROOMS:
                found = [
                    x for name, x in list(vars(module).items()) if name.endswith("_p") and isinstance(x, Primitive)
                ]
                _library.update((id(x), x) for x in found)
    return _library


def changed_lowerings() -> list[str]:
    """The names of the library's operations that a lowering rule is registered for. One of them may be part of what another
    one is lowered to, so while there are any, nothing is read from disk and nothing kept."""
    return sorted({p.name for p in library_primitives().values() if p.lowerings})


# Everything else ------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=256)
def _parts(options: Options, device: Any, source: str) -> MappingProxyType[str, str]:
    """The parts of the environment that a program depends on."""
    return MappingProxyType(
        {
            "options": ", ".join(f"{name}={value!r}" for name, value in options) or "none",
            "flags": _flags(),
            "device": f"{device.device_kind}:{device.id}",
            "jaxlib": JAXLIB,
            PACKAGE: source,
            "cpu": cpu(),
            "cores": str(cores()),
        }
    )


def process_parts(device: Any) -> dict[str, str]:
    """The parts that are the same for all programs of this process on a device, in words."""
    parts = dict(_parts((), device, _source() or "unknown"))
    del parts["options"]
    return parts


def asks_for_dumps(options: Options) -> bool:
    """Whether XLA is to write files while it compiles."""
    return "xla_dump" in os.environ.get("XLA_FLAGS", "") or any(name.startswith("xla_dump") for name, _ in options)


def _digest(parts: MappingProxyType[str, str]) -> bytes:
    return hashlib.blake2b(repr(sorted(parts.items())).encode(), digest_size=16).digest()


@cache
def _flags() -> str:
    """XLA's options where a call gives none, XLA_FLAGS among them."""
    digest = hashlib.blake2b(default_options(), digest_size=6).hexdigest()
    given = os.environ.get("XLA_FLAGS", "").strip()
    return f"{digest} ({given})" if given else digest


@cache
def _source() -> str | None:
    """A hash of the source between a jaxpr and its program; None where it cannot be read, or is no longer what this
    process runs."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    found, files = hashlib.blake2b(digest_size=8), 0
    try:
        for room in ROOMS:
            for path in _python_files(os.path.join(package, room)):
                with open(path, "rb", buffering=0) as file:
                    text = file.read()
                    if os.fstat(file.fileno()).st_mtime > _loaded:
                        return None
                found.update(f"{os.path.relpath(path, package)} {len(text)}\n".encode() + text)
                files += 1
    except OSError:
        return None
    return found.hexdigest() if files else None


def _python_files(folder: str) -> Iterator[str]:
    for inside, folders, files in os.walk(folder):
        folders.sort()
        yield from [os.path.join(inside, name) for name in sorted(files) if name.endswith(".py")]


@cache
def cpu() -> str:
    """The processor and its instruction sets, in words and a hash."""
    told = _told_by_linux() or _told_by_others()
    model = next((line.split(":", 1)[1].strip() for line in told if line.startswith("model name")), told[0])
    return f"{model}, {hashlib.blake2b(repr(told).encode(), digest_size=6).hexdigest()}"


_DECISIVE = ("vendor_id", "cpu family", "model", "stepping", "flags", "Features", "CPU ", "isa", "uarch", "cpu\t")


def _told_by_linux() -> list[str]:
    """The lines about the first processor that decide which code runs on it."""
    try:
        with open("/proc/cpuinfo", "rb") as file:
            first = file.read(16384).decode("utf-8", "replace").split("\n\n")[0]
    except OSError:
        return []
    return [line for line in first.splitlines() if line.startswith(_DECISIVE)]


def _told_by_others() -> list[str]:
    variables = ("PROCESSOR_ARCHITECTURE", "PROCESSOR_IDENTIFIER", "PROCESSOR_REVISION")
    machine = os.uname().machine if hasattr(os, "uname") else ""
    kind = _sysctl("machdep.cpu.brand_string") if sys.platform == "darwin" else ""
    return [f"{sys.platform} {machine} {kind}".strip(), *[os.environ.get(name, "") for name in variables]]


def _sysctl(name: str) -> str:
    """What macOS calls its processor."""
    size = ctypes.c_size_t(256)
    text = ctypes.create_string_buffer(size.value)
    try:
        failed = ctypes.CDLL(None).sysctlbyname(name.encode(), text, ctypes.byref(size), None, 0)
    except (OSError, AttributeError):
        return ""
    return "" if failed else text.value.decode("utf-8", "replace")


@cache
def cores() -> int:
    """How many processors this process may use: XLA divides loops by them when it compiles."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
