"""What people and tools read of a program that is watched is what they read of it unwatched."""

import re
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

import jax
import jax.export
import jax.numpy as jnp
import numpy as np
import pytest
from jaxlib import _hlo, xla_client as xc

from jitscope_scope import jaxwatch
from jitscope_scope.jaxwatch import marks, private, reading
from tests.jaxwatch.programs import PROGRAMS


@contextmanager
def read():
    """The texts of what jax compiles inside: lowered, with its locations, and optimised, with names."""
    texts = []

    def told(event, seconds, **_):
        if private.STAGES.get(event) == "compile" and (found := private.compiled(sys._getframe(1))):
            module, (hlo, *_) = found.module, found.executable.hlo_modules()
            texts.append((module.operation.get_asm(enable_debug_info=True), hlo.to_string()))

    jax.monitoring.register_event_duration_secs_listener(told)
    try:
        yield texts
    finally:
        private.monitoring("unregister_event_duration_listener")(told)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_texts_are_those_of_the_unwatched_program(program):
    jaxwatch.detach()
    found = []
    for watch in (False, True):
        jax.clear_caches()
        if watch:
            watcher = jaxwatch.attach()
        with read() as texts:
            program()
        found.append(texts)
    jaxwatch.detach()
    assert not watcher.faults
    alone, watched = found
    assert len(alone) == len(watched)
    for (lowered, optimised), (lowered_watched, optimised_watched) in zip(alone, watched):
        assert lowered_watched == lowered
        assert renumbered(optimised_watched) == renumbered(optimised)


def renumbered(text):
    """A module's text with instructions numbered as they come: XLA's own numbers depend on what its passes looked at, too, in programs
    that split several random keys."""
    numbers = {}
    return re.sub(
        r"(%[\w.\-]*?)\.\d+\b", lambda found: f"{found[1]}#{numbers.setdefault(found[0], len(numbers))}", text
    )


F = jax.jit(lambda x: jnp.tanh(x * 2).sum() + jnp.cos(x).max())
READERS = {
    "lowered": lambda: F.lower(X).as_text(debug_info=True),
    "lowered to HLO": lambda: F.lower(X).as_text("hlo", debug_info=True),
    "printed": lambda: str(F.lower(X).compiler_ir().operation.get_asm(enable_debug_info=True)),
    "locations": lambda: [str(op.location) for op in F.lower(X).compiler_ir().body.operations[0].regions[0].blocks[0]],
    "XlaComputation": lambda: F.lower(X).compiler_ir("hlo").as_hlo_text(),
    "optimised": lambda: F.lower(X).compile().as_text(),
    "modules": lambda: [m.to_string() for m in executable().hlo_modules()],
    "instructions": lambda: [
        i.to_string() for m in executable().hlo_modules() for c in m.computations() for i in c.instructions()
    ],
    "proto": lambda: _hlo.HloModule.from_serialized_hlo_module_proto(
        executable().hlo_modules()[0].as_serialized_hlo_module_proto()
    ).to_string(),
    "executable": lambda: executable().get_hlo_text(),
    "serialised": lambda: (
        executable()
        .client.deserialize_executable(
            executable().serialize(), xc.DeviceList(tuple(executable().local_devices())), None
        )
        .hlo_modules()[0]
        .to_string()
    ),
    "exported": lambda: str(jax.export.export(F)(X).mlir_module()),
    "profile": lambda: sorted(re.findall(rb"jit\(<lambda>\)[^\x00-\x1f]*", profiled())),
}
X = np.linspace(0, 1, 8, dtype=np.float32)


def executable():
    return F.lower(X).compile().runtime_executable()


def profiled():
    """A profile's bytes, as the profiler writes them."""
    F(X).block_until_ready()
    with tempfile.TemporaryDirectory() as folder:
        with jax.profiler.trace(folder):
            F(X).block_until_ready()
        (file,) = Path(folder).rglob("*.xplane.pb")
        return file.read_bytes()


@pytest.mark.parametrize("reader", READERS)
def test_every_reader_leaves_the_marks_out(reader):
    found = []
    try:
        for watch in (False, True):
            jax.clear_caches()
            if watch:
                watcher = jaxwatch.attach()
            found.append(READERS[reader]())
        alone, watched = found
        assert watched == alone and len(alone)
        with reading.marked():  # they are there, and this would see them
            assert f"~{marks.token()}." in F.lower(X).compile().as_text()
        assert not watcher.faults
    finally:
        jaxwatch.detach()


CACHED = """
import sys, jax, jax.numpy as jnp
jax.config.update('jax_compilation_cache_dir', sys.argv[1])
jax.config.update('jax_persistent_cache_min_compile_time_secs', 0)
jax.config.update('jax_persistent_cache_min_entry_size_bytes', -1)
jax.config.update('jax_compilation_cache_include_metadata_in_key', sys.argv[3] == 'names')
hits = []
jax.monitoring.register_event_listener(lambda event, **_: hits.append('h' if event.endswith('cache_hits') else '') )
if sys.argv[2] == 'watched':
    from jitscope_scope import jaxwatch
    watcher = jaxwatch.attach()
f, x = jax.jit(lambda v: jnp.tanh(v) * jnp.tanh(v + 1) * jnp.cos(v)), jnp.ones(8)
hits.clear()
text = f.lower(x).compile().as_text()
print(bool(''.join(hits)), text)
assert sys.argv[2] == 'alone' or not watcher.faults, watcher.faults
"""


@pytest.mark.parametrize("names", ["", "names"])
def test_processes_share_entries_of_the_persistent_cache(tmp_path, names):
    def run(how, folder):
        done = subprocess.run(
            [sys.executable, "-c", CACHED, str(tmp_path / folder), how, names],
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout

    alone, watched = run("alone", "a"), run("watched", "b")
    assert alone.startswith("False ") and "tanh" in alone
    assert watched == alone
    loaded = run("alone", "b")  # which numbers the frames in its tables in another order
    assert loaded.startswith("True ") and run("watched", "a") == loaded
