"""Fusion and graph documents of programs compiled by XLA, checked against its HLO text by separate means."""

import json
import re
from functools import cache

import pytest

from jitscope.xla import hlo_module, mlir
from jitscope.xla.cpu_tuning import LIBRARY_FOR_PRODUCTS_ALONE
from jitscope.xla.program import Executable
from jitscope_scope.observe.fusion import fusion_document
from jitscope_scope.observe.hlo import Ends, bytes_of, graph_of, text_of, types_in
from jitscope_scope.observe.hlo_flow import flow_of, paths_in
from jitscope_widgets import validate
from tests.scope.xla_text import Program


DENSE = (
    """module @dense { func.func public @main(%x: A loc("x"), %w: W, %b: tensor<7xf32>) -> Z {
  %d = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (A, W) -> Z loc("e0")
  %bb = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<7xf32>) -> Z loc("e1")
  %z = stablehlo.add %d, %bb : Z loc("e2")
  %c0 = stablehlo.constant dense<0.0> : Z loc("e3")
  %p = stablehlo.compare GT, %z, %c0 : (Z, Z) -> tensor<64x7xi1> loc("e3")
  %e = stablehlo.exponential %z : Z loc("e4")
  %c1 = stablehlo.constant dense<1.67> : tensor<f32> loc("e5")
  %k = stablehlo.broadcast_in_dim %c1, dims = [] : (tensor<f32>) -> Z loc("e5")
  %m = stablehlo.multiply %k, %e : Z loc("e5")
  %s = stablehlo.subtract %m, %k : Z loc("e6")
  %r = stablehlo.select %p, %z, %s : tensor<64x7xi1>, Z loc("e7")
  return %r : Z } }""".replace("Z", "tensor<64x7xf32>")
    .replace("A", "tensor<64x20xf32>")
    .replace("W", "tensor<20x7xf32>")
)

SOFTMAX = """module @softmax { func.func public @main(%x: A) -> A {
  %n = stablehlo.constant dense<0xFF800000> : tensor<f32> loc("e0")
  %z = stablehlo.constant dense<0.0> : tensor<f32> loc("e4")
  %m = stablehlo.reduce(%x init: %n) applies stablehlo.maximum across dimensions = [1] : (A, tensor<f32>) -> R loc("e0")
  %mb = stablehlo.broadcast_in_dim %m, dims = [0] : (R) -> A loc("e1")
  %s = stablehlo.subtract %x, %mb : A loc("e2")
  %e = stablehlo.exponential %s : A loc("e3")
  %t = stablehlo.reduce(%e init: %z) applies stablehlo.add across dimensions = [1] : (A, tensor<f32>) -> R loc("e4")
  %tb = stablehlo.broadcast_in_dim %t, dims = [0] : (R) -> A loc("e5")
  %o = stablehlo.divide %e, %tb : A loc("e6")
  return %o : A } }""".replace("A", "tensor<64x100xf32>").replace("R", "tensor<64xf32>")

REDUCE = """module @reduce { func.func public @main(%x: tensor<50x100xf32>) -> (tensor<f32>, tensor<5000xf32>) {
  %z = stablehlo.constant dense<0.0> : tensor<f32> loc("e0")
  %s = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0, 1]
       : (tensor<50x100xf32>, tensor<f32>) -> tensor<f32> loc("e0")
  %r = stablehlo.reshape %x : (tensor<50x100xf32>) -> tensor<5000xf32> loc("e1")
  return %s, %r : tensor<f32>, tensor<5000xf32> } }"""

DOTS = """module @dots { func.func public @main(%x: X, %v: tensor<64x64xf32>, %w: tensor<64x16xf32>) -> Y {
  %a = stablehlo.dot_general %x, %v, contracting_dims = [1] x [0] : (X, tensor<64x64xf32>) -> X loc("e0")
  %b = func.call @act(%a) : (X) -> X loc("e1(0)")
  %c = stablehlo.dot_general %b, %w, contracting_dims = [1] x [0] : (X, tensor<64x16xf32>) -> Y loc("e2")
  %d = stablehlo.negate %c : Y loc("e3")
  %e = stablehlo.negate %d : Y loc("e4")
  %f = stablehlo.exponential %e : Y loc("e5")
  %g = stablehlo.add %f, %e : Y
  return %g : Y }
 func.func private @act(%x: X) -> X {
  %0 = stablehlo.tanh %x : X loc("e0")
  %1 = stablehlo.multiply %0, %x : X loc("e10")
  return %1 : X } }""".replace("X", "tensor<32x64xf32>").replace("Y", "tensor<32x16xf32>")

LOOP = """module @loop { func.func public @main(%x: V, %n: tensor<i32>) -> V {
  %c0 = stablehlo.constant dense<0> : tensor<i32> loc("e0")
  %one = stablehlo.constant dense<1> : tensor<i32> loc("e0/e1")
  %r:2 = stablehlo.while(%k = %c0, %a = %x) : tensor<i32>, V
    cond { %q = stablehlo.compare LT, %k, %n : (tensor<i32>, tensor<i32>) -> tensor<i1> loc("e0/e0")
           stablehlo.return %q : tensor<i1> }
    do { %k2 = stablehlo.add %k, %one : tensor<i32> loc("e0/e1")
         %s = stablehlo.sine %a : V loc("e0/e2")
         %t = stablehlo.add %s, %a : V loc("e0/e3")
         stablehlo.return %k2, %t : tensor<i32>, V } loc("e0")
  %y = stablehlo.exponential %r#1 : V loc("e1")
  return %y : V } }""".replace("V", "tensor<64xf32>")

BRANCH = """module @branch { func.func public @main(%p: tensor<i1>, %x: M) -> M {
  %r = "stablehlo.if"(%p) ({
    %a = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] : (M, M) -> M loc("e0/e0")
    %b = stablehlo.exponential %a : M loc("e0/e1")
    "stablehlo.return"(%b) : (M) -> () }, {
    %c = stablehlo.dot_general %x, %x, contracting_dims = [0] x [0] : (M, M) -> M loc("e0/e2")
    "stablehlo.return"(%c) : (M) -> () }) : (tensor<i1>) -> M loc("e0")
  return %r : M } }""".replace("M", "tensor<64x64xf32>")

EXPANDED = """module @expanded { func.func public @main(%x: M, %i: tensor<4x4xi32>) -> (M, tensor<4x4xi32>, M) {
  %0:2 = "stablehlo.sort"(%x, %i) ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>):
    %q = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1> loc("e0")
    "stablehlo.return"(%q) : (tensor<i1>) -> () }) {dimension = 1 : i64, is_stable = true}
    : (M, tensor<4x4xi32>) -> (M, tensor<4x4xi32>) loc("e0")
  %l = stablehlo.cholesky %x, lower = true : M loc("e1")
  %t = stablehlo.add %l, %x : M loc("e2")
  return %0#0, %0#1, %t : M, tensor<4x4xi32>, M } }""".replace("M", "tensor<4x4xf32>")

NOTHING = "module @nothing { func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> } }"


def chain(length: int) -> str:
    """A program of that many operations, a matrix product every 25."""
    lines, last = [], "%x"
    for i in range(length):
        if i % 25 == 24:
            said = f"stablehlo.dot_general {last}, %w, contracting_dims = [1] x [0] : (M, M) -> M"
        elif i % 3 == 2:
            said = f"stablehlo.add {last}, %v{i - 2} : M"
        else:
            said = f"stablehlo.{('tanh', 'sine', 'exponential', 'negate')[i % 4]} {last} : M"
        lines.append(f'%v{i} = {said} loc("e{i}")')
        last = f"%v{i}"
    body = "\n".join([*lines, f"return {last} : M"])
    return f"module @chain {{ func.func public @main(%x: M, %w: M) -> M {{ {body} }} }}".replace(
        "M", "tensor<64x64xf32>"
    )


def position(line: int) -> dict:
    return {
        "file": "/home/someone/notebooks/cell_3f2a9c", "cell": "In [3]", "line": line, "end_line": line, "column": 4,
        "end_column": 24, "function": "layer", "text": "    z = jnp.tanh(x @ w) + b",
    }  # fmt: skip


class Compiled:
    def __init__(self, source: str, positions: dict | None = None):
        module = mlir.parse(source)
        optimized = hlo_module.optimized(Executable.compile(module, []))
        self.text = hlo_module.text(optimized, metadata=True)
        unoptimized = hlo_module.unoptimized(module)
        self.text_before = hlo_module.text(unoptimized)
        self.before = hlo_module.computations(unoptimized)
        self.after = hlo_module.computations(optimized)
        self.document = fusion_document(self.before, self.after, positions or {}, "program")

    @property
    def kernels(self) -> dict[str, dict]:
        return {k["name"]: k for k in self.document["kernels"]}

    def nodes(self, which: str) -> dict[str, dict]:
        return {n["id"]: n for n in self.document[which]["nodes"]}


@cache
def compiled(source: str) -> Compiled:
    return Compiled(source)


PROGRAMS = {
    "dense": DENSE, "softmax": SOFTMAX, "reduce": REDUCE, "dots": DOTS, "loop": LOOP, "branch": BRANCH,
    "expanded": EXPANDED, "nothing": NOTHING, "chain": chain(60),
}  # fmt: skip
every_program = pytest.mark.parametrize("source", PROGRAMS.values(), ids=PROGRAMS)


# The same facts straight from the text


@every_program
def test_kernels_are_what_runs_by_itself(source):
    program = compiled(source)
    running = [line.name for line in Program(program.text).kernels()]
    assert {k["name"] for k in program.document["kernels"] if k["kind"] != "loop"} == set(running)
    assert program.document["summary"]["kernels"] == len(running)


@every_program
def test_members_are_the_lines_of_the_called_computation(source):
    program = compiled(source)
    text = Program(program.text)
    for line in text.kernels():
        if line.opcode == "fusion":
            inside = [one.opcode for one in text.fused(line) if one.opcode != "constant"]
            assert sorted(m["opcode"] for m in program.kernels[line.name]["members"]) == sorted(inside)


@every_program
def test_paths_of_a_kernel_are_those_in_its_lines(source):
    program = compiled(source)
    text = Program(program.text)
    for line in text.kernels():
        said = [one.rest for one in text.fused(line)]
        expected = {re.sub(r"\(\d+\)", "", path) for path in re.findall(r'op_name="(e[^"]*)"', " ".join(said))}
        found = set(program.kernels[line.name]["paths"])
        assert expected <= found and (expected == found or any("op_name" not in rest for rest in said))


@every_program
def test_before_counts_the_operations_of_the_program(source):
    program = compiled(source)
    assert program.document["summary"]["before"] == len(list(Program(program.text_before).kernels()))


@every_program
def test_graphs_are_whole(source):
    program = compiled(source)
    for which in ("before", "after"):
        graph = program.document[which]
        ids = [n["id"] for n in graph["nodes"]]
        assert len(ids) == len(set(ids))
        assert all(e["from"] in ids and e["to"] in ids for e in graph["edges"])
        assert all(n["scope"] in ids for n in graph["nodes"] if n["scope"] is not None)
        assert all(not n["id"].startswith("out") or n["kind"] == "output" for n in graph["nodes"])
        assert_no_cycle(graph)


def assert_no_cycle(graph: dict) -> None:
    waiting = {n["id"]: {e["from"] for e in graph["edges"] if e["to"] == n["id"]} for n in graph["nodes"]}
    while waiting:
        free = [name for name, sources in waiting.items() if not sources & set(waiting)]
        assert free, waiting
        for name in free:
            del waiting[name]


@every_program
def test_rows_show_every_operation_once(source):
    program = compiled(source)
    rows = program.document["rows"]
    left = [r["left"]["name"] for r in rows if r["left"]]
    right = [r["right"]["name"] for r in rows if r["right"]]
    assert sorted(left) == sorted(op.id for op in flow_of(program.before, optimized=False).ops)
    assert len(set(right)) == len(right) and set(program.kernels) <= set(right)
    assert all(r["left"] or r["right"] for r in rows)
    fused = [r for r in rows if r["kind"] == "fused"]
    assert all(program.nodes("before")[r["left"]["name"]]["fused_into"] for r in fused)


@every_program
def test_documents_fit_their_types(source):
    program = compiled(source)
    validate(program.document)
    validate(program.document["after"])
    json.dumps(program.document, allow_nan=False)


# What each of them should say


def test_dense():
    program = compiled(DENSE)
    dot, fusion = program.document["kernels"]
    assert (dot["kind"], dot["opcode"], dot["paths"]) == ("library", "dot", ["e0"])
    assert "matrix product is a call into a library" in dot["note"]
    assert fusion["kind"] == "fusion" and fusion["paths"] == [f"e{i}" for i in range(1, 8)]
    size = len(fusion["members"])
    assert (
        program.document["summary"]["sentence"] == f"10 operations → 2 kernels: 1 fusion of {size} and 1 library call"
    )
    captions = {r["caption"] for r in program.document["rows"] if r["kind"] == "fused"}
    assert captions == {"became one kernel"}
    before = program.nodes("before")
    assert {n["fused_into"] for n in before.values() if n["paths"]} == {dot["name"], fusion["name"]}
    assert before["x.1"]["label"] == "x" and before["x.1"]["types"] == ["f32[64,20]"]
    after = program.nodes("after")
    assert after[dot["name"]]["kind"] == "library" and after[fusion["name"]]["kind"] == "fusion"
    members = [n for n in after.values() if n["scope"] == fusion["name"] and n["kind"] == "instruction"]
    assert [m["name"] for m in fusion["members"]] == [n["id"] for n in members]


def test_softmax_has_library_calls_of_several_operations():
    kernels = compiled(SOFTMAX).document["kernels"]
    assert all(k["kind"] == "library" for k in kernels if "kind=kCustom" in k["text"])
    assert sum(k["opcode"] == "reduce" or "reduce" in {m["opcode"] for m in k["members"]} for k in kernels) >= 2


def test_a_reshape_that_costs_nothing_is_no_kernel():
    program = compiled(REDUCE)
    (row,) = [r for r in program.document["rows"] if r["left"] and "reshape" in r["left"]["text"]]
    assert "bitcast" in row["right"]["text"] and row["caption"].startswith("costs nothing")
    sums = (
        ["library", "copy"] if LIBRARY_FOR_PRODUCTS_ALONE.holds() else ["other", "copy", "other"]
    )  # jaxlib before 0.10
    assert [k["kind"] for k in program.document["kernels"]] == sums
    assert "simplified away" not in program.document["summary"]["sentence"]


def test_calls_are_followed_and_lost_origins_are_not_guessed():
    program = compiled(DOTS)
    before = program.nodes("before")
    (call,) = [n for n in before.values() if n["kind"] == "scope"]
    inside = {n["label"]: n for n in before.values() if n["scope"] == call["id"]}
    assert (call["label"], call["paths"]) == ("act", ["e1"])
    assert inside["tanh"]["paths"] == ["e1/e0"] and inside["multiply"]["paths"] == ["e1/e10"]
    assert inside["tanh"]["fused_into"] == inside["multiply"]["fused_into"]
    (add,) = [n for n in before.values() if n["label"] == "add"]
    assert add["paths"] == [] and add["fused_into"] == "exponential_add_fusion"
    assert [n["fused_into"] for n in before.values() if n["label"] == "negate"] == [None, None]
    assert program.document["summary"]["sentence"].endswith("2 operations simplified away")


def test_loops_hold_their_kernels():
    program = compiled(LOOP)
    (loop,) = [k for k in program.document["kernels"] if k["kind"] == "loop"]
    inner = [k for k in program.document["kernels"] if k["note"] == "Runs again in each iteration of its loop."]
    assert [m["name"] for m in loop["members"]] == [k["name"] for k in inner]
    assert set(loop["paths"]) == {"e0", "e0/e0", "e0/e1", "e0/e2", "e0/e3"}
    after = program.nodes("after")
    (scope,) = [n for n in after.values() if n["label"] == "while"]
    assert {n["id"] for n in after.values() if n["scope"] == scope["id"]} >= {k["name"] for k in inner}
    copies = [k for k in program.document["kernels"] if k["kind"] == "copy"]
    assert all(k["paths"] in ([], ["e0"]) and "XLA added" in k["note"] for k in copies)


def test_values_flow_through_loops_and_branches():
    graph = compiled(LOOP).document["before"]
    label = {n["id"]: n["label"] for n in graph["nodes"]}
    flows = {(label[e["from"]], label[e["to"]]) for e in graph["edges"]}
    assert {("parameter 0", "sine"), ("sine", "add"), ("add", "exponential"), ("parameter 1", "compare")} <= flows
    graph = compiled(BRANCH).document["before"]
    label = {n["id"]: n["label"] for n in graph["nodes"]}
    flows = {(label[e["from"]], label[e["to"]]) for e in graph["edges"]}
    assert {
        ("parameter 0", "conditional"),
        ("parameter 1", "dot"),
        ("exponential", "result 0"),
        ("dot", "result 0"),
    } <= flows


def test_branches():
    notes = [k["note"] for k in compiled(BRANCH).document["kernels"]]
    assert notes and all(note.endswith("Runs when its branch is taken.") for note in notes)


def test_an_operation_that_became_many_kernels_is_in_none():
    program = compiled(EXPANDED)
    (cholesky,) = [n for n in program.nodes("before").values() if n["label"] == "cholesky"]
    assert cholesky["fused_into"] is None
    (row,) = [r for r in program.document["rows"] if r["left"] and r["left"]["name"] == cholesky["id"]]
    assert re.fullmatch(r"became \d+ kernels", row["caption"]) and row["right"] is None
    (sort,) = [n for n in program.nodes("after").values() if n["label"] == "sort"]
    assert sort["params"]["applies"] in ("compare", "fusion") and sort["types"] == ["f32[4,4]", "s32[4,4]"]


def test_a_function_called_twice_is_shown_twice():
    source = DOTS.replace(
        "%d = stablehlo.negate %c : tensor<32x16xf32>",
        '%b2 = func.call @act(%b) : (M) -> M loc("e9(1)")\n%d = stablehlo.negate %c : tensor<32x16xf32>',
    )
    source = source.replace("M", "tensor<32x64xf32>").replace(
        "return %g : tensor<32x16xf32>", "return %g, %b2 : tensor<32x16xf32>, tensor<32x64xf32>"
    )
    source = source.replace("-> tensor<32x16xf32> {", "-> (tensor<32x16xf32>, tensor<32x64xf32>) {")
    before = Compiled(source).nodes("before")
    assert [n["paths"] for n in before.values() if n["label"] == "tanh"] == [["e1/e0"], ["e9/e0"]]


def test_custom_calls_are_library_calls():
    source = """module @c { func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = stablehlo.custom_call @xla_ffi_python_cpu_callback(%x)
        {api_version = 4 : i32, has_side_effect = true, backend_config = {index = 0 : ui64}}
        : (tensor<4xf32>) -> tensor<4xf32> loc("e0") return %0 : tensor<4xf32> } }"""
    exe = Executable.compile(mlir.parse(source), [], callbacks=[lambda x: (x,)])
    after = hlo_module.computations(hlo_module.optimized(exe))
    kernel = next(k for k in fusion_document((), after, {}, "c")["kernels"] if k["kind"] == "library")
    assert kernel["note"] == "A call back into Python." and kernel["paths"] == ["e0"]


def test_arguments_without_a_name_of_xla_s_have_the_call_s():
    program = compiled(LOOP)
    given = ["params['w']", "steps"]
    document = fusion_document(program.before, program.after, {}, "loop", arguments=given)
    for level in ("before", "after"):
        assert [n["label"] for n in document[level]["nodes"] if n["kind"] == "input"] == given


def test_without_the_program_before():
    program = compiled(DENSE)
    document = fusion_document((), program.after, {}, "from the cache")
    assert document["before"]["nodes"] == [] and document["summary"]["before"] == 0
    assert document["summary"]["sentence"] == "2 kernels: 1 fusion of 10 and 1 library call"


def test_sizes_of_fusions_are_not_taken_for_a_part_of_the_list():
    """Not "3 fusions of 24, 20 and 10 and 2 library calls"."""
    kernels = compiled(chain(60)).document["kernels"]
    sizes = [len(kernel["members"]) for kernel in kernels if kernel["kind"] == "fusion"]
    assert 1 < len(set(sizes)) <= len(sizes) < 4
    said = compiled(chain(60)).document["summary"]["sentence"]
    assert f"{len(sizes)} fusions of {min(sizes)} to {max(sizes)} and " in said


def test_a_program_without_operations():
    assert compiled(NOTHING).document["summary"]["sentence"] == "0 operations → 1 kernel: 1 copy"


HOISTED = """HloModule hoisted

one { p = f32[4]{0} parameter(0)
  ROOT r = f32[4]{0} sqrt(p)
}

two { p = f32[4]{0} parameter(0)
  q = f32[4]{0} sqrt(p)
  ROOT r = f32[4]{0} exponential(q)
}

ENTRY main { a = f32[4]{0} parameter(0)
  b = f32[4]{0} call(a), to_apply=one
  ROOT c = f32[4]{0} call(b), to_apply=two
}
"""


def test_a_call_of_one_operation_is_called_by_it():
    computations = hlo_module.computations(hlo_module.from_text(HOISTED))
    graph = graph_of(flow_of(computations, True), computations, "", {}, {}, Ends())
    assert {n["id"]: n["label"] for n in graph["nodes"] if n["id"] in "bc"} == {"b": "call of sqrt", "c": "two"}


def test_positions_and_size():
    positions = {f"e{i}": position(i + 1) for i in range(300)}
    document = Compiled(chain(300), positions).document
    assert document["summary"]["before"] == 300
    for kernel in document["kernels"]:
        assert [p["line"] for p in kernel["positions"]] == [int(path[1:]) + 1 for path in kernel["paths"]]
    assert all(n["positions"] for n in document["before"]["nodes"] if n["paths"])
    assert len(json.dumps(document, separators=(",", ":"), ensure_ascii=False)) < 400_000


@pytest.mark.parametrize(
    ("name", "paths"),
    [
        (None, ()), ("", ()), ("x", ()), ("e2", ("e2",)), ("e2/e10", ("e2/e10",)), ("e2(0)/e3/e1(12)/e4", ("e2/e3/e1/e4",)),
        ("e1;e2/e0;e1", ("e1", "e2/e0")), ("e2/reduce_sum", ("e2",)), ("e2x", ()), ("params['e2']", ()), ("e1; e3", ("e1", "e3")),
        ("e1(0)/e3;e2", ("e1/e3", "e1/e2")), ("e1(0)/e4/e2(1)/e3;e5/e7;x", ("e1/e4/e2/e3", "e1/e4/e2/e5/e7")),
        ("(e3:e1)", ("e3", "e1")), ("e1(2)/(e8:e5)", ("e1/e8", "e1/e5")), ("(e0(1)/e4:e1(2)/e6)", ("e0/e4", "e1/e6")),
        ("e0(1)/e1/e0(1)", ("e0/e1",)), ("e16/e35(2)/e1/e0/e16/e35(2)", ("e16/e35/e1/e0",)), ("e1(0)/e1(1)/e2", ("e1/e1/e2",)),
    ],
)  # fmt: skip
def test_paths_in_names(name, paths):
    assert paths_in(name) == paths


@pytest.mark.parametrize(
    ("kind", "size"),
    [
        ("f32[64,7]", 1792), ("pred[]", 1), ("bf16[3]", 6), ("s4[5]", 3), ("c128[2]", 32), ("f8e4m3fn[8]", 8),
        ("(f32[2], /*index=1*/s32[])", 12), ("token[]", 0), ("f32[0,3]", 0), ("(f32[2], (s8[4], u2[4]))", 13),
    ],
)  # fmt: skip
def test_sizes(kind, size):
    assert bytes_of(kind) == size
    assert len(types_in(kind)) == kind.count("[")


def test_long_lines_are_cut():
    source = (
        "HloModule m\nENTRY e (p: f32[]) -> f32[] {\n  ROOT p = f32[] parameter(0), sharding={" + "x" * 1000 + "}\n}"
    )
    (entry,) = hlo_module.parse(source)
    assert len(text_of(entry.root)) == 300
