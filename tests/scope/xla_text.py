"""XLA's own text of an optimised program, read for facts: instructions, how often they run, what they compute and move. None of it is
taken from the readers of the package."""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import NamedTuple


_LINE = re.compile(r"^\s+(?:ROOT )?%?([\w.\-]+) = (\(.*?\)|\S+) ([\w\-]+)\(")
PLUMBING = ("parameter", "tuple", "get-tuple-element", "constant")
_ARRAY = re.compile(r"\b(pred|[a-z]+\d+\w*)\[([\d,]*)\]")


class Line(NamedTuple):
    name: str
    type: str
    opcode: str
    operands: tuple[str, ...]
    rest: str

    def called(self, *roles):
        found = [m for role in roles for m in re.findall(rf"\b{role}=(\{{[^}}]*\}}|%?[\w.\-]+)", self.rest)]
        return [name for m in found for name in re.findall(r"[\w.\-]+", m)]

    @property
    def is_one_function(self):
        """Whether the lowering marked a call to be compiled as one function: a kernel, and what is in it is none."""
        return 'xla_cpu_small_call="true"' in self.rest and 'inlineable="false"' in self.rest

    @property
    def trips(self):
        found = re.search(r'known_trip_count"?:\{"?n"?:"?(\d+)', self.rest)
        return int(found[1]) if found else None


class Program:
    def __init__(self, text):
        self.computations, self.entry = {}, ""
        name = ""
        for line in text.splitlines():
            start = re.match(r"^(ENTRY )?%?([\w.\-]+) .*\{$", line)
            line = re.sub(r"/\*.*?\*/", "", line)
            if start:
                name = start[2]
                self.computations[name] = {}
                self.entry = name if start[1] else self.entry
            elif name and (found := _LINE.match(line)):
                rest = line[found.end() :]
                given, _, after = _closed(rest)
                operands = tuple(re.findall(r"%?([\w.\-]+)(?=,|$)", re.sub(r"\S+\[[\d,]*\](?:\{[^}]*\})? ", "", given)))
                self.computations[name][found[1]] = Line(found[1], found[2], found[3], operands, after)

    def lines(self):
        """All instructions."""
        return (line for lines in self.computations.values() for line in lines.values())

    def inside(self, line):
        """The computations that run as part of an instruction, with how often; None where nobody knows."""
        if line.opcode == "while":
            n = line.trips
            yield from ((name, n) for name in line.called("body"))
            yield from ((name, None if n is None else n + 1) for name in line.called("condition"))
        elif line.opcode == "call" and not line.is_one_function:
            yield from ((name, 1) for name in line.called("to_apply"))
        elif line.opcode == "conditional":
            roles = ("true_computation", "false_computation", "branch_computations")
            yield from ((name, 1) for name in line.called(*roles))

    def kernels(self, computation=None):
        """Instructions that run as kernels."""
        for line in self.computations[computation or self.entry].values():
            for name, _ in self.inside(line):
                yield from self.kernels(name)
            if self.is_kernel(line):
                yield line

    def is_kernel(self, line):
        """A call in which nothing is computed is none."""
        if line.is_one_function:
            return bool(self.members(line))
        return line.opcode not in (*PLUMBING, "bitcast", "while", "call", "conditional")

    def loops(self, computation=None):
        """The while instructions that are run, each with the number of kernels in it."""
        for line in self.computations[computation or self.entry].values():
            names = [name for name, _ in self.inside(line)]
            if line.opcode == "while":
                yield line, sum(len(list(self.kernels(name))) for name in names)
            for name in names:
                yield from self.loops(name)

    def members(self, line):
        """The opcodes of what a kernel computes, that of fusions, calls and loops in it included; of a routine it is its name."""
        if line.opcode not in ("fusion", "call", "while"):
            routine = re.search(r'custom_call_target="(\w+)"', line.rest)
            return Counter([routine[1] if routine else line.opcode])
        called = line.called("calls", "to_apply", "condition", "body")
        inside = [inner for name in called for inner in self.computations[name].values()]
        return sum((self.members(inner) for inner in inside if inner.opcode not in PLUMBING), Counter())

    def fused(self, line):
        """The instructions that a fusion calls, without its parameters; or the one instruction."""
        called = line.called("calls")
        inside = self.computations[called[0]].values() if called else [line]
        return [one for one in inside if one.opcode != "parameter"]

    def computes(self, line):
        """Whether a kernel does more than fill, move and count."""
        if line.opcode not in ("fusion", "call"):
            return line.opcode not in _ARRANGES and not re.match(r"(pred|[su]\d+)\[\]", line.type)
        return any(
            self.computes(inner)
            for name in line.called("calls", "to_apply")
            for inner in self.computations[name].values()
            if inner.opcode not in PLUMBING
        )

    def moved(self, computation=None):
        """The most bytes that kernels read and write; None in loops of unknown length."""
        total = 0
        lines = self.computations[computation or self.entry]
        for line in lines.values():
            for name, n in self.inside(line):
                moved = self.moved(name)
                if n is None or moved is None:
                    return None
                total += n * moved
            if self.is_kernel(line):
                total += bytes_in(line.type) + sum(bytes_in(lines[name].type) for name in line.operands)
        return total

    # --- the work ---

    def work(self, computation=None):
        """(least, most) floating-point operations of one run, branches being anything from the cheapest to the dearest; None if a loop
        of it has no known length or a routine is called."""
        least = most = 0
        lines = self.computations[computation or self.entry]
        for line in lines.values():
            found = self._work_of(line, lines)
            if found is None:
                return None
            least, most = least + found[0], most + found[1]
        return least, most

    def _work_of(self, line, lines):
        if line.opcode == "custom-call":  # of LAPACK's, those that take the same time for all values
            known = re.search(r'custom_call_target="lapack_.(getrf|potrf|geqrf|orgqr|ungqr|trsm)_ffi"', line.rest)
            size = sum(elements(lines[name].type) for name in line.operands) + elements(line.type)
            return (1, 4 * size**2) if known else None
        if line.opcode == "conditional":
            found = [self.work(name) for name, _ in self.inside(line)]
            return None if None in found else (min(a for a, _ in found), max(b for _, b in found))
        whole = line.called("calls", "to_apply") if line.opcode == "fusion" or line.is_one_function else ()
        inside = [*self.inside(line), *((name, 1) for name in whole)]
        if inside:
            found = [(self.work(name), n) for name, n in inside]
            if any(work is None or n is None for work, n in found):
                return None
            return sum(work[0] * n for work, n in found), sum(work[1] * n for work, n in found)
        return _arithmetic(line, lines)


def _closed(text):
    """What stands before the parenthesis that closes what was opened before `text`, and what follows it."""
    depth = 1
    for at, letter in enumerate(text):
        depth += (letter in "([{") - (letter in ")]}")
        if not depth:
            return text[:at], ")", text[at + 1 :]
    return text, "", ""


def elements(kind):
    return sum(math.prod(int(n) for n in shape.split(",") if n) for _, shape in _ARRAY.findall(kind))


def bytes_in(kind):
    widths = [(8 if name == "pred" else int(re.search(r"\d+", name)[0]), shape) for name, shape in _ARRAY.findall(kind)]
    return sum(math.prod(int(n) for n in shape.split(",") if n) * width // 8 for width, shape in widths)


_MOVES = {
    *PLUMBING, "bitcast", "bitcast-convert", "broadcast", "reshape", "transpose", "slice", "dynamic-slice",
    "dynamic-update-slice", "concatenate", "copy", "iota", "reverse", "pad", "gather", "after-all", "add-dependency",
    "partition-id", "replica-id", "rng-get-and-update-state",
}  # fmt: skip

_ARRANGES = _MOVES - {"gather", "after-all", "add-dependency", "partition-id", "replica-id", "rng-get-and-update-state"}


def _arithmetic(line, lines):
    size = elements(line.type)
    if line.opcode in _MOVES:
        return 0, size if line.opcode == "bitcast-convert" else 0
    given = [lines[name].type for name in line.operands if name in lines]
    if line.opcode == "dot":
        contracted = [int(n) for n in re.search(r"lhs_contracting_dims=\{([\d,]*)\}", line.rest)[1].split(",") if n]
        shape = [int(n) for n in _ARRAY.search(given[0])[2].split(",") if n]
        work = 2 * size * math.prod(shape[at] for at in contracted)
        return work, 4 * work  # a complex product is several real ones
    if line.opcode == "convolution":  # padding costs nothing
        shape = [int(n) for n in _ARRAY.search(given[1])[2].split(",") if n]
        kernel = re.search(r"dim_labels=\w+_(\w+)->", line.rest)[1]
        return 0, 2 * size * math.prod(shape) // shape[kernel.index("o")]
    if line.opcode == "reduce":
        whole = sum(map(elements, given))
        return whole // 2 - size, 8 * whole  # the values that it starts with are given, too
    if line.opcode in ("reduce-window", "select-and-scatter"):
        window = re.search(r"window=\{size=([\dx]+)", line.rest)
        return 0, 8 * (size + elements(given[0])) * math.prod(map(int, window[1].split("x")))
    if line.opcode in ("scatter", "sort", "fft", "map"):
        whole = sum(map(elements, given)) + size
        return 0, 20 * whole * max(1, math.log2(whole))
    return size, size * (8 if line.type.startswith("c") else 1)
