"""Bodies that attract each other, step by step by the leapfrog method in a `fori_loop`.

python examples/programs/nbody.py
"""

import numpy as np


BODIES, STEPS, STEP, SOFTENING = 128, 100, 1e-3, 0.05


def make(jax, jnp, steps=STEPS):
    """`simulate(positions, velocities, masses)`: (positions, velocities) after all steps; shapes (n, 3), (n, 3), (n,)."""

    def acceleration(x, masses):
        between = x[None, :, :] - x[:, None, :]
        squares = jnp.sum(between**2, axis=-1) + SOFTENING**2
        return jnp.einsum("ij,ijk->ik", masses / (squares * jnp.sqrt(squares)), between)

    def simulate(x, v, masses):
        def leap(_, state):
            x, v, a = state
            v = v + 0.5 * STEP * a
            x = x + STEP * v
            a = acceleration(x, masses)
            return x, v + 0.5 * STEP * a, a

        x, v, _ = jax.lax.fori_loop(0, steps, leap, (x, v, acceleration(x, masses)))
        return x, v

    return simulate


def make_energy(jax, jnp):
    """`energy(positions, velocities, masses)`: kinetic and potential together, a scalar."""

    def potential(x, y):
        return -1.0 / jnp.sqrt(jnp.sum((x - y) ** 2) + SOFTENING**2)

    def energy(x, v, masses):
        pairs = jax.vmap(lambda a: jax.vmap(lambda b: potential(a, b))(x))(x)
        each = masses[:, None] * masses * pairs
        return 0.5 * jnp.sum(masses * jnp.sum(v**2, axis=1)) + 0.5 * (jnp.sum(each) - jnp.trace(each))

    return energy


def arguments(bodies=BODIES, seed=0):
    random = np.random.default_rng(seed)
    x = random.standard_normal((bodies, 3))
    v = 0.3 * random.standard_normal((bodies, 3))
    return x.astype(np.float32), v.astype(np.float32), np.full(bodies, 1.0 / bodies, np.float32)


def main(jax, jnp):
    x, v, masses = arguments()
    simulate, energy = jax.jit(make(jax, jnp)), jax.jit(make_energy(jax, jnp))
    print(f"energy {float(energy(x, v, masses)):.5f}")
    for i in range(5):
        x, v = simulate(x, v, masses)
        print(f"after {(i + 1) * STEPS} steps: {float(energy(x, v, masses)):.5f}")


if __name__ == "__main__":
    import jitscope as jax
    import jitscope.numpy as jnp

    main(jax, jnp)
