"""Reading shapes as text: `"b, 2*n, floordiv(n, 2) + 1, ..."`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from .dimension import is_symbolic_dim, max_dim, min_dim, variable
from .terms import OPERATIONS


_TOKEN = re.compile(r"\s*(?:(\d+(?!\w))|([^\W\d]\w*)|(\.\.\.)|(\S))")
_KINDS = ("NUMBER", "NAME", "ELLIPSIS", "OP")
_SIGNS = {
    "(": "LPAR",
    ")": "RPAR",
    ",": "COMMA",
    "+": "PLUS",
    "-": "MINUS",
    "*": "STAR",
    "^": "CIRCUMFLEX",
    "": "ENDMARKER",
}


def parse(text: str, like: Sequence[Any] | None, shown: str, scope: Any) -> tuple[Any, ...]:
    """The sizes of a shape. `like` fills `_` and `...`. Raises ValueError that shows what was read and what was not."""
    return _Parser(text, like, shown, scope).shape()


class _Parser:
    def __init__(self, text: str, like: Sequence[Any] | None, shown: str, scope: Any):
        self.text, self.like, self.shown, self.scope = text, like, shown, scope
        self.found: list[Any] = []
        self.at = self.end = 0
        self.token, self.kind = "", ""
        self.step()

    def step(self) -> None:
        """Read the next token."""
        match = _TOKEN.match(self.text, self.end)
        if match is None:
            self.token, self.kind, self.at = "", "ENDMARKER", len(self.text)
            return
        self.end = match.end()
        group = match.lastindex or 1
        self.token, self.at = match[group], match.start(group)
        self.kind = _SIGNS.get(self.token, _KINDS[group - 1])

    def fail(self, detail: str) -> ValueError:
        return ValueError(
            f"syntax error in symbolic shape {self.shown} in dimension {len(self.found)}: {detail}. "
            f"Parsed '{self.text[: self.at]}', remaining '{self.text[self.at :]}'."
        )

    def expect(self, *kinds: str) -> None:
        if self.kind not in kinds:
            raise self.fail(f"expecting one of {{{', '.join(kinds)}}} but found {self.kind}")

    def skip(self, kind: str) -> None:
        self.expect(kind)
        self.step()

    def shape(self) -> tuple[Any, ...]:
        depth = 0
        while self.kind == "LPAR":
            depth += 1
            self.step()
        while self.kind not in ("ENDMARKER", "RPAR"):
            if self.kind == "ELLIPSIS":
                for size in self.placeholder(len(self.found)):
                    self.add(size)
                self.step()
                break
            if self.token == "_":
                size = self.placeholder(len(self.found) + 1)[0]
                self.step()
            else:
                size = self.expression()
            self.add(size)
            if self.kind in ("ENDMARKER", "RPAR"):
                break
            self.skip("COMMA")
        for _ in range(depth):
            self.skip("RPAR")
        self.expect("ENDMARKER")
        return tuple(self.found)

    def placeholder(self, least: int) -> Sequence[Any]:
        """The sizes of `like` from here on, of which it has to have `least` in all."""
        if self.like is None:
            raise self.fail("spec contains ... but no 'like' shape was given")
        if len(self.like) < least:
            raise self.fail(
                f"cannot resolve placeholder '{self.token}' because we parsed {len(self.found)} already and 'like' shape has "
                f"only {len(self.like)} dimensions"
            )
        return self.like[len(self.found) :]

    def add(self, size: Any) -> None:
        if size is None:
            raise self.fail(f"unexpected placeholder for unknown dimension; like={self.like}")
        if self.like is not None and not is_symbolic_dim(size):
            known = self.like[len(self.found)] if len(self.found) < len(self.like) else None
            if size != known:
                raise self.fail(f"different size {size} for known dimension; like={self.like}")
        self.found.append(size)

    def expression(self) -> Any:
        negative = self.kind == "MINUS"
        if self.kind in ("PLUS", "MINUS"):
            self.step()
        total: Any = 0
        while True:
            part = self.product()
            total = total - part if negative else total + part
            if self.kind in ("ENDMARKER", "RPAR", "COMMA"):
                return total
            self.expect("PLUS", "MINUS")
            negative = self.kind == "MINUS"
            self.step()

    def product(self) -> Any:
        result: Any = 1
        while True:
            factor = self.factor()
            if self.kind == "CIRCUMFLEX":
                self.step()
                self.expect("NUMBER")
                factor = factor ** int(self.token)
                self.step()
            result = result * factor
            if self.kind in ("ENDMARKER", "RPAR", "COMMA", "PLUS", "MINUS"):
                return result
            self.skip("STAR")

    def factor(self) -> Any:
        if self.kind == "NAME":
            name = self.token
            self.step()
            return self.operation(name) if name in OPERATIONS else variable(name, self.scope)
        negative = self.kind == "MINUS"
        if negative:
            self.step()
            self.expect("NUMBER")
        self.expect("NAME", "MINUS", "NUMBER")
        number = int(self.token)
        self.step()
        return -number if negative else number

    def operation(self, name: str) -> Any:
        self.skip("LPAR")
        left = self.expression()
        self.skip("COMMA")
        right = self.expression()
        self.skip("RPAR")
        if name in ("max", "min"):
            return (max_dim if name == "max" else min_dim)(left, right)
        return left // right if name == "floordiv" else left % right
