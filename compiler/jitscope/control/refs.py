"""Mutable arrays: references, and the operations that read and change what they refer to.

Outside of programs that are traced, a reference is a cell that holds a value: an array, or, where a transformation made it, a
value of that. Reading and writing are then the usual operations on the value. In a program being traced a reference is a
variable, and `get`, `swap`, `addupdate` are equations with effects on it; `control.discharge` makes such a program pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from weakref import WeakValueDictionary

from ..core import call_sites, dtypes, source
from ..core.annotations import Array, ArrayLike, Index, SupportsShape
from ..core.avals import ShapedArray, aval_of, is_python_scalar
from ..core.effects import own_refs
from ..core.jaxpr import Var
from ..core.messages import message_here
from ..core.primitive import FunctionCall
from ..core.references import Reference, ReferenceAval
from ..core.staging import JaxprTrace, eval_jaxpr
from ..core.trace import Tracer, chain_of, current_trace, using
from ..core.zeros import is_zero
from ..ops.elementwise.stop_gradient import stop_gradient_p
from ..ops.linear import convert, zeros
from .cells import Cell, Dual, Example, TracedCell, ValueCell
from .discharge import discharged, runs_rules
from .indexers import Parts, element_of, parse, reading
from .ref_errors import freed_error, leak_error, of_another, refuse_aliases
from .ref_operations import RefPrimitive, addupdate_p, freeze_p, get_p, swap_p


NO_DERIVATIVES = "no_grad_no_remat"

__all__ = ["Ref", "empty_ref", "free_ref", "freeze", "new_ref"]


class AbstractRef(ReferenceAval):
    """The aval of a reference of a `kind` (see `new_ref`) to an array of aval `inner_aval`. Equal ones are one object."""

    __slots__ = ("kind",)
    weak_type = False
    mark = None
    kind: str | None

    def __new__(cls, inner_aval: ShapedArray, memory_space: object = None, kind: str | None = None) -> AbstractRef:
        found = _avals.get((inner_aval, kind))
        if found is None:
            found = object.__new__(cls)
            found.inner_aval, found.kind = inner_aval, kind
            found = _avals.setdefault((inner_aval, kind), found)
        return found

    shape = property(lambda self: self.inner_aval.shape)
    dtype = property(lambda self: self.inner_aval.dtype)
    ndim = property(lambda self: self.inner_aval.ndim)
    size = property(lambda self: self.inner_aval.size)
    bytes = property(lambda self: self.inner_aval.bytes)
    sharding = property(lambda self: self.inner_aval.sharding)

    def made(self, trace, var):
        return Ref(self, TracedCell(trace, var))

    def holding(self, trace, value):
        return Ref(self, ValueCell(trace, value))

    def __reduce__(self):
        return AbstractRef, (self.inner_aval, None, self.kind)

    def short(self) -> str:
        """As in a jaxpr: Ref{f32[3]}."""
        return f"Ref{{{self.inner_aval.short()}}}"

    def __repr__(self) -> str:
        return f"Ref{{{self.dtype.name}[{','.join(map(str, self.shape))}]}}"


_avals: WeakValueDictionary[tuple[ShapedArray, str | None], AbstractRef] = WeakValueDictionary()


# References ----------------------------------------------------------------------------------------------------------


class Indexed(Reference):
    """What is read and changed by an index: a reference, or a part of one."""

    __slots__ = ()
    __hash__ = object.__hash__
    aval: Any

    def __getitem__(self, index: Any) -> Any:
        return get(self, index)

    def __setitem__(self, index: Any, value: Any) -> None:
        put(self, index, value)

    def put(self, index: Index, value: ArrayLike, add: bool) -> None:
        """`ref[index] = value`, or += in one operation. Raises ValueError for an index out of bounds and a value of
        another shape, TypeError for what is not an array."""
        put(self, index, value, add)

    def addupdate(self, x: ArrayLike, idx: Index = ()) -> None:
        """`ref[idx] += x` in one operation. Raises ValueError, TypeError as `put`."""
        put(self, idx, x, add=True)

    @property
    def at(self) -> At:
        """`ref.at[index]` is the part there, which is read and written like a reference."""
        return At(*_base(self))

    def swap(self, idx: Index, value: ArrayLike) -> Array:
        """`ref[idx] = value`; gives what was there before. Raises ValueError, TypeError as `put`."""
        return put(self, idx, value, old=True)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of a reference to a scalar")
        return self.shape[0]

    def __iter__(self):
        raise TypeError("a reference cannot be iterated over: read it first, ref[...]")

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise TypeError("a reference is not an array: read it first, ref[...]")

    def __bool__(self) -> bool:
        raise TypeError("a reference has no truth value: read it first, ref[...]")

    # What traces ask

    def at_hand(self, trace: Any) -> bool:
        """Whether an operation gets what it holds under this trace, and not a variable."""
        raise NotImplementedError

    def called(self, primitive, args, params):
        trace = current_trace()
        refuse_aliases(primitive, args, params)
        if is_staging(trace) and not any(isinstance(x, Indexed) and x.at_hand(trace) for x in args):
            return trace.process(primitive, tuple(args), params)
        by_rules = not is_staging(trace) and runs_rules(primitive, params)
        return (_by_rules if by_rules else discharged)(primitive, args, params)

    def example(self, trace, dim):
        if dim is None:
            return self
        inner = self.aval.inner_aval
        aval = inner.update(shape=(*inner.shape[:dim], *inner.shape[dim + 1 :]))
        return Ref(AbstractRef(aval, kind=self.aval.kind), Example(trace, self, dim))

    def dual(self, trace, tangent):
        if not isinstance(tangent, Reference):
            if is_zero(tangent):
                return self
            tangent = Ref(AbstractRef(aval_of(tangent)), ValueCell(trace.parent, tangent))
        return Ref(self.aval, Dual(trace, self, tangent))


class Ref(Indexed):
    """A mutable array, made by `new_ref`. `ref[...]` is its value, `ref[i] = x` changes it; it is not an array itself."""

    __slots__ = ("aval", "cell")

    def __init__(self, aval: AbstractRef, refs: Cell):
        self.aval, self.cell = aval, refs

    @property
    def buf(self) -> Ref:
        """What a call hands on to its program: of memory, the reference itself, which the program reads and writes. Raises
        AttributeError inside a trace."""
        if self.cell.trace is not None:
            raise AttributeError("a reference of a trace has no memory")
        return self

    def end(self) -> Array:
        """What it holds; it ends with that. Raises ValueError as `freeze`."""
        return freeze(self)

    def __repr__(self) -> str:
        if self.cell.trace is not None:
            return f"Ref<{self.aval!r}>"
        value = self.cell.value  # pyright: ignore[reportAttributeAccessIssue]
        return f"Ref(ended, {self.aval.short()})" if value is None else repr(value).replace("Array", "Ref", 1)

    def __copy__(self) -> Ref:
        return new_ref(get(self))

    def __deepcopy__(self, memo: Any) -> Ref:
        return new_ref(get(self))

    def __reduce__(self) -> Any:
        return new_ref, (get(self),)

    # What arrays have, too

    def _value(self) -> Any:
        return self.cell.read()

    device = property(lambda self: self._value().device)
    sharding = property(lambda self: self._value().sharding)
    committed = property(lambda self: self._value().committed)

    def unsafe_buffer_pointer(self) -> int:
        """The address of the elements; writing to the reference changes it. Raises ValueError where the reference was ended."""
        return self._value().unsafe_buffer_pointer()

    def block_until_ready(self) -> Ref:
        """Wait until the values are there; gives the reference itself. Raises ValueError where the reference was ended."""
        self._value().block_until_ready()
        return self

    # What traces ask

    @property
    def transient(self):
        return self.cell.trace is not None

    @property
    def array(self):
        return None if self.transient else self._value()

    def variable(self, trace):
        cell = self.cell
        if isinstance(cell, TracedCell) and cell.trace is trace:
            if cell.ended:
                raise freed_error()
            return cell.var
        if getattr(cell.trace, "ended", False):
            raise leak_error(self)
        if cell.trace is None:
            cell.read()  # so that the error for one that was freed comes here
        found = trace.constants.get(id(self))
        if found is None:
            found = trace.constants[id(self)] = (Var(self.aval), self)
        return found[0]

    def at_hand(self, trace):
        return self.cell.trace is trace and not isinstance(self.cell, TracedCell)

    def origin(self) -> str:
        """Where it comes from, in words."""
        cell = self.cell
        if isinstance(cell, TracedCell):
            if cell.var in cell.trace.invars:
                return f"was passed in as the {cell.trace.origin(cell.var).split(' of ')[0]}"
            made = next((e for e in cell.trace.eqns if cell.var in e.outvars), None)
            where = call_sites.user_position(made.traceback) if made is not None else None
            return source.position_text(where, "was created on ") or "was made inside"
        return "was made outside of the function"


def _by_rules(primitive: Any, args: Sequence[Any], params: dict[str, Any]) -> Any:
    """Run a program whose functions have rules that write references on the way back, equation by equation."""
    if isinstance(primitive, FunctionCall):
        return current_trace().process(primitive, tuple(args), params)
    if "jaxpr" not in params or len(params["jaxpr"].in_avals) != len(args) or "length" in params:
        raise NotImplementedError(
            message_here(
                f"a custom_vjp function that writes a reference on the way back, inside {primitive.name}, cannot be "
                "transformed."
            )
        )
    closed = params["jaxpr"]
    return eval_jaxpr(closed.jaxpr, closed.consts, *args)


class At:
    """A part of a reference, `ref.at[index]`: `part[...]` reads it, `part[...] = x` changes it."""

    __slots__ = ("indices", "ref")

    def __init__(self, ref: Ref, indices: tuple[Any, ...]):
        self.ref, self.indices = ref, indices

    def __getitem__(self, index: Any) -> View:
        return View(self.ref, (*self.indices, index))


class View(Indexed):
    """What `ref.at[index]` gives. Operations with inner programs get its value, and what they make of it is written back."""

    __slots__ = ("indices", "ref")

    def __init__(self, ref: Ref, indices: tuple[Any, ...]):
        self.ref, self.indices = ref, indices

    @property
    def transient(self):
        return True

    @property
    def aval(self) -> AbstractRef:
        inner = self.ref.aval.inner_aval
        for index in self.indices:
            inner = _element_aval(inner, index)
        return AbstractRef(inner, kind=self.ref.aval.kind)

    @property
    def array(self):
        return self.ref.array

    @property
    def whole(self):
        return self.ref

    def get(self) -> Any:
        """Its value."""
        return get(self, ...)

    def set(self, value: Any) -> None:
        """Another value."""
        put(self, ..., value)

    def at_hand(self, trace):
        return True

    def origin(self) -> str:
        """As of references."""
        return f"is a part of one that {self.ref.origin()}"

    def __repr__(self) -> str:
        return f"{self.ref!r}.at{''.join(f'[{i!r}]' for i in self.indices)}"


def _element_aval(inner: ShapedArray, index: Any) -> ShapedArray:
    parts, operands = parse(index, inner.shape)
    return reading(inner, parts, [aval_of(x) for x in operands]).out_avals[0] if parts else inner


# Reading and changing ------------------------------------------------------------------------------------------------


def new_ref(init_val: ArrayLike, *, memory_space: object = None, kind: str | None = None, pin: bool = False) -> Ref:
    """A mutable array that holds `init_val`, an array or a number. Its type is not weak, as from JAX 0.12 on.

    Of `kind` "no_grad_no_remat" it holds no derivatives: what is written is a constant to those. Neither `memory_space` nor `pin` changes
    anything. Raises TypeError for what is not an array, and for a reference.
    """
    if isinstance(init_val, Reference):
        raise TypeError(message_here("new_ref of a reference: there are no references to references."))
    try:
        aval = aval_of(init_val)
    except TypeError as error:
        raise TypeError(f"new_ref takes an array or a number: {error}") from None
    if aval.weak_type:
        init_val = aval.dtype.type(init_val) if is_python_scalar(init_val) else convert(init_val, aval.dtype)
    return new_ref_p.bind(init_val, kind=kind)


def empty_ref(ty: SupportsShape, memory_space: object = None, pin: bool = False) -> Ref:
    """A mutable array like `ty`, anything with a shape and a dtype. What it holds is not defined (here: zeros)."""
    return new_ref(zeros(ShapedArray(tuple(ty.shape), dtypes.canonicalize(ty.dtype))))


def freeze(ref: Ref) -> Array:
    """What the reference holds; it ends with that. Raises ValueError where it was not made in the function that runs now."""
    return _end(ref, "freeze")


def free_ref(ref: Ref) -> None:
    """End the reference."""
    _end(ref, "free_ref")


def _end(ref: Ref, what: str) -> Any:
    if not isinstance(ref, Ref):
        raise TypeError(f"{what} takes a reference, not a {type(ref).__name__}")
    cell: Any = ref.cell
    trace = current_trace()
    owner = _owner(ref, chain_of(trace))
    at_home = (cell.trace is None and not is_staging(owner)) or cell.trace is owner
    argument = isinstance(cell, TracedCell) and cell.given
    if isinstance(cell, (Example, Dual)) or not at_home or argument:
        raise ValueError(
            message_here(
                f"{what} of a reference that {ref.origin()}: only the function that made a reference may end it.",
                "return ref[...] here, and end the reference where it was made",
            )
        )
    with using(owner):
        if not isinstance(cell, TracedCell):
            return cell.end()
        value = owner.record(freeze_p, (ref,), {})
        cell.ended = True
        return value


def get(ref: Indexed, idx: Index | None = None) -> Array:
    """`ref[idx]`: the value there, an array. `idx` is what NumPy takes as an index; None is all.

    Raises ValueError for an index out of bounds, and for a reference that was frozen or freed.
    """
    ref, views = _base(ref)
    if views:
        return _through(ref, views, idx)
    parts, operands = parse(idx, ref.shape)
    trace = current_trace()
    cell = ref.cell
    if cell.trace is trace and not isinstance(cell, TracedCell):
        return cell.get(parts, operands)
    chain = chain_of(trace)
    owner = _owner(ref, chain)
    above = chain[: chain.index(owner)]
    if operands and any(_belongs(x, above) for x in operands):
        return element_of(get(ref), parts, operands)
    with using(owner):
        if _recorded(ref, owner):
            return owner.record(get_p, (ref, *operands), {"index": parts})
        return cell.get(parts, operands)


def set_(ref: Indexed, idx: Index, value: ArrayLike) -> None:
    """`ref[idx] = value`. The value has the shape and dtype of `ref[idx]`. Raises ValueError where it has not, and where it is
    differentiated or mapped and the reference is not."""
    put(ref, idx, value)


def swap(ref: Indexed, idx: Index, value: ArrayLike, _function_name: str = "ref_swap") -> Array:
    """`ref[idx] = value`; gives what was there before."""
    return put(ref, idx, value, old=True)


def addupdate(ref: Indexed, idx: Index, x: ArrayLike) -> None:
    """`ref[idx] += x`, in one operation."""
    put(ref, idx, x, add=True)


def put(ref: Any, idx: Any, value: Any, add: bool = False, old: bool = False) -> Any:
    """Change a reference at an index; with `old`, what was there."""
    ref, views = _base(ref)
    if views:
        return _through(ref, views, idx, value, add, old)
    parts, operands = parse(idx, ref.shape)
    value = _fitting(ref, parts, operands, value, "addupdate" if add else "swap")
    if ref.aval.kind == NO_DERIVATIVES and isinstance(value, Tracer) and dtypes.is_inexact(ref.dtype):
        value = stop_gradient_p(value)
    chain = chain_of(current_trace())
    owner = _owner(ref, chain)
    above = chain[: chain.index(owner)]
    for x in (value, *operands):
        if isinstance(x, Tracer) and _belongs(x, above):
            raise of_another(ref, x)
    for trace in above:
        if hasattr(trace, "axis"):
            raise of_another(ref, None)
    with using(owner):
        if _recorded(ref, owner):
            primitive = addupdate_p if add else swap_p
            return owner.record(primitive, (ref, value, *operands), {"index": parts})
        before = ref.cell.get(parts, operands) if old else None
        ref.cell.put(value, parts, operands, add)
        return before


def _base(ref: Any) -> tuple[Ref, tuple[Any, ...]]:
    if type(ref) is Ref:
        return ref, ()
    if isinstance(ref, View):
        return ref.ref, ref.indices
    raise TypeError(message_here(f"a reference (made by new_ref) was expected, not a {type(ref).__name__}"))


def _through(ref: Ref, views: Sequence[Any], idx: Any, value: Any = None, add: bool = False, old: bool = False) -> Any:
    """Read or change a part of a part: the outermost part as a whole."""
    inner = Ref(
        AbstractRef(_element_aval(ref.aval.inner_aval, views[0])), ValueCell(current_trace(), get(ref, views[0]))
    )
    rest: Any = View(inner, tuple(views[1:])) if len(views) > 1 else inner
    if value is None:
        return get(rest, idx)
    if len(views) == 1 and not parse(idx, inner.shape)[0]:
        return put(ref, views[0], value, add, old)
    out = put(rest, idx, value, add, old)
    put(ref, views[0], get(inner))
    return out


def is_staging(trace: Any) -> bool:
    """Whether a trace records a program and hands nothing down."""
    return isinstance(trace, JaxprTrace) and not hasattr(trace, "parent")


def _owner(ref: Ref, chain: list[Any]) -> Any:
    """The trace under which a reference is read and written."""
    if ref.cell.trace in chain:
        return ref.cell.trace
    root = chain[-1]
    if ref.cell.trace is not None and (getattr(ref.cell.trace, "ended", False) or not is_staging(root)):
        raise leak_error(ref)
    return root


def _recorded(ref: Ref, owner: Any) -> bool:
    return is_staging(owner) and (isinstance(ref.cell, TracedCell) or ref.cell.trace is not owner)


def _belongs(x: Any, traces: Sequence[Any]) -> bool:
    return isinstance(x, Tracer) and any(x.tracing is t for t in traces)


def _fitting(ref: Ref, parts: Parts, operands: Sequence[Any], value: Any, what: str) -> Any:
    """The value in the dtype of the reference. Raises ValueError where shape or dtype are others."""
    inner = ref.aval.inner_aval
    if isinstance(value, Reference):
        raise TypeError(
            message_here("a reference holds an array, not another reference: read that one first, ref[...]")
        )
    given = aval_of(value)
    wanted = reading(inner, parts, [aval_of(x) for x in operands]).out_avals[0] if parts else inner
    if given.shape != wanted.shape:
        raise ValueError(
            message_here(
                f"Invalid shape for `{what}`: the reference is {ref.aval!r}, at this index it takes {wanted.shape}, and the value "
                f"has {given.shape}.",
                f"jnp.broadcast_to(value, {wanted.shape}), if that is meant",
            )
        )
    if given.dtype != inner.dtype and not (given.weak_type and _kind(given) == _kind(inner)):
        raise ValueError(
            message_here(
                f"Invalid dtype for `{what}`: the reference is {ref.aval!r}, and the value {given.dtype.name}.",
                f"convert it, value.astype({inner.dtype.name!r})",
            )
        )
    same = given.dtype == inner.dtype and given.weak_type == inner.weak_type
    if not same and not inner.weak_type and is_python_scalar(value):
        return inner.dtype.type(value)
    return value if same else convert(value, inner.dtype, inner.weak_type)


def _kind(aval: ShapedArray) -> str:
    dtype = aval.dtype
    return (
        "f" if dtypes.is_float(dtype) else "c" if dtypes.is_complex(dtype) else "i" if dtypes.is_integer(dtype) else ""
    )


# The operations, as equations ----------------------------------------------------------------------------------------


class NewRef(RefPrimitive):
    def bind(self, *args: Any, **params: Any) -> Any:
        trace: Any = current_trace()
        aval = AbstractRef(aval_of(args[0]), **params)
        if is_staging(trace):
            return Ref(aval, TracedCell(trace, trace.record(self, args, params).atom))  # pyright: ignore
        if getattr(trace, "parent", None) is None:
            return trace.process(self, args, params)
        return Ref(aval, ValueCell(trace, args[0]))

    def abstract(self, aval, /, *, kind):
        return AbstractRef(aval, kind=kind), frozenset([own_refs])

    def shown_params(self, params):
        return {**params, "memory_space": None}


new_ref_p = NewRef("new_ref")
