"""The look goes past cells that have nothing to do with arrays, and finds in the others what it finds in all."""

from pathlib import Path

import pytest

from jitscope_scope.advise import look
from jitscope_scope.advise.code.sharing import with_arrays
from jitscope_scope.advise.program import of_cells
from tests.scope.advise.programs import programs


EXAMPLES = Path(__file__).parents[3] / "examples"
PLAIN = """\
import csv
rows_of_plain = [dict(a=1.0, b=2.0) for _ in range(10)]
class AccountOfPlain:
    def __init__(self, rows):
        self.rows = rows
    def total(self):
        return sum(row["a"] for row in self.rows)
AccountOfPlain(rows_of_plain).total()"""


@pytest.mark.parametrize(
    ("cells", "needed"),
    [
        (["import pandas as pd", "x = pd.read()", "print(x)"], []),
        (["import jax.numpy as jnp", "x = 1", "jnp.ones(3)"], [0, 2]),
        (["from jax.numpy import *", "x = 1", "ones(3)"], [0, 1, 2]),
        (["import jax", "def helper(x):\n    return x", "y = 2", "f = jax.jit(helper)"], [0, 1, 3]),
        (["import jax", "y = jax.f()", "z = y", "print(z)", "def g(y):\n    return y"], [0, 1, 2, 3]),
        (["import numpy as np", "import jax", "np.ones(2)", "y = jax.f(np.ones(1))"], [0, 1, 3]),
        (["import numpy as np", "import jax.numpy as np", "np.ones(2)"], [0, 1, 2]),
        (["def f(x):\n    return x", "%%jit\ndef f(x):\n    return x", "z = 1", "f(1.0)"], [0, 1, 3]),
        (["import equinox as eqx", "class A(eqx.Module):\n    n: int", "a = A(3)", "b = 4"], [0, 1, 2]),
        (["this is no Python", "import jax", "cfg = {}", "@jax.jit\ndef f(x):\n    return cfg", "cfg['a'] = 2"], [1, 2, 3, 4]),
    ],
)  # fmt: skip
def test_which_cells_are_needed(cells: list[str], needed: list[int]) -> None:
    assert [at for at, needs in enumerate(with_arrays(cells)) if needs] == needed


@pytest.mark.parametrize("program", [one for one in programs() if one.cells], ids=lambda p: p.name)
def test_nothing_is_lost(program) -> None:
    every = [one for cell in program.cells for one in (cell, PLAIN)]
    whole = found(every, range(len(every)))
    needed = [at for at, needs in enumerate(with_arrays(every)) if needs]
    assert found(every, needed) == whole
    assert not {at for at in needed if at % 2}


def found(cells: list[str], which) -> list[tuple[str, int, int | None]]:
    which = list(which)
    program = of_cells([cells[at] for at in which], "<notebook>")
    places = [(one.id, *program.place(one.span.line)) for one in look(program.text, program.file, program.cells)]
    return [(id, line, which[cell - 1]) for id, cell, line in places]
