"""`jitscope doctor`: what works with what is installed, and what to do about the rest. Programs are run in processes of their own, so that
a release that ends the process is told as well."""

from __future__ import annotations

import importlib.util
import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata
from typing import Literal, NamedTuple

from jitscope.xla import versions
from jitscope_scope.page_faults import tunables_for_large_pages


State = Literal["ok", "missing", "broken"]
_MARKS: dict[State, str] = {"ok": "✓", "missing": "–", "broken": "✗"}
_LIMIT = 180  # seconds for one program


class Finding(NamedTuple):
    """One thing that was looked at: its name, how it is, what was found, and what to do where that is needed."""

    name: str
    state: State
    found: str
    advice: str = ""

    def __str__(self) -> str:
        return f"{_MARKS[self.state]} {self.name}: {self.found}" + (f"\n    {self.advice}" if self.advice else "")


def main() -> int:
    """Print the findings; 1 where something that jitscope needs is broken, else 0."""
    findings = []
    for one in look():
        print(one, flush=True)
        findings.append(one)
    return 1 if any(one.state == "broken" for one in findings) else 0


def look() -> Iterator[Finding]:
    """What is found, one after the other: releases, programs that are run, what is watched, where views are shown."""
    yield Finding("Python", "ok", platform.python_version())
    yield _jaxlib()
    yield _run("programs on the CPU", _PROGRAMS, "the programs gave the right numbers")
    yield from _jax()
    yield from map(_optional, _OPTIONAL)
    yield _graphviz()
    yield from _large_arrays()


def _jaxlib() -> Finding:
    version, lacking = versions.JAXLIB, versions.missing()
    upgrade = f'pip install "jaxlib=={versions.VERIFIED[-1]}.*" (and jax, where it is installed, of the same release)'
    if versions.is_older():
        return Finding(
            "jaxlib", "broken", f"{version} is too old", f'pip install --upgrade "jaxlib>={versions.OLDEST}"'
        )
    if lacking:
        return Finding("jaxlib", "broken", f"{version} lacks {', '.join(lacking)}", upgrade)
    if versions.is_verified():
        return Finding("jaxlib", "ok", f"{version}, one of the releases that jitscope supports")
    return Finding("jaxlib", "ok", f"{version}, newer than what jitscope is verified with; it has all that is used")


def _jax() -> Iterator[Finding]:
    if importlib.util.find_spec("jax") is None:
        yield Finding("jax", "missing", "not installed: there is no code of jax's to watch; jitscope itself needs none")
        return
    fit = f"jax and jaxlib must be of one release: pip install --upgrade jax jaxlib (jaxlib is {versions.JAXLIB})"
    version = metadata.version("jax")
    imported = _run(
        f"jax {version}", "import jax, jax.numpy as jnp; jnp.ones(3).sum()", "imports, and runs with this jaxlib"
    )
    yield imported._replace(advice=fit) if imported.state == "broken" else imported
    if imported.state == "ok":
        yield _run("watching jax", _WATCHING, "compilations and their causes are seen")


def _run(name: str, program: str, works: str) -> Finding:
    """A program in a process of its own, which prints one line of JSON where something is wrong with what it found."""
    try:
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, timeout=_LIMIT
        )
    except subprocess.TimeoutExpired:
        return Finding(name, "broken", f"did not end within {_LIMIT} seconds")
    except OSError as error:
        return Finding(name, "missing", f"could not be tried: {error}")
    if done.returncode < 0:
        return Finding(name, "broken", f"ended the process (signal {-done.returncode})")
    if done.returncode:
        return Finding(name, "broken", (done.stderr.strip().splitlines() or ["failed without a word"])[-1])
    wrong = json.loads(done.stdout.strip().splitlines()[-1]) if done.stdout.strip() else []
    return Finding(name, "broken", "; ".join(wrong)) if wrong else Finding(name, "ok", works)


_PROGRAMS = """
import json
import numpy as np
import jitscope as jx, jitscope.numpy as jnp
x = np.linspace(0.5, 2, 12, dtype=np.float32).reshape(3, 4)
square = (x @ x.T + 3 * np.eye(3)).astype(np.float32)
programs = {
    "an operation": (lambda: jnp.asarray(x) + 1, x + 1),
    "jit": (lambda: jx.jit(lambda x: jnp.sin(x) @ x.T)(x), np.sin(x) @ x.T),
    "grad": (lambda: jx.grad(lambda x: jnp.sum(jnp.log(x) + jnp.log(2 * x)))(x), 2 / x),
    "vmap": (lambda: jx.vmap(jnp.cumsum)(x), np.cumsum(x, 1)),
    "scan": (lambda: jx.lax.scan(lambda c, row: (c + row, c), jnp.zeros(4), x)[0], x.sum(0)),
    "linear algebra": (lambda: jnp.linalg.solve(square, x), np.linalg.solve(square, x)),
    "FFT": (lambda: jnp.abs(jnp.fft.fft(x)), np.abs(np.fft.fft(x))),
    "sort": (lambda: jnp.sort(x[::-1], axis=0), x),
    "a callback": (lambda: jx.jit(lambda x: jx.pure_callback(np.sort, jx.ShapeDtypeStruct(x.shape, x.dtype), x))(x), x),
    "a large sum of logarithms": (lambda: jx.jit(lambda x: jnp.sum(jnp.log(x) + jnp.log(2 * x)))(jnp.full(20_000, 1.5)),
                                  20_000 * np.log(4.5)),
}
wrong = []
for name, (program, wanted) in programs.items():
    try:
        if not np.allclose(program(), wanted, rtol=1e-3):
            wrong.append(f"{name} gives wrong numbers")
    except Exception as error:
        wrong.append(f"{name} raises {type(error).__name__}: {(str(error).splitlines() or [''])[0]}")
print(json.dumps(wrong))
"""

_WATCHING = """
import json
import jax, jax.numpy as jnp
from jitscope_scope import jaxwatch, observe
jaxwatch.attach()
f = jax.jit(lambda x: jax.lax.scan(lambda c, _: (jnp.sin(c), c), x, None, length=3)[0].sum())
f(jnp.ones(3)), f(jnp.ones(4))
rows = [row for row in observe.ledger() if row.what in ("compiled", "recompiled")]
wrong = [f"jax has no {one.name}, so this is not shown: {one.consequence}" for one in (*jaxwatch.capabilities(), *jaxwatch.unread())]
if [row.what for row in rows] != ["compiled", "recompiled"]:
    wrong.append(f"of two compilations of one function {len(rows)} were seen")
elif rows[1].cause != "shape":
    wrong.append("the cause of a recompilation is not seen")
print(json.dumps(wrong))
"""


class _Optional(NamedTuple):
    """A distribution that some views need: what it is called to import, what it is for, how it is installed."""

    name: str
    module: str
    purpose: str
    install: str = ""


_OPTIONAL = (
    _Optional("IPython", "IPython", "magics", "pip install ipython"),
    _Optional("anywidget", "anywidget", "views that can be clicked", "pip install anywidget"),
    _Optional("JupyterLab", "jupyterlab", "marks in the editor and the side panel", "pip install jupyterlab"),
    _Optional("lief", "lief", "machine code (%asm)", 'pip install "jitscope[asm]"'),
    _Optional("capstone", "capstone", "machine code (%asm)", 'pip install "jitscope[asm]"'),
)


def _optional(one: _Optional) -> Finding:
    if importlib.util.find_spec(one.module) is None:
        return Finding(one.name, "missing", f"not installed; it gives {one.purpose}", one.install)
    return Finding(one.name, "ok", _version(one.name) or "installed")


def _version(name: str) -> str:
    try:
        return metadata.version(name.lower())
    except metadata.PackageNotFoundError:
        return ""


def _graphviz() -> Finding:
    if shutil.which("dot") is None:
        return Finding("Graphviz", "missing", "`dot` is not on the path; graphs are laid out without it")
    return Finding("Graphviz", "ok", "`dot` is on the path")


_ADDITION = """
import time
import jitscope as jx, jitscope.numpy as jnp
x, add = jnp.ones(16_000_000), jx.jit(lambda x: x + 1)
seconds = []
for _ in range(7):
    start = time.process_time()
    add(x).block_until_ready()
    seconds.append(time.process_time() - start)
print(min(seconds[1:]))
"""


def _large_arrays() -> Iterator[Finding]:
    """Whether arrays of more than 32 MB, which glibc gets from Linux anew each time, come in pages of 4 kB although they need not."""
    tunables = tunables_for_large_pages()
    if not tunables:
        return
    plain, large = (_seconds(_ADDITION, {**os.environ, **more}) for more in ({}, {"GLIBC_TUNABLES": tunables}))
    if not plain or not large or plain < 1.5 * large:
        return
    yield Finding(
        "large arrays",
        "missing",
        f"adding 1 to 64 MB takes {plain / large:.1f} times what it takes with large pages, which this Linux gives on demand",
        f"start Python with GLIBC_TUNABLES={tunables} in its environment (a kernel: in `env` of its kernel.json)",
    )


def _seconds(program: str, environment: dict[str, str]) -> float:
    """The number that a program in a process of its own prints; 0 where it prints none."""
    try:
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, timeout=_LIMIT, env=environment
        )
        return float(done.stdout)
    except (subprocess.TimeoutExpired, OSError, ValueError):
        return 0.0
