"""Programs give the same, and compile as often, whether jax is watched or not; what is shown of them is true."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jitscope
from jitscope.core import call_sites
from jitscope.core.jaxpr import walk
from jitscope.xla import hlo_module
from jitscope_scope import jaxwatch, observe
from jitscope_scope.jaxwatch import marks, reading
from jitscope_scope.jaxwatch.translating import Place
from jitscope_scope.observe.memory import memory_of
from tests.jaxwatch import kinds, training
from tests.jaxwatch.compilations import counted
from tests.jaxwatch.programs import PROGRAMS


def run(program):
    """What a program gives, and how often it compiled what."""
    with counted() as compiled:
        return [np.asarray(x) for x in jax.tree.leaves(program())], compiled


MADE = ("compiled", "recompiled")
MORE = [*training.TRAINING, *kinds.KINDS]
FILES = {program.__code__.co_filename for program in (*PROGRAMS, *MORE)}


def in_part(program):
    """A program that is run by `make test` where it is quick to compile, else by `make test-all`."""
    return program if program not in (*kinds.LONG, *training.LONG) else pytest.param(program, marks=pytest.mark.full)


@pytest.mark.parametrize("program", [*PROGRAMS, *map(in_part, MORE)], ids=lambda program: program.__name__)
def test_a_program_is_the_same_and_shown_truly(program):
    jaxwatch.detach()
    if program in kinds.LAZY:
        program()
    alone, without = run(program)
    mark = observe.ledger().mark()
    watcher = jaxwatch.attach()
    try:
        watched, compiled = run(program)
        assert compiled == without
        assert [x.dtype for x in watched] == [x.dtype for x in alone]
        assert [x.tobytes() for x in watched] == [x.tobytes() for x in alone]
        rows = observe.ledger().since(mark)
        assert sum(row.what in MADE for row in rows) + len(observe.ledger().small_since(mark)) == sum(without.values())
        assert not marks.sweep()
        for row in rows:
            if row.what not in MADE:  # an error, or lowered alone
                continue
            check_links(row)
            document = observe.compilation_document(row)
            assert document["graph"]["nodes"]
            assert document["fusion"]["kernels"] or not row.equations
            check_unknown(row, document["fusion"])
        assert not watcher.faults, list(watcher.faults)
    finally:
        jaxwatch.detach()


def check_links(row):
    """Paths in the optimised program against the numbers in XLA's own text, and lines against the places that jax itself writes
    into it."""
    entry, eqns = row.entry, dict(walk(row.jaxpr))
    number_of = {path: entry.lineage._of[id(eqn)] for path, eqn in eqns.items()}
    raw = entry.executable.raw.hlo_modules()[0]
    with reading.marked():
        text = hlo_module.text(raw, metadata=True, backend_config=True)
    told = {i.name: i.op_name for c in hlo_module.parse(text) for i in c.instructions}
    lines = lines_of(hlo_module.text(raw, metadata=True))
    positions = observe.positions_of(row.jaxpr)
    linked = 0
    for computation in hlo_module.computations(entry.executable.hlo_modules()[0]):
        for i in computation.instructions:
            for path in filter(None, (i.op_name or "").split(";")):
                path = path.removesuffix("/op")
                assert path in eqns
                numbers = {int(n) for _, n in marks.MARK.findall(told[i.name])}
                assert number_of[path] in numbers
                linked += 1
                handle = eqns[path].traceback
                if isinstance(getattr(handle, "handle", handle), Place) or not call_sites.user_frames(handle):
                    continue  # jax gives what its own functions do the place of their first caller
                if "/jit(" in told[i.name].rpartition("~")[2]:
                    continue  # likewise in functions of its own that lowering rules call
                if not TELLS_INNER:
                    continue
                place, ours = lines.get(i.name), positions.get(path)
                if place and ours and ";" not in told[i.name] and place[0] == ours["file"] in FILES:
                    assert place[1] <= ours["line"] <= place[2], (i.name, path, place, ours)
    assert linked or not row.equations or row.equations < 3


def test_what_a_derivative_of_its_own_holds_in_an_inner_jit_is_linked(watcher):
    @jax.custom_vjp
    def root(x):
        return jax.lax.while_loop(lambda c: c[1] < 5, lambda c: (jnp.cos(c[0]) * 0.5, c[1] + 1), (x, 0))[0]

    root.defvjp(lambda x: (root(x), x), lambda x, g: (root(g) * x,))
    inner = jax.jit(lambda x: root(x) * 2)
    seen = jitscope.inspect(jax.grad(lambda x: inner(x).sum()))(jnp.ones(8))
    unknown = [kernel["name"] for kernel in seen.kernels if not kernel["paths"]]
    assert not unknown and any("body_jaxpr" in path for kernel in seen.kernels for path in kernel["paths"])


def check_unknown(row, fusion):
    """Kernels of unknown origin bear the names of no equation, but for those of functions that are called, which compute nothing."""
    eqns, computations = dict(walk(row.jaxpr)), hlo_module.computations(row.entry.executable.hlo_modules()[0])
    told = {i.name: i.op_name or "" for c in computations for i in c.instructions}
    for kernel in fusion["kernels"]:
        if not kernel["paths"] and kernel["kind"] != "copy":
            names = {name for member in kernel["members"] for name in told[member["name"]].split(";")} - {""}
            assert {eqns[name.removesuffix("/op")].primitive.name for name in names} <= {"jit", "pjit"}, kernel["name"]


TELLS_INNER = jax.__version_info__ >= (0, 9)
"""Before, jax gave what stands in `checkpoint`, `shard_map` and loops the line that calls these."""


def lines_of(text):
    """By instruction, the file and lines that jax says it stems from, from the tables at the head of the module's text."""
    tables = {}
    for name in ("FileNames", "FileLocations", "StackFrames"):
        block = re.search(rf"(?m)^{name}\n((?:\d+ .*\n)*)", text)
        tables[name] = dict(line.split(" ", 1) for line in block[1].splitlines()) if block else {}
    found = {}
    for line in text.splitlines():
        name, frame = re.match(r"\s+(?:ROOT )?%?([\w.\-]+) = ", line), re.search(r"stack_frame_id=(\d+)", line)
        if name and frame and frame[1] in tables["StackFrames"]:
            location = re.search(r"file_location_id=(\d+)", tables["StackFrames"][frame[1]])
            place = tables["FileLocations"].get(location[1], "") if location else ""
            numbers = {k: int(v) for k, v in re.findall(r"(\w+)=(\d+)", place)}
            if "file_name_id" in numbers:
                file = tables["FileNames"][str(numbers["file_name_id"])].strip('"')
                found[name[1]] = (file, numbers["line"], numbers.get("end_line", numbers["line"]))
    return found


def test_buffers_have_the_instructions_of_the_program_that_runs():
    """XLA names what it makes of an operation by the last part of the operation's name, so that those of a program that is compiled once
    more for its memory are the same only where the names are."""

    def loss(w, x):
        def body(c, _):
            for _ in range(3):
                c = jax.numpy.tanh(c @ w)
            return c, c.sum()

        c, s = jax.lax.scan(body, x, None, length=4)
        return (c**2).mean() + s.sum()

    mark = observe.ledger().mark()
    jaxwatch.attach()
    try:
        jax.jit(jax.grad(loss, argnums=(0, 1)))(np.ones((64, 64), np.float32), np.ones((4, 64), np.float32))
    finally:
        jaxwatch.detach()
    row = next(row for row in observe.ledger().since(mark) if row.entry)
    document = memory_of(row)
    names = {
        i.name for c in hlo_module.computations(hlo_module.optimized(row.entry.executable)) for i in c.instructions
    }
    assert {one["instruction"] for one in document["buffers"]} | {document["peak"]["instruction"]} <= names
    assert {*document["curve"]["instructions"]} <= names


@jax.jit
def _gradient_by_a_window(w, x, v):
    def far(w, x, v):
        x = jnp.split(jnp.tanh(x @ v), 2, axis=-1)[0].transpose(0, 2, 1)
        dims = ("NCH", "OIH", "NCH")
        y = jax.lax.conv_general_dilated(x, w, (1,), [(3, 3)], dimension_numbers=dims, feature_group_count=64)
        y = jax.nn.silu(y).transpose(0, 2, 1)[:, :23]
        return (y * jax.nn.silu(y)).sum()

    gradient = jax.grad(far)(w, x, v)
    return w - 0.1 * gradient / (jnp.sqrt(gradient * gradient) + 1e-3)


@jax.jit
def _columns(p, x):
    written = jnp.zeros((2, 24), jnp.bfloat16).at[:, :12].set(p)
    return written.at[:, 12].set((p * x).sum(-1))


@pytest.mark.parametrize("program, arguments", [
    (_gradient_by_a_window, ((64, 1, 4), (3, 23, 32), (32, 128))), (_columns, ((2, 12), (2, 12))),
])  # fmt: skip
def test_what_xla_writes_as_other_operations_keeps_its_line(program, arguments):
    """A sum over groups as a convolution of all with all; whether places are inside, which depends on no array."""
    jaxwatch.attach()
    try:
        program(*(jnp.ones(shape, jnp.bfloat16) for shape in arguments))
    finally:
        jaxwatch.detach()
    *_, row = observe.ledger()
    fusion = observe.compilation_document(row)["fusion"]
    assert fusion["summary"]["unknown"]["kernels"] == 0
    convolved = [k for k in fusion["kernels"] if k["opcode"] == "convolution"]
    assert all("conv_general_dilated" in p["text"] for k in convolved for p in k["positions"])
    assert len(convolved) == 2 * (program is _gradient_by_a_window)


_LIBRARY = """
import jax, jax.numpy as jnp

def smoothed(x, w):
    def body(carry, row):
        return carry * (1 - jnp.tanh(w)) + row, None
    return jax.lax.scan(body, jnp.zeros_like(w), x)[0]
"""


def test_what_jax_moves_out_of_a_librarys_loop_stands_where_the_loop_is_called(tmp_path):
    """As `optax.ctc_loss` in a gradient: no frame of the user's is round what the body does."""
    library = {}
    exec(compile(_LIBRARY, str(tmp_path / "site-packages" / "smoothing.py"), "exec"), library)

    def far(x, w):
        return (library["smoothed"](x, w) ** 2).sum()  # the call

    jaxwatch.attach()
    try:
        jax.jit(jax.grad(far, 1))(jnp.ones((5, 3)), jnp.ones(3))
    finally:
        jaxwatch.detach()
    *_, row = observe.ledger()
    nodes = observe.compilation_document(row)["graph"]["nodes"]
    placed = {n["label"]: {p["text"].strip() for p in n["positions"]} for n in nodes if n["paths"]}
    assert placed["tanh"] and all("# the call" in text for texts in placed.values() for text in texts)
