"""How programs are compiled: those of some files (`extent.quick`) without XLA's optimisations."""

from __future__ import annotations

from functools import cache

from tests import extent


_quickly = False


@cache
def _options() -> tuple:
    """What gives XLA's options, in bytes: as it is, and as it is for programs that are compiled quickly."""
    from jitscope.xla import program  # now: conftest.py must set its variables before

    quick = program.xc.CompileOptions.ParseFromString(program.default_options())
    quick.env_option_overrides = list(extent.QUICK.items())
    return program.default_options, quick.SerializeAsString


def compile_quickly(on: bool) -> None:
    """From now on programs are compiled so, or as users compile them. Those that were compiled otherwise are forgotten."""
    global _quickly
    if on != _quickly:
        import jitscope
        from jitscope.xla import program

        program.default_options = _options()[on]
        jitscope.clear_caches()
        _quickly = on
