"""Every rule of every primitive, checked on the samples; `python -m tests.compiler.matrix [NAME …]` prints the table.

A check is one or several calls and what NumPy has to say about their results. All checks of a primitive and a dtype are
traced into one program, compiled and run together; some of them once more as users would, operation by operation and
compiled with all optimizations (column "eager"). Derivatives are compared with finite differences of the oracle, in
float64 and complex128; they never see our own evaluation.
"""

from __future__ import annotations

import argparse
import dataclasses
import itertools
import sys
import time
import traceback
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np

from jitscope import clear_caches
from jitscope.backend.array import to_array
from jitscope.backend.compile import Options, compile_jaxpr
from jitscope.core.avals import ShapedArray, aval_of
from jitscope.core.axes import bind_axis
from jitscope.core.config import enable_x64
from jitscope.core.dtypes import float0, kind
from jitscope.core.primitive import Primitive
from jitscope.core.staging import trace_to_jaxpr
from jitscope.core.zeros import UndefinedPrimal, zero_of
from jitscope.ops.families import Elementwise
from jitscope.ops.linear import instantiate
from jitscope.transforms.jvp import jvp_flat
from jitscope.transforms.linearize import linearize_flat
from jitscope.transforms.transpose import backward_pass
from jitscope.transforms.vmap import BatchAxis, vmap_flat
from tests import extent
from tests.compiler.closeness import PRECISION, Arrays, all_close
from tests.compiling import evaluated
from tests.samples import Draw, Sample, all_primitives, dtypes_of, samples_of


RULES = ("abstract", "lower", "jvp", "jvp twice", "vjp", "transpose", "batch", "eager")
EXAMPLES = 2
"""Size of mapped axes."""
ALL, TYPICAL, MANY, FEW = (30, 130, 12, 6) if extent.ALL else (3, 10, 3, 1)
"""Combinations of mapped axes: in the main dtype all are tried if there are no more than `ALL` (of the typical sample:
`TYPICAL`; both are less at `make test`), else `MANY`; in other dtypes `FEW`."""
TOGETHER = 20
"""Checks in one program: XLA's time grows faster than their number."""
QUICK: Options = tuple(extent.QUICK.items())


@dataclasses.dataclass
class Check:
    """A function of arrays that gives arrays, and a verdict on those: None, or what is wrong."""

    rule: str
    label: str
    fun: Callable[..., list[Any]]
    args: Arrays
    verdict: Callable[[Arrays], str | None]


@dataclasses.dataclass
class Failure:
    """A check that failed, and why."""

    rule: str
    label: str
    reason: str

    def __str__(self) -> str:
        return f"{self.rule}, {self.label}: {self.reason}"


@dataclasses.dataclass
class Report:
    """How many checks of each rule were made for a primitive and a dtype, and those that failed."""

    primitive: str
    dtype: str
    counts: dict[str, int]
    failures: list[Failure]


# Calls ---------------------------------------------------------------------------------------------------------------


def call(primitive: Primitive, sample: Sample) -> Callable[..., list[Any]]:
    """The sample's call on one example, as a function that gives a list."""
    fun = sample.fun or (lambda *args: primitive(*args, **sample.params))

    def flat(*args):
        out = fun(*args)
        return list(out) if isinstance(out, (list, tuple)) else [out]

    return flat


def expected(sample: Sample, args: Arrays) -> Arrays:
    """The oracle's results in their dtypes."""
    out = sample.oracle(*map(_widened, args))
    outs = list(out) if isinstance(out, (list, tuple)) else [out]
    results = sample.result if isinstance(sample.result, list) else [sample.result or args[0].dtype] * len(outs)
    return [_narrowed(np.asarray(o), r) for o, r in zip(outs, results)]


def _widened(x: np.ndarray) -> np.ndarray:
    return x.astype({"f": np.float64, "c": np.complex128}.get(kind(x.dtype), x.dtype))


def _narrowed(x: np.ndarray, dtype: Any) -> np.ndarray:
    with np.errstate(over="ignore", invalid="ignore"):
        return x.astype(dtype)


def mapped(sample: Sample, fun: Callable[..., list[Any]]) -> Callable[..., list[Any]]:
    """`fun`, inside the named axis if the sample has one: all arguments and results carry it along axis 0."""
    return fun if sample.axis is None else over(fun, sample.axis)


def over(
    fun: Callable[..., list[Any]], name: str | None, dims: Sequence[int | None] | None = None
) -> Callable[..., list[Any]]:
    """`fun` mapped over an axis of its arguments; results carry it along axis 0."""

    def mapped_fun(*args):
        at = list(dims) if dims is not None else [0] * len(args)
        size = next(aval_of(x).shape[d] for x, d in zip(args, at) if d is not None)
        axis = BatchAxis(name, size)
        outs, out_dims = vmap_flat(fun, axis, args, at)
        return [axis.move(x, d, 0) for x, d in zip(outs, out_dims)]

    return mapped_fun


def _differentiable(x: np.ndarray) -> bool:
    return kind(x.dtype) in "fc"


# Checks --------------------------------------------------------------------------------------------------------------


class Checks:
    """The checks of one sample."""

    def __init__(self, primitive: Primitive, sample: Sample, other: Sample, dtype: np.dtype, combinations: int):
        self.primitive, self.sample, self.other, self.dtype = primitive, sample, other, dtype
        self.combinations = combinations
        self.fun = call(primitive, sample)
        self.wanted = expected(sample, sample.args)
        self.tolerance = sample.loose * max(
            [PRECISION.get(w.dtype.name, 0) for w in self.wanted] + [PRECISION.get(dtype.name, 0)]
        )
        self.draw = Draw(dtype, (primitive.name, sample.label))
        self.smooth = list(sample.smooth or ())

    def all(self) -> Iterator[Check]:
        makers = {"lower": self.lower, "jvp": self.jvp, "jvp twice": self.jvp_twice, "vjp": self.vjp,
                  "transpose": self.transpose, "batch": self.batch}  # fmt: skip
        for rule, maker in makers.items():
            if self.sample.rules is None or rule in self.sample.rules:
                yield from maker()

    def check(self, rule: str, detail: str, fun: Callable[..., list[Any]], args: Arrays,
              verdict: Callable[[Arrays], str | None]) -> Check:  # fmt: skip
        return Check(rule, f"{self.sample.label}{': ' * bool(detail)}{detail}", fun, args, verdict)

    def lower(self) -> Iterator[Check]:
        verdict = lambda outs: all_close(outs, self.wanted, self.tolerance, self.sample.least)
        yield self.check("lower", "", mapped(self.sample, self.fun), self.sample.args, verdict)

    def tangents(self, operands: Sequence[int]) -> Arrays:
        args = self.sample.args
        return [self.draw(args[i].shape, -1, 1, args[i].dtype) for i in operands]

    def jvp(self) -> Iterator[Check]:
        sets = [self.smooth] + ([[i] for i in self.smooth] if len(self.smooth) > 1 else [])
        for operands in filter(None, sets):
            yield self._jvp(operands, self.differences)
        for i in self.sample.flat:
            yield self._jvp([i], lambda operands, ts: [np.zeros_like(w) for w in self._differentiable()])

    def _jvp(self, operands: Sequence[int], oracle: Callable[[Sequence[int], Arrays], Arrays]) -> Check:
        ts = self.tangents(operands)
        n = len(self.sample.args)

        def fun(*args):
            return _moving(*self.forward(self.fun, args[:n], operands, args[n:]))

        loose = 1e4 if self.dtype.itemsize >= 8 and self.dtype.name != "complex64" else 20
        verdict = lambda outs: all_close(outs, oracle(operands, ts), self.tolerance * loose, self.size())
        return self.check(
            "jvp", f"operands {list(operands)}", mapped(self.sample, fun), [*self.sample.args, *ts], verdict
        )

    def forward(self, fun, args, operands, ts) -> tuple[list[Any], list[Any]]:
        tangents = [zero_of(x) for x in args]
        for i, t in zip(operands, ts):
            tangents[i] = t
        return jvp_flat(fun, list(args), tangents)

    def differences(self, operands: Sequence[int], ts: Arrays) -> Arrays:
        """Central differences of the oracle along the tangents."""
        step = 1e-5
        high, low = (self._moved(operands, ts, s) for s in (step, -step))
        with np.errstate(invalid="ignore"):
            return [_narrowed((h - l) / (2 * step), w.dtype) for h, l, w in zip(high, low, self._differentiable())]

    def _moved(
        self, operands: Sequence[int], ts: Arrays, step: float, more: Arrays | None = None, step2: float = 0
    ) -> Arrays:
        """The oracle's floats at a point beside the arguments."""
        args = [_widened(a) for a in self.sample.args]
        for j, i in enumerate(operands):
            args[i] = np.asarray(args[i] + step * _widened(ts[j]) + (step2 * _widened(more[j]) if more else 0))
        out = self.sample.oracle(*args)
        outs = list(out) if isinstance(out, (list, tuple)) else [out]
        return [np.asarray(o) * 1.0 for o, w in zip(outs, self.wanted) if _differentiable(w)]

    def _differentiable(self) -> Arrays:
        """Those results that have tangents."""
        return list(filter(_differentiable, self.wanted))

    def jvp_twice(self) -> Iterator[Check]:
        if self.dtype.name not in ("float64", "complex128") or not self.smooth or not self._differentiable():
            return
        operands, n = self.smooth, len(self.sample.args)
        vs, ws = self.tangents(operands), self.tangents(operands)

        def fun(*args):
            xs, v, w = args[:n], args[n : n + len(vs)], args[n + len(vs) :]
            slope = lambda *xs: _moving(*self.forward(self.fun, xs, operands, v))
            return [instantiate(t) for t in self.forward(slope, xs, operands, w)[1]]

        def verdict(outs):
            h = 1e-4
            at = [self._moved(operands, vs, a * h, ws, b * h) for a, b in ((1, 1), (1, -1), (-1, 1), (-1, -1))]
            with np.errstate(invalid="ignore"):
                bends = [(a - b - c + d) / (4 * h * h) for a, b, c, d in zip(*at)]
            wanted = [_narrowed(b, w.dtype) for b, w in zip(bends, self._differentiable())]
            return all_close(outs, wanted, self.sample.loose * 1e-5, self.size())

        yield self.check("jvp twice", "", mapped(self.sample, fun), [*self.sample.args, *vs, *ws], verdict)

    def size(self) -> float:
        """How large the results are: what differences of them cannot be more exact than."""
        finite = [np.abs(_widened(w)[np.isfinite(_widened(w))]) for w in self._differentiable()]
        return max([1.0, *[float(np.max(f, initial=0)) for f in finite]])

    def cotangents(self) -> Arrays:
        return [self.draw(w.shape, -1, 1, w.dtype) for w in self._differentiable()]

    def vjp(self) -> Iterator[Check]:
        operands, n = self.smooth, len(self.sample.args)
        cts = self.cotangents()
        if not operands or not cts:
            return
        ts = self.tangents(operands)

        def fun(*args):
            xs, v, given = list(args[:n]), args[n : n + len(ts)], args[n + len(ts) :]

            def of_smooth(*smooth):
                whole = list(xs)
                for i, x in zip(operands, smooth):
                    whole[i] = x
                return self.fun(*whole)

            made = linearize_flat(of_smooth, [xs[i] for i in operands])
            given_iter = iter(given)
            needed = [next(given_iter) if _inexact(out) else None for out in made.outs]
            ct = [c for c, moving in zip(needed, made.nonzero_out) if moving]
            back = backward_pass(made.jaxpr.jaxpr, made.jaxpr.consts, [UndefinedPrimal(aval_of(x)) for x in v], ct)
            return [*_moving(*self.forward(self.fun, xs, operands, v)), *map(instantiate, back)]

        yield self.check("vjp", "", mapped(self.sample, fun), [*self.sample.args, *ts, *cts], self._pairing(ts, cts))

    def _pairing(self, xs: Arrays, cts: Arrays) -> Callable[[Arrays], str | None]:
        """⟨T x, y⟩ = ⟨x, Tᵀ y⟩ for outputs T x, then Tᵀ y; without conjugation, real parts alone where T is no more than
        real-linear."""

        def verdict(outs: Arrays) -> str | None:
            forward, back = outs[: len(cts)], outs[len(cts) :]
            for x, b in zip(xs, back):
                if b.dtype != x.dtype or b.shape != x.shape:
                    return f"the cotangent of {x.dtype}{x.shape} is {b.dtype}{b.shape}"
            (left, size), (right, other) = _product(forward, cts), _product(xs, back)
            if not self.sample.holomorphic:
                left, right = left.real, right.real
            tolerance = 10 * self.tolerance * max(size, other, 1e-3)
            good = abs(left - right) <= tolerance or (np.isnan(left) and np.isnan(right))
            return None if good else f"⟨T x, y⟩ = {left}, ⟨x, Tᵀ y⟩ = {right}"

        return verdict

    def transpose(self) -> Iterator[Check]:
        if kind(self.dtype) not in "fc":
            return
        for operands in self.sample.linear:
            yield self._transpose(list(operands))

    def _transpose(self, operands: list[int]) -> Check:
        n, cts = len(self.sample.args), self.cotangents()
        xs = [self.sample.args[i] for i in operands]

        def fun(*args):
            values, given = list(args[:n]), args[n:]

            def linear(*moving):
                whole = list(values)
                for i, x in zip(operands, moving):
                    whole[i] = x
                return self.fun(*whole)

            closed = trace_to_jaxpr(linear, [aval_of(values[i]) for i in operands])
            back = backward_pass(
                closed.jaxpr, closed.consts, [UndefinedPrimal(a) for a in closed.in_avals], list(given)
            )
            nothing = [instantiate(zero_of(values[i])) for i in operands]
            return [*linear(*[values[i] for i in operands]), *linear(*nothing), *map(instantiate, back)]

        def verdict(outs: Arrays) -> str | None:
            k = len(cts)
            # The map may be affine in these operands (pad, add): take off its value at zero.
            linear = [_widened(a) - _widened(b) for a, b in zip(outs[:k], outs[k : 2 * k])]
            return self._pairing(xs, cts)([*linear, *outs[2 * k :]])

        return self.check(
            "transpose", f"operands {operands}", mapped(self.sample, fun), [*self.sample.args, *cts], verdict
        )

    def batch(self) -> Iterator[Check]:
        extra = self.sample.axis is not None
        ranks = [a.ndim - extra for a in self.sample.args]
        combinations = list(itertools.product(*[[None, *range(r + 1)] for r in ranks]))[1:]
        if len(combinations) > self.combinations:
            few = MANY if self.combinations > FEW else FEW
            step = len(combinations) / few
            combinations = [combinations[int(i * step)] for i in range(few - 1)] + combinations[-1:]
        for dims in combinations:
            yield self._batch(dims, extra)
        if extra:
            # The other order: the unrelated axis outside; and the same value for all examples of the named axis.
            yield self._outer_batch()
            yield self._unmapped()

    def _batch(self, dims: Sequence[int | None], extra: bool) -> Check:
        pairs = [(a, b if d is not None else a) for a, b, d in zip(self.sample.args, self.other.args, dims)]
        args = [np.stack(pair, d + extra) if d is not None else pair[0] for pair, d in zip(pairs, dims)]
        examples = [expected(self.sample, list(each)) for each in zip(*pairs)]
        wanted = [np.stack(outs, int(extra)) for outs in zip(*examples)]
        fun = mapped(self.sample, over(self.fun, None, dims))
        verdict = lambda outs: all_close(outs, wanted, self.tolerance, self.sample.least)
        return self.check("batch", f"axes {list(dims)}", fun, args, verdict)

    def _outer_batch(self) -> Check:
        args = [np.stack(pair) for pair in zip(self.sample.args, self.other.args)]
        wanted = [np.stack(outs) for outs in zip(*[expected(s, s.args) for s in (self.sample, self.other)])]
        verdict = lambda outs: all_close(outs, wanted, self.tolerance, self.sample.least)
        return self.check("batch", "outside", over(mapped(self.sample, self.fun), None), args, verdict)

    def _unmapped(self) -> Check:
        args, size = [a[0] for a in self.sample.args], self.sample.args[0].shape[0]
        wanted = expected(self.sample, [np.stack([a] * size) for a in args])
        # An operand that is not used says how long the axis is.
        fun = over(lambda _, *args: self.fun(*args), self.sample.axis, [0, *[None] * len(args)])
        verdict = lambda outs: all_close(outs, wanted, self.tolerance, self.sample.least)
        return self.check("batch", "not mapped", fun, [np.zeros(size, np.float32), *args], verdict)


def _inexact(x: Any) -> bool:
    return kind(aval_of(x).dtype) in "fc"


def _moving(outs: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
    """The tangents of results that have any, zeros written out."""
    return [instantiate(t) for out, t in zip(outs, tangents) if _inexact(out) and aval_of(t).dtype != float0]


def _product(xs: Arrays, ys: Arrays) -> tuple[complex, float]:
    """The sum of products, and how large its terms are."""
    terms = [np.ravel(_widened(x) * _widened(y)) for x, y in zip(xs, ys)]
    flat = np.concatenate([np.zeros(1), *terms])
    return complex(np.sum(flat)), float(np.sum(np.abs(flat)))


def check_abstract(primitive: Primitive, sample: Sample) -> str | None:
    """The abstract rule against shapes and dtypes of what NumPy gives."""
    inner = 0 if sample.axis is None else 1
    avals = [ShapedArray(a.shape[inner:], a.dtype) for a in sample.args]
    size = sample.args[0].shape[0] if sample.axis else 0
    with bind_axis(sample.axis, size) if sample.axis else nullcontext():
        if sample.fun is None:
            out, _ = primitive.abstract(*avals, **sample.params)
            outs = out if primitive.multiple_results else [out]
        else:
            outs = trace_to_jaxpr(call(primitive, sample), avals).out_avals
    wanted = expected(sample, sample.args)
    got = [(o.shape, o.dtype) for o in outs]
    want = [(w.shape[inner:], w.dtype) for w in wanted]
    return None if got == want else f"{got}, expected {want}"


# Running -------------------------------------------------------------------------------------------------------------


def run_together(checks: Sequence[Check], options: Options = QUICK) -> list[Failure]:
    """Trace all checks into one program, compile and run it; the failures."""
    failures, traced = [], []
    arguments = [a for c in checks for a in c.args]
    outs_of: dict[int, slice] = {}

    def program(*tracers):
        outs, at = [], 0
        for check in checks:
            mine, at = tracers[at : at + len(check.args)], at + len(check.args)
            try:
                made = check.fun(*mine)
            except Exception as error:
                failures.append(Failure(check.rule, check.label, _described(error)))
                continue
            outs_of[id(check)] = slice(len(outs), len(outs) + len(made))
            traced.append(check)
            outs += made
        return outs

    closed = trace_to_jaxpr(program, [aval_of(a) for a in arguments])
    try:
        found = evaluated(closed, arguments) if options == QUICK else None
        if found is None:
            found = compile_jaxpr(closed, options).run([to_array(a).buf for a in arguments])
        outs = [np.asarray(x) for x in found]
    except Exception as error:
        if len(checks) == 1:
            return [*failures, Failure(checks[0].rule, checks[0].label, _described(error))]
        middle = len(checks) // 2
        return run_together(checks[:middle], options) + run_together(checks[middle:], options)
    return failures + _judged(traced, [outs[outs_of[id(c)]] for c in traced])


def run_eagerly(checks: Sequence[Check]) -> list[Failure]:
    """Run the checks operation by operation; the failures."""
    failures, done, results = [], [], []
    for check in checks:
        try:
            results.append([np.asarray(x) for x in check.fun(*map(to_array, check.args))])
            done.append(check)
        except Exception as error:
            failures.append(Failure("eager", f"{check.rule}, {check.label}", _described(error)))
    return failures + [Failure("eager", f"{f.rule}, {f.label}", f.reason) for f in _judged(done, results)]


def _judged(checks: Sequence[Check], results: Sequence[Arrays]) -> list[Failure]:
    failures = []
    for check, outs in zip(checks, results):
        try:
            reason = check.verdict(outs)
        except Exception as error:
            reason = f"the oracle failed: {_described(error)}"
        if reason:
            failures.append(Failure(check.rule, check.label, reason))
    return failures


def _described(error: Exception) -> str:
    last = traceback.extract_tb(error.__traceback__)[-1]
    return (
        f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''} ({last.name}, line {last.lineno})"
    )


def x64(dtype: np.dtype) -> Any:
    """The setting under which a dtype is itself."""
    return enable_x64(dtype.name in ("float64", "complex128"))


def report(primitive: Primitive, dtype: np.dtype) -> Report:
    """All checks of a primitive for a dtype."""
    counts: dict[str, int] = dict.fromkeys(RULES, 0)
    failures: list[Failure] = []
    checks: list[Check] = []
    thorough = dtype == main_dtype(primitive)
    every = thorough and (is_one_of(3, primitive) or type(primitive).batch is not Elementwise.batch)
    with x64(dtype):
        pairs = list(zip(samples_of(primitive, dtype), samples_of(primitive, dtype, seed=1)))
        typical = _typical([s.label for s, _ in pairs])
        for sample, other in pairs:
            if sample.rules is None or "abstract" in sample.rules:
                counts["abstract"] += 1
                if reason := check_abstract(primitive, sample):
                    failures.append(Failure("abstract", sample.label, reason))
            combinations = FEW if not every else TYPICAL if sample.label == typical else ALL
            found = list(Checks(primitive, sample, other, dtype, combinations).all())
            if dtype.name in ("float64", "complex128"):
                found = [c for c in found if c.rule in ("lower", "jvp", "jvp twice", "vjp")]
            checks += found
        for start in range(0, len(checks), TOGETHER):
            failures += run_together(checks[start : start + TOGETHER])
        if thorough and is_one_of(9, primitive):
            few = _few(checks, typical)
            failures += run_eagerly(few) + run_together(few, ())
            counts["eager"] += len(few)
    for check in checks:
        counts[check.rule] += 1
    clear_caches()  # the system limits how many pieces of code a process can hold
    return Report(primitive.name, dtype.name, counts, failures)


def is_one_of(count: int, primitive: Primitive) -> bool:
    """Chosen by name at `make test`: of each ninth primitive some checks run eagerly and with all optimizations, for which XLA compiles
    each operation; of each third every combination of axes is tried though the batching rule is that of all elementwise primitives."""
    return extent.ALL or zlib.crc32(primitive.name.encode()) % count == 0


def main_dtype(primitive: Primitive) -> np.dtype:
    """The dtype in which every combination of mapped axes is tried, and the eager checks are made."""
    found = dtypes_of(primitive)
    return np.dtype(np.float32) if np.dtype(np.float32) in found else found[0]


def _typical(labels: list[str]) -> str:
    """The label of the sample that runs eagerly too."""
    return next((label for label in labels if label.startswith(("rank 3", "rows"))), labels[0])


def _few(checks: Sequence[Check], label: str) -> list[Check]:
    """One check of each rule, of the sample with that label."""
    mine = [c for c in checks if c.label.partition(":")[0] == label]
    return [next(c for c in mine if c.rule == rule) for rule in dict.fromkeys(c.rule for c in mine)]


# The table -----------------------------------------------------------------------------------------------------------


def table(reports: Sequence[Report]) -> str:
    """Primitives × rules: the number of checks, and of failures where there are any."""
    names = list(dict.fromkeys(r.primitive for r in reports))
    rows = [["primitive", *RULES, "dtypes"]]
    for name in names:
        mine = [r for r in reports if r.primitive == name]
        cells = []
        for rule in RULES:
            count = sum(r.counts[rule] for r in mine)
            wrong = sum(f.rule == rule for r in mine for f in r.failures)
            cells.append(f"{wrong} of {count} ✗" if wrong else str(count) if count else "–")
        rows.append([name, *cells, " ".join(r.dtype for r in mine)])
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join("  ".join(c.ljust(w) if i in (0, len(row) - 1) else c.rjust(w) for i, (c, w) in enumerate(zip(row, widths))).rstrip()
                     for row in rows)  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Check the named primitives (all by default) and print the table; 1 if anything failed."""
    parser = argparse.ArgumentParser(description="Check the rules of primitives and print a table of what was checked.")
    parser.add_argument("names", nargs="*", help="names of primitives; all by default")
    wanted = parser.parse_args(arguments).names
    start, reports = time.perf_counter(), []
    for primitive in all_primitives().values():
        if not wanted or primitive.name in wanted:
            reports += [report(primitive, d) for wide in (False, True) for d in dtypes_of(primitive, wide)]
    print(table(reports))
    failed = [(r, f) for r in reports for f in r.failures]
    for r, failure in failed:
        print(f"{r.primitive} {r.dtype}: {failure}")
    total = sum(sum(r.counts.values()) for r in reports)
    print(f"{total} checks of {len({r.primitive for r in reports})} primitives, {len(failed)} failed, "
          f"{time.perf_counter() - start:.0f} s")  # fmt: skip
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
