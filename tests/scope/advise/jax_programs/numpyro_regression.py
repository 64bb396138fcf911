"""Bayesian regressions with numpyro: NUTS, a plate, a hierarchy, predictions."""

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from jax import random
from numpyro.infer import MCMC, NUTS, SVI, Predictive, Trace_ELBO
from numpyro.infer.autoguide import AutoNormal


def model(marriage=None, age=None, divorce=None):
    a = numpyro.sample("a", dist.Normal(0.0, 0.2))
    total, slopes = 0.0, {}
    for name, values in (("marriage", marriage), ("age", age)):
        if values is not None:
            slopes[name] = numpyro.sample(f"b_{name}", dist.Normal(0.0, 0.5))
            total = total + slopes[name] * values
    sigma = numpyro.sample("sigma", dist.Exponential(1.0))
    mu = numpyro.deterministic("mu", a + total)
    numpyro.sample("obs", dist.Normal(mu, sigma), obs=divorce)


def hierarchy(groups, x, y=None):
    count = len(np.unique(groups))
    mu = numpyro.sample("mu", dist.Normal(0.0, 10.0))
    tau = numpyro.sample("tau", dist.HalfNormal(1.0))
    with numpyro.plate("groups", count):
        theta = numpyro.sample("theta", dist.Normal(mu, tau))
    with numpyro.plate("data", x.shape[0]):
        numpyro.sample("y", dist.Normal(theta[groups] * x, 1.0), obs=y)


def log_likelihood(rng_key, params, model, *args, **kwargs):
    seeded = numpyro.handlers.seed(numpyro.handlers.condition(model, params), rng_key)
    trace = numpyro.handlers.trace(seeded).get_trace(*args, **kwargs)
    site = trace["obs"]
    return site["fn"].log_prob(site["value"])


def main():
    rng_key = random.PRNGKey(0)
    rng_key, x_key, noise_key, mcmc_key = random.split(rng_key, 4)
    age = random.normal(x_key, (20,))
    divorce = 0.5 * age + 0.1 * random.normal(noise_key, (20,))
    mcmc = MCMC(NUTS(model), num_warmup=5, num_samples=5, progress_bar=False)
    mcmc.run(mcmc_key, age=age, divorce=divorce)
    samples = mcmc.get_samples()
    rng_key, predict_key, ll_key, svi_key = random.split(rng_key, 4)
    predictions = Predictive(model, samples)(predict_key, age=age)["obs"]
    keys = random.split(ll_key, 5)
    each = jax.vmap(lambda key, params: log_likelihood(key, params, model, age=age, divorce=divorce))(keys, samples)
    guide = AutoNormal(hierarchy)
    svi = SVI(hierarchy, guide, numpyro.optim.Adam(0.01), Trace_ELBO())
    groups = np.arange(20) % 3
    result = svi.run(svi_key, 3, groups, age, divorce, progress_bar=False)
    print(predictions.shape, jnp.sum(each), result.losses[-1])


if __name__ == "__main__":
    main()
