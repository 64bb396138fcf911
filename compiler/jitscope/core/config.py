"""Options of the compiler, each settable by name, by environment variable and by context manager.

`settings()` gives the options that decide what a program is, as an interned, immutable `Settings`, so that identity can
stand in a cache key. `options.OPTIONS` is the table of all options, with what each means.
"""

import os
import warnings
from contextlib import ContextDecorator
from contextvars import ContextVar
from importlib import import_module
from typing import Any

from ..named_tuple import NamedTuple
from ..xla import client
from . import jax_options
from .options import OPTIONS, Option, read_text


__all__ = ["allow_f16_reductions", "array_garbage_collection_guard", "auto_pcast", "check_static_indices", "check_tracer_leaks",
           "checking_leaks", "config", "debug_infs", "debug_key_reuse", "debug_nans", "default_device",
           "default_matmul_precision", "default_prng_impl", "disable_jit", "enable_checks", "enable_custom_prng",
           "enable_x64", "explain_cache_misses", "explicit_x64_dtypes", "legacy_prng_key", "log_compiles", "make_user_context", "no_execution",
           "no_tracing", "numpy_dtype_promotion", "numpy_rank_promotion", "random_seed_offset",
           "remove_size_one_mesh_axis_from_type", "sharp_bits", "softmax_custom_jvp", "thread_guard",
           "threefry_partitionable", "traceback_filtering", "transfer_guard", "transfer_guard_device_to_device",
           "transfer_guard_device_to_host", "transfer_guard_host_to_device"]  # fmt: skip


class Settings(NamedTuple):
    """The options in force that decide what a program is; `OPTIONS` says what they mean. Interned: equal options are one
    object."""

    enable_x64: bool = False
    disable_jit: bool = False
    numpy_dtype_promotion: str = "standard"
    explicit_x64_dtypes: str = "warn"
    numpy_rank_promotion: str = "allow"
    default_matmul_precision: str | None = None
    default_device: Any = None
    default_prng_impl: str = "threefry2x32"
    random_seed_offset: int = 0
    debug_key_reuse: bool = False
    debug_nans: bool = False
    debug_infs: bool = False
    sharp_bits: bool = False
    check_tracer_leaks: bool = False
    enable_checks: bool = False
    no_execution: bool = False
    legacy_prng_key: str = "allow"
    threefry_partitionable: bool = True
    check_static_indices: bool = False
    user_contexts: tuple = ()
    mesh: Any = None

    __eq__, __hash__ = object.__eq__, object.__hash__


_TRACED = Settings._fields
_interned: dict[tuple, Settings] = {}


def _intern(value: Settings) -> Settings:
    return _interned.setdefault(tuple((type(v), v) for v in value), value)


# The process's values -------------------------------------------------------------------------------------------------


_LATE = frozenset(("default_device", "num_cpu_devices"))
"""The client reads their variables itself, when it is made: no device exists before."""


def _from_environment() -> dict[str, Any]:
    given = {name: os.environ.get(option.variable) for name, option in OPTIONS.items() if name not in _LATE}
    return {name: read_text(OPTIONS[name], text) for name, text in given.items() if text is not None}


_given = _from_environment()
unscoped: Settings = _intern(Settings(**{name: value for name, value in _given.items() if name in _TRACED}))
_others: dict[str, Any] = {
    name: _given.get(name, option.default) for name, option in OPTIONS.items() if name not in _TRACED
}


class _Scope:
    """What the with blocks around set, and the settings that follow: they change when the process's own do."""

    __slots__ = ("base", "found", "given", "outer")

    def __init__(self, given: dict[str, Any], outer: "_Scope | None"):
        self.given, self.outer = given, outer
        self.base: Settings | None = None
        self.found = unscoped

    def settings(self) -> Settings:
        if self.base is not unscoped:
            traced = {name: value for name, value in self.given.items() if name in _TRACED}
            self.found, self.base = _intern(unscoped._replace(**traced)), unscoped
        return self.found


_scope: ContextVar[_Scope | None] = ContextVar("jitscope_settings", default=None)
scoped = _scope.get
"""What with blocks around set, or None: then `unscoped` are the settings in force. For what is called at every operation."""


def settings() -> Settings:
    """The options in force in this thread or task."""
    scope = _scope.get()
    return unscoped if scope is None else scope.settings()


def _unscoped_value(name: str) -> Any:
    return getattr(unscoped, name) if name in _TRACED else _others[name]


def value_of(name: str) -> Any:
    """The value in force of any option of the table."""
    scope = _scope.get()
    if name in _TRACED:
        return getattr(settings(), name)
    if name == "num_cpu_devices":
        return client.device_count()
    return scope.given[name] if scope is not None and name in scope.given else _others[name]


_WATCHES, GUARDS = (
    ("debug_nans", "debug_infs", "sharp_bits", "no_execution"),
    tuple(n for n in OPTIONS if n.startswith("transfer_guard")),
)
watching = guarding = 0
"""How many places look for NaNs or infinities or refuse to run anything, and how many guard transfers, over all threads: each
operation asks only whether this is 0."""


def _count_places(values: dict[str, Any], by: int) -> None:
    global watching, guarding
    watching += by * any(values.get(name) for name in _WATCHES)
    guarding += by * any(values.get(name) not in (None, "allow") for name in GUARDS)


_count_places(_given, 1)


class override(ContextDecorator):
    """Set options inside a `with` block (or a decorated function), for this thread or task alone. One object may be entered
    by several at once: what to go back to is kept where the options are.

    Raises AttributeError for an unknown option, ValueError for an unknown value.
    """

    def __init__(self, **values: Any):
        for name in values:
            if _option(name).whole_process:
                raise ValueError(f"option {name} holds for the whole process: set it with config.update")
        self.values = {name: _option(name).checked(value) for name, value in values.items()}

    @classmethod
    def unchecked(cls, **values: Any) -> "override":
        """The same for settings that are not options."""
        made = cls()
        made.values = values
        return made

    def __enter__(self) -> None:
        _count_places(self.values, 1)
        scope = _scope.get()
        _scope.set(_Scope({**(scope.given if scope else {}), **self.values}, scope))

    def __exit__(self, *_: Any) -> None:
        _count_places(self.values, -1)
        scope = _scope.get()
        _scope.set(scope.outer if scope else None)


# Names ----------------------------------------------------------------------------------------------------------------


_OTHER_NAMES = {"enable_compilation_cache": "compilation_cache", "x64_enabled": "enable_x64"}
"""What JAX calls options that have a shorter name here."""


_of_jax: dict[str, Any] = {}
"""What options that mean nothing here were set to."""


def _is_option(name: str) -> bool:
    own = name.removeprefix("jax_")
    return own in OPTIONS or own in _OTHER_NAMES


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
        global unscoped
        if not _is_option(name) and jax_options.is_known(name):
            self._of_jax_alone(name, value)
            return
        option = _option(name)
        value = option.checked(value)
        if option.name == "transfer_guard":
            for name in GUARDS[:-1]:
                self.update(name, value)
        _count_places({option.name: _unscoped_value(option.name)}, -1)
        _count_places({option.name: value}, 1)
        if option.name in _TRACED:
            unscoped = _intern(unscoped._replace(**{option.name: value}))
        elif option.name == "num_cpu_devices":
            client.set_device_count(value)
        else:
            _others[option.name] = value

    def _of_jax_alone(self, name: str, value: Any) -> None:
        if jax_options.comes_later(name):
            if value not in (False, None, "", "ignore"):
                raise NotImplementedError(f"{name} comes in a later release of jitscope; until then it stays off")
        elif not jax_options.is_so_here(name, value):
            warnings.warn(f"{name} has no effect in jitscope{jax_options.why(name)}", UserWarning, stacklevel=3)
        _of_jax[name.removeprefix("jax_")] = value

    def read(self, name: str) -> Any:
        """The value in force; of an option that is JAX's alone, what it was set to, or is there by default. Raises AttributeError for an unknown
        name."""
        if jax_options.is_known(name) and not _is_option(name):
            return _of_jax.get(name.removeprefix("jax_"), jax_options.default(name))
        return value_of(_option(name).name)

    @property
    def values(self) -> dict[str, Any]:
        """The value in force of each option, by JAX's spelling of its name."""
        return {f"jax_{name}": value_of(name) for name in OPTIONS}

    def config_with_absl(self) -> None:
        """Make flags of absl's from the options; `absl.app.run` sets those on the command line. Needs absl-py."""
        import_module(f"{__package__}.absl_flags").define(self, _OTHER_NAMES)

    def parse_flags_with_absl(self) -> None:
        """Set the options that stand on the command line as `--jax_NAME=VALUE`. Needs absl-py."""
        import_module(f"{__package__}.absl_flags").parse(self, _OTHER_NAMES)

    def help(self, name: str | None = None) -> None:
        """Print what an option means, its default and how to set it; without a name, all of them."""
        print("\n\n".join(str(option) for option in ([_option(name)] if name else OPTIONS.values())))

    def __getattr__(self, name: str) -> Any:
        return self.read(name)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"options are set with config.update({name!r}, {value!r})")

    def __dir__(self) -> list[str]:
        return sorted([*OPTIONS, "config_with_absl", "help", "parse_flags_with_absl", "read", "update", "values"])

    def __repr__(self) -> str:
        width = max(map(len, OPTIONS))
        rows = [f"  {name:{width}} = {value_of(name)!r:16} {option.meaning}" for name, option in OPTIONS.items()]
        return "\n".join(["Config (config.help() says more)", *rows])


config = Config()


NOT_GIVEN: Any = object()
"""The default of an argument for which None means something."""


# Context managers -----------------------------------------------------------------------------------------------------


class Manager:
    """`jitscope.enable_x64` and its kin: called with a value, a context manager (or a decorator) that sets the option inside
    the block, for this thread or task alone. `value` is the one in force; `help(jitscope.enable_x64)` says what it means.

    Raises ValueError for a value that the option may not have.
    """

    def __init__(self, name: str, *default: Any):
        self.option, self._default = OPTIONS[name], default
        self.__name__ = self.__qualname__ = name
        self.__doc__ = f"Context manager: sets the option {name} inside the block.\n\n{self.option.meaning}"

    def __call__(self, new_val: Any = NOT_GIVEN) -> override:
        given = (new_val,) if new_val is not NOT_GIVEN else self._default
        if not given:
            raise TypeError(f"{self.__name__} needs an argument, the option's value inside the block")
        names = GUARDS if self.option.name == "transfer_guard" else (self.option.name,)
        return override(**dict.fromkeys(names, given[0]))

    @property
    def value(self) -> Any:
        """The value in force."""
        return value_of(self.option.name)

    def __repr__(self) -> str:
        return f"<context manager of the option {self.option.name}, which is {self.value!r}>"


enable_x64 = Manager("enable_x64", True)
enable_checks = Manager("enable_checks", True)
explicit_x64_dtypes = Manager("explicit_x64_dtypes")
numpy_dtype_promotion = Manager("numpy_dtype_promotion")
numpy_rank_promotion = Manager("numpy_rank_promotion")
default_matmul_precision = Manager("default_matmul_precision")
default_device = Manager("default_device")
default_prng_impl = Manager("default_prng_impl")
random_seed_offset = Manager("random_seed_offset")
threefry_partitionable = Manager("threefry_partitionable", True)
legacy_prng_key = Manager("legacy_prng_key")
debug_key_reuse = Manager("debug_key_reuse", True)
debug_nans = Manager("debug_nans", True)
debug_infs = Manager("debug_infs", True)
sharp_bits = Manager("sharp_bits", True)
checking_leaks = check_tracer_leaks = Manager("check_tracer_leaks", True)
check_static_indices = Manager("check_static_indices", True)
no_tracing = Manager("no_tracing", True)
no_execution = Manager("no_execution", True)
log_compiles = Manager("log_compiles", True)
explain_cache_misses = Manager("explain_cache_misses", True)
transfer_guard = Manager("transfer_guard")
transfer_guard_host_to_device = Manager("transfer_guard_host_to_device")
transfer_guard_device_to_device = Manager("transfer_guard_device_to_device")
transfer_guard_device_to_host = Manager("transfer_guard_device_to_host")
traceback_filtering = Manager("traceback_filtering")
allow_f16_reductions = Manager("allow_f16_reductions", True)
auto_pcast = Manager("auto_pcast", True)
enable_custom_prng = Manager("enable_custom_prng", True)
remove_size_one_mesh_axis_from_type = Manager("remove_size_one_mesh_axis_from_type", True)
softmax_custom_jvp = Manager("softmax_custom_jvp", True)
thread_guard = Manager("thread_guard", True)
array_garbage_collection_guard = Manager("array_garbage_collection_guard")


def disable_jit(disable: bool = True) -> override:
    """Context manager: `jit` calls the Python function itself inside the block."""
    return override(disable_jit=disable)


class UserContext:
    """A value of one's own that traced functions may read: where it changes, they are traced again. See `make_user_context`."""

    __slots__ = ("default",)

    def __init__(self, default: Any):
        self.default = default

    @property
    def value(self) -> Any:
        """The value in force in this thread or task."""
        return dict(settings().user_contexts).get(self, self.default)

    def __call__(self, new_value: Any) -> override:
        contexts = {**dict(settings().user_contexts), self: new_value}
        return override.unchecked(user_contexts=tuple(contexts.items()))


def make_user_context(default_value: Any = None) -> UserContext:
    """A value that traced functions may depend on: `mode = make_user_context(1)`, `with mode(2): f(x)`, `mode.value`.

    It belongs to the keys of all caches: a jitted function is traced anew for each of its values, which are hashable.
    """
    return UserContext(default_value)
