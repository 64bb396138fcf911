"""`%%jit`: a cell runs exactly as without it, with its functions compiled.

IPython's way for a cell magic is to run the cell's text inside another cell. Then the last expression, `await`, `;`, hooks,
history and tracebacks all have to be imitated. So `%%jit` is no cell run inside another one, but two steps of IPython's own
way from text to code:

* the text step turns the magic's line into a string that stands alone, `'%%jit f --quiet'`: the line keeps its number, the
  text stays valid Python, and the request travels in it (IPython transforms a cell more than once, so nothing else may);
* the tree step finds that string, takes it out, and wraps the functions at their definitions.

Everything else is IPython's. What reaches the magic itself is left over: a line with a mistake, `-h`, and code that calls
`run_cell_magic`.
"""

from __future__ import annotations

import ast
import asyncio
import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any

from IPython.core.displayhook import DisplayHook
from IPython.core.error import UsageError
from IPython.core.inputtransformer2 import leading_indent
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic_arguments import MagicArgumentParser

from . import request as requests
from .jax_cells import LEFT_ALONE
from .request import Request
from .uses import JAX, JITSCOPE, written_for
from .wrapping import CellRefusal, Plan, wrap


RUN_PYTHON = ("capture", "prun", "time", "timeit")
"""The cell magics that run their cells' Python in this shell."""
_MAGIC = re.compile(r"%%(\w+)\b(?!\?)")
_NO_PYTHON = "%%jit compiles cells of Python; %%{0} below it runs its text in a way of its own: leave %%jit out"
_LINE = re.compile(r"%%jit(?:[ \t].*)?$")


class TextStep:
    """Among IPython's input transformers: the line `%%jit …` becomes a string."""

    has_side_effects = True  # so IPython does not use it to find out whether a cell is complete: `%%` has its own rule

    def __init__(self, shell: InteractiveShell, parser: MagicArgumentParser, magic: Callable[..., Any]) -> None:
        self._shell, self._parser, self._magic = shell, parser, magic

    def __call__(self, lines: list[str]) -> list[str]:
        first = lines[0].rstrip() if lines else ""
        if not _LINE.match(first) or self._shell.find_cell_magic("jit") != self._magic:
            return lines
        try:
            request = _read(self._parser, first)
        except UsageError:
            return lines  # IPython calls the magic, which says what is wrong
        if request.help:
            return ["get_ipython().run_cell_magic('jit', '-h', '\\n')\n"]  # it would refuse an empty cell
        below = leading_indent(lines[1:])
        magic = next((at for at, line in enumerate(below) if line.strip()), None)
        if magic is not None and (other := _MAGIC.match(below[magic])):
            if other[1] not in RUN_PYTHON or self._shell.find_cell_magic(other[1]) is None:
                return [f"{_refusing(_NO_PYTHON.format(other[1]))}\n"]
            return [below[magic], f"{first}\n", *below[magic + 1 :]]  # what it runs is a cell that begins with %%jit
        if not any(line.strip() for line in lines[1:]):  # the magic would be given nothing, again and again
            return [f"{first!r}\n", *lines[1:]] if lines[1:] else lines
        return [f"{first!r}\n", *below]


class TreeStep(ast.NodeTransformer):
    """Among IPython's AST transformers: wraps the functions of a cell that the text step marked.

    `found` is called with the plan and the request of each such cell, before it runs; `names` gives the user's names.
    """

    def __init__(
        self,
        parser: MagicArgumentParser,
        found: Callable[[Plan, Request], None],
        names: Callable[[], Mapping[str, Any]] = dict,
    ) -> None:
        self._parser, self._found, self._names = parser, found, names

    def visit(self, node: Any) -> Any:
        """Never raises: IPython would drop the step."""
        match node:
            case ast.Module(body=[ast.Expr(value=ast.Constant(value=str() as line)), *rest]) if _LINE.match(line):
                node.body = rest
                try:
                    request = _read(self._parser, line)
                    self._found(wrap(node, request, self._reason_in(node)), request)
                except (UsageError, CellRefusal) as error:
                    node.body = [_refusal(str(error))]
                except Exception as error:
                    node.body = [_refusal(f"jitscope failed to look at this cell: {error!r}")]
        return node

    def _reason_in(self, cell: ast.Module) -> Callable[[ast.stmt], str]:
        """Functions written for jax are left alone: wrapping them would break what jax's libraries do."""
        names = self._names()
        of_cell = written_for(cell, names, cell)
        if of_cell == JITSCOPE:
            return lambda node: LEFT_ALONE if written_for(node, names, cell) == JAX else ""
        return lambda node: LEFT_ALONE if of_cell == JAX else ""


def _read(parser: MagicArgumentParser, first: str) -> Request:
    return requests.read(parser, first.removeprefix("%%jit"))


def _refusal(message: str) -> ast.stmt:
    """The statement that is run in place of a cell that cannot be run as asked."""
    (statement,) = ast.parse(_refusing(message)).body
    return statement


def _refusing(message: str) -> str:
    module = __name__.rpartition(".")[2]
    return f"__import__({__name__!r}).{module}.refuse({message!r})"


def refuse(message: str) -> None:
    """Raise UsageError with the message."""
    raise UsageError(message if message.startswith(("%%jit", "jitscope")) else f"%%jit: {message}")


# --- called as a magic ------------------------------------------------------------------------------------------------


def execute(shell: InteractiveShell, text: str, file: str) -> Any:
    """Run transformed text in the user's namespace; the value of its last expression, None if `;` ends it.

    Raises what the text raises.
    """
    tree = shell.transform_ast(shell.compile.ast_parse(text, filename=file))
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    for statement in tree.body:  # one by one, so that a `from __future__` is in force for those below it
        _run(shell, ast.Module([statement], []), file, "exec")
    if last is None:
        return None
    value = _run(shell, ast.Expression(last.value), file, "eval")
    return None if DisplayHook.semicolon_at_end_of_expression(text) else value


def _run(shell: InteractiveShell, tree: ast.AST, file: str, mode: str) -> Any:
    with shell.compile.extra_flags(ast.PyCF_ALLOW_TOP_LEVEL_AWAIT):
        code = shell.compile(tree, file, mode)  # pyright: ignore[reportArgumentType]
    value = eval(code, shell.user_global_ns, shell.user_ns)
    if not code.co_flags & inspect.CO_COROUTINE:
        return value
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return shell.loop_runner(value)
    value.close()
    raise UsageError("%%jit: nothing can be awaited here, inside another magic; make %%jit the first line of the cell")
