"""`--target`, `jitscope targets` and `.on` where no compiler for other chips is installed, and the view of one that was asked."""

from __future__ import annotations

from typing import Any

import pytest

import jitscope
import jitscope.numpy as jnp
import jitscope_widgets
from jitscope.core.errors import Unavailable
from jitscope_kernel import cli
from jitscope_scope.targets import asking
from tests.widgets.target_documents import target


NONE = "XLA's compiler for GPUs is not installed here.\npip install --no-deps jax-cuda12-pjrt==0"


@pytest.fixture
def nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "plugin_for", lambda platform: NONE)


@pytest.mark.usefixtures("nothing")
def test_what_to_install_is_said_below_a_cell(shell: Any) -> None:
    ran = shell.cell("%%jit --target cpu,h100\ndef f(x):\n    return jnp.tanh(x) @ x\nf(jnp.ones((3, 3)))")
    assert "f cannot be shown for h100: XLA's compiler for GPUs is not installed here." in ran.stderr
    assert "pip install --no-deps jax-cuda12-pjrt" in ran.stderr


@pytest.mark.usefixtures("nothing")
def test_an_object_is_asked_for_in_vain() -> None:
    seen = jitscope.inspect(jnp.tanh)(jnp.ones(3))
    with pytest.raises(Unavailable, match="not installed here"):
        seen.on("h100")
    with pytest.raises(ValueError, match=r"there is no target 'h10' \(do you mean h100\?\)"):
        seen.on("h10")


def test_the_list_names_every_chip(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["targets"]) == 0
    said = capsys.readouterr().out
    assert [
        name
        for name in ("a100", "h100", "h200", "b200", "l4", "rtx4090", "v4", "v5e", "v5p", "v6e")
        if f"{name} " not in said
    ] == []
    assert repr(jitscope.targets()) + "\n" == said


def test_the_view_says_that_nothing_was_run_and_why_lines_stay_apart() -> None:
    document = target()
    jitscope_widgets.validate(document)
    said = " ".join(jitscope_widgets.text(document).split())
    assert "For H100: 2 kernels, ≈ 10 µs by the roofline of the data sheet; ≈ 16.8 MB of ≈ 84.9 GB." in said
    assert "Modelled by XLA for H100; nothing was run." in said
    assert "will execute slower if fused (≈ 144 µs fused, ≈ 31.5 µs apart)" in said
    assert "32 + 8 B of stack" in said
    document["boundaries"][0]["decision"] = None
    assert "XLA says nothing" in jitscope_widgets.text(document)
    document["memory"]["fits"] = False
    assert "It does not fit: ≈ 16.8 MB of ≈ 84.9 GB." in " ".join(jitscope_widgets.text(document).split())
