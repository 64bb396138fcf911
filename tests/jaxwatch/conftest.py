"""These tests need jax, and libraries written for it: `make test-jax` runs them in an environment of their own. Where these are not
installed nothing here is collected."""

import importlib.util
import os
import sys

from tests import extent


if any(importlib.util.find_spec(name) is None for name in ("jax", "flax")):
    collect_ignore_glob = ["test_*.py"]
else:
    os.environ.update(extent.flags(xla_force_host_platform_device_count=4, **({} if extent.ALL else extent.QUICK)))
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

    import pytest

    from jitscope_scope import jaxwatch, observe

    @pytest.fixture
    def watcher():
        """jax, watched; no fault of the watcher is allowed."""
        import jax

        jax.clear_caches()
        watching = jaxwatch.attach()
        yield watching
        jaxwatch.detach()
        assert not watching.faults, list(watching.faults)

    @pytest.fixture
    def rows(watcher, monkeypatch):
        """The rows of a ledger that begins with the test."""
        ledger = observe.Ledger()
        monkeypatch.setattr(sys.modules["jitscope_scope.observe.ledger"], "_session", ledger)
        yield lambda: list(ledger)
        ledger.close()
