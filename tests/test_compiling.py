"""What was compiled quickly is forgotten when programs are to be compiled as users compile them, and the other way round."""

from __future__ import annotations

import jitscope as jx
import jitscope.numpy as jnp
from tests import extent
from tests.compiling import compile_quickly


@extent.as_users
def test_programs_are_compiled_in_the_way_asked_for() -> None:
    run = jx.jit(lambda x: jnp.sin(x) * 2 + jnp.cos(x).sum())
    x = jnp.ones(64)
    sizes = []
    try:
        for on in (False, True, False):
            compile_quickly(on)
            run(x)
            sizes.append(len(run.lower(x).compile().runtime_executable().serialize()))
    finally:
        compile_quickly(False)
    assert sizes[1] < 0.95 * min(sizes[0], sizes[2])  # of machine code, unrolled and in vectors
