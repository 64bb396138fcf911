"""`jit`: calls of a Python function become runs of a compiled program.

A call: its key (`call_key`) finds the program that answers it, which runs. An unknown key takes the long way
(`_resolve`): the arguments become arrays, the function is traced for their avals (`tracing`), the jaxpr compiled unless its
structure is known (`compile`), and the program filed under the key. Inside a trace, and with tracers, the call becomes an
equation instead.
"""

from __future__ import annotations

import inspect
import sys
import time
import weakref
from collections.abc import Callable, Sequence
from enum import Enum
from types import MethodType
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from .. import tree
from ..control.call import call
from ..control.discharge import uses_refs
from ..control.refs import Ref, View
from ..core import call_sites, config, records
from ..core.annotations import Device, LoweredStage, PyTree, Shardings, TracedStage
from ..core.avals import aval_of, class_name, passed_in_numpy
from ..core.config import scoped, settings
from ..core.errors import stepped_on
from ..core.folding import fold, folding
from ..core.jax_values import jax_kind
from ..core.jaxpr import ClosedJaxpr
from ..core.meshes_in_force import current_mesh, mesh_in_force, on_first_mesh
from ..core.messages import message_here
from ..core.staging import eval_jaxpr, recording
from ..core.trace import Tracer, _current, current_trace, evaluating
from ..core.words import root_of
from ..core.wrapping import own_name, stand_for
from ..named_tuple import NamedTuple
from ..xla import client
from ..xla.errors import XlaError, translate
from ..xla.garbage import collect, due
from ..xla.program import RuntimeFailure
from . import conversions
from .arguments import Arguments
from .array import Array, array_on, device_for, one_device, to_array
from .caches import CacheEntry, CheckedEntry, TraceEntry, caches_of
from .call_arguments import CallArguments
from .call_key import MAKERS, call_key
from .compile import Options, Program, SpreadProgram, compile_jaxpr
from .failing import run_error
from .input_layouts import LaidOutEntry, as_they_lie, orders_asked, orders_of, seen_in_rows
from .memory import ReferenceEntry, ReferenceProgram
from .placement import layouts_text
from .signature import is_hashable
from .stages import trace_stage
from .static import StaticSpec
from .tracing import traced_for
from .watching import test_in_force, with_watches


P = ParamSpec("P")
Q = ParamSpec("Q")
R = TypeVar("R")
S = TypeVar("S")


class Configuration(NamedTuple):
    """What tells two `jit` of one function object apart; see `TraceKey` for the rest of the key of a program."""

    arguments: tuple
    options: Options
    device: Any
    auto_static: bool
    keep_unused: bool
    shardings: Any = None


_WORTH_TELLING = 1e-3
"""Seconds from which on making arrays of arguments is a step of its own."""
_of_one_device: weakref.WeakSet[JitFunction] = weakref.WeakSet()


def _ask_for_places() -> None:
    for function in _of_one_device:
        function._one_device = False
    _of_one_device.clear()


on_first_mesh.append(_ask_for_places)


class JitFunction(Generic[P, R]):
    """A function compiled by tracing; made by `jitscope.jit`, which documents it."""

    __wrapped__: Callable[P, R]
    """The Python function."""

    def __init__(
        self,
        fun: Callable[P, R],
        spec: StaticSpec,
        options: Options = (),
        device: Device | None = None,
        auto_static: bool = False,
        keep_unused: bool = False,
        inline: bool = False,
        shardings: Shardings | None = None,
    ):
        stand_for(self, fun)
        self.__wrapped__ = fun
        self._fun, self._spec, self._options, self._device, self._auto = fun, spec, options, device, auto_static
        self._keep_unused, self._inline = keep_unused, inline
        self._name = own_name(fun) or type(fun).__name__
        self._shardings = shardings
        asked = shardings and shardings.key
        self._caches = caches_of(fun, Configuration(spec.key, options, device, auto_static, keep_unused, asked))
        self._one_device = one_device() and shardings is None
        if self._one_device:
            _of_one_device.add(self)
        self._all_dynamic = not spec.statics

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        try:
            ready, bufs, written, given, named = None, [], None, args, kwargs
            if self._one_device and _current.get() is None:
                if self._all_dynamic:
                    # The quickest way, for arrays and numbers alone; `call_key` would give the same.
                    key: list[Any] = [config.unscoped if scoped() is None else settings(), len(args)]
                    if kwargs:
                        key += kwargs
                    for x in (*args, *kwargs.values()) if kwargs else args:
                        if type(x) is not Array:
                            make = MAKERS.get(type(x))
                            if make is None:
                                break
                            try:
                                x = make(x)
                            except (TypeError, OverflowError):  # the long way says which argument it is
                                break
                        key.append(x.aval)
                        bufs.append(x.buf)
                    else:
                        ready = self._caches.calls.get(tuple(key))
                    if ready is None and bufs:
                        made = map(Array, bufs, key[2 + len(kwargs) :])
                        given = tuple([next(made, x) for x in args])
                        named = {name: next(made, x) for name, x in kwargs.items()}
                if ready is None and (found := call_key(self._spec, self._auto, given, named)) is not None:
                    written, bufs = found
                    try:
                        ready = self._caches.calls.get(written)
                    except TypeError:  # a static value cannot be hashed: the long way says which
                        pass
            elif not self._one_device and _current.get() is None:
                ready, bufs = self._over_devices(args, kwargs)
            if ready is None:
                return self._resolve(args, kwargs, written, (*given, *named.values()))
            if not ready.plain:
                return ready.run(bufs)
            # The body of `Program.run` stands here again: this is nearly every call's way.
            ready.tally.calls += 1
            program = ready.program
            executable = program.executable
            if ready.kept is not None:
                bufs = [*program.hidden, *[bufs[i] for i in ready.kept]]
            if due():
                collect()
            try:
                outs = executable.raw_execute(bufs).consume_with_handlers(executable.handlers)
            except RuntimeFailure as error:
                raise run_error(program, translate(error, bufs)) from None
            if ready.single is not None:
                return Array(outs[0], ready.single)  # pyright: ignore[reportReturnType]
            return ready.out_tree.unflatten(list(map(Array, outs, program.out_avals)))
        except Exception as error:
            fold(error)
            raise

    def _over_devices(self, args: tuple, kwargs: dict[str, Any]) -> tuple[CacheEntry | None, list[Any]]:
        """The program of a call met before whose arrays are all on one device or spread over one group, and its buffers."""
        found = call_key(self._spec, self._auto, args, dict(sorted(kwargs.items())) if kwargs else kwargs)
        if found is None or not found[1]:
            return None, []
        key, bufs = found
        layouts = [getattr(buf, "_sharding", None) for buf in bufs]
        group = getattr(layouts[0], "_device", None)
        if group is None or any(getattr(at, "_device", None) is not group for at in layouts):
            return None, []
        try:
            return self._caches.calls.get((group, mesh_in_force(), *layouts, *key)), bufs
        except TypeError:  # a static value cannot be hashed: the long way says which
            return None, []

    def _resolve(self, args: tuple, kwargs: dict[str, Any], written: Any, made: tuple) -> Any:
        """The long way: values that are not arrays yet, tracers, devices, keys not met before (`written`). `made` are the
        arguments in their order, those that were made arrays of already as such."""
        if settings().disable_jit or (self._auto and recording(current_trace())):
            return self._fun(*args, **kwargs)
        arguments = Arguments(self._spec, args, kwargs, self._auto)
        leaves = arguments.leaves
        if self._auto and not leaves:
            return self._fun(*args, **kwargs)
        if not evaluating() or any(isinstance(x, (Tracer, View)) for x in leaves):
            return self._nested(arguments)
        device = None if self._one_device else self._place(leaves)
        orders = orders_asked(self._shardings, arguments)
        spent, began = conversions.seconds_of(leaves), time.perf_counter()
        there = (
            {id(x): array for x, array in zip((*args, *kwargs.values()), made) if x is not array}
            if self._one_device
            else {}
        )
        arrays = self._arrays(arguments, device, orders is not None, there)
        spent += time.perf_counter() - began
        key, bufs = self._key(arguments, arrays, device)
        key = key if orders is None else (orders, *key)
        ready = self._caches.calls.get(key)
        if ready is None:
            out, ready = self._first(key, bufs, arguments, arrays, device, orders, spent)
        else:
            out = ready.run(bufs)
        if written is not None and written != key and self._one_device:
            places = arguments.places()
            ready = ready if places == list(range(len(bufs))) else ready.reordered(places)
            self._caches.remember(self._caches.calls, written, ready)
        return out

    def _place(self, leaves: Any) -> Any:
        if self._device is not None:
            if current_mesh() is not None:
                raise ValueError(
                    f"{self._name} is compiled for {self._device} (jit's device=), and the mesh {current_mesh()} is in force: a program "
                    "runs on one or the other. What to do: call it outside of set_mesh, or leave device out"
                )
            return self._device
        wanted = None if self._shardings is None else self._shardings.place()
        return device_for(leaves) if wanted is None else wanted

    def _key(self, arguments: Arguments, arrays: list[Array], device: Any) -> tuple[tuple, list[Any]]:
        """The key of a call whose arguments by name come in order, and its buffers as the program takes them."""
        args, kwargs = arguments.filled(arrays)
        found = call_key(self._spec, self._auto, tuple(args), dict(sorted(kwargs.items())))
        assert found is not None  # all of them are arrays
        if device is None:
            return found
        return (device, mesh_in_force(), *[getattr(buf, "_sharding", None) for buf in found[1]], *found[0]), found[1]

    def _arrays(self, arguments: Arguments, device: Any, in_orders: bool, there: dict[int, Array]) -> list[Any]:
        try:
            leaves = as_they_lie(arguments.leaves) if in_orders else arguments.leaves
            if self._shardings is not None:
                return self._shardings.arguments(arguments, device)
            ready = (Ref, Array) if device is None else (Ref,)
            make = to_array if device is None else lambda x: array_on(x, device)
            return [x if type(x) in ready else there[id(x)] if id(x) in there else make(x) for x in leaves]
        except (TypeError, OverflowError) as error:
            raise self._bad_argument(arguments, error) from None

    def _bad_argument(self, arguments: Arguments, error: Exception) -> Exception:
        for name, leaf in zip(arguments.names(), arguments.leaves):
            try:
                to_array(leaf)
            except (TypeError, OverflowError):
                if jax_kind(leaf) is None and (how := passed_in_numpy(leaf, name)):
                    said = f"argument {name} of {self._name} is a {class_name(type(leaf))}, and no array: {how}"
                    return stepped_on(type(error)(message_here(said)), "not-a-jax-type")
                advice = (
                    ""
                    if hasattr(leaf, "dtype") or isinstance(leaf, int) or _is_text(leaf, name) or not is_hashable(leaf)
                    else f". If it is not data but a choice made before running, make it static: static_argnames={root_of(name)!r}"
                )
                message = message_here(f"argument {name} of {self._name} cannot be traced: {error}{advice}")
                return stepped_on(type(error)(message), _sharp_bit(leaf, is_part=root_of(name) != name))
        return error

    def _first(
        self,
        key: Any,
        bufs: list[Any],
        arguments: Arguments,
        arrays: list[Array],
        device: Any,
        asked: tuple[Any, ...] | None,
        converting: float,
    ) -> tuple[Any, CacheEntry]:
        """Trace, compile and run: the result, and the program, filed under its key. `converting`: the seconds it took to make arrays of
        the arguments."""
        device = device or client.default_device()
        avals = tuple([a.aval for a in arrays])
        traced = traced_for(self, arguments, avals, device, layouts_text(arrays))
        note = records.Record(
            "", self._name, traced.number, position=traced.closed.jaxpr.debug.defined, call_site=call_sites.calling()
        )
        closed, donated, taken = traced.closed, () if test_in_force() else arguments.donated(), None
        orders = orders_of(traced, asked, self._shardings)
        if uses_refs(closed.jaxpr):
            taken = ReferenceProgram(closed)
            closed, donated = taken.closed, taken.donated(donated)
            device = device if self._one_device else device_for([*arrays, *taken.captured])
        if not self._one_device:
            device = (
                self._spread(traced, closed, arrays, device) if taken is None else self._together(taken, arrays, device)
            )
        program = compile_jaxpr(
            closed,
            self._options,
            device,
            traced.number,
            note,
            donated,
            keep_unused=self._keep_unused,
            orders=orders,
        )
        ready = ReferenceEntry(program, traced.out_tree, taken) if taken else self._ready(program, traced)
        if type(ready) is CacheEntry and isinstance(program, SpreadProgram) and program.takes_in_place(bufs):
            ready.in_place()
        self._caches.remember(self._caches.calls, key, ready)
        for look in tuple(records.after_compiling) if not program.reused and not records.unseen.get() else ():
            look(self, traced.number)
        recorders = self._recorders(traced.number, arguments) if records.before_running else ()
        given = [*(taken.captured if taken else ()), *arguments.leaves]
        payload = (traced, ready, CallArguments(given, device))
        if program.reused:
            records.emit(note.step_of("reuse", 0.0, {"first": program.number}, payload))
        if converting >= _WORTH_TELLING:
            records.emit(note.step_of("arguments", converting))
        start = time.perf_counter()
        out = ready.run(bufs)
        try:
            client.block_until_ready([x.buf for x in tree.leaves(out) if isinstance(x, Array)])
        except XlaError as error:
            raise run_error(program, error) from error.__cause__
        looked = {"watched": True} if type(ready) is CheckedEntry else {}
        records.emit(note.step_of("run", time.perf_counter() - start, looked, payload))
        for recorder in recorders:
            recorder(out)
        return out, ready

    def _recorders(self, number: int, arguments: Arguments) -> list[Callable[[Any], None]]:
        """Those that are told the arguments of a first run, to be told its result."""
        if records.unseen.get():
            return []
        args, kwargs = arguments.statics.merge(arguments.dynamic)
        return [look(self, number, args, kwargs) for look in tuple(records.before_running)]

    def _spread(self, traced: TraceEntry, closed: ClosedJaxpr, arrays: list[Array], device: Any) -> Any:
        """The device, or how the program is spread over several."""
        from .spreading import spread_for  # of several devices

        found = [to_array(a) for a in arrays]
        return spread_for(closed, [a.buf._sharding for a in found], device, self._where_results_lie(traced))

    def _where_results_lie(self, traced: TraceEntry) -> Sequence[Any]:
        """The shardings that are asked for of the results; () where nothing is said."""
        if self._device is not None:
            return [_one(self._device)] * len(traced.closed.out_avals)
        return () if self._shardings is None else self._shardings.results(traced)

    def _together(self, taken: ReferenceProgram, arrays: list[Any], device: Any) -> Any:
        """The same of a program with references."""
        given: list[Any] = [x.array if type(x) is Ref else to_array(x) for x in arrays]
        return taken.spread([a.buf._sharding for a in given], device)

    def _ready(self, program: Program, traced: TraceEntry) -> CacheEntry:
        ready = (CacheEntry if program.orders is None else LaidOutEntry)(program, traced.out_tree)
        run = with_watches(traced.closed, self._name, ready.run, in_library=False)
        return ready if run == ready.run else CheckedEntry(ready, seen_in_rows(run, program))

    def _nested(self, arguments: Arguments) -> Any:
        """The call inside a trace, or with tracers: one equation, or with `inline` those of the function."""
        leaves = arguments.leaves
        try:
            if self._shardings is not None:
                leaves = self._shardings.constrained(arguments)
            elif self._device is not None and not one_device():
                leaves = _on(self._device, leaves)
            avals = tuple([aval_of(x) for x in leaves])
        except TypeError as error:
            raise self._bad_argument(arguments, error) from None
        traced = traced_for(self, arguments, avals, None)
        if self._inline and recording(current_trace()):
            outs = eval_jaxpr(traced.closed.jaxpr, traced.closed.consts, *leaves)
        else:
            outs = call(traced.closed, leaves, own_name(self._fun) or "<unnamed function>")
        if self._shardings is not None:
            outs = self._shardings.constrained_results(traced, outs)
        elif self._device is not None and not one_device():
            outs = _on(self._device, outs)
        return traced.out_tree.unflatten(outs)

    # What JAX's jitted functions offer beside being called

    def trace(self, *args: PyTree, **kwargs: PyTree) -> TracedStage:
        """Stage 1: the jaxpr for these arguments (arrays, or anything with a shape and a dtype); nothing runs. Raises
        TypeError for others."""
        with folding:
            return trace_stage(self, args, kwargs)

    def lower(self, *args: PyTree, **kwargs: PyTree) -> LoweredStage:
        """Stage 2: the StableHLO program for these arguments. Raises TypeError as `trace`."""
        with folding:
            return self.trace(*args, **kwargs).lower()

    def eval_shape(self, *args: PyTree, **kwargs: PyTree) -> PyTree:
        """The shapes and dtypes of the result, as ShapeDtypeStructs in its structure. Raises TypeError as `trace`."""
        with folding:
            return self.trace(*args, **kwargs).out_info

    def jit_alike(self) -> Callable[..., JitFunction[..., Any]]:
        """What compiles another function of the same parameters as this one is compiled, but for static arguments that are to be
        `traced`; it does not hold this one's function."""
        declared, options = self._declared()
        return lambda fun, traced=(): JitFunction(fun, StaticSpec(fun, *declared).without(traced), *options)

    def _declared(self) -> tuple[Any, tuple[Any, ...]]:
        """What `jit` was told of static arguments, and its other options."""
        options = self._options, self._device, self._auto, self._keep_unused, self._inline, self._shardings
        return self._spec.declaration, options

    def clear_cache(self) -> None:
        """Forget the function's traces and programs."""
        self._caches.clear()

    def _cache_size(self) -> int:
        return len(self._caches.calls)

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> JitFunction[P, R]: ...
    @overload
    def __get__(
        self: JitFunction[Concatenate[S, Q], R], instance: S, owner: type | None = None
    ) -> JitFunction[Q, R]: ...
    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """As an attribute of a class: a method, whose first argument is the instance."""
        return self if instance is None else MethodType(self, instance)

    def __reduce__(self) -> Any:
        """By name where it is found by that, as functions are; else its function and what `jit` was told."""
        name = getattr(self, "__qualname__", self._name)
        found: Any = sys.modules.get(self.__module__)
        for part in name.split("."):
            found = getattr(found, part, None)
        return name if found is self else (_made_anew, (self._fun, *self._declared()))

    def __repr__(self) -> str:
        return f"<jit of {getattr(self, '__qualname__', self._name)}>"


def _made_anew(fun: Any, declared: Any, options: tuple[Any, ...]) -> JitFunction[..., Any]:
    return JitFunction(fun, StaticSpec(fun, *declared), *options)


def _one(device: Any) -> Any:
    from ..core.shardings import SingleDeviceSharding  # few functions have a device

    return SingleDeviceSharding(device)


def _on(device: Any, values: Sequence[Any]) -> list[Any]:
    """Values of a trace, which run on a device."""
    from .constraint import constrained  # few functions have a device

    return [constrained(x, _one(device)) for x in values]


def _is_text(leaf: Any, name: str) -> bool:
    """Whether it is a text among the data of an argument, which no choice of static arguments makes an array."""
    return isinstance(leaf, (str, bytes)) and root_of(name) != name


def _sharp_bit(leaf: Any, is_part: bool) -> str:
    """What kind of thing it is that cannot be traced: a number too big, a choice that is an argument by itself, or something else."""
    if isinstance(leaf, int):
        return "x64-truncation"
    is_choice = isinstance(leaf, (str, bytes, Enum, type)) or inspect.isroutine(leaf)
    return "flag-arg-traced" if is_choice and not is_part else "not-a-jax-type"
