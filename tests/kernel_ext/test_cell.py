"""A `%%jit` cell does what the same cell does without it, with its functions compiled."""

import inspect
import json
import linecache
import pickle
import subprocess
import sys

import pytest


CALL = "def double(x):\n    return x * 2\n\n"
IS_COMPILED = "hasattr({0}, 'trace') and hasattr({0}, '__wrapped__')"

# Bodies of cells; run plainly and under %%jit they must leave the same.
BODIES = {
    "the last expression": "1 + 1",
    "a semicolon": "1 + 1;",
    "an assignment": "y = 3",
    "a definition comes last": "def f(x):\n    return x",
    "no expression": "import math",
    "an expression and a comment": "5 # five\n# more",
    "printing": "print('a')\nprint('b')\n'c'",
    "a docstring": "'''doc'''\n2",
    "only a docstring": "'''doc'''",
    "a future import": "from __future__ import annotations\ndef f(x: undefined): ...\nf.__annotations__",
    "a line magic": "%pwd\nn = %pwd\nlen(n) > 0",
    "a command": "out = !echo hello\nout",
    "a bare command": "!echo hello",
    "help": "len?",
    "await": "import asyncio\nawait asyncio.sleep(0)\nv = await asyncio.sleep(0, 4)\nv",
    "async for": "async def numbers():\n    yield 1\nn = [i async for i in numbers()]\nn",
    "history": "_",
    "the input": "len(In) > 0 and isinstance(Out, dict)",
    "display": "from IPython.display import display\ndisplay(1)\n2",
    "blank lines": "\n\n7\n\n",
    "indented": "    8\n",
    "nested cells": "r = get_ipython().run_cell('print(1)\\n2')\nr.result",
    "an error": "x = 1\n1 / 0\nx",
    "an error in a class": "class A:\n    def m(self):\n        raise KeyError('m')\nA().m()",
    "a syntax error": "x = 1\ny = = 2",
    "a late syntax error": "return 3",
    "an indentation error": "if True:\nx = 1",
    "exit": "raise SystemExit(3)",
    "an interrupt": "raise KeyboardInterrupt",
    "an exception group": "raise ExceptionGroup('many', [ValueError(1), TypeError(2)])",
}


@pytest.mark.filterwarnings("ignore:To exit")
@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_a_cell_behaves_as_without_the_magic(shell, body: str) -> None:
    shell.cell("'earlier'")
    plain = shell.cell(body)
    shell.cell("'earlier'")
    jitted = shell.cell(f"%%jit --quiet\n{body}")
    assert jitted.result == plain.result
    assert type(jitted.exception) is type(plain.exception)
    if isinstance(plain.exception, SyntaxError):
        assert isinstance(jitted.exception, SyntaxError)
        assert jitted.exception.msg.partition(" on line")[0] == plain.exception.msg.partition(" on line")[0]
        assert jitted.exception.lineno == (plain.exception.lineno or 0) + 1
    else:
        assert jitted.error == plain.error
    assert jitted.count == plain.count + 2
    assert jitted.texts == plain.texts
    if not plain.error:
        assert (jitted.stdout, jitted.stderr) == (
            plain.stdout.replace(f"Out[{plain.count}]", f"Out[{jitted.count}]"),
            plain.stderr,
        )
    outs = shell.names["Out"]
    assert outs.get(jitted.count) == outs.get(plain.count)


def test_the_function_is_compiled_where_it_is_defined(shell) -> None:
    ran = shell.cell(f"%%jit\n{CALL}early = {IS_COMPILED.format('double')}\ndouble(jnp.ones(3))")
    assert shell.names["early"] is True
    assert ran.functions == ["double"]
    assert ran.result.tolist() == [2, 2, 2]
    assert not [name for name in shell.names if "jitscope" in name.lower()]


def test_a_compiled_function_is_still_itself(shell) -> None:
    shell.cell("%%jit\ndef scaled(x, by: float = 2.0, *, mode='a'):\n    '''Scale.'''\n    return x * by\n")
    scaled = shell.names["scaled"]
    assert scaled.__name__ == scaled.__qualname__ == "scaled"
    assert scaled.__module__ == "__main__"
    assert scaled.__doc__ == "Scale."
    assert str(inspect.signature(scaled)) == "(x, by: float = 2.0, *, mode='a')"
    assert scaled.__defaults__ == (2.0,) if hasattr(scaled, "__defaults__") else True
    assert inspect.getsource(scaled).startswith("def scaled(x, by")
    assert inspect.getsourcelines(scaled)[1] == 2
    assert inspect.isfunction(scaled.__wrapped__)
    assert pickle.loads(pickle.dumps(scaled)) is scaled
    assert scaled.__wrapped__(3) == 6.0
    help_text = shell.cell("scaled?")
    assert not help_text.error


def test_lines_of_the_cell_are_in_the_line_cache(shell) -> None:
    shell.cell(f"%%jit\n{CALL}")
    code = shell.names["double"].__wrapped__.__code__
    assert code.co_firstlineno == 2
    assert linecache.getline(code.co_filename, 3) == "    return x * 2\n"
    columns = [(p[0], p[2], p[3]) for p in code.co_positions() if p[0] == 3]
    assert (3, 11, 16) in columns  # x * 2


def test_what_was_typed_is_what_history_has(shell) -> None:
    shell.cell("%%jit --quiet\nx = 1")
    assert shell.names["In"][-1] == "'%%jit --quiet'\nx = 1"
    ran = shell.cell(f"exec(In[{len(shell.names['In']) - 1}])\nx")
    assert ran.result == 1


def test_recursion_and_calls_between_functions(shell) -> None:
    body = """%%jit
def power(x, n):
    return x if n == 0 else power(x * 2, n - 1)
def twice(x):
    return helper(x) + helper(x)
def helper(x):
    return x + 1
twice(jnp.ones(2))"""
    ran = shell.cell(body.replace("%%jit", "%%jit --static power:n"))
    assert ran.result.tolist() == [4, 4]
    assert ran.functions == ["twice"]
    ran = shell.cell("%%jit\npower(jnp.ones(2), 3)")
    assert ran.result.tolist() == [8, 8]


def test_redefined_in_the_same_cell(shell) -> None:
    ran = shell.cell(
        "%%jit\ndef f(x):\n    return x\na = f\ndef f(x):\n    return x * 3\nf(jnp.ones(1)) - a(jnp.ones(1))"
    )
    assert ran.result.tolist() == [2]
    assert ran.functions == ["f", "f"]


def test_names_skip_static_and_donate(shell) -> None:
    functions = "def f(x, n):\n    return x * 2 if n > 1 else x\ndef g(x):\n    return x\ndef h(x):\n    return x\n"
    shell.cell(f"%%jit f g --skip h --static f:n --donate g:x\n{functions}")
    assert [hasattr(shell.names[name], "trace") for name in "fgh"] == [True, True, False]
    ran = shell.cell("a = jnp.ones(3)\nf(a, 2), f(a, 1), g(a)")
    assert [one.tolist() for one in ran.result] == [[2] * 3, [1] * 3, [1] * 3]


def test_text_and_functions_are_static_by_themselves(shell) -> None:
    ran = shell.cell(
        "%%jit\ndef f(x, mode, by=None):\n    return by(x) if mode == 'a' else x\nf(jnp.ones(2), 'a', jnp.exp), f(jnp.ones(2), mode='b')"
    )
    assert not ran.error, ran.traceback
    assert len(ran.functions) == 2


def test_a_call_without_arrays_runs_as_python(shell) -> None:
    ran = shell.cell("%%jit\ndef greet(name):\n    return f'hello {name}'\ngreet('you')")
    assert ran.result == "hello you"
    assert ran.functions == []


# --- mistakes ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("--frob", "unrecognized arguments: --frob; %%jit -h lists what it takes"),
        ("nowhere", "defines no function 'nowhere' at its top level; there is double"),
        ("--static double:q", "double has no parameter 'q'; it has x"),
        ("--static q", "--static takes FUNCTION:PARAMETER"),
        ("'", "No closing quotation"),
    ],
)
def test_a_mistake_in_the_line_is_said_and_nothing_runs(shell, line: str, said: str) -> None:
    ran = shell.cell(f"%%jit {line}\nran = True\n{CALL}")
    assert ran.error.startswith("UsageError: %%jit: ")
    assert said in ran.error
    assert said in ran.stderr
    assert "Traceback" not in ran.stderr
    assert "ran" not in shell.names
    assert ran.shown == []
    assert shell.cell("%%jit --quiet\n7").result == 7


@pytest.mark.parametrize("body", ["\n", "\n\n", "   \n", "\n\t\n"])
def test_a_cell_of_blank_lines_does_nothing(shell, body: str) -> None:
    assert not shell.cell(f"%%jit\n{body}").error
    assert shell.cell("%%jit --quiet\n7").result == 7


def test_help(shell) -> None:
    for text in ("%%jit -h", "%%jit --help\nran = True", "%%jit?"):
        ran = shell.cell(text)
        assert not ran.error
        assert "--static" in ran.stdout + "".join(ran.texts)
        assert "FUNCTION:PARAMETER" in ran.stdout + "".join(ran.texts)
    assert "ran" not in shell.names


def test_an_empty_cell_is_refused_as_ipython_does(shell) -> None:
    assert "the cell body is empty" in shell.cell("%%jit").error


def test_a_cell_of_blank_lines_and_comments(shell) -> None:
    ran = shell.cell("%%jit\n\n# nothing\n")
    assert not ran.error
    assert (
        ran.document["note"]
        == "Nothing was compiled: this cell defines no function, and what it calls was compiled before or is not compiled."
    )


def test_a_users_own_import(shell) -> None:
    """Recording what is imported, and refusing what is not known: cells, reports and errors are as always."""
    shell.cell(
        "import builtins\nbefore, seen = builtins.__import__, []\n"
        "def mine(name, *args, **kwargs):\n"
        "    seen.append(name)\n"
        "    return before(name, *args, **kwargs)\n"
        "builtins.__import__ = mine"
    )
    try:
        ran = shell.cell("%%jit\ndef f(x):\n    return x + 1\nf(jnp.ones(2))")
        assert not ran.error and ran.functions == ["f"] and "failed" not in ran.stdout + ran.stderr
        ran = shell.cell("%%jit\ndef g(x):\n    return float(x)\ng(jnp.ones(2))")
        assert ran.error.startswith("ConcretizationTypeError") and ran.document["error"]["position"]["line"] == 3
    finally:
        shell.cell("builtins.__import__ = before")


def test_an_exception_that_cannot_say_what_it_is(shell) -> None:
    shell.cell(
        "class Bad(Exception):\n    def __str__(self):\n        raise RuntimeError('no text')\n    __repr__ = __str__"
    )
    shell.cell("%%jit\ndef h(x):\n    raise Bad(1)\ntry:\n    h(jnp.ones(2))\nexcept Bad as error:\n    kept = error")
    assert type(shell.names["kept"]) is shell.names["Bad"]  # the user's own
    shell.ip.run_cell("%%jit\ndef h(x):\n    raise Bad(1)\nh(jnp.ones(2))")
    assert shell.cell("%%jit --quiet\n7").result == 7


@pytest.mark.parametrize("name", ["a\\0b.py", "\\ud800.py"])
def test_code_of_a_file_that_cannot_be(shell, name: str) -> None:
    shell.cell(
        f"import types\ndef k(x):\n    return x.sum() + 1\n"
        f"k = types.FunctionType(k.__code__.replace(co_filename='{name}'), globals())\nk = jx.jit(k)"
    )
    ran = shell.cell("%%jit\ndef z(x):\n    return k(x)\nz(jnp.ones(4))")
    assert not ran.error and ran.functions == ["z"] and "failed" not in ran.stdout + ran.stderr
    json.dumps(ran.document, ensure_ascii=False).encode()
    assert not shell.cell("%jaxpr k(jnp.ones(3))").error
    assert "z(x: f32[4])" in shell.cell("%ledger").texts[-1]
    ran = shell.cell("%%jit\ndef w(x):\n    return k(x[0, 1, 2])\nw(jnp.ones(4))")
    assert ran.error.startswith("IndexError")


TWO_SHELLS = """
from IPython.core.interactiveshell import InteractiveShell
from jitscope_scope import observe

shells = [InteractiveShell(user_ns={}) for _ in range(2)]
for shell in shells:
    shell.run_cell("%load_ext jitscope\\nimport jitscope.numpy as jnp", store_history=True)
for i in (0, 1, 0):
    shells[i].run_cell(f"%%jit --quiet\\ndef f{i}(x):\\n    return x + {i}\\nf{i}(jnp.ones(2))", store_history=True)
cells = {row.function: row.cell for row in observe.ledger() if not row.nested}
assert cells["f0"] is not None and cells["f1"] is not None, cells
shells[0].run_cell("%unload_ext jitscope", store_history=True)
shells[1].run_cell("%%jit --quiet\\ndef f2(x):\\n    return x * 5\\nf2(jnp.ones(2))", store_history=True)
row = [row for row in observe.ledger() if row.function == "f2"][-1]
assert row.cell is not None and observe.ledger().cell_of(row.position.file) is not None
shells[1].run_cell("%unload_ext jitscope", store_history=True)
assert observe.ledger().place_now() is None and observe.ledger().cell_of(row.position.file) is None
print("fine")
"""


def test_two_shells_in_one_process() -> None:
    ran = subprocess.run([sys.executable, "-c", TWO_SHELLS], capture_output=True, text=True, timeout=120)
    assert ran.stdout.splitlines()[-1:] == ["fine"], ran.stdout + ran.stderr


def test_a_magic_that_only_begins_like_ours_is_not_ours(shell) -> None:
    assert "Cell magic `%%jitter` not found" in shell.cell("%%jitter\n1").error


# --- errors are the cell's own ----------------------------------------------------------------------------------------


def test_an_error_in_a_compiled_function_shows_the_cells_lines(shell) -> None:
    ran = shell.cell("%%jit\ndef broken(x):\n    y = x + 1\n    return y[0]['a'] / undefined\n\nbroken(jnp.ones(3))")
    assert ran.error.startswith(("NameError", "TypeError", "IndexError", "KeyError"))
    assert f"Cell In[{ran.count}], line 6" in ran.stdout
    assert f"Cell In[{ran.count}], line 4, in broken(x)" in ran.stdout
    assert "dispatch.py" not in ran.stdout
    position = ran.document["error"]["position"]
    assert (position["cell"], position["line"], position["function"]) == (f"In [{ran.count}]", 4, "broken")
    assert ran.document["error"]["stopped"]["kind"] == "stopped"
    assert ran.document["note"] == "", "what stopped the trace is told once"


def test_debug_lands_in_the_users_frame(shell) -> None:
    shell.cell("%%jit\ndef broken(x):\n    here = 'in broken'\n    return jnp.ones(3) @ x\n\nbroken(jnp.ones(2))")
    frames = []
    traceback = shell.ip.InteractiveTB.tb
    while traceback is not None:
        frames.append(traceback.tb_frame)
        traceback = traceback.tb_next
    assert frames[-1].f_locals["here"] == "in broken"
    assert isinstance(sys.last_value, TypeError | ValueError)


def test_the_error_of_a_later_cell_is_in_that_cell(shell) -> None:
    shell.cell("%%jit --quiet\ndef f(x):\n    if x > 0:\n        return x\n    return -x\n")
    ran = shell.cell("\nf(jnp.float32(1))")
    assert "TracerBoolConversionError" in ran.error
    assert f"Cell In[{ran.count}]" in ran.stdout
    assert "if x > 0" in ran.error


@pytest.mark.parametrize("call", ["jx.jit(wrong)", "jx.vmap(jx.jit(jx.grad(wrong)))", "jx.hessian(wrong)", "wrong"])
def test_plain_cells_show_the_users_frames_alone(shell, call) -> None:
    shell.cell("import jitscope as jx\ndef wrong(x):\n    return x + jnp.ones(7)\n")
    ran = shell.cell(f"z = 1\n{call}(jnp.ones((3, 3)))")
    assert isinstance(ran.exception, ValueError) and f"Cell In[{ran.count}], line 2" in ran.stdout
    assert f"Cell In[{ran.count - 1}], line 3, in wrong(x)" in ran.stdout
    assert "compiler/jitscope" not in ran.stdout
    with_all = shell.cell(f"with jx.traceback_filtering('off'):\n    {call}(jnp.ones((3, 3)))")
    assert "compiler/jitscope" not in with_all.stdout  # the block has ended when the error is shown
    shell.cell("jx.config.update('traceback_filtering', 'off')")
    try:
        assert "compiler/jitscope" in shell.cell(f"{call}(jnp.ones((3, 3)))").stdout
    finally:
        shell.cell("jx.config.update('traceback_filtering', 'fold')")


# --- in other magics --------------------------------------------------------------------------------------------------


def test_inside_capture(shell) -> None:
    ran = shell.cell(f"%%capture kept\n%%jit\n{CALL}print('printed')\ndouble(jnp.ones(3))")
    assert not ran.error
    assert (ran.stdout, ran.shown) == ("", [])
    assert "printed" in shell.names["kept"].stdout
    assert "data-jitscope-document" in shell.names["kept"].outputs[-1].data["text/html"]
    assert hasattr(shell.names["double"], "trace")


def test_inside_time(shell) -> None:
    ran = shell.cell(f"%%time\n%%jit\n{CALL}double(jnp.ones(3))")
    assert "Wall time" in ran.stdout
    assert ran.result.tolist() == [2, 2, 2]
    assert ran.functions == ["double"]


def test_called_from_code(shell) -> None:
    ran = shell.cell(f"v = get_ipython().run_cell_magic('jit', '', {CALL + 'double(jnp.ones(3))'!r})\nv + 1")
    assert ran.result.tolist() == [3, 3, 3]
    assert ran.functions == ["double"]
    ran = shell.cell(f"get_ipython().run_cell_magic('jit', '', {CALL + 'double(jnp.ones(3));'!r})")
    assert ran.result is None


def test_called_from_code_an_error_is_the_callers(shell) -> None:
    ran = shell.cell("get_ipython().run_cell_magic('jit', '', 'a = 1\\n1 / 0')\nafter = True")
    assert ran.error.startswith("ZeroDivisionError")
    assert "after" not in shell.names


def test_called_outside_any_cell(shell, capsys: pytest.CaptureFixture[str]) -> None:
    shell.ip.run_cell_magic("jit", "", f"{CALL}double(jnp.ones(3))")
    assert "double(x: f32[3]) -> f32[3]" in capsys.readouterr().out


def test_awaiting_when_called_from_code(shell) -> None:
    shell.cell("import asyncio")
    cell = "await asyncio.sleep(0, 5)"
    assert shell.ip.run_cell_magic("jit", "--quiet", cell) == 5


# --- hooks ------------------------------------------------------------------------------------------------------------


def test_hooks_fire_once(shell) -> None:
    seen = []
    hooks = {
        name: (lambda *_, name=name: seen.append(name))
        for name in ("pre_execute", "pre_run_cell", "post_execute", "post_run_cell")
    }
    for name, hook in hooks.items():
        shell.ip.events.register(name, hook)
    shell.cell(f"%%jit\n{CALL}double(jnp.ones(1))")
    assert seen == ["pre_execute", "pre_run_cell", "post_execute", "post_run_cell"]
    for name, hook in hooks.items():
        shell.ip.events.unregister(name, hook)


def test_other_transformers_still_run(shell) -> None:
    def louder(lines):
        return [line.replace("QUIET", "'LOUD'") for line in lines]

    shell.ip.input_transformers_cleanup.append(louder)
    assert shell.cell("%%jit --quiet\nQUIET").result == "LOUD"
    shell.ip.input_transformers_cleanup.remove(louder)


def test_whether_a_cell_is_complete_is_ipythons_matter(shell) -> None:
    assert shell.ip.check_complete("%%jit\nx = 1") == ("incomplete", "")
    assert shell.ip.check_complete("%%jit\nx = 1\n\n")[0] == "complete"


def test_a_silent_cell_shows_nothing(shell) -> None:
    ran = shell.cell(f"%%jit\n{CALL}double(jnp.ones(1))", silent=True)
    assert ran.shown == []
    assert hasattr(shell.names["double"], "trace")


def test_errors_of_operations_end_in_the_cell_too(shell) -> None:
    ran = shell.cell("a = jnp.ones(3)\na @ jnp.ones(2)")
    assert f"Cell In[{ran.count}], line 2" in ran.stdout
    assert "/jitscope/" not in ran.stdout
    assert ran.error.partition(":")[0] in ran.stdout


def test_the_librarys_own_mistakes_are_shown_whole(shell, monkeypatch: pytest.MonkeyPatch) -> None:
    from jitscope.backend import tracing

    monkeypatch.delattr(tracing, "trace_to_jaxpr")
    ran = shell.cell("%%jit\ndef f(x):\n    return x\nf(jnp.ones(3))")
    assert "tracing.py" in ran.stdout


def test_errors_of_users_are_shown_whole(shell) -> None:
    ran = shell.cell("import json\njson.loads('{')")
    assert "decoder.py" in ran.stdout


# --- bad input --------------------------------------------------------------------------------------------------------

BAD = {
    "a tracer's truth": (
        "def f(x):\n    if x.sum() > 0:\n        return x\n    return -x\n\nf(jnp.ones(3))",
        "TracerBoolConversionError",
        3,
    ),
    "a flag": (
        "def f(x, train):\n    return x if train else -x\n\nf(jnp.ones(3), True)",
        "TracerBoolConversionError",
        3,
    ),
    "a count": (
        "def f(x, n):\n    return [x for _ in range(n)]\n\nf(jnp.ones(3), 3)",
        "TracerIntegerConversionError",
        3,
    ),
    "a tracer given to NumPy": ("def f(x):\n    return np.sin(x)\n\nf(jnp.ones(3))", "TracerArrayConversionError", 3),
    "no array returned": ("def f(x):\n    return 'text'\n\nf(jnp.ones(3))", "TypeError", 5),
    "a wrong shape": ("def f(x):\n    return x @ jnp.ones(7)\n\nf(jnp.ones(3))", "ShapeError", 3),
    "a wrong shape outside": ("x = jnp.ones(3) @ jnp.ones(7)", "ShapeError", 2),
    "an unhashable static argument": ("def f(x, n):\n    return x\n\nf(jnp.ones(3), [1])", "ValueError", 5),
    "a deleted array": ("def f(x, n=0):\n    return x + 1\n\na = jnp.ones(3)\nf(a)\na + 1", "DeletedBufferError", 7),
    "an object array": ("def f(x):\n    return x\n\nf(np.array([object()]))", "TypeError", 5),
    "a set": ("def f(x):\n    return x\n\nf([1, {2}])", "TypeError", 5),
    "a leaked tracer": (
        "kept = []\ndef f(x):\n    kept.append(x)\n    return x\n\nf(jnp.ones(3))\nkept[0] + 1",
        "UnexpectedTracerError",
        8,
    ),
    "too few arguments": ("def f(x, y):\n    return x\n\nf(jnp.ones(3))", "TypeError", 5),
}
OPTIONS = {"an unhashable static argument": "--static f:n", "a deleted array": "--donate f:x"}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_a_clear_error_at_the_users_line(shell, case: str) -> None:
    body, kind, line = BAD[case]
    shell.cell("earlier = jnp.arange(3)")
    ran = shell.cell(f"%%jit {OPTIONS.get(case, '')}\n{body}")
    assert ran.error.startswith(f"{kind}: ")
    assert f"Cell In[{ran.count}], line {line}" in ran.stdout
    assert "/jitscope" not in ran.stdout
    error = ran.document["error"]
    assert error["type"] == kind
    assert (error["position"]["cell"], error["position"]["line"]) == (f"In [{ran.count}]", line)
    assert shell.cell("%%jit\ndef g(x):\n    return x * 2\ng(earlier)").result.tolist() == [0, 2, 4]


def test_the_error_of_a_flag_names_the_option(shell) -> None:
    computed = "def f(x, n):\n    return x * 2 if n + 1 > 2 else x\nf(jnp.ones(3), 1)"
    for body, option in ((BAD["a flag"][0], "f:train"), (BAD["a count"][0], "f:n"), (computed, "f:n")):
        ran = shell.cell(f"%%jit\n{body}")
        assert f"%%jit --static {option}" in ran.stdout
        assert not shell.cell(f"%%jit --static {option}\n{body}").error
    of_array = "def f(x):\n    return x * 2 if x.sum() > 2 else x\nf(jnp.ones(3))"
    for body in (BAD["a tracer given to NumPy"][0], of_array):
        assert "--static" not in shell.cell(f"%%jit\n{body}").stdout


def test_debug(shell, monkeypatch: pytest.MonkeyPatch) -> None:
    shell.cell(f"%%jit\n{BAD['a wrong shape'][0]}")
    answers = iter(["p 'in', x.shape, __name__", "u", "p 'up'", "q"])
    monkeypatch.setattr("builtins.input", lambda *_: next(answers))
    ran = shell.cell("%debug")
    assert "('in', (3,), '__main__')" in ran.stdout
    assert "'up'" in ran.stdout
