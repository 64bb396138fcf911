"""What several files of these tests ask for."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from jitscope_scope.observe.ledger import Ledger


@pytest.fixture
def ledger() -> Iterator[Ledger]:
    """One of its own, which is not the session's."""
    own = Ledger()
    yield own
    own.close()
