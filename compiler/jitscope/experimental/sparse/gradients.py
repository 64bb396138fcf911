"""Derivatives with respect to sparse arrays: of their elements, at the same places."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ... import api, tree
from .arrays import BCOO
from .rules import is_sparse


__all__ = ["grad", "jacfwd", "jacobian", "jacrev", "value_and_grad"]


def _of_elements(
    fun: Callable[..., Any], argnums: Any, args: tuple, kwargs: dict[str, Any]
) -> tuple[Any, list[Any], Any]:
    """(the function of the arguments' elements alone, those elements, how derivatives for them go back into the arguments)."""
    chosen = [argnums] if isinstance(argnums, int) else list(argnums)
    given, structure = tree.flatten(tuple([args[i] for i in chosen]), is_sparse)

    def of_elements(elements: list[Any]) -> Any:
        filled = structure.unflatten([m._like(x) if is_sparse(m) else x for m, x in zip(given, elements)])
        whole = list(args)
        for i, value in zip(chosen, filled):
            whole[i] = value
        return fun(*whole, **kwargs)

    def back(found: Sequence[Any], make: Callable[[Any, Any], Any]) -> Any:
        result = structure.unflatten([make(m, x) if is_sparse(m) else x for m, x in zip(given, found)])
        return result[0] if isinstance(argnums, int) else result

    return of_elements, [m.data if is_sparse(m) else m for m in given], back


def value_and_grad(
    fun: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False, **kwargs: Any
) -> Callable[..., tuple[Any, Any]]:
    """As `value_and_grad` of dense arrays; the derivative for a sparse argument is sparse, at its places."""

    def differentiated(*args: Any, **named: Any) -> tuple[Any, Any]:
        of_elements, elements, back = _of_elements(fun, argnums, args, named)
        value, found = api.value_and_grad(of_elements, has_aux=has_aux, **kwargs)(elements)
        return value, back(found, lambda mat, x: mat._like(x))

    return differentiated


def grad(
    fun: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False, **kwargs: Any
) -> Callable[..., Any]:
    """As `grad` of dense arrays; the derivative for a sparse argument is sparse, at its places."""

    def differentiated(*args: Any, **named: Any) -> Any:
        value, found = value_and_grad(fun, argnums, has_aux, **kwargs)(*args, **named)
        return (found, value[1]) if has_aux else found

    return differentiated


def _jacobian(transform: Any, fun: Any, argnums: Any, has_aux: bool, kwargs: dict[str, Any]) -> Callable[..., Any]:
    def differentiated(*args: Any, **named: Any) -> Any:
        of_elements, elements, back = _of_elements(fun, argnums, args, named)
        made: list[Any] = []

        def noted(elements: list[Any]) -> Any:
            out = of_elements(elements)
            value = out[0] if has_aux else out
            made[:] = [tree.structure(value), [api.typeof(x).shape for x in tree.leaves(value)]]
            return out

        found = transform(noted, has_aux=has_aux, **kwargs)(elements)
        jacobians, aux = found if has_aux else (found, None)
        structure, shapes = made

        def with_rows(mat: BCOO, x: Any, shape: tuple[int, ...]) -> BCOO:
            indices = mat.indices[(None,) * len(shape)]
            return BCOO((x, indices), shape=(*shape, *mat.shape))

        of_leaves = [
            back(part, lambda mat, x, shape=shape: with_rows(mat, x, shape))
            for part, shape in zip(structure.flatten_up_to(jacobians), shapes)
        ]
        result = structure.unflatten(of_leaves)
        return (result, aux) if has_aux else result

    return differentiated


def jacfwd(
    fun: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False, **kwargs: Any
) -> Callable[..., Any]:
    """As `jacfwd` of dense arrays; the result's axes are the batch of what is sparse."""
    return _jacobian(api.jacfwd, fun, argnums, has_aux, kwargs)


def jacrev(
    fun: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False, **kwargs: Any
) -> Callable[..., Any]:
    """As `jacrev` of dense arrays; the result's axes are the batch of what is sparse."""
    return _jacobian(api.jacrev, fun, argnums, has_aux, kwargs)


jacobian = jacrev
