"""Advice on errors of jax's while tracing: what is offered leads on."""

import pytest

import jitscope_widgets
from tests.jaxwatch.test_cells import bare_shell, cells  # noqa: F401


def test_an_argument_that_is_no_array_is_named_as_static(cells):  # noqa: F811
    for given, what in (("'tanh'", "a text"), ("lambda y: -y", "a function")):
        ran = cells.cell(f"@jax.jit\ndef act(v, how):\n    return v\nact(x, {given})")
        (item,) = [one for document in ran.documents for one in document["items"]]
        assert item["message"] == f"`how` is an argument of the compiled act, and {what} is no array."
        assert item["fix"]["text"].startswith('Make it static, jit(act, static_argnames="how"): ')


NO_ARRAYS = {
    "f({'how': 'tanh', 'x': x})": ("v['how']", "a text"),
    "f([x, lambda y: y])": ("v[1]", "a function"),
    "f(Named(x, 'a'))": ("v.name", "a text"),
}


@pytest.mark.parametrize("call", NO_ARRAYS)
def test_a_part_of_an_argument_that_is_no_array_is_named(cells, call: str):  # noqa: F811
    cells.cell(
        "import dataclasses\n@jax.tree_util.register_dataclass\n@dataclasses.dataclass\nclass Named:\n    x: jax.Array\n    name: str\n"
        "f = jax.jit(lambda v: v)"
    )
    ran = cells.cell(call)
    (item,) = [one for document in ran.documents for one in document["items"]]
    path, what = NO_ARRAYS[call]
    assert item["message"] == f"`{path}` is a part of an argument that is traced, and {what} is no array."
    assert "metadata={'static': True}" in item["fix"]["text"]


def test_the_way_begins_at_the_part_of_a_tree_that_was_asked_for(cells):  # noqa: F811
    ran = cells.cell(
        "import equinox as eqx\nclass Net(eqx.Module):\n    w: jax.Array\n    width: int\n    def __call__(self, v):\n"
        "        return jnp.zeros(self.width) + v\njax.jit(lambda m, v: m(v))(Net(x, 3), x)"
    )
    (stopped,) = [one for one in ran.documents if one["kind"] == "stopped"]
    text = jitscope_widgets.text(stopped)
    assert "argument m.width: i32[]" in text and "argument m.w:" not in text
    (document,) = cells.cell("%sharpbits").documents
    assert [(one["id"], one["position"]["line"]) for one in document["items"]] == [("traced-shape-arg", 6)]


def test_an_array_is_never_to_be_made_static(cells):  # noqa: F811
    cells.cell(
        "@jax.jit\ndef f(v, n):\n    for i in range(n):\n        v = v + i\n        if v[0] > 1:\n            break\n    return v\nf(x, 2)"
    )
    ran = cells.cell("f(x, jnp.int32(2))")
    (stopped,) = [one for one in ran.documents if one["kind"] == "stopped"]
    assert not any("static" in fix["text"] and fix["checked"] for fix in stopped["fixes"])
    cells.cell(
        "@jax.jit\ndef g(v):\n    for i, one in enumerate(v):\n        if one < 0:\n            return one\n    return v[0]\ng(x[0])"
    )
    (document,) = cells.cell("%sharpbits").documents
    (item,) = [one for one in document["items"] if one["id"] == "branch-on-tracer" and one["position"]["line"] == 4]
    assert item["fix"]["text"].endswith(" `v` is an array, which cannot be static.")


HASHES = {
    "a class that can be changed": "@dataclasses.dataclass\n",
    "a frozen one": "@dataclasses.dataclass(frozen=True)\n",
}


@pytest.mark.parametrize("kind", HASHES)
def test_an_object_with_arrays_is_not_to_be_frozen_but_a_tree(cells, kind: str):  # noqa: F811
    made = f"import dataclasses, functools\n{HASHES[kind]}class Sim:\n    u: jax.Array\n"
    ran = cells.cell(
        f"{made}@functools.partial(jax.jit, static_argnums=0)\ndef run(sim, n):\n    return sim.u * n\nrun(Sim(x), 2)"
    )
    (item,) = [one for document in ran.documents for one in document["items"]]
    assert item["id"] == "static-unhashable"
    assert "register" in item["fix"]["text"] and "ut of the static arguments" in item["fix"]["text"]
    assert "frozen" not in item["fix"]["text"]


GROWING = {
    "a list": "return jnp.stack([v[i:i + n] for i in range(v.shape[0] - n + 1)])",
    "a loop": "out = []\n    for i in range(n):\n        out.append(v * i)\n    return jnp.stack(out)",
}


@pytest.mark.parametrize("kind", GROWING)
def test_a_loop_that_collects_values_has_its_number_static(cells, kind: str):  # noqa: F811
    ran = cells.cell(f"@jax.jit\ndef f(v, n):\n    {GROWING[kind]}\nf(jnp.arange(6.0), 2)")
    (stopped,) = [one for one in ran.documents if one["kind"] == "stopped"]
    (fix,) = stopped["fixes"]
    assert fix["text"].startswith("Make n static") and fix["checked"] and fix["edits"]
    (document,) = cells.cell("%sharpbits").documents
    assert not any("fori_loop" in (one["fix"] or {"text": ""})["text"] for one in document["items"])


PLACES = {
    "a carry": ("def body(c, v):\n    c = c + 0.5\n    return c, v\nlax.scan(body, jnp.int32(1), x)", 2),
    "a carry of a loop with a count": ("lax.fori_loop(0, 3,\n    lambda i, s: s + 0.5, jnp.int32(0))", 2),
    "a derivative of a loop": (
        "def f(v):\n    return lax.while_loop(lambda s: s < 3, lambda s: 2 * s, v)\njax.grad(f)(1.0)",
        2,
    ),
    "branches": ("def high(v):\n    v = v + 1\n    return v.astype(int)\nlax.cond(True, lambda v: v, high, 1.0)", 3),
}


@pytest.mark.parametrize("kind", PLACES)
def test_the_line_that_makes_another_type_is_marked(cells, kind: str):  # noqa: F811
    """Its place is in frames of jax's, which a traceback that is shown has no more."""
    text, line = PLACES[kind]
    assert cells.cell(text).error
    (document,) = cells.cell("%sharpbits").documents
    assert [one["position"]["line"] for one in document["items"]] == [line]
