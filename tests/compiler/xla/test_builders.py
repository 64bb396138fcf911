"""Builders of operations beside jaxlib's own, and what a program imports of MLIR."""

import subprocess
import sys

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope.core.avals import ShapedArray
from jitscope.core.primitive import Primitive
from jitscope.extend.lowering_rules import register_lowering
from jitscope.ops.families import Elementwise, pure
from jitscope.ops.linear import add_p
from jitscope.xla import mlir
from jitscope.xla.builders import CHLO_FORMS, FORMS, Function, give_back


SHAPE = (2, 3)


@pytest.fixture
def block():
    """A function of floats, ints, flags and complex numbers of one shape, under construction."""
    ir = mlir.bindings().ir
    kinds = [mlir.tensor_type(SHAPE, np.dtype(name)) for name in ("float32", "int32", "bool", "complex64")]
    with mlir.context(), mlir.location():
        module = ir.Module.create()
        with ir.InsertionPoint(module.body):
            function = Function(ir, "main", ir.FunctionType.get(kinds, []))
        made = function.entry()
        with ir.InsertionPoint(made):
            yield made
            give_back(ir, [])


def theirs(dialect):
    from importlib import import_module

    return import_module(f"jaxlib.mlir.dialects.{dialect}")


def same(ours, others):
    """Whether two operations, or values of some, are written alike; the texts of both."""
    one, other = (getattr(x, "owner", x) for x in (ours, others))
    texts = [getattr(o, "operation", o).get_asm(print_generic_op_form=True) for o in (one, other)]
    assert texts[0].partition(" = ")[2] == texts[1].partition(" = ")[2]


OF_INTS = "and_ count_leading_zeros not_ or_ popcnt shift_left shift_right_arithmetic shift_right_logical xor".split()


def operands(block, name, count):
    floats, ints, flags, complexes = block.arguments
    if name == "clamp":
        return [floats] * 3
    if name == "select":
        return [flags, floats, floats]
    if name in ("real", "imag"):
        return [complexes]
    return [ints if name in OF_INTS else floats] * count


@pytest.mark.parametrize("name", [n for n, form in FORMS.items() if set(form.split()) == {"x"}])
def test_operations_on_operands_alone(block, name):
    args = operands(block, name, len(FORMS[name].split()))
    same(getattr(mlir.bindings().hlo, name)(*args), getattr(theirs("stablehlo"), name)(*args))


@pytest.mark.parametrize("name", CHLO_FORMS)
def test_operations_of_chlo(block, name):
    args = [block.arguments[0]] * len(CHLO_FORMS[name].split())
    same(getattr(mlir.bindings().chlo, name)(*args), getattr(theirs("chlo"), name)(*args))


def ints(*values):
    return mlir.ints_attr(values)


def kind(*shape, dtype="float32"):
    return mlir.tensor_type(shape, np.dtype(dtype))


def padding(pairs):
    return mlir.bindings().ir.DenseIntElementsAttr.get(np.asarray(pairs, np.int64))


def number(value, width=64):
    ir = mlir.bindings().ir
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(width), value)


def forms():
    """The arguments of each builder that takes more than operands, of the arguments of `block`."""
    hlo, ir = mlir.bindings().hlo, mlir.bindings().ir
    zero = lambda: hlo.constant(mlir.constant_attr(np.float32(0)))
    at = lambda: hlo.constant(mlir.constant_attr(np.int32(0)))
    dot = hlo.DotDimensionNumbers.get([], [], [1], [1])
    rows = hlo.GatherDimensionNumbers.get(
        offset_dims=[1], collapsed_slice_dims=[0], operand_batching_dims=[], start_indices_batching_dims=[],
        start_index_map=[0], index_vector_dim=1,
    )  # fmt: skip
    into = hlo.ScatterDimensionNumbers.get(
        update_window_dims=[1], inserted_window_dims=[0], input_batching_dims=[], scatter_indices_batching_dims=[],
        scattered_dims_to_operand_dims=[0], index_vector_dim=1,
    )  # fmt: skip
    window = hlo.ConvDimensionNumbers.get(0, 1, [], 0, 1, [], 0, 1, [])
    equal, float_kind = hlo.ComparisonDirectionAttr.get("EQ"), hlo.ComparisonTypeAttr.get("FLOAT")
    high = ir.ArrayAttr.get([hlo.PrecisionAttr.get("HIGHEST")] * 2)
    first = lambda: hlo.constant(mlir.constant_attr(np.zeros((1, 1), np.int32)))
    row = lambda: hlo.constant(mlir.constant_attr(np.arange(3, dtype=np.float32)[None]))
    return {
        "constant": lambda x, n, p: ([mlir.constant_attr(np.arange(3))], {}),
        "iota": lambda x, n, p: ([kind(4, dtype="int32"), number(0)], {}),
        "broadcast_in_dim": lambda x, n, p: ([kind(5, 2, 3), x, ints(1, 2)], {}),
        "transpose": lambda x, n, p: ([x, ints(1, 0)], {}),
        "convert": lambda x, n, p: ([kind(2, 3, dtype="float64"), x], {}),
        "bitcast_convert": lambda x, n, p: ([kind(2, 3, dtype="int32"), x], {}),
        "reshape": lambda x, n, p: ([kind(6), x], {}),
        "reverse": lambda x, n, p: ([x, ints(1)], {}),
        "slice": lambda x, n, p: ([x, ints(0, 1), ints(2, 3), ints(1, 2)], {}),
        "pad": lambda x, n, p: ([x, zero(), ints(1, 0), ints(0, 2), ints(0, 1)], {}),
        "concatenate": lambda x, n, p: ([[x, x], number(1)], {}),
        "dynamic_slice": lambda x, n, p: ([x, [at(), at()], ints(1, 2)], {}),
        "dynamic_update_slice": lambda x, n, p: ([x, row(), [at(), at()]], {}),
        "compare": lambda x, n, p: ([x, x, equal], {"compare_type": float_kind}),
        "dot_general": lambda x, n, p: ([kind(2, 2), x, x, dot], {"precision_config": high}),
        "gather": lambda x, n, p: ([x, first(), rows, ints(1, 3)], {"indices_are_sorted": True}),
        "reduce_precision": lambda x, n, p: ([x, number(5, 32), number(10, 32)], {}),
        "convolution": lambda x, n, p: (
            [kind(2, 2), x, x, window, number(1), number(1)],
            {"precision_config": high, "padding": padding(np.zeros((0, 2)))},
        ),
        "OptimizationBarrierOp": lambda x, n, p: ([[x, n]], {}),
        "CustomCallOp": lambda x, n, p: (
            [[kind(2, 3)], [x]],
            {"call_target_name": "target", "has_side_effect": True, "api_version": number(2, 32)},
        ),
        "ReduceOp": lambda x, n, p: ([[kind(2)], [x], [zero()], ints(1)], {}),
        "ReduceWindowOp": lambda x, n, p: (
            [[kind(1, 3)], [x], [zero()], ints(2, 1)], {"window_strides": ints(1, 1), "padding": padding([(0, 0)] * 2)}
        ),
        "ScatterOp": lambda x, n, p: (
            [[kind(2, 3)], [x], first(), [row()], into], {"indices_are_sorted": True, "unique_indices": False}
        ),
        "SortOp": lambda x, n, p: ([[kind(2, 3)], [x]], {"dimension": 1, "is_stable": True}),
        "WhileOp": lambda x, n, p: ([[kind(2, 3)], [x]], {}),
        "CaseOp": lambda x, n, p: ([[kind(2, 3)], at(), 2], {}),
    }  # fmt: skip


@pytest.mark.parametrize(
    "name", sorted(n for n, form in FORMS.items() if set(form.split()) != {"x"} and n != "return_")
)
def test_operations_with_attributes_and_regions(block, name):
    args, more = forms()[name](*block.arguments[:3])
    same(getattr(mlir.bindings().hlo, name)(*args, **more), getattr(theirs("stablehlo"), name)(*args, **more))


def test_what_has_no_form_goes_to_the_builders_of_jaxlib(block):
    hlo, x = mlir.bindings().hlo, block.arguments[0]
    assert hlo.cholesky is theirs("stablehlo").cholesky
    place = mlir.location("here")
    assert "here" in str(hlo.add(x, x, loc=place).owner.location)  # an argument that the form does not have
    same(hlo.transpose(x, [1, 0]), theirs("stablehlo").transpose(x, [1, 0]))  # a row of Python's numbers
    whole = theirs("stablehlo").AddOp(x, x)
    same(hlo.negate(whole), theirs("stablehlo").negate(whole))  # an operation for its result


def test_wrong_operands_are_refused(block):
    hlo, x = mlir.bindings().hlo, block.arguments[0]
    with pytest.raises(mlir.bindings().ir.MLIRError, match="dimension"):
        hlo.add(x, hlo.transpose(x, ints(1, 0)))


RUN = """
import sys
import numpy as np
import jitscope as jx, jitscope.numpy as jnp

def loss(w, x):
    h = jx.nn.softmax(jnp.tanh(x @ w) + x[jnp.array([0, 1]), :1].sum())
    h = jx.lax.fori_loop(0, 3, lambda i, h: h * 1.5, h.at[0].set(1.0))
    return jx.lax.cond(h[0, 0] > 0, jnp.sum, jnp.max, h[:, ::2])

x = np.ones((4, 4), np.float32)
jx.jit(jx.value_and_grad(loss))(x, x)
print([name for name in ("stablehlo", "chlo", "func", "sdy") if f"jaxlib.mlir.dialects.{name}" in sys.modules])
{after}
"""


def printed(after=""):
    ran = subprocess.run(
        [sys.executable, "-c", RUN.replace("{after}", after)], capture_output=True, text=True, check=True
    )
    return ran.stdout.splitlines()


def test_a_program_needs_none_of_the_generated_modules(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    assert printed() == ["[]"]


def test_a_module_that_users_get_has_the_classes_of_its_operations(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    after = (
        "module = jx.jit(jnp.sin).lower(x).compiler_ir()\n"
        "main = module.body.operations[0]\n"
        "print(type(main).__name__, type(main.regions[0].blocks[0].operations[0]).__name__, main.name.value)"
    )
    assert printed(after)[1] == "FuncOp SineOp main"


@pytest.mark.parametrize("registered", [True, False])
def test_rules_of_users_get_the_builders_of_jaxlib(registered):
    def rule(ctx, x):
        whole = ctx.hlo.ReduceOp([kind()], [x], [ctx.scalar(0, np.float32)], ctx.ints([0, 1]))
        added = whole.body.blocks.append(kind(), kind())  # a name that jaxlib's class has
        with ctx.ir.InsertionPoint(added):
            ctx.hlo.return_([ctx.hlo.add(*added.arguments)])
        return whole.result

    class Total(Primitive):
        def abstract(self, x, /):
            return pure(ShapedArray((), x.dtype))

        if not registered:

            def lower(self, ctx, x, /):
                return rule(ctx, x)

    total_p = Total("total")
    if registered:
        register_lowering(total_p, rule)
    assert jx.jit(total_p)(np.arange(6, dtype=np.float32).reshape(2, 3)) == 15


def test_an_operation_of_a_users_changes_nothing_of_what_comes_after():
    mine_p = Elementwise("mine", hlo="add")
    x = np.ones((512, 300), np.float32)
    one, other = (jx.jit(lambda x, p=p: jnp.cumsum(p(x, x), axis=0)).lower(x).as_text() for p in (mine_p, add_p))
    assert one == other


def test_rules_may_write_in_other_dialects(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    after = (
        "from jaxlib.mlir.dialects import arith\n"
        "from jitscope.extend import lowering_rules\n"
        "def rule(ctx, x):\n"
        "    arith.constant(ctx.ir.IntegerType.get_signless(32), 1)\n"
        "    return ctx.hlo.sine(x)\n"
        "lowering_rules.register_lowering(jnp.cos, rule)\n"
        "print('arith.constant' in jx.jit(jnp.cos).lower(x).as_text())"
    )
    assert printed(after)[1] == "True"
