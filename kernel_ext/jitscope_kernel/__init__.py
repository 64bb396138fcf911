"""jitscope in the notebook: `%%jit` and the other magics, the session behind them, `inspect`, `find_nan` and `step`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from jitscope.core import source
from jitscope.core.late import late


if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from .additions import add_instruments
    from .inspection import Inspection, inspect
    from .nans import NanHunt, find_nan
    from .on_target import Targets
    from .stepping import Stepped, step
    from .tuning import Tuned, tune, untune
else:  # the command line shows documents and looks at programs without a compiler
    late(
        globals(),
        {
            ".additions": "add_instruments",
            ".inspection": "Inspection inspect",
            ".nans": "NanHunt find_nan",
            ".stepping": "Stepped step",
            ".tuning": "Tuned tune untune",
        },
    )


source.add_internal(str(Path(__file__).parent))

__all__ = [
    "Inspection", "NanHunt", "Stepped", "Tuned", "add_instruments", "find_nan", "inspect", "load_ipython_extension",
    "step", "targets", "tune", "unload_ipython_extension", "untune",
]  # fmt: skip


def targets() -> Targets:
    """Every chip that `inspect(f)(x).on(…)` and `%%jit --target` can compile for without having it, whether its compiler is ready here, and
    the one command that makes it so. Nothing is loaded for it."""
    from .on_target import targets as known

    return known()


def load_ipython_extension(shell: InteractiveShell) -> None:
    """`%load_ext jitscope`"""
    from . import session

    session.load(shell)


def unload_ipython_extension(shell: InteractiveShell) -> None:
    """`%unload_ext jitscope`: everything is as it was before."""
    from . import session

    session.unload(shell)
