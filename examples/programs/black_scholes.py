"""Prices of European options by Black and Scholes, and how they react, by derivatives mapped over all options.

python examples/programs/black_scholes.py
"""

import numpy as np


OPTIONS = 200_000


def price_of(jax, jnp):
    """`price(spot, strike, years, rate, volatility)`: of a call; numbers or arrays of one shape."""

    def normal(x):
        return 0.5 * (1.0 + jax.lax.erf(x * 0.5**0.5))

    def price(spot, strike, years, rate, volatility):
        spread = volatility * jnp.sqrt(years)
        d1 = (jnp.log(spot / strike) + (rate + 0.5 * volatility**2) * years) / spread
        return spot * normal(d1) - strike * jnp.exp(-rate * years) * normal(d1 - spread)

    return price


def make(jax, jnp):
    """`prices(spot, strike, years, rate, volatility)`: arrays (n,) each; the prices, and the first derivatives by spot (delta)
    and volatility (vega) and the second by spot (gamma)."""
    price = price_of(jax, jnp)

    def one(*option):
        value, (delta, vega) = jax.value_and_grad(price, argnums=(0, 4))(*option)
        gamma = jax.grad(jax.grad(price))(*option)
        return value, delta, gamma, vega

    return jax.vmap(one)


def arguments(options=OPTIONS, seed=0):
    random = np.random.default_rng(seed)
    ranges = ((50, 150), (50, 150), (0.1, 2.0), (0.0, 0.1), (0.1, 0.5))
    return tuple(random.uniform(low, high, options).astype(np.float32) for low, high in ranges)


def main(jax, jnp):
    option = arguments()
    value, delta, gamma, vega = jax.jit(make(jax, jnp))(*option)
    for i in range(3):
        spot, strike, years, rate, volatility = (float(x[i]) for x in option)
        print(f"spot {spot:6.2f} strike {strike:6.2f} years {years:4.2f} rate {rate:4.2f} volatility {volatility:4.2f}: "
              f"price {float(value[i]):6.3f} delta {float(delta[i]):.3f} gamma {float(gamma[i]):.4f} "
              f"vega {float(vega[i]):6.3f}")  # fmt: skip


if __name__ == "__main__":
    import jitscope as jax
    import jitscope.numpy as jnp

    main(jax, jnp)
