"""Programs as trees, and as the text that is run: nested functions in `jx`, `jnp` and `lax`, whatever these stand for.

A program is a function of two arrays whose body is statements: operations, and applications of transformations and
control flow ("combinators") to functions whose bodies are again statements. The text of a program is the program: it is run
with the compiler's names, with the oracle's, and can be pasted into a notebook. `drawing` makes programs from seeds.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np


MAIN = ("jit", "vmap", "grad", "jvp", "checkpoint", "scan", "cond", "custom_vjp")
EXTRA = ("custom_jvp", "while_loop", "fori_loop", "linearize", "jacfwd", "vjp", "switch", "map")
KINDS = MAIN + EXTRA

HEADER = """\
import numpy as np
import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax

jx.config.update("jax_enable_x64", True)
"""


@dataclasses.dataclass(frozen=True, eq=False)
class Var:
    """A variable of the text. `active`: the derivatives being taken (by number) with respect to which it moves."""

    name: str
    shape: tuple[int, ...]
    integer: bool = False
    active: frozenset[int] = frozenset()


@dataclasses.dataclass(eq=False)
class Statement:
    """`targets = text`, where `{0}`, `{1}`, … in the text are `args`. `pattern` writes targets that are not a plain list."""

    targets: list[Var]
    text: str
    args: list[Var]
    pattern: str = ""

    def written(self, depth: int) -> list[str]:
        return [_indented(f"{self.target()} = {self._filled(self.text)}", depth)]

    def target(self) -> str:
        names = [t.name for t in self.targets]
        return self.pattern.format(*names) if self.pattern else ", ".join(names)

    def _filled(self, text: str) -> str:
        return text.format(*[a.name for a in self.args])

    def functions(self) -> list[Function]:
        return []


@dataclasses.dataclass(eq=False)
class Call(Statement):
    """A combinator applied to functions (`{f0}`, …) and arguments. `before`: lines between the functions and the call.
    `direct`: the same shapes without the combinator, if that can be written. `quiet`: the arguments carry no tangent,
    where the combinator refuses those (a custom_vjp in forward mode, a while_loop in reverse mode)."""

    kind: str = ""
    held: list[Function] = dataclasses.field(default_factory=list)
    before: list[str] = dataclasses.field(default_factory=list)
    direct: str = ""
    quiet: bool = False

    def written(self, depth: int) -> list[str]:
        lines = [line for f in self.held for line in f.written(depth)]
        lines += [_indented(self._filled(line), depth) for line in self.before]
        return [*lines, *super().written(depth)]

    def _filled(self, text: str) -> str:
        return text.format(*[a.name for a in self.args], **{f"f{i}": f.name for i, f in enumerate(self.held)})

    def functions(self) -> list[Function]:
        return self.held


@dataclasses.dataclass(eq=False)
class Function:
    """`def name(params)`: `vars` are the variables bound by the parameters and the `opening` lines, `results` those that
    `returned` (a text with `{0}`, …) returns."""

    name: str
    params: str
    vars: list[Var]
    body: list[Statement]
    results: list[Var]
    returned: str
    opening: list[str] = dataclasses.field(default_factory=list)

    def written(self, depth: int) -> list[str]:
        lines = [_indented(f"def {self.name}({self.params}):", depth)]
        lines += [_indented(line, depth + 1) for line in self.opening]
        lines += [line for s in self.body for line in s.written(depth + 1)]
        return [*lines, _indented("return " + self.returned.format(*[r.name for r in self.results]), depth + 1)]

    def free(self) -> list[Var]:
        """The variables it reads from outside, in order."""
        bound = {id(v) for v in self.vars} | {id(t) for s in self.body for t in s.targets}
        read = [v for s in self.body for v in [*s.args, *[v for f in s.functions() for v in f.free()]]] + self.results
        return list({id(v): v for v in read if id(v) not in bound}.values())

    def calls(self) -> Iterator[tuple[list[str], Call]]:
        """The combinators in the body and below, each with those around it, outermost first."""
        for s in self.body:
            if isinstance(s, Call):
                yield [], s
                for f in s.held:
                    for around, below in f.calls():
                        yield [s.kind, *around], below

    def statements(self) -> Iterator[tuple[list[Statement], int]]:
        """All statements, each as the list it stands in and its place there; inner ones after the one that holds them."""
        for i, s in enumerate(self.body):
            yield self.body, i
            for f in s.functions():
                yield from f.statements()


@dataclasses.dataclass(eq=False)
class Program:
    """A generated program: `function` takes `args`; `constants` are the arrays it captures."""

    seed: int
    chain: tuple[str, ...]
    function: Function
    constants: dict[str, np.ndarray]
    args: list[np.ndarray]

    def text(self) -> str:
        """The captured arrays and the function."""
        lines = self.function.written(0)
        whole = "\n".join(lines)
        captured = [f"{n} = np.array({c.tolist()})" for n, c in self.constants.items() if n in whole]
        return "\n".join([*captured, *lines]) + "\n"

    def source(self) -> str:
        """The whole program, to be pasted and run."""
        given = ", ".join(f"jnp.array({a.tolist()})" for a in self.args)
        return f"{HEADER}\n{self.text()}\nprint({self.function.name}({given}))\n"

    def bound(self, names: dict[str, Any]) -> Callable[..., Any]:
        """The function, with these meanings of `np`, `jx`, `jnp` and `lax`."""
        scope = dict(names)
        exec(compile(self.text(), f"<program {self.seed}>", "exec"), scope)
        return scope[self.function.name]

    def depth(self) -> int:
        """How deep combinators are nested."""
        return max([len(around) + 1 for around, _ in self.function.calls()], default=0)

    def pairs(self) -> list[tuple[str, str]]:
        """Each combinator that stands directly in a function given to another, as (outer, inner)."""
        return [(around[-1], call.kind) for around, call in self.function.calls() if around]

    def stops(self) -> bool:
        """Whether a derivative is stopped somewhere, so that finite differences of the whole are another number."""
        return "stop_gradient" in self.text()


def _indented(line: str, depth: int) -> str:
    return "    " * depth + line
