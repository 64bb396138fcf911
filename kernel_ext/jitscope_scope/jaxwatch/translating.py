"""jax's jaxprs as ours: the same equations in the same order, so that whatever makes documents of ours takes them.

A translated program is to be looked at, not to be run: its primitives have names and no rules, and of its parameters those that
may hold values or code of the user's are kept as text.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from types import CodeType
from typing import Any

import numpy as np

from jitscope.core import dtypes
from jitscope.core.avals import AbstractValue, ShapedArray
from jitscope.core.call_sites import ScopedHandle
from jitscope.core.effects import no_effects
from jitscope.core.jaxpr import Atom, ClosedJaxpr, DebugInfo, Jaxpr, JaxprEqn, Literal, Var
from jitscope.core.primitive import Primitive
from jitscope.core.source import Position, in_program, is_internal
from jitscope.core.words import cut

from . import marks, private
from .walking import jaxprs_in


class Foreign(Primitive):
    """An operation of jax's, known by its name."""

    def __init__(self, name: str):
        super().__init__(name)
        self.idle = _IDLE.get(name, frozenset())

    def shown_params(self, params: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in sorted(params.items()) if not _says_nothing(name, value)}


_IDLE = {"custom_linear_solve": frozenset(("jaxprs0", "jaxprs1", "jaxprs3"))}
"""See `Primitive.idle`: of a linear solve, all but the program that solves."""
_primitives: dict[str, Foreign] = {}


def primitive(name: str) -> Foreign:
    """The one object for an operation of this name."""
    return _primitives.setdefault(name, Foreign(name)) if name not in _primitives else _primitives[name]


_PLUMBING = frozenset(
    ("in_shardings", "out_shardings", "in_layouts", "out_layouts", "donated_invars", "ctx_mesh", "keep_unused", "inline",
     "compiler_options_kvs", "resource_env", "_split_transpose")
)  # fmt: skip


def _says_nothing(name: str, value: Any) -> bool:
    return value is None or name in _PLUMBING


class OtherAval(AbstractValue):
    """What is no array of ours (a token, a reference, an array of sizes without values): its text alone is known."""

    __slots__ = ("_text",)
    shape: tuple[int, ...] = ()
    ndim = 0
    bytes = 0
    weak_type = False
    sharding = None
    dtype = dtypes.float0

    def __init__(self, text: str):
        self._text = text

    def short(self) -> str:
        return self._text

    brief = __str__ = __repr__ = short


class OtherDType(dtypes.ExtendedDType):
    """An extended dtype of jax's, such as that of random keys."""

    def __init__(self, name: str, physical: Any, element_shape: tuple[int, ...]):
        self.name, self.physical, self.element_shape = name, physical, element_shape
        self.itemsize = int(np.prod(element_shape, dtype=int)) * physical.itemsize


_others: dict[str, OtherAval] = {}
_extended: dict[tuple[Any, ...], OtherDType] = {}


def aval_of(aval: Any) -> Any:
    """An aval of jax's as ours."""
    try:
        shape, dtype = tuple(aval.shape), _dtype(aval.dtype)
        if all(type(n) is int for n in shape) and "Ref" not in type(aval).__name__:
            return ShapedArray(shape, dtype, bool(getattr(aval, "weak_type", False)))
    except (AttributeError, TypeError, MemoryError):
        pass
    text = one_line(aval)
    return _others.setdefault(text, OtherAval(text))


def _dtype(dtype: Any) -> Any:
    if isinstance(dtype, np.dtype):
        return dtype
    name = getattr(dtype, "name", None)
    if name is None or not hasattr(dtype, "_rules"):
        return np.dtype(dtype)
    shape = tuple(getattr(getattr(dtype, "_impl", None), "key_shape", ()))
    key = (name, shape)
    if key not in _extended:
        _extended[key] = OtherDType(name, np.dtype(np.uint32), shape)
    return _extended[key]


_LONGEST = 120


def one_line(value: Any) -> str:
    """A value as one line of text; that of a value which cannot say it says so."""
    try:
        text = _OF_NUMPY.sub(r"\1", " ".join(str(value).split()))
    except Exception as error:
        text = f"<{type(value).__name__} whose text raises {type(error).__name__}>"
    return cut(text, _LONGEST)


_OF_NUMPY = re.compile(r"np\.u?int\d*\((-?\d+)\)")
"""How whole numbers of NumPy's, which `vmap` makes of axes, are written."""


class Place:
    """An instruction of the user's code, as the handle of a position."""

    def __init__(self, code: CodeType, offset: int):
        self._frames = [code], [offset]

    def raw_frames(self) -> tuple[list[CodeType], list[int]]:
        return self._frames


class Translation:
    """A program of jax's in our form. `numbers` are the marks its equations had while it was lowered (none: it had none); `number_of`
    gives the mark of a translated equation by its identity, `variables` the variables of the outermost program by that of jax's, while
    these are there; `equation_of` gives jax's equation of a translated one, `captured` what a translated program captured: its closed jaxpr
    or None, and the arrays that are written into it. `around` is where equations of the outermost program are that no line of the user's made,
    `called` gives that its names of arguments and results."""

    def __init__(
        self,
        jaxpr: Any,
        numbers: dict[int, int] | None = None,
        around: Place | None = None,
        called: Callable[[DebugInfo], DebugInfo] | None = None,
    ):
        self.numbers, self._around = numbers or {}, around
        self.number_of: dict[int, int] = {}
        self.equation_of: dict[int, Any] = {}
        self.captured: dict[int, tuple[Any, list[Any]]] = {}
        self._known: dict[int, tuple[Any, Jaxpr]] = {}
        self._avals: dict[int, tuple[Any, Any]] = {}
        self._users: dict[int, tuple[Any, bool]] = {}
        self._moved: dict[int, Any] = {}
        self.variables: dict[int, Var] = {}
        self.debug = getattr(jaxpr, "debug_info", None)
        self.jaxpr = self._program(jaxpr, top=True)
        # not the jaxprs: since jax 0.11 they have the values that were captured
        self._equations = [(known.eqns, translated) for known, translated in self._known.values()]
        self._known.clear()
        if called is not None:
            self.jaxpr.debug = called(self.jaxpr.debug)

    @cached_property
    def derived(self) -> set[int]:
        """The identities of translated equations that are no operation of the function but a part of its derivative, where it is
        differentiated: those that stand at the same instruction as an operation before them, and are not the same one in a loop's
        next iteration."""
        found: set[int] = set()
        for eqns, translated in self._equations:
            first: dict[Any, Any] = {}
            for eqn, own in zip(eqns, translated.eqns):
                handle = marks.original(eqn).traceback
                codes, offsets = handle.raw_frames() if handle is not None else ((), ())
                before = first.setdefault((*map(id, codes), *offsets), eqn)
                again = eqn.primitive is before.primitive and any(a is v for a in eqn.invars for v in before.outvars)
                if before is not eqn and not again:
                    found.add(id(own))
        return found

    def _program(self, jaxpr: Any, top: bool = False, closed: Any = None) -> Jaxpr:
        if id(jaxpr) in self._known:
            known = self._known[id(jaxpr)][1]
            before, arrays = self.captured[id(known)]
            if list(map(id, getattr(before, "consts", ()))) != list(map(id, getattr(closed, "consts", ()))):
                self.captured[id(known)] = (None, arrays)  # one jaxpr, and it captured different values
            return known
        variables: dict[int, Var] = self.variables if top else {}

        def define(var: Any) -> Var:
            found = variables[id(var)] = Var(self._aval(var.aval))
            return found

        baked: list[Var] = []
        arrays: list[Any] = []

        def read(atom: Any) -> Atom:
            if id(atom) in variables:
                return variables[id(atom)]
            literal = _literal(atom) if hasattr(atom, "val") else None
            if literal is None:  # an array that is written into the program, or a value of a trace around it
                baked.append(define(atom))
                arrays.append(atom)
                return baked[-1]
            return literal

        constants, arguments = [define(v) for v in jaxpr.constvars], [define(v) for v in jaxpr.invars]
        if top:
            self._moved = dict(self._out_of_loops(jaxpr))
        eqns = [self._equation(eqn, read, define, top) for eqn in jaxpr.eqns]
        results = [read(a) for a in jaxpr.outvars]
        translated = Jaxpr([*constants, *baked], arguments, results, eqns, no_effects, debug_of(jaxpr))
        self._known[id(jaxpr)] = (jaxpr, translated)
        self.captured[id(translated)] = (closed, arrays)
        return translated

    def _aval(self, aval: Any) -> Any:
        known = self._avals.get(id(aval))
        if known is None:
            known = self._avals[id(aval)] = (aval, aval_of(aval))
        return known[1]

    def _equation(self, eqn: Any, read: Any, define: Any, top: bool) -> JaxprEqn:
        params = {name: self._param(value) for name, value in private.parameters(eqn).items()}
        operands = [read(a) for a in eqn.invars]
        found = JaxprEqn(
            operands,
            [define(v) for v in eqn.outvars],
            primitive(eqn.primitive.name),
            params,
            no_effects,
            self._written(marks.original(eqn), top, self._moved.get(id(eqn)) if top else None),
        )
        self.equation_of[id(found)] = eqn
        if id(eqn) in self.numbers:
            self.number_of[id(found)] = self.numbers[id(eqn)]
        return found

    def _out_of_loops(self, jaxpr: Any) -> Iterator[tuple[int, Any]]:
        """By equation's identity, the handle of the loop that jax moved it out of, where installed libraries alone wrote the body: its
        frames begin in the function that those in the body begin with. Of several loops it is the next."""
        loops: dict[CodeType | None, Any] = {}
        for eqn in reversed(jaxpr.eqns):
            handle = marks.original(eqn).traceback
            if handle is None:
                continue
            if not self._is_users(handle):
                if (loop := loops.get(_outermost(handle))) is not None:
                    yield id(eqn), loop
                continue
            inside = (one for value in eqn.params.values() for inner, _ in jaxprs_in(value) for one in inner.eqns)
            bodies = (marks.original(one).traceback for one in inside)
            loops |= {_outermost(one): handle for one in bodies if one is not None and not self._is_users(one)}

    def _written(self, info: Any, top: bool, loop: Any = None) -> Any:
        """Where an equation was written. One that stems from installed libraries alone has no place of its own: it is where the `loop` is
        that it was moved out of, or the operation that holds it, or the program itself."""
        handle = info.traceback
        if (not top or self._around is not None) and (handle is None or not self._is_users(handle)):
            handle = (loop or self._around) if top else None
        names, transforms = private.scopes(info)
        if not names and not transforms:
            return handle
        names = tuple([name for name in names if not marks.MARK.fullmatch(name)])
        made = tuple(t for t in ("jvp", "transpose", "vmap") if t in transforms)
        return ScopedHandle((handle, names, made))

    def _is_users(self, handle: Any) -> bool:
        if id(handle) not in self._users:
            files = [code.co_filename for code in handle.raw_frames()[0]]
            self._users[id(handle)] = (handle, any(map(in_program, files)))
        return self._users[id(handle)][1]

    def _param(self, value: Any) -> Any:
        if type(value) in _PLAIN:
            return value
        found = list(jaxprs_in(value))
        if not found:
            return plain(value)
        programs = [ClosedJaxpr(self._program(jaxpr, closed=closed)) for jaxpr, closed in found]
        return programs[0] if not isinstance(value, (tuple, list)) else tuple(programs)


_PLAIN = (bool, int, float, complex, str, bytes, type(None))


def _outermost(handle: Any) -> CodeType | None:
    codes = handle.raw_frames()[0]
    return codes[-1] if codes else None


def plain(value: Any) -> Any:
    """A parameter without the user's values and code: simple ones as they are, others as text."""
    if type(value) in _PLAIN or isinstance(value, enum.Enum):
        return value
    if isinstance(value, np.generic):
        return plain(value.item())
    if type(value) in (tuple, list):
        return tuple(plain(part) for part in value)
    if isinstance(value, np.dtype):
        return value
    if isinstance(value, type) and issubclass(value, np.generic):
        return np.dtype(value)
    if callable(value) and hasattr(value, "__qualname__"):
        return Text(value.__qualname__)
    return Text(one_line(value))


class Text(str):
    """A parameter as text, without quotes where it stands in a tuple."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def _literal(atom: Any) -> Literal | None:
    """A scalar; None for what is larger."""
    try:
        value = np.asarray(atom.val)
    except Exception:  # a key, or another value that NumPy cannot hold
        return None
    return Literal(value[()], aval_of(atom.aval)) if value.ndim == 0 and value.dtype != object else None


_DEFINED = re.compile(r"(?P<name>.*) at (?P<file>.+):(?P<line>\d+)$")


def debug_of(jaxpr: Any) -> DebugInfo:
    """What jax calls the parts of a program."""
    info = getattr(jaxpr, "debug_info", None)
    if info is None:
        return DebugInfo()
    said = str(getattr(info, "func_src_info", "") or "")
    where = _DEFINED.match(said)
    name = (where["name"] if where else said.split(" ")[0]).rpartition(".")[2] or "<unnamed>"
    defined = None
    if where is not None and not is_internal(where["file"]):
        line = int(where["line"])
        defined = Position(where["file"], line, line, 0, 0, name)
    arguments = _names(getattr(info, "arg_names", None), len(jaxpr.invars), "")
    results = _names(getattr(info, "result_paths", None), len(jaxpr.outvars), "result")
    return DebugInfo(name, arguments, results, defined)


def _names(names: Any, count: int, whole: str) -> tuple[str, ...]:
    if not isinstance(names, (tuple, list)) or len(names) != count:
        return ()
    found: Sequence[str] = [str(name or whole) for name in names]
    return tuple(found) if all(found) else ()
