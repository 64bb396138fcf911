"""Options of the compiler: few, each settable by name, by environment variable and by context manager.

`settings()` gives the options that decide what a program is, as an interned, immutable `Settings`, so that identity can
stand in a cache key. `OPTIONS` is the table of all options, with what each means.
"""

import dataclasses
import os
import warnings
from collections.abc import Callable
from contextlib import ContextDecorator
from contextvars import ContextVar
from importlib import import_module
from typing import Any, NamedTuple

from ..xla import client
from . import jax_options


@dataclasses.dataclass(frozen=True, eq=False)
class Settings:
    """The options in force that decide what a program is; `OPTIONS` says what they mean. Interned: equal options are one
    object."""

    enable_x64: bool = False
    disable_jit: bool = False
    numpy_dtype_promotion: str = "standard"
    numpy_rank_promotion: str = "allow"
    default_matmul_precision: str | None = None
    default_device: Any = None
    default_prng_impl: str = "threefry2x32"
    random_seed_offset: int = 0
    debug_key_reuse: bool = False
    debug_nans: bool = False
    debug_infs: bool = False
    check_tracer_leaks: bool = False


# What options may be --------------------------------------------------------------------------------------------------


def _flag(value: Any) -> bool:
    if isinstance(value, (bool, int)) and value in (0, 1):
        return bool(value)
    raise ValueError("True or False")


def _integer(value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise ValueError("an int")


def _count(value: Any) -> int:
    if _integer(value) < 1:
        raise ValueError("a positive int")
    return value


def _one_of(*values: Any) -> Callable[[Any], Any]:
    def check(value: Any) -> Any:
        if any(value is v or (isinstance(value, str) and value == v) for v in values):
            return value
        raise ValueError(", ".join(map(repr, values[:-1])) + f" or {values[-1]!r}")

    return check


def _filtering(value: Any) -> str:
    """JAX's modes other than "off" differ in how frames are hidden; here there is one way."""
    if value in ("auto", "tracebackhide", "remove_frames", "quiet_remove_frames"):
        return "fold"
    return _one_of("fold", "off")(value)


def _folder(value: Any) -> str | None:
    if value is None or (isinstance(value, (str, os.PathLike)) and os.fspath(value)):
        return None if value is None else os.path.abspath(os.path.expanduser(os.fspath(value)))
    raise ValueError("None or the path of a folder")


def _device(value: Any) -> Any:
    if value is None or client.is_device(value):
        return value
    if isinstance(value, str):
        return client.device_named(value)
    raise ValueError("None, one of jitscope.devices(), or its name ('cpu:1')")


PRECISIONS = ("default", "high", "highest", "bfloat16", "tensorfloat32", "float32")
GENERATORS = ("threefry2x32", "rbg", "unsafe_rbg")


class Option(NamedTuple):
    """One option. `check` gives the value as it is kept, or raises ValueError saying what it may be; `whole_process`:
    it has no context manager."""

    name: str
    default: Any
    check: Callable[[Any], Any]
    meaning: str
    whole_process: bool = False

    @property
    def variable(self) -> str:
        """Its environment variable, read at import."""
        return f"JITSCOPE_{self.name.upper()}"

    def checked(self, value: Any, where: str = "") -> Any:
        """The value to keep. Raises ValueError naming the option and what it may be."""
        try:
            return self.check(value)
        except ValueError as error:
            raise ValueError(f"{where or f'option {self.name}'} is {error}, not {value!r}") from None

    def __str__(self) -> str:
        scope = "for the whole process" if self.whole_process else f"or, in a with block, jitscope.{self.name}(…)"
        return (
            f"{self.name} (default {self.default!r})\n  {self.meaning}\n"
            f"  config.update({self.name!r}, …), {self.variable}=… before import; {scope}"
        )


OPTIONS: dict[str, Option] = {
    option.name: option
    for option in (
        Option("enable_x64", False, _flag, "64-bit dtypes are kept; otherwise they become their 32-bit counterparts."),
        Option("disable_jit", False, _flag, "jit calls the Python function, operation by operation; so do loops."),
        Option(
            "numpy_dtype_promotion",
            "standard",
            _one_of("standard", "strict"),
            "What mixed dtypes do: 'standard' converts them to a common one, 'strict' raises.",
        ),
        Option(
            "numpy_rank_promotion",
            "allow",
            _one_of("allow", "warn", "raise"),
            "What arrays of different rank (neither a scalar) do in one operation: broadcast, also warn, or raise.",
        ),
        Option(
            "default_matmul_precision",
            None,
            _one_of(*PRECISIONS, None),
            "The precision of matrix products and convolutions that name none. The CPU always uses the full one.",
        ),
        Option(
            "default_device",
            None,
            _device,
            "Where arrays are made and functions without arrays run: a device or its name; None is the first one.",
        ),
        Option(
            "default_prng_impl",
            "threefry2x32",
            _one_of(*GENERATORS),
            "The generator of random keys that name none: random.key(seed), PRNGKey(seed), raw uint32 keys.",
        ),
        Option("random_seed_offset", 0, _integer, "Added to every seed given to random.key and PRNGKey."),
        Option("debug_key_reuse", False, _flag, "Raise KeyReuseError, with both lines, where a key is used twice."),
        Option(
            "debug_nans", False, _flag, "Raise FloatingPointError for a NaN, with the line that made the first one."
        ),
        Option("debug_infs", False, _flag, "Raise FloatingPointError for an infinity, with the line that made it."),
        Option(
            "check_tracer_leaks",
            False,
            _flag,
            "Raise where a traced function keeps one of its intermediate values beyond its trace. Slow.",
        ),
        Option(
            "traceback_filtering",
            "fold",
            _filtering,
            "What notebooks do with the library's own frames in tracebacks: 'fold' hides them, 'off' shows all.",
        ),
        Option(
            "num_cpu_devices",
            1,
            _count,
            "How many devices the CPU counts as; to be set before the first array is made.",
            whole_process=True,
        ),
        Option(
            "compilation_cache",
            True,
            _flag,
            "Compiled programs are kept on disk, where other processes and later sessions find them.",
            whole_process=True,
        ),
        Option(
            "compilation_cache_dir",
            None,
            _folder,
            "The folder compiled programs are kept in; None is the system's place for caches.",
            whole_process=True,
        ),
        Option(
            "compilation_cache_max_size",
            1 << 30,
            _integer,
            "The bytes that compiled programs may take on disk: those used longest ago go first. 0: none, -1: any number.",
            whole_process=True,
        ),
    )
}

_TRACED = frozenset(field.name for field in dataclasses.fields(Settings))
_interned: dict[tuple, Settings] = {}


def _intern(value: Settings) -> Settings:
    key = tuple((type(v), v) for v in (getattr(value, name) for name in OPTIONS if name in _TRACED))
    return _interned.setdefault(key, value)


# The process's values -------------------------------------------------------------------------------------------------


def _read(option: Option, text: str) -> Any:
    """The value an environment variable's text stands for."""
    word = text.strip()
    if option.check is _flag:
        word = word.lower()
        value: Any = (
            True if word in ("1", "true", "yes", "on") else False if word in ("0", "false", "no", "off", "") else word
        )
    elif option.check in (_integer, _count):
        value = int(word) if word.removeprefix("-").isdigit() else word
    else:
        value = None if word.lower() in ("", "none") and option.default is None else word
    return option.checked(value, f"the environment variable {option.variable}")


_LATE = frozenset(("default_device", "num_cpu_devices"))
"""The client reads their variables itself, when it is made: no device exists before."""


def _from_environment() -> dict[str, Any]:
    given = {name: os.environ.get(option.variable) for name, option in OPTIONS.items() if name not in _LATE}
    return {name: _read(OPTIONS[name], text) for name, text in given.items() if text is not None}


_given = _from_environment()
unscoped: Settings = _intern(Settings(**{name: value for name, value in _given.items() if name in _TRACED}))
_others: dict[str, Any] = {
    name: _given.get(name, option.default) for name, option in OPTIONS.items() if name not in _TRACED
}


class _Scope:
    """What the with blocks around set, and the settings that follow: they change when the process's own do."""

    __slots__ = ("base", "found", "given")

    def __init__(self, given: dict[str, Any]):
        self.given = given
        self.base: Settings | None = None
        self.found = unscoped

    def settings(self) -> Settings:
        if self.base is not unscoped:
            traced = {name: value for name, value in self.given.items() if name in _TRACED}
            self.found, self.base = _intern(dataclasses.replace(unscoped, **traced)), unscoped
        return self.found


_scope: ContextVar[_Scope | None] = ContextVar("jitscope_settings", default=None)
scoped = _scope.get
"""What with blocks around set, or None: then `unscoped` are the settings in force. For what is called at every operation."""


def settings() -> Settings:
    """The options in force in this thread or task."""
    scope = _scope.get()
    return unscoped if scope is None else scope.settings()


def value_of(name: str) -> Any:
    """The value in force of any option of the table."""
    scope = _scope.get()
    if name in _TRACED:
        return getattr(settings(), name)
    if name == "num_cpu_devices":
        return client.device_count()
    return scope.given[name] if scope is not None and name in scope.given else _others[name]


def _watches(values: dict[str, Any]) -> bool:
    return bool(values.get("debug_nans") or values.get("debug_infs"))


watching = int(_watches(_given))
"""How many places look for NaNs or infinities, over all threads: each operation asks only whether this is 0."""


class override(ContextDecorator):
    """Set options inside a `with` block (or a decorated function), for this thread or task alone.

    Raises AttributeError for an unknown option, ValueError for an unknown value.
    """

    def __init__(self, **values: Any):
        for name in values:
            if _option(name).whole_process:
                raise ValueError(f"option {name} is the whole process's: set it with config.update")
        self.values = {name: _option(name).checked(value) for name, value in values.items()}
        self.tokens: list[Any] = []

    def __enter__(self) -> None:
        global watching
        watching += _watches(self.values)
        scope = _scope.get()
        self.tokens.append(_scope.set(_Scope({**(scope.given if scope else {}), **self.values})))

    def __exit__(self, *_: Any) -> None:
        global watching
        watching -= _watches(self.values)
        _scope.reset(self.tokens.pop())


# Names ----------------------------------------------------------------------------------------------------------------


_OTHER_NAMES = {"enable_compilation_cache": "compilation_cache"}
"""What JAX calls options that have a shorter name here."""


def _option(name: str) -> Option:
    own = name.removeprefix("jax_")
    own = _OTHER_NAMES.get(own, own)
    if own not in OPTIONS:
        raise AttributeError(_unknown(name))
    return OPTIONS[own]


def _unknown(name: str) -> str:
    if jax_options.is_known(name):
        return f"JAX's option {name} has no counterpart here{jax_options.why(name)}; options are {', '.join(sorted(OPTIONS))}"
    near = import_module("difflib").get_close_matches(name.removeprefix("jax_"), OPTIONS, 3)
    advice = f"did you mean {' or '.join(map(repr, near))}?" if near else f"there are {', '.join(sorted(OPTIONS))}"
    return f"no option is called {name!r}; {advice}"


class Config:
    """`jitscope.config`: the options by attribute (`config.enable_x64`, JAX's spelling `config.jax_enable_x64` too),
    `update` to set one for the whole process, `help` to read what they mean."""

    def update(self, name: str, value: Any) -> None:
        """Set option `name` for the whole process; JAX's names (`jax_enable_x64`) work too.

        An option of JAX's that has no meaning here is left alone with one warning; one that comes in a later release
        raises NotImplementedError unless it is switched off. Raises AttributeError for an unknown name, ValueError for an
        unknown value, RuntimeError for `num_cpu_devices` once devices are in use.
        """
        global unscoped, watching
        if name.removeprefix("jax_") not in OPTIONS.keys() | _OTHER_NAMES and jax_options.is_known(name):
            self._of_jax_alone(name, value)
            return
        option = _option(name)
        value = option.checked(value)
        if option.name in _TRACED:
            before = _watches({option.name: getattr(unscoped, option.name)})
            watching += _watches({option.name: value}) - before
            unscoped = _intern(dataclasses.replace(unscoped, **{option.name: value}))
        elif option.name == "num_cpu_devices":
            client.set_device_count(value)
        else:
            _others[option.name] = value

    def _of_jax_alone(self, name: str, value: Any) -> None:
        if jax_options.comes_later(name):
            if value not in (False, None, ""):
                raise NotImplementedError(f"{name} comes in a later release of jitscope; until then it stays off")
        elif not jax_options.is_so_here(name, value):
            warnings.warn(f"{name} has no effect in jitscope{jax_options.why(name)}", UserWarning, stacklevel=3)

    def read(self, name: str) -> Any:
        """The value in force. Raises AttributeError for an unknown name."""
        return value_of(_option(name).name)

    def help(self, name: str | None = None) -> None:
        """Print what an option means, its default and how to set it; without a name, all of them."""
        print("\n\n".join(str(option) for option in ([_option(name)] if name else OPTIONS.values())))

    def __getattr__(self, name: str) -> Any:
        return value_of(_option(name).name)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"options are set with config.update({name!r}, {value!r})")

    def __dir__(self) -> list[str]:
        return sorted([*OPTIONS, "help", "read", "update"])

    def __repr__(self) -> str:
        width = max(map(len, OPTIONS))
        rows = [f"  {name:{width}} = {value_of(name)!r:16} {option.meaning}" for name, option in OPTIONS.items()]
        return "\n".join(["Config (config.help() says more)", *rows])


config = Config()


# Context managers -----------------------------------------------------------------------------------------------------


def enable_x64(new_value: bool = True) -> override:
    """Context manager: 64-bit dtypes on (or off) inside the block."""
    return override(enable_x64=new_value)


def disable_jit(disable: bool = True) -> override:
    """Context manager: `jit` calls the Python function itself inside the block."""
    return override(disable_jit=disable)


def numpy_dtype_promotion(new_value: str) -> override:
    """Context manager: inside the block mixed dtypes are converted ("standard") or raise TypePromotionError ("strict")."""
    return override(numpy_dtype_promotion=new_value)


def numpy_rank_promotion(new_value: str) -> override:
    """Context manager: inside the block arrays of different rank broadcast ("allow"), "warn" too, or "raise" ValueError."""
    return override(numpy_rank_promotion=new_value)


def default_matmul_precision(new_value: str | None) -> override:
    """Context manager: the precision of matrix products that name none ("default", "high", "highest", …)."""
    return override(default_matmul_precision=new_value)


def default_device(new_value: Any) -> override:
    """Context manager: arrays made inside the block live on this device (one of `devices()`, or its name)."""
    return override(default_device=new_value)


def default_prng_impl(new_value: str) -> override:
    """Context manager: the generator of the keys made inside the block."""
    return override(default_prng_impl=new_value)


def random_seed_offset(new_value: int) -> override:
    """Context manager: a number added to the seeds of the keys made inside the block."""
    return override(random_seed_offset=new_value)


def debug_key_reuse(new_value: bool = True) -> override:
    """Context manager: inside the block a key that is used twice raises KeyReuseError, with both lines."""
    return override(debug_key_reuse=new_value)


def debug_nans(new_value: bool = True) -> override:
    """Context manager: inside the block a NaN raises FloatingPointError, with the line that made the first one."""
    return override(debug_nans=new_value)


def debug_infs(new_value: bool = True) -> override:
    """Context manager: inside the block an infinity raises FloatingPointError, with the line that made it."""
    return override(debug_infs=new_value)


def checking_leaks(new_value: bool = True) -> override:
    """Context manager: inside the block a traced function that keeps an intermediate value raises UnexpectedTracerError."""
    return override(check_tracer_leaks=new_value)


check_tracer_leaks = checking_leaks
"""The same under the option's own name; JAX has both."""


def traceback_filtering(new_value: str) -> override:
    """Context manager: inside the block tracebacks in notebooks hide the library's own frames ("fold") or not ("off")."""
    return override(traceback_filtering=new_value)
