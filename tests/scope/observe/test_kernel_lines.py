"""Which equations kernels stem from, on programs of many kinds of operations in dtypes with and without arithmetic of their own, against
the names in XLA's own text, which is read here by other means."""

from __future__ import annotations

import re
from functools import cache

import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax
from jitscope.xla.cpu_tuning import RUNNING_BY_ELEMENTS, RUNNING_BY_ROWS
from jitscope_scope.observe.documents import compilation_document
from jitscope_scope.observe.ledger import ledger
from tests.extent import JAXLIB, full
from tests.scope.kernel_programs import DTYPES, KINDS
from tests.scope.xla_text import PLUMBING, Program


_ALWAYS = (
    "matmul.bfloat16 cumsum.bfloat16 cumsum_of_the_last_axis.float8_e4m3fn cumprod.bfloat16 cummax.bfloat16 layernorm.bfloat16 "
    "vmapped.bfloat16 selu_and_sort.float32 window.float16 convolution.int8 softmax.float32 scan.bfloat16 sort.bfloat16"
).split()


@cache
def compiled(name, loops=True):
    """The kernels of the program's document, and XLA's text; with running sums as XLA's windows unless as `loops`."""
    kind, dtype = name.split(".")
    RUNNING_BY_ROWS.off = RUNNING_BY_ELEMENTS.off = not loops
    try:
        return _compiled(kind, dtype)
    finally:
        RUNNING_BY_ROWS.off = RUNNING_BY_ELEMENTS.off = False


def _compiled(kind, dtype):
    jx.clear_caches()
    jx.jit(KINDS[kind].function)(*KINDS[kind].arguments(dtype))
    *_, row = ledger()
    return compilation_document(row), row.entry.executable.hlo_modules()[0].to_string()


def equations_in(program, line):
    """The last part of the name of each equation that an instruction names, and the instructions of all that it calls."""
    own = re.search(r'op_name="([^"]*)"', line.rest)
    found = set(re.findall(r"\be\d+(?=$|[;:).])", own[1])) if own else set()
    for called in line.called("to_apply", "calls"):
        for inner in program.computations[called].values():
            if inner.opcode not in PLUMBING:
                found |= equations_in(program, inner)
    return found


def each_kind():
    names = [f"{name}.{dtype}" for name, kind in KINDS.items() for dtype in DTYPES if dtype in kind.dtypes]
    return [pytest.param(name, marks=() if name in _ALWAYS else full) for name in names]


@pytest.mark.parametrize("name", each_kind())
def test_a_kernel_has_every_equation_that_xla_names_in_it(name):
    document, text = compiled(name)
    program = Program(text)
    lines = {line.name: line for line in program.lines()}
    paths = {path.split("/")[-1] for node in document["graph"]["nodes"] for path in node["paths"]}
    for kernel in document["fusion"]["kernels"]:
        if kernel["kind"] != "loop" and kernel["name"] in lines:
            named = equations_in(program, lines[kernel["name"]]) & paths
            shown = {part for path in kernel["paths"] for part in path.split("/")}
            assert named <= shown, (kernel["name"], named - shown)


@pytest.mark.parametrize("name", each_kind())
def test_every_kernel_has_an_origin(name):
    document, _ = compiled(name)
    assert document["fusion"]["summary"]["unknown"]["kernels"] == 0


def lines_of(name, is_meant, loops=True):
    """The source of the equations that the kernels meant stem from."""
    document, _ = compiled(name, loops)
    kernels = [kernel for kernel in document["fusion"]["kernels"] if is_meant(kernel)]
    assert kernels
    return [{position["text"].strip() for position in kernel["positions"]} for kernel in kernels]


def test_rounding_is_of_the_line_whose_value_is_rounded():
    """XLA of jaxlib 0.10 computes the product in f32, and the next kernel rounds it before anything else."""
    in_f32 = re.search(r"= f32\S* dot\(", compiled("selu_and_sort.bfloat16", False)[1])
    product = "z = x.astype(jnp.bfloat16) @ w.astype(jnp.bfloat16)"
    is_meant = lambda kernel: any(m["opcode"] == "exponential" for m in kernel["members"])
    found = lines_of("selu_and_sort.bfloat16", is_meant, False)
    later = {"y = jnp.where(z > 0, z, 1.67 * (jnp.exp(z) - 1))", "y = y * 1.05"}
    assert found == [{product, *later} if in_f32 else later]


def test_the_last_step_of_a_running_sum_is_of_its_line():
    is_meant = lambda kernel: any(m["opcode"] == "map" for m in kernel["members"])
    for lines in lines_of("cumprod.bfloat16", is_meant, False):
        assert lines == {"y = jnp.cumprod(x, 0)", "return jnp.where(y > 1, y, 0)"}


def test_a_value_that_two_equations_compute_alike_is_of_the_line_that_reads_it():
    """`x - mean` is written twice and computed once; what the first one's line reads of it is converted for that line."""
    (found,) = lines_of("layernorm.bfloat16", lambda kernel: kernel["name"] == "wrapped_convert.1")
    assert found == {"variance = ((x - mean) ** 2).mean(-1, keepdims=True)"}


def test_a_value_that_a_loop_s_body_widens_is_of_the_lines_that_read_it():
    """As outside of the loop: that all of them are in it says nothing of what is in it, too."""

    def bent(x, w):
        y = x @ w
        z = y * jnp.tanh(y) + y
        return z @ w.T

    looped = lambda x, w: lax.fori_loop(0, 3, lambda _, x: bent(x, w), x)
    found = []
    for function in (bent, looped):
        jx.jit(function)(jnp.ones((2, 64), jnp.bfloat16), jnp.ones((64, 128), jnp.bfloat16))
        *_, row = ledger()
        kernels = compilation_document(row)["fusion"]["kernels"]
        (own,) = [k for k in kernels if any(m["opcode"] == "tanh" for m in k["members"])]
        found.append({position["text"].strip() for position in own["positions"]})
    rounded = JAXLIB.startswith("0.10.")  # which rounds one product and widens for the other in this kernel
    within = {"y = x @ w", "return z @ w.T"} if rounded else set()
    assert found[0] == found[1] == {"z = y * jnp.tanh(y) + y"} | within


def test_a_transposition_in_a_wider_dtype_is_known():
    document, _ = compiled("vmapped.bfloat16")
    moved = [m for k in document["fusion"]["kernels"] for m in k["members"] if m["opcode"] == "transpose"]
    transposed = [n["paths"][0] for n in document["graph"]["nodes"] if n["label"] == "transpose"]
    assert moved and all(m["paths"] == transposed for m in moved)


def test_a_sort_by_digits_is_one_kernel_of_its_line():
    import numpy as np

    import jitscope.numpy as jnp
    from jitscope.xla.cpu_tuning import RADIX_SORT

    def sorts(x):
        y = jnp.sin(x)
        return jx.jit(lambda y: jnp.sort(y) * 2)(y)

    seen = jx.inspect(jx.jit(sorts))(np.ones(RADIX_SORT.value["elements"], np.float32))
    found = [kernel for kernel in seen.kernels if kernel["opcode"] == "call"]
    assert len(found) == RADIX_SORT.holds()
    for kernel in found:
        assert kernel["kind"] == "fusion" and len(kernel["members"]) > 50 and "loops included" in kernel["note"]
        assert kernel["paths"] == ["e1/e0"] and [p["text"].strip()[:6] for p in kernel["positions"]] == ["return"]
        assert {path for member in kernel["members"] for path in member["paths"]} == {"e1/e0"}
    assert RADIX_SORT.holds() or any(kernel["opcode"] == "sort" for kernel in seen.kernels)


def test_a_copy_is_of_what_reads_it():
    """What a loop starts with is copied, as the loop would overwrite it; two loops that start at 0 share the copy."""
    import jitscope.numpy as jnp
    from jitscope import lax

    def waves(w, xs):
        def step(h, x):
            h = jnp.sin(w @ h + x)
            return h, (h, jnp.cos(h))

        return lax.scan(step, jnp.zeros(8), xs)[1]

    def slope(w, xs):
        return jx.grad(lambda w: sum(jnp.sum(one**2) for one in waves(w, xs)))(w)

    fusion = jx.inspect(jx.jit(slope))(jnp.ones((8, 8)), jnp.ones((5, 8))).document["fusion"]
    copies = [kernel for kernel in fusion["kernels"] if kernel["kind"] == "copy"]
    loops = {kernel["paths"][0] for kernel in fusion["kernels"] if kernel["kind"] == "loop"}
    assert len(copies) > 3 and len(loops) == 2
    for kernel in copies:
        assert kernel["paths"] and {path.split("/")[0] for path in kernel["paths"]} <= loops, kernel


def test_a_copy_for_the_next_iteration_is_of_the_loop():
    import jitscope.numpy as jnp
    from jitscope import lax

    def turned(x, y):
        return lax.while_loop(lambda at: at[0].sum() < 9, lambda at: (at[1], at[2] + at[0], at[0]), (x, y, x * 2))

    fusion = jx.inspect(jx.jit(turned))(jnp.ones(8), jnp.ones(8)).document["fusion"]
    (loop,) = [kernel for kernel in fusion["kernels"] if kernel["kind"] == "loop"]
    copies = [kernel for kernel in fusion["kernels"] if kernel["kind"] == "copy"]
    assert any("iteration" not in kernel["note"] for kernel in copies)  # before the loop
    for kernel in copies:
        assert kernel["paths"] and any(path.startswith(loop["paths"][0]) for path in kernel["paths"]), kernel
