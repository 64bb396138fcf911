"""How programs are compiled: those of some files (`extent.quick`) without XLA's optimisations."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from functools import cache

from tests import extent


_quickly = False


@cache
def _options() -> tuple[Callable[[], bytes], Callable[[], bytes]]:
    """What gives XLA's options: as it is, and for programs that are compiled quickly. A process reads XLA_FLAGS once, so that another
    one is asked what they give."""
    from jitscope.xla import program  # now: conftest.py must set its variables before

    code = "from jitscope.xla import program; print(program.default_options().hex())"
    env = os.environ | extent.flags(**extent.QUICK)
    said = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True).stdout
    return program.default_options, lambda: bytes.fromhex(said)


def compile_quickly(on: bool) -> None:
    """From now on programs are compiled so, or as users compile them. Those that were compiled otherwise are forgotten."""
    global _quickly
    if on != _quickly:
        import jitscope
        from jitscope.xla import program

        program.default_options = _options()[on]
        jitscope.clear_caches()
        _quickly = on
