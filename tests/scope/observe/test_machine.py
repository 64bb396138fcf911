"""The machine document against disassemblers, the object files' own tables, the program's HLO, and definitions."""

from __future__ import annotations

import platform
import re
import shutil
import struct
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax
from jitscope.core.errors import Unavailable
from jitscope.xla import hlo_module
from jitscope.xla.program import Executable
from jitscope.xla.serialized import parts_of
from jitscope_scope import observe
from jitscope_scope.observe import machine as room
from jitscope_scope.observe.machine import document as documents
from jitscope_scope.observe.machine.disassembly import disassembled
from jitscope_scope.observe.machine.document import Code, machine_document, read
from jitscope_scope.observe.machine.flow import depths_of, loops_of
from jitscope_scope.observe.machine.listing import assembly_text, llvm_text
from jitscope_scope.observe.machine.llvm import nesting_of
from jitscope_scope.observe.machine.objects import functions_of
from jitscope_widgets import validate
from tests.compiler.jaxlibs import tuned
from tests.programs import rows


X86 = platform.machine().lower() in ("x86_64", "amd64")
ELF = platform.system() == "Linux"


def array(*shape: int) -> Any:
    return jnp.asarray(np.random.default_rng(0).normal(size=shape).astype(np.float32))


def selu(x, w, b):
    y = x @ w + b
    return 1.05 * jnp.where(y > 0, y, 1.67 * jnp.exp(y) - 1.67)


def softmax(x):
    e = jnp.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def scanned(x, w):
    return lax.scan(lambda c, a: (jnp.tanh(c @ w + a), c.sum()), x[0], x)


def convolved(x, k):
    return jnp.maximum(lax.conv_general_dilated(x, k, (1, 1), "SAME"), 0)


def factored(a):
    return jnp.linalg.cholesky(a @ a.T + 10 * jnp.eye(a.shape[0]))


def ordered(x):
    return jnp.sort(x) * 2


def shared(x, y):
    a = jnp.sin(x) * 3 + x
    b = jnp.sin(y) * 3 + y
    return (a @ b.T).sum(), a, b


def called_back(x):
    doubled = jx.pure_callback(lambda v: 2 * np.asarray(v), jx.ShapeDtypeStruct(x.shape, x.dtype), x)
    return jnp.exp(doubled) + 1


PROGRAMS: dict[Callable[..., Any], tuple[tuple[int, ...], ...]] = {
    selu: ((64, 32), (32, 128), (128,)),
    softmax: ((128, 256),),
    scanned: ((10, 16, 8), (8, 8)),
    convolved: ((2, 3, 16, 16), (4, 3, 3, 3)),
    factored: ((8, 8),),
    ordered: ((1000,),),
    shared: ((64, 64), (64, 64)),
    called_back: ((100,),),
}
NAMES = [function.__name__ for function in PROGRAMS]


@cache
def row_of(name: str) -> observe.Row:
    function = next(function for function in PROGRAMS if function.__name__ == name)
    return rows.row_of(function, *(array(*shape) for shape in PROGRAMS[function]))


@cache
def code_of(name: str) -> Code:
    return room.code_of(row_of(name))


@cache
def document_of(name: str) -> dict[str, Any]:
    return machine_document(code_of(name))


def function_of(document: dict[str, Any], name: str) -> dict[str, Any]:
    return next(one for one in document["functions"] if one["name"] == name)


def objects_of(code: Code) -> list[bytes]:
    return list(code.parts.objects) if code.parts else [f.content for f in code.files if f.name.endswith(".o")]


@pytest.mark.parametrize("name", NAMES)
def test_documents_have_their_form(name: str) -> None:
    validate(document_of(name))


# --- against other readers of object files ----------------------------------------------------------------------------


def symbols_of_elf(content: bytes) -> dict[str, int]:
    """Names and sizes of the functions in an object file's symbol table, read by the letter of the ELF specification."""
    offset, size, count = (*struct.unpack_from("<Q", content, 40), *struct.unpack_from("<HH", content, 58))
    headers = [struct.unpack_from("<IIQQQQIIQQ", content, offset + at * size) for at in range(count)]
    found = {}
    for _, kind, _, _, start, length, link, *_ in headers:
        names = headers[link][4]
        for at in range(start, start + length, 24) if kind == 2 else ():
            name, info, _, _, _, extent = struct.unpack_from("<IBBHQQ", content, at)
            if info & 15 == 2:
                end = content.index(b"\0", names + name)
                found[content[names + name : end].decode()] = extent
    return found


@pytest.mark.skipif(not ELF, reason="reads ELF by hand")
@pytest.mark.parametrize("name", NAMES)
def test_functions_are_those_of_the_symbol_tables(name: str) -> None:
    wanted = [pair for content in objects_of(code_of(name)) for pair in symbols_of_elf(content).items()]
    assert sorted(wanted) == sorted((one["name"], one["bytes"]) for one in document_of(name)["functions"])
    assert wanted


@pytest.mark.skipif(not (ELF and X86 and shutil.which("objdump")), reason="compares with objdump on x86-64")
@pytest.mark.parametrize("name", NAMES)
def test_instructions_are_those_that_objdump_reads(name: str, tmp_path: Path) -> None:
    for content in objects_of(code_of(name)):
        path = tmp_path / "code.o"
        path.write_bytes(content)
        command = ["objdump", "-d", "-M", "intel", "--no-show-raw-insn", str(path)]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        for function in functions_of(content):
            body = text.split(f"<{function.name}>:\n")[1].split("\n\n")[0]
            # objdump says {evex} of what could be written shorter.
            rows = [re.match(r"\s+([0-9a-f]+):\t(?:\{evex\} )?(\S+)", line) for line in body.splitlines()]
            first = next(int(row[1], 16) for row in rows if row)
            theirs = {int(row[1], 16) - first: row[2] for row in rows if row}
            ours = {one.at: one.mnemonic for one in disassembled(function).instructions}
            idle = ("nop", "data16", "cs", "xchg")  # what fills gaps has several spellings
            assert {at: said for at, said in ours.items() if said != "nop"} == {
                at: said for at, said in theirs.items() if said not in idle
            }
            assert not any(one.unknown for one in disassembled(function).instructions)


SOURCE = """
declare ptr @memcpy(ptr, ptr, i64)
define ptr @kern(ptr %p, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [0, %entry], [%j, %loop]
  %a = getelementptr float, ptr %p, i64 %i
  %x = load float, ptr %a
  %y = fmul float %x, 3.25
  store float %y, ptr %a
  %j = add i64 %i, 1
  %c = icmp slt i64 %j, %n
  br i1 %c, label %loop, label %out
out:
  %q = call ptr @memcpy(ptr %p, ptr %p, i64 %n)
  ret ptr null
}
define void @two(ptr %p) {
  store i32 5, ptr %p
  ret void
}
"""


@pytest.mark.skipif(not shutil.which("llc"), reason="makes object files of other systems with llc")
@pytest.mark.parametrize(
    ("triple", "machine"),
    [
        ("x86_64-unknown-linux-gnu", "x86-64"),
        ("aarch64-unknown-linux-gnu", "arm64"),
        ("x86_64-apple-macosx", "x86-64"),
        ("arm64-apple-macosx", "arm64"),
        ("x86_64-pc-windows-msvc", "x86-64"),
        ("aarch64-pc-windows-msvc", "arm64"),
    ],
)
def test_object_files_of_all_systems_are_read(triple: str, machine: str, tmp_path: Path) -> None:
    (tmp_path / "k.ll").write_text(SOURCE)
    command = ["llc", "-O2", "-filetype=obj", f"-mtriple={triple}", "k.ll", "-o", "k.o"]
    if subprocess.run(command, cwd=tmp_path, capture_output=True).returncode:
        subprocess.run([*command, "-opaque-pointers"], cwd=tmp_path, check=True, capture_output=True)
    first, second = functions_of((tmp_path / "k.o").read_bytes())
    assert (first.name, first.machine, second.name) == ("kern", machine, "two")
    found = disassembled(first)
    assert [one.calls for one in found.instructions if one.calls] == ["memcpy"]
    (loop,) = loops_of([block.ways for block in found.blocks])
    inside = [one.mnemonic for block in loop.blocks for one in found.blocks[block].instructions]
    assert any(one.startswith(("mulss", "fmul")) for one in inside)
    assert not any(one.unknown for one in found.instructions)


@pytest.mark.parametrize(
    "content", [b"", b"no object", b"\x7fELF", b"\x7fELF\x02\x01\x01" + bytes(90), b"\xcf\xfa\xed\xfe" + bytes(20)]
)
def test_what_is_no_object_file_is_refused_or_empty(content: bytes) -> None:
    try:
        assert functions_of(content) == []
    except ValueError as error:
        assert str(error)


@pytest.mark.skipif(not ELF, reason="ELF")
def test_cut_object_files_end_nothing() -> None:
    (content,) = objects_of(code_of("selu"))
    for length in range(0, len(content), 97):
        try:
            for function in functions_of(content[:length]):
                disassembled(function)
        except ValueError as error:
            assert str(error)


# --- kernels and lines ------------------------------------------------------------------------------------------------


def shape_of(name: str, instructions: dict[str, Any], computations: dict[str, Any]) -> str:
    """What a fusion computes, without the names in it."""
    lines = []
    for called in instructions[name].calls:
        numbers: dict[str, str] = {}
        for one in computations[called].instructions:
            numbers[one.name] = f"#{len(numbers)}"
            lines.append(
                (one.opcode, one.type, [numbers[o] for o in one.operands], re.sub(r"%[\w.\-]+", "%", one.attributes))
            )
    return repr((instructions[name].type, instructions[name].kind, lines))


@pytest.mark.parametrize("name", NAMES)
def test_kernels_run_the_function_of_their_name_or_of_an_equal_kernel(name: str) -> None:
    after = hlo_module.computations(hlo_module.optimized(row_of(name).entry.executable))
    instructions = {i.name: i for c in after for i in c.instructions}
    computations = {c.name: c for c in after}
    linked = [kernel for kernel in document_of(name)["kernels"] if kernel["function"] is not None]
    assert linked
    for kernel in linked:
        if kernel["function"] != kernel["name"]:
            names = kernel["name"], kernel["function"]
            one, other = (shape_of(each, instructions, computations) for each in names)
            assert one == other
    assert {kernel["name"] for kernel in document_of(name)["kernels"]} <= set(instructions)


def test_loops_are_not_counted_as_kernels() -> None:
    compiled = observe.compilation_document(row_of("scanned"))
    kernels = compiled["fusion"]["summary"]["kernels"]
    assert len(compiled["fusion"]["kernels"]) > kernels
    assert re.search(rf" of {kernels} kernels", document_of("scanned")["sentence"])


def test_equal_kernels_share_code() -> None:
    document = document_of("shared")
    several = [one for one in document["functions"] if len(one["kernels"]) == 2]
    assert several, document["kernels"]
    assert "some share one" in document["sentence"]
    lines = {document["positions"][at]["line"] for at in several[0]["lines"]}
    first = shared.__code__.co_firstlineno
    assert lines == {first + 1, first + 2}


@pytest.mark.parametrize("name", NAMES)
def test_lines_lead_to_functions_and_back(name: str) -> None:
    document, fusion = document_of(name), observe.compilation_document(row_of(name))["fusion"]
    wanted = {k["name"]: {(p["file"], p["line"]) for p in k["positions"]} for k in fusion["kernels"]}
    place = lambda at: (document["positions"][at]["file"], document["positions"][at]["line"])
    assert {k["name"]: {place(at) for at in k["lines"]} for k in document["kernels"]} == wanted
    for one in document["functions"]:
        kernels = [wanted[kernel] for kernel in one["kernels"] if kernel in wanted]
        assert {place(at) for at in one["lines"]} == set().union(*kernels)
        if one["role"] == "kernel":
            assert set(one["kernels"]) == {k["name"] for k in document["kernels"] if k["function"] == one["name"]}


@pytest.mark.parametrize(
    ("name", "opcode", "said"),
    [
        ("selu", "dot", "YNNPACK|Eigen"),  # by the release
        ("scanned", "while", "repeats the kernels"),
        ("factored", "custom-call", "lapack_spotrf"),
        ("convolved", "convolution", "Eigen"),
        ("ordered", "sort", "only the comparison"),
        ("called_back", "custom-call", "Python"),
    ],
)
def test_kernels_without_code_say_why(name: str, opcode: str, said: str) -> None:
    fusion = observe.compilation_document(row_of(name))["fusion"]
    notes = {kernel["name"]: kernel["note"] for kernel in document_of(name)["kernels"] if kernel["function"] is None}
    found = [
        notes[k["name"]]
        for k in fusion["kernels"]
        if k["name"] in notes and opcode in (k["opcode"], *(m["opcode"] for m in k["members"]))
    ]
    assert any(re.search(said, note) for note in found), (found, notes)
    assert all(notes.values())


def doubled_until(x):
    return lax.while_loop(lambda c: c[1].sum() < 1e3, lambda c: (c[0] + 1, c[1] * 1.1), (0, x))


@tuned
def test_kernels_of_a_loop_that_runs_in_one_piece_have_its_function() -> None:
    jx.block_until_ready(jx.jit(doubled_until)(jnp.ones(100)))
    row = next(r for r in reversed(list(observe.ledger())) if r.function == "doubled_until" and r.entry is not None)
    document = machine_document(room.code_of(row))
    validate(document)
    (one,) = document["functions"]
    assert one["role"] == "kernel" and len(one["kernels"]) > 1 and one["lines"]
    notes = {kernel["note"] for kernel in document["kernels"] if kernel["function"] == one["name"]}
    assert notes == {"XLA runs the small loop, or call, that this is in as one function."}


def test_programs_from_disk_are_read_by_compiling_them_again() -> None:
    executable = row_of("shared").entry.executable
    known = parts_of(executable)
    source = room.Source.of(row_of("shared").entry)
    loaded = Executable.deserialize(executable.serialize(), executable.outputs, executable.device)
    parts, notes = room._parts(source._replace(executable=loaded))
    assert parts is not None and sorted(parts.objects) == sorted(known.objects) and parts.steps == known.steps
    assert "loaded from disk" in notes[0]
    assert room._parts(source) == (known, [])


def test_the_comparator_of_a_sort_is_known() -> None:
    document, code = document_of("ordered"), code_of("ordered")
    assert code.parts is None  # XLA cannot write down a program that sorts
    assert any("compiling it again" in note for note in document["notes"])
    (comparator,) = [one for one in document["functions"] if one["role"] == "comparator"]
    instructions = {i.name: i for c in code.computations for i in c.instructions}
    assert [instructions[kernel].opcode for kernel in comparator["kernels"]] == ["sort"]
    assert comparator["name"] in instructions[comparator["kernels"][0]].calls
    values = document["modules"][comparator["module"]]["values"]
    assert values and set(values) <= set(instructions)


def test_without_the_executables_own_word_equal_kernels_are_unknown() -> None:
    code = code_of("shared")
    written = [file._replace(content=file.content) for file in code.files]
    again = read(Code(code.title, code.kernels, code.runs, code.computations, None, written))
    document = machine_document(again)
    known = {kernel["name"]: kernel["function"] for kernel in document_of("shared")["kernels"]}
    for kernel in document["kernels"]:
        assert kernel["function"] in (None, known[kernel["name"]])
        if kernel["function"] is None and known[kernel["name"]] is not None:
            assert kernel["note"].startswith("Unknown")
    assert "the function is unknown" in document["sentence"]


# --- loops and instructions -------------------------------------------------------------------------------------------


def has_avx() -> bool:
    path = Path("/proc/cpuinfo")
    return path.exists() and " avx2" in path.read_text()


@pytest.mark.skipif(not (has_avx() or platform.machine() in ("arm64", "aarch64")), reason="needs AVX2 or arm64")
def test_the_loop_of_the_selu_layer_is_found_with_its_vectors() -> None:
    document = document_of("selu")
    (one,) = document["functions"]
    hot = one["loops"][one["hot"]]
    code = "\n".join(one["blocks"][block]["code"] for block in hot["blocks"])
    assert re.search(r"\t(vmulps|fmul)\t", code) and re.search(r"\t(vfn?madd\w*ps|fmla)\t", code)
    assert hot["mix"]["bits"] >= (256 if X86 else 128)
    assert hot["mix"]["lanes"] == f"{hot['mix']['bits'] // 32} × f32"
    counted = hot["mix"]["counts"]
    assert counted["fused multiply-add"] == len(re.findall(r"\t(?:vfn?m(?:add|sub)\w*|fml[as])\t", code))
    assert sum(counted.values()) == hot["mix"]["total"] == code.count("\n") + len(hot["blocks"])
    assert {document["positions"][at]["line"] - selu.__code__.co_firstlineno for at in one["lines"]} == {1, 2}


@pytest.mark.parametrize("name", NAMES)
def test_blocks_hold_all_instructions_and_lead_where_they_jump(name: str) -> None:
    for one in document_of(name)["functions"]:
        rows = [line.split("\t") for block in one["blocks"] for line in block["code"].split("\n")]
        assert len(rows) == one["mix"]["total"] == sum(one["mix"]["counts"].values())
        starts = [int(block["code"].split("\t", 1)[0], 16) for block in one["blocks"]]
        assert starts == sorted(starts)
        for block in one["blocks"]:
            last = block["code"].split("\n")[-1].split("\t")
            if last[3].startswith("to block"):
                number = int(last[3].split()[-1])
                assert number in block["ways"] and starts[number] == int(last[2].lstrip("#"), 16)
        for loop in one["loops"]:
            assert any(loop["header"] in one["blocks"][block]["ways"] for block in loop["blocks"])


graphs = st.integers(1, 8).flatmap(
    lambda n: st.lists(st.lists(st.integers(0, n - 1), max_size=3, unique=True), min_size=n, max_size=n)
)


def reached(ways: list[list[int]], start: int, without: int | None = None) -> set[int]:
    found, waiting = ({start}, [start]) if start != without else (set(), [])
    while waiting:
        for other in ways[waiting.pop()]:
            if other not in found and other != without:
                found.add(other)
                waiting.append(other)
    return found


@given(graphs)
def test_loops_are_those_of_the_definition(ways: list[list[int]]) -> None:
    """A block dominates another if no way from the first block leads there without it; each edge to a dominator is a way back."""
    alive = reached(ways, 0)
    back = {(b, h) for b in alive for h in ways[b] if h == b or b not in reached(ways, 0, without=h)}
    wanted: dict[int, set[int]] = {}
    for block, header in back:
        inside = {b for b in alive if b != header and block in reached(ways, b, without=header)}
        wanted.setdefault(header, {header}).update(inside)
    loops = loops_of(ways)
    assert {loop.header: set(loop.blocks) for loop in loops} == wanted
    depths = depths_of(len(ways), loops)
    assert depths == [sum(block in blocks for blocks in wanted.values()) for block in range(len(ways))]


def test_loops_in_llvms_text() -> None:
    text = SOURCE.strip()
    lines = text.split("\n")
    assert [(lines[line], depth) for line, depth in nesting_of(text)][1:] == [("loop:", 1), ("out:", 0)]


@pytest.mark.parametrize("name", NAMES)
def test_llvms_ir_holds_the_function_before_and_after(name: str) -> None:
    document = document_of(name)
    for one in document["functions"]:
        module = document["modules"][one["module"]]
        for text in (module["before"]["text"], module["after"]["text"]):
            assert re.search(rf'^define [^\n]*@"?{re.escape(one["name"])}"?\(', text, re.MULTILINE)
    notes = [note for note in document["notes"] if "other object files" in note]
    assert not notes  # what is compiled again is what runs, byte for byte


def test_texts_have_everything() -> None:
    code = code_of("selu")
    (one,) = code.functions
    text = assembly_text(code)
    assert text.startswith(f"{one.function.name}:  ; run by {one.function.name}\nblock 0:")
    rows = [line for line in text.split("\n") if line.startswith("  ")]
    assert len(rows) == len(list(one.instructions))
    assert "fmul float" in llvm_text(code, before=True) and " x float>" in llvm_text(code)


# --- bounds -----------------------------------------------------------------------------------------------------------


def test_documents_stay_small_and_one_function_can_be_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "TEXTS", 20_000)
    code = code_of("scanned")
    document = machine_document(code)
    validate(document)
    left_out = [one["name"] for one in document["functions"] if one["blocks"] is None]
    assert left_out
    again = machine_document(code, left_out[-1])
    validate(again)
    assert function_of(again, left_out[-1])["blocks"]
    assert [one["name"] for one in again["functions"]] == [one["name"] for one in document["functions"]]
    with pytest.raises(ValueError, match="no function nothing"):
        machine_document(code, "nothing")


def test_one_very_long_function_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "LONGEST", 3_000)
    document = machine_document(code_of("selu"))
    validate(document)
    (one,), (module,) = document["functions"], document["modules"]
    kept = sum(block["code"].count("\n") + 1 for block in one["blocks"] if block["code"])
    assert one["left_out"] > 0 and kept + one["left_out"] == one["mix"]["total"]
    assert sum(len(block["code"]) for block in one["blocks"]) <= 3_000
    whole = machine_of_selu_text()
    assert len(module["after"]["text"]) <= 3_000 and module["after"]["text"].endswith("\n")
    assert module["after"]["text"].count("\n") + module["after"]["left_out"] == whole.count("\n")


def machine_of_selu_text() -> str:
    (module,) = code_of("selu").modules
    return module.after


def test_missing_files_are_said() -> None:
    code = code_of("selu")
    bare = machine_document(read(Code("selu", code.kernels, code.runs, code.computations, code.parts, [])))
    validate(bare)
    assert "XLA wrote no LLVM IR for this program." in bare["notes"]
    assert bare["functions"][0]["module"] is None and bare["functions"][0]["blocks"]
    nothing = machine_document(read(Code("selu", code.kernels, code.runs, code.computations, None, [])))
    validate(nothing)
    assert nothing["functions"] == [] and any("No machine code" in note for note in nothing["notes"])
    assert all(kernel["function"] is None and kernel["note"] for kernel in nothing["kernels"])


class Serialized:
    def __init__(self, data: bytes) -> None:
        self.raw = self.client = self
        self.serialize = lambda: data
        self.serialize_executable = lambda _: data


@given(st.binary(max_size=200))
def test_another_form_of_executables_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError):
        parts_of(Serialized(data))


@pytest.mark.skipif(not ELF, reason="ELF")
def test_damaged_executables_are_refused_or_read_in_part() -> None:
    data = row_of("selu").entry.executable.raw.serialize()
    for length in range(0, len(data), 501):
        with pytest.raises(ValueError):
            parts_of(Serialized(data[:length]))


def test_the_instrument_answers_for_a_row_and_costs_once() -> None:
    row = row_of("softmax")
    document = observe.look(row, "machine")
    validate(document)
    named = document["functions"][-1]["name"]
    assert function_of(observe.look(row, "machine", function=named), named)["blocks"]
    assert document["cost"]["origin"] == "measured" and document["cost"]["value"] > 0
    with pytest.raises(ValueError):
        observe.look(row, "machine", function="no such function")


def test_a_program_that_is_gone_is_said() -> None:
    row = (
        next(row for row in observe.ledger() if row.entry is None)
        if any(r.entry is None for r in observe.ledger())
        else None
    )
    if row is None:
        row = observe.Row(0, "lost", None, None)
    with pytest.raises(Unavailable, match="no longer kept"):
        room.code_of(row)


@pytest.mark.full
@pytest.mark.parametrize("name", ["transformer", "lstm", "resnet", "unrolled"])
def test_the_four_programs(name: str) -> None:
    from importlib import import_module

    program = import_module(f"tests.programs.{name}")
    code = room.code_of(rows.row_of(program.program, *program.arguments()))
    document = machine_document(code)
    validate(document)
    kept = [text for one in document["modules"] for text in (one["before"], one["after"]) if text]
    size = sum(len(text["text"]) for text in kept) + sum(
        len(b["code"]) for one in document["functions"] for b in one["blocks"] or ()
    )
    assert 0 < size <= 1_500_000
    assert not [kernel for kernel in document["kernels"] if kernel["function"] is None and not kernel["note"]]
    assert not [one for one in document["functions"] if not one["kernels"]]
    assert not [one for one in document["functions"] if one["undecoded"]]
    assert document["functions"][0]["blocks"]


def test_the_readers_are_loaded_when_code_is_looked_at() -> None:
    code = (
        "import sys, jitscope, jitscope_kernel.inspection, jitscope_scope.observe.machine; "
        "assert not {'lief', 'capstone'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
