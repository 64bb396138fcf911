"""Profiles asked for in cells: `%%jit --profile`, `%profile`, the button."""

from jitscope_widgets import validate
from jitscope_widgets.instrument_documents import with_instrument


CALL = "def double(x):\n    y = jnp.sin(x)\n    return y @ y\n\n"


def test_the_document_of_the_cell_has_the_profile(shell) -> None:
    ran = shell.cell(f"%%jit --profile\n{CALL}x = jnp.ones((200, 200))\ndouble(x);")
    validate(ran.document)
    (compilation,) = ran.document["compilations"]
    profile = compilation["instruments"]["profile"]
    shares = {kernel["name"]: kernel["share"] for kernel in profile["kernels"]}
    assert shares and shares == {kernel["name"]: kernel["share"] for kernel in compilation["fusion"]["kernels"]}
    assert profile["lines"][0]["position"]["cell"] == compilation["source"]["functions"][0]["cell"]
    assert "The slowest line is" in ran.shown[-1]["text/plain"]
    assert "The slowest line is" in ran.shown[-1]["text/html"]


def test_what_cannot_run_again_is_a_sentence(shell) -> None:
    code = "def told(x):\n    jx.debug.callback(lambda y: None, x)\n    return x + 1\n"
    ran = shell.cell(f"%%jit --profile\nimport jitscope as jx\n{code}told(jnp.ones(3));")
    assert "profile of told cannot be shown" in ran.stderr and "not run again" in ran.stderr and not ran.error


def test_the_magic_shows_a_profile(shell) -> None:
    shell.cell("x = jnp.ones((100, 100))")
    ran = shell.cell("%profile (lambda x: x @ x)(x)")
    assert (ran.document["kind"], ran.document["on"]) == ("profile", "the arguments of the call")
    assert ran.document["title"] == "<lambda> (line 1)"


def test_inspect_keeps_the_profile_it_took(shell) -> None:
    shell.cell(
        f"from jitscope import inspect\n{CALL}seen = inspect(double)(jnp.ones((50, 50)))\nfirst = seen.profile.document"
    )
    seen = shell.ip.user_ns["seen"]
    assert seen.profile.document is shell.ip.user_ns["first"]
    assert all(kernel["share"] is not None for kernel in seen.kernels)


def test_what_is_attached_leaves_the_older_document_as_it_was(shell) -> None:
    shell.cell(f"from jitscope import inspect\n{CALL}seen = inspect(double)(jnp.ones((50, 50)))")
    seen = shell.ip.user_ns["seen"]
    before = seen.document
    newer = with_instrument(before, "profile", seen.profile.document)
    assert all(kernel["share"] is None for kernel in before["fusion"]["kernels"])
    assert all(kernel["share"] is not None for kernel in newer["fusion"]["kernels"])


def test_a_cell_is_compared_with_what_was_before_it(shell) -> None:
    shell.cell(f"%%jit\n{CALL}x = jnp.ones((50, 50))\ndouble(x);")
    ran = shell.cell("%%jit --vs double\ndef double(x):\n    return jnp.cos(x) @ x\n\ndouble(x);")
    (comparison,) = [document for document in ran.documents if document["kind"] == "comparison"]
    validate(comparison)
    assert comparison["a"]["title"] == "double (before)" and comparison["b"]["title"] == "double"
    assert not comparison["results"]["equal"]
    ran = shell.cell("%%jit --vs nothing\ndef other(x):\n    return x + 1\n\nother(x);")
    assert "no program of nothing from before this cell" in ran.stderr and not ran.error
    shell.cell("import jitscope as jx\ndef third(x):\n    return (x**3).sum()\n\njx.jit(jx.grad(third))(x);")
    ran = shell.cell("%%jit --vs third\ndef cube(x):\n    return (x * x * x).sum()\n\ncube(x);")
    assert "that third had before it, with the same transformations" in ran.stderr  # its gradient is another function


def test_no_instrument_answers_with_a_traceback(shell) -> None:
    shell.cell(
        "import jitscope as jx\ndef told(x):\n    jx.debug.callback(lambda y: None, x)\n    return x + 1\nx = jnp.ones(3)"
    )
    for magic in ("%values", "%profile"):
        ran = shell.cell(f"{magic} told(x)")
        assert "not run again" in ran.stderr and "Traceback" not in ran.stderr + str(ran.error), magic
