"""The examples in docstrings give what they say."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import api, control, lax, special


def test_examples_in_docstrings_run() -> None:
    names = {"jx": jx, "jnp": jnp, "lax": lax}
    with_examples = set()
    for room in (api, control, lax, special):
        for info in pkgutil.iter_modules(room.__path__, f"{room.__name__}."):
            for test in doctest.DocTestFinder().find(importlib.import_module(info.name), globs=names):
                if test.examples:
                    said: list[str] = []
                    failed = doctest.DocTestRunner(verbose=False).run(test, out=said.append).failed
                    assert not failed, "".join(said)
                    with_examples.add(test.name.rpartition(".")[2])
    assert {"jit", "grad", "vmap", "vjp", "jvp", "make_jaxpr", "scan", "cond", "while_loop"} <= with_examples
