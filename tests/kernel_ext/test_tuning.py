"""`%tune`, `%%jit --tune` and `--untune` in a shell: the card, what later runs take, and what is said."""

import os
import signal

import numpy as np
import pytest


pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(os.name != "posix", reason="the process that compiles is asked over a pipe"),
]
SETUP = "import jitscope as jx, jitscope.numpy as jnp\nx = jnp.ones((64, 64))"


def said(ran) -> str:
    return " ".join("\n".join([*ran.texts, ran.stdout, ran.stderr]).split())


def test_a_card_is_shown_and_the_call_stays_what_it_was(shell) -> None:
    shell.cell(SETUP)
    shell.cell("def f(x):\n    return (x @ x).sum()")
    ran = shell.cell("%tune --seconds 5 f(x)")
    assert ran.exception is None
    document = ran.document
    assert document["kind"] == "tuning"
    assert document["title"] == "f"
    assert document["compilations"] <= 20
    assert document["limit"]["value"] == 5
    assert {one["name"] for one in document["tried"]} >= {"XLA's library without products"}
    assert "f" in said(ran)
    np.testing.assert_array_equal(shell.cell("float(f(x))").result, 64.0 * 64 * 64)
    assert "there is nothing to forget" in said(shell.cell("%tune --untune f(x + 0)")) or document["taken"]


@pytest.mark.parametrize(
    ("line", "words"),
    (
        ("%tune --seconds soon f(x)", "--seconds takes a number from 0"),
        ("%tune --tolerance -1 f(x)", "--tolerance takes a number from 0"),
        ("%tune", "%tune needs an expression"),
        ("%tune --fast f(x)", "there is no option --fast"),
    ),
)
def test_lines_that_make_no_sense_say_so(shell, line: str, words: str) -> None:
    shell.cell(SETUP)
    shell.cell("def f(x):\n    return x")
    ran = shell.cell(line)
    assert words in str(ran.exception)


def test_help(shell) -> None:
    assert "Race other ways to compile a call" in shell.cell("%tune -h").stdout


def test_what_may_not_run_again_is_said_in_a_sentence(shell) -> None:
    shell.cell(SETUP)
    shell.cell("def prints(x):\n    jx.debug.print('{}', x)\n    return x")
    assert "it is not tuned" in str(shell.cell("%tune prints(x)").exception)


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_says_that_nothing_was_changed(shell, monkeypatch) -> None:
    from jitscope_kernel import tuning

    tell = tuning.Progress.tell

    def interrupted(self: tuning.Progress, doing: str) -> None:
        tell(self, doing)
        if doing.startswith("1 of "):  # a form is about to be compiled
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(tuning.Progress, "tell", interrupted)
    shell.cell(SETUP)
    shell.cell("def f(x):\n    return (x @ x).sum()")
    ran = shell.cell("%tune --seconds 60 f(x)")
    assert ran.exception is None
    assert "tuning was stopped; everything is as it was" in said(ran)
    assert not ran.documents
    assert "there is nothing to forget" in said(shell.cell("%tune --untune f(x)"))


def test_the_programs_of_a_cell_are_tuned(shell, monkeypatch) -> None:
    from jitscope_kernel import tuning

    monkeypatch.setattr(tuning, "SECONDS", 5.0)
    shell.cell(SETUP)
    ran = shell.cell("%%jit --tune\ndef g(x):\n    return (x @ x).sum()\ny = g(x)")
    assert ran.exception is None
    kinds = [document["kind"] for document in ran.documents]
    assert kinds == ["cell", "tuning"]
    assert ran.documents[1]["title"] == "g"
    assert float(shell.names["y"]) == 64.0**3
    again = shell.cell("%%jit --untune\ndef g(x):\n    return (x @ x).sum()\ny = g(x)")
    taken = ran.documents[1]["taken"]
    assert ("is forgotten" if taken else "there is nothing to forget") in said(again)


def test_a_later_cell_is_compiled_with_what_was_found_and_says_so(shell, monkeypatch) -> None:
    from jitscope.xla.cpu_tuning import CONVOLUTIONS_BY_ELEMENTS as RULE
    from jitscope_scope.tune import choosing

    space = choosing.space
    monkeypatch.setattr(choosing, "space", lambda *known: [one for one in space(*known) if "elements" in one.knob])
    body = (
        "    names = ('NHWC', 'HWIO', 'NHWC')\n"
        "    return lax.conv_general_dilated(x, w, (1, 1), 'SAME', dimension_numbers=names, feature_group_count=32)\n"
    )
    RULE.off = True  # tuning finds it
    try:
        shell.cell(f"{SETUP}\nfrom jitscope import lax\nx, w = jnp.ones((4, 24, 24, 32)), jnp.ones((3, 3, 1, 32))")
        before = shell.cell(f"%%jit\ndef f(x, w):\n{body}y = f(x, w)")
        assert "tuned" not in before.document["compilations"][0]["because"]
        card = shell.cell("%tune --seconds 40 f(x, w)").document
        assert card["taken"] is not None
        assert "convolutions by elements" in card["taken"]
        after = shell.cell(f"%%jit\ndef g(x, w):\n{body}z = g(x, w)")
        (compilation,) = after.document["compilations"]
        assert f"with tuned options ({card['taken']}" in compilation["because"]
        assert "with tuned options" in " ".join("\n".join(after.texts).split())
        np.testing.assert_allclose(np.asarray(shell.names["z"]), np.asarray(shell.names["y"]), rtol=1e-5)
        assert np.asarray(shell.names["y"])[0, 0, 0, 0] == 4.0
        assert "is forgotten" in said(shell.cell("%tune --untune g(x, w)"))
        again = shell.cell(f"%%jit\ndef h(x, w):\n{body}z = h(x, w)")
        assert "tuned" not in again.document["compilations"][0]["because"]
    finally:
        RULE.off = False


def test_arguments_that_only_the_cell_keeps_are_raced_on(shell, monkeypatch) -> None:
    from jitscope_kernel import tuning

    monkeypatch.setattr(tuning, "SECONDS", 0.0)
    shell.cell(SETUP)
    ran = shell.cell("%%jit --tune\ndef g(x):\n    return (x @ x).sum()\ny = g(jnp.ones((32, 32)))")
    assert ran.documents[1]["on"] == "the arguments of the call"
    ran = shell.cell("%tune --seconds 0 g(x)")
    assert ran.document["on"] == "the arguments of the call"


def test_a_program_that_prints_is_left_alone(shell) -> None:
    shell.cell(SETUP)
    ran = shell.cell("%%jit --tune\ndef g(x):\n    jx.debug.print('{}', x.sum())\n    return x\ny = g(x)")
    assert ran.exception is None
    assert "g is not tuned: g calls Python functions or prints" in said(ran)
