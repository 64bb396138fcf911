"""diffrax: differential equations, gradients through them, noise; lineax on its own."""

import functools

import diffrax as dfx
import equinox as eqx
import jax
import jax.numpy as jnp
import lineax as lx
import optimistix as optx


jax.config.update("jax_enable_x64", True)


def field(t, y, args):
    """Predators and prey."""
    prey, predators = y
    a, b, c, d = args
    return jnp.stack([a * prey - b * prey * predators, -c * predators + d * prey * predators])


ARGS = jnp.array([1.5, 1.0, 3.0, 1.0])
Y0 = jnp.array([1.0, 1.0])


def solve(args, solver=None, adjoint=None, y0=Y0, controller=None, **kwargs):
    solver, adjoint = solver or dfx.Tsit5(), adjoint or dfx.RecursiveCheckpointAdjoint()
    controller = controller or dfx.PIDController(rtol=1e-6, atol=1e-8)
    return dfx.diffeqsolve(
        dfx.ODETerm(field), solver, 0.0, 2.0, 0.05, y0, args, saveat=kwargs.pop("saveat", dfx.SaveAt(ts=jnp.linspace(0, 2, 5))),
        stepsize_controller=controller, adjoint=adjoint, **kwargs)  # fmt: skip


def explicit():
    found = {}
    for solver in (dfx.Tsit5(), dfx.Dopri5(), dfx.Dopri8(), dfx.Heun(), dfx.Bosh3()):
        solution = eqx.filter_jit(solve)(ARGS, solver)
        found[type(solver).__name__] = solution.ys, solution.stats["num_steps"]
    found["euler"] = solve(ARGS, dfx.Euler(), controller=dfx.ConstantStepSize()).ys
    return found


def implicit():
    found = {}
    for solver in (dfx.Kvaerno3(), dfx.Kvaerno5()):
        solution = eqx.filter_jit(solve)(ARGS, solver)
        found[type(solver).__name__] = solution.ys, solution.stats["num_steps"]
    return found


def _squares(adjoint, args, y0):
    return (solve(args, adjoint=adjoint, y0=y0).ys ** 2).sum()


def gradients():
    found = {}
    for adjoint in (dfx.RecursiveCheckpointAdjoint(), dfx.BacksolveAdjoint(), dfx.DirectAdjoint()):
        gradient = jax.jit(jax.grad(functools.partial(_squares, adjoint), (0, 1)))
        found[type(adjoint).__name__] = gradient(ARGS, Y0)
    forward = lambda args: solve(args, adjoint=dfx.ForwardMode(), saveat=dfx.SaveAt(t1=True)).ys
    found["forward"] = jax.jit(jax.jacfwd(forward))(ARGS)
    return found


def dense_and_events():
    dense = solve(ARGS, saveat=dfx.SaveAt(dense=True))
    event = dfx.Event(lambda t, y, args, **_: y[0] - 2.0, optx.Newton(1e-6, 1e-6))
    stopped = dfx.diffeqsolve(dfx.ODETerm(field), dfx.Tsit5(), 0.0, 9.0, 0.05, Y0, ARGS, event=event,
                              stepsize_controller=dfx.PIDController(rtol=1e-7, atol=1e-7))  # fmt: skip
    steps = solve(ARGS, saveat=dfx.SaveAt(steps=True, t1=True), max_steps=64)
    mapped = jax.vmap(lambda y0: solve(ARGS, y0=y0).ys)(jnp.stack([Y0, 2 * Y0, 3 * Y0]))
    return (
        dense.evaluate(0.7),
        dense.derivative(0.7),
        stopped.ts,
        stopped.ys,
        jnp.where(jnp.isinf(steps.ts), 0, steps.ts),
        mapped,
    )


def _drawn(terms, solver, y0):
    return dfx.diffeqsolve(terms, solver, 0.0, 1.0, 0.05, y0, saveat=dfx.SaveAt(ts=jnp.linspace(0, 1, 4))).ys


def noise():
    path = dfx.VirtualBrownianTree(0.0, 1.0, tol=1e-3, shape=(2,), key=jax.random.key(0))
    drift, diffusion = (
        dfx.ODETerm(lambda t, y, args: -y),
        dfx.ControlTerm(lambda t, y, args: lx.DiagonalLinearOperator(0.3 * jnp.ones(2)), path),
    )
    found = {}
    for solver in (dfx.Euler(), dfx.Heun(), dfx.ShARK()):
        if isinstance(solver, dfx.ShARK):
            path = dfx.VirtualBrownianTree(
                0.0, 1.0, tol=1e-3, shape=(2,), key=jax.random.key(0), levy_area=dfx.SpaceTimeLevyArea
            )
            diffusion = dfx.ControlTerm(lambda t, y, args: lx.DiagonalLinearOperator(0.3 * jnp.ones(2)), path)
        terms = dfx.MultiTerm(drift, diffusion)
        run = functools.partial(_drawn, terms, solver)
        found[type(solver).__name__] = (
            eqx.filter_jit(run)(Y0),
            eqx.filter_jit(eqx.filter_grad(lambda y, run: run(y)[-1].sum()))(Y0, run),
        )
    return found


def neural():
    """A neural differential equation, trained for a few steps."""
    import optax

    net = eqx.nn.MLP(2, 2, 8, 1, activation=jax.nn.softplus, key=jax.random.key(1))
    ts, truth = jnp.linspace(0, 2, 5), solve(ARGS).ys
    optimizer = optax.adam(1e-2)
    state = optimizer.init(eqx.filter(net, eqx.is_inexact_array))

    @eqx.filter_value_and_grad
    def loss(net):
        out = dfx.diffeqsolve(dfx.ODETerm(lambda t, y, args: net(y)), dfx.Tsit5(), 0.0, 2.0, 0.1, Y0, saveat=dfx.SaveAt(ts=ts),
                              stepsize_controller=dfx.PIDController(rtol=1e-4, atol=1e-6))  # fmt: skip
        return jnp.mean((out.ys - truth) ** 2)

    @eqx.filter_jit
    def step(net, state):
        value, grads = loss(net)
        updates, state = optimizer.update(grads, state)
        return eqx.apply_updates(net, updates), state, value

    values = []
    for _ in range(5):
        net, state, value = step(net, state)
        values.append(value)
    return jnp.stack(values)


def linear():
    matrix = jnp.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]])
    vector = jnp.array([1.0, -2.0, 0.5])
    operator = lx.MatrixLinearOperator(matrix, lx.positive_semidefinite_tag)
    found = {}
    for solver in (
        lx.LU(),
        lx.QR(),
        lx.SVD(),
        lx.Cholesky(),
        lx.CG(1e-10, 1e-10),
        lx.GMRES(1e-10, 1e-10),
        lx.BiCGStab(1e-10, 1e-10),
        lx.AutoLinearSolver(well_posed=None),
    ):
        found[type(solver).__name__] = eqx.filter_jit(lx.linear_solve)(operator, vector, solver).value
    tridiagonal = lx.TridiagonalLinearOperator(jnp.array([4.0, 5.0, 6.0]), jnp.array([1.0, 1.0]), jnp.array([0.5, 0.5]))
    found["tridiagonal"] = lx.linear_solve(tridiagonal, vector).value
    wide = lx.MatrixLinearOperator(matrix[:2])
    found["least squares"] = lx.linear_solve(wide, vector[:2], lx.AutoLinearSolver(well_posed=False)).value
    jac = lx.JacobianLinearOperator(lambda y, args: jnp.sin(y) + matrix @ y, vector)
    found["jacobian"] = lx.linear_solve(jac, vector).value, jac.T.mv(vector), jac.as_matrix()
    found["function"] = lx.linear_solve(
        lx.FunctionLinearOperator(lambda y: matrix @ y, vector), vector, lx.GMRES(1e-9, 1e-9)
    ).value

    def solved(matrix, vector):
        return (lx.linear_solve(lx.MatrixLinearOperator(matrix), vector, lx.QR()).value ** 2).sum()

    found["grad"] = jax.jit(jax.grad(solved, (0, 1)))(matrix, vector), jax.hessian(solved, 1)(matrix, vector)
    found["vmap"] = jax.vmap(lambda v: lx.linear_solve(operator, v, lx.CG(1e-9, 1e-9)).value)(
        jnp.stack([vector, 2 * vector])
    )
    return found


PARTS = [explicit, implicit, gradients, dense_and_events, noise, neural, linear]
