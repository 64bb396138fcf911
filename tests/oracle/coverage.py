"""The table of what the library has of JAX's and NumPy's names, and how each is checked: `python -m tests.oracle.coverage`
prints it; with `--write`, docs/coverage.md gets it; with `--check`, it is said whether that is still to be done.
"""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.oracle import names, recorded, samples
from tests.oracle.library import Library


PAGE = Path(__file__).resolve().parents[2] / "docs" / "coverage.md"
INTRODUCTION = """# What of JAX and NumPy is here

Made by `make format` from the samples that the tests run (`tests/oracle/samples`) and from what JAX 0.12 answered to
them. *Names* counts the public names of the module in JAX, *here* those that jitscope has; *functions* are those names that can be
called (and are no classes). Each is compared with JAX's recorded answers: its signature, the dtype, weak type and shape of its
results for up to eight dtypes, the type of the error where it refuses; *values* counts the functions whose values are compared,
*jit* those compiled, *vmap* those mapped over two sets of operands at once, *grad* those whose gradients are compared. (A function
of shapes or names alone has no values to compare, a function of integers no gradient.) *Samples* are expressions, each asked of
all dtypes.
"""


LACKING = recorded.FOLDER / "coverage.json"
KINDS: dict[str, Callable[[dict[str, Any]], bool]] = {
    "values": lambda answer: "values" in answer,
    "jit": lambda answer: "out" in answer and not answer.get("eager"),
    "vmap": lambda answer: answer.get("mapped") is True,
    "grad": lambda answer: isinstance(answer.get("grads"), dict),
}
"""How a function is compared: whether one of JAX's answers to its samples tells so."""


@functools.cache
def lacking() -> dict[str, frozenset[str]]:
    """By kind, the functions that are not compared so."""
    return {kind: frozenset(functions) for kind, functions in json.loads(LACKING.read_text(encoding="utf-8")).items()}


def lacks(entry: dict[str, Any]) -> set[str]:
    """The kinds that all answers about a function lack."""
    every = [answer for answers in entry["answers"].values() for answer in answers]
    return {kind for kind, has_it in KINDS.items() if not any(map(has_it, every))}


def note(entries: dict[str, dict[str, Any]]) -> None:
    """Write down what answers of JAX's say of these functions."""
    lacking.cache_clear()
    sampled = {f.name for f in samples.every()}
    rows = []
    for kind in KINDS:
        names = (lacking()[kind] - entries.keys()) | {name for name, entry in entries.items() if kind in lacks(entry)}
        rows.append(f"{json.dumps(kind)}: {json.dumps(sorted(names & sampled), indent=0)}")
    LACKING.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")


def has(library: Library, name: str) -> bool:
    """Whether jitscope has the name that is `name` below `jax`."""
    try:
        library.function(name)
    except AttributeError:
        return False
    return True


@functools.cache
def _sampled() -> dict[str, samples.Function]:
    return {function.name: function for function in samples.every()}


def _counts(functions: list[str]) -> list[int]:
    found = [name for name in functions if name in _sampled()]
    counted = [sum(name not in lacking()[kind] for name in found) for kind in KINDS]
    return [len(found), sum(len(_sampled()[name].samples) for name in found), *counted]


def rows(library: Library) -> Iterator[list[str]]:
    """A row for each module."""
    for module, public in names.public().items():
        here = [name for name in public if has(library, f"{module}.{name}")]
        functions = [f"{module}.{name}" for name, kind in public.items() if kind == "function"]
        callable_here = [name for name in functions if has(library, name)]
        title = "arrays" if module == "Array" else f"`{module}`"
        yield [title, *map(str, (len(public), len(here), len(callable_here), *_counts(functions)))]


def page(library: Library) -> str:
    head = "| module | names | here | functions | sampled | samples | values | jit | vmap | grad |"
    lines = [INTRODUCTION, head, "| --- |" + " ---: |" * 9]
    table = list(rows(library))
    lines += ["| " + " | ".join(row) + " |" for row in table]
    sums = [sum(int(row[i]) for row in table) for i in range(1, 10)]
    lines += ["| **all** | " + " | ".join(f"**{n}**" for n in sums) + " |", ""]
    version, functions = names.of_numpy()
    missing = [name for name in functions if not has(library, f"numpy.{name}")]
    told = f"Of the {len(functions)} functions of NumPy {version} {len(functions) - len(missing)} are here."
    lines += [f"{told} Not here: {', '.join(f'`{name}`' for name in missing)}." if missing else told, ""]
    if names.LEFT_OUT:
        lines += ["## What JAX has and jitscope has not", "", "| name | why |", "| --- | --- |"]
        lines += [f"| `{name}` | {why} |" for name, why in {**names.LATER, **names.LEFT_OUT}.items()]
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    text = page(Library("jitscope"))
    if "--write" in sys.argv:
        PAGE.write_text(text, encoding="utf-8")
    elif "--check" in sys.argv:
        if PAGE.read_text(encoding="utf-8") != text:
            sys.exit(f"docs/{PAGE.name} is stale: run `make format`")
    else:
        print(text)
