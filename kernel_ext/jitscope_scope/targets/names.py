"""What a target is called: `h100`, `h100:8` (eight of them), `v5e:2x2` (a topology of TPUs), or a path to a text proto of one's own."""

from __future__ import annotations

import difflib
import math
import re
from pathlib import Path
from typing import NamedTuple

from .chips import CHIPS, SMALLEST, Chip


MOST = 4096
"""More devices are taken for a slip."""
_NAMED = re.compile(r"([a-z][a-z0-9]*)(?::(\d+(?:x\d+){0,2}))?")
_FIELD = {
    "memory": "device_memory_size",
    "bandwidth": "memory_bandwidth",
    "title": "device_description_str",
}


class Target(NamedTuple):
    """A chip, and how many of them: `topology` as XLA's compiler takes it, `devices` in all. `is_own`: it was described by the user."""

    name: str
    chip: Chip
    topology: str
    devices: int
    is_own: bool = False
    chosen: bool = False
    """Whether the name says how many."""

    @property
    def told(self) -> str:
        """`H100`, `8 × H100`, `TPU v5e 4x4 (16 chips)`."""
        short = (
            self.chip.title
            if self.is_own or self.chip.platform == "tpu"
            else _SHORT.get(self.chip.name, self.chip.title)
        )
        if not self.chosen or self.devices == 1:
            return short
        return (
            f"{self.devices} × {short}"
            if self.chip.platform == "cuda"
            else f"{short} {self.topology} ({self.devices} chips)"
        )


_SHORT = {"rtx4090": "RTX 4090"} | {name: name.upper() for name in ("a100", "h100", "h200", "b200", "l4")}


def targets_in(text: str) -> list[Target | str]:
    """The targets of a list with commas; the words "cpu", "cuda" and "cuda:sm_90" are left as they are, for who asks. Raises ValueError."""
    names = [name.strip() for name in text.split(",")]
    if not all(names):
        raise ValueError(f"a target is missing between the commas of {text!r}; {known()}")
    return [name if is_plain(name) else target_of(name) for name in dict.fromkeys(names)]


def is_plain(name: str) -> bool:
    """Whether it is no chip but a platform: the CPU, or GPUs in general."""
    return name == "cpu" or re.fullmatch(r"cuda(:sm_\d+a?)?", name) is not None


def target_of(name: str) -> Target:
    """The target of a name. Raises ValueError for one that is not known, with what is, and for a file that does not describe a GPU."""
    if "/" in name or "\\" in name or name.endswith((".txtpb", ".pbtxt", ".textproto", ".txt")):
        return _own(name)
    found = _NAMED.fullmatch(name.lower().replace("rtx-4090", "rtx4090").replace("rtx_4090", "rtx4090"))
    chip = CHIPS.get(found[1]) if found else None
    if chip is None or found is None:
        near = difflib.get_close_matches(name.lower().partition(":")[0], CHIPS, 1)
        hint = f" (do you mean {near[0]}?)" if near else ""
        raise ValueError(f"there is no target {name!r}{hint}; {known()}")
    return _gpus(name, chip, found[2]) if chip.platform == "cuda" else _tpus(name, chip, found[2])


def known() -> str:
    """What there is, in a sentence."""
    return (
        f"targets are cpu, {', '.join(CHIPS)}, several of them as h100:8 or v5e:4x4, or a path to a text proto of a GPU"
    )


def _gpus(name: str, chip: Chip, count: str | None) -> Target:
    if count is not None and not count.isdecimal():
        raise ValueError(f"several {chip.name} are a number of them, as {chip.name}:8, not {name!r}")
    number = _counted(name, int(count or 1))
    return Target(name.lower(), chip, f"1x{number}x1", number, chosen=count is not None)


def _tpus(name: str, chip: Chip, shape: str | None) -> Target:
    given = shape or SMALLEST[chip.name]
    sides = [int(n) for n in given.split("x")]
    if (len(sides) == 1 and shape is not None) or len(sides) != SMALLEST[chip.name].count("x") + 1:
        raise ValueError(f"a topology of {chip.title} is written as {chip.name}:{SMALLEST[chip.name]}, not {name!r}")
    return Target(name.lower(), chip, given, _counted(name, math.prod(sides)), chosen=shape is not None)


def _counted(name: str, number: int) -> int:
    if not 1 <= number <= MOST:
        raise ValueError(f"a target has 1 to {MOST:,} devices, and {name!r} asks for {number:,}")
    return number


def _own(name: str) -> Target:
    """A GPU that the user describes in a text proto, as XLA's target files are."""
    path = Path(name).expanduser()
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        reason = getattr(problem, "strerror", None) or "it is not text"
        raise ValueError(f"the target file {name} cannot be read: {reason}; {known()}") from None
    found = {what: re.search(rf'\b{field}:\s*(?:"([^"]*)"|([\d.e+]+))', text) for what, field in _FIELD.items()}
    missing = [_FIELD[what] for what in ("memory", "bandwidth") if found[what] is None]
    if "gpu_device_info" not in text or missing:
        lacks = ", ".join(missing) or "gpu_device_info"
        raise ValueError(f"the target file {name} does not describe a GPU: it has no {lacks}")
    memory, bandwidth = (float((found[what] or {})[2]) for what in ("memory", "bandwidth"))
    title = found["title"][1] if found["title"] is not None else path.stem
    chip = Chip(path.stem, "cuda", title or path.stem, memory, bandwidth, None, {}, f"the file {path.name}", text)
    return Target(name, chip, "1x1x1", 1, is_own=True)
