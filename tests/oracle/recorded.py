"""JAX's answers as JSON, one file for each file of samples or table of cases: those that git keeps (`recorded/`, part.py says which), and
those that jax was asked for (`.answers/`, by its version)."""

from __future__ import annotations

import functools
import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy

from tests.oracle.answers import Answer


HERE = Path(__file__).parent
FOLDER = HERE / "recorded"
RECORDED = "0.12.0.1"
"""The jax of which git keeps answers."""
JAX = os.environ.get("JITSCOPE_ANSWERS", RECORDED)
"""The jax whose answers are compared."""


def folder(version: str) -> Path:
    return HERE.parents[1] / ".answers" / version


@functools.cache
def load(file: str) -> dict[str, Any]:
    """The answers that are there, by question. What git keeps goes before what was asked here."""
    return {**asked(file, JAX), **kept(file)} if JAX == RECORDED else asked(file, JAX)


@functools.cache
def kept(file: str) -> dict[str, Any]:
    """The answers that git keeps, but those to samples that have changed since."""
    return _current(file, _read(FOLDER / f"{file}.json"))


def asked(file: str, version: str) -> dict[str, Any]:
    """The answers that a jax was asked for, but those to questions that have changed since."""
    found = _read(folder(version) / f"{file}.json")
    return _current(file, found["answers"]) if found.get("digest") == digest(file) else {}


def _current(file: str, found: dict[str, Any]) -> dict[str, Any]:
    from tests.oracle import samples

    if file not in samples.files():
        return found
    digests = {f.name: f.digest for f in samples.functions(file)}
    return {name: entry for name, entry in found.items() if entry["digest"] == digests.get(name)}


def _read(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


@functools.cache
def digest(file: str) -> str:
    """Of all that the answers of a file depend on but the questions' texts: how they are asked, a module of programs, a table's options."""
    found = hashlib.sha256()
    for name in ("answers", "letters", "library", "operands", "programs", "results"):
        found.update((HERE / f"{name}.py").read_bytes())
    program, expressions = (HERE / "cases" / f"{file}.{suffix}" for suffix in ("py", "txt"))
    if program.exists():
        found.update(program.read_bytes())
    elif expressions.exists():
        lines = expressions.read_text(encoding="utf-8").splitlines()
        found.update("".join(line for line in lines if line.startswith("% ")).encode())
    return found.hexdigest()[:12]


def store(file: str, version: str, found: Mapping[str, Any]) -> None:
    """Write down what a jax answered."""
    path = folder(version) / f"{file}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    written = path.with_suffix(".new")
    written.write_text(json.dumps({"digest": digest(file), "answers": found}, separators=(",", ":")), encoding="utf-8")
    written.replace(path)


def keep(file: str, found: Mapping[str, Any]) -> None:
    """Write down what git keeps, one line for each case, or sample and dtype, so that a change shows where it is."""
    dump = functools.partial(json.dumps, separators=(",", ":"), ensure_ascii=True)
    blocks = []
    for name, entry in found.items():
        if isinstance(entry, dict) and "digest" in entry:
            head = dump({k: v for k, v in entry.items() if k != "answers"})[1:-1]
            rows = ",\n".join(f"{dump(dtype)}:[\n" + ",\n".join(dump(_short(a)) for a in answers) + "]"
                              for dtype, answers in entry["answers"].items())  # fmt: skip
            blocks.append(f'{dump(name)}:{{{head},"answers":{{\n{rows}}}}}')
        else:
            blocks.append(f"{dump(name)}:{dump(entry)}")
    (FOLDER / f"{file}.json").write_text("{\n" + ",\n".join(blocks) + "\n}\n", encoding="utf-8")


def _short(answer: dict[str, Any]) -> dict[str, Any]:
    """Without what no test compares."""
    return {key: value for key, value in answer.items() if key != "equations"}


def encode(answer: Answer) -> Any:
    """The shortest form: a text for a result without values."""
    if answer.error is not None:
        return {"error": answer.error}
    found: dict[str, Any] = {"out": answer.out}
    if answer.eager:
        found["eager"] = True
    if answer.values is not None:
        found["values"] = [numbers(x) for x in answer.values]
    if isinstance(answer.grads, dict):
        found["grads"] = {name: numbers(g) for name, g in answer.grads.items()}
    elif answer.grads is not None:
        found["grads"] = answer.grads
    if answer.mapped is not None:
        found["mapped"] = answer.mapped
    found["equations"] = answer.equations
    return found


def decode(found: Any) -> Answer:
    if "error" in found:
        return Answer(error=found["error"])
    grads = found.get("grads")
    return Answer(
        out=found["out"],
        eager=found.get("eager", False),
        values=[numpy.array(x) if x != [] else numpy.zeros(0) for x in found["values"]] if "values" in found else None,
        grads={name: numpy.array(g) for name, g in grads.items()} if isinstance(grads, dict) else grads,
        mapped=found.get("mapped"),
        equations=found.get("equations", 0),
    )


def numbers(x: numpy.ndarray) -> list[Any]:
    """Flat; floats with nine digits, doubles with all, complex numbers one real and one imaginary part after the other."""
    x = flat(x)
    if x.dtype.kind != "f":
        return x.astype("int64").tolist()
    return x.tolist() if x.dtype.itemsize > 4 else [float(f"{v:.9g}") for v in x.tolist()]


def flat(x: numpy.ndarray) -> numpy.ndarray:
    x = numpy.asarray(x).ravel()
    if x.dtype.kind == "c":
        return numpy.stack([x.real, x.imag], -1).ravel()
    return x if x.dtype.kind in "biuf" else x.astype("float32")
