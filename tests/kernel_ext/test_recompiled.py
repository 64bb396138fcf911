"""What cells are told of functions that are compiled again, or should be."""

import sys

import pytest


RAGGED = "rows = [np.ones((n, 2), np.float32) for n in (3, 5, 9, 11)]\nfor x in rows:\n    total(x)"
PADDED = {
    "to one size": "for x in rows:\n    total(np.pad(x, ((0, 16 - len(x)), (0, 0))))",
    "to the sizes that were advised": "for x in rows:\n    n = 1 << (len(x) - 1).bit_length()\n    total(np.pad(x, ((0, n - len(x)), (0, 0))))",
    "to a size of one's own": "for x in rows:\n    total(np.pad(x, ((0, 20 - len(x)), (0, 0))))",
}


@pytest.mark.parametrize("how", PADDED)
def test_what_another_cell_padded_as_advised_is_not_advised_again(shell, how: str) -> None:
    shell.cell(
        "import jitscope as jx, jitscope.numpy as jnp, numpy as np\n@jx.jit\ndef total(x):\n    return jnp.tanh(x).sum()"
    )
    (card,) = shell.cell(RAGGED).document["cards"]
    assert "Pad axis 0 of x" in card["fix"]["text"]
    assert shell.cell(PADDED[how]).shown == []
    found = shell.cell("%sharpbits").documents
    assert [one["position"]["line"] for document in found for one in document["items"]] == [3]  # the first cell's
    (card,) = shell.cell("%recompiles").document["cards"]
    assert card["compilations"] == (4 if "one" in how else 6)
    assert " What In [4] gives has such sizes already. " in card["fix"]["text"]
    (card,) = shell.cell("for n in (23, 29, 31):\n    total(np.ones((n, 2), np.float32))").document["cards"]
    assert card["compilations"] == 3


def test_a_helper_of_a_module_that_was_loaded_again_is_told_with_its_file(shell, tmp_path, monkeypatch) -> None:
    text = "import jitscope as jx\ndef helper(x):\n    return x * {}\ndef loss(x):\n    return helper(x).sum()\n"
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    (tmp_path / "a_model.py").write_text(text.format(2))
    shell.cell("import a_model, importlib\nfast = jx.jit(a_model.loss)\nfast(jnp.ones(3))")
    (tmp_path / "a_model.py").write_text("# more\n" + text.format(31))
    shell.cell("old = a_model.loss\nimportlib.reload(a_model)")
    ran = shell.cell("fast(jnp.ones(3))")
    told = "loss keeps the helper that it was traced with; helper was defined again in line 3 of a_model.py. "
    assert told + "Call fast.clear_cache(): loss is traced anew then." in ran.stderr
    assert float(shell.cell("fast.clear_cache()\nfast(jnp.ones(3))").result) == 93
