"""The document of a watched program, with what was measured of it and what jax says of it itself: `python -m
tests.programs.watched.documents NAME FILE`; with `line` behind it, its profile and what a line of it costs by itself; with `again`,
what a call with half of the batch compiled; with `disk`, what a second process would load; with `devices`, how arguments lie."""

from __future__ import annotations

import contextlib
import json
import logging
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import jax
import numpy as np

import jitscope
from jitscope_scope import jaxwatch, observe
from tests.programs import ablation


INSTRUMENTS: dict[str, dict[str, Any]] = {"profile": {"limit": 0.5}, "memory": {}, "values": {}, "reasons": {}}


def document_of(name: str) -> dict[str, Any]:
    """The compilation document of a program's first call, and what jax's events say that its stages took."""
    function, args = import_module(f"tests.programs.watched.{name}").made()
    with _events() as seconds:
        seen = jitscope.inspect(function)(*args)
    found = {which: observe.look(seen._row, which, seen._given, **given) for which, given in INSTRUMENTS.items()}
    return {"document": {**seen.document, "instruments": found}, "seconds": seconds}


@contextlib.contextmanager
def _events() -> Iterator[dict[str, float]]:
    """The longest of each of jax's events that tell of a stage."""
    names = {
        "/jax/core/compile/jaxpr_trace_duration": "trace",
        "/jax/core/compile/jaxpr_to_mlir_module_duration": "lower",
        "/jax/core/compile/backend_compile_duration": "compile",
    }
    found: dict[str, float] = {}

    def note(event: str, seconds: float, **_: object) -> None:
        if (stage := names.get(event)) is not None:
            found[stage] = max(found.get(stage, 0.0), seconds)

    jax.monitoring.register_event_duration_secs_listener(note)
    try:
        yield found
    finally:
        jax.monitoring.unregister_event_duration_listener(note)


def told_by_jax(name: str) -> dict[str, Any]:
    """What jax says of the same call, asked through its public functions: the text of the optimised program, the bytes of its
    arguments and what else XLA sets aside, the equations of the backward pass, and whether each result is finite."""
    function, args = import_module(f"tests.programs.watched.{name}").made()
    compiled = _lowered(function, args).compile()
    results = jax.tree.leaves(function(*args))
    executable = getattr(compiled, "compiled", compiled)
    stats = executable.memory_analysis()
    return {
        "text": compiled.as_text(),
        "arguments": sum(leaf.nbytes for leaf in jax.tree.leaves(args) if isinstance(leaf, jax.Array)),
        "memory": {
            "argument": stats.argument_size_in_bytes,
            "output": stats.output_size_in_bytes - stats.alias_size_in_bytes,
            "temp": stats.temp_size_in_bytes,
        },
        "finite": all(bool(np.isfinite(np.asarray(leaf)).all()) for leaf in results if _is_floating(leaf)),
    }


def recompiled(name: str) -> dict[str, Any]:
    """A program called with all of its batch, half of it, and all again: the document of the second program, and what jax's own log
    says, which programs it compiled and for which types."""
    module = import_module(f"tests.programs.watched.{name}")
    function, args = module.made()
    said: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: said.append(record.getMessage())
    logger = logging.getLogger("jax")
    logger.addHandler(handler)
    since = observe.ledger().mark()
    with jax.log_compiles(True):
        for given in (args, _halved(args), args):
            jax.block_until_ready([x for x in jax.tree.leaves(function(*given)) if isinstance(x, jax.Array)])
    logger.removeHandler(handler)
    rows = [row for row in observe.ledger().since(since) if row.function == "train_step" and row.entry is not None]
    compiled = Counter(text.split()[1] for text in said if text.startswith("Compiling"))
    return {"document": observe.compilation_document(rows[-1]), "compiled": compiled, "said": said}


def _halved(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The model and the optimizer as they are; half of the batch."""
    return tuple(x[: len(x) // 2] if isinstance(x, jax.Array) else x for x in args)


def line_by_itself(name: str) -> dict[str, Any]:
    """The document with its profile, and what the line that `ablation` cuts costs by itself."""
    module = import_module(f"tests.programs.watched.{name}")
    assert module.__file__
    line, cut = ablation.line_of(name, module.__file__), ablation.without_line(name, module.__file__)
    function, args = module.made()
    held = jax.tree.leaves(args)  # a module of nnx lets go of them when it is trained
    seen = jitscope.inspect(function)(*args)

    def calls(function: Any, args: tuple[Any, ...]) -> Callable[[], None]:
        return lambda: jax.block_until_ready([x for x in jax.tree.leaves(function(*args)) if isinstance(x, jax.Array)])

    profile, share = ablation.compared(
        lambda: observe.look(seen._row, "profile", seen._given, limit=0.5),
        line,
        calls(function, args),
        calls(*cut.made()),
    )
    del held
    return {"document": {**seen.document, "instruments": {"profile": profile}}, "share": share}


def from_disk(name: str) -> dict[str, Any]:
    """The document of a program that jax found in its cache on disk, and how often its events say that it did."""
    function, args = import_module(f"tests.programs.watched.{name}").made()
    hits: list[str] = []
    jax.monitoring.register_event_listener(
        lambda event, **_: hits.append(event) if event.endswith("cache_hits") else None
    )
    with tempfile.TemporaryDirectory() as folder:
        jax.config.update("jax_compilation_cache_dir", folder)
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
        for _ in range(2):
            jax.clear_caches()
            hits.clear()
            since = observe.ledger().mark()
            jax.block_until_ready([x for x in jax.tree.leaves(function(*args)) if isinstance(x, jax.Array)])
    (row,) = [row for row in observe.ledger().since(since) if row.function == "train_step" and row.entry is not None]
    return {"document": observe.compilation_document(row), "hits": len(hits)}


def over_devices(name: str) -> dict[str, Any]:
    """The document of a program of several devices; what jax says that each has of every argument, and how its text exchanges."""
    function, args = import_module(f"tests.programs.watched.{name}").made()
    seen = jitscope.inspect(function)(*args)
    given = [
        {
            "whole": list(x.shape),
            "part": list(x.sharding.shard_shape(x.shape)),
            "devices": len(x.sharding.device_set),
        }
        for x in jax.tree.leaves(args)
    ]
    return {"document": seen.document, "given": given, "text": _lowered(function, args).compile().as_text()}


def _lowered(function: Any, args: tuple[Any, ...]) -> Any:
    lowered = function.lower(*args)
    return getattr(lowered, "lowered", lowered)


def _is_floating(leaf: object) -> bool:
    return isinstance(leaf, jax.Array) and bool(jax.numpy.issubdtype(leaf.dtype, jax.numpy.floating))


def main(name: str, file: str, what: str = "") -> None:
    jaxwatch.attach()
    if what:
        looks = {"line": line_by_itself, "again": recompiled, "disk": from_disk, "devices": over_devices}
        found = looks[what](name)
    else:
        found = document_of(name)
        jaxwatch.detach()
        found = {"document": found["document"], "jax": {**told_by_jax(name), "seconds": found["seconds"]}}
    Path(file).write_text(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
