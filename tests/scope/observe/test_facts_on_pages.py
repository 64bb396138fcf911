"""What a reader sees on the page of a compiled program, against XLA's own text and Python's own frames. The page is read as HTML: nothing
here knows of documents."""

from __future__ import annotations

import linecache
import re
from collections import Counter, defaultdict
from pathlib import PurePath

import pytest

from tests.scope.fact_sheets import PROGRAMS, every, made
from tests.scope.observe.test_facts import equations_in
from tests.scope.page_of_facts import lines_in
from tests.scope.xla_text import Program


@pytest.fixture(scope="module")
def facts(request):
    """Made once for each program, whose tests run one after the other."""
    found = made(request.param)
    return Seen(request.param, found)


class Seen:
    def __init__(self, name, facts):
        self.facts = facts
        self.page = facts.page
        self.xla = Program(facts.xla)
        self.file = PROGRAMS[name].fun.__code__.co_filename
        self.rows = self.page.kernels()
        self.kernels = [row for row in self.rows if not row.called.startswith("loop")]
        self.loops = [row for row in self.rows if row.called.startswith("loop")]

    def number(self, pattern, text=None):
        """The number in words that the page says, 0 where it does not say it."""
        found = re.search(rf"([\d,]+) {pattern}", self.page.headline if text is None else text)
        return int(found[1].replace(",", "")) if found else 0


@every
def test_the_headline_says_what_xla_made(facts):
    kernels = list(facts.xla.kernels())
    without_result = len(re.findall(r"^ +debug_\w+", facts.facts.jaxpr, re.MULTILINE))
    assert facts.number("equations?") == sum(equations_in(facts.facts.jaxpr).values()) + without_result
    assert facts.number("kernels?") == len(kernels) == len(facts.kernels)
    assert facts.number("loops?") == len(list(facts.xla.loops())) == len(facts.loops)
    for words, inside in (("equations?", "Graph"), ("kernels?", "Fusion")):
        assert facts.number(words, facts.page.told(inside)) == facts.number(words)
    sizes = [sum(facts.xla.members(line).values()) for line in kernels]
    fused = sorted(
        int(row.what.split()[2].replace(",", "")) for row in facts.kernels if row.what.startswith("fusion of ")
    )
    assert facts.number("fusions?") == len(fused) and not Counter(fused) - Counter(sizes)
    said = re.search(r"fusions? of ([\d,]+)(?: to ([\d,]+))?", facts.page.headline)
    if said:
        assert [int(n.replace(",", "")) for n in said.groups() if n] == [fused[0], fused[-1]][
            -len([*filter(None, said.groups())]) :
        ]


@every
def test_each_row_is_a_kernel_of_xlas_text(facts):
    lines = {line.name: line for line in facts.xla.kernels()}
    lines |= {line.name: line for line, _ in facts.xla.loops()}
    for row in facts.rows:
        line = lines[row.name.split("/")[-1].rstrip("'")]
        kind, gives = re.sub(r"\{[^}]*\}|\s|/\*.*?\*/", "", line.type), re.sub(r"\s", "", row.gives)
        shown, left = re.fullmatch(r"(.*?)(?:…(\d+)more\))?", gives).groups()
        assert kind.startswith(shown) and kind.count("[") == gives.count("[") + int(left or 0), row
        if line.opcode != "while":
            inside = facts.xla.members(line)
            computing = {opcode: n for opcode, n in inside.items() if opcode != "bitcast"}
            in_brief = {f"fusion of {sum(inside.values()):,}": 1}  # where the page has no room for more
            assert row.members in (dict(inside), computing, in_brief), (row, inside)


@every
def test_loops_say_how_often_they_repeat_how_many_kernels(facts):
    said = Counter(
        (int(found[1]), int(found[2].replace(",", "")) if found[2] else None)
        for row in facts.loops
        if (found := re.search(r"Repeats the (\d+) kernels? in it(?: ([\d,]+) times?)?", row.note))
    )
    own = Counter((count, line.trips) for line, count in facts.xla.loops())
    assert not said - own and set(said) == set(own)  # what was noted once is not noted again
    if any(n is None for _, n in own):
        assert any("not known" in row.note for row in facts.loops)
    known = [row.note for row in facts.loops if re.search(r"in it [\d,]+ times?", row.note)]
    assert all(re.search(r"times?, its condition once more\.", note) for note in known)


_MAKERS = {
    "sine": "sin|exp|cos",
    "cosine": "cos|exp|sin",
    "tanh": "tanh|logistic",
    "dot": "dot_general|conv.*",
    "sort": "sort|top_k|argsort",
    "log": "log|.*gamma|erf_inv",
    "log-plus-one": "log1p|erf_inv",
    "fft": "fft",
    "convolution": "conv.*|dot_general",
    "gather": "gather|scatter-add",
    "scatter": "scatter.*|gather",
    "dynamic-update-slice": "scatter.*|dynamic_update_slice|scan|while|dynamic_slice|gather|.*",
    "cholesky": "cholesky",
    "reduce-window": "reduce_window.*|cum.*|reduce_.*|broadcast_in_dim",
    "exponential": "exp.*|logistic",
    "power": "pow|integer_pow",
}  # fmt: skip


@every
def test_lines_of_a_kernel_have_what_it_computes(facts):
    """Every line that a row names ran an equation, and one of them ran an equation that makes what is in the kernel."""
    ran = defaultdict(set)
    for found in facts.facts.recorded:
        ran[PurePath(found.file).name, found.line].add(found.primitive)
    for row in facts.kernels:
        places = {(where or PurePath(facts.file).name, n) for where, ns in lines_in(row.place).items() for n in ns}
        assert places or row.place in ("added by XLA", "no known line"), row
        assert all(ran[place] for place in places), row
        primitives = set().union(*(ran[place] for place in places))
        for opcode in row.members.keys() & _MAKERS.keys() if places else ():
            assert any(re.fullmatch(_MAKERS[opcode], primitive) for primitive in primitives), (row, primitives)


@every
def test_products_and_routines_know_their_lines(facts):
    for row in facts.kernels:
        if row.what.endswith("(library call)"):
            assert lines_in(row.place), row


@every
def test_source_is_what_stands_in_the_files(facts):
    ran = defaultdict(set)
    for found in facts.facts.recorded:
        ran[found.line].add(found.function)
    marked = 0
    for name, lines in facts.page.functions():
        files = {found.file for found in facts.facts.recorded} | {facts.file}
        first, code, _ = lines[0]
        assert any(linecache.getline(file, first).rstrip() == code.rstrip() for file in files), name
        (file, *_) = [file for file in files if linecache.getline(file, first).rstrip() == code.rstrip()]
        for number, code, is_marked in lines:
            assert linecache.getline(file, number).rstrip() == code.rstrip()
            marked += is_marked
            assert not is_marked or ran[number], (name, number)
    assert marked or not facts.facts.recorded or not list(facts.page.functions())
    assert sum(facts.page.counts_of_functions()) <= facts.number("equations?")


@every
def test_the_picture_says_what_the_program_takes_and_gives(facts):
    sizes = re.search(r"([\d,]+) equations?, ([\d,]+) inputs?, ([\d,]+) outputs?", facts.page.panes["Graph"].text)
    main = re.split(r"^(?=let \w+ = |\{ lambda)", facts.facts.jaxpr, flags=re.MULTILINE)[-1]
    taken = re.match(r"\{ lambda ([^;]*); (.*?)\. let", main, re.DOTALL)
    given = re.search(r"in \(([^()]*)\) \}\s*$", main)[1]
    equations, inputs, outputs = (int(n.replace(",", "")) for n in sizes.groups())
    assert equations == facts.number("equations?")
    assert inputs == len(re.findall(r"\w+:", taken[2]))
    assert outputs == len([part for part in given.split(",") if part.strip()])


@every
def test_work_is_what_the_kernels_do_as_often_as_they_run(facts):
    cost = {name: facts.facts.document["cost"][name]["value"] for name in ("flops", "bytes")}
    work, moved = facts.xla.work(), facts.xla.moved()
    said = facts.page.panes["Timing"].text
    assert ("arithmetic≈" in said) == (work is not None) and ("moved≈" in said) == (moved is not None)
    if work is not None:
        assert work[0] * 0.999 <= cost["flops"] <= work[1] * 1.001
    else:
        assert re.search(r"arithmeticunknown: \w", said)
    if moved is not None:  # slices of something read whole by others count besides
        assert cost["bytes"] <= 1.25 * moved
