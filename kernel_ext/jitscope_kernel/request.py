"""What the line of a `%%jit` cell asks for."""

from __future__ import annotations

import dataclasses
from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic_arguments import MagicArgumentParser

from jitscope_scope import observe


@dataclasses.dataclass(frozen=True)
class Request:
    """`names` and `skip` are functions; `tuning` may have "tune" and "untune"; `static` and `donate` map a function to its parameters' names."""

    names: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()
    static: dict[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    donate: dict[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    quiet: bool = False
    max_compiles: int | None = None
    nans: bool = False
    instruments: tuple[str, ...] = ()
    vs: str | None = None
    target: str | None = None
    tuning: frozenset[str] = frozenset()
    help: bool = False


def read(parser: MagicArgumentParser, line: str) -> Request:
    """The request in `line`. Raises UsageError with a sentence for the user when there is none."""
    try:
        found: Any = parser.parse_argstring(line)
    except ValueError as error:  # quotes that do not close
        raise UsageError(f"%%jit: {error}") from None
    except UsageError as error:
        raise UsageError(f"%%jit: {error}; %%jit -h lists what it takes") from None
    return Request(
        names=tuple(found.names),
        skip=tuple(found.skip),
        static=_by_function(found.static, "--static"),
        donate=_by_function(found.donate, "--donate"),
        quiet=found.quiet,
        max_compiles=_natural(found.max_compiles),
        nans=found.nans,
        instruments=_instruments(found.instruments),
        vs=found.vs,
        target=found.target,
        tuning=frozenset(found.tuning),
        help=found.help,
    )


def _natural(number: int | None) -> int | None:
    if number is not None and number < 0:
        raise UsageError(f"%%jit: --max-compiles takes a number from 0, not {number}")
    return number


def _instruments(texts: list[str]) -> tuple[str, ...]:
    names = dict.fromkeys(name.strip() for text in texts for name in text.split(","))
    for name in names:
        if name not in observe.instrument_names():
            raise UsageError(f"%%jit: --with takes {', '.join(observe.instrument_names())}, not {name!r}")
    return tuple(names)


def _by_function(texts: list[str], option: str) -> dict[str, tuple[str, ...]]:
    """`["f:n,mode", "g:k"]` → `{"f": ("n", "mode"), "g": ("k",)}`."""
    found: dict[str, tuple[str, ...]] = {}
    for text in texts:
        function, colon, rest = text.partition(":")
        parameters = tuple(name.strip() for name in rest.split(","))
        if not colon or not function.strip().isidentifier() or not all(name.isidentifier() for name in parameters):
            raise UsageError(
                f"%%jit: {option} takes FUNCTION:PARAMETER[,PARAMETER …], such as {option} f:n, not {text!r}"
            )
        function = function.strip()
        found[function] = tuple(dict.fromkeys(found.get(function, ()) + parameters))
    return found
