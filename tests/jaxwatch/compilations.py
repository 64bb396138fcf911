"""How often jax compiles what, as jax itself says."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import jax

from jitscope_scope.jaxwatch import private


@contextmanager
def counted() -> Iterator[Counter[str]]:
    """By function, how often it is compiled in the block, which begins without any program."""
    compiled: Counter[str] = Counter()

    def listener(event, seconds, **told):
        if event == "/jax/core/compile/backend_compile_duration":
            compiled[told["fun_name"]] += 1

    jax.clear_caches()
    jax.monitoring.register_event_duration_secs_listener(listener)
    try:
        yield compiled
    finally:
        private.monitoring("unregister_event_duration_listener")(listener)
