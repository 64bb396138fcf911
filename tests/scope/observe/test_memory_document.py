"""The memory document against XLA's own dumps, which are read here by other means, and against what the executable says."""

from __future__ import annotations

import functools
import json
import re
from importlib import import_module

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax
from jitscope.core.errors import Unavailable
from jitscope.xla import hlo_module
from jitscope.xla.dumps import Source, compiled_once_more
from jitscope_scope import observe
from jitscope_scope.observe.memory import memory_of
from jitscope_scope.observe.memory.lifetimes import buffers_of, curve_of
from jitscope_scope.observe.memory.plan import plan_of
from jitscope_widgets import text, validate
from jitscope_widgets.quantities import size as shown_size
from jitscope_widgets.views.memory import holds_most
from tests.extent import ALL, full, some
from tests.programs.rows import row_of


CONSTANT = np.linspace(0, 1, 10_000, dtype=np.float32).reshape(100, 100)


def scanned(x):
    def step(carry, _):
        return jnp.sin(carry @ carry), carry.sum()

    return lax.scan(step, x, None, length=5)


def branched(x):
    return lax.cond(x.sum() > 0, lambda x: x @ x @ x, lambda x: x + 1, x)


def captured(x):
    return x @ CONSTANT + x.sum()


def aliased(x):
    return x, x + 1, x.T


def donating(x, y):
    return x * 2 + y, y.sum()


def averaging(mean, x):
    return 0.9 * mean + 0.1 * x


def saving(x):
    def step(carry, x):
        return jnp.tanh(carry * x), carry

    return jnp.sum(lax.scan(step, x[0], x)[0])


SQUARE = np.ones((64, 64), np.float32)
SMALL = {
    "scan": (scanned, (SQUARE,), ()),
    "cond": (branched, (SQUARE,), ()),
    "constant": (captured, (np.ones((64, 100), np.float32),), ()),
    "alias": (aliased, (np.ones((64, 32), np.float32),), ()),
    "donation": (donating, (SQUARE, SQUARE), (0,)),
    "no donation": (averaging, (SQUARE, SQUARE), ()),
    "gradient of a scan": (jx.grad(saving), (np.ones((50, 300), np.float32),), ()),
}
LARGE: dict[str, dict[str, int]] = {
    "transformer": {"layers": 3 if ALL else 1},
    "lstm": {},
    "resnet": {},
    "unrolled": {},
}
EACH = pytest.mark.parametrize("name", [*SMALL, *some(LARGE, always="lstm")])


KEPT = []
"""The functions: the ledger lets go of the programs of those that are gone when it holds many."""


@functools.cache
def known(name):
    """(row, what XLA told)."""
    if name in SMALL:
        fun, args, donate = SMALL[name]
    else:
        module = import_module(f"tests.programs.{name}")
        fun, args, donate = module.program, module.arguments(**LARGE[name]), ()
    jitted = jx.jit(fun, donate_argnums=donate)
    KEPT.append(jitted)
    row = row_of(jitted, *(jnp.array(x) if isinstance(x, np.ndarray) else x for x in args))
    return row, compiled_once_more(Source.of(row.entry))


def dump(told, ending):
    """A dump of XLA's. Before 0.10, values and live ranges stand in that of the buffer assignment."""
    files = {file.name: file.text for file in told.files}
    found = [text for name, text in files.items() if name.endswith(ending)]
    return found[0] if found else next(text for name, text in files.items() if name.endswith("buffer-assignment.txt"))


def values(told):
    """[(allocation, name, size, offset, born, dies)] of those with a place in the schedule, from the dumps."""
    ranges = {
        name: (int(born), int(dies))
        for name, born, dies in re.findall(r"^ +(\S+\}):(\d+)-(\d+)$", dump(told, "live-range.txt"), re.M)
    }
    found = []
    for number, block in enumerate(dump(told, "buffer-assignment.txt").split("\nallocation "), -1):
        for name, size, offset in re.findall(r"value: <\d+ (.+?) @0> \(size=(\d+),offset=(\d+)\)", block):
            name = name.removesuffix(" (phi)")
            name = name if name.endswith("}") else name + "{}"
            if name in ranges:
                found.append((number, name, int(size), int(offset), *ranges[name]))
    return found


@EACH
def test_totals_are_those_of_the_executable_and_of_the_dump(name):
    row, told = known(name)
    plan, stats = plan_of(told), row.entry.executable.memory_stats()
    assert plan.total("argument") == stats["argument"]
    assert plan.total("result") == stats["output"] - stats["alias"]
    assert plan.total("temporary") == stats["temp"]
    assert sum(a.size for a in plan.allocations if a.aliased) == stats["alias"]
    total = int(re.search(r"Total bytes used: (\d+)", dump(told, "assignment-values.txt"))[1])
    assert sum(a.size for a in plan.allocations) == total
    header = re.findall(r"^allocation \d+: size (\d+)", dump(told, "buffer-assignment.txt"), re.M)
    assert [a.size for a in plan.allocations] == [int(size) for size in header]


@EACH
def test_what_is_alive_is_what_the_dump_says(name):
    row, told = known(name)
    plan = plan_of(told)
    at, total = plan.peak
    listed = re.search(r"Live ranges at (\d+) \(peak\):\n((?:    .*\n)+)", dump(told, "live-range.txt"))
    assert int(listed[1]) == at
    of_dump = {n: int(b) for n, b in re.findall(r"    (\S+): (\d+) bytes \(cumul", listed[2])}
    alive = {
        f"{v.instruction}{{{v.index}}}": v.size
        for a in plan.allocations
        for v in a.values
        if v.born is not None and v.born <= at <= v.dies
    }
    assert alive == of_dump and sum(alive.values()) == total
    names = {
        i.name for c in hlo_module.computations(hlo_module.optimized(row.entry.executable)) for i in c.instructions
    }
    assert set(plan.schedule) <= names


@EACH
def test_the_bytes_in_use_are_those_that_values_alive_cover(name):
    told = known(name)[1]
    plan = plan_of(told)
    curve = curve_of(plan, buffers_of(plan))
    alive = values(told)
    sizes = [a.size for a in plan.allocations]
    for number in range(0, len(curve.positions), max(1, len(curve.positions) // 60)):
        at, covered = curve.positions[number], {}
        for allocation, _, size, offset, born, dies in alive:
            if born <= at <= dies:
                covered.setdefault(allocation, np.zeros(sizes[allocation], bool))[offset : offset + size] = True
        assert curve.at(number) == sum(int(bytes.sum()) for bytes in covered.values())
    highest = curve.at(curve.peak())
    assert highest == max(map(curve.at, range(len(curve.positions))))
    assert highest <= sum(a.size for a in plan.allocations if a.kind != "thread")


@EACH
def test_buffers_that_are_alive_together_do_not_lie_on_each_other(name):
    """But for those of which one takes the place of the other, by the instruction that reads it last."""
    buffers = buffers_of(plan_of(known(name)[1]))
    for i, one in enumerate(buffers):
        for other in buffers[i + 1 :]:
            if other.born > one.dies or one.allocation.number != other.allocation.number:
                continue
            apart = one.offset + one.size <= other.offset or other.offset + other.size <= one.offset
            assert apart or other.born == one.dies


@EACH
def test_the_document_says_the_same(name):
    row = known(name)[0]
    document = memory_of(row)
    validate(document)
    peak, stats = document["peak"], row.entry.executable.memory_stats()
    assert peak["bytes"] == sum(peak["kinds"].values())
    reserved = {kind: one["value"] for kind, one in document["reserved"].items()}
    assert (
        reserved["total"] == stats["argument"] + stats["output"] - stats["alias"] + stats["temp"] + reserved["constant"]
    )
    assert peak["bytes"] <= reserved["total"]
    told_buffers = [document["buffers"][n] for n in peak["buffers"]]
    assert all(b["born"] <= peak["position"] <= b["dies"] for b in told_buffers)
    assert [b["bytes"] for b in told_buffers] == sorted((b["bytes"] for b in told_buffers), reverse=True)
    assert document["cost"]["value"] > 0
    assert len(json.dumps(document)) < 200_000
    need = observe.compilation_document(row)["cost"]["memory"]["value"]
    assert need == reserved["total"] - reserved["constant"]


@EACH
def test_lines_hold_together_what_is_in_use_at_the_peak(name):
    row, _ = known(name)
    document = memory_of(row)
    peak, lines = document["peak"], document["peak"]["lines"]
    assert sum(line["bytes"] for line in lines) == peak["bytes"]
    assert sum(line["buffers"] for line in lines) == peak["count"]
    given = [line for line in lines if line["given"]]
    own = peak["kinds"]["argument"] - sum(line["bytes"] for line in given)
    assert 0 <= own <= row.entry.executable.memory_stats()["alias"]  # what results take of it has their lines
    assert len({_place(document, line) for line in lines}) == len(lines)


def _place(document, line):
    place = document["positions"][line["path"]] if line["path"] is not None else {"file": "", "line": line["given"]}
    return place["file"], place["line"], place.get("function"), place.get("named_scope")


def test_what_waits_for_the_backward_pass_is_counted_at_the_step_with_most_of_it():
    """Of each layer the backward pass needs the result, or the slope at it: four arrays in all, of 40 × 50 numbers."""

    def loss(x, w):
        for _ in range(4):
            x = jnp.tanh(x @ w)
        return x.sum()

    document = memory_of(row_of(jx.jit(jx.grad(loss)), jnp.ones((40, 50)), jnp.ones((50, 50))))
    kept, waiting = document["kept"], [b for b in document["buffers"] if b["saved"]]
    assert kept["bytes"] == 4 * 40 * 50 * 4 == sum(line["bytes"] for line in kept["lines"])
    assert all(buffer["born"] <= kept["position"] <= buffer["dies"] for buffer in waiting)
    assert f"Kept for the backward pass: 32 kB in 4 buffers at step {kept['position'] + 1}, all of line" in text(
        document
    )


def test_what_is_kept_and_what_is_in_use_at_the_peak_are_told_apart():
    """The table tells of the peak; the sentence says what of the kept values is there then."""

    def loss(x, w):
        for _ in range(4):
            x = jnp.tanh(x @ w)
        return x.sum()

    document = memory_of(row_of(jx.jit(jx.grad(loss)), jnp.ones((40, 50)), jnp.ones((50, 50))))
    kept, peak = document["kept"], document["peak"]
    other = {**document, "kept": {**kept, "position": peak["position"] + 1}}
    at_peak = sum(line["saved"] for line in peak["lines"])
    told = f"At the peak, step {peak['position'] + 1}, it is {shown_size(at_peak)}."
    assert told in " ".join(text(other).split())
    assert (told in " ".join(text(document).split())) == (kept["position"] != peak["position"])
    step = f"at step {peak['position'] + 1} of {document['length']}"
    assert step in document["sentence"] and step in text(document)


def test_of_lines_that_hold_as_much_at_the_peak_none_is_said_to_hold_the_most():
    document = memory_of(known("scan")[0])
    peak = document["peak"]
    line = next(line for line in peak["lines"] if line["path"] is not None)
    paths = [path for path in document["positions"] if _place(document, {"path": path}) != _place(document, line)]
    others = [{**line, "path": path} for path in dict.fromkeys(paths)][:1]

    def said(lines):
        return holds_most({**document, "peak": {**peak, "lines": lines}})

    assert re.fullmatch(r"Of all lines, .* and .* hold the most at the peak: .* each\.", said([line, *others]))
    assert "holds the most" in said([line, *({**one, "bytes": 1} for one in others)])


def test_nothing_waits_where_there_is_no_backward_pass():
    assert "kept" not in memory_of(known("scan")[0])


def test_arguments_and_results_have_the_names_of_the_call():
    document = memory_of(known("transformer")[0])
    arguments = {b["label"]: b for b in document["buffers"] if b["kind"] == "argument"}
    assert arguments["params['layers'][0]['up']"]["type"] == "f32[32,128]"
    assert {b["label"] for b in document["buffers"] if b["kind"] == "result"} >= {"result['layers'][0]['up']"}


def test_a_result_knows_its_line():
    document = memory_of(known("transformer")[0])
    row = known("transformer")[0]
    largest = document["buffers"][document["peak"]["buffers"][0]]
    assert largest["bytes"] == max(b["bytes"] for b in document["buffers"])
    # the gradient of a weight is a product of matrices, written where the weight is used
    text = document["positions"][largest["path"]]["text"]
    name = re.search(r"\['(\w+)'\]$", largest["label"])[1]
    assert f'layer["{name}"]' in text
    number = int(largest["path"].removeprefix("e"))
    assert row.jaxpr.eqns[number].primitive.name in ("dot_general", "transpose")


def test_a_loop_is_a_stretch_of_the_schedule_and_what_it_hands_on_one_buffer():
    row, told = known("scan")
    document = memory_of(row)
    body = next(s for s in document["scopes"] if s["text"].startswith("body"))
    assert body["iterations"] == 5 and body["paths"] == ["e0"]
    inside = plan_of(told).schedule[body["start"] : body["end"] + 1]
    optimized = hlo_module.computations(hlo_module.optimized(row.entry.executable))
    opcodes = {i.name: i.opcode for c in optimized for i in c.instructions}
    loop = next(i for c in optimized for i in c.instructions if i.opcode == "while")
    assert loop.name == body["instruction"] and plan_of(told).schedule[body["end"] + 1] == loop.name
    assert any("dot" in name or "ynn" in name or opcodes[name] == "dot" for name in inside)
    carry = [
        b for b in document["buffers"] if b["born"] < body["start"] and b["dies"] > body["end"] and b["values"] > 1
    ]
    assert [b["label"] for b in carry if b["type"] == "f32[5]"] == ["result[1]"]


def test_what_iterations_store_for_the_gradient_has_the_line_that_computes_it():
    document = memory_of(known("gradient of a scan")[0])
    stored = [b for b in document["buffers"] if "stored" in b["label"] or "stores" in b["label"]]
    assert stored and all(b["bytes"] == 50 * 300 * 4 for b in stored if b["type"] == "f32[50,300]")
    lines = {document["positions"][b["path"]]["text"].strip() for b in stored}
    assert "return jnp.tanh(carry * x), carry" in lines


def test_a_donated_argument_is_taken_over():
    document = memory_of(known("donation")[0])
    assert document["reserved"]["aliased"]["value"] == SQUARE.nbytes
    taken = next(b for b in document["buffers"] if "in the memory of" in b["label"])
    assert taken["label"] == "result[0], in the memory of x" and taken["kind"] == "argument"


@pytest.mark.parametrize("name", ["donation", "no donation", "gradient of a scan", pytest.param("resnet", marks=full)])
def test_what_donation_changes_is_what_the_program_that_donates_needs(name):
    row = known(name)[0]
    document = observe.look(row, "memory")
    assert all(change["tried"] is None for change in document["changes"])
    if name == "donation":  # of x and y, both as large as the one result, x is given away already
        assert [change["id"] for change in document["changes"]] == []
        return
    change = document["changes"][0]["id"]
    found = observe.look(row, "memory", change=change)
    validate(found)
    tried = next(c["tried"] for c in found["changes"] if c["id"] == change)
    module = import_module(f"tests.programs.{name}") if name in LARGE else None
    fun, args = (module.program, module.arguments(**LARGE[name])) if module else SMALL[name][:2]
    first = change.removeprefix("donate:")
    names = [leaf.path.split("[")[0] for leaf in row.signature.leaves]
    number = list(dict.fromkeys(names)).index(first)
    stats = jx.jit(fun, donate_argnums=number).lower(*args).compile().memory_analysis()
    assert tried["aliased"] == stats["alias"] > 0
    assert tried["temporary"] == stats["temp"]
    constants = document["reserved"]["constant"]["value"]
    assert (
        abs(tried["reserved"] - (stats["argument"] + stats["output"] - stats["alias"] + stats["temp"]))
        <= constants + 64
    )
    assert tried["peak"] <= tried["reserved"]
    if name != "gradient of a scan":  # (it needs more temporaries when its argument is taken over)
        assert tried["reserved"] < document["reserved"]["total"]["value"]
    helps = tried["reserved"] < document["reserved"]["total"]["value"] or tried["peak"] < document["peak"]["bytes"]
    assert tried["note"].startswith("this does not help here; ") == (not helps)
    assert helps == (name != "gradient of a scan")
    assert tried["seconds"]["value"] > 0
    with pytest.raises(Unavailable, match="cannot be tried"):
        observe.look(row, "memory", change="donate:nothing")


def loop(x, around):
    @around
    def step(carry, x):
        return jnp.tanh(jnp.sin(carry) * x) * jnp.exp(carry), carry

    return jnp.sum(lax.scan(step, x[0], x)[0])


def deep(x, around):
    @around
    @jx.jit
    def block(x):
        return jnp.tanh(jnp.sin(x @ x)) * jnp.exp(x)

    return jnp.sum(block(x)) + jnp.sum(lax.cond(x[0, 0] > 0, lambda x: block(x + 1), lambda x: x, x))


@pytest.mark.parametrize(
    ("of", "where", "x"),
    [
        (loop, "the body of the scan", np.ones((40, 300), np.float32)),
        (loop, "all that is differentiated", np.ones((40, 300), np.float32)),
        (deep, "block", np.full((32, 32), 0.1, np.float32)),
    ],
)
def test_what_checkpoint_changes_is_what_the_program_written_so_needs(of, where, x):
    def program(x):
        return jx.value_and_grad(lambda x: of(x, lambda inner: inner))(x)

    def written(x):
        inside = jx.checkpoint if "all" not in where else lambda inner: inner
        outside = jx.checkpoint if "all" in where else lambda inner: inner
        return jx.value_and_grad(outside(lambda x: of(x, inside)))(x)

    row = row_of(program, x)
    changes = {change["text"]: change for change in observe.look(row, "memory")["changes"]}
    change = changes[f"checkpoint {where}"]
    line = change["position"] and change["position"]["text"]
    assert line is None if "all" in where else where.rpartition(" ")[2] in line
    found = observe.look(row, "memory", change=change["id"])
    validate(found)
    tried = next(c["tried"] for c in found["changes"] if c["id"] == change["id"])
    told = observe.look(row_of(written, x), "memory")
    assert tried["peak"] == told["peak"]["bytes"]
    assert tried["temporary"] == told["reserved"]["temporary"]["value"]
    assert tried["flops"]["value"] == observe.compilation_document(row_of(written, x))["cost"]["flops"]["value"]
    assert tried["flops_before"]["value"] == observe.compilation_document(row)["cost"]["flops"]["value"]
    if where != "all that is differentiated":
        assert tried["flops"]["value"] > tried["flops_before"]["value"]


def test_only_what_is_differentiated_can_be_checkpointed():
    whats = {change["what"] for change in memory_of(known("scan")[0])["changes"]}
    assert "checkpoint" not in whats


def test_a_program_that_is_gone_is_an_error():
    with pytest.raises(Unavailable, match="the program of f is no longer kept"):
        memory_of(observe.Row(0, "f", None, None))
