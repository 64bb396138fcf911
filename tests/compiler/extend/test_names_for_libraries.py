"""Names of JAX's that libraries are written against, and what these do with them: haiku's traces, the types of mujoco and
TensorFlow Probability, tinygp's callables, penzai's einsum."""

import importlib
from typing import Any

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope.core.trace import Trace, Tracer
from jitscope.extend import backend
from jitscope.extend.core import set_current_trace, take_current_trace
from jitscope.interpreters import batching, xla


X = np.arange(6, dtype=np.float32).reshape(2, 3)


@pytest.mark.parametrize(
    "name",
    "extend.backend extend.mlir.ir extend.mlir.dialects.stablehlo extend.mlir.passmanager interpreters.xla lib".split(),
)
def test_modules_are_there(name: str) -> None:
    module = importlib.import_module(f"jitscope.{name}")
    jaxlib = importlib.import_module(f"jaxlib.mlir{name.removeprefix('extend.mlir')}" if "mlir" in name else "jaxlib")
    assert {"ir": "Module", "stablehlo": "AddOp", "passmanager": "PassManager", "lib": "__version__"}.get(
        name.rpartition(".")[2], "__doc__"
    ) in dir(module)
    for one in ("Module", "AddOp", "PassManager", "__version__"):
        if hasattr(module, one) and hasattr(jaxlib, one):
            assert getattr(module, one) is getattr(jaxlib, one)


def test_the_backend_is_the_client_of_the_devices() -> None:
    client = jx.devices()[0].client
    assert backend.get_backend() is client is backend.backends()["cpu"] is backend.get_backend(jx.devices()[0])
    assert backend.get_default_device() is jx.devices()[0]
    with pytest.raises(RuntimeError, match="tpu"):
        backend.get_backend("tpu")


class Seen(Tracer):
    def __init__(self, trace: Trace, value: Any):
        super().__init__(trace, jx.typeof(value))
        self.value = value


class Names(Trace):
    """A trace as libraries write them for JAX: it notes the operations, and hands them down."""

    __slots__ = ("below", "names")

    def __init__(self, below: Trace):
        self.below, self.names = below, []

    def process_primitive(self, primitive: Any, tracers: Any, params: Any, /) -> Any:
        self.names.append(primitive.name)
        values = [t.value if isinstance(t, Seen) else t for t in tracers]
        out = primitive.bind_with_trace(self.below, values, [jx.typeof(x) for x in values], params)
        return [Seen(self, x) for x in out] if primitive.multiple_results else Seen(self, out)


def test_a_trace_of_ones_own_hands_operations_down() -> None:
    def run(x: Any) -> tuple[Any, list[str]]:
        with take_current_trace() as below:
            trace = Names(below)
            with set_current_trace(trace):
                out = jnp.sin(Seen(trace, x)) * 2.0
        return out.value, trace.names

    out, names = run(jnp.ones(3))
    np.testing.assert_allclose(out, np.sin(np.ones(3)) * 2, rtol=1e-6)
    assert names == ["sin", "mul"]
    assert [e.primitive.name for e in jx.make_jaxpr(lambda x: run(x)[0])(jnp.ones(3)).eqns] == ["sin", "mul"]


class Rows:
    def __init__(self, x: Any, shared: Any, number: Any = None):
        self.x, self.shared, self.number = x, shared, number


class Along:
    def __init__(self, axis: int):
        self.axis = axis


def test_vmap_takes_types_that_say_what_one_example_is() -> None:
    def to_elt(cont: Any, get_idx: Any, rows: Rows, spec: Along) -> Rows:
        return Rows(cont(rows.x, spec.axis), rows.shared, get_idx())

    def from_elt(cont: Any, size: int, rows: Rows, spec: Along) -> Rows:
        return Rows(cont(size, rows.x, spec.axis), rows.shared, cont(size, rows.number, 0))

    def f(rows: Rows, y: Any) -> Any:
        assert rows.shared == "kept"
        return Rows(rows.x * y + rows.number, rows.shared, rows.number * 2), rows.x.sum()

    batching.register_vmappable(Rows, Along, int, to_elt, from_elt, None)
    try:
        y = np.arange(3.0, dtype=np.float32)
        run = jx.vmap(f, in_axes=(Along(1), 0), out_axes=(Along(0), 0), axis_size=3)
        out, sums = run(Rows(X, "kept"), y)
        inside = jx.jit(lambda x: run(Rows(x, "kept"), y)[0].x)(X)
    finally:
        batching.unregister_vmappable(Rows)
    np.testing.assert_array_equal(out.x, (X * y + np.arange(3)).T)
    np.testing.assert_array_equal(inside, out.x)
    np.testing.assert_array_equal(out.number, [0, 2, 4])
    np.testing.assert_array_equal(sums, X.sum(0))
    assert out.shared == "kept"
    with pytest.raises(TypeError):
        jx.vmap(f, in_axes=(Along(1), 0))


def test_types_that_are_registered_are_taken_for_arrays() -> None:
    class Variable:
        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            return np.asarray([1.0, 2.0])

    with pytest.raises(TypeError):
        jnp.add(Variable(), 1)
    xla.canonicalize_dtype_handlers[Variable] = xla.canonicalize_dtype_handlers[np.ndarray]
    jx.core.pytype_aval_mappings[Variable] = jx.core.pytype_aval_mappings[np.ndarray]
    np.testing.assert_array_equal(jnp.add(Variable(), 1), [2, 3])
    assert jx.typeof(Variable()) == jx.typeof(jnp.ones(2))


class Odd:
    """What `functools.wraps` refuses: its name and its annotations are not what a function's are."""

    def __getattr__(self, name: str) -> Any:
        if name in ("__name__", "__qualname__", "__annotations__", "__type_params__"):
            return self.method
        raise AttributeError(name)

    def method(self) -> None: ...

    def __call__(self, x: Any) -> Any:
        return x * 2.0


TRANSFORMATIONS = {
    "vmap": jx.vmap,
    "jit": jx.jit,
    "checkpoint": jx.checkpoint,
    "named_call": jx.named_call,
    "vectorize": jnp.vectorize,
    "jvp": lambda f: lambda x: jx.jvp(f, (x,), (x,))[1],
    "map": lambda f: lambda x: jx.lax.map(f, x),
    "closure_convert": lambda f: lambda x: jx.closure_convert(f, x)[0](x),
    "of a jaxpr": lambda f: lambda x: jx.core.eval_jaxpr(jx.make_jaxpr(f)(x).jaxpr, [], x)[0],
    "grad": lambda f: lambda x: jx.vmap(jx.grad(f))(x) * x,
}


@pytest.mark.parametrize("name", TRANSFORMATIONS)
def test_callables_whose_name_is_no_text_are_transformed(name: str) -> None:
    x = jnp.arange(3.0)
    np.testing.assert_array_equal(TRANSFORMATIONS[name](Odd())(x), [0.0, 2.0, 4.0])


@pytest.mark.parametrize("labels", [("tq", "inner", "out"), ((0, 1), None, 7), (100, 101, 102)])
def test_einsum_takes_labels_of_any_kind(labels: Any) -> None:
    i, j, k = labels
    np.testing.assert_array_equal(jnp.einsum(X, [i, j], X, [k, j], [i, k]), X @ X.T)
    np.testing.assert_array_equal(jnp.einsum(X, [i, j], [j, i]), X.T)
