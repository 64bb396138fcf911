"""Events, recordings, layouts and the environment: what tools ask for."""

from __future__ import annotations

import gzip
import json
import re
import socket

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import debug, monitoring, profiler


@pytest.fixture(autouse=True)
def nobody_listens():
    monitoring.clear_event_listeners()
    yield
    monitoring.clear_event_listeners()


# Events ---------------------------------------------------------------------------------------------------------------


def test_events_reach_their_listeners():
    heard = []
    events = lambda *args, **kwargs: heard.append(("event", args, kwargs))
    durations = lambda *args, **kwargs: heard.append(("duration", args, kwargs))
    monitoring.register_event_listener(events)
    monitoring.register_event_duration_secs_listener(durations)
    monitoring.register_scalar_listener(lambda *args, **kwargs: heard.append(("scalar", args, kwargs)))
    monitoring.register_event_time_span_listener(lambda *args, **kwargs: heard.append(("span", args, kwargs)))
    monitoring.record_event("/a", kind="x")
    monitoring.record_event_duration_secs("/b", 1.5)
    monitoring.record_scalar("/c", 3, unit="m")
    monitoring.record_event_time_span("/d", 1.0, 2.0)
    assert heard == [
        ("event", ("/a",), {"kind": "x"}),
        ("duration", ("/b", 1.5), {}),
        ("scalar", ("/c", 3), {"unit": "m"}),
        ("span", ("/d", 1.0, 2.0), {}),
    ]
    monitoring.unregister_event_listener(events)
    monitoring.unregister_event_duration_listener(durations)
    monitoring.record_event("/a")
    monitoring.record_event_duration_secs("/b", 1.0)
    assert len(heard) == 4
    with pytest.raises(ValueError, match="not a listener"):
        monitoring.unregister_event_listener(events)
    with pytest.raises(TypeError, match="a function, not str"):
        monitoring.register_scalar_listener("me")  # pyright: ignore[reportArgumentType]


def test_the_compilers_durations():
    durations, spans = [], []
    monitoring.register_event_duration_secs_listener(
        lambda name, seconds, **more: durations.append((name, seconds, more))
    )
    monitoring.register_event_time_span_listener(lambda name, start, end, **more: spans.append((name, start, end)))

    @jx.jit
    def listened_to(x):
        return jnp.tanh(x) * 1.375

    listened_to(jnp.ones(3))
    own = [(name, seconds) for name, seconds, more in durations if more.get("fun_name") == "listened_to"]
    names = [name for name, _ in own]
    assert names[0] == "/jax/core/compile/jaxpr_trace_duration"
    assert names[-1] == "/jax/core/compile/backend_compile_duration" and all(seconds > 0 for _, seconds in own)
    assert all(end > start for _, start, end in spans) and len(spans) >= len(own)
    listened_to(jnp.ones(3))
    assert [more for _, _, more in durations if more.get("fun_name") == "listened_to"] == [
        {"fun_name": "listened_to"}
    ] * len(own)


# Recordings -----------------------------------------------------------------------------------------------------------


def test_a_recording_has_the_program_and_the_annotations(tmp_path):
    f = jx.jit(lambda x: jnp.sin(x) @ x)
    f(jnp.ones((200, 200))).block_until_ready()
    marked = profiler.annotate_function(lambda x: f(x).block_until_ready(), name="marked call")
    with profiler.trace(tmp_path, create_perfetto_trace=True):
        with pytest.raises(RuntimeError, match="already"):
            profiler.start_trace(tmp_path)
        with profiler.StepTraceAnnotation("step", step_num=3), profiler.TraceAnnotation("inside"):
            marked(jnp.ones((200, 200)))
    (found,) = tmp_path.rglob("*.xplane.pb")
    planes = list(profiler.ProfileData.from_file(str(found)).planes)
    names = {event.name for plane in planes for line in plane.lines for event in line.events}
    assert {"inside", "marked call"} <= names and any(name.startswith("step") for name in names)
    (written,) = tmp_path.rglob("perfetto_trace.json.gz")
    events = json.loads(gzip.decompress(written.read_bytes()))
    assert "metadata" not in events and any(e.get("name") == "inside" for e in events["traceEvents"])
    with pytest.raises(RuntimeError, match="no profile"):
        profiler.stop_trace()


def test_options_of_a_recording(tmp_path):
    options = profiler.ProfileOptions()
    options.host_tracer_level, options.python_tracer_level = 0, 0
    profiler.start_trace(tmp_path, profiler_options=options)
    with profiler.TraceAnnotation("not taken down"):
        jnp.ones(3).block_until_ready()
    profiler.stop_trace()
    (found,) = tmp_path.rglob("*.xplane.pb")
    data = profiler.ProfileData.from_file(str(found))
    assert not any(e.name == "not taken down" for plane in data.planes for line in plane.lines for e in line.events)


def test_memory_profiles(tmp_path):
    kept = jnp.ones((1 << 10, 1 << 10)).block_until_ready()
    profiler.save_device_memory_profile(tmp_path / "memory.prof")
    data = gzip.decompress((tmp_path / "memory.prof").read_bytes())
    assert b"buffer" in data and b"bytes" in data and kept.shape
    with pytest.raises(RuntimeError, match="gpu"):
        profiler.device_memory_profile("gpu")


def test_one_server_at_a_time():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    assert profiler.start_server(port) is not None
    with pytest.raises(ValueError, match="already"):
        profiler.start_server(port)
    profiler.stop_server()
    with pytest.raises(ValueError, match="no profiler server"):
        profiler.stop_server()


# Layouts --------------------------------------------------------------------------------------------------------------


def test_where_values_lie():
    found = []

    @jx.jit
    def f(x):
        y = x * 2
        debug.inspect_array_sharding({"y": y, "x": x}, callback=found.append)
        return jx.vmap(lambda row: (debug.inspect_array_sharding(row, callback=found.append), row.sum())[1])(y)

    f.lower(jnp.ones((2, 3))).compile()
    assert found == [jnp.ones(2).sharding] * 3
    assert f(jnp.ones((2, 3))).tolist() == [6, 6]
    count = len(found)
    f(jnp.ones((2, 3)))
    assert len(found) == count
    debug.inspect_array_sharding(jnp.ones(2), callback=found.append)
    assert found[-1] == jnp.ones(2).sharding
    assert float(jx.grad(lambda x: (debug.inspect_array_sharding(x, callback=found.append), x * x)[1])(3.0)) == 6
    with pytest.raises(TypeError, match="not int"):
        debug.inspect_array_sharding(jnp.ones(2), callback=3)


@pytest.mark.parametrize("shape", [(4,), (2, 3)])
def test_drawings(shape, capsys):
    debug.visualize_array_sharding(jnp.ones(shape))
    text = capsys.readouterr().out
    rows = text.splitlines()
    assert len({len(row) for row in rows}) == 1 and text.count("CPU 0") == 1
    assert re.fullmatch(r"┌─+┐", rows[0]) and re.fullmatch(r"└─+┘", rows[-1])
    debug.visualize_array_sharding(jnp.ones(shape), max_width=12)
    assert len(capsys.readouterr().out.splitlines()[0]) <= 13
    jx.jit(lambda x: (debug.visualize_array_sharding(x), x)[1])(jnp.ones(shape))
    assert capsys.readouterr().out == text
    for wrong in ((), (2, 2, 2)):
        with pytest.raises(ValueError, match="one or two axes"):
            debug.visualize_array_sharding(jnp.ones(wrong))


def test_parts_over_several_devices(capsys):
    class Grid:
        def devices_indices_map(self, shape):
            n, m = shape[0] // 2, shape[1] // 2
            parts = [(slice(i * n, (i + 1) * n), slice(j * m, (j + 1) * m)) for i in range(2) for j in range(2)]
            return {Device(i): part for i, part in enumerate(parts)}

    class Device:
        platform = "cpu"

        def __init__(self, id):
            self.id = id

    debug.visualize_sharding((4, 4), Grid())
    rows = capsys.readouterr().out.splitlines()
    assert [re.findall(r"CPU \d", row) for row in rows if "CPU" in row] == [["CPU 0", "CPU 1"], ["CPU 2", "CPU 3"]]
    assert sum("┼" in row for row in rows) == 1


# The environment ------------------------------------------------------------------------------------------------------


def test_what_to_say_when_asking_for_help(capsys):
    assert jx.print_environment_info() is None
    printed = capsys.readouterr().out
    with jx.debug_nans():
        text = jx.print_environment_info(return_string=True)
    assert capsys.readouterr().out == "" and printed.splitlines()[:3] == text.splitlines()[:3]
    assert np.__version__ in text and "jaxlib" in text and "cpu" in text and "debug_nans=True" in text
    assert "debug_nans" not in printed


def test_the_version_is_that_of_the_package(root):
    assert jx.__version__ == json.loads((root / "package.json").read_text())["version"]
    assert "__version__" in dir(jx)
    assert re.search(rf"^jitscope: +{re.escape(jx.__version__)}$", jx.print_environment_info(True) or "", re.MULTILINE)
