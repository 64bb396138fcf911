"""The structural hash: equal for equal programs wherever they came from, different for any difference."""

from __future__ import annotations

import dataclasses
import enum
import gc
import itertools
import weakref
from collections.abc import Callable
from typing import Any

import hypothesis.strategies as st
import numpy as np
from hypothesis import given

import jitscope as jx
from jitscope.backend.library_types import library_choices
from jitscope.core.avals import ShapedArray
from jitscope.core.hashing import StructuralHash, structural_hash
from jitscope.core.jaxpr import ClosedJaxpr, Jaxpr, JaxprEqn, Var
from jitscope.core.primitive import Primitive
from jitscope.ops import elementwise, linear
from jitscope.ops.dot import dot_general
from jitscope.ops.families import Elementwise, pure
from jitscope.ops.precision import Precision
from tests.compiler.programs import add, cos, floats, in_new_process, mul, sin, steps, sub


X = floats(3)


def digest(fun, *args, embedded=()) -> bytes:
    return structural_hash(jx.make_jaxpr(fun)(*args), embedded).digest


PROGRAMS = {
    "identity": (lambda x: x, X),
    "sin": (sin, X),
    "cos": (cos, X),
    "other shape": (sin, floats(4)),
    "other rank": (sin, floats(1, 3)),
    "other dtype": (sin, X.astype(np.float16)),
    "weak": (sin, 1.0),
    "not weak": (sin, np.float32(1)),
    "a dead equation before": (lambda x: (cos(x), sin(x))[1], X),
    "two results": (lambda x: (sin(x), sin(x)), X),
    "one result of two": (lambda x: (lambda y: (y, y))(sin(x)), X),
    "order of results": (lambda x: (sin(x), cos(x)), X),
    "other order of equations": (lambda x: (cos(x), sin(x))[::-1], X),
    "results swapped": (lambda x: (lambda a, b: (b, a))(sin(x), cos(x)), X),
    "operands": (lambda x, y: sub(x, y), X, X),
    "operands swapped": (lambda x, y: sub(y, x), X, X),
    "one operand twice": (lambda x, y: sub(x, x), X, X),
    "literal": (lambda x: mul(x, 2.0), X),
    "other literal": (lambda x: mul(x, 3.0), X),
    "strong literal": (lambda x: mul(x, np.float32(2)), X),
    "negative zero": (lambda x: mul(x, -0.0), X),
    "zero": (lambda x: mul(x, 0.0), X),
    "nan": (lambda x: mul(x, float("nan")), X),
    "integer literal": (lambda x: mul(x, 2), 1),
    "parameter": (lambda x: elementwise.integer_pow_p(x, y=3), X),
    "other parameter": (lambda x: elementwise.integer_pow_p(x, y=4), X),
    "axes": (lambda x: linear.reduce_sum_p(x, axes=(0,)), floats(3, 3)),
    "other axes": (lambda x: linear.reduce_sum_p(x, axes=(1,)), floats(3, 3)),
    "dtype parameter": (lambda x: linear.convert(x, np.dtype("int32")), X),
    "other dtype parameter": (lambda x: linear.convert(x, np.dtype("int16")), X),
    "precision": (lambda x: dot_general(x, x, (((1,), (0,)), ((), ())), Precision.HIGH), floats(3, 3)),
    "other precision": (lambda x: dot_general(x, x, (((1,), (0,)), ((), ())), Precision.HIGHEST), floats(3, 3)),
    "no precision": (lambda x: dot_general(x, x, (((1,), (0,)), ((), ()))), floats(3, 3)),
    "nested": (lambda x: jx.jit(lambda x: sin(x))(x), X),
    "nested other": (lambda x: jx.jit(lambda x: cos(x))(x), X),
    "nested elsewhere": (lambda x: jx.jit(lambda x: x)(sin(x)), X),
    "captured": (lambda x: add(x, X), X),
    "no arguments": (lambda: 1.0,),
    "key": (lambda k: jx.random.bits(k, (3,)), jx.random.key(0)),
    "key data": (lambda k: jx.random.bits(k, (3,)), jx.random.PRNGKey(0)),
}


def test_different_programs_have_different_hashes():
    digests = {name: digest(fun, *args) for name, (fun, *args) in PROGRAMS.items()}
    for a, b in itertools.combinations(digests, 2):
        assert digests[a] != digests[b], (a, b)


def test_embedded_values_are_part_of_it_by_content():
    def with_value(value):
        return digest(lambda x: add(x, value), X, embedded=[value])

    assert with_value(X) == with_value(X.copy())
    assert len({with_value(v) for v in (X, X + 1, -X)}) == 3
    assert with_value(np.zeros(3, np.float32)) != with_value(-np.zeros(3, np.float32))


def test_names_positions_and_objects_do_not_count():
    def one(first_name):
        return mul(sin(first_name), 2.0)

    scope = {"mul": mul, "sin": sin}
    exec("\n\n\ndef other(b):\n    c = sin(b)\n    return mul(c, 2.0)", scope)
    assert digest(one, X) == digest(scope["other"], X) == digest(lambda z: mul(sin(z), 2.0), X)
    inner = jx.jit(one)
    assert digest(lambda x: add(inner(x), inner(x)), X) == digest(lambda x: add(jx.jit(one)(x), jx.jit(one)(x)), X)


def test_hashes_are_the_same_in_every_process():
    code = """
        {imports}
        import numpy as np, jitscope as jx
        from jitscope.core.hashing import StructuralHash, structural_hash
        from jitscope.ops.dot import dot_general
        from jitscope.ops.precision import Precision
        from jitscope.ops.elementwise import sin_p
        def f(x, k):
            y = jx.jit(lambda x: sin_p(x))(x)
            return dot_general(y, x, (((1,), (0,)), ((), ())), Precision.HIGH), jx.random.uniform(k, (2,)), jx.numpy.sort(x)
        closed = jx.make_jaxpr(f)(np.ones((3, 3), np.float32), jx.random.key(0))
        print(structural_hash(closed).digest.hex(), structural_hash(closed).kept)
        """
    first = in_new_process(code.replace("{imports}", ""), PYTHONHASHSEED="1")
    other = in_new_process(
        code.replace("{imports}", "import jitscope.ops.rng, jitscope_scope.observe"), PYTHONHASHSEED="2"
    )
    assert first == other and first.endswith("[]")


# Random programs ------------------------------------------------------------------------------------------------------

STEPS = {
    "sin": lambda a, b, j: sin(a),
    "cos": lambda a, b, j: cos(a),
    "add": lambda a, b, j: add(a, b),
    "sub": lambda a, b, j: sub(a, b),
    "mul": lambda a, b, j: mul(a, b),
    "number": lambda a, b, j: mul(a, float(j)),
    "power": lambda a, b, j: elementwise.integer_pow_p(a, y=2 + j),
    "jit": lambda a, b, j: jx.jit(sin)(a),
}
PLANS = st.lists(st.tuples(st.sampled_from(list(STEPS)), st.integers(0, 3), st.integers(0, 3)), max_size=5)


def build(plan):
    def run(x):
        values = [x]
        for kind, i, j in plan:
            values.append(STEPS[kind](values[i % len(values)], values[j % len(values)], j))
        return values[-1]

    return run


@given(PLANS, PLANS)
def test_hashes_are_equal_exactly_when_the_printed_programs_are(one, other):
    """Of what is compiled, dead equations gone, the printed program says everything (here, where all literals are weak)."""
    a, b = jx.make_jaxpr(build(one))(X), jx.make_jaxpr(build(other))(X)
    if all(len(c.jaxpr.live()[0]) == len(c.eqns) for c in (a, b)):
        assert (structural_hash(a).digest == structural_hash(b).digest) == (str(a) == str(b))


# Parameters -----------------------------------------------------------------------------------------------------------


class Holder(Primitive):
    """A primitive with any parameter."""

    def abstract(self, x, /, **params):
        return pure(x)


holder_p = Holder("holder")


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


@dataclasses.dataclass(frozen=True)
class Numbers:
    a: int
    b: object = None


def with_parameter(value) -> StructuralHash:
    var, out = Var(ShapedArray((), np.dtype("float32"))), Var(ShapedArray((), np.dtype("float32")))
    eqn = JaxprEqn([var], [out], holder_p, {"p": value})
    return structural_hash(ClosedJaxpr(Jaxpr([], [var], [out], [eqn])))


VALUES = [None, False, True, 0, 1, -1, 0.0, -0.0, 1.0, float("nan"), 1j, "", "1", "a", b"a", (), (1,), ((1,),), (1, 1),
          (1, (1,)), "(1,)", np.float32(1), np.float64(1), np.arange(2), np.arange(2.0), np.dtype("f4"), np.dtype("i4"),
          "float32", Colour.RED, Colour.BLUE, Numbers(1), Numbers(2), Numbers(1, 1), Numbers(1, Numbers(1)),
          jx.random.key(0).aval.dtype]  # fmt: skip


def test_parameters_of_every_kind_count():
    digests = [with_parameter(v).digest for v in VALUES]
    for (a, x), (b, y) in itertools.combinations(zip(VALUES, digests), 2):
        assert x != y, (a, b)
    assert digests == [with_parameter(v).digest for v in VALUES]
    assert with_parameter([1]).digest == with_parameter((1,)).digest
    assert with_parameter(Numbers(1)).digest == with_parameter(Numbers(1)).digest


def test_callbacks_count_by_identity_and_are_kept():
    one, other = (lambda: None), (lambda: None)
    assert with_parameter(one).digest == with_parameter(one).digest != with_parameter(other).digest
    assert with_parameter((1, one)).kept == [one]
    kept, gone = with_parameter(one), weakref.ref(one)
    del one
    gc.collect()
    assert gone() is not None  # so its identity cannot pass to another object
    del kept
    gc.collect()
    assert gone() is None


def test_a_primitive_made_again_is_another_one():
    """A cell that defines an operation, run again with another rule, must not run the old program."""
    outs = []
    for builder in ("sine", "cosine"):
        mine_p = Elementwise("mine", hlo=builder)
        outs.append(np.asarray(jx.jit(lambda x, p=mine_p: p(x))(X)))
    np.testing.assert_allclose(outs, [np.sin(X), np.cos(X)], rtol=1e-6)


def test_library_primitives_have_names_of_their_own():
    code = """
        import gc, jitscope, jitscope.numpy, jitscope.random, jitscope.lax
        from jitscope.core.primitive import Primitive
        print([p.name for p in gc.get_objects() if isinstance(p, Primitive) and p.generation])
        """
    assert (
        in_new_process(code) == "['reduce_max']"
    )  # that of softmax, printed as in JAX, beside the one that looks for NaN


def test_options_devices_and_donation_are_part_of_the_executables_key():
    f = lambda x: mul(sin(x), 7.5)
    several: list[dict[str, Any]] = [{}, {}, {"donate_argnums": 0}]
    several.append({"compiler_options": {"xla_cpu_enable_fast_math": True}})
    with steps() as seen:
        for options in several:
            jx.jit(f, **options)(X)
            jx.jit(lambda x: mul(sin(x), 7.5), **options)(X)
    assert (seen["compile"], seen["reuse"]) == (3, 4)


def doubled(levels: int) -> Callable[[Any], Any]:
    """sin of sin of …, 2 ** levels times: each level is a program that calls the one below twice."""
    f = sin
    for _ in range(levels):
        f = (lambda inner: lambda x: inner(inner(x) + 1.0))(jx.jit(f))
    return f


def test_a_program_that_is_called_often_is_written_once() -> None:
    closed = jx.make_jaxpr(doubled(60))(1.0)
    assert structural_hash(closed).digest == structural_hash(jx.make_jaxpr(doubled(60))(1.0)).digest
    assert library_choices(closed.jaxpr) == []


def test_whether_calls_share_a_program_does_not_count() -> None:
    def apart(x: Any) -> Any:
        return jx.jit(lambda x: sin(x))(jx.jit(lambda x: sin(x))(x) + 1.0)

    shared = jx.jit(lambda x: sin(x))
    together = jx.make_jaxpr(lambda x: shared(shared(x) + 1.0))(1.0)
    assert structural_hash(together).digest == structural_hash(jx.make_jaxpr(apart)(1.0)).digest
