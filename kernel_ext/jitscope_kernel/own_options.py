"""What a program that `jitscope check` runs sets for the whole process holds for that program alone."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator

from jitscope import config
from jitscope_scope import jaxwatch


@contextlib.contextmanager
def options_of_its_own() -> Iterator[Callable[[], None]]:
    """Options of the library's and of jax's, and filters of warnings, which begin as Python's do. Gives what is to be called as soon as the
    program may have imported jax."""
    before, of_jax = config.values, jaxwatch.options()

    def imported() -> None:
        of_jax.update({} if of_jax else jaxwatch.options())

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            yield imported
    finally:
        jaxwatch.set_back(of_jax)
        for name, value in config.values.items():
            if before[name] != value and name != "jax_num_cpu_devices":
                config.update(name, before[name])
