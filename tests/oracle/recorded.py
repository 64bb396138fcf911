"""JAX's answers as JSON: one file for each file of samples."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import numpy

from tests.oracle.answers import Answer


FOLDER = Path(__file__).parent / "recorded"


@functools.cache
def load(file: str) -> dict[str, Any]:
    path = FOLDER / f"{file}.json"
    return json.loads(path.read_text()) if path.exists() else {}


def write(file: str, found: dict[str, Any]) -> None:
    """One line for each sample and dtype, so that a change shows where it is."""
    blocks = []
    for name, entry in found.items():
        head = json.dumps({k: v for k, v in entry.items() if k != "answers"})[1:-1]
        rows = ",\n".join(f"  {json.dumps(dtype)}: [\n   " + ",\n   ".join(json.dumps(a, separators=(",", ":")) for a in answers) + "]"
                          for dtype, answers in entry["answers"].items())  # fmt: skip
        blocks.append(f'{json.dumps(name)}: {{{head}, "answers": {{\n{rows}}}}}')
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / f"{file}.json").write_text("{\n" + ",\n".join(blocks) + "\n}\n")


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
        equations=found["equations"],
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
