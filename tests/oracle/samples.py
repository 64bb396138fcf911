"""Reading samples: which expressions every public function is tested with. `samples/README.md` describes the format."""

from __future__ import annotations

import ast
import dataclasses
import functools
import hashlib
from pathlib import Path

from tests.oracle import operands


HERE = Path(__file__).parent
DOMAINS = {
    "float": ("bfloat16", "float32", "float64"),
    "inexact": ("bfloat16", "float32", "complex64", "float64"),
    "int": ("uint8", "int32", "int64"),
    "bits": ("bool", "uint8", "int32", "int64"),
    "real": ("uint8", "int32", "bfloat16", "float32", "int64", "float64"),
    "number": ("uint8", "int32", "bfloat16", "float32", "complex64", "int64", "float64"),
    "bool": ("bool",),
}
OPTIONS = {
    "dtypes", "domain", "tolerance", "vmap", "grad", "values", "noaxis", "nozero", "noerror", "noparams",
}  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Sample:
    """`expr` is asked of JAX; `oracle` of NumPy ("": none). `fails`: it must raise. `reason`: why it differs from JAX's."""

    expr: str
    oracle: str = ""
    fails: bool = False
    reason: str = ""

    @functools.cached_property
    def names(self) -> tuple[str, ...]:
        """The operands it uses."""
        used = {n.id for n in ast.walk(ast.parse(self.expr, mode="eval")) if isinstance(n, ast.Name)}
        return tuple(name for name in (*operands.FOLLOWING, *operands.FIXED) if name in used)


@dataclasses.dataclass(frozen=True)
class Function:
    """A public function, by its path below `jax`, and the samples of it."""

    name: str
    samples: tuple[Sample, ...]
    options: tuple[tuple[str, str], ...]
    file: str

    def option(self, name: str, default: str = "") -> str:
        return dict(self.options).get(name, default)

    @property
    def dtypes(self) -> tuple[str, ...]:
        every = (*operands.NARROW, *operands.WIDE)
        if named := self.option("dtypes"):
            return tuple(d for d in every if d in named.split(","))
        return DOMAINS.get(self.option("domain"), every)

    @property
    def digest(self) -> str:
        """What its recorded answers depend on."""
        shown = repr((self.samples, self.dtypes, self.option("values"), self.option("grad"), self.option("vmap")))
        return hashlib.sha256(shown.encode()).hexdigest()[:12]


def files() -> list[str]:
    return sorted(path.stem for path in (HERE / "samples").glob("*.txt"))


@functools.cache
def functions(file: str) -> tuple[Function, ...]:
    """The functions of a file of samples. Raises ValueError, with the line, for what is no sample."""
    found: list[Function] = []
    header: list[str] = []
    lines: list[Sample] = []

    def close() -> None:
        names = [word for word in header if "=" not in word]
        options = tuple((k, v) for k, _, v in (word.partition("=") for word in header if "=" in word))
        if unknown := {k for k, _ in options} - OPTIONS:
            raise ValueError(f"{file}.txt, {names}: no such option: {unknown}")
        for name in names:
            samples = tuple(_renamed(s, names[0], name) for s in lines)
            found.append(Function(name, samples, options, file))

    for number, line in enumerate((HERE / "samples" / f"{file}.txt").read_text().splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if line.startswith("  "):
            try:
                lines.append(_sample(line.strip(), header[0]))
            except (SyntaxError, IndexError) as error:
                raise ValueError(f"{file}.txt, line {number}: {error}: {line.strip()}") from None
        else:
            close()
            header, lines = line.split(), []
    close()
    return tuple(found)


def every() -> list[Function]:
    return [function for file in files() for function in functions(file)]


def _sample(text: str, name: str) -> Sample:
    text, _, reason = text.partition(" !! ")
    text, _, oracle = text.partition(" ~ ")
    fails = text.startswith("error:")
    expr = text.removeprefix("error:").strip()
    ast.parse(expr, mode="eval")
    automatic = expr if name.startswith("numpy.") and not fails else ""
    oracle = {"": automatic, "no": ""}.get(oracle.strip(), oracle.strip())
    return Sample(expr, oracle, fails, reason.strip())


def spellings(name: str) -> tuple[str, ...]:
    """How expressions may write a function's path."""
    short = {"numpy.": "np.", "nn.initializers.": "init."}
    others = [new + name.removeprefix(old) for old, new in short.items() if name.startswith(old)]
    if name.startswith("Array."):
        others = [name.removeprefix("Array")]
    return (*others, name, f"jx.{name}")


def _renamed(sample: Sample, first: str, name: str) -> Sample:
    if first == name:
        return sample
    change = lambda text: _replaced(text, dict(zip(spellings(first), spellings(name))))
    return dataclasses.replace(sample, expr=change(sample.expr), oracle=change(sample.oracle))


def _replaced(text: str, changes: dict[str, str]) -> str:
    for old, new in changes.items():
        if f"{old}(" in text:
            return text.replace(f"{old}(", f"{new}(")
    if text.startswith(("onp.", "osp.")):
        old, new = next(iter(changes.items()))
        return text.replace(old.rpartition(".")[2] + "(", new.rpartition(".")[2] + "(")
    return text
