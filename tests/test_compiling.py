"""What was compiled in one way is forgotten when programs are to be compiled in another."""

from __future__ import annotations

import jitscope as jx
import jitscope.numpy as jnp
from tests.compiling import compile_in
from tests.extent import Way, as_users


@as_users
def test_programs_are_compiled_in_the_way_asked_for() -> None:
    run = jx.jit(lambda x: jnp.sin(x) * 2 + jnp.cos(x).sum())
    x = jnp.ones(64)
    sizes = []
    try:
        for way in (Way.AS_USERS, Way.UNOPTIMIZED, Way.AS_USERS):
            compile_in(way)
            run(x)
            sizes.append(len(run.lower(x).compile().runtime_executable().serialize()))
    finally:
        compile_in(Way.AS_USERS)
    assert sizes[1] < 0.95 * min(sizes[0], sizes[2])  # of machine code, unrolled and in vectors
