"""Tests that depend on the release of jaxlib have a mark."""

import pytest

from tests.compiler.jaxlibs import SELECTED


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.parent.name == "compiler" and item.path.stem.removeprefix("test_") in SELECTED:
            item.add_marker(pytest.mark.jaxlib)
