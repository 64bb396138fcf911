"""Ask jax, in an environment with it: `python -m tests.oracle.record [NAME …]`. NAME is a file of samples or a table of cases; without
one all are asked, with `--part` those that `make test` compares. What is there already is not asked again, but with `--again`.
`--names` records the public names instead.

The answers go to `.answers/VERSION/`, those of part.py to `recorded/`, if the jax is the one of which git keeps answers.
"""

from __future__ import annotations

import concurrent.futures
import importlib.metadata
import inspect
import json
import multiprocessing
import os
import sys
import time
import types
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy

from tests.oracle import coverage, part, recorded, samples, tables
from tests.oracle.answers import ask
from tests.oracle.library import Library
from tests.oracle.names import MODULES, NUMPYS, RECORDED
from tests.oracle.results import encode


QUICKLY = "--xla_backend_optimization_level=0 --xla_cpu_parallel_codegen_split_count=1"
"""XLA's options for programs of which only the values matter."""
TOGETHER = 24
"""So many programs of a table are asked by one process at a time: what they evaluate alike is compiled once."""
Question = tuple[str, tuple[str, ...]]
"""A file, and the names of some functions or cases in it."""


def questions(file: str, version: str, again: bool, only_part: bool) -> Iterator[Question]:
    """What is to be asked of a file."""
    there = (
        set()
        if again
        else {*recorded.asked(file, version), *(recorded.kept(file) if version == recorded.RECORDED else ())}
    )
    if file in samples.files():
        wanted = part.functions(file) if only_part else {f.name for f in samples.functions(file)}
        yield from ((file, (name,)) for name in sorted(wanted - there))
        return
    table = tables.table(file)
    there |= table.different.keys() - table.kept.keys()
    if version == recorded.RECORDED:
        there |= table.kept.keys() & recorded.kept(file).keys()
    whole = isinstance(table, tables.Expressions) and table.compiled
    for members in table.sections.values() if whole else (table.names,):
        missing = [name for name in members if name not in there and not (only_part and not table.sample(name))]
        size = len(members) if whole else TOGETHER
        yield from ((file, tuple(missing[at : at + size])) for at in range(0, len(missing), size))


_library: Library
_asked = 0


def _start() -> None:
    global _library
    warnings.simplefilter("ignore")
    _library = Library("jax")


def answer(question: Question) -> dict[str, Any]:
    """By name, what jax answers."""
    global _asked
    file, some = question
    _asked += 1
    if _asked % 25 == 0:
        _library.jx.clear_caches()
    if file not in samples.files():
        return {name: encode(found) for name, found in tables.table(file).ask(_library, some).items()}
    return {f.name: entry(_library, f) for f in samples.functions(file) if f.name in some}


def entry(jax: Library, function: samples.Function) -> dict[str, Any]:
    answers = {dtype: [recorded.encode(a) for a in ask(jax, function, dtype, jax.jx.jit)] for dtype in function.dtypes}
    return {"digest": function.digest, "signature": jax.signature(function.name), "answers": answers}


def ask_all(asked: Sequence[Question], flags: str, version: str) -> list[str]:
    """Ask in as many processes as there are cores, and write down what they answer; what could not be asked."""
    os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {flags}".strip()
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    left = {file: sum(f == file for f, _ in asked) for file, _ in asked}
    found: dict[str, dict[str, Any]] = {file: {} for file in left}
    failed = []
    spawn = multiprocessing.get_context("spawn")
    count = min(os.cpu_count() or 1, len(asked))
    with concurrent.futures.ProcessPoolExecutor(count, spawn, _start) as pool:
        running = {pool.submit(answer, each): each for each in asked}
        for done in concurrent.futures.as_completed(running):
            file, some = running[done]
            try:
                found[file].update(done.result())
            except Exception as error:  # XLA refuses a program that JAX traces: what was answered to the others is kept
                failed.append(f"{file}: {', '.join(some)}: {type(error).__name__}: {str(error)[:300]}")
            left[file] -= 1
            if not left[file]:
                write(file, version, found.pop(file))
    return failed


def write(file: str, version: str, found: dict[str, Any]) -> None:
    if version == recorded.RECORDED and file in samples.files():
        coverage.note(found)
    if version == recorded.RECORDED and part.kept(file) & found.keys():
        names = [f.name for f in samples.functions(file)] if file in samples.files() else tables.table(file).names
        every = recorded.kept(file) | found
        recorded.keep(file, {name: every[name] for name in names if name in part.kept(file) and name in every})
        found = {name: value for name, value in found.items() if name not in part.kept(file)}
    if found:
        recorded.store(file, version, recorded.asked(file, version) | found)


def slow_first(question: Question) -> bool:
    return not part.TAKE_LONG.intersection(question[1])


def main(chosen: Sequence[str], again: bool, only_part: bool) -> int:
    version, begun = importlib.metadata.version("jax"), time.monotonic()
    if version != recorded.JAX:
        print(
            f"jax {version} is here, the answers of {recorded.JAX} are compared: nothing is asked, but with JITSCOPE_ANSWERS={version}."
        )
        return 0
    files = chosen or [*samples.files(), *(table.name for table in tables.tables())]
    asked = sorted((q for file in files for q in questions(file, version, again, only_part)), key=slow_first)
    optimized = [q for q in asked if q[0] not in samples.files() and tables.table(q[0]).optimized]
    quick = [q for q in asked if q not in optimized]
    count = sum(len(some) for _, some in asked)
    if count:
        print(f"Asking jax {version} about {count:,} functions and programs …", flush=True)
    flags = os.environ.get("XLA_FLAGS", "")
    failed = ask_all(quick, QUICKLY, version) if quick else []
    os.environ["XLA_FLAGS"] = flags
    failed += ask_all(optimized, "", version) if optimized else []
    print(
        "\n".join(f"NOT ANSWERED {each}" for each in failed)
        or f"jax {version} has answered: {count:,} in {time.monotonic() - begun:.0f} s."
    )
    return bool(failed)


def kind(value: Any) -> str:
    if isinstance(value, types.ModuleType):
        return "module"
    if isinstance(value, type):
        return "class"
    if type(value).__module__ in ("typing", "types") and not isinstance(value, types.FunctionType):
        return "constant"  # an alias of types
    if type(value).__name__ == "Primitive" or "Primitive" in [t.__name__ for t in type(value).__mro__]:
        return "primitive"
    if callable(value) and not isinstance(value, numpy.dtype) and type(value).__name__ != "_ScalarMeta":
        return "function"
    return "constant"


def names() -> dict[str, dict[str, str]]:
    found = {}
    for module in MODULES:
        public = vars(sys.modules[f"jax.{module}"])
        found[module] = {n: kind(v) for n, v in sorted(public.items()) if not n.startswith("_")}
    found["Array"] = {
        n: "function" if inspect.isroutine(v) else "constant"
        for n, v in sorted(vars_of(sys.modules["jax.numpy"].zeros(3)).items())
        if not n.startswith("_")
    }
    return found


def by_kind(found: dict[str, str]) -> dict[str, list[str]]:
    return {kind: [n for n, k in found.items() if k == kind] for kind in sorted(set(found.values()))}


def numpys() -> dict[str, Any]:
    """NumPy's own public functions."""
    functions = [n for n, v in sorted(vars(numpy).items()) if not n.startswith("_") and kind(v) == "function"]
    return {"version": numpy.__version__, "functions": functions}


def vars_of(x: Any) -> dict[str, Any]:
    return {n: getattr(type(x), n, None) for n in dir(x)}


if __name__ == "__main__":
    if "--names" in sys.argv:
        warnings.simplefilter("ignore")
        Library("jax")
        rows = [
            f"{json.dumps(module)}: {json.dumps(by_kind(found), separators=(',', ':'))}"
            for module, found in names().items()
        ]
        RECORDED.write_text("{\n" + ",\n".join(rows) + "\n}\n")
        NUMPYS.write_text(json.dumps(numpys(), indent=0) + "\n")
    else:
        sys.exit(main([a for a in sys.argv[1:] if not a.startswith("--")], "--again" in sys.argv, "--part" in sys.argv))
