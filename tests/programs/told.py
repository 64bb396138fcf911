"""The documents of programs, and what is known of these by other means; a training step of equinox's or flax's is compiled by jax
itself, in the environment of `make test-jax`."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any, NotRequired, TypedDict

import numpy as np
import pytest

import jitscope as jx
from jitscope_scope import observe
from tests.extent import ALL, UNOPTIMIZED, flags
from tests.programs.rows import row_of


Document = dict[str, Any]
ROOT = Path(__file__).parents[2]
JAX = ROOT / ".venv-watch"
WATCHED = ("eqx_unet", "linen_gpt", "nnx_resnet")


class Told(TypedDict):
    """What is known of a program by other means."""

    text: str
    """The optimised program, as XLA writes it."""
    arguments: int
    """Bytes."""
    memory: dict[str, int]
    """Bytes that XLA sets aside (`memory_analysis`): argument, output (but for results that take the memory of arguments), temp."""
    seconds: NotRequired[dict[str, float]]
    """What jax's own events say that tracing, lowering and compiling took."""
    finite: bool
    """Each number of the results."""


@functools.cache
def asked_of(name: str) -> tuple[Document, Told]:
    """The compilation of a program with what was measured of it, and what it is by other means."""
    return by_jax(name) if name in WATCHED else by_us(name)


def by_jax(name: str) -> tuple[Document, Told]:
    found = in_jax(name)
    return found["document"], found["jax"]


def in_jax(name: str, *what: str) -> Document:
    """What `tests.programs.watched.documents` finds in a process that has jax."""
    if not (JAX / ".installed").exists():
        pytest.skip("jax and its libraries are not installed: `make .venv-watch/.installed` does it")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "document.json"
        command = [JAX / "bin" / "python", "-m", "tests.programs.watched.documents", name, file, *what]
        compiled = os.environ if ALL else os.environ | flags(**UNOPTIMIZED)
        ran = subprocess.run(command, cwd=ROOT, env=compiled, capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stderr[-4000:]
        return json.loads(file.read_text())


def by_us(name: str) -> tuple[Document, Told]:
    module = import_module(f"tests.programs.{name}")
    args = jx.tree.map(jx.numpy.asarray, module.arguments())
    row = row_of(module.program, *args)
    found = {which: observe.look(row, which) for which in ("memory", "values", "reasons")}
    found["profile"] = observe.look(row, "profile", limit=0.5)
    results = jx.tree.leaves(jx.jit(module.program)(*args))
    compiled = jx.jit(module.program).lower(*args).compile()
    stats = compiled.memory_analysis()
    told: Told = {
        "text": compiled.as_text(),
        "memory": {
            "argument": stats.argument_size_in_bytes,
            "output": stats.output_size_in_bytes - stats.alias_size_in_bytes,
            "temp": stats.temp_size_in_bytes,
        },
        "arguments": sum(leaf.nbytes for leaf in jx.tree.leaves(args)),
        "finite": all(bool(np.isfinite(np.asarray(leaf)).all()) for leaf in results),
    }
    return {**observe.compilation_document(row), "instruments": found}, told
