"""Programs too large for a saved output: their HLO programs come from the kernel when they are looked at."""

from __future__ import annotations

import numpy as np

import jitscope as jx
from jitscope_scope import observe
from jitscope_scope.observe import documents
from jitscope_widgets import envelope, validate
from jitscope_widgets.answers import Answers
from jitscope_widgets.document_forms import lacks_programs
from jitscope_widgets.view_data import without_views
from jitscope_widgets.widget import View


def test_programs_of_a_very_large_function_are_made_when_asked_for(monkeypatch):
    f = jx.jit(lambda x: jx.numpy.sin(x) * 2 + x)
    jx.block_until_ready(f(np.ones(3, np.float32)))
    row = list(observe.ledger())[-1]
    monkeypatch.setattr(documents, "LARGE", 2)
    light, whole = observe.compilation_document(row, whole=False), observe.compilation_document(row)
    validate(light)
    assert light["headline"] == whole["headline"] and light["fusion"]["after"]["nodes"] == []
    assert [k["name"] for k in light["fusion"]["kernels"]] == [k["name"] for k in whole["fusion"]["kernels"]]
    assert lacks_programs(light) and not lacks_programs(whole)
    view = View(light, Answers(whole=lambda program: whole if program == row.id else {}))
    assert without_views(envelope._read(view._part(0))["fusion"]) == whole["fusion"]
