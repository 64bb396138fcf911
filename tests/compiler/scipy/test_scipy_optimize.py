"""scipy.optimize and the other small parts of scipy where no sample reaches: whole searches, and what SciPy says."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.optimize
from scipy.interpolate import RegularGridInterpolator as reference
from scipy.ndimage import map_coordinates as scipy_coordinates

import jitscope as jx
import jitscope.numpy as jnp
from jitscope.scipy.interpolate import RegularGridInterpolator
from jitscope.scipy.ndimage import map_coordinates
from jitscope.scipy.optimize import minimize


LIMITED = "l-bfgs-experimental-do-not-rely-on-this"


def rosenbrock(x):
    return jnp.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def himmelblau(x):
    return (x[0] ** 2 + x[1] - 11.0) ** 2 + (x[0] + x[1] ** 2 - 7.0) ** 2


def matyas(x):
    return 0.26 * jnp.sum(x**2) - 0.48 * x[0] * x[1]


def eggholder(x):
    x1, x2 = x
    return -(x2 + 47) * jnp.sin(jnp.sqrt(jnp.abs(x1 / 2 + x2 + 47))) - x1 * jnp.sin(jnp.sqrt(jnp.abs(x1 - x2 - 47)))


SEARCHES = [
    (rosenbrock, np.array([-1.2, 1.0])),
    (rosenbrock, np.array([1.3, 0.7, 0.8, 1.9, 1.2])),
    (himmelblau, np.array([1.0, 1.0])),
    (himmelblau, np.array([92.0, 0.001])),
    (matyas, np.array([10.0, -3.0])),
    (eggholder, np.array([100.0, 100.0])),
]


@pytest.mark.parametrize("method", ["BFGS", LIMITED])
@pytest.mark.parametrize("fun, start", SEARCHES)
def test_a_search_ends_in_a_minimum_as_low_as_scipys(fun, start, method):
    value, slope = jx.jit(fun), jx.jit(jx.grad(fun))
    with jx.enable_x64():
        found = minimize(fun, jnp.asarray(start), method=method, options={"gtol": 1e-6})
        wanted = scipy.optimize.minimize(lambda x: float(value(x)), start, jac=slope, method="BFGS")
        assert np.linalg.norm(slope(found.x)) < 1e-4
        assert float(found.fun) <= float(wanted.fun) + 1e-8 or fun is himmelblau or fun is eggholder
        assert np.all(np.linalg.eigvalsh(jx.jit(jx.hessian(fun))(found.x)) > 0)
        assert found.success or (method == LIMITED and int(found.status) == 4)  # 4: too little progress
        np.testing.assert_allclose(found.fun, value(found.x), rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(found.jac, slope(found.x), rtol=1e-6, atol=1e-9)


def test_the_inverse_hessian_of_a_quadratic_function_is_found():
    random = np.random.default_rng(3)
    a = random.normal(size=(4, 4))
    matrix = a @ a.T + np.eye(4)
    with jx.enable_x64():
        fun = lambda x, b: x @ matrix @ x / 2 - b @ x
        found = minimize(fun, jnp.ones(4), (jnp.arange(4.0),), method="BFGS", options={"gtol": 1e-7})
        np.testing.assert_allclose(found.x, np.linalg.solve(matrix, np.arange(4.0)), rtol=1e-6)
        np.testing.assert_allclose(found.hess_inv, np.linalg.inv(matrix), rtol=0.05, atol=0.01)
        assert found.success and found.status == 0 and found.nfev == found.njev > found.nit > 0


def test_a_step_that_is_too_long_is_taken_back():
    """The minimum lies between the first step and the next, where the slope has the other sign."""
    found = minimize(lambda x: jnp.sum(jnp.cosh(x)), jnp.array([3.0, -2.0]), method="BFGS")
    assert found.success
    np.testing.assert_allclose(found.x, 0, atol=1e-4)


def test_failure_leaves_the_best_point_with_its_value():
    fun = lambda x: jnp.sum(jnp.abs(x)) + 0.1 * jnp.sum(x**2)
    found = minimize(fun, jnp.array([1.0, -0.7, 0.3]), method="BFGS", options={"gtol": 1e-12})
    assert not found.success and found.status != 0
    assert float(found.fun) <= float(fun(jnp.array([1.0, -0.7, 0.3])))
    np.testing.assert_allclose(found.fun, fun(found.x), rtol=1e-6)


def test_as_many_steps_as_allowed():
    found = minimize(rosenbrock, jnp.array([-1.2, 1.0]), method="BFGS", options={"maxiter": 3})
    assert (int(found.nit), int(found.status), bool(found.success)) == (3, 1, False)
    found = minimize(rosenbrock, jnp.array([-1.2, 1.0]), method=LIMITED, options={"maxiter": 3})
    assert int(found.status) == 1 and not found.success


def test_minimize_is_mapped_compiled_and_differentiated_forward():
    target = jnp.array([[1.0, 2.0], [3.0, -4.0], [0.0, 0.5]])
    solve = lambda c: minimize(lambda x: jnp.sum((x - c) ** 2 * jnp.array([1.0, 3.0])), jnp.zeros(2), method="BFGS").x
    np.testing.assert_allclose(jx.jit(jx.vmap(solve))(target), target, atol=1e-4)
    np.testing.assert_allclose(jx.jvp(solve, (target[0],), (jnp.array([1.0, 0.0]),))[1], [1, 0], atol=1e-3)


def test_what_minimize_refuses():
    with pytest.raises(TypeError, match="must be a vector"):
        minimize(jnp.sum, [1.0], method="BFGS")
    with pytest.raises(ValueError, match="shape"):
        minimize(jnp.sum, jnp.ones((2, 2)), method="BFGS")
    with pytest.raises(TypeError):
        minimize(lambda x: jnp.sum(x**2), jnp.arange(3), method="BFGS")


# Between pixels and grid points --------------------------------------------------------------------------------------

SCIPY_MODES = {"constant": "grid-constant", "wrap": "grid-wrap"}


@pytest.mark.parametrize("mode", ["constant", "nearest", "wrap", "mirror", "reflect"])
@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("shape", [(7,), (3, 5), (1, 4), (2, 3, 4)])
def test_map_coordinates_is_scipys(mode, order, shape):
    random = np.random.default_rng(len(shape))
    image = random.normal(size=shape).astype(np.float32)
    places = [random.uniform(-1.4 * n, 2.3 * n, size=(4, 6)).astype(np.float32) for n in shape]
    found = map_coordinates(image, places, order, mode, cval=0.5)
    wanted = scipy_coordinates(image, places, order=order, mode=SCIPY_MODES.get(mode, mode), cval=0.5)
    np.testing.assert_allclose(found, wanted, rtol=2e-5, atol=2e-5)


def test_integers_between_pixels_are_rounded():
    found = map_coordinates(jnp.array([0, 10, 21]), [jnp.array([0.26, 0.5, 1.52])], 1)
    assert found.dtype == jnp.int32
    np.testing.assert_array_equal(found, [3, 5, 16])


def test_slopes_by_place_are_differences_of_pixels():
    image = jnp.array([1.0, 4.0, 2.0, -3.0])
    slope = jx.vmap(jx.grad(lambda x: map_coordinates(image, [x], 1)))(jnp.array([0.3, 1.5, 2.9]))
    np.testing.assert_allclose(slope, [3, -2, -5])


@pytest.mark.parametrize("method", ["linear", "nearest"])
@pytest.mark.parametrize("fill", [None, np.nan, -2.0])
def test_interpolation_on_a_grid_is_scipys(method, fill):
    random = np.random.default_rng(1)
    grid = tuple(np.cumsum(random.uniform(0.2, 1, n)) for n in (5, 4, 3))
    values = random.normal(size=(5, 4, 3, 2))
    places = random.uniform(-0.5, 3.5, size=(6, 7, 3))
    with jx.enable_x64():
        found = RegularGridInterpolator(grid, values, method, fill_value=fill)(places)
    wanted = reference(grid, values, method=method, bounds_error=False, fill_value=fill)(places)
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)


def test_interpolators_are_trees():
    grid = jnp.array([0.0, 1.0, 3.0])
    made = RegularGridInterpolator((grid,), jnp.array([1.0, 2.0, -2.0]))
    slopes = jx.jit(jx.grad(lambda f: f(jnp.array([0.5, 2.0])).sum()))(made)
    assert isinstance(slopes, RegularGridInterpolator) and slopes.method == "linear"
    np.testing.assert_allclose(slopes.values, [0.5, 1.0, 0.5])
    np.testing.assert_allclose(jx.tree.map(lambda x: 2 * x, made)(jnp.array([1.0])), [3.0])
