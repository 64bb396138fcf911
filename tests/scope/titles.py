"""Programs of functions, and what each is called: made by jit of transformations, and by transformations outside jit."""

from typing import Any


def squares(x):
    return (x * x).sum()


def plain_gradient(jx: Any, jnp: Any, x: Any) -> None:
    jx.jit(jx.grad(squares))(x)


def value_and_gradient(jx: Any, jnp: Any, x: Any) -> None:
    jx.jit(jx.value_and_grad(squares))(x)


def rows_of_gradients(jx: Any, jnp: Any, x: Any) -> None:
    jx.jit(jx.vmap(jx.grad(squares)))(jnp.stack([x, x]))


def hessian(jx: Any, jnp: Any, x: Any) -> None:
    jx.jit(jx.hessian(squares))(x)


def remat(jx: Any, jnp: Any, x: Any) -> None:
    jx.jit(jx.checkpoint(squares))(x)


def decorated(jx: Any, jnp: Any, x: Any) -> None:
    @jx.jit
    @jx.grad
    def slope(v):
        return (v * v).sum()

    slope(x)


def gradient_outside(jx: Any, jnp: Any, x: Any) -> None:
    jx.grad(jx.jit(squares))(x)


def rows_outside(jx: Any, jnp: Any, x: Any) -> None:
    jx.vmap(jx.jit(squares))(jnp.stack([x, x]))


def rows_of_gradients_outside(jx: Any, jnp: Any, x: Any) -> None:
    jx.vmap(jx.grad(jx.jit(squares)))(jnp.stack([x, x]))


def tangent_outside(jx: Any, jnp: Any, x: Any) -> None:
    jx.jvp(jx.jit(squares), (x,), (x,))


def second_derivative_outside(jx: Any, jnp: Any, x: Any) -> None:
    jx.jvp(jx.grad(jx.jit(lambda v: (v * v * v).sum())), (x,), (x,))


def slope_of_slope_outside(jx: Any, jnp: Any, x: Any) -> None:
    jx.grad(lambda v: jx.jit(jx.grad(lambda w: w**3))(v))(2.0)


def slopes_of_one_function_outside(jx: Any, jnp: Any, x: Any) -> None:
    def cube(v):
        return v**3

    jx.grad(jx.jit(jx.grad(jx.jit(cube))))(2.0)


def scan_outside(jx: Any, jnp: Any, x: Any) -> None:
    jx.lax.scan(lambda c, v: (c * v, v), 1.0, x)


def gradient_of_scan_outside(jx: Any, jnp: Any, x: Any) -> None:
    jx.grad(lambda v: jx.lax.scan(lambda c, e: (c * e, c), 1.0, v)[0])(x)


def gradient_of_constant_in_a_map(jx: Any, jnp: Any, x: Any) -> None:
    slope = jx.grad(jx.jit(squares))
    jx.vmap(lambda v: v * slope(x).sum())(x)


TITLES = {
    plain_gradient: ["grad of squares"],
    value_and_gradient: ["value_and_grad of squares"],
    rows_of_gradients: ["vmap of grad of squares"],
    hessian: ["jacfwd of jacrev of squares"],
    remat: ["squares"],
    decorated: ["slope"],
    gradient_outside: ["forward pass of squares", "backward pass of squares"],
    rows_outside: ["vmap of squares"],
    rows_of_gradients_outside: ["vmap of forward pass of squares", "vmap of backward pass of squares"],
    tangent_outside: ["jvp of squares"],
    second_derivative_outside: ["jvp of forward pass of <lambda>", "jvp of backward pass of <lambda>"],
    slope_of_slope_outside: ["forward pass of grad of <lambda>", "backward pass of grad of <lambda>"],
    slopes_of_one_function_outside: ["forward pass of grad of cube", "backward pass of grad of cube"],
    scan_outside: ["scan"],
    gradient_of_scan_outside: ["forward pass of scan", "backward pass of scan"],
    gradient_of_constant_in_a_map: ["forward pass of squares", "backward pass of squares"],
}
