"""Objects that are called, with other numbers in them, and static arguments that a call leaves out."""

import enum
import functools

import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope_scope import observe
from jitscope_scope.advise.run.misses import recompilations_paid
from jitscope_scope.observe.recompiling.cards import loud


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


@pytest.mark.parametrize(
    ("arguments", "because"),
    [
        ({"mode": "sgd"}, "mode is given in another way: 'sgd', its default → 'sgd' (str)"),
        ({"more": X}, "more is None in one call and an array in the other: None, its default → f32[4,3]"),
        ({"rate": 0.5}, "rate is given in another way: p by position → p by position, rate by name (gained rate)"),
    ],
)
def test_calls_that_leave_out_what_another_gives_are_told_from_calls_written_otherwise(arguments, because):
    @functools.partial(jx.jit, static_argnames="mode")
    def update(p, mode="sgd", more=None, rate=0.5):
        p = p if more is None else p + more
        return p * rate if mode == "sgd" else p * 0.25

    update(X)
    if "mode" in arguments:
        update(X, mode="lion")
    (card,) = cards_of(lambda: update(X, **arguments))
    assert card["because"] == because


def test_the_two_values_of_a_flag_have_no_card_below_a_cell():
    @functools.partial(jx.jit, static_argnames=("train", "n"))
    def forward(p, train=False, n=1):
        return p * n if train else p

    mark = observe.ledger().mark()
    for _ in range(3):
        forward(X, train=True)
    forward(X)
    assert [row.cause for row in loud(observe.ledger().since(mark)) if row.cause] == []
    forward(X, train=True, n=2)
    assert [row.cause for row in loud(observe.ledger().since(mark)) if row.cause] == 2 * ["static value"]


def test_two_shapes_of_two_lines_have_no_card_below_a_cell():
    total = jx.jit(lambda p: (p * 3).sum())
    mark = observe.ledger().mark()
    total(jnp.ones(3))
    total(jnp.ones(4))
    total(jnp.ones(3))  # one that is there
    assert [row for row in loud(observe.ledger().since(mark)) if row.cause] == []
    total(jnp.ones(5))
    assert [row.cause for row in loud(observe.ledger().since(mark)) if row.cause] == 2 * ["shape"]


def test_a_number_that_all_calls_give_is_one_program_for_them():
    scaled = jx.jit(lambda x, by=3.25: x * by)
    (card,) = cards_of(lambda: (scaled(X), scaled(X, 3.25), scaled(X, by=3.25)))
    assert "3 traces would become 1" in str(card["fix"])
    again = jx.jit(lambda x, by=3.25: x * by)
    assert cards_of(lambda: [again(X, by=3.25) for _ in range(3)]) == []


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


def scaled_by(scale, x):
    return scale * x


FACTOR = 0.0


def by_a_global(factors):
    global FACTOR
    for FACTOR in factors:
        yield lambda x: FACTOR * x  # noqa: B023


class Slots:
    __slots__ = ("scale",)

    def __init__(self, scale):
        self.scale = scale

    def __call__(self, x):
        return self.scale * x


OTHERS = {
    "a partial": (lambda: [functools.partial(scaled_by, scale) for scale in (2.0, 3.0)], "scale is 2.0, then 3.0"),
    "a lambda that reads a global": (lambda: by_a_global((2.0, 3.0)), "FACTOR is 2.0, then 3.0"),
    "a lambda with a default": (lambda: [lambda x, k=k: k * x for k in (2.0, 3.0)], "k is 2.0, then 3.0"),
    "a bound method": (lambda: [Norm(eps).__call__ for eps in (0.5, 0.25)], "eps is 0.5, then 0.25"),
    "an object with slots": (lambda: map(Slots, (2.0, 3.0)), ""),
}


@pytest.mark.parametrize("which", OTHERS)
def test_static_objects_that_hold_other_numbers_are_not_called_the_same(which):
    made, numbers = OTHERS[which]

    @functools.partial(jx.jit, static_argnums=0)
    def applied(f, x):
        return f(x)

    made_anew = cards_of(lambda: [applied(f, X) for f in made()])
    (card,) = (card for card in made_anew if card["cause"].startswith("static"))
    said = f"{card['because']} {card['fix']['text']}"
    assert "holds the same" not in card["because"]
    assert numbers in said
    assert "would become" not in said  # one object in place of both computes something else


def test_a_number_in_a_static_object_is_what_to_pass():
    applied = jx.jit(lambda f, x: f(x), static_argnums=0)
    (card,) = cards_of(lambda: [applied(functools.partial(scaled_by, scale), X) for scale in (5.0, 6.0)])
    assert card["fix"]["text"] == (
        "f (partial) holds another number: scale is 5.0, then 6.0. Pass the number that changes as an argument. Call with few values of "
        "f: each static value has a program of its own."
    )


def test_an_object_that_was_changed_is_the_same_key():
    config = Config(n=3)
    scaled = jx.jit(lambda x, config: x * config.n, static_argnums=1)

    def call():
        scaled(X, config)
        config.n = 4
        scaled(X[:2], config)
        scaled(X[:1], config)

    (card,) = cards_of(call)
    assert card["cause"] == "shape"
    assert "config" not in card["because"]


def test_a_partial_is_called_by_its_function():
    (card,) = cards_of(lambda: [jx.jit(functools.partial(scaled_by, scale))(X) for scale in (7.0, 8.0)])
    assert card["because"] == "the partial of scaled_by is made anew, and the captured scale changed: 7.0 → 8.0"


def test_one_way_to_write_a_call_gives_what_it_leaves_out():
    @functools.partial(jx.jit, static_argnames="n")
    def power(x, n=2):
        return x * n + 0.125

    (card,) = cards_of(lambda: (power(X), power(X, 2), power(X, n=2)))
    assert card["cause"] == "call form"
    made = card["compilations"] + card["retraces"] + 1
    assert f" {made} " in card["fix"]["text"] and "would become 1," in card["fix"]["text"]


def test_sharp_bits_and_cards_give_one_advice():
    def call():
        for eps in (3e-2, 3e-4):
            norm = Norm(eps)
            jx.jit(lambda x: norm(x) + 2)(X)  # noqa: B023

    mark = observe.ledger().mark()
    call()
    rows = list(observe.ledger().since(mark))
    (card,) = observe.recompilations_document(rows, "")["cards"]
    (bit,) = recompilations_paid(rows)
    assert bit.fix is not None and card["fix"]["text"].startswith(bit.fix.text)
    assert "Pass norm as an argument" not in bit.fix.text


def test_a_function_whose_name_is_a_word_keeps_its_name():
    @jx.jit
    def one(x):
        return x * 2 + 0.03125

    mark = observe.ledger().mark()
    for n in (3, 4, 5):
        one(jnp.ones(n))
    (bit,) = recompilations_paid(list(observe.ledger().since(mark)))
    assert bit.message.startswith("`one` is compiled again 2 times in this line (")


class Mode(enum.Enum):
    ADD = 1
    MULTIPLY = 2


def test_what_python_keeps_in_an_enum_is_no_number_of_the_users():
    run = jx.jit(lambda x, mode: x + 2 if mode is Mode.ADD else x * 2, static_argnums=1)
    (card,) = cards_of(lambda: [run(X, mode) for mode in Mode])
    assert card["because"] == "mode (static) changed: <Mode.ADD: 1> (Mode) → <Mode.MULTIPLY: 2> (Mode)"


def test_two_sizes_in_turns_are_told_as_two():
    gram = jx.jit(lambda x, y: (x @ y.T).sum() + 0.0625)
    one, other = jnp.ones((4, 3)), jnp.ones((5, 3))
    (card,) = cards_of(lambda: [gram(*each) for _ in range(2) for each in ((one, other), (one, one), (other, other))])
    assert card["because"] == "axis 0 of y is 5, then 4 (1 more axis as well)"


@functools.partial(jx.tree_util.register_dataclass, data_fields=["opt"], meta_fields=["rate"])
class State:
    def __init__(self, opt, rate):
        self.opt, self.rate = opt, rate


def test_static_data_has_a_card_beside_that_of_another_structure():
    @jx.jit
    def f(s):
        return s.opt[0] * s.rate

    calls = [State((X,) * n, rate) for n, rate in ((1, 0.1), (2, 0.2), (2, 0.3), (2, 0.4))]
    cards = cards_of(lambda: [f(s) for s in calls])
    data, structure = sorted(cards, key=lambda card: -card["compilations"] - card["retraces"])
    assert (data["compilations"], structure["compilations"]) == (2, 1)
    assert str(data["fix"]).startswith("{'text': 'The static data of State changed, ")
    assert structure["because"] == "s gained s.opt[1]"
    beside = "The static data of State changed as well, and each value of it has a program of its own."
    assert beside in str(structure["fix"]) and "would become" not in str(structure["fix"])


def test_a_container_that_changed_is_told_beside_static_data():
    @jx.jit
    def f(steps):
        return sum(s.opt[0] * s.rate for s in steps)

    (card,) = cards_of(lambda: (f([State((X,), 0.1)]), f((State((X,), 0.2),))))
    assert card["because"].startswith("steps changed structure: list of State[")
    assert "The static data of State changed as well" in str(card["fix"])


def test_each_argument_is_converted_to_a_dtype_of_its_own():
    @jx.jit
    def f(x, n, key):
        return jx.random.normal(key, x.shape) * x + n

    key, bits = jx.random.key(0), jx.random.PRNGKey(0)
    (card,) = cards_of(lambda: (f(X, 1, key), f(X.astype("float16"), jnp.int8(1), bits)))
    said = str(card["fix"])
    assert "Convert x to f32 and n to i32 once, before the calls." in said and "Make key in one way: " in said
