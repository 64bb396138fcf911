"""`jit`: calls of a Python function become runs of a compiled program.

A call is answered by a key (options, structure and avals of the arguments, static values). A known key runs its program;
an unknown one traces the function, and compiles the jaxpr unless its structure is known (`compile`). Calls of a few
positional arrays take a shorter way through the same cache.
"""

from __future__ import annotations

import functools
import sys
import time
from collections.abc import Callable, Sequence
from itertools import count
from types import MethodType
from typing import Any

from numpy import ndarray

from .. import tree
from ..control.call import call
from ..core import records, source
from ..core.avals import ShapedArray, aval_of, not_an_array
from ..core.axes import current_axes
from ..core.config import settings
from ..core.folding import fold
from ..core.jaxpr import DebugInfo, Jaxpr, Var, subjaxprs
from ..core.staging import JaxprTrace, eval_jaxpr, trace_to_jaxpr
from ..core.trace import Tracer, _current, evaluating, running_line
from ..xla import client
from .array import Array, device_for, one_device, placed, to_array
from .caches import CheckedReady, Completed, Ready, Traced, caches_of
from .compile import Options, Program, compile_jaxpr
from .signature import ANY_DEVICE, Leaf, Signature, options_text, short_repr
from .stages import trace_stage
from .static import StaticSpec
from .watching import checked, test_in_force, watched


class DefaultsInTheWay(Exception):
    """Tracing failed, and defaults of arguments were traced: perhaps the function needs their values."""


class JitFunction:
    """A function compiled by tracing; made by `jitscope.jit`, which documents it."""

    def __init__(
        self,
        fun: Callable[..., Any],
        spec: StaticSpec,
        options: Options = (),
        device: Any = None,
        auto_static: bool = False,
        keep_unused: bool = False,
        inline: bool = False,
    ):
        functools.update_wrapper(self, fun)
        self.__wrapped__ = fun
        self._fun, self._spec, self._options, self._device, self._auto = fun, spec, options, device, auto_static
        self._keep_unused, self._inline = keep_unused, inline
        self._name = getattr(fun, "__name__", None) or getattr(getattr(fun, "func", None), "__name__", "<unnamed>")
        self._caches = caches_of(fun, (spec.key, options, device, auto_static, keep_unused))
        self._one_device = one_device()
        self._simple = not spec.statics and self._one_device

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            if self._one_device and _current.get() is None:
                if not kwargs and self._simple:
                    key: list[Any] = [settings()]
                    bufs = []
                    for x in args:
                        if type(x) is not Array:
                            break
                        key.append(x.aval)
                        bufs.append(x.buf)
                    else:
                        ready = self._caches.fast.get(tuple(key))
                        if ready is not None:
                            return ready.run(bufs)
                flat = self._flat_key(args, kwargs)
                if flat is not None:
                    ready = self._caches.mixed.get(flat[0])
                    return self._file_flat(flat, args, kwargs) if ready is None else ready.run(flat[1])
            return self._call(args, kwargs)[0]
        except Exception as error:
            fold(error)
            raise

    def _flat_key(self, args: tuple, kwargs: dict[str, Any]) -> tuple[Any, list[Any]] | None:
        """Key and buffers of a call of arrays, numbers and static values, by position and by name."""
        key: list[Any] = [settings(), len(args)]
        bufs: list[Any] = []
        static = self._spec.positions
        for i, x in enumerate(args):
            if not self._flat_part(key, bufs, x, i in static):
                return self._tree_key(args, kwargs)
        static = self._spec.names
        for name, x in kwargs.items():
            key.append(name)
            if not self._flat_part(key, bufs, x, name in static):
                return self._tree_key(args, kwargs)
        whole = tuple(key)
        if self._spec.statics:
            try:
                hash(whole)
            except TypeError:
                return None
        return whole, bufs

    @staticmethod
    def _flat_part(key: list[Any], bufs: list[Any], x: Any, static: bool) -> bool:
        kind = type(x)
        if static:
            key.append((kind, x))
            return True
        if kind is not Array:
            if kind is not float and kind is not int and kind is not ndarray:
                return False
            try:
                x = to_array(x)
            except (TypeError, OverflowError):  # the longer way says which argument it is
                return False
        key.append(x.aval)
        bufs.append(x.buf)
        return True

    def _tree_key(self, args: tuple, kwargs: dict[str, Any]) -> tuple[Any, list[Any]] | None:
        """Key and buffers of a call of trees of arrays without static arguments; None for others, which take the longer
        way."""
        if self._spec.statics:
            return None
        leaves, structure = tree.flatten_leaves((args, tuple(kwargs.values())))
        try:
            bufs = [x.buf for x in leaves]
        except AttributeError:
            return None
        return (settings(), structure, *kwargs, *[x.aval for x in leaves]), bufs

    def _file_flat(self, flat: tuple[Any, list[Any]], args: tuple, kwargs: dict[str, Any]) -> Any:
        """Answer a call by the long way and file its program under the call's flat key."""
        out, ready = self._call(args, kwargs)
        counted_from_front = min(self._spec.positions, default=0) >= 0
        if ready is not None and not self._auto and counted_from_front:
            order = self._order(args, kwargs)
            entry = ready if order == list(range(len(flat[1]))) else Completed(ready, order)
            self._caches.remember(self._caches.mixed, flat[0], entry)
            if self._simple and not kwargs and all(type(x) is Array for x in args):
                self._caches.remember(self._caches.fast, (settings(), *[x.aval for x in args]), entry)
        return out

    def _order(self, args: tuple, kwargs: dict[str, Any]) -> list[Any]:
        """What a call's program takes: the places of leaves among those of the call as it is written, buffers of
        defaults."""
        counted = count()

        def places(x: Any) -> tuple[int, ...]:
            return tuple([next(counted) for _ in tree.leaves(x)])

        static, static_names = self._spec.positions, self._spec.names
        positional = tuple([None if i in static else places(x) for i, x in enumerate(args)])
        named = {n: None if n in static_names else places(x) for n, x in kwargs.items()}
        taken, by_name = self._spec.bind(positional, named, False, arrays=True)[0]
        order: list[Any] = []
        for x in (*taken, *[by_name[n] for n in sorted(by_name)]):
            order += [x.buf] if type(x) is Array else x
        return order

    def _call(self, args: tuple, kwargs: dict[str, Any]) -> tuple[Any, Ready | None]:
        """The result, and the program that gave it (None: it was run as Python, or became part of a trace)."""
        try:
            return self._attempt(args, kwargs)
        except DefaultsInTheWay:
            self._spec.keep_defaults()
        return self._attempt(args, kwargs)

    def _attempt(self, args: tuple, kwargs: dict[str, Any]) -> tuple[Any, Ready | None]:
        quick = self._one_device and _current.get() is None
        dynamic, statics = self._spec.bind(args, kwargs, self._auto, arrays=quick)
        leaves, in_tree = tree.flatten_leaves(dynamic)
        bufs: list[Any] = []
        if quick:
            try:
                # Only arrays have a buffer: anything else takes the long way.
                bufs = [x.buf for x in leaves]
                ready = self._caches.ready.get(
                    (settings(), in_tree, tuple([x.aval for x in leaves]), statics.key, None)
                )
            except AttributeError:
                ready = None
            if ready is not None:
                return ready.run(bufs), ready
        return self._resolve(args, kwargs, dynamic, statics, leaves, in_tree)

    def _resolve(
        self, args: tuple, kwargs: dict[str, Any], dynamic: Any, statics: Any, leaves: list[Any], in_tree: Any
    ) -> tuple[Any, Ready | None]:
        """The long way: values that are not arrays yet, tracers, devices, keys not met before."""
        if settings().disable_jit or (self._auto and not leaves):
            return self._fun(*args, **kwargs), None
        if not evaluating() or any(isinstance(x, Tracer) for x in leaves):
            return self._nested(dynamic, leaves, in_tree, statics), None
        device = None if self._one_device else self._device or device_for(leaves)
        arrays = self._arrays(leaves, dynamic, statics, device)
        avals = tuple([a.aval for a in arrays])
        key = (settings(), in_tree, avals, statics.key, device)
        ready = self._caches.ready.get(key)
        if ready is None:
            return self._first(key, dynamic, arrays, in_tree, avals, statics, device or client.default_device())
        return ready.run([a.buf for a in arrays]), ready

    def _arrays(self, leaves: list[Any], dynamic: Any, statics: Any, device: Any) -> list[Array]:
        try:
            return [
                x if type(x) is Array and device is None else to_array(x) if device is None else placed(x, device)
                for x in leaves
            ]
        except (TypeError, OverflowError) as error:
            raise self._bad_argument(leaves, dynamic, statics, error) from None

    def _bad_argument(self, leaves: list[Any], dynamic: Any, statics: Any, error: Exception) -> Exception:
        for name, leaf in zip(self._spec.leaf_names(dynamic, statics), leaves):
            try:
                to_array(leaf)
            except (TypeError, OverflowError):
                advice = (
                    ""
                    if hasattr(leaf, "dtype") or isinstance(leaf, int)
                    else f". If it is not data but a choice made before running, make it static: static_argnames={_root(name)!r}"
                )
                return type(error)(f"argument {name} of {self._name} cannot be traced: {error}{advice}{running_line()}")
        return error

    def _first(
        self, key: Any, dynamic: Any, arrays: list[Array], in_tree: Any, avals: tuple, statics: Any, device: Any
    ) -> tuple[Any, Ready]:
        traced = self.trace_avals(dynamic, in_tree, avals, statics, device)
        note = records.Record(
            "", self._name, traced.number, position=traced.closed.jaxpr.debug.defined, call_site=source.here()
        )
        program = compile_jaxpr(
            traced.closed,
            self._options,
            device,
            traced.number,
            note,
            () if test_in_force() else self._spec.donated_leaves(dynamic, statics),
            keep_unused=self._keep_unused,
        )
        ready = self._ready(program, traced)
        self._caches.remember(self._caches.ready, key, ready)
        if program.reused:
            note.step, note.detail, note.payload = "reuse", {"first": program.number}, (traced, ready)
            records.emit(note)
        start = time.perf_counter()
        out = ready.run([a.buf for a in arrays])
        client.block_until_ready([x.buf for x in tree.leaves(out)])
        records.emit(
            records.Record(
                "run",
                self._name,
                traced.number,
                time.perf_counter() - start,
                note.position,
                note.call_site,
                payload=(traced, ready),
            )
        )
        return out, ready

    def _ready(self, program: Program, traced: Traced) -> Ready:
        options, watching = settings(), test_in_force() is not None
        if not (options.debug_key_reuse or watching):
            return Ready(program, traced.out_tree)
        ready = CheckedReady(program, traced.out_tree)
        ready.checked = lambda bufs: Ready.run(ready, bufs)
        if watching:
            ready.checked = watched(traced.closed, self._name, ready.checked)
        if options.debug_key_reuse:
            ready.checked = checked(traced.closed, ready.checked, in_library=False)
        return ready

    def _nested(self, dynamic: Any, leaves: list[Any], in_tree: Any, statics: Any) -> Any:
        try:
            avals = tuple([aval_of(x) for x in leaves])
        except TypeError as error:
            raise self._bad_argument(leaves, dynamic, statics, error) from None
        traced = self.trace_avals(dynamic, in_tree, avals, statics, None)
        if self._inline and _staging():
            outs = eval_jaxpr(traced.closed.jaxpr, traced.closed.consts, *leaves)
        else:
            outs = call(traced.closed, leaves, self._name)
        return traced.out_tree.unflatten(outs)

    def trace_avals(
        self, dynamic: Any, in_tree: Any, avals: tuple[ShapedArray, ...], statics: Any, device: Any
    ) -> Traced:
        """The jaxpr for arguments of these avals; from the cache unless it captured tracers of an outer trace."""
        key = (settings(), current_axes(), in_tree, avals, statics.key)
        traced = self._caches.traces.get(key)
        if traced is None:
            traced = self._trace(dynamic, in_tree, avals, statics, device)
            if not any(isinstance(c, Tracer) for c in traced.closed.consts):
                self._caches.remember(self._caches.traces, key, traced)
        elif device is not None and traced.signature.device != str(device):
            traced = self._traced_for(device, traced)
            self._caches.remember(self._caches.traces, key, traced)
        return traced

    def _traced_for(self, device: Any, traced: Traced) -> Traced:
        """A known trace on its way to another device than before (or to its first one): a program of its own."""
        signature = traced.signature._replace(device=str(device))
        traced = Traced(traced.closed, traced.out_tree, signature, records.new_program())
        records.emit(
            records.Record(
                "trace",
                self._name,
                traced.number,
                0.0,
                traced.closed.jaxpr.debug.defined,
                source.here(),
                {"nested": False, "known": True},
                traced,
            )
        )
        return traced

    def _trace(self, dynamic: Any, in_tree: Any, avals: tuple, statics: Any, device: Any) -> Traced:
        names = self._spec.leaf_names(dynamic, statics)
        position = source.position_of_function(self._fun)
        caches, spec = self._caches, self._spec
        signature = Signature(
            caches.number,
            tuple(map(Leaf.of, names, avals)),
            sys.intern(str(in_tree)),
            spec.shown(statics),
            options_text(
                settings(),
                current_axes(),
                self._options,
                donated=spec.donated,
                static=spec.declared,
                auto_static=self._auto,
            ),
            settings().enable_x64,
            str(device or ANY_DEVICE),
            caches.cleared,
            caches.dropped,
        )
        number, call_site, start = records.new_program(), source.here(), time.perf_counter()
        out_trees: list[Any] = []

        def flat(*tracers):
            args, kwargs = statics.merge(in_tree.unflatten(tracers))
            leaves, out_tree = tree.flatten_leaves(out := self._fun(*args, **kwargs))
            self._check_results(leaves, out)
            out_trees.append(out_tree)
            return leaves

        try:
            closed = trace_to_jaxpr(flat, avals, DebugInfo(self._name, tuple(names), (), position))
        except Exception as error:
            if statics.defaults and not isinstance(error, RecursionError):
                raise DefaultsInTheWay from error
            records.emit(
                records.Record(
                    "error",
                    self._name,
                    number,
                    time.perf_counter() - start,
                    position,
                    call_site,
                    {"error": type(error).__name__, "message": short_repr(str(error)), "nested": device is None},
                    signature,
                )
            )
            raise
        if statics.defaults and _raise_to(
            closed.jaxpr, {v for v, n in zip(closed.jaxpr.invars, names) if n in statics.defaults}
        ):
            raise DefaultsInTheWay
        traced = Traced(closed, out_trees[0], signature, number)
        records.emit(
            records.Record(
                "trace",
                self._name,
                number,
                time.perf_counter() - start,
                position,
                call_site,
                {"nested": device is None},
                traced,
            )
        )
        return traced

    def _check_results(self, leaves: Sequence[Any], out: Any) -> None:
        for i, leaf in enumerate(leaves):
            if getattr(leaf, "aval", None) is not None:
                continue
            try:
                aval_of(leaf)
            except TypeError:
                path = tree.leaf_paths(out)[i]
                raise TypeError(
                    f"{self._name} returned, at result{path}, something that is not an array: {not_an_array(leaf)}. A "
                    f"compiled function gives arrays, numbers, or trees of those; compute other things outside{running_line()}"
                ) from None

    # What JAX's jitted functions offer beside being called

    def trace(self, *args: Any, **kwargs: Any) -> Any:
        """Stage 1: the jaxpr for these arguments (arrays, or anything with a shape and a dtype); nothing runs."""
        try:
            try:
                return trace_stage(self, args, kwargs)
            except DefaultsInTheWay:
                self._spec.keep_defaults()
            return trace_stage(self, args, kwargs)
        except Exception as error:
            fold(error)
            raise

    def lower(self, *args: Any, **kwargs: Any) -> Any:
        """Stage 2: the StableHLO program for these arguments."""
        try:
            return self.trace(*args, **kwargs).lower()
        except Exception as error:
            fold(error)
            raise

    def eval_shape(self, *args: Any, **kwargs: Any) -> Any:
        """The shapes and dtypes of the result, as ShapeDtypeStructs."""
        try:
            return self.trace(*args, **kwargs).out_info
        except Exception as error:
            fold(error)
            raise

    def clear_cache(self) -> None:
        """Forget the function's traces and programs."""
        self._caches.clear()

    def _cache_size(self) -> int:
        return len(self._caches.ready)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """As an attribute of a class: a method, whose first argument is the instance."""
        return self if instance is None else MethodType(self, instance)

    def __reduce__(self) -> Any:
        return getattr(self, "__qualname__", self._name)

    def __repr__(self) -> str:
        return f"<jit of {getattr(self, '__qualname__', self._name)}>"


def _staging() -> bool:
    """Whether what is traced now becomes part of a jaxpr in the end, rather than being evaluated."""
    trace = _current.get()
    while (parent := getattr(trace, "parent", None)) is not None:
        trace = parent
    return isinstance(trace, JaxprTrace)


_SAME_VALUE = ("broadcast_in_dim", "convert_element_type", "reshape")


def _raise_to(jaxpr: Jaxpr, marked: set[Any]) -> bool:
    """Whether one of these variables is an exponent: known ones are multiplied out, which is many times faster."""
    for eqn in jaxpr.eqns:
        if not any(type(a) is Var and a in marked for a in eqn.invars):
            continue
        if eqn.primitive.name == "pow" and eqn.invars[1] in marked:
            return True
        if eqn.primitive.name in _SAME_VALUE:
            marked.add(eqn.outvars[0])
        for _, held in subjaxprs(eqn.params):
            inner = held.jaxpr.invars
            if len(inner) == len(eqn.invars) and _raise_to(
                held.jaxpr, {v for v, a in zip(inner, eqn.invars) if a in marked}
            ):
                return True
    return False


def _root(path: str) -> str:
    return path.split("[")[0].split(".")[0]
