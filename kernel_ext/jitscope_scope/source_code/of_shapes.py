"""What is known while tracing: shapes, and what Python computes of them."""

from __future__ import annotations

import ast


OF_SHAPES = "compute it with NumPy or math: nothing in it depends on the values of arrays, and what jnp computes while tracing is traced all the same"


def is_of_shapes(node: ast.AST) -> bool:
    """Whether an expression is computed of constants and of what is known of arrays while tracing alone."""
    match node:
        case ast.Attribute(attr="shape" | "ndim" | "size") | ast.Call(func=ast.Name(id="len")):
            return True
        case ast.Call(
            func=ast.Attribute(value=ast.Name() | ast.Attribute(value=ast.Name())), args=args, keywords=keywords
        ) if args:
            return all(map(is_of_shapes, (*args, *(one.value for one in keywords))))
        case ast.Name() | ast.Call() | ast.Attribute():
            return False
    return all(map(is_of_shapes, (one for one in ast.iter_child_nodes(node) if isinstance(one, ast.expr))))
