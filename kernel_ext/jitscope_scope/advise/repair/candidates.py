"""The rewrites of one place in the user's code that might do, the simplest first."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ...source_code import rewrites
from ...source_code.bindings import reads, root_name, stored
from ...source_code.choosing import is_number
from ...source_code.edits import Edit
from ...source_code.loop_words import skipped
from ...source_code.ranks import fitted
from ...source_code.text import Code
from . import statements


class Candidate(NamedTuple):
    """What to do, in words, and the edits of the file that do it; `differs` see `source_code.rewrites.Rewrite`."""

    text: str
    edits: tuple[Edit, ...]
    differs: str = ""
    of_one_shape: tuple[Edit, ...] = ()
    """The same edits, which raise where the values between which they choose have different shapes."""
    of_numbers: bool = False
    """Whether one of these values is a number, which takes the shape of the others."""

    @property
    def hands_on(self) -> bool:
        """Whether it only hands the traced value on, so that what stops the trace later is the rewrite's own doing."""
        return self.text in (_NUMBER, _TRUTH)

    @property
    def counts_no_turns(self) -> bool:
        """Whether it is a loop whose turns are not counted before it runs."""
        return self.text in (_WHILE, _FORI)


_NUMBER, _TRUTH = "Keep it an array.", "Compute the truth of the elements."
_WHILE = "Make it a lax.while_loop: the condition is looked at while the program runs."
_FORI = "Make it a lax.fori_loop: the body is compiled once, for any number of iterations."

_KINDS = {
    "branch-on-tracer": ("bool",), "logical-op-on-tracer": ("bool",), "loop-on-tracer": ("bool",), "flag-arg-traced": ("bool",),
    "host-call-on-tracer": ("array", "number", "index"), "traced-slice-bound": ("slice",), "data-dependent-shape": ("mask",),
    "item-assignment": ("assignment", "masked assignment"),
}  # fmt: skip


def candidates(
    known: str,
    code: Code,
    path: list[ast.AST],
    values: Mapping[str, Any],
) -> Iterator[Candidate]:
    """Rewrites for the sharp bit `known` at the nodes of `path` (the innermost first), in the names that the program has for the
    library. `values` are those of the function's own names."""
    for words, usual, node, last, differs, choices in _all(known, code, path, values):
        text = code.names.own(usual)
        if not code.names.knows(text):
            continue
        alike = (code.in_place_of(node, code.names.own(_of_one_shape(usual, choices)), last),) if choices else ()
        numbers = any(is_number(one, values) for one in choices)
        yield Candidate(
            code.names.own(words), (code.in_place_of(node, text, last),), differs, alike, of_numbers=numbers
        )


def _of_one_shape(text: str, choices: Sequence[ast.expr]) -> str:
    """A choice by `jnp.where` that raises where the first value and another one cannot be broadcast to each other's shape."""
    before, where, rest = text.partition("jnp.where(")
    first, *others = map(ast.unparse, choices)
    pairs = [pair for other in others for pair in ((first, other), (other, first))]
    checks = [f"jnp.broadcast_to({one}, jnp.shape({other}))" for one, other in pairs]
    return f"{before}({', '.join(checks)}, {where}{rest})[-1]"


_Made = tuple[str, str, Any, Any, str, Sequence[ast.expr]]
"""Words, the text, the node it replaces, the last node it replaces if there are more, where it gives other values, and between which
expressions it chooses."""


def _all(known: str, code: Code, path: list[ast.AST], values: Mapping[str, Any]) -> Iterator[_Made]:
    """What there is to write."""
    block = next((n for n in path if isinstance(n, ast.stmt)), None)
    for asked in _KINDS.get(known, ()):
        found = rewrites.rewritten(path, asked)
        if found is None or not found.whole or not hasattr(found.node, "lineno"):
            continue
        text = fitted(found.text, found.of_one_rank, values)
        if text is None:
            continue
        last = None
        if isinstance(found.node, ast.If) and (left_out := skipped(found.node, path)):
            last = left_out[-1]
        differs = found.differs or (_aliased(found.node, code) if asked == "assignment" else "")
        yield _words(asked, text), text, found.node, last, differs, found.choices
    yield from (one for one in _of_block(known, code, path, block) if not _asks_still(known, path, one[1]))


def _asks_still(known: str, path: list[ast.AST], text: str) -> bool:
    """Whether the call that asks for a value stands in a rewrite as well."""
    return known == "host-call-on-tracer" and bool(path) and ast.unparse(path[0]) in text


def _of_block(known: str, code: Code, path: list[ast.AST], block: ast.stmt | None) -> Iterator[_Made]:
    """What there is to write in place of a whole statement."""
    match block:
        case ast.If():
            rest = code.after(block)
            skips = skipped(block, path)
            chosen = statements.without_continue(block, skips) if skips else block
            text = statements.as_cond(chosen, rest, _before(block, code))
            if text is not None:
                last = rest[-1] if rest and (skips or statements.replaces_rest(block)) else None
                yield "Let lax.cond choose: only the branch that is taken runs.", text, block, last, "", ()
        case ast.While() if not _is_read_later(block, code):
            text = statements.as_while(block, _before(block, code))
            if text is not None:
                yield _WHILE, text, block, None, "", ()
        case ast.For() if not _is_read_later(block, code):
            text = statements.as_fori(block, _before(block, code))
            if text is not None:
                yield _FORI, text, block, None, "", ()
    if known == "data-dependent-shape":
        yield from _sized(path)


def _words(asked: str, text: str) -> str:
    if "jnp.where(" in text:
        return "Choose elements with jnp.where: both values are computed."
    if asked == "bool" and text.startswith(("jnp.maximum(", "jnp.minimum(", "jnp.sort(")):
        return "Call the function of jnp in place of Python's: it can be traced."
    if asked == "mask" and text.startswith("jnp.sum("):
        return "Count where the mask is true."
    if text.startswith("lax.switch("):
        return "Let lax.switch choose the function: all of them are compiled, and one runs."
    return {
        "bool": _TRUTH,
        "array": "Call the function of jnp in place of NumPy's: it can be traced.",
        "number": _NUMBER,
        "index": "Make it an array of jnp, which a traced number can index.",
        "slice": "Take a window of fixed length.",
        "mask": "Keep the shape, and leave out elements by their value.",
        "assignment": "Make a new array with the change.",
    }[asked]


_FILLED = {"nonzero": 0, "flatnonzero": 0, "argwhere": 0, "where": 0, "unique": None}


def _sized(path: list[ast.AST]) -> Iterator[_Made]:
    """`jnp.nonzero(x)` with a size."""
    for node in path:
        match node:
            case ast.Call(func=ast.Attribute(attr=name), args=[x]) if name in _FILLED and not node.keywords:
                fill = "" if _FILLED[name] is None else f", fill_value={_FILLED[name]}"
                array = ast.unparse(x)
                array = array if isinstance(x, ast.Name | ast.Attribute | ast.Subscript | ast.Call) else f"({array})"
                text = f"{ast.unparse(node.func)}({ast.unparse(x)}, size={array}.size{fill})"
                with_what = "with the least element" if name == "unique" else "with 0, which is an index, too"
                words = f"Say how many there can be at most; the places after the last one are filled {with_what}."
                yield words, text, node, None, f"the result is longer, filled {with_what}", ()
            case ast.stmt():
                return


def _is_read_later(loop: ast.stmt, code: Code) -> bool:
    """Whether the function reads a name after a loop that only the loop gives a value: a function has it for itself."""
    function = code.function_around(loop)
    own = stored(loop) - _before(loop, code)
    last = loop.end_lineno or loop.lineno
    return function is not None and any(one.id in own and one.lineno > last for one in reads(function))


def _aliased(node: ast.AST, code: Code) -> str:
    """Of a store into `y` where `y = x` came before: in NumPy both are one array."""
    function = code.function_around(node)
    target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
    name = root_name(target) if isinstance(target, ast.AST) else ""
    for one in ast.walk(function) if function is not None else ():
        match one:
            case ast.Assign(targets=[ast.Name(id=a)], value=ast.Name(id=b)) if a != b and name in (a, b):
                return f"{a} and {b} were one array, and {b if name == a else a} keeps its values now"
    return ""


def _before(node: ast.stmt, code: Code) -> set[str]:
    """The names that have a value when a statement is reached: arguments, and what is given one in a line above it."""
    function = code.function_around(node)
    if function is None:
        return set()
    return {name for name, binders in code.scopes.names(function) if any(_is_above(one, node) for one in binders)}


def _is_above(binder: ast.AST, node: ast.stmt) -> bool:
    if isinstance(binder, ast.Name) and isinstance(binder.ctx, ast.Del):
        return False
    return isinstance(binder, ast.arg) or binder.lineno < node.lineno  # pyright: ignore[reportAttributeAccessIssue]
