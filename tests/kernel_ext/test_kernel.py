"""The extension in a real kernel, spoken to as a notebook speaks to it."""

import pytest

from jitscope_widgets import validate
from jitscope_widgets.envelope import unpack
from jitscope_widgets.view_data import without_views
from tests.kernel_ext.conftest import WIDGET


pytestmark = pytest.mark.timeout(300)

LAYER = """%%jit
def layer(x, w):
    z = x @ w
    return jnp.where(z > 0, z, jnp.exp(z) - 1)

layer(jnp.ones((8, 3)), jnp.ones((3, 2)))"""


def test_a_cell_gives_its_result_then_one_view(kernel) -> None:
    ran = kernel.cell(LAYER, cell_id="cell-a")
    assert not ran.error, ran.traceback
    assert ran.result.startswith("Array([[")
    assert ran.order == ["result", "shown"]
    (bundle,) = ran.shown
    assert "text/html" in bundle and "<script" not in bundle["text/html"]
    assert "layer(x: f32[8,3], w: f32[3,2]) -> f32[8,2]" in bundle["text/plain"]
    document = ran.document
    validate(document)
    assert (document["cell"], document["cell_id"]) == (f"In [{ran.count}]", "cell-a")
    positions = document["compilations"][0]["graph"]["nodes"][-2]["positions"]
    assert positions[0]["file"] == "cell-a"
    assert positions[0]["cell"] == f"In [{ran.count}]"


def test_a_view_is_live_where_the_front_end_is_built(kernel) -> None:
    kernel.cell(LAYER)
    ran = kernel.cell("import jitscope_widgets\njitscope_widgets.view_problem()")
    shown = kernel.cell("%%jit\nlayer(jnp.ones((4, 3)), jnp.ones((3, 2)));").shown[-1]
    assert (WIDGET in shown) == (ran.result == "''")


def test_the_result_is_there_once_and_counted_once(kernel) -> None:
    before = kernel.cell("0").count
    ran = kernel.cell("%%jit\n20 + 1")
    assert (ran.count, ran.result) == (before + 1, "21")
    assert kernel.cell(f"Out[{ran.count}], _").result == "(21, 21)"
    assert kernel.cell("%%jit\n20 + 1;").result is None


def test_await_in_a_cell(kernel) -> None:
    ran = kernel.cell(
        "%%jit\nimport asyncio\nasync def later(x):\n    await asyncio.sleep(0.01)\n    return double(x)\n"
        "def double(x):\n    return x * 2\nawait later(jnp.ones(2))"
    )
    assert not ran.error, ran.traceback
    assert ran.result == "Array([2., 2.], dtype=float32)"
    assert ran.functions == ["double"]
    assert {"name": "later", "reason": "async"} in ran.document["left_alone"]
    assert ran.order == ["result", "shown"]


def test_magics_and_commands_in_a_cell(kernel) -> None:
    ran = kernel.cell("%%jit\nout = !echo hello\n%time len(out)\n!echo printed\nout[0]")
    assert "Wall time" in ran.stdout and "printed" in ran.stdout
    assert ran.result == "'hello'"


def test_an_error_is_the_cells_and_run_all_stops(kernel) -> None:
    first = kernel.send("%%jit\ndef f(x):\n    if x > 0:\n        return x\n    return -x\n\nf(jnp.ones(()))")
    second = kernel.send("reached = True")
    ran = kernel.wait(first)
    assert ran.error.startswith("TracerBoolConversionError")
    assert ran.order == ["error", "shown"]
    assert "line 7" in ran.traceback and "line 3, in f(x)" in ran.traceback
    assert "dispatch.py" not in ran.traceback
    assert ran.document["error"]["type"] == "TracerBoolConversionError"
    assert ran.document["error"]["position"]["line"] == 3
    reply = kernel.client.get_shell_msg(timeout=20)
    assert reply["parent_header"]["msg_id"] == second
    assert reply["content"]["status"] == "aborted"
    kernel.drain()
    assert kernel.cell("'reached' in globals()").result == "False"


def test_a_mistake_in_the_line_fails_the_cell(kernel) -> None:
    ran = kernel.cell("%%jit --frob\nran = True", stop_on_error=False)
    assert ran.error.startswith("UsageError")
    assert "--frob" in ran.stderr
    assert ran.shown == []


def test_plots_come_before_the_view(kernel) -> None:
    """matplotlib shows its figures when the cell has been executed; so would this hook."""
    ran = kernel.cell("def flush():\n    print('figure')\nget_ipython().events.register('post_execute', flush)")
    ran = kernel.cell("%%jit\ndef f(x):\n    return x + 1\nf(jnp.ones(2));")
    assert ran.order == ["stdout", "shown"]
    kernel.cell("get_ipython().events.unregister('post_execute', flush)")


def test_recompiled_in_a_plain_cell(kernel) -> None:
    kernel.cell(LAYER, cell_id="cell-a")
    ran = kernel.cell("for n in (9, 10): layer(jnp.ones((n, 3)), jnp.ones((3, 2)));", cell_id="cell-b")
    (card,) = ran.document["cards"]
    assert (card["function"], card["cause"], card["compilations"]) == ("layer", "shape", 2)
    assert card["sites"][0]["position"]["file"] == "cell-b" and card["definition"]["file"] == "cell-a"
    ran = kernel.cell("%ledger")
    rows = ran.document["rows"]
    assert rows[-1]["cell_id"] == "cell-b"


def test_captured(kernel) -> None:
    ran = kernel.cell(f"%%capture kept\n{LAYER}")
    assert ran.order == []
    assert kernel.cell("len(kept.outputs)").result == "2"
    assert kernel.cell("'jitscope' in kept.outputs[-1].data['text/html']").result == "True"


# --- the side panel ---------------------------------------------------------------------------------------------------


def test_the_side_panel_hears_of_compilations(kernel) -> None:
    kernel.cell(LAYER, cell_id="cell-a")
    kernel.drain()
    opened = [message for message in kernel.comms if message["msg_type"] == "comm_open"]
    assert [message["content"]["target_name"] for message in opened if message["content"]["target_name"] == "jitscope"]
    ours = {message["content"]["comm_id"] for message in opened if message["content"]["target_name"] == "jitscope"}
    sent = [message["content"]["data"] for message in kernel.comms if message["content"].get("comm_id") in ours]
    for data in sent:
        validate(without_views(data["document"]))
    listed = [data["document"]["rows"] for data in sent if data["type"] == "ledger"]
    assert "cell-a" in {row["cell_id"] for row in listed[-1]}


def test_a_page_that_connects_later_is_answered(kernel) -> None:
    kernel.cell(LAYER)
    client = kernel.client
    message = client.session.msg("comm_open", {"comm_id": "page", "target_name": "jitscope", "data": {}})
    client.shell_channel.send(message)
    kernel.comms.clear()
    kernel.drain()
    answers = [one["content"]["data"] for one in kernel.comms if one["content"].get("comm_id") == "page"]
    for answer in answers:
        validate(without_views(answer["document"]))
    (listed,) = [answer["document"]["rows"] for answer in answers if answer["type"] == "ledger"]
    assert listed
    client.shell_channel.send(client.session.msg("comm_close", {"comm_id": "page", "data": {}}))


# --- stopping ---------------------------------------------------------------------------------------------------------


def test_ctrl_c_while_tracing(kernel) -> None:
    kernel.cell("kept = jnp.ones(3)")
    request = kernel.send(
        "%%jit\ndef endless(x):\n    while True:\n        x = jnp.sin(x) + 1\n    return x\n\nendless(jnp.ones(3))",
        stop_on_error=False,
    )
    warned = kernel.wait(request, until="unrolls")
    assert "line 4: the loop in line 3, `while True:`, unrolls" in warned.stderr
    kernel.interrupt()
    ran = kernel.wait(request)
    assert ran.error.startswith("KeyboardInterrupt")
    assert ran.document["error"]["type"] == "KeyboardInterrupt"
    assert kernel.cell("kept + 1").result == "Array([2., 2., 2.], dtype=float32)"
    assert kernel.cell(LAYER).result.startswith("Array([[")


TOLD = """import sys
from jitscope.backend import compile as programs
compiled = programs.Executable.compile
def told(*args, **kwargs):
    print("XLA begins", file=sys.stderr, flush=True)
    return compiled(*args, **kwargs)
programs.Executable.compile = told"""


def test_ctrl_c_while_compiling(kernel) -> None:
    kernel.cell("kept = jnp.ones(3)")
    kernel.cell(LAYER)
    kernel.cell(TOLD)
    request = kernel.send(
        "%%jit\ndef long(x):\n    for _ in range(3_000):\n        x = jnp.sin(x) + 1\n    return x\n\nlong(jnp.ones(3))",
        stop_on_error=False,
    )
    kernel.wait(request, until="XLA begins")
    kernel.interrupt()
    ran = kernel.wait(request)
    kernel.cell("programs.Executable.compile = compiled")
    assert ran.error.startswith("KeyboardInterrupt")
    assert kernel.cell("kept + 1").result == "Array([2., 2., 2.], dtype=float32)"
    assert kernel.cell("%%jit\nlayer(jnp.ones((8, 3)), jnp.ones((3, 2)));").document["reused"]


def test_endless_recursion(kernel) -> None:
    kernel.cell("kept = jnp.ones(3)")
    ran = kernel.cell("%%jit\ndef again(x):\n    return again(x + 1)\n\nagain(jnp.ones(3))", stop_on_error=False)
    assert ran.error.startswith("RecursionError")
    assert kernel.cell("kept * 2").result == "Array([2., 2., 2.], dtype=float32)"


# --- and out again ----------------------------------------------------------------------------------------------------


def test_unloading_closes_the_side_panel(kernel) -> None:
    kernel.cell(LAYER)
    kernel.comms.clear()
    assert not kernel.cell("%unload_ext jitscope").error
    kernel.drain()
    assert "comm_close" in {message["msg_type"] for message in kernel.comms}
    assert "not found" in kernel.cell("%%jit\n1", stop_on_error=False).error
    assert not kernel.cell("%load_ext jitscope").error
    assert kernel.cell("%%jit\nlayer(jnp.ones((8, 3)), jnp.ones((3, 2)));").document["reused"]


def test_the_button_measures(kernel) -> None:
    kernel.cell(LAYER)
    kernel.comms.clear()
    ran = kernel.cell("%%jit\nlayer(jnp.ones((8, 3)), jnp.ones((3, 2)))\nlayer(jnp.ones((7, 3)), jnp.ones((3, 2)));")
    if WIDGET not in ran.shown[-1]:
        pytest.skip("the front end is not built")
    model = ran.shown[-1][WIDGET]["model_id"]
    identity = ran.document["compilations"][0]["id"]
    data = {"method": "custom", "content": {"type": "measure", "id": identity}}
    kernel.client.shell_channel.send(kernel.client.session.msg("comm_msg", {"comm_id": model, "data": data}))
    kernel.comms.clear()
    answers: list[dict] = []
    for _ in range(20):
        kernel.drain()
        sent = [one["content"]["data"] for one in kernel.comms if one["content"].get("comm_id") == model]
        answers = [one["content"] for one in sent if one["method"] == "custom" and one["content"]["type"] == "document"]
        if answers:
            break
    (answer,) = answers
    document = unpack(answer["data"])
    validate(document)
    assert document["compilations"][0]["timing"]["steady"]["median"]["value"] > 0


def test_the_look_for_sharp_bits_parses_in_the_thread_of_the_cells_and_between_them(kernel) -> None:
    kernel.cell(
        "import threading, time\nfrom jitscope_kernel import panel\nmade = []\n"
        "sending = panel.DelayedSender(lambda: made.append(threading.current_thread().name), panel.between_cells)\n"
        "sending.want()\ntime.sleep(1)\nprint(made)"
    )
    assert kernel.cell("print(made)").stdout.split() == ["['MainThread']"]
