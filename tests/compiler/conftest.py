"""What several files of the compiler's tests ask for."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import jitscope as jx


@pytest.fixture
def wide() -> Iterator[None]:
    """Numbers have 64 bits."""
    with jx.enable_x64():
        yield


@pytest.fixture
def nothing_compiled() -> None:
    jx.clear_caches()
