"""A training step of the language model: its loss and gradient, and an optimizer that is not the user's own code."""

import sysconfig
from types import SimpleNamespace

import numpy as np

import jitscope as jx
import jitscope.numpy as jnp
from tests.programs import transformer


_SOURCE = """
def moments(grads, state, decay):
    return tree.map(lambda g, s: decay * s + (1 - decay) * g, grads, state)

def scale_by_moments(decay):
    def update(grads, state):
        state = moments(grads, state, decay)
        return tree.map(lambda g, s: g / jnp.sqrt(s + 1e-8), grads, state), state
    return update
"""


def installed(source: str) -> SimpleNamespace:
    """A module of an installed library, as far as its code says where it is from."""
    file = f"{sysconfig.get_paths()['purelib']}/optimizer_of_a_test/update.py"
    module = {"jnp": jnp, "tree": jx.tree}
    exec(compile(source, file, "exec"), module)
    return SimpleNamespace(**module)


optimizer = installed(_SOURCE)
opt = SimpleNamespace(update=optimizer.scale_by_moments(0.9))


def program(params, state, tokens, targets):
    value, grads = jx.value_and_grad(transformer.loss)(params, tokens, targets)
    updates, state = opt.update(grads, state)
    return updates, state, value


def arguments(layers=4):
    params, tokens, targets = transformer.arguments(layers, width=16)
    return params, jx.tree.map(np.zeros_like, params), tokens, targets
