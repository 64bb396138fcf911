"""What this package knows of jax beyond its documented interface, as a table, and what the loaded jax has of it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from types import CodeType, ModuleType
from typing import Any, NamedTuple


__all__ = [
    "HIT", "MISS", "RETRIEVED", "SAVED", "STAGES", "MissingName", "array_class", "can_mark", "capabilities", "folder",
    "jax", "listening", "module", "monitoring", "names_are_keys", "there", "unread",
]  # fmt: skip


STAGES = {
    "/jax/core/compile/jaxpr_trace_duration": "trace",
    "/jax/core/compile/jaxpr_to_mlir_module_duration": "lower",
    "/jax/core/compile/backend_compile_duration": "compile",
}
HIT, MISS = "/jax/compilation_cache/cache_hits", "/jax/compilation_cache/cache_misses"
RETRIEVED, SAVED = (
    "/jax/compilation_cache/cache_retrieval_time_sec",
    "/jax/compilation_cache/compile_time_saved_sec",
)


def jax() -> ModuleType | None:
    """jax, once it is imported wholly."""
    module = sys.modules.get("jax")
    whole = (
        module is not None and module.__name__ == "jax" and hasattr(module, "jit") and "jax.monitoring" in sys.modules
    )
    return module if whole else None


def there() -> bool:
    """Whether jax is imported; not where that is another name of jitscope."""
    return jax() is not None


def module(name: str) -> Any:
    """A loaded module by its full name, or None."""
    return sys.modules.get(name)


def folder() -> str:
    """jax's folder, with a separator at the end; of no file where jax is not imported."""
    found = jax()
    return os.path.dirname(os.path.abspath(found.__file__ or "")) + os.sep if found else "\0"


def array_class() -> Any:
    """The class of jax's arrays, or None."""
    return getattr(module("jax._src.array"), "ArrayImpl", None)


def monitoring(name: str) -> Any:
    """A function of `jax.monitoring`, or None."""
    return getattr(getattr(jax(), "monitoring", None), name, None)


# --- the table -----------------------------------------------------------------------------------------------------------


class Name(NamedTuple):
    """A name of jax's: where it is, in which releases (`since` the first, `until` the last, "" where all have it), what it is for, and what
    is not shown without it."""

    where: str
    name: str
    purpose: str
    without: str
    since: str = ""
    until: str = ""

    @property
    def full(self) -> str:
        """The name with where it is."""
        return f"{self.where}.{self.name}"


class Frame(NamedTuple):
    """A function of jax's whose local variables are read while it runs."""

    where: str
    function: str
    variables: str
    purpose: str
    without: str

    @property
    def full(self) -> str:
        """The function's name with where it is."""
        return f"{self.where}.{self.function}"


_NO_MARKS = "kernels have no origins: equations cannot be marked"
_LISTENERS = "the listeners stay, and do nothing, after %unload_ext"
_SCOPES, _MONITORING = "jax._src.source_info_util", "jax.monitoring"

NAMES = [
    Name(_MONITORING, "register_event_duration_secs_listener", "the end of each stage", "nothing of jax is shown"),
    Name(_MONITORING, "unregister_event_duration_listener", "to stop watching", _LISTENERS),
    Name(_MONITORING, "register_scalar_listener", "the beginning of each stage", _NO_MARKS),
    Name(_MONITORING, "unregister_scalar_listener", "to stop watching", _LISTENERS),
    Name(
        _MONITORING,
        "register_event_listener",
        "hits of jax's persistent cache",
        "programs loaded from the disk count as compiled",
    ),
    Name(_MONITORING, "unregister_event_listener", "to stop watching", _LISTENERS),
    Name(_SCOPES, "Scope", "marks", _NO_MARKS),
    Name(_SCOPES, "NameStack", "marks", _NO_MARKS),
    Name(_SCOPES, "Transform", "named scopes of equations", "equations of derivatives are not told from others"),
    Name(
        "jax._src.monitoring",
        "get_event_duration_listeners",
        "whether its listeners are there",
        "listeners that somebody removed are not put back",
    ),
    Name(
        "jax._src.api",
        "_post_hook_state",
        "calls that jax answers from its caches",
        "calls of functions that are compiled already are not counted",
    ),
    Name(
        "jax._src.config", "config_ext", "taking that hook away", "jax calls a hook that does nothing after each cell"
    ),
    Name("jax._src.array", "ArrayImpl", "arrays that are printed", "a NaN that `print(f(x))` shows is not told"),
    Name(
        "jax._src.core",
        "trace_ctx",
        "whether jax traces now",
        "a value that is asked for in a trace is taken to be traced",
    ),
    Name(
        "jax._src.util",
        "cache",
        "whether jax's caches were cleared",
        "a compilation after `jax.clear_caches()` is not explained by it",
    ),
    Name(
        "jax._src.tree_util",
        "_registry",
        "classes that are trees",
        "advice for trees of the user's own classes is missing",
    ),
    Name(
        "jax._src.sharding_impls",
        "GSPMDSharding",
        "arguments of programs on several devices",
        "these programs are not timed again",
    ),
    Name(
        "jax.experimental.xla_metadata",
        "set_xla_metadata",
        "trying rewrites past jax's caches",
        "rewrites are not tried",
    ),
    Name("jax.extend.core", "jaxpr_as_fun", "evaluating programs by equations", "%values and %nans of jax's functions"),
]
"""Names that are looked up in modules. The tests compare them with each release that is supported."""

_PXLA, _PJIT = "jax._src.interpreters.pxla", "jax._src.pjit"

FRAMES = [
    Frame(
        _PJIT,
        "_trace_for_jit",
        "fun ji args kwargs jaxpr",
        "the traced function and its arguments",
        "causes of recompilations and names of arguments",
    ),
    Frame(
        _PXLA,
        "_cached_lowering_to_hlo",
        "closed_jaxpr",
        "the lowered program",
        "graphs, kernels and lines: programs are not seen",
    ),
    Frame(
        _PXLA,
        "lower_sharding_computation",
        "closed_jaxpr donated_invars",
        "donated arguments",
        "which arguments are donated",
    ),
    Frame(
        _PXLA,
        "_cached_compilation",
        "computation backend da compile_options host_callbacks xla_executable",
        "the executable",
        "kernels, times, memory: executables are not seen",
    ),
    Frame(
        _PXLA,
        "UnloadedMeshExecutable.from_hlo",
        "kept_var_idx",
        "arguments that the program takes",
        "timing on the arguments of the call",
    ),
    Frame(
        _PJIT,
        "_pjit_call_impl_python",
        "args jaxpr donated_invars",
        "what a program runs on",
        "`check --run` of values",
    ),
    Frame(
        "jax._src.interpreters.ad",
        "backward_pass3",
        "eqn",
        "derivatives outside of jit",
        "NaNs of derivatives outside of jit",
    ),
]
"""Local variables that are read from frames of jax's: by their names alone, whichever function has them; these are the functions that do."""


class MissingName(NamedTuple):
    """A name that this jax lacks, and what is not shown because of it."""

    name: str
    consequence: str


def capabilities() -> list[MissingName]:
    """What is not shown on the jax that is loaded, and why; nothing on those that are verified (docs/watching-jax.md)."""
    return [MissingName(one.full, one.without) for one in NAMES if _applies(one) and not _there(one)]


def _there(one: Name) -> bool:
    at = getattr(jax(), "monitoring", None) if one.where == _MONITORING else module(one.where)
    if at is None and one.where not in sys.modules:  # a module that is imported where it is needed
        return find_spec(one.where) is not None
    return hasattr(at, one.name)


def _applies(one: Name) -> bool:
    version = _release(getattr(jax(), "__version__", ""))
    return (not one.since or _release(one.since) <= version) and (not one.until or version <= _release(one.until))


def _release(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")[:2] if part.isdigit())


def unread() -> list[MissingName]:
    """The local variables that functions of this jax lack, and what is not shown because of it. Reads the modules' code, which takes a
    moment."""
    found = []
    for one in FRAMES:
        code = _code(one.where).get(one.function)
        had = set() if code is None else {*code.co_varnames, *code.co_cellvars, *code.co_freevars}
        found += [MissingName(f"{one.full}: {name}", one.without) for name in one.variables.split() if name not in had]
    return found


@cache
def _code(name: str) -> dict[str, CodeType]:
    """The code of each function of a module, by its qualified name."""
    spec = find_spec(name)
    whole = getattr(spec.loader, "get_code", lambda _: None)(name) if spec is not None else None
    found: dict[str, CodeType] = {}
    todo: list[tuple[str, CodeType]] = [("", whole)] if whole is not None else []
    while todo:
        around, code = todo.pop()
        for inner in (c for c in code.co_consts if isinstance(c, CodeType)):
            name = f"{around}{inner.co_name}"
            found.setdefault(name, inner)
            todo.append((f"{name}.", inner))
    return found


def can_mark() -> bool:
    """Whether equations can be marked, so that kernels know which ones they stem from."""
    return not any(missing.consequence == _NO_MARKS for missing in capabilities())


def names_are_keys() -> bool:
    """Whether names of operations are part of the keys of jax's persistent cache: marks, which change with each process, would miss there."""
    return bool(getattr(getattr(jax(), "config", None), "jax_compilation_cache_include_metadata_in_key", False))


def listening(listener: Callable[..., None]) -> bool:
    """Whether a duration listener is still registered; taken for granted where jax does not say."""
    ask = getattr(module("jax._src.monitoring"), "get_event_duration_listeners", None)
    return ask is None or any(one is listener or one == listener for one in ask())
