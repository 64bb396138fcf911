"""The key of a trace, as plain data: what the ledger compares to say why something was traced again."""
from __future__ import annotations

import dataclasses
from typing import Any

from ..core.avals import ShapedArray
from ..core.config import Settings
from ..core.dtypes import short_name


@dataclasses.dataclass(frozen=True)
class Leaf:
    """One array of the arguments: where it stands and what it is."""

    path: str
    shape: tuple[int, ...]
    dtype: str
    weak_type: bool

    @staticmethod
    def of(path: str, aval: ShapedArray) -> Leaf:
        return Leaf(path, aval.shape, short_name(aval.dtype), aval.weak_type)

    def __str__(self) -> str:
        return f"{self.dtype}[{','.join(map(str, self.shape))}]" + (" (weak)" if self.weak_type else "")


@dataclasses.dataclass(frozen=True)
class Signature:
    """Everything a program depends on beside the code: `function` numbers the function object, `statics` are (name,
    type, repr) of static arguments, `options` (name, repr) of everything else."""

    function: int
    leaves: tuple[Leaf, ...]
    tree: str
    statics: tuple[tuple[str, str, str], ...]
    options: tuple[tuple[str, str], ...]
    x64: bool
    device: str


_LIMIT = 200


def short_repr(value: Any) -> str:
    """`repr`, cut to a length that fits a record; a `repr` that fails does not matter."""
    try:
        text = repr(value)
    except Exception as error:  # noqa: BLE001
        text = f"<{type(value).__name__} whose repr raises {type(error).__name__}>"
    return text if len(text) <= _LIMIT else f"{text[:_LIMIT]}…"


def options_text(settings: Settings, axes: tuple, options: tuple, donated: tuple) -> tuple[tuple[str, str], ...]:
    """The options a program depends on, as (name, repr)."""
    rows = [("numpy_dtype_promotion", settings.numpy_dtype_promotion), ("disable_jit", settings.disable_jit),
            ("default_device", settings.default_device), ("donated arguments", donated)]
    rows += [(f"axis {name!r}", size) for name, size in axes]
    rows += [(f"compiler option {name}", value) for name, value in options]
    return tuple((name, short_repr(value)) for name, value in rows)
