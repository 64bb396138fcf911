"""Any index expression, reduction, sort and einsum against NumPy. What hypothesis draws is put together into few programs.

Indices out of bounds are asked of NumPy in an array with a rim around it: what lies outside falls on the rim.
"""

from __future__ import annotations

import dataclasses
import string
from functools import cache
from typing import Any

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import Phase, given, reject, settings, strategies as st

import jitscope as jx
import jitscope.numpy as jnp
from tests.compiling import once
from tests.extent import QUICK, examples


SHAPES = [(5,), (3, 4), (2, 3, 4), (4, 1, 2)]


WITHOUT_SHRINKING = (Phase.explicit, Phase.generate)
"""A failure is shown as it was found: to shrink it would compile programs for minutes."""


def numbers(shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).uniform(0.5, 2, shape).astype(np.float32)


# Indices -------------------------------------------------------------------------------------------------------------

RIM = 20


@dataclasses.dataclass
class Index:
    """An index of an array of `shape`: its parts, one for each axis (a mask for several) and None for new axes."""

    shape: tuple[int, ...]
    parts: list[Any]
    hidden: slice
    """The full slices among the parts that an ellipsis stands for in the expression (none: no ellipsis)."""

    @property
    def expression(self) -> Any:
        parts = self.parts
        if self.hidden != slice(0, 0):
            parts = [*parts[: self.hidden.start], Ellipsis, *parts[self.hidden.stop :]]
        return parts[0] if len(parts) == 1 else tuple(parts)

    def on_rim(self, clip: bool) -> tuple[Any, ...]:
        """The same places in the array with a rim; with `clip`, those out of bounds moved into them."""
        found, axis = [], 0
        for part in self.parts:
            if part is None:
                found.append(None)
            elif isinstance(part, np.ndarray) and part.dtype == np.bool_:
                found.extend(i + RIM for i in np.nonzero(part))
                axis += part.ndim
            else:
                n = self.shape[axis]
                if isinstance(part, slice):
                    start, stop, step = part.indices(n)
                    found.append(slice(start + RIM, stop + RIM, step))
                else:
                    i = np.where(np.asarray(part) < 0, np.asarray(part) + n, part)
                    i = np.clip(i, 0, n - 1) if clip else np.clip(i, -1, n)
                    found.append(int(i) + RIM if isinstance(part, int) else i + RIM)
                axis += 1
        return tuple(found)


def bounded(n: int, far: int) -> st.SearchStrategy[int]:
    return st.integers(-n - far, n - 1 + far)


@st.composite
def index_of(draw: Any, shape: tuple[int, ...], far: int) -> Index:
    """Any index expression; integers up to `far` out of bounds."""
    arrays = draw(st.booleans())
    common = draw(st.sampled_from([(), (1,), (3,), (2, 1), (2, 3), (0,)])) if arrays else ()
    parts: list[Any] = []
    axis = new = 0
    while axis < len(shape):
        n = shape[axis]
        kinds = ["int", "slice", "all", "new"] + ["array", "array", "mask", "masks"] * arrays
        kind = draw(st.sampled_from(kinds))
        if kind == "new":
            if new < 2:
                parts.append(None)
                new += 1
            continue
        if kind == "int":
            parts.append(draw(bounded(n, far)))
        elif kind == "all":
            parts.append(slice(None))
        elif kind == "slice":
            parts.append(draw(st.slices(n)))
        elif kind == "array":
            own = draw(st.sampled_from([common, common[1:], tuple(1 for _ in common)]))
            dtype = draw(st.sampled_from([np.int32, np.int8]))
            parts.append(draw(hnp.arrays(dtype, own, elements=bounded(n, far))))
        elif kind == "masks" and axis + 1 < len(shape):
            parts.append(draw(_mask(shape[axis : axis + 2], common)))
            axis += 1
        else:
            parts.append(draw(_mask(shape[axis : axis + 1], common)))
        axis += 1
    if draw(st.booleans()) and new < 2:
        parts.append(None)
    index = Index(shape, parts, draw(st.sampled_from(_runs(parts))))
    try:
        with_rim(np.zeros(shape), 0)[index.on_rim(True)]
    except IndexError:  # masks and arrays that do not broadcast
        reject()
    return index


@st.composite
def _mask(draw: Any, shape: tuple[int, ...], common: tuple[int, ...]) -> np.ndarray:
    """A mask with as many places as broadcast with the index arrays."""
    size = int(np.prod(shape))
    count = min(draw(st.sampled_from([1, common[-1] if common else size])), size)
    places = draw(st.permutations(range(size)))[:count]
    if common and count not in (1, common[-1]):
        places = places[:1]
    mask = np.zeros(size, np.bool_)
    mask[list(places)] = True
    return mask.reshape(shape)


def _runs(parts: list[Any]) -> list[slice]:
    """Stretches of full slices."""
    full = [isinstance(p, slice) and p == slice(None) for p in parts]
    found = [slice(0, 0)]
    for i in range(len(parts)):
        for j in range(i + 1, len(parts) + 1):
            if all(full[i:j]):
                found.append(slice(i, j))
    return found


def with_rim(x: np.ndarray, filler: Any) -> np.ndarray:
    return np.pad(x, RIM, constant_values=filler)


def inner(x: np.ndarray) -> np.ndarray:
    return x[(slice(RIM, -RIM),) * x.ndim]


@settings(max_examples=examples(40), phases=WITHOUT_SHRINKING)
@given(data=st.data())
def test_reading(data: st.DataObject) -> None:
    shape = data.draw(st.sampled_from(SHAPES))
    x = numbers(shape)
    near = [data.draw(index_of(shape, 0)) for _ in range(5)]
    far = [(data.draw(index_of(shape, 3)), data.draw(st.sampled_from(["fill", "clip"]))) for _ in range(5)]

    def reads(x: Any) -> list[Any]:
        plain = [x[i.expression] for i in near]
        return plain + [x.at[i.expression].get(mode=mode, fill_value=-7) for i, mode in far]

    wanted = [x[i.expression] for i in near]
    wanted += [with_rim(x, -7)[i.on_rim(mode == "clip")] for i, mode in far]
    for i, found, expected in zip(near + [i for i, _ in far], once(reads)(x), wanted):
        np.testing.assert_array_equal(found, expected, err_msg=str(i.expression))
    eager = jnp.asarray(x)
    for i in near[:2]:
        np.testing.assert_array_equal(eager[i.expression], x[i.expression], err_msg=str(i.expression))
    i, mode = far[0]
    found = eager.at[i.expression].get(mode=mode, fill_value=-7)
    np.testing.assert_array_equal(found, wanted[5], err_msg=f"{i.expression} in mode {mode}")


def _apply(x: np.ndarray, index: Any, value: Any) -> None:
    x[index] = np.sin(x[index])


def _set(x: np.ndarray, index: Any, value: Any) -> None:
    x[index] = value


METHODS = {
    "set": _set,
    "add": np.add.at,
    "subtract": np.subtract.at,
    "multiply": np.multiply.at,
    "mul": np.multiply.at,
    "divide": np.divide.at,
    "power": np.power.at,
    "min": np.minimum.at,
    "max": np.maximum.at,
    "apply": _apply,
}


@dataclasses.dataclass
class Update:
    """`x.at[index].method(value, mode=mode, …)`."""

    index: Index
    method: str
    value: np.ndarray
    options: dict[str, Any]

    def __call__(self, x: Any) -> Any:
        argument = jnp.sin if self.method == "apply" else self.value
        return getattr(x.at[self.index.expression], self.method)(argument, **self.options)

    def expected(self, x: np.ndarray) -> np.ndarray:
        wide = with_rim(x, 1)
        METHODS[self.method](wide, self.index.on_rim(self.options["mode"] == "clip"), self.value)
        return inner(wide)


@st.composite
def update_of(draw: Any, shape: tuple[int, ...]) -> Update:
    mode = draw(st.sampled_from([None, "drop", "fill", "clip", "promise_in_bounds"]))
    index = draw(index_of(shape, 0 if mode == "promise_in_bounds" else 3))
    method = draw(st.sampled_from(list(METHODS)))
    wide = with_rim(np.zeros(shape), 0)
    places = np.arange(wide.size).reshape(wide.shape)[index.on_rim(mode == "clip")]
    unique = np.unique(places).size == places.size
    options = {"mode": mode}
    if unique and draw(st.booleans()):
        options["unique_indices"] = True
    # Of several values for one place `set` takes any: there it gets one value for all.
    scalar = draw(st.booleans()) or (method == "set" and not unique)
    own = () if scalar else draw(st.sampled_from([places.shape, places.shape[1:], (*[1] * places.ndim,)]))
    return Update(index, method, numbers(own, 1), options)


@settings(max_examples=examples(40), phases=WITHOUT_SHRINKING)
@given(data=st.data())
def test_updates(data: st.DataObject) -> None:
    shape = data.draw(st.sampled_from(SHAPES))
    x = numbers(shape)
    updates = [data.draw(update_of(shape)) for _ in range(6)]
    results = once(lambda x: [update(x) for update in updates])(x)
    for update, found in zip(updates, results):
        np.testing.assert_allclose(found, update.expected(x), rtol=2e-5, err_msg=str(update))
    np.testing.assert_allclose(updates[0](jnp.asarray(x)), updates[0].expected(x), rtol=2e-5, err_msg=str(updates[0]))


# Reductions ----------------------------------------------------------------------------------------------------------

PLAIN = ["sum", "prod", "mean", "max", "min", "any", "all", "std", "var", "ptp", "median", "count_nonzero"]
NAN = ["nansum", "nanprod", "nanmean", "nanmax", "nanmin", "nanstd", "nanvar", "nanmedian"]
MASKED = ["sum", "prod", "mean", "any", "all", "std", "var", "nansum", "nanprod", "nanmean"]


@st.composite
def reduction(draw: Any, rank: int) -> tuple[str, dict[str, Any], bool]:
    """A function, its options, and whether it gets a mask."""
    name = draw(st.sampled_from(PLAIN + NAN))
    axes = draw(st.lists(st.integers(-rank, rank - 1), max_size=rank, unique_by=lambda a: a % rank))
    axis = draw(st.sampled_from([None, tuple(axes), *axes[:1]]))
    if axis == () and name not in ("sum", "prod", "max", "min", "any", "all"):
        axis = None
    options: dict[str, Any] = {"axis": axis, "keepdims": draw(st.booleans())}
    masked = name in MASKED and draw(st.booleans())
    if name in ("sum", "prod", "max", "min") and draw(st.booleans()):
        options["initial"] = 1.5
    if name in ("std", "var") and draw(st.booleans()):
        options["ddof"] = 1
    return name, options, masked


@settings(max_examples=examples(24), phases=WITHOUT_SHRINKING)
@given(data=st.data())
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_reductions(data: st.DataObject) -> None:
    shape = data.draw(st.sampled_from([(6,), (3, 4), (2, 3, 4), (1, 5)]))
    dtype = data.draw(st.sampled_from([np.float32, np.int32, np.bool_]))
    chosen = [data.draw(reduction(len(shape))) for _ in range(10)]
    chosen = [c for c in chosen if not (dtype == np.bool_ and c[0] == "ptp")]
    run = once(
        lambda x, m: [getattr(jnp, name)(x, **options, **({"where": m} if w else {})) for name, options, w in chosen]
    )
    for _ in range(2):
        mask = data.draw(hnp.arrays(np.bool_, shape))
        if dtype == np.float32:
            kinds = st.sampled_from([*np.linspace(-4, 4, 17).tolist(), float("nan")])
        else:
            kinds = st.integers(-9, 9) if dtype == np.int32 else st.booleans()
        x = data.draw(hnp.arrays(dtype, shape, elements=kinds))
        for (name, options, w), found in zip(chosen, run(x, mask)):
            wide = x.astype(np.float64) if dtype == np.float32 else x
            expected = np.asarray(getattr(np, name)(wide, **options, **({"where": mask} if w else {})))
            found = np.asarray(found)
            assert found.shape == expected.shape, (name, options)
            if found.dtype.kind in "iu":
                expected = expected.astype(np.int64).astype(found.dtype)
            np.testing.assert_allclose(
                found, expected, rtol=2e-5, atol=2e-5, err_msg=f"{name} {options} {w} {x} {mask}"
            )


# Sorting -------------------------------------------------------------------------------------------------------------


def _sorted_every_way(np: Any, x: Any, v: Any, axis: int) -> list[Any]:
    order = np.argsort(x, axis, stable=True)
    last = x.shape[axis] - 1
    return [
        np.sort(x, axis),
        np.sort(x, None),
        order,
        np.take_along_axis(x, order, axis),
        np.argmax(x, axis),
        np.argmin(x, axis),
        np.lexsort((x[0], x[-1])),
        np.searchsorted(np.sort(v), x),
        np.searchsorted(np.sort(v), x, "right"),
        np.digitize(x, np.sort(np.nan_to_num(v))),
        np.partition(x, last, axis).max(axis),
        np.cumsum(np.isin(x, v), axis),
        np.flip(np.sort(x, axis), axis),
        np.unique(v, return_counts=True, return_index=True, return_inverse=True),
    ]


@cache
def _sorting(axis: int) -> Any:
    def run(x: Any, v: Any) -> Any:
        results = _sorted_every_way(_OfKnownSize(), x, v, axis)
        backwards = jnp.argsort(x, axis, descending=True)
        return [*results, backwards]

    return jx.jit(run, compiler_options=QUICK)


class _OfKnownSize:
    """jitscope.numpy, with `unique` of as many as can be."""

    def __getattr__(self, name: str) -> Any:
        return getattr(jnp, name)

    def unique(self, v: Any, **options: Any) -> Any:
        return jnp.unique(v, size=v.size, **options)


@settings(max_examples=examples(40), phases=WITHOUT_SHRINKING)
@given(data=st.data())
def test_sorting(data: st.DataObject) -> None:
    dtype = data.draw(st.sampled_from([np.float32, np.int32, np.uint8, np.bool_]))
    kinds: Any = {
        np.float32: st.sampled_from([-np.inf, -2, -1.5, 0.0, 1, 2.5, np.inf, np.nan]),
        np.int32: st.sampled_from([-(2**31), -2, 0, 1, 1, 7, 2**31 - 1]),
        np.uint8: st.integers(0, 255),
        np.bool_: st.booleans(),
    }[dtype]
    axis = data.draw(st.sampled_from([0, 1, -1]))
    x = data.draw(hnp.arrays(dtype, (3, 4), elements=kinds))
    v = data.draw(hnp.arrays(dtype, (5,), elements=kinds))
    *found, (values, first, inverse, counts), backwards = _sorting(axis)(x, v)
    *wanted, (values_, first_, inverse_, counts_) = _sorted_every_way(np, x, v, axis)
    for place, (a, b) in enumerate(zip(found, wanted)):
        np.testing.assert_array_equal(a, b, err_msg=f"number {place}, axis {axis}, of\n{x}\n{v}")
    n = values_.size
    for a, b in ((values[:n], values_), (first[:n], first_), (inverse, inverse_), (counts[:n], counts_)):
        np.testing.assert_array_equal(a, b, err_msg=str(v))
    assert not counts[n:].any()
    np.testing.assert_array_equal(np.take_along_axis(x, np.asarray(backwards), axis), np.flip(np.sort(x, axis), axis))


# einsum --------------------------------------------------------------------------------------------------------------

SIZES = {"a": 2, "b": 3, "c": 1, "d": 4}


@st.composite
def einsum_call(draw: Any) -> tuple[str, list[tuple[int, ...]]]:
    """Subscripts, and the shapes of the operands."""
    terms, shapes = [], []
    dots = draw(st.booleans())
    for _ in range(draw(st.integers(1, 3))):
        labels = draw(st.lists(st.sampled_from("abcd"), min_size=0 if dots else 1, max_size=3))
        outer = draw(st.sampled_from([(), (2,), (5, 2), (1, 2)])) if dots else ()
        at = draw(st.integers(0, len(labels)))
        terms.append("".join(labels[:at]) + ("..." if dots else "") + "".join(labels[at:]))
        shapes.append((*[SIZES[n] for n in labels[:at]], *outer, *[SIZES[n] for n in labels[at:]]))
    used = sorted({n for term in terms for n in term if n in string.ascii_letters})
    subscripts = ",".join(terms)
    if draw(st.booleans()):
        out = draw(st.permutations(used))[: draw(st.integers(0, len(used)))]
        subscripts += "->" + ("..." if dots else "") + "".join(out)
    if draw(st.booleans()):
        subscripts = subscripts.replace(",", " , ").replace("->", " -> ")
    return subscripts, shapes


@settings(max_examples=examples(20), phases=WITHOUT_SHRINKING)
@given(st.lists(einsum_call(), min_size=5, max_size=5))
def test_einsum(calls: list[tuple[str, list[tuple[int, ...]]]]) -> None:
    given = [[numbers(s, i) for i, s in enumerate(shapes)] for _, shapes in calls]
    run = once(lambda given: [jnp.einsum(text, *xs) for (text, _), xs in zip(calls, given)])
    for (text, shapes), xs, found in zip(calls, given, run(given)):
        expected = np.einsum(text, *[x.astype(np.float64) for x in xs])
        np.testing.assert_allclose(found, expected, rtol=1e-5, err_msg=f"{text} of {shapes}")
