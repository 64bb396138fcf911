"""Single calls compared with what JAX answered to them: dtype, weak type, shape, values, or the types of the error. They stand in
`cases/FILE.txt`, one Python expression a line, under headings; `recorded/cases_FILE.json` holds the answers.

`python -m tests.oracle.cases FILE …` asks JAX anew, in an environment that has it.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy

from tests.oracle import recorded
from tests.oracle.answers import Library, described, error_types, plain


FOLDER = Path(__file__).parent / "cases"


def files() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.txt"))


def sections(file: str) -> dict[str, list[str]]:
    """The expressions below each heading (`# words`)."""
    found: dict[str, list[str]] = {}
    heading = ""
    for line in (FOLDER / f"{file}.txt").read_text().splitlines():
        if line.startswith("# "):
            found[heading := line[2:]] = []
        elif line.strip():
            found[heading].append(line)
    return found


def scope(library: Library) -> dict[str, Any]:
    """The names of samples, and ways to write operands."""
    jx, np = library.jx, library.np

    class Says:
        """What is an array by its own word."""

        def __init__(self, values: Any):
            self.values = values

        def __jax_array__(self) -> Any:
            return np.asarray(self.values)

    def arr(*values: Any, d: str = "float32") -> Any:
        return np.asarray(numpy.asarray(values).astype(d))

    def some(shape: Any, d: str = "float32", positive: bool = False) -> Any:
        random = numpy.random.default_rng(0)
        if d == "bool":
            return np.asarray(random.random(shape) < 0.5)
        if "int" in d:
            return np.asarray(random.integers(0 if d.startswith("u") else -5, 6, shape).astype(d))
        x = abs(random.normal(size=shape)) + 0.1 if positive else 1.5 * random.normal(size=shape)
        return np.asarray((x + 1j * random.normal(size=shape) if d.startswith("complex") else x).astype(d))

    def under(context: Any, function: Any) -> Any:
        with context:
            return function()

    return library.scope | {
        "Says": Says,
        "arr": arr,
        "some": some,
        "under": under,
        "jit": lambda function, *args: jx.jit(function)(*args),
        "strict": lambda: jx.numpy_dtype_promotion("strict"),
        "raises": lambda: jx.numpy_rank_promotion("raise"),
        "wide": lambda: jx.enable_x64(True),
        "key": jx.random.key(0),
    }


def answer(library: Library, names: dict[str, Any], expr: str) -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            leaves = library.jx.tree_util.tree_leaves(eval(expr, dict(names)))
            arrays = [x if hasattr(x, "aval") else numpy.asarray(x) for x in leaves]
            return {
                "out": " ".join(described(getattr(x, "aval", None) or _Plain(x)) for x in arrays),
                "values": [recorded.numbers(plain(library, x)) for x in arrays],
            }
        except Exception as error:
            return {"error": error_types(error)}


class _Plain:
    """The aval of a NumPy array."""

    weak_type = False

    def __init__(self, x: numpy.ndarray):
        self.shape, self.dtype = x.shape, x.dtype


def load(file: str) -> dict[str, Any]:
    return recorded.load(f"cases_{file}")


if __name__ == "__main__":
    jax = Library("jax")
    for file in sys.argv[1:] or files():
        names = scope(jax)
        found = {expr: answer(jax, names, expr) for lines in sections(file).values() for expr in lines}
        rows = ",\n".join(f"{json.dumps(expr)}: {json.dumps(a, separators=(',', ':'))}" for expr, a in found.items())
        (recorded.FOLDER / f"cases_{file}.json").write_text("{\n" + rows + "\n}\n")
        print(file, len(found))
