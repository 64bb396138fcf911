"""numpyro: sampling and variational inference. Long chains drift apart by rounding, so they are short or summarised."""

import jax
import jax.numpy as jnp
import numpyro
import numpyro.distributions as dist
import optax
from numpyro.infer import HMC, MCMC, NUTS, SVI, Predictive, Trace_ELBO, log_likelihood
from numpyro.infer.autoguide import AutoDiagonalNormal, AutoNormal
from numpyro.infer.util import log_density


jax.config.update("jax_enable_x64", True)

X = jnp.linspace(-1.0, 1.0, 20)
Y = 1.5 * X - 0.3 + 0.1 * jnp.sin(17 * X)


def regression(x, y=None):
    slope = numpyro.sample("slope", dist.Normal(0, 2))
    offset = numpyro.sample("offset", dist.Normal(0, 2))
    scale = numpyro.sample("scale", dist.HalfNormal(1))
    with numpyro.plate("data", x.shape[0]):
        return numpyro.sample("y", dist.Normal(slope * x + offset, scale), obs=y)


def nuts():
    sampler = MCMC(NUTS(regression), num_warmup=60, num_samples=60, progress_bar=False)
    sampler.run(jax.random.key(0), X, Y)
    samples = sampler.get_samples()
    # Only that the chain is where it belongs: to one digit, since rounding makes chains part.
    return [jnp.round(samples[name].mean(), 1) for name in ("slope", "offset")], float(
        sampler.get_extra_fields()["diverging"].sum()
    )


def first_steps():
    """The first draws of a chain, before rounding is felt."""
    sampler = MCMC(
        HMC(regression, num_steps=4, step_size=0.05, adapt_step_size=False),
        num_warmup=0,
        num_samples=5,
        progress_bar=False,
    )
    sampler.run(jax.random.key(0), X, Y)
    return sampler.get_samples()


def variational():
    found = {}
    for guide in (AutoNormal(regression), AutoDiagonalNormal(regression)):
        svi = SVI(regression, guide, numpyro.optim.Adam(0.05), Trace_ELBO(num_particles=2))
        result = svi.run(jax.random.key(1), 30, X, Y, progress_bar=False)
        found[type(guide).__name__] = result.params, result.losses
    svi = SVI(regression, AutoNormal(regression), optax.adam(0.05), Trace_ELBO())
    state = svi.init(jax.random.key(2), X, Y)
    for _ in range(3):
        state, loss = jax.jit(svi.update)(state, X, Y)
    found["optax"] = loss, svi.get_params(state)
    return found


def densities():
    params = {"slope": 1.0, "offset": 0.1, "scale": 0.5}
    value = log_density(regression, (X, Y), {}, params)[0]
    grads = jax.grad(lambda p: log_density(regression, (X, Y), {}, p)[0])(params)
    drawn = Predictive(regression, num_samples=3)(jax.random.key(0), X)
    given = Predictive(
        regression, posterior_samples={"slope": jnp.ones(2), "offset": jnp.zeros(2), "scale": jnp.ones(2)}
    )
    likelihood = log_likelihood(regression, {"slope": jnp.ones(2), "offset": jnp.zeros(2), "scale": jnp.ones(2)}, X, Y)
    return value, grads, drawn, given(jax.random.key(1), X), likelihood


def distributions():
    key, out = jax.random.key(0), {}
    for d in (dist.Beta(2.0, 3.0), dist.Gamma(2.0, 0.5), dist.StudentT(4.0), dist.Dirichlet(jnp.array([1.0, 2.0, 3.0])),
              dist.MultivariateNormal(jnp.zeros(2), jnp.array([[2.0, 0.5], [0.5, 1.0]])), dist.LKJCholesky(3, 1.5),
              dist.TruncatedNormal(low=-1.0, high=2.0), dist.InverseGamma(3.0, 2.0), dist.Weibull(2.0, 1.5), dist.VonMises(0.0, 2.0),
              dist.Categorical(probs=jnp.array([0.2, 0.5, 0.3])), dist.Poisson(3.0), dist.Binomial(10, 0.3), dist.NegativeBinomial2(3.0, 2.0),
              dist.TransformedDistribution(dist.Normal(0, 1), dist.transforms.ExpTransform()),
              dist.MixtureSameFamily(dist.Categorical(jnp.array([0.3, 0.7])), dist.Normal(jnp.array([0.0, 3.0]), 1.0))):  # fmt: skip
        x = d.sample(key, (2,))
        out[type(d).__name__ + str(len(out))] = x, d.log_prob(x)
    out["kl"] = dist.kl_divergence(dist.Normal(0.0, 1.0), dist.Normal(1.0, 2.0))
    return out


def control():
    """A model with a scan, and one with masks and a discrete site that is summed out."""
    from numpyro.contrib.control_flow import scan
    from numpyro.handlers import seed, trace

    def walk(n):
        def step(x, _):
            x = numpyro.sample("x", dist.Normal(x, 0.1))
            return x, x

        return scan(step, 0.0, None, length=n)

    drawn = trace(seed(walk, jax.random.key(0))).get_trace(4)
    return drawn["x"]["value"], jax.jit(lambda k: seed(walk, k)(4)[1])(jax.random.key(1))


def provenance():
    from numpyro.ops.provenance import eval_provenance

    found = eval_provenance(lambda x, y, z: {"a": x + y, "b": jax.jit(jnp.sin)(z), "c": 1.0}, x=1.0, y=2.0, z=3.0)
    return [float(len(s)) for s in (found["a"], found["b"], found["c"])], float(found["a"] == frozenset({"x", "y"}))


PARTS = [nuts, first_steps, variational, densities, distributions, control, provenance]
