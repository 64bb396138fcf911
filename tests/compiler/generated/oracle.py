"""What generated programs mean, in NumPy: numbers that carry tangents, to any depth, and Python's own loops and branches.

`names()` gives a program's names (`jx`, `jnp`, `lax`) by a second meaning: vmap is a loop and a stack, scan a loop, cond an
`if`, jit and checkpoint do nothing, a function with rules of its own is the function. Derivatives of every kind are
made of forward ones: a `Value` of level k holds a value and a tangent of lower levels. Nothing here knows the compiler;
`test_generated` compares this file with finite differences.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np


# Numbers with tangents -----------------------------------------------------------------------------------------------


class Value:
    """An array (`x`, at level 0), or a value `x` with a tangent `t`, both of levels below `level`."""

    __slots__ = ("level", "t", "x")
    __array_ufunc__ = None  # NumPy's operators leave mixed operands to ours

    def __init__(self, x: Any, t: Any = None, level: int = 0):
        self.x, self.t, self.level = x, t, level

    shape = property(lambda self: base(self).shape)
    ndim = property(lambda self: base(self).ndim)
    dtype = property(lambda self: base(self).dtype)
    T = property(lambda self: linear(np.transpose)(self))
    real = property(lambda self: linear(np.real)(self))
    imag = property(lambda self: linear(np.imag)(self))
    at = property(lambda self: At(self))

    def __getitem__(self, index: Any) -> Value:
        parts = index if isinstance(index, tuple) else (index,)
        parts = tuple(int(base(i)) if isinstance(i, Value) else i for i in parts)
        return linear(lambda x: x[parts])(self)

    def __add__(self, other):
        return add(self, other)

    def __sub__(self, other):
        return add(self, negative(other))

    def __rsub__(self, other):
        return add(other, negative(self))

    def __mul__(self, other):
        return mul(self, other)

    def __truediv__(self, other):
        return mul(self, reciprocal(other))

    def __rtruediv__(self, other):
        return mul(other, reciprocal(self))

    def __matmul__(self, other):
        return matmul(self, other)

    def __rmatmul__(self, other):
        return matmul(other, self)

    def __neg__(self):
        return negative(self)

    def __pow__(self, n):
        return power(self, n)

    def __mod__(self, n):
        return lift(base(self) % n)

    def __gt__(self, other):
        return lift(base(self) > base(other))

    def __lt__(self, other):
        return lift(base(self) < base(other))

    def __and__(self, other):
        return lift(base(self) & base(other))

    def __bool__(self):
        return bool(base(self))

    def __index__(self):
        return int(base(self))

    def astype(self, dtype):
        if np.dtype(dtype).kind in "ib":
            return lift(base(self).astype(dtype))
        return linear(lambda x: x.astype(dtype))(self)

    __radd__, __rmul__ = __add__, __mul__


class At:
    """`x.at[i]`: what `x` becomes where element `i` is another."""

    def __init__(self, x: Value, index: Any = None):
        self.x, self.index = x, index

    def __getitem__(self, index: Any) -> At:
        return At(self.x, index)

    def _here(self) -> np.ndarray:
        mask = np.zeros(self.x.shape, bool)
        mask[self.index] = True
        return mask

    def set(self, y: Any) -> Value:
        return where(self._here(), y, self.x)

    def add(self, y: Any) -> Value:
        return where(self._here(), self.x + y, self.x)

    def multiply(self, y: Any) -> Value:
        return where(self._here(), self.x * y, self.x)


def lift(x: Any) -> Value:
    return x if isinstance(x, Value) else Value(np.asarray(x))


def base(x: Any) -> np.ndarray:
    """The array without tangents."""
    x = lift(x)
    while x.level:
        x = x.x
    return x.x


def parts(x: Any, level: int) -> tuple[Value, Value | None]:
    """Value and tangent at a level; no tangent where it has none there."""
    x = lift(x)
    return (x.x, x.t) if x.level == level else (x, None)


def level_of(*xs: Any) -> int:
    return max([lift(x).level for x in xs], default=0)


def joined(fun: Callable[..., Value], level: int, xs: Sequence[Any], terms: Sequence[Any]) -> Value:
    """`fun` at the values of `xs`, with the sum of those `terms` that are there as its tangent."""
    terms = [t for t in terms if t is not None]
    total = terms[0]
    for term in terms[1:]:
        total = add(total, term)
    return Value(fun(*[parts(x, level)[0] for x in xs]), total, level)


def linear(fun: Callable[[np.ndarray], np.ndarray]) -> Callable[[Any], Value]:
    """A linear function of arrays (moving, summing, taking) as one of values."""

    def apply(x: Any) -> Value:
        x = lift(x)
        return Value(apply(x.x), apply(x.t), x.level) if x.level else Value(np.asarray(fun(x.x)))

    return apply


def linear_in_all(fun: Callable[..., np.ndarray]) -> Callable[..., Value]:
    """The same for several operands: linear in all of them at once."""

    def apply(*xs: Any) -> Value:
        level = level_of(*xs)
        if not level:
            return Value(np.asarray(fun(*[base(x) for x in xs])))
        pairs = [parts(x, level) for x in xs]
        tangents = [x * 0 if t is None else t for x, t in pairs]
        return Value(apply(*[x for x, _ in pairs]), apply(*tangents), level)

    return apply


def bilinear(fun: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Callable[[Any, Any], Value]:
    """A function linear in each of two operands."""

    def apply(x: Any, y: Any) -> Value:
        level = level_of(x, y)
        if not level:
            return Value(np.asarray(fun(base(x), base(y))))
        (xp, xt), (yp, yt) = parts(x, level), parts(y, level)
        terms = [None if xt is None else apply(xt, yp), None if yt is None else apply(xp, yt)]
        return joined(apply, level, (x, y), terms)

    return apply


def smooth(fun: Callable[[np.ndarray], np.ndarray], slope: Callable[[Value], Value]) -> Callable[[Any], Value]:
    """A function of each element by itself, with its derivative as a function of values."""

    def apply(x: Any) -> Value:
        x = lift(x)
        return Value(apply(x.x), mul(slope(x.x), x.t), x.level) if x.level else Value(np.asarray(fun(x.x)))

    return apply


add, mul, matmul = linear_in_all(np.add), bilinear(np.multiply), bilinear(np.matmul)
negative = linear(np.negative)
sin = smooth(np.sin, lambda x: cos(x))
cos = smooth(np.cos, lambda x: negative(sin(x)))
exp = smooth(np.exp, lambda x: exp(x))
tanh = smooth(np.tanh, lambda x: 1.0 - tanh(x) * tanh(x))
reciprocal = smooth(np.reciprocal, lambda x: negative(reciprocal(x) * reciprocal(x)))
log1p = smooth(np.log1p, lambda x: reciprocal(1.0 + x))
sqrt = smooth(np.sqrt, lambda x: 0.5 / sqrt(x))
absolute = smooth(np.abs, lambda x: lift(np.sign(base(x))))


def power(x: Any, n: int) -> Value:
    return smooth(lambda a: a**n, lambda v: n * power(v, n - 1) if n > 1 else lift(np.ones(v.shape)))(x)


def where(condition: Any, a: Any, b: Any) -> Value:
    chosen = base(condition)
    return linear_in_all(lambda x, y: np.where(chosen, x, y))(a, b)


def larger(a: Any, b: Any) -> Value:
    """The larger of two; where they are equal, the mean of both, as derivatives have it."""
    x, y = base(a), base(b)
    weight = np.where(x > y, 1.0, np.where(x == y, 0.5, 0.0))
    return linear_in_all(lambda p, q: weight * p + (1 - weight) * q)(a, b)


def largest(x: Any, axis: Any = None, keepdims: bool = False) -> Value:
    values = base(x)
    hits = values == values.max(axis=axis, keepdims=True)
    weight = hits / hits.sum(axis=axis, keepdims=True)
    return linear(lambda a: (a * weight).sum(axis=axis, keepdims=keepdims))(x)


def ordered(x: Any, axis: int = -1) -> Value:
    order = np.argsort(base(x), axis=axis, kind="stable")
    return linear(lambda a: np.take_along_axis(a, order, axis))(x)


def piece(x: Any, starts: Sequence[Any], sizes: Sequence[int]) -> Value:
    at = _clamped(lift(x).shape, starts, sizes)
    return linear(lambda a: a[at])(x)


def replaced(x: Any, new: Any, starts: Sequence[Any]) -> Value:
    at = _clamped(lift(x).shape, starts, lift(new).shape)

    def put(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        out = a.copy()
        out[at] = b
        return out

    return linear_in_all(put)(x, new)


def _clamped(shape: Sequence[int], starts: Sequence[Any], sizes: Sequence[int]) -> tuple[slice, ...]:
    firsts = [min(max(int(base(s)), 0), n - k) for s, n, k in zip(starts, shape, sizes)]
    return tuple(slice(s, s + k) for s, k in zip(firsts, sizes))


# Trees: tuples, dicts and None ---------------------------------------------------------------------------------------


def leaves(tree: Any) -> list[Any]:
    if tree is None:
        return []
    if isinstance(tree, (tuple, list)):
        return [x for part in tree for x in leaves(part)]
    return [x for key in sorted(tree) for x in leaves(tree[key])] if isinstance(tree, dict) else [tree]


def mapped(fun: Callable[..., Any], tree: Any, *others: Any) -> Any:
    if tree is None:
        return None
    if isinstance(tree, (tuple, list)):
        return tuple(mapped(fun, *each) for each in zip(tree, *others))
    if isinstance(tree, dict):
        return {key: mapped(fun, tree[key], *[o[key] for o in others]) for key in sorted(tree)}
    return fun(tree, *others)


def rebuilt(tree: Any, new: Sequence[Any]) -> Any:
    """The tree with other leaves, in the order of `leaves`."""
    given = iter(new)
    return mapped(lambda _: next(given), tree)


def stacked(rows: Sequence[Any], axis: int = 0) -> Any:
    return mapped(lambda *xs: linear_in_all(lambda *arrays: np.stack(arrays, axis))(*xs), rows[0], *rows[1:])


# Derivatives ---------------------------------------------------------------------------------------------------------

_levels = itertools.count(1)


def _moves(x: Any) -> bool:
    return lift(x).dtype.kind in "fc"


def pushed(fun: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    """Results and their tangents; zeros where nothing moves. Tangents of integers are not read."""
    level = next(_levels)
    pairs = [mapped(lambda x, t: Value(lift(x), lift(t), level) if _moves(x) else x, p, t)
             for p, t in zip(primals, tangents)]  # fmt: skip
    out = fun(*pairs)
    value = mapped(lambda x: parts(x, level)[0], out)
    return value, mapped(lambda x: _tangent(x, level), out)


def _tangent(x: Any, level: int) -> Value:
    value, t = parts(x, level)
    return lift(np.zeros(value.shape)) if t is None else t


def directions(x: Any) -> list[np.ndarray]:
    """Unit tangents, one for each element."""
    shape = lift(x).shape
    return [np.reshape(row, shape) for row in np.eye(int(np.prod(shape)))]


def slopes(fun: Callable[..., Any], primals: Sequence[Any], number: int = 0, leaf: int = 0) -> tuple[Any, list[Any]]:
    """Results, and their tangents for a unit step in each element of one leaf of one argument."""
    zeros = [mapped(lambda a: np.zeros(lift(a).shape), p) for p in primals]
    found = []
    for step in directions(leaves(primals[number])[leaf]):
        tangents = list(zeros)
        tangents[number] = rebuilt(
            primals[number], [step if i == leaf else z for i, z in enumerate(leaves(zeros[number]))]
        )
        found.append(pushed(fun, primals, tangents))
    return found[0][0], [t for _, t in found]


def pulled(fun: Callable[..., Any], primals: Sequence[Any], ct: Any) -> tuple[Any, tuple]:
    """Results, and the cotangents of all arguments."""
    return fun(*primals), tuple(
        rebuilt(tree, [_pulled(fun, primals, ct, i, j, x) for j, x in enumerate(leaves(tree))])
        for i, tree in enumerate(primals)
    )


def _pulled(fun: Callable[..., Any], primals: Sequence[Any], ct: Any, i: int, j: int, x: Any) -> Any:
    shape = lift(x).shape
    if not _moves(x):
        return np.zeros(shape)
    rows = slopes(fun, primals, i, j)[1]
    products = [sum_of([np_sum(a * b) for a, b in zip(leaves(row), leaves(ct))]) for row in rows]
    return linear(lambda a: a.reshape(shape))(stacked(products))


def sum_of(xs: Sequence[Value]) -> Value:
    total = lift(0.0)
    for x in xs:
        total = total + x
    return total


def grad(fun: Callable[..., Any], argnums: Any = 0, has_aux: bool = False) -> Callable[..., Any]:
    with_value = value_and_grad(fun, argnums, has_aux)

    def of(*args: Any) -> Any:
        value, gradient = with_value(*args)
        return (gradient, value[1]) if has_aux else gradient

    return of


def value_and_grad(fun: Callable[..., Any], argnums: Any = 0, has_aux: bool = False) -> Callable[..., Any]:
    numbers = (argnums,) if isinstance(argnums, int) else argnums

    def of(*args: Any) -> Any:
        def chosen(*xs: Any) -> Any:
            full = list(args)
            for i, x in zip(numbers, xs):
                full[i] = x
            return fun(*full)

        scalar = (lambda *xs: chosen(*xs)[0]) if has_aux else chosen
        cts = pulled(scalar, [args[i] for i in numbers], lift(1.0))[1]
        return fun(*args), cts[0] if isinstance(argnums, int) else cts

    return of


def jvp(fun: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    return pushed(fun, primals, tangents)


def linearize(fun: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    return fun(*primals), lambda *tangents: pushed(fun, primals, tangents)[1]


def vjp(fun: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    return fun(*primals), lambda ct: pulled(fun, primals, ct)[1]


def jacobian(fun: Callable[..., Any]) -> Callable[..., Any]:
    def of(x: Any) -> Any:
        rows = stacked(slopes(fun, [x])[1], -1)
        return mapped(lambda a: linear(lambda v: v.reshape((*v.shape[:-1], *lift(x).shape)))(a), rows)

    return of


# The other transformations, and control flow -------------------------------------------------------------------------


def itself(fun: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    return fun


def vmap(fun: Callable[..., Any], in_axes: Any = 0, out_axes: Any = 0) -> Callable[..., Any]:
    def of(*args: Any) -> Any:
        axes = in_axes if isinstance(in_axes, tuple) else (in_axes,) * len(args)
        size = next(lift(x).shape[a] for x, a in zip(args, axes) if a is not None)
        take = lambda x, a, i: linear(lambda v: np.take(v, i, a))(x)
        rows = [fun(*[x if a is None else take(x, a, i) for x, a in zip(args, axes)]) for i in range(size)]
        if isinstance(out_axes, tuple):
            return tuple(_placed(column, a) for column, a in zip(zip(*rows), out_axes))
        return _placed(rows, out_axes)

    return of


def _placed(rows: Sequence[Any], axis: int | None) -> Any:
    return rows[0] if axis is None else stacked(rows, axis)


class Ruled:
    """A function with rules of its own: what it computes is the function, whatever the rules say."""

    def __init__(self, fun: Callable[..., Any], nondiff_argnums: Sequence[int] = ()):
        self.fun = fun

    def defvjp(self, *rules: Any, **options: Any) -> None:
        pass

    defjvp = defjvps = defvjp

    def __call__(self, *args: Any) -> Any:
        return self.fun(*args)


def scan(fun, init, xs=None, length=None, reverse=False, unroll=1):
    size = length if xs is None else lift(leaves(xs)[0]).shape[0]
    carry, ys = init, [None] * size
    for i in reversed(range(size)) if reverse else range(size):
        carry, ys[i] = fun(carry, mapped(lambda x, i=i: lift(x)[i], xs))
    return carry, stacked(ys)


def while_loop(going, body, state):
    while going(mapped(lift, state)):
        state = body(mapped(lift, state))
    return state


def fori_loop(lower, upper, body, value, unroll=None):
    for i in range(int(base(lower)), int(base(upper))):
        value = body(lift(i), value)
    return value


def cond(chosen, true_fun, false_fun, *operands):
    return (true_fun if chosen else false_fun)(*operands)


def switch(index, branches, *operands):
    return branches[min(max(int(base(index)), 0), len(branches) - 1)](*operands)


def each(fun, xs, batch_size=None):
    return scan(lambda _, x: (None, fun(x)), None, xs)[1]


# Names ---------------------------------------------------------------------------------------------------------------


def np_sum(x: Any, axis: Any = None) -> Value:
    return lift(base(x).sum(axis=axis)) if not _moves(x) else linear(lambda a: a.sum(axis=axis))(x)


def _moving(name: str) -> Callable[..., Value]:
    return lambda x, *args, **options: linear(lambda a: getattr(np, name)(a, *args, **options))(x)


def names() -> dict[str, Any]:
    """The names that programs use."""
    jx = SimpleNamespace(
        jit=itself, checkpoint=itself, vmap=vmap, grad=grad, value_and_grad=value_and_grad, jvp=jvp, vjp=vjp,
        linearize=linearize, jacfwd=jacobian, jacrev=jacobian, hessian=lambda f: jacobian(jacobian(f)), custom_vjp=Ruled,
        custom_jvp=Ruled,
        checkpoint_policies=SimpleNamespace(everything_saveable=0, nothing_saveable=0, dots_saveable=0),
    )  # fmt: skip
    jnp = SimpleNamespace(
        sin=sin, cos=cos, exp=exp, tanh=tanh, log1p=log1p, sqrt=sqrt, abs=absolute, where=where, maximum=larger,
        max=largest, sort=ordered, sum=np_sum, arange=np.arange, float64=np.float64, int32=np.int32,
        complex128=np.complex128, argmax=lambda x: lift(np.argmax(base(x))),
        concatenate=lambda xs: linear_in_all(lambda *a: np.concatenate(a))(*xs), stack=stacked,
        **{name: _moving(name) for name in ("cumsum", "roll", "flip", "mean", "broadcast_to", "transpose", "reshape")},
    )  # fmt: skip
    lax = SimpleNamespace(
        scan=scan, while_loop=while_loop, fori_loop=fori_loop, cond=cond, switch=switch, map=each,
        stop_gradient=lambda x: lift(base(x)), dynamic_slice=piece, dynamic_update_slice=replaced,
    )  # fmt: skip
    return {"np": np, "jx": jx, "jnp": jnp, "lax": lax}


def run(program: Callable[..., Any], args: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The flat results of a program made with `names()`."""
    return [base(x) for x in leaves(program(*map(lift, args)))]
