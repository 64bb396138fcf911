"""What a look says, and what it does not say, of forms that are met in published code."""

import pytest

from jitscope_scope.advise import look


JAX = "import jax, time\nimport jax.numpy as jnp\nimport numpy as np\nfrom jax import lax\n"

FINE = {
    "an argument that is off is off": """
def setup(force):
    def minimize(x, verbose=False):
        y = jnp.abs(force * x)
        if verbose:
            print("least", y.min())
        return y
    return minimize
@jax.jit
def run(force, x):
    minimize = setup(force)
    return minimize(x)
""",
    "the keys of a dict are no tracers": """
@jax.jit
def f(params, x):
    variables = {"params": params}
    print(variables.keys())
    print(sorted(params.keys()))
    return x
""",
    "what a constant of each call excludes is not run": """
def minimize(x, verbose=False):
    y = jnp.abs(x)
    if verbose:
        print("least", y.min())
    return y
@jax.jit
def run(x):
    return minimize(x, False) + minimize(x)
""",
    "what is not None where it is traced does not take the other way": """
def update(position, neighbors=None):
    def build(position):
        if neighbors is None:
            if jnp.all(position > 0):
                return position
        return -position
    nbrs = neighbors
    if nbrs is None:
        return build(position)
    nbrs = nbrs * 2
    return lax.cond(jnp.any(position > nbrs), build, lambda x: x, position)
""",
    "what a base class takes back is not kept": """
from helper import Stateful
class Optimizer(Stateful):
    def __init__(self):
        self.step = jax.jit(self._step)
    def _step(self, state, x):
        self.set_state(state)
        self.velocity = self.velocity * 0.9 + x
        self.count = 1
        return self.pop_state()
""",
    "an element that only the traced function reads leaks nowhere": """
def losses(primals, k):
    own = list(primals)
    def compute(x):
        own[k] = x * 2
        return sum(own)
    return jax.jit(compute)
""",
    "what is given a value again after the trace keeps no tracer": """
class Mixture:
    def fit(self, xs):
        def step(params, x):
            self.model = params
            return params + x * self.mean(), None
        final, _ = lax.scan(step, self.model, xs)
        self.model = final
        return final
    def mean(self):
        return self.model.mean()
""",
    "what is to fail, fails": """
def test_it(self):
    @jax.jit
    def f(x, n):
        for _ in range(n):
            x = x * x
        return x
    self.assertRaises(TypeError, lambda: f(jnp.ones(2), 3))
    g = jax.jit(lambda x, y: x, static_argnums=1)
    with self.assertRaisesRegex(ValueError, "Non-hashable"):
        g(1, np.asarray(1))
    h = jax.jit(lambda x: x + 1, donate_argnums=0)
    x = jnp.ones(3)
    h(x)
    with self.assertRaises(RuntimeError):
        y = x + 1
""",
    "the text of an assertion is for people": """
@jax.vmap
def f(x):
    self.assertTrue(x.weak_type, f"{x} is not weak")
    return x
""",
    "a picture of what is computed waits for it": """
import matplotlib.pyplot as plt
def main(state, xs):
    @jax.jit
    def train(state, xs):
        return state + jnp.linalg.inv(xs)
    def picture(i):
        plt.imsave(f"{i}.png", jnp.exp(state))
    for i in range(3):
        start = time.time()
        state = train(state, xs)
        picture(i)
        print(i, time.time() - start)
""",
    "references are written to": """
from jax.experimental import pallas as pl
def kernel(x_ref, y_ref):
    def body(i, _):
        y_ref.at[0, i].set(x_ref.at[0, i].get())
        return _
    lax.fori_loop(0, 3, body, None)
""",
}
WORDS = {
    "an argument that a call gives": (
        """
def minimize(x, verbose=False):
    if verbose:
        print("least", x.min())
    return x
@jax.jit
def run(x):
    return minimize(x, verbose=True)
""",
        [(4, "This runs while tracing: it sees a tracer in place of `x.min()`")],
    ),
    "a key in both arms of an `if`": (
        """
def dropout(key, xs, whole):
    out = []
    for x in xs:
        if whole:
            out.append(x * jax.random.bernoulli(key, 0.5, (1,)))
        else:
            out.append(x * jax.random.bernoulli(key, 0.5, x.shape))
""",
        [(line, "The key `key` is used again in every iteration:") for line in (6, 8)],
    ),
    "one key twice in one line": (
        "\ndef f(key):\n    return jax.random.normal(key) + jax.random.uniform(key)\n",
        [(3, "The key `key` is used again in this line:")],
    ),
    "what has no name cannot stay as it was": (
        "\ndef f(x):\n    y = jnp.ones(3)\n    (y == x).all()\n",
        [(4, "`(y == x).all()` computes something new and changes nothing: its result is dropped here.")],
    ),
}


@pytest.mark.parametrize("name", FINE)
def test_what_is_right_is_left_alone(name: str) -> None:
    assert [(one.id, one.span.line) for one in look(JAX + FINE[name], "<program>")] == []


@pytest.mark.parametrize("name", WORDS)
def test_what_is_said_is_so(name: str) -> None:
    text, due = WORDS[name]
    found = [(one.span.line - JAX.count("\n"), one.message) for one in look(JAX + text, "<program>")]
    assert [line for line, _ in found] == [line for line, _ in due]
    assert all(said.startswith(words) for (_, said), (_, words) in zip(found, due))
