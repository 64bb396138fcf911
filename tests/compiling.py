"""How programs are compiled: as users compile them, or in less time (`extent.Way`)."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from functools import cache, partial
from typing import Any

from tests import extent
from tests.extent import Way


_now: dict[str, Any] = {}  # the options that hold, once they were set


@cache
def _as_users() -> Callable[[], bytes]:
    """What gives XLA's options as they are."""
    from jitscope.xla import program  # now: conftest.py must set its variables before

    return program.default_options


@cache
def _given(options: tuple[tuple[str, bool | int], ...]) -> bytes:
    """What XLA is told with these options besides. A process reads XLA_FLAGS once, so that another one is asked."""
    code = "from jitscope.xla import program; print(program.default_options().hex())"
    env = os.environ | extent.flags(**dict(options))
    said = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True).stdout
    return bytes.fromhex(said)


def compile_in(way: Way) -> None:
    """From now on programs are compiled so. Those that were compiled with other options are forgotten."""
    if way.options != _now:
        import jitscope
        from jitscope.xla import program

        as_users = _as_users()
        program.default_options = partial(_given, tuple(way.options.items())) if way.options else as_users
        jitscope.clear_caches()
        _now.clear()
        _now.update(way.options)
