"""Primitive × rule: what `matrix.py` checks, as tests. `python -m tests.compiler.matrix` prints the table."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import pytest

from jitscope.core.avals import ShapedArray
from jitscope.core.axes import bind_axis
from jitscope.core.dtypes import kind
from jitscope.core.primitive import Primitive
from jitscope.ops.families import Elementwise
from tests.compiler import matrix
from tests.extent import as_users, full
from tests.samples import NATIVE, Sample, all_primitives, dtypes_of, kinds_of, samples_of


PRIMITIVES = all_primitives()
SLOW = ("scatter", "polygamma", "dot_general", "gather", "dynamic_update_slice", "conv_general", "svd", "cumlogsumexp")
ALIKE = ("scatter-sub", "scatter-mul", "scatter-min")
"""What has the rules of a primitive that is checked besides, and takes long to compile."""


def cases() -> list:
    """Every primitive and dtype; `make test` has the main dtype, and of every fourth primitive that does not take long to compile one
    more kind (booleans, integers, floats, complex numbers in turn). Every twelfth primitive is compiled as users compile it."""
    found = []
    for at, p in enumerate(PRIMITIVES.values()):
        seen, main = set(), matrix.main_dtype(p)
        others = sorted({kind(d).replace("u", "i") for d in dtypes_of(p)} - {kind(main)})
        another = others[at // 4 % len(others)] if others and at % 4 == 0 and not p.name.startswith(SLOW) else None
        for d in [*dtypes_of(p), *dtypes_of(p, wide=True)]:
            one = kind(d).replace("u", "i")
            repeats = d != main and (one != another or one in seen)
            seen.add(one)
            marks = [full] * (repeats or p.name in ALIKE)
            if at % 12 == 0 and d == main:
                marks.append(as_users)
            found.append(pytest.param(p, d, id=f"{p.name}-{d.name}", marks=marks))
    return found


@pytest.mark.parametrize(("primitive", "dtype"), cases())
def test_rules(primitive: Primitive, dtype: np.dtype) -> None:
    report = matrix.report(primitive, dtype)
    assert sum(report.counts.values())
    assert not report.failures, "\n".join(map(str, report.failures))


@pytest.mark.parametrize("name", PRIMITIVES)
def test_every_primitive_has_samples(name: str) -> None:
    assert kinds_of(PRIMITIVES[name]), f"{name} has no samples: register some in tests/samples/"


@pytest.mark.parametrize("name", [n for n, p in PRIMITIVES.items() if getattr(p, "accepts", None)])
def test_samples_cover_the_dtypes_a_primitive_accepts(name: str) -> None:
    primitive = PRIMITIVES[name]
    accepted = set(primitive.accepts) - {"k"}  # pyright: ignore[reportAttributeAccessIssue]
    missing = accepted - set(kinds_of(primitive))
    assert not missing, f"{name} accepts dtypes of kinds {sorted(missing)}, of which there are no samples"


@pytest.mark.parametrize("name", [n for n, p in PRIMITIVES.items() if getattr(p, "accepts", None)])
def test_other_dtypes_are_refused_by_name(name: str) -> None:
    primitive = PRIMITIVES[name]
    sample = samples_of(primitive, matrix.main_dtype(primitive))[0]
    own, start = sample.args[-1].dtype, 1 if sample.axis else 0
    for letter, (other, *_) in NATIVE.items():
        if letter in primitive.accepts:  # pyright: ignore[reportAttributeAccessIssue]
            continue
        avals = [ShapedArray(a.shape[start:], other if a.dtype == own else a.dtype) for a in sample.args]
        with bind_axis("i", sample.args[0].shape[0]) if start else nullcontext():
            with pytest.raises(TypeError, match=rf"^{primitive.name}\b.* got "):
                primitive.abstract(*avals, **sample.params)


def rank_3(primitive: Primitive) -> Sample:
    return next(s for s in samples_of(primitive, dtypes_of(primitive)[0]) if s.label.startswith("rank 3"))


@pytest.mark.parametrize(
    "name", [n for n, p in PRIMITIVES.items() if isinstance(p, Elementwise) and len(rank_3(p).args) > 1]
)
def test_shapes_that_do_not_fit_are_named(name: str) -> None:
    primitive = PRIMITIVES[name]
    sample = rank_3(primitive)
    avals = [ShapedArray((3,) if i else (2,), a.dtype) for i, a in enumerate(sample.args)]
    if primitive.name == "select_n":
        avals = [avals[0], *[a.update(shape=(i,)) for i, a in enumerate(avals[1:], 4)]]
    with pytest.raises(TypeError, match=rf"{primitive.name}.*\[\d\].*\[\d\]"):
        primitive.abstract(*avals, **sample.params)


def test_the_table_counts_checks_and_failures() -> None:
    good = matrix.Report("sin", "float32", dict.fromkeys(matrix.RULES, 2), [])
    bad = matrix.Report("cos", "float32", dict.fromkeys(matrix.RULES, 2), [matrix.Failure("jvp", "scalar", "wrong")])
    lines = matrix.table([good, bad]).splitlines()
    assert lines[0].split()[:2] == ["primitive", "abstract"]
    assert lines[1].split() == ["sin", *["2"] * len(matrix.RULES), "float32"]
    assert "1 of 2 ✗" in lines[2]


def test_wrong_rules_are_caught() -> None:
    """Each rule, broken on purpose, shows in its own column."""
    x = PRIMITIVES["sin_p"]
    breaks = {
        "abstract": {"abstract": lambda *avals: (ShapedArray(avals[0].shape, np.dtype(np.int32)), frozenset())},
        "lower": {"lower": lambda ctx, v: ctx.hlo.cosine(v)},
        "jvp": {"jvp": lambda primals, tangents: (x(*primals), tangents[0])},
        "batch": {"batch": lambda axis, args, dims: (x(*args), 0)},
    }  # fmt: skip
    dtype = np.dtype(np.float32)
    assert not matrix.report(x, dtype).failures
    for rule, methods in breaks.items():
        try:
            for name, method in methods.items():
                setattr(x, name, method)
            failed = {f.rule for f in matrix.report(x, dtype).failures}
        finally:
            for name in methods:
                delattr(x, name)
        assert rule in failed, f"a wrong {rule} rule is not noticed"
    assert not matrix.report(x, dtype).failures
