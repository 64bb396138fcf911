"""Looking into running programs: functions that print values, or hand them to Python."""

from __future__ import annotations

import logging
import string
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, overload

import numpy as np

from .. import tree
from ..backend.callbacks import HostFunction, host_function
from ..control.callbacks import debug_callback_p, debug_print_p
from ..core import call_sites, dtypes
from ..core.annotations import PyTree
from ..core.avals import aval_of
from ..core.config import NOT_GIVEN


__all__ = ["callback", "log", "print"]


_NOTHING = tree.structure(None)


@overload
def callback(
    callback: Callable[..., Any], *args: PyTree, ordered: bool = False, partitioned: bool = False, **kwargs: PyTree
) -> None: ...
@overload
def callback(*, ordered: bool = False, partitioned: bool = False) -> Callable[..., None]: ...
def callback(
    callback: Callable[..., Any] = NOT_GIVEN,
    *args: PyTree,
    ordered: bool = False,
    partitioned: bool = False,
    **kwargs: PyTree,
) -> Any:
    """Call `callback(*args, **kwargs)` with the values when the program runs; what it returns is not looked at.

    Arguments that are not arrays are handed over as they are. It shows and changes nothing of the computation: derivatives
    call it with the primals, vmap once for each example; transformations may repeat it or leave it out. Calls that are
    `ordered` keep the order of the program. `debug.callback(ordered=True)(f, x)` is the same: options first. What it raises
    is raised by the call that runs the program. `partitioned` has a meaning on several devices only.
    """
    if callback is NOT_GIVEN:
        _options_alone("debug.callback", args, kwargs)
        return lambda f, *a, **k: _call(f, a, k, ordered)
    return _call(callback, args, kwargs, ordered)


@overload
def print(
    fmt: str,
    *args: PyTree,
    ordered: bool = False,
    partitioned: bool = False,
    skip_format_check: bool = False,
    **kwargs: PyTree,
) -> None: ...
@overload
def print(
    *, ordered: bool = False, partitioned: bool = False, skip_format_check: bool = False
) -> Callable[..., None]: ...
def print(
    fmt: str = NOT_GIVEN,
    *args: PyTree,
    ordered: bool = False,
    partitioned: bool = False,
    skip_format_check: bool = False,
    **kwargs: PyTree,
) -> Any:
    """Print `fmt.format(*args, **kwargs)` when the program runs: `debug.print("loss {x}", x=loss)`.

    Not an f-string: its values would be those of tracing. NumPy's print options are those in force when it was traced.
    Otherwise as `debug.callback`. Raises ValueError for arguments that the format does not use (unless
    `skip_format_check`), IndexError or KeyError for fields without an argument.
    """
    if fmt is NOT_GIVEN:
        _options_alone("debug.print", args, kwargs)
        return lambda f, *a, **k: _print(f, a, k, ordered, skip_format_check)
    return _print(fmt, args, kwargs, ordered, skip_format_check)


@overload
def log(
    fmt: str,
    *args: PyTree,
    ordered: bool = False,
    partitioned: bool = False,
    skip_format_check: bool = False,
    **kwargs: PyTree,
) -> None: ...
@overload
def log(
    *, ordered: bool = False, partitioned: bool = False, skip_format_check: bool = False
) -> Callable[..., None]: ...
def log(
    fmt: str = NOT_GIVEN,
    *args: PyTree,
    ordered: bool = False,
    partitioned: bool = False,
    skip_format_check: bool = False,
    **kwargs: PyTree,
) -> Any:
    """As `debug.print`, but the text goes to Python's logging, at level INFO of the logger "jitscope.debug", with the file
    and line of the call."""
    if fmt is NOT_GIVEN:
        _options_alone("debug.log", args, kwargs)
        return lambda f, *a, **k: _print(f, a, k, ordered, skip_format_check, call_sites.here() or True)
    return _print(fmt, args, kwargs, ordered, skip_format_check, call_sites.here() or True)


def _options_alone(what: str, args: Any, kwargs: Any) -> None:
    if args or kwargs:
        raise TypeError(
            f"{what}: it was given options alone, so that it takes no other arguments here: pass them in the next call"
        )


# callback ------------------------------------------------------------------------------------------------------------


def _call(function: Any, args: tuple, kwargs: dict[str, Any], ordered: bool) -> None:
    if not callable(function):
        raise TypeError(f"debug.callback: the first argument must be a function, not {type(function).__name__}")
    leaves, host = _host("debug.callback", _FunctionWithoutResult(function), args, kwargs, _key_of(function))
    debug_callback_p.bind(*leaves, callback=host, result_avals=(), ordered=bool(ordered))


class _FunctionWithoutResult:
    """A function whose result is not looked at."""

    __slots__ = ("__name__", "function")

    def __init__(self, function: Callable[..., Any]):
        self.function = function
        self.__name__ = getattr(function, "__name__", type(function).__name__)

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        self.function(*args, **kwargs)


def _key_of(function: Any) -> Any:
    plain = hasattr(function, "__code__") or hasattr(function, "__func__")
    return function if plain else id(function)


def _host(what: str, function: Any, args: tuple, kwargs: dict[str, Any], key: Any) -> tuple[list[Any], HostFunction]:
    """The arrays among the arguments, and the function of those alone."""
    leaves, structure = tree.flatten((args, kwargs))
    given = [_is_array(x) for x in leaves]
    traced = [x for x, g in zip(leaves, given) if g]
    fixed = [None if g else x for x, g in zip(leaves, given)]
    if all(given):
        return traced, host_function(what, function, structure, _NOTHING, (key,))
    whole = _FunctionOfArrays(function, structure, given, fixed)
    # Text is equal where it is the same; of other objects each is its own.
    known = tuple([x if isinstance(x, (str, type(None))) else id(x) for x in fixed])
    in_tree = tree.structure((tuple(traced), {}))
    return traced, host_function(what, whole, in_tree, _NOTHING, (key, structure, tuple(given), known))


def _is_array(x: Any) -> bool:
    try:
        return aval_of(x).dtype != dtypes.float0
    except TypeError:
        return False


class _FunctionOfArrays:
    """A function of the arrays among its arguments: the others are filled in."""

    def __init__(self, function: Any, structure: Any, given: Sequence[bool], fixed: Sequence[Any]):
        self.function, self.structure, self.given, self.fixed = function, structure, given, fixed
        self.__name__ = function.__name__

    def __call__(self, *traced: Any) -> None:
        values = iter(traced)
        args, kwargs = self.structure.unflatten([next(values) if g else x for g, x in zip(self.given, self.fixed)])
        self.function(*args, **kwargs)


# print ---------------------------------------------------------------------------------------------------------------


def _print(fmt: Any, args: tuple, kwargs: dict[str, Any], ordered: bool, unchecked: bool, logged: Any = None) -> None:
    if not isinstance(fmt, str):
        raise TypeError(
            f"debug.print: the format must be a str, not {type(fmt).__name__}; write debug.print('{{}}', x)"
        )
    if not unchecked:
        try:
            _check.format(fmt, *args, **kwargs)
        except (KeyError, IndexError, ValueError) as error:
            raise error.with_traceback(None) from None  # what string.Formatter does is nobody's affair
    options: dict[str, Any] = dict(np.get_printoptions())
    printer = _Printer(fmt, options, logged)
    leaves, host = _host("debug.print", printer, args, kwargs, ("print", fmt, repr(options), logged))
    debug_print_p.bind(*leaves, callback=host, result_avals=(), ordered=bool(ordered))


class _Printer:
    """Prints values in a format, or logs the text as coming from the position `logged`."""

    def __init__(self, fmt: str, options: dict[str, Any], logged: Any):
        self.fmt, self.options, self.logged = fmt, options, logged
        self.__name__ = f"print({fmt!r})"
        self.has_fields = any(field is not None for _, field, _, _ in string.Formatter().parse(fmt))

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        with np.printoptions(**self.options):
            if self.has_fields or not (args or kwargs):
                text = self.fmt.format(*args, **kwargs)
            else:
                text = " ".join([self.fmt, *map(str, args), *[f"{k}={v}" for k, v in kwargs.items()]])
        if self.logged is None:
            sys.stdout.write(text + "\n")
        elif _logger.isEnabledFor(logging.INFO):
            file, line = (self.logged.file, self.logged.line) if self.logged is not True else ("(unknown file)", 0)
            _logger.handle(_logger.makeRecord(_logger.name, logging.INFO, file, line, text, (), None))


_logger = logging.getLogger("jitscope.debug")


class _Check(string.Formatter):
    """Finds arguments without fields, and fields without arguments, and formats nothing."""

    def get_value(self, key: int | str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        if key in kwargs or (isinstance(key, int) and key < len(args)):
            return super().get_value(key, args, kwargs)
        asked = repr(key) if isinstance(key, str) else f"argument {key}"
        given = ", ".join([*(f"argument {i}" for i in range(len(args))), *map(repr, kwargs)]) or "nothing"
        error = KeyError if isinstance(key, str) else IndexError
        raise error(f"debug.print: the format uses {asked}, and it is given {given}")

    def format_field(self, value: Any, format_spec: str) -> str:
        return ""

    def convert_field(self, value: Any, conversion: Any) -> Any:
        return value

    def check_unused_args(self, used_args: Any, args: Any, kwargs: Any) -> None:
        unused = [f"argument {i}" for i in range(len(args)) if i not in used_args]
        unused += [repr(name) for name in kwargs if name not in used_args]
        if unused:
            raise ValueError(
                f"debug.print: the format does not use {', '.join(unused)}. If it is an f-string, make it an ordinary string: "
                'debug.print("x is {x}", x=x)'
            )


_check = _Check()
