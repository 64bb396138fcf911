"""What the compiler's tests share: operations by short names, a count of what was compiled, code in a new process."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import jitscope.numpy  # noqa: F401  (operators)
from jitscope.core import records
from jitscope.ops import elementwise, linear
from jitscope.ops.dot import dot_general


sin, cos, exp, log, tanh = (getattr(elementwise, f"{name}_p") for name in ("sin", "cos", "exp", "log", "tanh"))
add, sub, mul, neg = (getattr(linear, f"{name}_p") for name in ("add", "sub", "mul", "neg"))
div, lt = elementwise.div_p, elementwise.lt_p


def total(x: Any) -> Any:
    """The sum of all elements."""
    return linear.reduce_sum_p(x, axes=tuple(range(len(x.shape if hasattr(x, "shape") else x.aval.shape))))


def matmul(x: Any, y: Any) -> Any:
    """The product of two matrices."""
    return dot_general(x, y, (((1,), (0,)), ((), ())))


def floats(*shape: int, dtype: Any = np.float32, seed: int = 0) -> np.ndarray:
    """Random numbers, the same each time."""
    return np.random.default_rng(seed).uniform(0.2, 0.9, shape).astype(dtype)


class Steps(Counter):
    """How many records of each step were written, and the records."""

    def __init__(self) -> None:
        super().__init__()
        self.records: list[records.Record] = []

    def take(self, record: records.Record) -> None:
        self[record.step] += 1
        self.records.append(record)


@contextmanager
def steps() -> Iterator[Steps]:
    """Count the records written inside the block."""
    found = Steps()
    stop = records.listen(found.take)
    try:
        yield found
    finally:
        stop()


def in_new_process(code: str, *, timeout: float = 300, **env: str) -> str:
    """What a program prints. It must succeed."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(code)],
        capture_output=True, text=True, timeout=timeout, env={**os.environ, **env},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()


needs_proc = pytest.mark.skipif(
    not Path("/proc/self/statm").exists(), reason="the memory of a process is read from /proc, which only Linux has"
)
