"""What a user's call takes beside its executable, where something wraps a jitted function."""

import functools
import re
from html import unescape

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope_kernel import inspection, user_calls
from jitscope_widgets import html, text, validate


X = jnp.ones((4, 4))


class Model:
    def __init__(self, after=0):
        self.step, self.after, self.calls, self.last = jx.jit(lambda x: jnp.cos(x).sum()), after, 0, None

    def __call__(self, x):
        self.calls += 1
        self.last = self.step(x)
        for _ in range(self.after):
            self.last = self.last * 2
        return self.last

    def method(self, x):
        return self(x)


def decorated(function):
    jitted = jx.jit(function)

    @functools.wraps(function)
    def inner(*args):
        return jitted(*args)

    return inner


@decorated
def area(x):
    return (x * x).sum()


@functools.partial(jx.jit, donate_argnums=1)
def taking(y, x):
    return x + y


class Once(Model):
    def __call__(self, x):
        if self.calls:
            raise ValueError("only once")
        return super().__call__(x)


ONE = "of that is the executable"
CALLS = {
    "partial": (lambda: functools.partial(jx.jit(lambda y, x: jnp.sin(x) * y), 2.0), ONE),
    "partial of a partial": (lambda: functools.partial(functools.partial(jx.jit(lambda y, x: x - y), 2.0)), ONE),
    "object": (Model, ONE),
    "method": (lambda: Model().method, ONE),
    "decorator": (lambda: area, ONE),
    "operations beside it": (lambda: Model(after=3), "1 call of compiled functions and 3 operations outside jit"),
    "jitted": (lambda: jx.jit(lambda x: x * 3), ""),
    "plain": (lambda: lambda x: x * 4, ""),
    "donating": (lambda: functools.partial(taking, 2.0), ""),
    "raising": (Once, ""),
    "gradient": (
        lambda: jx.grad(lambda x: (x * 5).sum()),
        "This is grad of <lambda> as jit makes it. It is called outside",
    ),
    "gradient of jitted": (
        lambda: jx.grad(jx.jit(lambda x: (x * 6).sum())),
        "The executable of the whole as one program",
    ),
    "gradient, jitted": (lambda: jx.jit(jx.grad(lambda x: (x * 7).sum())), ""),
}


@pytest.mark.parametrize("case", CALLS)
def test_what_part_of_a_call_is_the_executable(monkeypatch, case):
    monkeypatch.setattr(user_calls, "_SECONDS", 0.01)
    make, said = CALLS[case]
    function = make()
    seen = inspection.inspect(function)(X).measure()
    timing = seen.timing.document
    validate(timing)
    assert ("call" in timing) == bool(said)
    if said:
        assert said in timing["call"] or (
            said == ONE and timing["call"].endswith((": nearly all of that is the executable.", "the arguments)."))
        )
        page = re.sub(r'<span class="nw">(.*?)</span>', r"\1", html(timing))
        for shown in (text(timing), unescape(page)):
            assert " ".join(timing["call"].split()) in " ".join(shown.split())
    np.testing.assert_array_equal(X, np.ones((4, 4)))
    assert not X.is_deleted()


@pytest.mark.parametrize(
    "slower, end",
    [
        (0.5, "the way to it."),
        (1.0, "nearly all of that is the executable."),
        (4.0, "(4 ms): the machine was not equally free for both."),
    ],
)
def test_a_part_that_took_longer_than_the_whole_is_no_part_of_it(monkeypatch, slower, end):
    """The two are measured one after the other: other work on the machine may slow one of them."""
    monkeypatch.setattr(user_calls, "_timed", lambda call: 1e-3)
    function = jx.jit(lambda x: x * 9)
    model = functools.partial(function, X)
    model()
    (row,) = [one for one in inspection.observe.ledger() if one.function == "<lambda>"][-1:]
    assert user_calls.sentence(model, (), {}, row, slower * 1e-3).endswith(end)


def test_what_a_call_assigns_to_its_object_is_set_back(monkeypatch):
    monkeypatch.setattr(user_calls, "_SECONDS", 0.01)
    model = Model()
    model(X)
    seen, before = inspection.inspect(model)(X), dict(vars(model))
    seen.measure()
    assert vars(model) == before
