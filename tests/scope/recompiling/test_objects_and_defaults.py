"""Objects that are called, with other numbers in them, and static arguments that a call leaves out."""

import functools

import jitscope as jx
import jitscope.numpy as jnp
from jitscope_scope import observe


X = jnp.ones((4, 3))


class Norm:
    def __init__(self, eps):
        self.eps = eps

    def __call__(self, x):
        return x / jnp.sqrt((x * x).sum(-1, keepdims=True) + self.eps)


def cards_of(call):
    mark = observe.ledger().mark()
    call()
    return observe.recompilations_document(observe.ledger().since(mark), "this call")["cards"]


def test_two_objects_side_by_side_are_two_functions():
    first, second = jx.jit(Norm(1e-3)), jx.jit(Norm(1e-6))
    assert cards_of(lambda: (first(X), second(X))) == []


class Root(Norm):
    def __call__(self, x):
        return jnp.sqrt(x + self.eps)


def test_the_number_in_objects_made_anew_is_named():
    def call():
        for eps in (1e-2, 1e-4, 1e-8):
            jx.jit(Root(eps))(X)

    (card,) = cards_of(call)
    assert "self holds another number: eps is 0.01, then 0.0001" in str(card["fix"])


def test_a_default_is_compared_with_what_another_call_gives():
    @functools.partial(jx.jit, static_argnames="mode")
    def update(p, mode="sgd"):
        return p * (0.1 if mode == "sgd" else 0.01)

    (card,) = cards_of(lambda: (update(X), update(X, mode="adam")))
    assert card["because"] == "mode (static) changed: 'sgd', its default → 'adam' (str)"


class Config:
    def __init__(self, **values):
        self.__dict__.update(values)


def test_what_objects_hold_is_called_the_same_only_where_all_of_it_is_known():
    scaled = jx.jit(lambda x, config: x * config.n, static_argnums=1)
    (card,) = cards_of(lambda: [scaled(X, Config(n=3, names=("a", "b"))) for _ in range(2)])
    assert "is another object (Config) that holds the same: " in card["because"]
    shifted = jx.jit(lambda x, config: x + config.shift, static_argnums=1)
    (card,) = cards_of(lambda: [shifted(X, Config(shift=jnp.full(3, n))) for n in (1.0, 2.0)])
    assert "is another object (Config): objects of its class are equal by identity alone" in card["because"]
