"""What cells are told of functions that are compiled again, or should be."""

import sys

import pytest

from tests.scope.stale_values import CHANGES


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


@pytest.mark.parametrize("again", [True, False])
def test_lines_of_a_module_are_those_that_run(shell, tmp_path, monkeypatch, again: bool) -> None:
    """Of the edited file once the module was loaded again, before that those that the program was made of."""
    text = (
        "import jitscope as jx\nclass Loss:\n    def __call__(self, x):\n        return x * {}\nloss = jx.jit(Loss())\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.delitem(sys.modules, "a_loss", raising=False)
    (tmp_path / "a_loss.py").write_text(text.format(2))
    shell.cell("import a_loss, importlib\na_loss.loss(jnp.ones(3))")
    shell.cell("%%jit\na_loss.loss(jnp.ones(4))")
    (tmp_path / "a_loss.py").write_text("# one line more\n" + text.format(31))
    shell.cell("importlib.reload(a_loss)" if again else "")
    (program,) = shell.cell("%%jit\na_loss.loss(jnp.ones(5))").document["compilations"]
    lines = [one["text"].strip() for node in program["graph"]["nodes"] for one in node["positions"]]
    assert set(lines) == {"return x * 31" if again else "return x * 2"}


def test_a_number_that_is_another_one_now_is_told_below_the_cell_that_calls_what_keeps_it(shell) -> None:
    shell.cell("%%jit --quiet\nSCALE = 2.0\ndef scaled(x):\n    return x * SCALE\nscaled(jnp.ones(3));")
    assert shell.cell("SCALE = 7.0").stderr == ""
    ran = shell.cell("y = scaled(jnp.ones(3))")
    told = "scaled keeps SCALE = 2.0, with which it was traced; SCALE is 7.0 now. Pass `SCALE` as an argument of scaled: it reads it at each call then.\n"
    assert (ran.stderr, float(shell.ip.user_ns["y"][0])) == (told, 2.0)
    assert shell.cell("scaled(jnp.ones(3));").stderr == "", "it is told once"
    shell.ip.user_ns["SCALE"] = 2.0
    assert shell.cell("scaled(jnp.ones(3));").stderr == ""


@pytest.mark.parametrize(
    ("cell", "told"),
    [
        ("SHIFT = 3.0\nshifted(jnp.ones(3));", True),
        ("%%jit\nSHIFT = 3.0\nfor _ in range(2):\n    shifted(jnp.ones(3))", True),
        ("shifted(jnp.ones(3))\nSHIFT = 3.0", False),
        ("SHIFT = 3.0\nshifted(jnp.ones(5));", False),
        ("def other():\n    SHIFT = 3.0\n    return SHIFT\nother()\nshifted(jnp.ones(3));", False),
    ],
    ids=["before a call", "before a loop of calls", "after it", "traced anew", "a name of another function's own"],
)
def test_a_number_that_the_cell_itself_gives_before_a_call_is_told(shell, cell: str, told: bool) -> None:
    shell.cell("SHIFT = 2.0\n@jx.jit\ndef shifted(x):\n    return x + SHIFT\nshifted(jnp.ones(3));")
    said = "shifted keeps SHIFT = 2.0, with which it was traced; SHIFT is 3.0 now." if told else ""
    assert not (ran := shell.cell(cell)).error and ran.stderr.startswith(said) and bool(ran.stderr) is told, ran


@pytest.mark.parametrize("name", CHANGES)
def test_a_value_that_changed_is_told_below_the_cell_that_calls_what_keeps_it(shell, name: str) -> None:
    program, change, said = CHANGES[name]
    shell.cell("jax = jx\nimport functools\nx = jnp.ones(3)")
    for text in (program, change):
        ran = shell.cell(text)
        assert (ran.error, ran.stderr) == ("", ""), ran
    assert bool(said) is (told := shell.cell("f(x)").stderr).startswith(said or "nothing"), told
    assert told.count("\n") == bool(said)
    if said:
        assert shell.cell("f(x)").stderr == "", "it is told once"


def test_a_static_object_that_changed_is_told_below_a_cell_that_calls_its_method(shell) -> None:
    shell.cell(
        "import functools\nclass Net:\n    k = 2.0\n    @functools.partial(jx.jit, static_argnums=0)\n"
        "    def act(self, x): return x * self.k\nnet, other = Net(), Net()\nnet.act(jnp.ones(3))"
    )
    assert shell.cell("net.k = 5.0").stderr == ""
    ran = shell.cell("y = float(net.act(jnp.ones(3))[0])")
    assert ran.stderr.startswith("act keeps self.k = 2.0, ") and shell.names["y"] == 2.0
    assert shell.cell("y = float(other.act(jnp.ones(3))[0])").stderr == "", "another object has a program of its own"


NET = "class Net:\n    def __init__(self, w): self.w = w\n    def __call__(self, x): return x * self.w\n"
NET += "net = Net(2.0)\n@jx.jit\ndef loss(x): return net(x).sum()\n"


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("a = loss(x)\nnet.w = 5.0\nb = loss(x)", "loss keeps self.w = 2.0"),
        ("a = loss(x)\nif True:\n    net.w = 5.0\nfor _ in range(2):\n    b = loss(x)", "loss keeps self.w = 2.0"),
        ("net.w = 5.0\nb = loss(x)", ""),
        ("a = loss(x)\nnet.w = 5.0", ""),
        ("a = loss(x)\nnet.w = 5.0\nloss.clear_cache()\nb = loss(x)", ""),
    ],
    ids=["changed", "under an if", "before the first call", "after the last", "dropped"],
)
def test_an_attribute_that_the_cell_itself_changes_between_calls_is_told(shell, cell: str, said: str) -> None:
    ran = shell.cell(f"x = jnp.ones(3)\n{NET}{cell}")
    assert not ran.error and ran.stderr.startswith(said) and bool(ran.stderr) is bool(said), ran


LOOPS = {
    "a name": ("LR = 0.5\n@jx.jit\ndef f(x): return x * LR", "for LR in (0.2, 0.3):\n    y = f(x)", "f keeps LR = 0.2"),
    "an element": (
        "hp = {'lr': 0.5}\n@jx.jit\ndef f(x): return x * hp['lr']",
        "for k in range(3):\n    hp['lr'] *= 0.5\n    y = f(x)",
        "f keeps hp['lr'] = 0.25",
    ),
    "after the call": (
        "LR = 0.5\n@jx.jit\ndef f(x): return x * LR",
        "for k in range(1):\n    y = f(x)\n    LR = 0.1",
        "",
    ),
    "which is left": (
        "LR = 0.5\n@jx.jit\ndef f(x): return x * LR",
        "for LR in (0.2, 0.3):\n    if LR > 0.2: break\n    y = f(x)",
        "",
    ),
    "in the cell that defines it, at its line": (
        "pass",
        "LR = 0.5\n@jx.jit\ndef f(x): return x * LR\nfor LR in (0.2, 0.3):\n    y = f(x)",
        "",
    ),
    "of another function": ("LR = 0.5\n@jx.jit\ndef f(x): return x * LR\ng = lambda x: x", "y = f(x)\nfor LR in (0.2, 0.3):\n    y = g(x)", ""),
}  # fmt: skip


@pytest.mark.parametrize("name", LOOPS)
def test_a_value_that_a_loop_gives_is_told_below_its_cell(shell, name: str) -> None:
    program, loop, said = LOOPS[name]
    assert not shell.cell(f"x = jnp.ones(3)\n{program}").error
    told = shell.cell(loop).stderr
    assert told.startswith(said) and bool(told) is bool(said), told


def test_what_autoreload_changed_in_place_is_told(shell, tmp_path, monkeypatch) -> None:
    text = "import jitscope as jx\nRATE = {0}\nclass Net:\n    def act(self, x):\n        return x * {0}\n    def __call__(self, x):\n        return self.act(x)\n"
    text += "def loss(x):\n    return x * {0}\n"
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    file = tmp_path / "a_net.py"
    file.write_text(text.format(2.0))
    shell.cell("%load_ext autoreload\n%autoreload 2\nimport a_net\nnet = a_net.Net()")
    shell.cell("called, lost = jx.jit(lambda x: net(x)), jx.jit(a_net.loss)\ncalled(jnp.ones(3)), lost(jnp.ones(3))")
    assert shell.cell("called(jnp.ones(3)), lost(jnp.ones(3))").stderr == ""
    file.write_text("# more\n" + text.format(31.0))
    ran = shell.cell("called(jnp.ones(3)), lost(jnp.ones(3))")
    first, second = ran.stderr.splitlines()
    assert first.startswith("<lambda> keeps the self.act that it was traced with; self.act was defined again in ")
    assert second.startswith("loss keeps the code that it was traced with; loss was defined again in ")
    assert second.endswith("Call lost.clear_cache(): loss is traced anew then."), second
    after = shell.cell(
        "called.clear_cache(), lost.clear_cache()\nfloat(called(jnp.ones(3))[0]), float(lost(jnp.ones(3))[0])"
    )
    assert (after.result, after.stderr) == ((31, 31), "")


@pytest.mark.parametrize("magic", ["%%time", "%%jit", "%%time\n%%jit", "%%prun -q"])
def test_a_magic_round_a_cell_leads_to_no_call(shell, magic: str) -> None:
    shell.cell("@jx.jit\ndef total(x):\n    return jnp.tanh(x).sum()\ntotal(jnp.ones(2));")
    shell.cell(f"{magic}\nfor n in (3, 5, 9):\n    total(jnp.ones(n))")
    (card,) = shell.cell("%recompiles total").document["cards"]
    assert [site["led"] for site in card["sites"]] == [[]]


def test_a_line_of_a_cell_under_a_magic_leads_to_a_helper_s_call(shell) -> None:
    shell.cell(
        "@jx.jit\ndef total(x):\n    return jnp.tanh(x).sum()\ndef run(n):\n    return total(jnp.ones(n))\nrun(2)"
    )
    shell.cell("%%time\nfor n in (3, 5, 9):\n    run(n)")
    (card,) = shell.cell("%recompiles total").document["cards"]
    assert [at["line"] for site in card["sites"] for at in site["led"]] == [3]
