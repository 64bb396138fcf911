"""Optimizers whose state nobody takes: each step is then the first."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from jitscope.core.words import root_of

from ...source_code.bindings import read, stored, stores
from ...source_code.edits import Edit
from ...source_code.parameters import argument_for, arguments, keyword, parameters, positional
from ...source_code.tree import Function, below
from ..code.walk import Walk
from ..diagnostic import Diagnostic, Fix
from .diagnostics import diagnostic, short


class _Step(NamedTuple):
    """`updates, later = optimizer.update(grads, state, ...)`; `later` is "" where the state is not named at all."""

    statement: ast.Assign
    call: ast.Call
    updates: str
    later: str

    @property
    def optimizer(self) -> ast.expr:
        return self.call.func.value  # pyright: ignore[reportAttributeAccessIssue]

    @property
    def state(self) -> ast.expr | None:
        return self.call.args[1] if len(self.call.args) > 1 else keyword(self.call, "state")


def states(walk: Walk) -> Iterator[Diagnostic]:
    """update-result-dropped of `updates, _ = optimizer.update(grads, state)` in training: the state stays that of the first step."""
    if ".update(" not in walk.code.text:
        return
    for node in walk.code.nodes:
        step = _step(node)
        if step is None:
            continue
        if not _is_dropped(step, walk):
            yield from _dropped_by_callers(step, walk)
            continue
        if not _is_repeated(step, walk):
            continue
        keeps = _keeps_state(step, walk)
        if keeps is False:
            continue
        what = short(walk.code, step.state) if step.state is not None else "state"
        message = f"the new state of the optimizer is dropped: each step starts from the same `{what}`, without what {short(walk.code, step.optimizer)} learned of earlier gradients."
        if keeps is None:
            message = (
                f"the new state of the optimizer is dropped: if it keeps one, each step starts from the same `{what}`."
            )
        fix = f"Keep it for the next step: {step.updates}, {what} = {short(walk.code, step.optimizer)}.update(…), and return it from a function."
        yield diagnostic(walk.code, "update-result-dropped", step.call, message, fix, "info" if keeps is None else None)


def _dropped_by_callers(step: _Step, walk: Walk) -> Iterator[Diagnostic]:
    """The same where a function gives the new state back, and a loop that calls it goes on with the old one: `p, _ = step(p, state)`."""
    code, function = walk.code, walk.code.function_around(step.statement)
    place = _returned_at(step, function) if isinstance(function, ast.FunctionDef) else None
    if not isinstance(function, ast.FunctionDef) or place is None or _is_made(step, function, walk):
        return
    if not _keeps_state(step, walk):  # what only its use tells of may have none
        return
    for call, statement, loop in _calls_in_loops(function, walk):
        state, target = _given(step, function, call), statement.targets[0]
        if statement.value is not call or len(statement.targets) != 1:
            continue
        if not isinstance(state, ast.Name) or not isinstance(target, ast.Tuple) or state.id in stored(loop):
            continue
        taken = target.elts[place] if len(target.elts) == len(_results(function)) else None
        if not isinstance(taken, ast.Name) or _is_read(taken, walk) or not _carries_on(call, statement, state.id):
            continue
        name, optimizer = ast.unparse(call.func), short(code, step.optimizer)
        message = f"the new state of the optimizer, which {name} gives back, is dropped: each call starts from the same `{state.id}`, without what {optimizer} learned of earlier gradients."
        fix = Fix(f"Keep it for the next call: give it to `{state.id}`.", (Edit(code.span(taken), state.id),))
        yield diagnostic(code, "update-result-dropped", call, message, fix)


def _results(function: ast.FunctionDef) -> list[ast.expr]:
    """The parts of the tuple that a function returns; none where it is not one and the same in each `return`."""
    returns = [one.value for one in below(function) if isinstance(one, ast.Return)]
    tuples = [one.elts for one in returns if isinstance(one, ast.Tuple)]
    same = len(tuples) == len(returns) > 0 and len({len(one) for one in tuples}) == 1
    return tuples[-1] if same and not any(isinstance(one, ast.Starred) for one in tuples[-1]) else []


def _returned_at(step: _Step, function: ast.FunctionDef) -> int | None:
    """At which place a function that has the state as an argument returns the new one."""
    if not isinstance(step.state, ast.Name) or step.state.id not in parameters(function):
        return None
    names = [one.id if isinstance(one, ast.Name) else "" for one in _results(function)]
    return names.index(step.later) if names.count(step.later) == 1 else None


def _calls_in_loops(
    function: ast.FunctionDef, walk: Walk
) -> Iterator[tuple[ast.Call, ast.Assign, ast.For | ast.While]]:
    """The calls of a function in loops, in assignments there."""
    for call in walk.code.of(ast.Call):
        if walk.functions.called(call) is not function:
            continue
        loop = next((one for one in walk.code.around(call) if isinstance(one, Function | ast.For | ast.While)), None)
        statement = walk.code.statement_around(call)
        if isinstance(loop, ast.For | ast.While) and isinstance(statement, ast.Assign):
            yield call, statement, loop


def _given(step: _Step, function: ast.FunctionDef, call: ast.Call) -> ast.expr | None:
    """What a call gives a function for the state."""
    root = root_of(ast.unparse(step.state)) if step.state is not None else ""
    return argument_for(call, root, positional(function))


def _is_read(name: ast.Name, walk: Walk) -> bool:
    """Whether anything reads a name of that scope."""
    bound = walk.code.scopes.binding(name.id, name)
    return any(
        one.id == name.id and isinstance(one.ctx, ast.Load) and walk.code.scopes.binding(one.id, one) is bound
        for one in walk.code.of(ast.Name)
    )


def _carries_on(call: ast.Call, statement: ast.Assign, state: str) -> bool:
    """Whether a call gives back what the next one is given: the parameters."""
    given = {name for one in arguments(call) for name in read(one)}
    return bool(given & stored(statement.targets[0]) - {state})


def _step(node: ast.AST) -> _Step | None:
    match node:
        case ast.Assign(
            targets=[ast.Tuple(elts=[ast.Name(id=updates), ast.Name(id=later)])],
            value=ast.Call(func=ast.Attribute(value=ast.Name() | ast.Attribute(), attr="update")) as call,
        ):
            return _Step(node, call, updates, later)
        case ast.Assign(
            targets=[ast.Name(id=updates)],
            value=ast.Subscript(
                value=ast.Call(func=ast.Attribute(value=ast.Name() | ast.Attribute(), attr="update")) as call,
                slice=ast.Constant(value=0),
            ),
        ):
            return _Step(node, call, updates, "")
    return None


def _is_dropped(step: _Step, walk: Walk) -> bool:
    """Whether the state comes from a name that nothing gives the new one, and nothing reads that."""
    code, state = walk.code, step.state
    if not isinstance(state, ast.Name | ast.Attribute) or code.names.dotted(state):
        return False
    if not step.later:
        return True
    scope = code.scopes.binding(step.later, step.statement)
    if scope is None or any(isinstance(one, ast.Global | ast.Nonlocal) for one in below(scope)):
        return False
    reads = [
        node
        for node in code.of(ast.Name)
        if node.id == step.later and isinstance(node.ctx, ast.Load) and code.scopes.binding(node.id, node) is scope
    ]
    in_step = isinstance(scope, Function) and _loop(step, walk) is None
    return not any(one.lineno > step.call.lineno for one in reads) if in_step else not reads


def _loop(step: _Step, walk: Walk) -> ast.For | ast.While | None:
    """The innermost loop around a step, in the same function."""
    for one in walk.code.around(step.statement):
        if isinstance(one, Function):
            return None
        if isinstance(one, ast.For | ast.While):
            return one
    return None


def _is_repeated(step: _Step, walk: Walk) -> bool:
    """Whether the program goes on from the parameters of one step to the next with one state."""
    loop, function = _loop(step, walk), walk.code.function_around(step.statement)
    if loop is not None:
        return _goes_on([step.updates], loop) and not _names_of(step) & stored(loop)
    if not isinstance(function, ast.FunctionDef) or not _is_used(step, function):
        return False
    kinds = {one.by for one in walk.functions.traced if one.function is function}
    if kinds & {"scan", "fori_loop", "while_loop"}:
        return not _is_made(step, function, walk)
    return _is_called_in_training(step, function, walk)


def _names_of(step: _Step) -> set[str]:
    """The names that hold the optimizer and its state."""
    return {root_of(ast.unparse(one)) for one in (step.state, step.optimizer) if one is not None}


def _goes_on(updates: Sequence[str], loop: ast.For | ast.While) -> bool:
    """Whether a statement of a loop makes new parameters of the old ones and of updates: `p = apply_updates(p, updates)`."""
    for one in below(loop):
        if isinstance(one, ast.AugAssign) and read(one.value) & {*updates}:
            return True
        if isinstance(one, ast.Assign):
            names = read(one.value)
            if names & {*updates} and any(stored(target) & names for target in one.targets):
                return True
    return False


def _is_used(step: _Step, function: ast.FunctionDef) -> bool:
    return step.updates in read(function)


def _is_made(step: _Step, function: ast.FunctionDef, walk: Walk) -> bool:
    """Whether a function makes the state or the optimizer itself."""
    names = _names_of(step)
    return any(
        isinstance(one, ast.Assign)
        and one is not step.statement
        and any(isinstance(inner, ast.Call) for inner in below(one.value))
        and any(stored(target) & names for target in one.targets)
        for one in walk.code.within(function)
    )


def _is_called_in_training(step: _Step, function: ast.FunctionDef, walk: Walk) -> bool:
    """Whether a loop calls a function with one state again and again, and takes parameters of it that it gives to the next call."""
    if _is_made(step, function, walk):
        return False
    for call, statement, loop in _calls_in_loops(function, walk):
        given = {name for one in arguments(call) for name in read(one)}
        if given & stored(*statement.targets) and _is_one(step, function, call, statement, loop):
            return True
    return False


def _is_one(
    step: _Step, function: ast.FunctionDef, call: ast.Call, statement: ast.Assign, loop: ast.For | ast.While
) -> bool:
    """Whether a call in a loop gives the state by a name that the loop gives nothing but the state itself, or the function has it from
    outside."""
    root = root_of(ast.unparse(step.state)) if step.state is not None else ""
    places = positional(function)
    if root not in places:
        return True
    value = argument_for(call, root, places)
    if not isinstance(value, ast.Name | ast.Attribute):
        return False
    name = root_of(ast.unparse(value))
    return name not in stored(loop) or (
        isinstance(value, ast.Name) and _comes_back(root, function, name, statement, loop)
    )


def _comes_back(
    root: str, function: ast.FunctionDef, given: str, statement: ast.Assign, loop: ast.For | ast.While
) -> bool:
    """Whether all that a loop gives a name is what the function was called with: `p, s = step(p, s)`, of `return q, s`."""
    targets = statement.targets[0].elts if isinstance(statement.targets[0], ast.Tuple) else []
    places = [i for i, one in enumerate(targets) if isinstance(one, ast.Name) and one.id == given]
    given_to = [one for one in stores(loop) if one.id == given]
    returns = [one.value for one in below(function) if isinstance(one, ast.Return)]
    if len(places) != 1 or len(given_to) != 1 or root in stored(function) or not returns:
        return False
    return all(
        isinstance(value, ast.Tuple)
        and len(value.elts) == len(targets)
        and isinstance(one := value.elts[places[0]], ast.Name)
        and one.id == root
        for value in returns
    )


_STATEFUL = {
    "adabelief", "adadelta", "adafactor", "adagrad", "adam", "adamax", "adamaxw", "adamw", "adan", "amsgrad", "lamb", "lars", "lbfgs",
    "lion", "nadam", "nadamw", "novograd", "optimistic_adam", "radam", "rmsprop", "rprop", "sm3", "yogi", "scale_by_adam",
    "scale_by_rms", "scale_by_schedule", "trace", "ema",
}  # fmt: skip
_LIBRARIES = ("optax.", "jax.optimizers.")


def _keeps_state(step: _Step, walk: Walk) -> bool | None:
    """Whether the optimizer has a state that changes; False also where it is none, None where only its use tells that it is one."""
    code, optimizer = walk.code, step.optimizer
    made = [
        node.value
        for node in code.of(ast.Assign)
        if any(ast.unparse(one) == ast.unparse(optimizer) for one in node.targets)
    ]
    if made:
        return all(_is_stateful(one, walk) for one in made)
    applied = any(
        code.dotted(node.func) in ("optax.apply_updates", "jax.optimizers.apply_updates", "equinox.apply_updates")
        and len(node.args) == 2
        and step.updates in read(node.args[1])
        and code.function_around(node) is code.function_around(step.statement)
        for node in code.of(ast.Call)
    )
    return None if applied else False


def _is_stateful(value: ast.expr, walk: Walk) -> bool:
    if not isinstance(value, ast.Call):
        return False
    dotted = walk.code.dotted(value.func)
    name = dotted.rpartition(".")[2]
    if not dotted.startswith(_LIBRARIES):
        return False
    if name == "chain":
        return any(_is_stateful(one, walk) for one in value.args)
    if name == "sgd":
        momentum = value.args[1] if len(value.args) > 1 else keyword(value, "momentum")
        return isinstance(momentum, ast.Constant) and bool(momentum.value)
    return name in _STATEFUL
