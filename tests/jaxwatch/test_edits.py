"""Edits that spare jax recompilations: each one that is offered is made, and the edited program runs with equal results and the
promised count."""

import itertools
import linecache
import sys
import types

import jax
import numpy as np
import pytest

from jitscope_scope.advise.recompiling import edited
from jitscope_scope.observe.recompiling.cards import FileEdit, recompilations_document
from jitscope_scope.observe.recompiling.groups import groups
from jitscope_scope.observe.recorded_calls import recorder
from jitscope_scope.source_code.edits import Edit, Span, applied
from tests.scope.edited_programs import PROGRAMS


HEADER = "import functools\nimport jax\nimport jax.numpy as jnp\nimport numpy as np\nout = []\n"
WITHOUT_EDIT = {  # what is missing, and rows: only jitscope's own programs are compared on random arguments, and read by rows
    "a smaller last batch, row by row",
    "a key that is None, in one loop", "a key that is missing", "a key that is missing in a display", "None by name, else an array",
    "None that is left out, else an array", "None that is left out, else an array by name",
}  # fmt: skip
OTHERWISE = {"a list, then a tuple", "donated in one place"}  # jax's programs are not compared for these
_numbers = itertools.count(1)


def run(text, rows):
    before = len(rows())
    file = f"<edited {next(_numbers)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    module = sys.modules["edited"] = types.ModuleType("edited")
    exec(compile(text, file, "exec"), vars(module))
    return [jax.tree_util.tree_leaves(one) for one in module.out], rows()[before:]


@pytest.fixture(autouse=True)
def recorded():
    stop = recorder.begin()
    yield
    stop()
    sys.modules.pop("edited", None)


@pytest.mark.parametrize("program", PROGRAMS)
def test_an_edit_that_is_offered_keeps_the_results_and_its_count(rows, program):
    offered, text = PROGRAMS[program]
    text = HEADER + text.replace("UNIQUE", f"{3 + next(_numbers) / 2048}")
    before, made = run(text, rows)
    found = [group for group in groups(made) if not group.quiet]
    if len(found) != 1:
        pytest.skip("jax makes another number of programs")
    edits = edited(found[0])
    if program not in OTHERWISE:
        assert isinstance(edits, FileEdit) is (offered and program not in WITHOUT_EDIT), edits
    (card,) = recompilations_document(made, "", edited)["cards"]
    assert bool(card["fix"]["checked"]) is bool(card["fix"]["edits"]) is isinstance(edits, FileEdit)
    if not isinstance(edits, FileEdit):
        return
    after, made = run(applied(text, [Edit(Span(*edit[:4]), edit[4]) for edit in edits.edits]), rows)
    assert len([row for row in made if not row.derived]) == edits.programs < len(found[0].history)
    for one, other in zip(before, after, strict=True):
        for a, b in zip(one, other, strict=True):
            assert a.dtype == b.dtype
            np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=0 if edits.exact else 1e-5)
