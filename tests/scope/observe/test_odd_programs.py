"""Instruments on programs that have something odd: each says something, or in a sentence why not."""

from __future__ import annotations

import _thread
import tempfile
import threading
import time

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope.core.errors import Unavailable
from jitscope.experimental import io_callback
from jitscope_scope.observe.instruments import instrument_names, look
from jitscope_widgets import validate
from jitscope_widgets.text import text
from tests.programs.rows import row_of


X = np.ones((3, 4), np.float32)
LIKE = jx.ShapeDtypeStruct(X.shape, X.dtype)
LONG = "a_name_of_some_length_" * 100


def named(name):
    space = {}
    exec(f"def {name}(x):\n    {name}_2 = x * 2 + x\n    return {name}_2", space)
    return space[name]


def printing(x):
    jx.debug.print("{}", x.sum())
    return x * 2


def through_a_reference(x):
    ref = jx.new_ref(x)
    ref[...] = ref[...] * 2
    return ref[...]


PROGRAMS = {
    "no argument, no result": (lambda: (), ()),
    "its argument": (lambda x: x, (X,)),
    "a constant": (lambda x: 3.0, (X,)),
    "no elements": (lambda x: jnp.sin(x), (X[:0],)),
    "a sum over nothing": (lambda x: jnp.sin(x).sum() + x.shape[0], (X[:0],)),
    "pure callback": (lambda x: jx.pure_callback(np.sin, LIKE, x) * 2, (X,)),
    "ordered callback": (lambda x: io_callback(lambda x: x + 1, LIKE, x, ordered=True), (X,)),
    "printing": (printing, (X,)),
    "references": (through_a_reference, (X,)),
    "donated": (jx.jit(lambda x: x * 2, donate_argnums=0), (jnp.ones((3, 4)),)),
    "keys": (lambda key: jx.random.split(key), (jx.random.key(0),)),
    "a long name": (named(LONG), (X,)),
    "a name of other letters": (named("größe_η"), (X,)),
    "small dtypes": (lambda x: (x.astype(jnp.bfloat16) * 2, x.astype("int4") + 1, x > 0), (X,)),
    "NaN everywhere": (lambda x: jnp.log(-x), (X,)),
}
KEPT = {name: (jx.jit(fun) if not hasattr(fun, "lower") else fun) for name, (fun, _) in PROGRAMS.items()}
"""The functions; the ledger forgets programs whose functions are gone."""


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_instrument_says_something_or_why_not(name):
    args = PROGRAMS[name][1]
    row = row_of(KEPT[name], *args)
    for instrument in instrument_names():
        if instrument == "profile" and name not in ("no elements", *PYTHON, "references"):
            continue  # it runs the program for two seconds
        try:
            document = look(row, instrument)
        except (Unavailable, ValueError, RuntimeError) as refusal:
            assert type(refusal) in (Unavailable, ValueError, RuntimeError), (instrument, refusal)
            assert " " in str(refusal) and len(str(refusal)) < 400 + len(row.function), (instrument, refusal)
            assert instrument == "communication" or name in REFUSED[instrument], (instrument, refusal)
        else:
            validate(document)
            assert text(document)
            assert name not in REFUSED.get(instrument, ()) and instrument != "communication"


PYTHON = ("pure callback", "ordered callback", "printing")
REFUSED = {
    "transformations": PYTHON,
    "passes": (),
    "memory": (),
    "profile": (*PYTHON, "references"),
    "values": (*PYTHON, "references", "donated"),
    "machine": (),
    "reasons": PYTHON,
}
"""Programs that would have effects if they ran again, and those whose arguments are gone."""


def test_the_number_of_the_run_has_a_name_among_buffers():
    buffers = look(row_of(KEPT["pure callback"], X), "memory")["buffers"]
    assert {"x", "result", "run of Python callbacks"} <= {buffer["label"].split(",")[0] for buffer in buffers}


@pytest.mark.usefixtures("ctrl_c")
def test_an_interrupt_leaves_nothing_behind(tmp_path, monkeypatch):
    """XLA goes on with the compilation, and writes files until it is done."""

    def chain(x):
        for i in range(90):
            x = jnp.sin(x) + jnp.cos(x @ x) if i % 30 == 0 else jnp.tanh(x) * 1.5
        return x

    f = jx.jit(chain)
    row = row_of(f, np.ones((8, 8), np.float32))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def interrupt():
        until = time.monotonic() + 60
        while not any(tmp_path.iterdir()) and time.monotonic() < until:
            time.sleep(0.001)
        _thread.interrupt_main()

    for instrument in ("memory", "machine"):
        thread = threading.Thread(target=interrupt)
        thread.start()
        with pytest.raises(KeyboardInterrupt):
            look(row, instrument)
        thread.join()
        for other in threading.enumerate():
            if other.name == "jitscope compiles":
                other.join()
        assert not any(tmp_path.iterdir())
    assert look(row, "memory")["buffers"]
