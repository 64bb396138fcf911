"""Calls that write into an array they are given, NumPy's and jnp's namesakes of them, as calls that give a new array."""

from __future__ import annotations

import ast


_WITH_INPLACE = {"put", "place", "put_along_axis", "fill_diagonal"}
_WRITING = _WITH_INPLACE | {"copyto", "putmask", "random.shuffle"}


def name_in(dotted: str) -> str:
    """The name in NumPy of a function that writes there, or in jnp: `put` of `numpy.put`."""
    return dotted.removeprefix("jax.").removeprefix("numpy.")


def written(call: ast.Call, name: str) -> ast.expr | None:
    """What a call of NumPy's function `name` writes into, by `out=` too; None where it gives a new array."""
    given = {one.arg: one.value for one in call.keywords}
    if getattr(given.get("inplace"), "value", None) is False:
        return None
    match given.get("out"):
        case None | ast.Constant():
            pass
        case ast.Tuple(elts=[out]) | (ast.expr() as out):
            return out
    writes = name in _WRITING or name.endswith(".at")
    return call.args[0] if writes and call.args else None


def anew(call: ast.Call, name: str) -> str:
    """The statement that gives the array its new value; "" where there is none to write."""
    array = written(call, name)
    if array is None or not may_be_named(array):
        return ""
    rest = [one for one in call.keywords if one.arg not in ("out", "inplace")]
    match name, call.args:
        case "copyto", [_, value] if not rest:
            text = f"{ast.unparse(array)}.at[...].set({ast.unparse(value)})"
        case (("copyto" | "putmask" | "random.shuffle"), _):
            return ""
        case _:
            keep = [ast.keyword("inplace", ast.Constant(False))] if array in call.args[:1] else []
            args = [one if name.endswith(".at") and isinstance(one, ast.Tuple) else as_array(one) for one in call.args]
            text = ast.unparse(ast.Call(ast.Name(f"jnp.{name}"), args, [*rest, *keep]))
    return f"{ast.unparse(array)} = {text}"


def as_array(value: ast.expr) -> ast.expr:
    """What a function of jnp takes in place of a list, which it refuses."""
    is_list = isinstance(value, ast.List | ast.ListComp | ast.Tuple)
    return ast.Call(ast.Name("jnp.array"), [value], []) if is_list else value


def may_be_named(array: ast.expr) -> bool:
    """Whether what stands for an array can be given another one: it is no call, and no property of an array."""
    match array:
        case ast.Subscript(value=of):
            return may_be_named(of)
        case ast.Attribute(value=ast.Name(id="self")) | ast.Name():
            return True
        case ast.Attribute(value=of, attr=attr):
            return attr not in _PROPERTIES and may_be_named(of)
    return False


_PROPERTIES = {"T", "mT", "real", "imag", "flat", "at"}
