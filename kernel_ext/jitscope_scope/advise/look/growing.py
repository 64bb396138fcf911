"""Arrays that grow in a Python loop, by an element or a row in each iteration."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...source_code.tree import Function, below
from ..code.walk import Event, Walk
from ..diagnostic import Diagnostic
from .diagnostics import diagnostic


_JOINING = {f"jax.numpy.{name}" for name in ("append", "concatenate", "vstack", "hstack", "concat")}


def arrays(event: Event, walk: Walk) -> Iterator[Diagnostic]:
    """recompile-shape of `xs = jnp.append(xs, x)` in a loop: each length is another program."""
    call = event.node
    if event.what != "call" or event.dotted not in _JOINING or event.region.stages:
        return
    statement = walk.code.parents.get(call)
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)]) if _joins(call, name):
            pass
        case _:
            return
    loop = next((one for one in walk.code.around(call) if isinstance(one, Function | ast.For | ast.While)), None)
    if isinstance(loop, ast.For | ast.While) and _only_grows(loop, name, statement) and _runs(call, walk):
        message = f"`{name}` has another size in every iteration, and every size is another program to compile."
        fix = f"Append to a Python list, and make the array after the loop: {name} = jnp.array(items); or write into one of the final size: {name}.at[i].set(x)."
        yield diagnostic(walk.code, "recompile-shape", call, message, fix)


def _joins(call: ast.Call, name: str) -> bool:
    """Whether a call joins the whole of what a name holds with something else."""
    first = call.args[0] if call.args else None
    parts = first.elts if isinstance(first, ast.List | ast.Tuple) else call.args[:2]
    return len(parts) > 1 and any(isinstance(one, ast.Name) and one.id == name for one in parts)


def _only_grows(loop: ast.For | ast.While, name: str, statement: ast.stmt) -> bool:
    """Whether a loop gives a name nothing else, and goes on after that."""
    stores = [
        one for one in below(loop) if isinstance(one, ast.Name) and one.id == name and not isinstance(one.ctx, ast.Load)
    ]
    ends = any(isinstance(one, ast.Break | ast.Return | ast.Raise) for one in loop.body)
    return len(stores) == 1 and statement in loop.body and not ends


def _runs(node: ast.AST, walk: Walk, met: frozenset[Function] = frozenset()) -> bool:
    """Whether the program shows that Python runs what stands here: in no function, or in one that is called from such a place. What
    only a traced function calls is one program with it."""
    function = walk.code.function_around(node)
    if function is None:
        return True
    if function in met or function in walk.functions.traced_functions:
        return False
    return any(
        walk.functions.called(call) is function and _runs(call, walk, met | {function})
        for call in walk.code.of(ast.Call)
    )
