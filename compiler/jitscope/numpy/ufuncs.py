"""Functions of elements as objects: `add.reduce`, `add.accumulate`, `add.outer`, `add.at`, `add.reduceat`, and new
ones.

Those of `jax.numpy` that are ufuncs are ufuncs here. The methods stand in `_folding` and `_ufunc_at`, loaded when
first used.
"""

from __future__ import annotations

import importlib
import inspect
import operator
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from ..core.annotations import Array, ArrayLike, DTypeLike
from ..eager.functions import eager_jit
from . import arithmetic, logic, transcendental
from .applying import vectorize
from .operands import operand_and_aval, unsupported


__all__ = ["add", "bitwise_and", "bitwise_or", "bitwise_xor", "frompyfunc", "logaddexp", "logaddexp2", "logical_and",
           "logical_or", "logical_xor", "maximum", "minimum", "multiply", "negative", "subtract", "ufunc"]  # fmt: skip


@cache
def _in(module: str) -> Any:
    return importlib.import_module(f"{__package__}.{module}")


_FIXED = frozenset(("nin", "nout", "nargs", "identity", "_func"))


class ufunc:
    """A function that works element by element, after its operands are broadcast to one shape.

    `func` takes `nin` scalars and gives `nout`. `identity` is the value that changes nothing (None: there is none);
    `reduce` without elements gives it. `call`, `reduce`, `accumulate`, `at` and `reduceat` are quicker ways for what
    would else be composed of `func`. See `frompyfunc` for the usual way to make one.
    """

    nin: int
    nout: int
    nargs: int
    identity: Any
    __name__: str
    _func: Callable[..., Any]
    _own: dict[str, Any]

    def __new__(
        cls,
        func: Callable[..., Any],
        /,
        nin: int,
        nout: int,
        *,
        name: str | None = None,
        nargs: int | None = None,
        identity: ArrayLike | None = None,
        call: Callable[..., Any] | None = None,
        reduce: Callable[..., Any] | None = None,
        accumulate: Callable[..., Any] | None = None,
        at: Callable[..., Any] | None = None,
        reduceat: Callable[..., Any] | None = None,
    ) -> ufunc:
        name = name or func.__name__
        self = _calling(cls, name, _checked_call(name, call or (lambda *args: _mapped(self, *args))), func)
        self.nin, self.nout = operator.index(nin), operator.index(nout)
        self.nargs, self.identity = operator.index(nargs or nin), identity
        self._own = {"call": call, "reduce": reduce, "accumulate": accumulate, "at": at, "reduceat": reduceat}
        return self

    def __call__(self, *args: ArrayLike, out: None = None, where: None = None) -> Any:
        """The function of every element. `out` and `where` must be None, NotImplementedError is raised for others."""
        raise NotImplementedError

    def __setattr__(self, name: str, value: object) -> None:
        if name in _FIXED and name in vars(self):
            raise AttributeError(f"{name} of the ufunc {self.__name__} cannot be set: frompyfunc makes another one")
        super().__setattr__(name, value)

    def _identifying(self) -> tuple[Any, ...]:
        return self._func, self.__name__, self.identity, self.nin, self.nout, self.nargs

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, ufunc) and self._identifying() == other._identifying())

    def __hash__(self) -> int:
        return hash(self._identifying())

    def __repr__(self) -> str:
        return f"<jnp.ufunc {self.__name__!r}>"

    def __reduce__(self) -> Any:
        if globals().get(self.__name__) is self:
            return self.__name__
        named = {"name": self.__name__, "nargs": self.nargs, "identity": self.identity, **self._own}
        return _again, (self._func, self.nin, self.nout, named)

    def _binary(self, method: str, out: Any = None) -> None:
        if self.nin != 2 or self.nout != 1:
            raise ValueError(
                f"{method} is for functions of two operands that give one value; {self.__name__} takes {self.nin} and "
                f"gives {self.nout}"
            )
        unsupported(f"{self.__name__}.{method}", out=out)

    def reduce(
        self,
        a: ArrayLike,
        axis: int | None = 0,
        dtype: DTypeLike | None = None,
        out: None = None,
        keepdims: bool = False,
        initial: ArrayLike | None = None,
        where: ArrayLike | None = None,
    ) -> Array:
        """The elements along `axis` (None: all) combined from the first to the last: for `add` the sum.

        `dtype` is that of the computation; `keepdims` leaves the axis with size 1; the combination starts with
        `initial` and takes only elements at which the boolean array `where` holds. Raises ValueError for functions
        that do not take two operands, where there is neither an element nor an identity, and for `where` with neither
        an identity nor `initial`. Several axes are possible for functions with a reduction of their own (add,
        multiply, maximum, …).
        """
        self._binary("reduce", out)
        operand_and_aval(f"{self.__name__}.reduce", a)
        return _in("_folding").reduce(self, a, axis, dtype, keepdims, initial, where)

    def accumulate(self, a: ArrayLike, axis: int = 0, dtype: DTypeLike | None = None, out: None = None) -> Array:
        """The running combination along `axis`: for `add` the running sum. Raises ValueError for functions that do not
        take two operands, and for other than one axis."""
        self._binary("accumulate", out)
        operand_and_aval(f"{self.__name__}.accumulate", a)
        return _in("_folding").accumulate(self, a, axis, dtype)

    def at(self, a: ArrayLike, indices: ArrayLike, b: ArrayLike | None = None, /, *, inplace: bool = True) -> Array:
        """`a` with the function applied at `indices`, to what is there and to `b` (functions of two operands). Where
        an index stands twice it is applied twice.

        NumPy writes into `a`; here a new array is given, which `inplace=False` confirms. Raises NotImplementedError
        without it. Out of bounds, elements of `indices` are left out.
        """
        if inplace:
            raise NotImplementedError(
                f"{self.__name__}.at: arrays cannot be changed in place; y = jnp.{self.__name__}.at(x, indices, ..., "
                "inplace=False) gives a changed copy"
            )
        operand_and_aval(f"{self.__name__}.at", a)
        return _in("_ufunc_at").at(self, a, indices, b)

    def reduceat(
        self, a: ArrayLike, indices: ArrayLike, axis: int = 0, dtype: DTypeLike | None = None, out: None = None
    ) -> Array:
        """Combinations of stretches along `axis`: from each of the vector `indices` up to the next, the last one to
        the end; where the next is not greater, the element itself.

        Raises ValueError for functions that do not take two operands, for other than one axis, and where `indices` is
        no vector.
        """
        self._binary("reduceat", out)
        operand_and_aval(f"{self.__name__}.reduceat", a)
        return _in("_ufunc_at").reduceat(self, a, indices, axis, dtype)

    def outer(self, A: ArrayLike, B: ArrayLike, /) -> Array:
        """The function of all pairs of an element of `A` and one of `B`, in shape (*A.shape, *B.shape). Raises
        ValueError for functions that do not take two operands."""
        self._binary("outer")
        for i, x in enumerate((A, B)):
            operand_and_aval(f"{self.__name__}.outer", x, i)
        return _in("_folding").outer(self, A, B)


if TYPE_CHECKING:

    class UnaryUfunc(ufunc):
        def __call__(self, x: ArrayLike, /, *, out: None = None, where: None = None) -> Array: ...

    class BinaryUfunc(ufunc):
        def __call__(self, x: ArrayLike, y: ArrayLike, /, *, out: None = None, where: None = None) -> Array: ...


_SIGNATURE = inspect.Signature(list(inspect.signature(ufunc.__call__).parameters.values())[1:])


def _again(func: Callable[..., Any], nin: int, nout: int, named: dict[str, Any]) -> ufunc:
    return ufunc(func, nin, nout, **named)


def _calling(cls: type, name: str, call: Callable[..., Any], func: Callable[..., Any]) -> Any:
    """An object of that name that is called as `call` is: its class has it for `__call__`, which costs no further
    frame."""
    kind = type(cls.__name__, (cls,), {"__call__": staticmethod(call), "__doc__": func.__doc__})
    self = object.__new__(kind)
    self.__name__ = self.__qualname__ = name
    self.__module__, self.__signature__, self._func = func.__module__, _SIGNATURE, func
    return self


def _checked_call(name: str, run: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any, out: None = None, where: None = None) -> Any:
        unsupported(name, out=out, where=where)
        for i, x in enumerate(args):
            operand_and_aval(name, x, i)
        return run(*args)

    return call


@eager_jit(static="of")
def _mapped(of: ufunc, *args: Any) -> Any:
    return vectorize(of._func)(*args)


def frompyfunc(func: Callable[..., Any], /, nin: int, nout: int, *, identity: ArrayLike | None = None) -> ufunc:
    """A ufunc of a function of `nin` scalars that gives `nout`, composed of functions that can be traced.

    Unlike NumPy's, it does not call Python for each element: the function is traced once for each dtype, and mapped.
    """
    return ufunc(func, nin, nout, identity=identity)


def _accepting(function: Callable[..., Any], nin: int) -> Callable[..., Any]:
    """The same function, that also accepts NumPy's `out` and `where`, which must be None."""
    name = function.__name__

    def one(x: Any, /, *, out: None = None, where: None = None) -> Any:
        if out is not None or where is not None:
            _refuse(name, out)
        return function(x)

    def two(x: Any, y: Any, /, *, out: None = None, where: None = None) -> Any:
        if out is not None or where is not None:
            _refuse(name, out)
        return function(x, y)

    chosen = one if nin == 1 else two
    chosen.__qualname__ = name  # Python's errors have it
    return chosen


def _refuse(name: str, out: Any) -> None:
    unsupported(name, out=out)
    raise NotImplementedError(f"{name}: where= is not supported, use jnp.where(where, {name}(...), otherwise)")


@overload
def _of(function: Callable[..., Any], nin: Literal[1], identity: Any = None) -> UnaryUfunc: ...
@overload
def _of(function: Callable[..., Any], nin: Literal[2], identity: Any = None) -> BinaryUfunc: ...
def _of(function: Callable[..., Any], nin: int, identity: Any = None) -> Any:
    self = _calling(ufunc, function.__name__, _accepting(function, nin), function)
    self.__module__, self.nin, self.nout, self.nargs, self.identity, self._own = __package__, nin, 1, nin, identity, {}
    return self


add, multiply = _of(arithmetic.add, 2, 0), _of(arithmetic.multiply, 2, 1)
subtract, negative = _of(arithmetic.subtract, 2), _of(arithmetic.negative, 1)
maximum, minimum = _of(arithmetic.maximum, 2), _of(arithmetic.minimum, 2)
bitwise_and, bitwise_or = _of(logic.bitwise_and, 2, -1), _of(logic.bitwise_or, 2, 0)
bitwise_xor, logical_xor = _of(logic.bitwise_xor, 2, 0), _of(logic.logical_xor, 2, False)
logical_and, logical_or = _of(logic.logical_and, 2, True), _of(logic.logical_or, 2, False)
logaddexp, logaddexp2 = _of(transcendental.logaddexp, 2, -np.inf), _of(transcendental.logaddexp2, 2, -np.inf)
