"""A recompilation because an array lies otherwise says so, where, and what spares it."""

from __future__ import annotations

import json

from jitscope_widgets import validate
from tests.compiler.programs import in_new_process
from tests.many_devices.recompiling_program import PROGRAM


def test_another_layout_is_told_with_its_line_and_a_fix() -> None:
    said = in_new_process(
        "from tests.many_devices import recompiling_program as p; p.main()", JITSCOPE_NUM_CPU_DEVICES="8"
    )
    document = json.loads(said)
    validate(document)
    one_device, card, other = sorted(document["cards"], key=lambda card: card["function"])
    assert {one["cause"] for one in document["cards"]} == {"sharding"}
    assert [row["cells"] for row in one_device["matrix"]["rows"] if row["path"] == "y"] == [
        ["f32[8,4] P('data')", "f32[8,4]"]
    ]
    line = next(at for at, text in enumerate(PROGRAM.splitlines(), 1) if "#<-" in text)
    assert card["function"] == "scaled" and [site["position"]["line"] for site in card["sites"]] == [line]
    assert card["because"].startswith("batch['x'] changed sharding: P('data') of Mesh(")
    assert "→ P(None, 'model') of Mesh(" in card["because"]
    assert card["matrix"]["rows"] == [
        {"path": "batch['x']", "cells": ["f32[8,4] P('data')", "f32[8,4] P(None, 'model')"], "changed": [False, True]}
    ]
    assert "jx.device_put(batch['x'], NamedSharding(mesh, P('data')))" in card["fix"]["text"]
    assert "2 compilations would become 1" in card["fix"]["text"] and not card["fix"]["checked"]
    assert (
        other["because"].startswith("x changed sharding: one device → P('data') of Mesh(")
        and " w " not in other["because"]
    )
    assert "jx.device_put(x, NamedSharding(mesh, P('data')))" in other["fix"]["text"]
    assert "2 compilations would become 1" in other["fix"]["text"] and not other["fix"]["checked"]
