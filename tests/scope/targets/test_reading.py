"""Texts of XLA's compiler for GPUs (jaxlib 0.10.2, H100), taken apart."""

from __future__ import annotations

import json
import sqlite3
import struct
import zipfile
from pathlib import Path

import pytest

from jitscope.xla.dumps import DumpFile
from jitscope.xla.hlo_module import parse
from jitscope_scope.observe.cost import Work
from jitscope_scope.targets.chips import CHIPS
from jitscope_scope.targets.decisions import SLOWER, Apart, decisions_of, labels_of, size_before
from jitscope_scope.targets.dumps import llvm_of, ptx_of, thunks_of
from jitscope_scope.targets.models import exchange, roofline
from jitscope_scope.targets.resources import Resources, resources_of
from jitscope_scope.targets.riegeli import records
from jitscope_scope.targets.schedule import steps_of
from jitscope_scope.targets.snappy import block


LABELS = [
    "About to fuse |tanh.1.0| into |multiply.1.0| inside PriorityFusion",
    "Fused |tanh.1.0| into |fusion.1| inside PriorityFusion",
    "Cannot fuse |fusion.1| into |fusion.2| using Triton (will try fallback): triton heroless fusion is not enabled",
    "Not considering fusion of producer |fusion.1| into consumer |fusion.2| due to: will execute slower if fused",
]
HLO = """HloModule m

ENTRY main {
  x = f32[8]{0} parameter(0)
  tanh.1.0 = f32[8]{0} tanh(x), metadata={op_name="e0/tanh"}
  multiply.1.0 = f32[8]{0} multiply(tanh.1.0, tanh.1.0), metadata={op_name="e1/mul"}
  ROOT exponential.1.0 = f32[8]{0} exponential(multiply.1.0), metadata={op_name="e2/exp"}
}
"""
DUMP = """fusion_steps {
  producer_ineligible {
    producer_name: "exponential.1.0"
    reason: "No users to fuse"
  }
}
fusion_steps {
  update_priority {
    producer_name: "fusion.1"
    consumer_names: "exponential.1.0"
    us_fused: 143.5
    us_unfused: 31.25
  }
}
"""


def _page(labels: list[str]) -> bytes:
    frames = json.dumps([["picture", label, ""] for label in labels])
    return f"<script>\nconst frames = {frames};\n</script>".encode()


def _archive(folder: Path, labels: list[str]) -> bytes:
    """As later releases write it: a program of Python that holds an archive with a database."""
    base = sqlite3.connect(folder / "f.db")
    base.execute("create table frames (label text)")
    base.executemany("insert into frames values (?)", [(label,) for label in labels])
    base.commit()
    base.close()
    with zipfile.ZipFile(folder / "f.zip", "w", zipfile.ZIP_DEFLATED) as parts:
        parts.writestr("viewer.html", "<html></html>")
        parts.write(folder / "f.db", "fusions.db")
    return b"#!/usr/bin/env python3\n" + (folder / "f.zip").read_bytes()


@pytest.mark.parametrize("form", ["page", "archive"])
def test_labels_of_both_forms(form: str, tmp_path: Path) -> None:
    content = _page(LABELS) if form == "page" else _archive(tmp_path, LABELS)
    assert labels_of([DumpFile(None, "main.2.module_0001.jit_f._fusion.html", content)]) == LABELS


def test_decisions_have_names_reasons_times_and_equations() -> None:
    files = [
        DumpFile(None, "main.m._fusion.html", _page(LABELS)),
        DumpFile(37, "fusion.after_pipeline-start.before_variadic-op-splitter.txt", HLO.encode()),
        DumpFile(None, "priority_fusion_dump.txt", DUMP.encode()),
    ]
    fused, apart, none, model = decisions_of(files)
    assert (fused.fused, fused.producer, fused.consumer) == (True, "tanh.1.0", "multiply.1.0")
    assert (fused.producer_paths, fused.consumer_paths) == (("e0",), ("e1",))
    assert (apart.fused, apart.reason, apart.producer_paths) == (False, "will execute slower if fused", ("e0", "e1"))
    assert none.reason == "No users to fuse"
    assert (model.reason, model.producer_paths, model.consumer_paths) == (SLOWER, ("e0", "e1"), ("e2",))
    assert (model.fused_seconds, model.apart_seconds) == (pytest.approx(143.5e-6), pytest.approx(31.25e-6))
    found = [fused, apart, none, model]
    assert Apart(found).between(("loop_fusion", {"e0", "e1"}), ("exp_fusion", {"e2"})) == 3
    assert Apart(found, {"fusion.1"}).between(("loop_fusion", {"e0", "e1"}), ("exp_fusion", {"e2"})) is None
    assert Apart(found).between(("exp_fusion", {"e2"}), ("other", {"e9"})) is None


def test_nothing_is_claimed_without_a_record() -> None:
    assert decisions_of([]) == []
    assert decisions_of([DumpFile(None, "main.m._fusion.html", b"<html></html>")]) == []


def test_the_schedule_names_kernels_with_their_threads() -> None:
    metadata = 'thunk_metadata {\n  thunk_info {\n    profile_annotation: "loop.2"\n    thunk_id: 1\n  }\n  thunk_kind: "kCustomKernel"\n}\n'
    sequence = "001: kCustomKernel [source | next=002 (1)] loop_2 grid: [16, 1, 1] threads: [64, 2, 1]  shared_memory: 1024 bytes\n002: kGemm [prev=001 (1) | sink ]\n"
    first, second = thunks_of(
        [
            DumpFile(None, "thunk_metadata.txt", metadata.encode()),
            DumpFile(None, "thunk_sequence.txt", sequence.encode()),
        ]
    )
    assert (first.kernel, first.instruction, first.grid, first.threads, first.shared) == (
        "loop_2",
        "loop.2",
        (16, 1, 1),
        (64, 2, 1),
        1024,
    )
    assert (second.kind, second.kernel, second.shared) == ("kGemm", "", None)


def test_code_is_cut_into_kernels() -> None:
    ptx = ".version 8.8\n.target sm_90a\n\n.visible .entry a(\n)\n{\n\tret;\n}\n.visible .entry b_2(\n)\n{\n\tret;\n}\n"
    found = ptx_of([DumpFile(None, "1.ptx", ptx.encode()), DumpFile(None, "2.ptx", b"")])
    assert list(found) == ["a", "b_2"]
    assert all(text.startswith(".version 8.8") and text.count(".entry") == 1 for text in found.values())
    ir = "declare void @x()\n\ndefine ptx_kernel void @a(ptr %0) #0 {\n  ret void\n}\n\ndefine float @helper() {\n  ret float 0.0\n}\n"
    assert llvm_of([DumpFile(None, "1.ir-with-opt.ll", ir.encode())]) == {
        "a": "define ptx_kernel void @a(ptr %0) #0 {\n  ret void\n}\n"
    }
    assert llvm_of([DumpFile(None, "1.ir-with-opt.ll", ir.encode())], before=True) == {}


def _cubin() -> bytes:
    """An ELF file for CUDA with one kernel of 40 registers, 512 bytes of shared memory and a stack of 24 bytes."""
    names = b"\0.shstrtab\0.strtab\0.symtab\0.nv.info\0.text.k\0.nv.shared.k\0"
    at = lambda name: names.index(b"\0" + name + b"\0") + 1
    strings, symbols = b"\0k\0", bytes(24) + struct.pack("<IBBHQQ", 1, 0, 0, 5, 0, 0)
    info = struct.pack("<BBHIIBBHII", 4, 0x2F, 8, 1, 40, 4, 0x11, 8, 1, 24)
    parts = [
        (b"", 0, b"", 0, 0),
        (b".shstrtab", 3, names, 0, 0),
        (b".strtab", 3, strings, 0, 0),
        (b".symtab", 2, symbols, 2, 0),
    ]
    parts += [
        (b".nv.info", 0x70000000, info, 3, 0),
        (b".text.k", 1, b"code", 3, 0),
        (b".nv.shared.k", 8, bytes(512), 0, 5),
    ]
    body, table = b"", b""
    for name, kind, content, link, extra in parts:
        offset = 64 + len(body)
        table += struct.pack(
            "<IIQQQQIIQQ", at(name) if name else 0, kind, 0, 0, offset, len(content), link, extra, 1, 0
        )
        body += b"" if kind == 8 else content
    head = (
        b"\x7fELF\x02\x01\x01\x33"
        + bytes(8)
        + struct.pack("<HHIQQQIHHHHHH", 2, 190, 1, 0, 0, 64 + len(body), 0, 64, 0, 0, 64, len(parts), 1)
    )
    return head + body + table


def test_registers_shared_memory_and_stack_come_from_machine_code() -> None:
    assert resources_of(b"before it " + _cubin() + b" after it") == {"k": Resources(40, 512, 24)}
    packed = (
        bytes([0x80 | len(_cubin()) & 127, len(_cubin()) >> 7, 61 << 2, *(len(_cubin()) - 1).to_bytes(2, "little")])
        + _cubin()
    )
    assert resources_of(b"before it " + packed + b" after it") == {"k": Resources(40, 512, 24)}
    assert resources_of(_cubin()[:300]) == {}
    assert resources_of(b"\x7fELF\x02\x01") == {}


def test_the_roofline_is_the_larger_of_both() -> None:
    chip = CHIPS["h100"]
    memory = roofline(Work(1e6, 3.35232e9), chip, "f32")
    assert (memory.bound, memory.seconds) == ("memory", pytest.approx(1e-3))
    arithmetic = roofline(Work(67e12, 1.0), chip, "f32")
    assert (arithmetic.bound, arithmetic.seconds) == ("arithmetic", pytest.approx(1.0))
    assert roofline(Work(None, None, "a loop"), chip, "f32") == (None, "unknown", None, None, "a loop")


def test_exchanges_are_rings_over_a_link() -> None:
    chip = CHIPS["v5e"]
    assert exchange("all-reduce", 2e11, 4, chip) == pytest.approx(1.5)
    assert exchange("all-gather", 2e11, 4, chip) == pytest.approx(0.75)
    assert exchange("all-gather", 2e11, 4, CHIPS["l4"]) is None


def test_packed_bytes_are_unpacked() -> None:
    """A literal, a copy that reads what it writes (300 times "ab" from two letters), and one further back."""
    size, copies = 2 + 298 + 4, b"".join(bytes([(n - 1) << 2 | 2, 2, 0]) for n in (64, 64, 64, 64, 42))
    packed = bytes([0x80 | size & 127, size >> 7, (2 - 1) << 2]) + b"ab" + copies + bytes([0 << 2 | 1, 4])
    assert block(packed, 0) == b"ab" * 152
    assert block(packed[:-1] + bytes([0]), 0) is None


def _packed(data: bytes) -> bytes:
    """A block of Snappy with one literal."""
    return _number(len(data)) + bytes([61 << 2]) + (len(data) - 1).to_bytes(2, "little") + data


def _number(value: int) -> bytes:
    return bytes([value & 127]) if value < 128 else bytes([value & 127 | 128]) + _number(value >> 7)


def _chunk(kind: str, content: bytes, records: int = 0) -> bytes:
    return bytes(8) + struct.pack("<QQQQ", len(content), 0, ord(kind) | records << 8, 0) + content


def test_records_are_read_through_the_headers_of_blocks() -> None:
    """The first block begins with the signature; executables longer than 64 KiB have other headers between their bytes. What is made by the
    compiler stands between a program's names and other bytes of it."""
    code = [bytes(range(256)) * 200, bytes(reversed(range(256))) * 250]
    sizes = _number(1) + _packed(b"\x00")
    chunks = [_chunk("r", b"s" + _number(len(sizes)) + sizes + _number(len(one)) + _packed(one), 1) for one in code]
    unpacked = _chunk("r", b"\x00" + bytes(8), 1)
    written = b"".join([_chunk("s", b""), chunks[0], unpacked, chunks[1]])
    headers = [bytes.fromhex("83af70d10d884a3f") + bytes(16), b"\xff" * 24]
    size = 65_536 - 24
    pieces = [written[at : at + size] for at in range(0, len(written), size)]
    stored = b"layouts" + b"".join(header + piece for header, piece in zip(headers, pieces, strict=True))
    assert list(records(stored + bytes(range(1, 90)))) == [code[0], bytes(7), code[1]]
    assert list(records(stored[:60_000])) == [code[0], bytes(7)]
    assert list(records(b"no such file")) == []


def test_machine_code_is_found_in_records_within_records() -> None:
    """As executables lie from jaxlib 0.11 on: the inner records in one that is packed, or, from 0.12 on, not packed."""

    def stored(chunk: bytes) -> bytes:
        return bytes.fromhex("83af70d10d884a3f") + bytes(16) + _chunk("s", b"") + chunk

    def packed(data: bytes) -> bytes:
        sizes = _number(1) + _packed(b"\x00")
        return _chunk("r", b"s" + _number(len(sizes)) + sizes + _number(len(data)) + _packed(data), 1)

    inner = stored(packed(_cubin()))
    for outer in (packed(inner), _chunk("r", b"\x00" + _number(1) + b"\x00" + inner, 1)):
        assert resources_of(b"layouts" + stored(outer)) == {"k": Resources(40, 512, 24)}


@pytest.mark.parametrize("before", ["priority-fusion", "variadic-op-splitter"])
def test_the_size_of_the_program_before_fusion_is_known_whatever_pass_comes_first(before: str) -> None:
    text = b"ENTRY main {\n  a = f32[] parameter(0)\n  ROOT b = f32[] add(a, a)\n}"
    files = [
        DumpFile(77, "pre-fusion.after_pipeline-start.before_rename-instructions.txt", b""),
        DumpFile(79, f"fusion.after_pipeline-start.before_{before}.txt", text),
        DumpFile(80, "fusion.after_priority-fusion.before_cse.txt", text * 9),
    ]
    assert size_before(files) == 2
    assert size_before(files[2:]) == 0


SCHEDULED = """HloModule m, is_scheduled=true

body {
  p = (s32[], f32[8]{0}) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  v = f32[8]{0} get-tuple-element(p), index=1
  start = (f32[8]{0}, f32[8]{0}, u32[]) copy-start(v)
  doubled = f32[8]{0} add(v, v)
  next = s32[] add(i, i)
  end = f32[8]{0} copy-done(start)
  sum = f32[8]{0} add(doubled, end)
  ROOT both = (s32[], f32[8]{0}) tuple(next, sum)
}

condition {
  p = (s32[], f32[8]{0}) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  ROOT less = pred[] compare(i, i), direction=LT
}

ENTRY main {
  a = (s32[], f32[8]{0}) parameter(0)
  loop = (s32[], f32[8]{0}) while(a), condition=condition, body=body
  v = f32[8]{0} get-tuple-element(loop), index=1
  begun = f32[8]{0} all-reduce-start(v), backend_config={"operation_queue_id":"1","collective_backend_config":{"is_sync":true}}
  other = f32[8]{0} negate(v), backend_config={"operation_queue_id":"0"}
  whole = f32[8]{0} all-reduce-done(begun)
  ROOT last = f32[8]{0} multiply(other, whole)
}
"""


def test_the_schedule_nests_loops_and_tells_what_goes_on_beside() -> None:
    names = ("loop", "start", "doubled", "next", "end", "sum", "less", "begun", "other", "whole", "last")
    kernels = {
        name: f"loop/{name}" if name in ("start", "doubled", "next", "end", "sum", "less") else name for name in names
    }
    steps = steps_of(SCHEDULED, parse(SCHEDULED), kernels)
    assert [(step["kernel"], step["inside"]) for step in steps] == [
        ("loop", ""),
        ("loop/less", "loop"),
        ("loop/start", "loop"),
        ("loop/doubled", "loop"),
        ("loop/next", "loop"),
        ("loop/sum", "loop"),
        ("begun", ""),
        ("other", ""),
        ("last", ""),
    ]
    told = {step["kernel"]: step for step in steps}
    copied, summed = told["loop/start"], told["begun"]
    assert (copied["ends"], copied["beside"], copied["waits"]) == ("end", ["loop/doubled", "loop/next"], False)
    assert (summed["ends"], summed["beside"], summed["waits"], summed["queue"]) == ("whole", ["other"], True, "1")
    assert not told["other"]["ends"]
    assert steps_of(HLO, parse(HLO), {}) == []
