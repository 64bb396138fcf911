"""What to write instead: the expression at which a traced value was asked for something, rewritten. Only looked at when an error is made.
It reads the source and never runs it; where the source cannot be had or says nothing it keeps silent."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from jitscope.core.source import Position

from .choosing import can_choose, chosen
from .conditions import ELEMENTS, OF_TRUTH, TRUTHS, as_operand, condition, is_truth
from .loop_words import (
    CHANGES_LENGTH,
    RAISING,
    changes_length,
    collected,
    grows,
    in_while_loop,
    leaving,
    raises,
    rest_of_block,
    skipped,
)
from .matching import Choice, choice, choice_of_ifs
from .of_shapes import OF_SHAPES, is_of_shapes
from .places import path_at, with_index
from .ranks import fitted
from .slice_length import length_of
from .tree import is_elif, parts_of
from .writing import anew, as_array, may_be_named, written


class Rewrite(NamedTuple):
    """What to write in place of `node`. It is `whole` if it is code that can stand there as it is; else it says in words what to write.
    It is `sure` if it does what was meant whatever the ranks, dtypes and containers are that the code does not tell. It means the same as before only
    where the expressions of `of_one_rank` have as many axes as each other, an integer standing for itself. `note` goes on in words.
    `differs` says where it may give other values than what was written would; "" where it gives the same. `choices` are the expressions between which `condition` chooses."""

    node: ast.AST
    text: str
    whole: bool = True
    sure: bool = True
    of_one_rank: tuple[ast.expr | int, ast.expr] | None = None
    note: str = ""
    choices: tuple[ast.expr, ...] = ()
    condition: str = ""
    differs: str = ""

    @property
    def words(self) -> str:
        unless = f" ({self.differs})" if self.differs else ""
        return f"{f'write `{self.text}`' if self.whole else self.text}{self.note}{unless}"

    @property
    def is_edit(self) -> bool:
        """Whether it can be put in the place of its node without a trial."""
        return self.whole and self.sure and hasattr(self.node, "lineno")


def rewrite(position: Position | None, asked: str, values: Mapping[str, object] = MappingProxyType({})) -> str:
    """What to write in place of the code at `position`, in words, or ""; for `asked` see `rewritten`. `values` are what the names there
    stand for, as far as that is known."""
    try:
        found = rewritten(path_at(position), asked) if position is not None else None
        if found is not None and found.choices and not can_choose(found.choices, values):
            found = _cond_in_words(found.node, found.condition)
        if found is not None and (text := fitted(found.text, found.of_one_rank, values)):
            found = found._replace(text=text)
    except (ValueError, RecursionError):  # of an expression too deep to be written out
        return ""
    return found.words if found is not None else ""


def rewritten(path: list[ast.AST], asked: str) -> Rewrite | None:
    """What to write in place of a node of `path`, which holds an expression and the nodes around it, the innermost first.
    `asked` says what Python wanted: a "bool", "index", "number" or "array" of a traced value, or to use it as the bound of a
    "slice", as a "mask", or for "assignment" to elements."""
    return _REWRITES[asked](with_index(path)) if path else None


# A truth value -------------------------------------------------------------------------------------------------------


def _truth(path: list[ast.AST]) -> Rewrite | None:
    """The innermost construct that wants the truth of the expression; `and`, `or` and `not` inside it become operations."""
    inner = None
    for node in path:
        match node:
            case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in OF_TRUTH and args:
                sure = name == "bool" or len(args) > 1 or isinstance(args[0], ELEMENTS) or is_truth(args[0])
                if name in TRUTHS and sure and _is_condition(node, path):
                    continue  # its truth is asked for in turn
                return Rewrite(node, OF_TRUTH[name](args), sure=sure)
            case ast.If(test=test) | ast.IfExp(test=test) if (node is path[0] or within(path[0], test)) and (
                name := _recursive(node, path)
            ):
                note = f": `{name}` would call itself without end while it is traced; or make the argument that ends it static"
                text = "make it a loop, `lax.while_loop`, of a function that says whether it goes on and one that makes a step"
                return Rewrite(node, text, False, note=note)
            case ast.If(test=test) if node is path[0] or within(path[0], test):
                found = _if(node, path)
                above = next((outer for inner, outer in itertools.pairwise(path) if inner is node), None)
                return (
                    found._replace(note=f"{found.note}{BELOW_ELSE}") if found.whole and is_elif(node, above) else found
                )
            case ast.IfExp(test=test, body=body, orelse=orelse) if within(path[0], test):
                return _where(node, condition(test), body, orelse)
            case ast.While(test=test) if node is path[0] or within(path[0], test):
                words = CHANGES_LENGTH.format(condition(test)) if grows(node) else in_while_loop(node, condition(test))
                return Rewrite(node, words, False)
            case ast.Call(func=ast.Name(id="reduce") | ast.Attribute(attr="reduce"), args=[ast.Name(id=name), *_]) if (
                name in _OF_TWO
            ):
                return Rewrite(node.args[0], f"jnp.{_OF_TWO[name]}")
            case ast.Match():
                return _match(node, path)
            case ast.stmt():
                if raises(node):
                    return Rewrite(node, RAISING, False)
                break
            case ast.BoolOp() | ast.UnaryOp(op=ast.Not()):
                inner = node
            case ast.Compare(ops=ops) if inner is None and (len(ops) > 1 or isinstance(ops[0], (ast.In, ast.NotIn))):
                inner = node
    if isinstance(inner, ast.BoolOp) and not all(map(is_truth, inner.values)):
        known = sum(map(_is_known, inner.values)) >= len(inner.values) - 1
        return Rewrite(inner, _chosen(inner), sure=known)
    return Rewrite(inner, condition(inner)) if inner is not None else None


def _match(node: ast.Match, path: list[ast.AST]) -> Rewrite:
    found = choice(node, rest_of_block(node, path))
    if found is None or not all(chosen(one, {}) for one in found.values):
        words = f"test `{ast.unparse(node.subject)}` by `jnp.where`, case by case, or let `lax.switch` choose among functions"
        return Rewrite(node, f"{words}: `match` needs a value", False)
    return _of_choice(node, found)


def _of_choice(node: ast.AST, found: Choice) -> Rewrite:
    """`jnp.where` in one another, case by case."""
    text = ast.unparse(found.values[-1])
    for test, value in reversed(list(zip(found.tests, found.values))):
        text = f"jnp.where({test}, {ast.unparse(value)}, {text})"
    return Rewrite(node, f"{found.before}{text}", choices=found.values, condition=found.tests[0])


_OF_TWO = {"max": "maximum", "min": "minimum"}


def _is_condition(node: ast.AST, path: list[ast.AST]) -> bool:
    """Whether the statement or expression around a node asks for its truth."""
    around = next((outer for inner, outer in itertools.pairwise(path) if inner is node), None)
    inverted = isinstance(around, ast.UnaryOp) and isinstance(around.op, ast.Not)
    return getattr(around, "test", None) is node or isinstance(around, ast.BoolOp) or inverted


def _recursive(node: ast.AST, path: list[ast.AST]) -> str:
    """The name of the function around a condition, if one of the arms, or what follows, calls that again; else ""."""
    around = next((one for one in path if isinstance(one, (ast.FunctionDef, ast.Lambda))), None)
    if not isinstance(around, ast.FunctionDef):
        return ""
    for one in (*ast.walk(node), *(part for after in rest_of_block(node, path) for part in ast.walk(after))):
        match one:
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name, value=ast.Name(id="self" | "cls"))):
                if name == around.name:
                    return name
    return ""


def _is_known(node: ast.expr) -> bool:
    """Whether an expression is a number or a truth, and so can be an element of an array."""
    return is_truth(node) or (isinstance(node, ast.Constant) and type(node.value) in (int, float))


def _chosen(node: ast.BoolOp) -> str:
    """`a or b`, which gives one of its operands, by `jnp.where`."""
    *before, text = map(ast.unparse, node.values)
    for one in reversed(before):
        yes, no = (one, text) if isinstance(node.op, ast.Or) else (text, one)
        text = f"jnp.where({one}, {yes}, {no})"
    return text


BELOW_ELSE = " below an `else:`"
"""How a statement goes on in words that stands in place of an `elif`."""


def _if(node: ast.If, path: list[ast.AST]) -> Rewrite:
    """`jnp.where` where both arms give one value to the same name, or return one; else `lax.cond`."""
    test = condition(node.test)
    match skipped(node, path):
        case [ast.Assign(targets=[ast.Name(id=name)]) | ast.AugAssign(target=ast.Name(id=name)) as one]:
            made = _where(node, test, ast.Name(name, ast.Load()), _given(one), f"{name} = ")
            return (
                made._replace(sure=False, note=" in place of `continue` and of what comes after it")
                if made.whole
                else made
            )
    if leaves := leaving(node, path, test):
        return Rewrite(node, leaves, False)
    if raises(node):
        return Rewrite(node, RAISING, False)
    if changes_length(node):
        return Rewrite(node, CHANGES_LENGTH.format(test), False)
    found = choice_of_ifs(node, rest_of_block(node, path))
    if found is not None and all(chosen(one, {}) for one in found.values):
        return _of_choice(node, found)
    return _cond_in_words(node, test)


def _given(one: ast.Assign | ast.AugAssign) -> ast.expr:
    """The value that a name has after a statement."""
    if isinstance(one, ast.Assign):
        return one.value
    assert isinstance(one.target, ast.Name)
    return ast.BinOp(ast.Name(one.target.id, ast.Load()), one.op, one.value)


def _where(node: ast.AST, test: str, a: ast.expr, b: ast.expr, before: str = "") -> Rewrite:
    """`jnp.where`, where the text of both values does not tell that they are no arrays."""
    if not (chosen(a, {}) and chosen(b, {})):
        return _cond_in_words(node, test)
    text = f"{before}jnp.where({test}, {ast.unparse(a)}, {ast.unparse(b)})"
    return Rewrite(node, text, choices=(a, b), condition=test)


def _cond_in_words(node: ast.AST, test: str) -> Rewrite:
    text = f"let `lax.cond` choose by `{test}` between two functions, one for each branch, which give the same types"
    return Rewrite(node, text, False)


def within(node: ast.AST | None, whole: ast.AST) -> bool:
    return any(node is part for part in ast.walk(whole))


# Numbers and arrays --------------------------------------------------------------------------------------------------


def _index(path: list[ast.AST]) -> Rewrite | None:
    for at, node in enumerate(path):
        match node:
            case ast.Call(func=ast.Name(id="range"), args=args) if args:
                bounds = bounds_of(args)
                loop = next((n for n in path[at + 1 :] if isinstance(n, ast.For)), None)
                counter = ast.unparse(loop.target) if loop is not None else "i"
                if loop is None or grows(loop):
                    return Rewrite(loop or node, collected(args), False)
                text = (
                    f"make it a `lax.fori_loop` from `{bounds[0]}` to `{bounds[1]}`, whose body is a function of `{counter}` and of what the "
                    "loop changes, and gives the next values of that"
                )
                return Rewrite(loop or node, text, False)
            case ast.Subscript(value=value, slice=slice) if not isinstance(slice, ast.Slice):
                above = path[at + 1] if at + 1 < len(path) else None
                if isinstance(above, ast.Call) and above.func is node:
                    return _switch(above, value, slice)
                return Rewrite(node, f"jnp.array({ast.unparse(value)})[{ast.unparse(slice)}]")
            case ast.stmt():
                break
    return None


def bounds_of(args: Sequence[ast.expr]) -> list[str]:
    """The bounds of a `range(…)` as those of a loop that is traced."""
    return ["0", *map(_traced, args)] if len(args) == 1 else [_traced(arg) for arg in args[:2]]


def _traced(number: ast.expr) -> str:
    """A number that Python computes with `int(…)` as an array."""
    match number:
        case ast.Call(func=ast.Name(id="int"), args=[value], keywords=[]):
            return f"{as_operand(value)}.astype(int)"
    return ast.unparse(number)


def _switch(call: ast.Call, functions: ast.expr, index: ast.expr) -> Rewrite:
    """`[f, g][k](x)` as a `lax.switch`."""
    if call.keywords or any(isinstance(one, ast.Starred) for one in call.args):
        words = f"let `lax.switch` choose by `{ast.unparse(index)}` among `{ast.unparse(functions)}`"
        return Rewrite(call, f"{words}, functions of the same arguments that give the same types", False)
    args = "".join(f", {ast.unparse(one)}" for one in call.args)
    text = f"lax.switch({ast.unparse(index)}, {ast.unparse(functions)}{args})"
    return Rewrite(call, text, sure=False, differs="an index that is out of bounds takes the nearest function")


_MATH = {"fabs": "abs", "pow": "power", "asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2",
         "dist": "linalg.norm", "fsum": "sum"}  # fmt: skip


def _is_kept(path: list[ast.AST]) -> bool:
    """Whether a value goes into a container or an attribute, where a tracer would outlive its trace."""
    for node in path:
        match node:
            case ast.Call(
                func=ast.Attribute(
                    value=ast.Name() | ast.Attribute(), attr="append" | "add" | "insert" | "extend" | "update"
                )
            ):
                return True
            case ast.Assign(targets=targets):
                return not all(isinstance(target, ast.Name | ast.Tuple) for target in targets)
            case ast.stmt():
                return False
    return False


def _number(path: list[ast.AST]) -> Rewrite | None:
    if _is_kept(path):
        return None
    for at, node in enumerate(path):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="math"), attr=name), args=args):
                return Rewrite(node, f"jnp.{_MATH.get(name, name)}({', '.join(map(ast.unparse, args))})")
            case ast.Call(func=ast.Name(id="float" | "int" | "complex"), args=[ast.Call() as value]) if is_of_shapes(
                value
            ):
                return Rewrite(value, OF_SHAPES, False)
            case ast.Call(func=ast.Name(id="int")) if _is_range(path[at + 1 : at + 2]):
                return _index(path[at + 1 :])
            case ast.Call(func=ast.Name(id="float" | "int" | "complex" as name), args=[value]):
                return Rewrite(node, f"{as_operand(value)}.astype({name})")
            case ast.Call(func=ast.Attribute(value=value, attr="item" | "tolist")):
                return Rewrite(node, ast.unparse(value))
            case ast.stmt():
                break
    return None


def _is_range(path: list[ast.AST]) -> bool:
    match path:
        case [ast.Call(func=ast.Name(id="range"))]:
            return True
    return False


def _array(path: list[ast.AST]) -> Rewrite | None:
    for node in path:
        match node:
            case ast.Call(func=ast.Attribute() as function) if (name := _numpy_name(function)) is not None:
                if written(node, name) is not None:
                    return _anew(node, name, path)
                first = node.args[:1] if name in _OF_SEQUENCES else [as_array(one) for one in node.args[:1]]
                call = ast.Call(ast.Name(f"jnp.{name}"), [*first, *node.args[1:]], node.keywords)
                return Rewrite(node, ast.unparse(call))
            case ast.stmt():
                break
    return None


_OF_SEQUENCES = {
    "array", "asarray", "stack", "concatenate", "hstack", "vstack", "dstack", "column_stack", "block", "select", "zeros", "ones",
    "full", "empty", "linalg.multi_dot", "broadcast_shapes", "ix_",
}  # fmt: skip
"""Functions that take a list first. The others of jnp refuse one, which NumPy makes an array of."""


def _anew(call: ast.Call, name: str, path: list[ast.AST]) -> Rewrite | None:
    """What to write in place of a statement that writes into an array."""
    text = anew(call, name)
    stands = any(isinstance(node, ast.Expr) and node.value is call for node in path)
    return Rewrite(call, text) if text and stands else Rewrite(call, WRITTEN, False)


WRITTEN = "give the array's name what a function that gives a new one returns, such as `x.at[i].set(v)`"


def _numpy_name(function: ast.Attribute) -> str | None:
    """`linalg.norm` of `np.linalg.norm`; None for functions of other modules."""
    parts = ast.unparse(function).split(".")
    return ".".join(parts[1:]) if parts[0] in ("np", "numpy", "onp") else None


# Indices and assignments ---------------------------------------------------------------------------------------------


_Indexed = tuple[ast.Subscript, ast.AST | None, ast.AST | None]


def _indexed(path: list[ast.AST]) -> _Indexed | None:
    """The innermost x[…], and the two nodes around it."""
    for at, node in enumerate(path):
        if isinstance(node, ast.Subscript):
            around = [*path[at + 1 : at + 3], None, None]
            return node, around[0], around[1]
    return None


def _slice(path: list[ast.AST]) -> Rewrite | None:
    """x[i:i + 2], along each axis that has such bounds; x[:n] and x[n:] of the first axis."""
    found = _indexed(path)
    if found is None:
        return None
    node, array = found[0], ast.unparse(found[0].value)
    index = parts_of(node.slice)
    moving = {at: one for at, one in enumerate(index) if isinstance(one, ast.Slice) and not _is_fixed(one)}
    if not moving or any(one.step is not None for one in moving.values()):
        return None
    match index:
        case [ast.Slice(lower=None, upper=ast.expr() as bound)]:
            mask = f"jnp.arange({{0}}.shape[0]) < {_from_start(bound)}"
        case [ast.Slice(lower=ast.expr() as bound, upper=None)]:
            mask = f"jnp.arange({{0}}.shape[0]) >= {_from_start(bound)}"
        case _:
            mask, bound = "", None
    of, at_array = (
        (node.value.value, True)
        if isinstance(node.value, ast.Attribute) and _is_at(node.value)
        else (node.value, False)
    )
    if bound is not None:
        made = _updated(found, mask) if at_array else _masked(found, mask, sure=False)
        said = " and ".join(filter(None, [made.differs if made else "", _while_counted(bound)]))
        return made._replace(of_one_rank=(1, of), differs=said) if made else None
    if _is_at(node.value):
        return None
    for at, one in moving.items():
        size, axis = length_of(one), _axis(index, at)
        if size is None or axis is None or one.lower is None:
            return None
        along = f", axis={axis}" if axis else ""
        array = f"lax.dynamic_slice_in_dim({array}, {ast.unparse(one.lower)}, {size}{along})"
    rest = [ast.Slice() if at in moving else one for at, one in enumerate(index)]
    if all(ast.unparse(one) in (":", "...") for one in rest):
        return Rewrite(node, array, differs=_MOVED)
    return Rewrite(node, f"{array}[{', '.join(map(ast.unparse, rest))}]", differs=_MOVED)


_MOVED = "near an end the window is moved until it fits, where a slice gets shorter"


def _from_start(bound: ast.expr) -> str:
    """A bound of a slice, as part of a format: `-n` counts from the end."""
    if isinstance(bound, ast.UnaryOp) and isinstance(bound.op, ast.USub):
        return f"{{0}}.shape[0] - {_braced(bound.operand)}"
    return _braced(bound)


def _while_counted(bound: ast.expr) -> str:
    if isinstance(bound, ast.UnaryOp) and isinstance(bound.op, ast.USub):
        return f"with {ast.unparse(bound.operand)} of 0 or less a slice is another one"
    return f"a negative {ast.unparse(bound)} counts from the end in a slice"


def _masked(found: _Indexed, mask: str, sure: bool) -> Rewrite:
    """x[mask] where what is left out changes nothing in what is made of it; else 0 stands for it, which the code may not mean.
    `mask` has {0} for the array, and is `sure` if it has the array's shape."""
    node, above, call = found
    array = ast.unparse(node.value)
    mask = mask.format(array)
    match above, call:
        case ast.Attribute(attr=name), ast.Call(args=[], keywords=[]) as whole:
            pass
        case ast.Call(func=ast.Attribute(value=ast.Name(id="jnp"), attr=name), args=[_], keywords=[]) as whole, _:
            pass
        case ast.Call(func=ast.Name(id="len")) as whole, _:
            return Rewrite(whole, f"jnp.sum({mask})", sure=False)
        case _:
            return Rewrite(node, f"jnp.where({mask}, {array}, 0)", sure=False, differs=_ZEROS)
    if name in _NEUTRAL:
        sure = sure and name in ("sum", "prod")  # an infinity makes floats of integers
        return Rewrite(whole, f"jnp.where({mask}, {array}, {_NEUTRAL[name]}).{name}()", sure=sure)
    if name in _WITH_WHERE:
        return Rewrite(whole, f"jnp.{name}({array}, where={mask})", sure=sure)
    return Rewrite(node, f"jnp.where({mask}, {array}, 0)", sure=False, differs=_ZEROS)


_ZEROS = "the length stays, and 0 stands for what is left out"
_NEUTRAL = {"sum": "0", "prod": "1", "max": "-jnp.inf", "min": "jnp.inf"}
_WITH_WHERE = {"mean", "std", "var", "any", "all"}


def _braced(node: ast.AST) -> str:  # as part of a format
    return condition(node).replace("{", "{{").replace("}", "}}")


def _is_at(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "at"


def _updated(found: _Indexed, mask: str) -> Rewrite | None:
    """`x.at[…].set(y)` where the index is a mask: `jnp.where`."""
    where, method, call = found[0].value, found[1], found[2]
    assert isinstance(where, ast.Attribute)
    array = ast.unparse(where.value)
    match method, call:
        case ast.Attribute(attr="set" | "add" as name), ast.Call(args=[value], keywords=[]):
            new = ast.unparse(value if name == "set" else ast.BinOp(where.value, ast.Add(), value))
            text = f"jnp.where({mask.format(array)}, {new}, {array})"
            return Rewrite(call, text, sure=False, of_one_rank=(1, where.value))
    return None


def _is_fixed(one: ast.Slice) -> bool:
    return not any(isinstance(node, ast.Name | ast.Call) for node in ast.walk(one))


def _axis(index: list[ast.expr], at: int) -> int | None:
    """The axis of the array that an element of an index is for; None where the text does not tell."""
    ends = any(ast.unparse(one) == "..." for one in index[:at])
    counted = index[at + 1 :] if ends else index[:at]
    if any(not isinstance(one, ast.Slice) and not _is_number(one) for one in counted):
        return None
    return at - len(index) if ends else at


def _is_number(node: ast.expr) -> bool:
    number = node.operand if isinstance(node, ast.UnaryOp) else node
    return isinstance(number, ast.Constant) and type(number.value) is int


def _mask(path: list[ast.AST]) -> Rewrite | None:
    found = _indexed(path)
    if found is None:
        return None
    node, mask = found[0], _braced(found[0].slice)
    if isinstance(node.value, ast.Attribute) and _is_at(node.value):
        values = getattr(found[2], "args", None)
        made = _updated(found, mask) if values and _is_one_value(values[0]) else None
        return made._replace(of_one_rank=(node.slice, node.value.value)) if made else None
    sure = _compares(node.slice, node.value)
    return _masked(found, mask, sure)._replace(of_one_rank=None if sure else (node.slice, node.value))


def _is_one_value(node: ast.expr) -> bool:
    """Whether an expression is a number by its text."""
    match node:
        case ast.UnaryOp(operand=operand):
            return _is_one_value(operand)
        case ast.Attribute(attr="nan" | "inf") | ast.Constant():
            return True
    return False


def _masked_assignment(path: list[ast.AST]) -> Rewrite | None:
    """x[mask] = 0 as x = jnp.where(mask, 0, x), which a trace takes."""
    match next((node for node in path if isinstance(node, ast.stmt)), None):
        case ast.Assign(targets=[ast.Subscript(value=ast.Name() as array, slice=mask)], value=value) as node if (
            _is_one_value(value)
        ):
            text = f"{array.id} = jnp.where({condition(mask)}, {ast.unparse(value)}, {array.id})"
            return Rewrite(node, text, sure=False, of_one_rank=(mask, array))
    return None


def _compares(mask: ast.expr, array: ast.expr) -> bool:
    """Whether a mask compares the elements of the array that it chooses from, and so has its shape."""
    match mask:
        case ast.Compare(left=left, ops=[_], comparators=[right]):
            sides = [(left, right), (right, left)]
            return any(
                ast.unparse(a) == ast.unparse(array) and isinstance(b, ast.Constant | ast.UnaryOp) for a, b in sides
            )
        case ast.UnaryOp(op=ast.Invert(), operand=operand):
            return _compares(operand, array)
    return False


_UPDATES = {
    ast.Add: "add({})",
    ast.Sub: "add(-({}))",
    ast.Mult: "multiply({})",
    ast.Div: "divide({})",
    ast.Pow: "power({})",
}


def _assignment(path: list[ast.AST]) -> Rewrite | None:
    """x[i] = y as x = x.at[i].set(y), x[i] += y as x = x.at[i].add(y)."""
    for node in path:
        match node:
            case ast.Assign(targets=[ast.Subscript(value=array, slice=index)], value=value):
                change = f"set({ast.unparse(value)})"
            case ast.AugAssign(target=ast.Subscript(value=array, slice=index), op=op, value=value) if (
                type(op) in _UPDATES
            ):
                change = _UPDATES[type(op)].format(ast.unparse(value))
            case _:
                continue
        at = ast.Subscript(ast.Attribute(array, "at"), index)  # slices of several axes have no brackets of their own
        text = f"{ast.unparse(array)} = {ast.unparse(at)}.{change}"
        return Rewrite(node, text) if may_be_named(array) else None
    return None


_REWRITES: dict[str, Callable[[list[ast.AST]], Rewrite | None]] = {
    "bool": _truth,
    "index": _index,
    "number": _number,
    "array": _array,
    "slice": _slice,
    "mask": _mask,
    "assignment": _assignment,
    "masked assignment": _masked_assignment,
}
