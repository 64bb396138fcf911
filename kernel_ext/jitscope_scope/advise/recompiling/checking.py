"""The proof of an edit: the edited code is run on the recorded calls, and gives what these gave.

The edited calls, declarations and definitions are taken out of the edited text and evaluated. What the user's code passed is not evaluated
again: the recorded value stands for each expression that the edited call has from the one before. The only code of the user's that
runs is that of the traced function (and what a definition calls that is moved), and only where it does nothing besides computing.
"""

from __future__ import annotations

import ast
import copy
import functools
import itertools
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

import numpy as np

from jitscope.core import records
from jitscope.core.words import duration

from ... import jaxwatch
from ...observe.ledger import Row
from ...observe.recompiling.groups import Group
from ...observe.recompiling.remedies import remedy
from ...observe.recorded_calls import Lost, RecordedCall, recorder
from ...source_code.edits import Edit, Span, applied
from ...source_code.parameters import is_open
from ...source_code.text import Code
from ..code.trial import runs_elsewhere, silence_of_output
from ..repair.side_effects import acts
from .sites import ProposedEdit, Site, UncheckedEdit, site_at


MOST_SECONDS = 2.0
"""The seconds that compiling the edited program may take, as far as the programs before tell."""


class StillRuns(UncheckedEdit):
    """The code of an edit runs in another thread: a card is asked for while its cell runs."""


class Wrong(Exception):
    """An edit was run, and is none: why, in words."""


UNCHANGED = object()
"""What stands for the result of a call that an edit leaves as it is, in code and in what it calls."""


class Proof(NamedTuple):
    """What an edited program did on the recorded calls: how many programs it needed, and whether the results are the same to the bit."""

    programs: int
    exact: bool


def prove(group: Group, found: ProposedEdit) -> Proof:
    """Run an edit on a group's recorded calls. Raises Unchecked and Wrong."""
    calls = _calls(group)
    _refuse(group, found)
    text = applied(found.code.text, found.edits)
    kind = found.trial
    with _unseen():
        if kind is None:
            raise UncheckedEdit("the code does not tell how to run it")
        program = kind(text, calls[0])
        exact = True
        for row, call in calls:
            expected, structure = _expected(row, call)
            try:
                given = program.call(row, call)
            except (Lost, UncheckedEdit, Wrong):
                raise
            except Exception as error:
                raise Wrong(f"the edited program raises {type(error).__name__}") from error
            exact &= given is UNCHANGED or _same(given, expected, structure, call)
        return Proof(program.programs(), exact)


def _calls(group: Group) -> list[tuple[Row, RecordedCall]]:
    found = [(row, recorder.of(row.id)) for row in group.history]
    known = [(row, call) for row, call in found if call is not None]
    if len(known) < len(found):
        raise UncheckedEdit("the arguments of the calls were not recorded")
    return known


def _refuse(group: Group, found: ProposedEdit) -> None:
    """Raises Unchecked for programs that are not to be run again."""
    for row in group.history:
        jaxpr, entry = row.jaxpr, row.entry
        if jaxpr is None or entry is None:
            raise UncheckedEdit("the programs are no longer kept")
        if jaxpr.effects or entry.executable.calls_python:
            raise UncheckedEdit("the function has effects")
    defined = [row.position for row in group.history if row.position is not None]
    if runs_elsewhere(found.code.file):
        raise StillRuns("the code still runs")
    if any(acts(found.code, [], [where]) for where in defined):
        raise UncheckedEdit("the function, or the code on its lines, may do more than compute")
    remedied = remedy(group)
    after = remedied.replay.after if remedied is not None and remedied.replay is not None else 1
    seconds = max(row.spent for row in group.history) * after
    if seconds > MOST_SECONDS:
        raise UncheckedEdit(f"it takes {duration(seconds)} to compile")


@contextmanager
def _unseen() -> Iterator[None]:
    token = records.unseen.set(True)
    try:
        with ExitStack() as stack:
            stack.enter_context(silence_of_output())
            stack.enter_context(jaxwatch.unwatched())
            yield
    except Lost as lost:
        raise UncheckedEdit(str(lost)) from None
    finally:
        records.unseen.reset(token)


# --- results -------------------------------------------------------------------------------------------------------------------


def _expected(row: Row, call: RecordedCall) -> tuple[list[Any], Any]:
    """The arrays that a call gave, and their structure (None where it is not known)."""
    if call.result is None:
        return jaxwatch.results_of(row, call), None
    leaves, structure = call.trees.flatten(call.result())
    return list(leaves), structure


def _same(given: Any, expected: list[Any], structure: Any, call: RecordedCall) -> bool:
    """Whether results are the same to the bit. Raises Wrong for others."""
    leaves, found = call.trees.flatten(given)
    if (structure is not None and found != structure) or len(leaves) != len(expected):
        raise Wrong("it gives a result of another structure")
    exact = True
    for one, other in zip(map(np.asarray, leaves), map(np.asarray, expected)):
        if one.shape != other.shape:
            raise Wrong(f"it gives results of other shapes ({list(one.shape)} for {list(other.shape)})")
        if one.dtype != other.dtype:
            raise Wrong(f"it gives {one.dtype} where {other.dtype} was")
        if one.tobytes() != other.tobytes():
            exact = False
            if not _close(one, other):
                raise Wrong("it gives other results")
    return exact


def _close(one: np.ndarray, other: np.ndarray) -> bool:
    if one.dtype.kind in "biuOSU":
        return bool((one == other).all())
    eps = {2: 1e-2, 4: 1e-5, 8: 1e-5 if one.dtype.kind == "c" else 1e-12}.get(one.dtype.itemsize, 1e-12)
    one, other = one.astype(np.complex128), other.astype(np.complex128)
    finite = np.abs(other[np.isfinite(other)])
    return bool(np.allclose(one, other, eps, eps * float(finite.max(initial=0.0)), equal_nan=True))


# --- programs ------------------------------------------------------------------------------------------------------------------


class Program(NamedTuple):
    """An edited program: `call` makes a recorded call in it, `programs` says how many programs that took."""

    call: Callable[[Row, RecordedCall], Any]
    programs: Callable[[], int]


Trial = Callable[[str, tuple[Row, RecordedCall]], Program]
"""Makes the edited program of the edited text, for a recorded call."""


class _CountingJit:
    """A jitted function made anew of the Python function of a call; it counts how often that is traced."""

    def __init__(self, fun: Callable[..., Any], jit: Callable[[Any], Any]):
        self.traces = 0

        @functools.wraps(fun)
        def counted(*args: Any, **kwargs: Any) -> Any:
            self.traces += 1
            return fun(*args, **kwargs)

        self.jitted = jit(counted)


def of_calls(code: Code, edits: Sequence[Edit]) -> Trial:
    """The calls are written another way."""

    def made(text: str, first: tuple[Row, RecordedCall]) -> Program:
        function = first[1].function()
        again = _CountingJit(function, first[1].jit)

        def call(row: Row, recorded: RecordedCall) -> Any:
            if recorded.function() is not function:
                raise UncheckedEdit("the function was defined again")
            site = _site(row)
            if site.code.file != code.file:  # a call that stays as it is
                args, kwargs = recorded.arguments()
                return again.jitted(*args, **kwargs)
            return _evaluated(site, text, edits, recorded, again.jitted)

        return Program(call, lambda: again.traces)

    return made


def of_declaration(declaration: ast.Call, code: Code, edits: Sequence[Edit], decorates: bool) -> Trial:
    """The function is compiled with other options, which a decorator or a call of `jit` names; the calls stay."""

    def made(text: str, first: tuple[Row, RecordedCall]) -> Program:
        names = first[1].names()
        node = ast.parse(_piece(code, text, edits, code.span(declaration)), mode="eval").body
        assert isinstance(node, ast.Call)

        def jit(fun: Any) -> Any:
            if decorates:
                return _value(node, {**names}, code)(fun)
            node.args[0] = ast.Name("__function", ast.Load())
            return _value(node, {**names, "__function": fun}, code)

        return _same_calls(first, jit)

    return made


def of_fewer_statics(names: Sequence[str]) -> Trial:
    """The function is compiled with fewer static arguments, which the line of a magic names; the calls stay."""

    def made(text: str, first: tuple[Row, RecordedCall]) -> Program:
        return _same_calls(first, functools.partial(first[1].jit, traced=names))

    return made


def _same_calls(
    first: tuple[Row, RecordedCall], jit: Callable[[Any], Any], given: Callable[[Any], Any] = lambda x: x
) -> Program:
    """The calls as they were, of the same function compiled by `jit`; `given` is what is passed for each argument."""
    function = first[1].function()
    again = _CountingJit(function, jit)

    def call(row: Row, recorded: RecordedCall) -> Any:
        if recorded.function() is not function:
            raise UncheckedEdit("the function was defined again")
        args, kwargs = recorded.arguments()
        return again.jitted(*map(given, args), **{name: given(x) for name, x in kwargs.items()})

    return Program(call, lambda: again.traces)


def of_class(node: ast.ClassDef, code: Code, edits: Sequence[Edit]) -> Trial:
    """The class of static objects is defined another way; the calls stay."""

    def made(text: str, first: tuple[Row, RecordedCall]) -> Program:
        names = first[1].names()
        exec(textwrap.dedent(_piece(code, text, edits, code.span(node))), names)

        def one(x: Any) -> Any:
            if type(x).__name__ != node.name or type(x).__module__ != first[1].module:
                return x
            new = object.__new__(names[node.name])
            new.__dict__.update(x.__dict__)
            return new

        return _same_calls(first, first[1].jit, one)

    return made


def of_definition(definition: str, name: str, site: Site, edits: Sequence[Edit], reads: ast.AST) -> Trial:
    """The function is made once by `definition`, under this name, and called where it was; calls that stand elsewhere stay as they are."""

    def made(text: str, first: tuple[Row, RecordedCall]) -> Program:
        names = first[1].names()
        if not names:
            raise UncheckedEdit("the names that it reads are gone")
        if not _makes(reads, site.code):
            raise UncheckedEdit("what makes the function may do more than that")
        try:
            exec(compile(textwrap.dedent(definition), site.code.file, "exec", dont_inherit=True), names)
        except NameError as error:
            raise UncheckedEdit(f"the name {error.name} is gone") from None
        function = names[name]
        others: set[int] = set()

        def call(row: Row, recorded: RecordedCall) -> Any:
            at = _site(row)
            if at.code.file == site.code.file and at.code.span(at.call) == site.code.span(site.call):
                return _evaluated(at, text, edits, recorded, function, name)
            others.add(row.id)
            return UNCHANGED

        return Program(call, lambda: _programs(function) + len(others))

    return made


def _programs(function: Any) -> int:
    caches = getattr(function, "_caches", None)
    return len(caches.traces) if caches is not None else function._cache_size()


def _site(row: Row) -> Site:
    site = site_at(row.call_site) if row.call_site is not None else None
    if site is None:
        raise UncheckedEdit("the code of a call is gone")
    return site


# --- the edited text -----------------------------------------------------------------------------------------------------------


def _piece(code: Code, text: str, edits: Sequence[Edit], span: Span) -> str:
    """What a stretch of the code became in the edited text, with what is put directly behind it."""
    starts = list(itertools.accumulate((len(line) for line in code.text.splitlines(keepends=True)), initial=0))
    at = lambda line, column: starts[line - 1] + column if line <= len(starts) else len(code.text)
    begin, end = at(span.line, span.column), at(span.end_line, span.end_column)
    before = within = 0
    for edit in edits:
        first, last = at(edit.span.line, edit.span.column), at(edit.span.end_line, edit.span.end_column)
        grown = len(edit.text) - (last - first)
        if last <= begin and first < end:
            before += grown
        elif begin <= first and last <= end:
            within += grown
    return text[begin + before : end + before + within]


def _evaluated(
    site: Site, text: str, edits: Sequence[Edit], recorded: RecordedCall, function: Any, name: str = ""
) -> Any:
    """An edited call, made of recorded values."""
    code, call = site
    body = ast.parse(textwrap.dedent(_piece(code, text, edits, code.span(call))), mode="eval").body
    known = _values(call, recorded)
    names = recorded.names()
    for captured, value in recorded.captured.items():
        known.setdefault(_written(ast.Name(captured, ast.Load())), value)
    for edit in edits:
        for target, value in _assigned(edit, code, call):
            known[_written(ast.Name(target, ast.Load()))] = _value(
                _Substitution(known).visit(value), names, code, known
            )
    target = next(
        (node for node in ast.walk(body) if isinstance(node, ast.Call) and _is_called(node, call, name)), None
    )
    if target is None:
        raise UncheckedEdit("the code does not tell which call it is")
    target.func = ast.Name("__function", ast.Load())
    inner = _Substitution(known)
    body = inner.visit(body)
    return _value(body, {**names, "__function": function}, code, known)


def _is_called(node: ast.Call, call: ast.Call, name: str) -> bool:
    return _written(node.func) == _written(call.func) or (isinstance(node.func, ast.Name) and node.func.id == name)


def _assigned(edit: Edit, code: Code, call: ast.Call) -> Iterator[tuple[str, ast.expr]]:
    """The names that a line put before a call gives values to, and these."""
    statement = code.statement_around(call)
    if statement is None or edit.span.line != edit.span.end_line or edit.span.line != statement.lineno:
        return
    if edit.span.column != 0 or edit.span.end_column != 0:
        return
    for one in ast.parse(textwrap.dedent(edit.text)).body:
        if isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Name):
            yield one.targets[0].id, one.value


def _written(node: ast.AST) -> str:
    return ast.dump(node)


def _values(call: ast.Call, recorded: RecordedCall) -> dict[str, Any]:
    """The recorded values of what a call passes, by the expressions. Raises Unchecked where they do not go together."""
    args, kwargs = recorded.arguments()
    if isinstance(call.func, ast.Attribute) and len(args) == len(call.args) + 1:
        raise UncheckedEdit("the call is that of a method")
    starred = is_open(call)
    if starred or len(args) != len(call.args) or {k.arg for k in call.keywords} != set(kwargs):
        raise UncheckedEdit("the code does not tell what the call passes")
    found: dict[str, Any] = {}
    pairs = [*zip(call.args, args), *((k.value, kwargs[k.arg]) for k in call.keywords if k.arg is not None)]
    for node, value in pairs:
        _take(node, value, found)
    return found


def _take(node: ast.expr, value: Any, found: dict[str, Any]) -> None:
    key = _written(node)
    if key in found and not _alike(found[key], value):
        raise UncheckedEdit("the call passes two values that the code writes alike")
    found[key] = value
    match node:
        case ast.Dict(keys=keys, values=values) if type(value) is dict:
            for k, part in zip(keys, values):
                if isinstance(k, ast.Constant) and k.value in value:
                    _take(part, value[k.value], found)
        case ast.Tuple(elts=parts) | ast.List(elts=parts) if type(value) in (tuple, list) and len(parts) == len(value):
            for part, one in zip(parts, value):
                if not isinstance(part, ast.Starred):
                    _take(part, one, found)


def _alike(one: Any, other: Any) -> bool:
    if hasattr(one, "dtype") and hasattr(other, "dtype"):
        return (
            one.dtype == other.dtype
            and one.shape == other.shape
            and np.asarray(one).tobytes() == np.asarray(other).tobytes()
        )
    return type(one) is type(other) and isinstance(one, int | float | str | type(None)) and one == other


class _Substitution(ast.NodeTransformer):
    """Names for the expressions whose values are known."""

    def __init__(self, known: dict[str, Any]):
        self._names = {key: f"__recorded_{at}" for at, key in enumerate(known)}

    def visit(self, node: ast.AST) -> Any:
        name = self._names.get(_written(node)) if isinstance(node, ast.expr) else None
        return ast.copy_location(ast.Name(name, ast.Load()), node) if name else self.generic_visit(node)


def _value(node: ast.expr, names: dict[str, Any], code: Code, known: dict[str, Any] | None = None) -> Any:
    """The value of an expression. Raises Unchecked where it calls what may do more than compute."""
    node = copy.deepcopy(node)
    for one in ast.walk(node):
        if isinstance(one, ast.Call) and not _computes(one, code):
            raise UncheckedEdit("the edited code calls what may do more than compute")
        if isinstance(one, ast.Await | ast.Yield | ast.YieldFrom | ast.NamedExpr):
            raise UncheckedEdit("the edited code does more than compute")
    own = {f"__recorded_{at}": value for at, value in enumerate((known or {}).values())}
    whole = ast.fix_missing_locations(ast.Expression(node))
    return eval(compile(whole, code.file, "eval", dont_inherit=True), {**names, **own})


_BUILTINS = {"max", "min", "len", "list", "tuple", "dict", "float", "int", "bool", "__function"}


def _computes(call: ast.Call, code: Code) -> bool:
    match call.func:
        case ast.Name(id=name) if name in _BUILTINS:
            return True
        case ast.Attribute(attr="bit_length" | "items" | "get"):
            return True
    dotted = code.names.dotted(call.func)
    return dotted.startswith("jax.") or dotted in ("functools.partial",)


def _makes(node: ast.AST, code: Code) -> bool:
    """Whether code does nothing but make a function: what it calls outside of the functions in it is of the library, or a function of
    the file that only computes."""
    todo: list[ast.AST] = [node]
    while todo:
        one = todo.pop()
        if isinstance(one, ast.Call) and not _computes(one, code) and not _only_computes(one, code):
            return False
        if isinstance(one, ast.Lambda):
            todo += one.args.defaults
        elif isinstance(one, ast.FunctionDef):
            todo += [*one.decorator_list, *one.args.defaults]
        else:
            todo += ast.iter_child_nodes(one)
    return True


def _only_computes(call: ast.Call, code: Code) -> bool:
    from ..code.functions import Functions

    found = Functions(code).called(call)
    return found is not None and not acts(code, [found], [])
