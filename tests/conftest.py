"""What every test gets: the same random numbers, a quiet Jupyter, and no time limits from hypothesis."""

import gc
import os
import random
import signal
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import numpy as np
import pytest

from tests import extent, jaxlib_files, sharding
from tests.compiling import compile_in


# Before anything imports jupyter_core, here and in the kernels that tests start.
os.environ["JUPYTER_PLATFORM_DIRS"] = "1"

# Before anything imports jitscope. Tests count what is compiled; what an earlier test left on disk must not change that.
os.environ["JITSCOPE_COMPILATION_CACHE"] = "0"

hypothesis.settings.register_profile(
    "jitscope",
    deadline=None,  # the first example compiles
    derandomize=True,
    database=None,
    max_examples=extent.examples(100),
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("jitscope")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--shard", metavar="K/N", help="run the K-th of N parts of the tests")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    jaxlib_files.mark(items)
    extent.mark_repeated(items)
    _keep(config, items, extent.chosen(items, named=any("::" in arg for arg in config.args)))
    # Slow tests start first; those that compile alike run together.
    items.sort(key=lambda item: (item.get_closest_marker("long") is None, extent.way(item).value))
    if text := config.getoption("--shard"):
        try:
            part = sharding.parsed(text)
        except ValueError as error:
            raise pytest.UsageError(str(error)) from None
        _keep(config, items, [item for item in items if sharding.belongs(item.nodeid, *part)])


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[object]:
    """What is collected stays: no garbage is searched for meanwhile."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish() -> None:
    """A search for garbage does not go through the million objects that are there now, 0.7 s each time. What is among them is
    found by no `gc.get_objects` and holds nothing for `gc.get_referrers`."""
    gc.collect()
    gc.freeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Of how many questions JAX's answers were there, if some were compared."""
    reports = (report for each in terminalreporter.stats.values() for report in each)
    if any(getattr(report, "nodeid", "").startswith(("tests/oracle/", "tests/compiler/")) for report in reports):
        from tests.oracle import there

        terminalreporter.write_line(there.told())


@pytest.hookimpl(tryfirst=True)  # before the fixtures of a file
def pytest_runtest_setup(item: pytest.Item) -> None:
    compile_in(extent.way(item))


def _keep(config: pytest.Config, items: list[pytest.Item], kept: list[pytest.Item]) -> None:
    """Run these alone; pytest counts the others."""
    if len(kept) < len(items):
        config.hook.pytest_deselected(items=list(set(items) - set(kept)))
        items[:] = kept


@pytest.fixture(autouse=True)
def _same_random_numbers() -> None:
    random.seed(0)
    np.random.seed(0)


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return Path(__file__).parents[1]


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Ctrl-C interrupts, also where the tests run in the background, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def every_object() -> Iterator[None]:
    """What was there before the tests is found by `gc.get_objects`, too, as in a user's process."""
    gc.unfreeze()
    yield
    gc.collect()
    gc.freeze()
