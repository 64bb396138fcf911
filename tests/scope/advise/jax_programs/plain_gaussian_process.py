"""A Gaussian process: kernels by vmap, Cholesky, hyperparameters by gradients."""

import jax
import jax.numpy as jnp
from jax.scipy.linalg import cho_factor, cho_solve


def rbf(params, x1, x2):
    return jnp.exp(params["log_amp"]) * jnp.exp(-0.5 * jnp.sum((x1 - x2) ** 2) * jnp.exp(-2 * params["log_scale"]))


def gram(kernel, params, xs, ys):
    return jax.vmap(lambda x: jax.vmap(lambda y: kernel(params, x, y))(ys))(xs)


def negative_log_likelihood(params, x, y):
    n = x.shape[0]
    cov = gram(rbf, params, x, x) + jnp.exp(params["log_noise"]) * jnp.eye(n)
    factor = cho_factor(cov, lower=True)
    alpha = cho_solve(factor, y)
    log_det = 2 * jnp.sum(jnp.log(jnp.diagonal(factor[0])))
    return 0.5 * (y @ alpha + log_det + n * jnp.log(2 * jnp.pi))


@jax.jit
def train_step(params, momentums, x, y, rate=1e-2):
    grads = jax.grad(negative_log_likelihood)(params, x, y)
    momentums = {k: 0.9 * momentums[k] + 0.1 * grads[k] for k in params}
    params = {k: params[k] - rate * momentums[k] for k in params}
    return params, momentums


@jax.jit
def predict(params, x, y, x_new):
    cov = gram(rbf, params, x, x) + jnp.exp(params["log_noise"]) * jnp.eye(len(x))
    cross = gram(rbf, params, x, x_new)
    factor = cho_factor(cov, lower=True)
    mean = cross.T @ cho_solve(factor, y)
    v = cho_solve(factor, cross)
    return mean, gram(rbf, params, x_new, x_new) - cross.T @ v


def main():
    key, noise_key = jax.random.split(jax.random.key(3))
    x = jax.random.uniform(key, (12, 1)) * 4 - 1
    y = jnp.sin(3 * x[:, 0]) + 0.1 * jax.random.normal(noise_key, (12,))
    params = {"log_amp": 0.0, "log_scale": 0.0, "log_noise": -3.0}
    momentums = jax.tree.map(jnp.zeros_like, params)
    for _ in range(3):
        params, momentums = train_step(params, momentums, x, y)
    mean, cov = predict(params, x, y, jnp.linspace(-1, 1, 5)[:, None])
    if not jnp.all(jnp.isfinite(mean)):
        raise RuntimeError("the prediction is not finite")
    print(mean.shape, cov.shape)


if __name__ == "__main__":
    main()
