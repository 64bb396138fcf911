"""`%sharpbits`: what the cells of a session step on."""

from __future__ import annotations

from jitscope_kernel import session


IMPORTS = "import jitscope as jax\nimport jitscope.numpy as jnp"


def found(shell) -> list[tuple[str, str, int]]:
    items = session.of(shell.ip).sharp_bits.document()["items"]
    return [(item["id"], item["position"]["cell"], item["position"]["line"]) for item in items]


def test_cells_are_looked_at_with_the_names_of_those_before(shell):
    shell.cell(IMPORTS)
    shell.cell("%%jit\ndef f(x):\n    return x if x > 0 else -x")
    shell.cell("x = jnp.zeros(3)\nx.at[0].set(1.0)\ny = x")
    assert [(id, line) for id, _, line in found(shell)] == [("branch-on-tracer", 3), ("update-result-dropped", 2)]
    (shown,) = shell.cell("%sharpbits").shown
    assert "In [3], line 3" in shown["text/plain"]


def test_an_error_is_told_once_and_gone_with_its_cell(shell):
    shell.cell(IMPORTS)
    shell.cell("f = jax.jit(lambda x: x if x > 0 else -x)\nf(1.0)")
    assert [id for id, _, _ in found(shell)] == ["branch-on-tracer"]


def test_values_are_looked_at_when_asked(shell):
    shell.cell(IMPORTS)
    shell.cell("n = jnp.array(100_000)\nm = n * n")
    assert found(shell) == []
    shell.cell("%sharpbits on")
    shell.cell("m = n * n")
    assert [id for id, _, _ in found(shell)] == ["int-overflow"]
    shell.cell("%sharpbits off")
    assert [id for id, _, _ in found(shell)] == ["int-overflow"]


def test_recompilations_and_silence(shell):
    shell.cell(IMPORTS)
    shell.cell("f = jax.jit(lambda x: x * 2)\nfor n in (2, 3):\n    f(jnp.ones(n))")
    assert [(id, line) for id, _, line in found(shell)] == [("recompile-shape", 3)]
    shell.cell("g = jax.jit(lambda x: x if x > 0 else -x)  # jitscope: ok branch-on-tracer")
    assert len(found(shell)) == 1


def test_the_cell_that_loads_the_extension_counts(bare_shell):
    bare_shell.cell("import jitscope as jx")
    bare_shell.cell("%load_ext jitscope\nimport numpy as np")
    bare_shell.cell("@jx.jit\ndef f(x):\n    return x + np.random.normal()")
    assert [(id, line) for id, _, line in found(bare_shell)] == [("host-nondeterminism", 3)]
