"""What is known of jax beyond its documented interface: names of local variables, of classes, of a hook. No other file has any.

Nothing here imports jax: it is found in `sys.modules` after the user has imported it. On a version that lacks a name, what needs
it is not shown, and `capabilities` says so.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import inspect
import itertools
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import CodeType, FrameType, ModuleType, SimpleNamespace, TracebackType
from typing import Any, NamedTuple


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

_SENDER = 24
"""So many frames above an event's listener, at most, is what the stage works on."""


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


def monitoring(name: str) -> Any:
    """A function of `jax.monitoring`, or None."""
    return getattr(getattr(jax(), "monitoring", None), name, None)


# --- frames ------------------------------------------------------------------------------------------------------------


def _above(frame: FrameType | None, most: int) -> Iterator[FrameType]:
    """The frames of jax's from this one on. Those of the user's are not touched: a look at the local variables of a frame keeps their
    values alive until it ends."""
    own = (folder(), *_BETWEEN)
    while frame is not None and most and frame.f_code.co_filename.startswith(own):
        yield frame
        frame, most = frame.f_back, most - 1


_BETWEEN = (contextlib.__file__, functools.__file__)


def local(frame: FrameType | None, name: str, most: int = _SENDER) -> Any:
    """The value of the nearest frame's local variable of that name; None where there is none."""
    return next((f.f_locals[name] for f in _above(frame, most) if name in f.f_locals), None)


class Entered(NamedTuple):
    """A call of a jitted function that is being traced: the function, what jit was told, the arguments; whether it is part of another
    trace, of which some versions of jax tell, too."""

    fun: Any
    info: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    nested: bool


def entered(frame: FrameType | None) -> Entered | None:
    """The call whose trace sent an event."""
    for f in _above(frame, _SENDER):
        found = f.f_locals
        if {"fun", "args", "kwargs"}.issubset(found) and ("ji" in found or "jit_info" in found):
            info = found["ji"] if "ji" in found else found["jit_info"]
            here = Entered(found["fun"], info, tuple(found["args"]), dict(found["kwargs"]), _runs(f.f_code, f.f_back))
            by_pmap = getattr(here.fun, "__name__", "") in OF_PMAP
            return (_pmapped(f, here.nested) if by_pmap else None) or here
    return None


def entered_directly(traceback: TracebackType | None) -> Entered | None:
    """The first call of one of jax's documented functions that an error went through, while its frames are in the traceback."""
    while traceback is not None:
        frame = traceback.tb_frame
        if frame.f_code.co_name == _BOUNDARY and frame.f_code.co_filename.startswith(folder()):
            found = frame.f_locals
            if not {"fun", "args", "kwargs"}.issubset(found):
                return None
            info = SimpleNamespace(static_argnums=(), static_argnames=())
            return Entered(found["fun"], info, tuple(found["args"]), dict(found["kwargs"]), False)
        traceback = traceback.tb_next
    return None


_BOUNDARY = "reraise_with_filtered_traceback"
OF_PMAP = ("_fun",)
"""What `pmap` calls the function of its own that it jits."""


def _pmapped(frame: FrameType, nested: bool) -> Entered | None:
    """The call of a function under `pmap`, which jits one of its own that takes the leaves of the arguments."""
    for f in _above(frame, _SENDER):
        infer = f.f_locals.get("infer_params") if f.f_code.co_name == "wrapped" else None
        cells = dict(zip(infer.__code__.co_freevars, infer.__closure__ or ())) if infer is not None else {}
        if {"static_broadcasted_tuple", "donate_tuple", "axis_name"} <= cells.keys():
            told = {name: cell.cell_contents for name, cell in cells.items()}
            fun = told["wrapped_fun"].f if "wrapped_fun" in told else told["f"]
            info = SimpleNamespace(
                static_argnums=told["static_broadcasted_tuple"],
                static_argnames=(),
                donate_argnums=told["donate_tuple"],
                axis_name=told["axis_name"],
                devices=told.get("devices"),
            )
            return Entered(fun, info, tuple(f.f_locals["args"]), dict(f.f_locals["kwargs"]), nested)
    return None


def _runs(code: CodeType, frame: FrameType | None) -> bool:
    """Whether code runs in this frame or above it."""
    while frame is not None and frame.f_code is not code:
        frame = frame.f_back
    return frame is not None


def raised(frame: FrameType | None) -> BaseException | None:
    """The error with which a stage ended, seen from the listener of its end."""
    for f in _above(frame, 6):
        if f.f_code.co_name == "__exit__" and "exc_type" in f.f_locals:
            return next((v for name in ("exc_value", "exc_val") if (v := f.f_locals.get(name)) is not None), None)
    return None


def traced(frame: FrameType | None) -> Any:
    """The jaxpr that a trace gave, which is lowered now; what is lowered is without the equations and arguments that nothing needs."""
    for f in _above(frame, _SENDER):
        if (
            "closed_jaxpr" in f.f_locals
        ):  # the frame that lowers: its `jaxpr`, which is closed as all are since 0.11, is the other one
            continue
        found = getattr(f.f_locals.get("jaxpr"), "jaxpr", None)
        if found is not None:
            return found
    return None


class Run(NamedTuple):
    """A program that runs: its closed jaxpr and the leaves of its arguments; which of these it may take over."""

    closed: Any
    args: Sequence[Any]
    donated: Sequence[bool]


def running(frame: FrameType | None) -> Run | None:
    """The program that is about to run, or ran, below this frame of jax's."""
    for f in _above(frame, _SENDER):
        found = f.f_locals
        if {"args", "jaxpr", "donated_invars"}.issubset(found):
            return Run(found["jaxpr"], tuple(found["args"]), tuple(found["donated_invars"]))
    return None


def called(fun: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Run:
    """The program of a call of a jitted function, which jax has traced before."""
    return Run(fun.trace(*args, **kwargs).jaxpr, given_to(fun, args, kwargs), ())


def given_to(fun: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
    """The leaves that the program of a jitted function's call is given: static arguments are none."""
    info = fun._jit_info
    static, named = set(info.static_argnums or ()), set(info.static_argnames or ())
    static = {n + len(args) if n < 0 else n for n in static}
    given = tuple(x for i, x in enumerate(args) if i not in static)
    return module("jax.tree_util").tree_leaves((given, {n: x for n, x in kwargs.items() if n not in named}))


def transposed(frame: FrameType | None) -> Any:
    """The equation whose transpose runs in the backward pass of a derivative outside of jit; None where none does."""
    for f in _above(frame, _SENDER):
        if f.f_code.co_name.startswith("backward_pass") and "eqn" in f.f_locals:
            return f.f_locals["eqn"]
    return None


def body_of_loop(frame: FrameType) -> tuple[Any, Any]:
    """The closed jaxpr and the function of a loop's body that this frame of jax's checks; None where it checks none."""
    found = frame.f_locals
    return found.get("body_jaxpr", found.get("jaxpr")), found.get("body_fun", found.get("f"))


def branches(frame: FrameType) -> tuple[Sequence[Any], Any]:
    """The closed jaxprs of the branches that this frame of jax's checks, none where it checks none, and the function of the last one
    where it is known."""
    found = frame.f_locals
    if "true_jaxpr" in found and "false_jaxpr" in found:
        return (found["true_jaxpr"], found["false_jaxpr"]), found.get("false_fun")
    closed = found.get("jaxprs")
    return closed if isinstance(closed, (list, tuple)) else (), None


class Compiled(NamedTuple):
    """What a compilation worked on and gave."""

    module: Any
    executable: Any
    backend: Any
    devices: Any
    options: Any
    callbacks: Any
    kept: Any


def compiled(frame: FrameType | None) -> Compiled | None:
    """What the compilation that sent an event left; None where it failed."""
    executable = local(frame, "xla_executable")
    if executable is None:
        return None
    names = ("computation", "backend", "da", "compile_options", "host_callbacks", "kept_var_idx")
    module, backend, devices, options, callbacks, kept = (local(frame, name) for name in names)
    return Compiled(module, executable, backend, devices, options, callbacks, kept)


def compiled_again(one: Compiled) -> Compiled:
    """The same module compiled once more, past jax's persistent cache."""
    made = one.backend.compile_and_load(one.module, executable_devices=one.devices, compile_options=one.options)
    return one._replace(executable=made)


def compiled_with(one: Compiled, lowered: Any, overrides: Mapping[str, Any]) -> Any:
    """The executable of another module for the same devices, with the options of this one and others by name."""
    options = type(one.options).ParseFromString(one.options.SerializeAsString())
    options.env_option_overrides = list(overrides.items())
    return one.backend.compile_and_load(lowered, one.devices, options, list(one.callbacks or ()))


def laid_out(one: Compiled, bufs: Sequence[Any]) -> list[Any]:
    """The arrays that a program for several devices takes, in its layouts."""
    kind = module("jax._src.sharding_impls").GSPMDSharding
    layouts = [kind(one.devices, told) for told in one.executable.get_parameter_shardings() or ()]
    put = jax().device_put  # pyright: ignore[reportOptionalMemberAccess]
    return [x if x.sharding.is_equivalent_to(at, x.ndim) else put(x, at) for x, at in zip(bufs, layouts, strict=True)]


# --- jaxprs ------------------------------------------------------------------------------------------------------------


def scoping() -> Callable[[Any, str], Any]:
    """The function that gives an equation's source information one more named scope, outside of all others."""
    util = module("jax._src.source_info_util")
    stack, scope = util.NameStack, util.Scope
    return lambda info, name: info.replace(name_stack=stack((scope(name), *info.name_stack.stack)))


def scopes(info: Any) -> tuple[Sequence[str], Sequence[str]]:
    """The named scopes and the transformations in an equation's source information, outermost first."""
    stack = info.name_stack.stack
    if not stack:
        return (), ()
    transform = module("jax._src.source_info_util").Transform
    return [s.name for s in stack if type(s) is not transform], [s.name for s in stack if type(s) is transform]


def parameters(eqn: Any) -> dict[str, Any]:
    """An equation's parameters, those of `scan` as jax 0.10 has them: since 0.11 a tree of its operands says which are constants and which
    are carried."""
    params = dict(eqn.params)
    if "ft_in" in params:
        consts, carry, _ = params.pop("ft_in").update(list(eqn.invars)).unpack()
        params.pop("ft_out", None)
        params |= {"num_consts": len(list(consts)), "num_carry": len(list(carry))}
    return params


def buffer_of(array: Any) -> Any:
    """The array that a program is given for an array; for random keys, that of their words."""
    return getattr(array, "_base_array", array)


def evaluated(eqn: Any, operands: Sequence[Any], debug: Any) -> list[Any]:
    """The results of an equation on values for all its operands, literals included; `debug` is what jax calls its program."""
    core = importlib.import_module("jax.extend.core")
    known = {id(a): (a, x) for a, x in zip(eqn.invars, operands, strict=True) if not hasattr(a, "val")}
    invars, values = [a for a, _ in known.values()], [x for _, x in known.values()]
    outvars = [core.Var(v.aval) if type(v).__name__ == "DropVar" else v for v in eqn.outvars]
    told = {} if debug is None else {"debug_info": debug._replace(arg_names=None, result_paths=None)}
    jaxpr = core.Jaxpr((), invars, outvars, [eqn.replace(outvars=outvars)], eqn.effects, **told)
    return list(core.jaxpr_as_fun(core.ClosedJaxpr(jaxpr, ()))(*values))


# --- calls -------------------------------------------------------------------------------------------------------------


def again(jitted: Any) -> Any:
    """A jitted function made once more, with what jit was told, so that jax compiles it again."""
    info = jitted._jit_info
    return jax().jit(  # pyright: ignore[reportOptionalMemberAccess]
        functools.partial(jitted._fun),
        static_argnums=info.static_argnums,
        static_argnames=info.static_argnames,
        donate_argnums=info.donate_argnums,
        donate_argnames=info.donate_argnames,
        keep_unused=info.keep_unused,
        inline=info.inline,
    )


@contextlib.contextmanager
def handed_on() -> Iterator[list[Any]]:
    """Gives a list of what the program of the first function that is lowered inside is given, empty until then: a library that jits a
    function of its own hands on other arguments than it gets."""
    found, before, own = [], sys.getprofile(), folder()

    def told(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_name == "jit_trace" and frame.f_code.co_filename.startswith(own):
            sys.setprofile(before)
            found.extend(given_to(frame.f_locals["jit_func"], frame.f_locals["args"], frame.f_locals["kwargs"]))

    sys.setprofile(told)
    try:
        yield found
    finally:
        sys.setprofile(before)


@functools.cache
def clearings() -> Callable[[], int]:
    """Tells how often jax's caches were seen cleared (`jax.clear_caches()`): a cache of our own is among them."""
    register, numbers = getattr(module("jax._src.util"), "cache", None), itertools.count()
    return register(1, False)(lambda: next(numbers)) if register else lambda: 0


_apart = itertools.count(1)


def apart() -> contextlib.AbstractContextManager[Any]:
    """What is traced inside is not found in jax's caches afterwards, nor is found there what was traced before: metadata for XLA are a part
    of their keys, and these have not been there yet."""
    metadata = importlib.import_module("jax.experimental.xla_metadata")
    return metadata.set_xla_metadata(apart=str(next(_apart)))


def without_debugging() -> contextlib.AbstractContextManager[Any]:
    """Inside, jax raises no error for NaNs and infinities. jax's hook for calls, which it takes away where it sets these options, is put
    back at the end."""
    found, stack = jax(), contextlib.ExitStack()
    if (hook := getattr(module("jax._src.api"), "_post_hook_state", None)) is not None:
        stack.callback(hook.set_local, hook.get_local())
    for option in ("debug_nans", "debug_infs"):
        if getattr(found.config, f"jax_{option}"):  # pyright: ignore[reportOptionalMemberAccess]
            stack.enter_context(getattr(found, option)(False))
    return stack


def whole_tracebacks() -> Callable[[], None]:
    """Errors keep jax's own frames from now on; gives the function that ends it."""
    found = jax().config  # pyright: ignore[reportOptionalMemberAccess]
    before = found.jax_traceback_filtering
    found.update("jax_traceback_filtering", "off")
    return lambda: found.update("jax_traceback_filtering", before)


def staging() -> bool:
    """Whether jax records operations now; also where it does not say."""
    core = module("jax._src.core")
    if core is None:
        return False
    trace = getattr(getattr(core, "trace_ctx", None), "trace", None)
    if trace is None:
        return True
    while trace is not None and type(trace).__name__ != "DynamicJaxprTrace":
        trace = getattr(trace, "parent_trace", None)
    return trace is not None


def room_of(code: CodeType) -> str:
    """The part of jax's library that code belongs to, such as "numpy"; "" for what makes it run."""
    parts = code.co_filename.removeprefix(folder()).removesuffix(".py").split(os.sep)
    return parts[1] if len(parts) > 1 and parts[1] in _MODULES else ""


_MODULES = ("lax", "numpy", "ops", "nn", "scipy", "random", "image")


def _tree_classes() -> dict[type, Any]:
    """The classes that are registered as trees, with how they are taken apart."""
    return getattr(module("jax._src.tree_util"), "_registry", {})


def is_tree_class(typ: type) -> bool:
    """Whether objects of a class are nodes of jax's trees."""
    return typ in _tree_classes()


def rebuilds(code: CodeType) -> bool:
    """Whether code rebuilds objects of a class that is registered as a tree."""
    for entry in list(_tree_classes().values()):
        function = getattr(entry, "from_iter", None)
        function = getattr(function, "__func__", function)
        if getattr(function, "__code__", None) is code:
            return True
    return False


def surroundings(fun: Any) -> contextlib.AbstractContextManager[Any]:
    """What has to be there while a function is traced: for one under `nnx.jit`, flax's context of its updates."""
    tag, nnx = getattr(fun, "ctxtag", None), module("flax.nnx")
    return nnx.update_context(tag) if nnx is not None and tag is not None else contextlib.nullcontext()


def variables() -> tuple[type, ...]:
    """The classes of flax's variables, each of which holds one value."""
    found = getattr(module("flax.nnx"), "Variable", None)
    return () if found is None else (found,)


def attributes(value: Any) -> dict[str, Any]:
    """The attributes of a module of flax's or equinox's, which are arrays or count as static; none of another object."""
    for name, attribute in (("flax.nnx", "Pytree"), ("equinox", "Module"), ("flax.linen", "Module")):
        if (kind := getattr(module(name), attribute, None)) is not None and isinstance(value, kind):
            of_flax = ("parent", "name", "scope") if name == "flax.linen" else ()
            return {key: x for key, x in vars(value).items() if not key.startswith("_") and key not in of_flax}
    return {}


def own_result(fun: Any) -> str:
    """The part of a program's results that is what the user's function gives, where another library gave jax a function of its own."""
    return _OWN_RESULTS.get(fun.__module__ if inspect.isfunction(fun) else type(fun).__module__, "result")


_NNX = "flax.nnx.transforms.compilation"
_OWN_RESULTS = {_NNX: "result[2]", "equinox._jit": "result[1]"}


def returned(fun: Any, argument: int | str) -> str:
    """The part of a program's results that is what an argument, by its place or name, holds after the call, where nnx gives that back with
    what the user's function gives; "" where nothing does."""
    if type(fun).__module__ != _NNX:
        return ""
    return f"result[0][{argument}]" if isinstance(argument, int) else f"result[1][{argument!r}]"


class Lifted(NamedTuple):
    """A call of a method of linen's under `nn.jit`, for which flax jits a function of its own: it takes a static argument, the module's
    variables and random keys, then what the method takes. `module` is the method's, `key` stands for it in the static argument, `mutable`
    for the collections that the method may change."""

    module: Any
    key: Any
    mutable: Any


LIFTED = {"variables[0][0]": "self.variables", "rngs[0][0]": "rngs"}
"""What the user calls the parts of the second and third arguments of that function, where there is one module."""
LIFTED_RESULT, LIFTED_RETURNED = "result[0]", {"result[1][0][0]": "self.variables"}


def lifted(fun: Any, args: Sequence[Any]) -> Lifted | None:
    """The call of linen's that a function of flax's stands for; None where it is another function."""
    code = getattr(fun, "__code__", None)
    if code is None or code.co_qualname != "jit.<locals>.jitted" or not code.co_filename.endswith(_LIFT):
        return None
    (mutable, *_), key = args[0]
    found = getattr(key, "module", None)
    return Lifted(found, key, mutable) if found is not None else None


_LIFT = os.path.join("flax", "core", "lift.py")


class Hook:
    """Tells of each call of a jitted function in this thread that jax answers from its caches, with its arguments and result, while it
    is on. jax has one such hook, and `debug_nans` has it where that is on: then it is left alone."""

    def __init__(self, told: Callable[[Any, Any, Any, Any], None]):
        self._told = told
        self._state: Any = None

    def on(self) -> bool:
        """Whether it could be put on."""
        state = getattr(module("jax._src.api"), "_post_hook_state", None)
        if state is None or state.value is not None:
            return False

        def hook(fun: Any, args: Any, kwargs: Any, out: Any) -> None:
            self._told(fun, args, kwargs, out)

        self._hook, self._state = hook, state
        self.stay()
        return True

    def stay(self) -> None:
        """Put it on once more where jax took it off: it does so at the end of each `with jax.debug_nans(…)`, its own ones included."""
        if self._state is not None and self._state.value is None:
            self._state.set_local(self._hook)

    def off(self) -> None:
        state, self._state = self._state, None
        if state is not None and state.value is self._hook:
            unset = getattr(module("jax._src.config").config_ext, "unset", None)
            state.set_local(unset if unset is not None else None)


# --- what there is -------------------------------------------------------------------------------------------------------


class Missing(NamedTuple):
    """A name that this jax lacks, and what is not shown because of it."""

    name: str
    consequence: str


def capabilities() -> list[Missing]:
    """What is not shown on the jax that is loaded, and why; nothing on those that are verified (docs/watching-jax.md)."""
    found = []
    for name, consequence in _NEEDED.items():
        where, _, attribute = name.rpartition(".")
        known = monitoring(attribute) if where == "jax.monitoring" else getattr(module(where), attribute, None)
        if known is None:
            found.append(Missing(name, consequence))
    return found


_NEEDED = {
    "jax.monitoring.register_event_duration_secs_listener": "nothing of jax is shown",
    "jax.monitoring.unregister_event_duration_listener": "the listeners stay, and do nothing, after %unload_ext",
    "jax.monitoring.register_scalar_listener": "kernels have no origins: equations cannot be marked",
    "jax._src.source_info_util.Scope": "kernels have no origins: equations cannot be marked",
    "jax._src.source_info_util.NameStack": "kernels have no origins: equations cannot be marked",
    "jax._src.source_info_util.Transform": "equations of derivatives are not told from others",
    "jax._src.monitoring.get_event_duration_listeners": "listeners that somebody removed are not put back",
    "jax._src.api._post_hook_state": "calls of functions that are compiled already are not counted",
}


def can_mark() -> bool:
    """Whether equations can be marked, so that kernels know which ones they stem from."""
    return not any("marked" in missing.consequence for missing in capabilities())


def listening(listener: Callable[..., None]) -> bool:
    """Whether a duration listener is still registered; taken for granted where jax does not say."""
    ask = getattr(module("jax._src.monitoring"), "get_event_duration_listeners", None)
    return ask is None or any(one is listener or one == listener for one in ask())


# --- tracers in errors -----------------------------------------------------------------------------------------------------


def recorded(tracer: Any) -> tuple[Any, Any]:
    """What the trace of a traced value has recorded, an object with equations, and the value's variable there; None and None where
    none records it. A value that is differentiated or batched is that which its derivative, or batch, is made of."""
    for _ in range(_DEEPEST):
        trace = getattr(tracer, "_trace", None)
        if trace is None:
            break
        if (frame := getattr(trace, "frame", None)) is not None:
            return frame, getattr(tracer, "val", None)
        tracer = getattr(tracer, "primal", getattr(tracer, "val", None))
    return None, None


_DEEPEST = 20


def equations(frame: Any) -> list[Any]:
    """The equations that a trace has recorded so far."""
    if hasattr(frame, "get_eqns"):
        return list(frame.get_eqns())
    found = getattr(frame, "tracing_eqns", None) or getattr(frame, "eqns", ())
    return [eqn for one in found if (eqn := one() if callable(one) else one) is not None]
