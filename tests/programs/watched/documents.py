"""The document of a watched program, with what was measured of it and what jax says of it itself: `python -m
tests.programs.watched.documents NAME FILE`."""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import jax
import numpy as np

import jitscope
from jitscope_scope import jaxwatch, observe


INSTRUMENTS: dict[str, dict[str, Any]] = {"profile": {"limit": 0.5}, "memory": {}, "values": {}, "reasons": {}}


def document_of(name: str) -> dict[str, Any]:
    """The compilation document of a program's first call."""
    function, args = import_module(f"tests.programs.watched.{name}").made()
    seen = jitscope.inspect(function)(*args)
    found = {which: observe.look(seen._row, which, seen._given, **given) for which, given in INSTRUMENTS.items()}
    return {**seen.document, "instruments": found}


def told_by_jax(name: str) -> dict[str, Any]:
    """What jax says of the same call, asked through its public functions: the text of the optimised program, the bytes of its
    arguments, and whether each result is finite."""
    function, args = import_module(f"tests.programs.watched.{name}").made()
    compiled = _lowered(function, args).compile()
    results = jax.tree.leaves(function(*args))
    return {
        "text": compiled.as_text(),
        "arguments": sum(leaf.nbytes for leaf in jax.tree.leaves(args) if isinstance(leaf, jax.Array)),
        "finite": all(bool(np.isfinite(np.asarray(leaf)).all()) for leaf in results if _is_floating(leaf)),
    }


def _lowered(function: Any, args: tuple[Any, ...]) -> Any:
    lowered = function.lower(*args)
    return getattr(lowered, "lowered", lowered)


def _is_floating(leaf: object) -> bool:
    return isinstance(leaf, jax.Array) and bool(jax.numpy.issubdtype(leaf.dtype, jax.numpy.floating))


def main(name: str, file: str) -> None:
    jaxwatch.attach()
    document = document_of(name)
    jaxwatch.detach()
    Path(file).write_text(json.dumps({"document": document, "jax": told_by_jax(name)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
