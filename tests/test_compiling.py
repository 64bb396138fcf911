"""What was compiled in one way is forgotten when programs are to be compiled in another; what runs once gives what `jit` gives."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope.core.avals import aval_of
from tests.compiling import compile_in, once
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


ONCE: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "a tree": (lambda given: {"sum": given["x"] + given["y"]}, ({"x": np.arange(3.0), "y": 2},)),
    "a weak type": (lambda x: (x * 2, x < 3), (1.5,)),
    "a captured array": (lambda x: x @ jnp.arange(40.0).reshape(4, 10), (np.ones((3, 4)),)),
    "a loop": (lambda x: jx.lax.fori_loop(0, 5, lambda i, y: y * 2 + i, x), (np.ones(3),)),
    "a call of LAPACK": (jnp.linalg.cholesky, (np.eye(3) + 1,)),
    "a key": (lambda key, n: jx.random.split(key)[0] if n is None else n, (jx.random.key(3), None)),
    "a call of Python": (
        lambda x: jx.pure_callback(np.cbrt, jx.ShapeDtypeStruct((3,), "float32"), x),
        (np.full(3, 8.0),),
    ),
}


@pytest.mark.parametrize("name", ONCE)
def test_what_runs_once_gives_what_jit_gives(name: str) -> None:
    fun, args = ONCE[name]
    found, wanted = once(fun)(*args), jx.jit(fun)(*args)
    assert jx.tree.structure(found) == jx.tree.structure(wanted)
    for x, y in zip(jx.tree.leaves(found), jx.tree.leaves(wanted)):
        assert aval_of(x) == aval_of(y)
        if jnp.issubdtype(x.dtype, jx.dtypes.prng_key):
            x, y = jx.random.key_data(x), jx.random.key_data(y)
        np.testing.assert_allclose(np.asarray(x), np.asarray(y), rtol=1e-6)


def test_what_follows_from_constants_is_no_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel of its own would be needed for each result."""
    from jitscope.xla.program import Executable

    made = []
    compile_ = Executable.compile.__func__  # pyright: ignore[reportFunctionMemberAccess]
    monkeypatch.setattr(
        Executable,
        "compile",
        classmethod(lambda cls, *args, **named: made.append(compile_(cls, *args, **named)) or made[-1]),
    )
    x = np.arange(12.0).reshape(3, 4)
    once(lambda x: (jnp.sin(x), jnp.sum(x, 0), jnp.sort(x), x @ x.T))(x)
    (program,) = made
    text = program.hlo_modules()[0].to_string()
    assert " constant(" in text and not re.search(r" (sine|reduce|sort|dot|fusion|call|custom-call)\(", text), text
