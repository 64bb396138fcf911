"""Where a library takes the arguments apart before it calls jit, they have the names under which the user's own objects hold them: each name,
evaluated as Python, gives the very array."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jitscope_scope import jaxwatch
from jitscope_scope.observe.documents import compilation_document, signature_text


nn = pytest.importorskip("flax.linen")
nnx = pytest.importorskip("flax.nnx")
optax = pytest.importorskip("optax")
eqx = pytest.importorskip("equinox")

x = jnp.linspace(0.0, 1.0, 6).reshape(2, 3)


class Block(nnx.Module):
    def __init__(self, rngs):
        self.inner = nnx.List([nnx.Linear(3, 3, rngs=rngs) for _ in range(2)])
        self.tied, self.drop, self.norm = self.inner[0], nnx.Dropout(0.5, rngs=rngs), nnx.BatchNorm(3, rngs=rngs)
        self.tables = nnx.Param({"a": jnp.ones(3), "b": jnp.zeros(3)})

    def __call__(self, v):
        for layer in self.inner:
            v = self.drop(self.norm(layer(v)))
        return self.tied(v) * self.tables["a"] + self.tables["b"]

    @nnx.jit
    def scaled(self, v, /, *, times):
        return self(v) * times


def training(model, optimizer, v, *others, rate=1.0):
    value, grads = nnx.value_and_grad(lambda m: (m(v) ** 2).mean())(model)
    optimizer.update(model, grads)
    return {"loss": value * rate, "others": others}


def a_training_step():
    model = Block(nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.adam(1e-3), wrt=nnx.Param)
    given = {"model": model, "optimizer": optimizer, "v": x, "others": (x + 1, 3.0), "rate": jnp.float32(2)}
    return nnx.jit(training), (model, optimizer, x, *given["others"]), {"rate": given["rate"]}, given


def a_method():
    model = Block(nnx.Rngs(1))
    return model.scaled, (x,), {"times": x[0]}, {"self": model, "v": x, "times": x[0]}


class Scale(eqx.Module):
    w: jax.Array
    times: int

    @eqx.filter_jit
    def __call__(self, v, *rest, **named):
        return self.w * v * self.times + sum(rest), named["shift"]


def an_equinox_model():
    model, key = eqx.nn.MLP(3, 2, 4, 1, key=jax.random.key(0)), jax.random.key(1)

    @eqx.filter_jit
    def run(model, v, count, key):
        return jax.vmap(model)(v)[:, :count] + jax.random.uniform(key)

    return run, (model, x, 1, key), {}, {"model": model, "v": x, "key": key}


def an_equinox_method():
    model = Scale(x, 3)
    return (
        model,
        (x, x + 1, x + 2),
        {"shift": x},
        {"self": model, "v": x, "rest": (x + 1, x + 2), "named": {"shift": x}},
    )


def an_equinox_object():
    model = eqx.nn.MLP(3, 2, 4, 1, key=jax.random.key(0))
    return eqx.filter_jit(model), (x[0],), {}, {"self": model, "x": x[0]}


CASES = (a_training_step, a_method, an_equinox_model, an_equinox_method, an_equinox_object)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_arguments_have_the_names_of_the_users_objects(rows, case):
    f, args, kwargs, given = case()
    before = jax.tree.map(lambda v: v, given)  # what modules of nnx hold now: a call may change them
    f(*args, **kwargs)
    row = rows()[-1]
    leaves = row.signature.leaves
    assert len({leaf.path for leaf in leaves}) == len(leaves) > 2
    for leaf in leaves:
        _same_aval(leaf, eval(leaf.path, {}, before))
    graph = compilation_document(row)["graph"]
    inputs = [node["label"] for node in graph["nodes"] if node["kind"] == "input" and node["id"].startswith("in")]
    assert inputs and set(inputs) <= {leaf.path for leaf in leaves}
    results = [node["label"] for node in graph["nodes"] if node["kind"] == "output"]
    assert len(set(results)) == len(results)


def _same_aval(leaf, value):
    assert leaf.shape == np.shape(_value(value)), leaf


def _value(held):
    return held.get_value() if isinstance(held, nnx.Variable) else held


def test_names_in_the_program_are_of_the_arrays_it_takes(rows):
    """The program, evaluated on what the names stand for, gives what the call gave."""
    f, args, kwargs, given = an_equinox_model()
    result = f(*args, **kwargs)
    entry = rows()[-1].entry
    values = [eval(name, {}, given) for name in entry._translation.jaxpr.debug.arg_names]
    outs = entry.executable.run([jaxwatch.buffer_of(v) for v in values])
    named = dict(zip(entry._translation.jaxpr.debug.result_names, outs))
    np.testing.assert_array_equal(np.asarray(named["result"]), np.asarray(result))


def sizes():
    def call(width):
        run(nnx.Linear(3, width, rngs=nnx.Rngs(0)), x)

    run = nnx.jit(lambda model, v: model(v))
    return call, (4, 5), {"model.kernel", "model.bias", "model.out_features"}


def modes():
    model = Block(nnx.Rngs(0))
    run = nnx.jit(lambda model, v: model(v))

    def call(training):
        model.train() if training else model.eval()
        run(model, x)

    return call, (True, False), {"model.drop.deterministic", "model.norm.use_running_average"}


def numbers_of_an_equinox_model():
    run = eqx.filter_jit(lambda model, v, mode: model.w * v * model.times)
    return lambda times: run(Scale(x, times), x, mode="a"), (3, 4), {"model.times"}


class Repeated(eqx.Module):
    w: jax.Array
    times: int = eqx.field(static=True)


def a_static_field_of_an_equinox_model():
    run = eqx.filter_jit(lambda model, v: model.w * v * model.times)
    return lambda times: run(Repeated(x, times), x), (3, 4), {"model.times"}


def text_beside_an_equinox_model():
    run = eqx.filter_jit(lambda model, v, mode: model.w * v)
    return lambda mode: run(Scale(x, 3), x, mode), ("a", "b"), {"mode"}


def a_default_and_another_value():
    run = eqx.filter_jit(lambda v, train=False: v * (2 if train else 3))
    return lambda train: run(x, train=True) if train else run(x), (False, True), {"train"}


def a_layer_more():
    def call(count):
        layers = nnx.List([nnx.Linear(3, 3, rngs=nnx.Rngs(0)) for _ in range(count)])
        run(layers, x)

    run = nnx.jit(lambda layers, v: layers[-1](v))
    return call, (1, 2), {"layers"}


def another_way_to_call():
    run = nnx.jit(lambda v, n: v * n)
    return lambda way: run(x, 3) if way else run(x, n=3), (True, False), {"arguments"}


CHANGES = (
    sizes,
    modes,
    numbers_of_an_equinox_model,
    a_static_field_of_an_equinox_model,
    text_beside_an_equinox_model,
    a_default_and_another_value,
    a_layer_more,
    another_way_to_call,
)


@pytest.mark.parametrize("case", CHANGES, ids=lambda case: case.__name__)
def test_a_recompilation_names_the_attributes_that_changed(rows, case):
    call, values, paths = case()
    for value in values:
        call(value)
    again = rows()[-1]
    assert again.what == "recompiled" and {d.path for d in again.differences} == paths, again.because
    assert all(d.before != d.after for d in again.differences), again.because
    assert not re.search("NodeStates|GraphDef|states|dynamic", again.because), again.because


def test_a_stopped_trace_names_the_users_attributes(watcher):
    @nnx.jit
    def run(model, v):
        if model.kernel[0, 0] > 0:
            return model(v)
        return v

    with pytest.raises(jax.errors.TracerBoolConversionError) as raised:
        run(nnx.Linear(3, 3, rngs=nnx.Rngs(0)), x)
    jaxwatch.keep(raised.value)
    assert raised.value.unfinished[-1].debug.arg_names == ("model.bias", "model.kernel", "v")


class Net(nn.Module):
    features: int = 3

    @nn.jit
    @nn.compact
    def __call__(self, v, train=True):
        return nn.BatchNorm(use_running_average=False)(nn.Dense(self.features)(v))


def test_arguments_of_linens_own_jit_have_the_names_of_the_module(rows):
    key = jax.random.key(0)
    variables = Net().init(key, x)
    Net().apply(variables, x, mutable=["batch_stats"])
    Net(4).init(key, x)
    first, second, third = rows()
    assert [leaf.path for leaf in first.signature.leaves] == ["rngs['params']", "v"]
    for leaf in second.signature.leaves:
        _same_aval(leaf, eval(leaf.path, {}, {"self": Net().bind(variables), "v": x}))
    results = second.entry._translation.jaxpr.debug.result_names
    assert results[0] == "result" and all(name.startswith("new self.variables['batch_stats']") for name in results[1:])
    assert [d.path for d in third.differences] == ["self.features"] and third.function == "Net.__call__"
    assert not any("0x" in signature_text(row) + row.because for row in rows())


class Scaled(nn.Module):
    features: int = 3

    @nn.compact
    def __call__(self, v, scale):
        return nn.Dense(self.features)(v) * scale


def test_arguments_of_a_class_under_linens_jit_have_the_names_of_its_method(rows):
    net, scale = nn.jit(Scaled)(), np.float32([2, 3, 4])
    variables = net.init(jax.random.key(0), x, scale)
    net.apply(variables, x, scale)
    first, second = rows()
    assert [leaf.path for leaf in first.signature.leaves] == ["rngs['params']", "v", "scale"]
    for leaf in second.signature.leaves:
        _same_aval(leaf, eval(leaf.path, {}, {"self": net.bind(variables), "v": x, "scale": scale}))
    assert {row.function for row in rows()} == {"Scaled.__call__"}
    assert first.position.file == __file__


def test_what_arguments_hold_after_the_call_has_their_names(rows):
    """The program, run on the values from before the call, gives under each name the value that the argument has after it."""
    f, args, kwargs, given = a_training_step()
    before = jax.tree.map(lambda v: v, given)
    f(*args, **kwargs)
    entry = rows()[-1].entry
    debug = entry._translation.jaxpr.debug
    outs = entry.executable.run(
        [jaxwatch.buffer_of(jnp.asarray(_value(eval(name, {}, before)))) for name in debug.arg_names]
    )
    after = {name.removeprefix("new "): out for name, out in zip(debug.result_names, outs) if name.startswith("new ")}
    assert len(after) > 10 and "model.norm.mean" in after
    nodes = compilation_document(rows()[-1])["graph"]["nodes"]
    trees = {node["id"]: node["label"] for node in nodes if node.get("what") == "tree" and node["scope"] is None}
    assert trees["out:new model"] == "new model"
    outside = {node["label"] for node in nodes if node["kind"] == "output" and node["scope"] is None}
    assert not any(label.startswith("new model.") for label in outside)
    for name, out in after.items():
        now = _value(eval(name, {}, given))
        if not jnp.issubdtype(now.dtype, jax.dtypes.prng_key):
            np.testing.assert_array_equal(np.asarray(out), np.asarray(now), name)


INNER_FRAMES = pytest.mark.skipif(
    jax.__version_info__ < (0, 9), reason="jax 0.8 writes the line of the call into a loop's equations"
)


@INNER_FRAMES
def test_the_code_of_a_library_gives_way_to_the_users_inside_of_it(rows):
    """numpyro's sampler is a loop of its own; the model's lines are deep inside."""
    numpyro = pytest.importorskip("numpyro")
    from numpyro.infer import MCMC, NUTS

    def model(v):
        slope = numpyro.sample("slope", numpyro.distributions.Normal(0, 5))
        numpyro.sample("y", numpyro.distributions.Normal(slope * v, 0.5), obs=v)

    MCMC(NUTS(model), num_warmup=2, num_samples=2, progress_bar=False).run(jax.random.key(2), x[0])
    document = compilation_document(rows()[-1])
    assert document["source"]["functions"][0]["name"] == "model"
    line = model.__code__.co_firstlineno + 2
    assert any(mark["line"] == line and mark["nodes"] for mark in document["source"]["marks"])
    assert "0x" not in document["signature"]


@INNER_FRAMES
def test_a_loop_outside_of_jit_shows_the_function_that_it_runs(rows):
    def body(carry, v):
        carry = jnp.sin(carry) + v
        return carry, carry * 2

    jax.lax.scan(body, 0.0, x[0])
    document = compilation_document(rows()[-1])
    assert [one["name"] for one in document["source"]["functions"]] == ["body"]
    lines = {mark["line"] - body.__code__.co_firstlineno for mark in document["source"]["marks"]}
    assert lines == {1, 2}
