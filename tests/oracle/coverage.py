"""The table of what the library has of JAX's and NumPy's names, and how each is checked: `python -m tests.oracle.coverage`
prints it; with `--write`, docs/coverage.md gets it; with `--check`, it is said whether that is still to be done.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterator
from pathlib import Path

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


@functools.cache
def _entries() -> dict[str, dict]:
    return {name: entry for file in samples.files() for name, entry in recorded.load(file).items()}


def has(library: Library, name: str) -> bool:
    """Whether jitscope has the name that is `name` below `jax`."""
    try:
        library.function(name)
    except AttributeError:
        return False
    return True


def _answers(name: str) -> Iterator[dict]:
    for answers in _entries()[name]["answers"].values():
        yield from answers


def _counts(functions: list[str]) -> list[int]:
    found = [name for name in functions if name in _entries()]
    number = lambda test: sum(any(map(test, _answers(name))) for name in found)
    return [
        len(found),
        sum(len(next(iter(_entries()[name]["answers"].values()))) for name in found),
        number(lambda a: "values" in a),
        number(lambda a: "out" in a and not a.get("eager")),
        number(lambda a: a.get("mapped") is True),
        number(lambda a: isinstance(a.get("grads"), dict)),
    ]


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
