"""Code that a program writes to see it fail, `with pytest.raises(TypeError): jax.jit(f)(x)`, or to go on where it fails: `try: … except TypeError:`."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator

from ...source_code.edits import Span
from ...source_code.text import Code
from ...source_code.tree import Function, below, parts_of
from .forms import expects_error, last_name
from .functions import TracedFunction


class Failures:
    """Where a program expects an error."""

    def __init__(self, code: Code) -> None:
        self.code = code
        blocks = [node for node in code.of(ast.With) if any(map(expects_error, node.items))]
        self._places = {*blocks, *filter(_calls_what_fails, code.of(ast.Call))}
        self._caught = [
            statement for node in code.of(ast.Try) for statement in node.body if _is_caught(statement, node)
        ]
        self._reads: dict[str, list[ast.Name]] = defaultdict(list)
        for node in code.of(ast.Name) if self._places else ():
            if isinstance(node.ctx, ast.Load):
                self._reads[node.id].append(node)

    def has(self, node: ast.AST) -> bool:
        """Whether a node stands where an error is expected."""
        return bool(self._places) and any(one in self._places for one in self.code.around(node))

    def meet(self, span: Span) -> bool:
        """Whether a stretch of the code stands there, or where an error is caught."""
        return any(self.code.span(one).meets(span) for one in (*self._places, *self._caught))

    def are_of(self, traced: TracedFunction) -> bool:
        """Whether a function is traced, or all that the program does with it stands, where an error is expected."""
        if not self._places or self.has(traced.site):
            return bool(self._places)
        uses = list(self._uses(traced))
        return bool(uses) and all(map(self.has, uses))

    def _uses(self, traced: TracedFunction) -> Iterator[ast.Name]:
        """Where the names of a function, and of what was made of it, are read."""
        code, function = self.code, traced.function
        statement = code.statement_around(traced.site)
        own = set(below(statement)) if isinstance(statement, ast.Assign) else set()
        names = {(function.name, code.scopes.of(function))} if not isinstance(function, ast.Lambda) else set()
        if isinstance(statement, ast.Assign):
            names |= {(one.id, code.scopes.of(one)) for one in statement.targets if isinstance(one, ast.Name)}
        for name, scope in names:
            for node in self._reads[name]:
                if node not in own and code.scopes.binding(name, node) is scope:
                    yield node


def _is_caught(statement: ast.stmt, around: ast.Try) -> bool:
    """Whether what tracing raises in a statement is caught by name. Who catches all there is may mean to log what went wrong with the whole
    program: of what is defined there nothing is known."""
    caught = [parts_of(one.type) if one.type is not None else [ast.Name("Exception")] for one in around.handlers]
    names = {last_name(one) for some in caught for one in some}
    defines = any(isinstance(one, Function | ast.ClassDef) for one in below(statement))
    return bool(names & _OF_TRACING) or bool(names & _ALL and not defines)


_OF_TRACING = {
    "TypeError", "ConcretizationTypeError", "TracerBoolConversionError", "TracerIntegerConversionError", "TracerArrayConversionError",
    "NonConcreteBooleanIndexError",
}  # fmt: skip
_ALL = {"Exception", "BaseException"}

_FAILING = {"raises": 2, "assertRaises": 2, "assertRaisesRegex": 3}
"""What is given a function that is to fail, with how many arguments before it and with it."""


def _calls_what_fails(call: ast.Call) -> bool:
    """`self.assertRaisesRegex(TypeError, "…", lambda: jax.jit(f)(x))`."""
    return 0 < _FAILING.get(last_name(call), 0) <= len(call.args)
