"""The same fact in every place that shows it: the document, the text, the page, the instruments' documents and their views."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from html import escape as html_escaped

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope_scope import observe
from jitscope_scope.observe.comparing.document import comparison_of
from jitscope_scope.observe.comparing.sides import side_of, side_with
from jitscope_widgets import html, text, validate, words
from jitscope_widgets.grouping import in_full
from jitscope_widgets.quantities import seconds, show
from jitscope_widgets.view import inline
from jitscope_widgets.view.parts import Sentence
from jitscope_widgets.view_data import fusion_of
from jitscope_widgets.views import comparison, memory, recompilations, view_of
from jitscope_widgets.views.profile import wording as profile_view
from jitscope_widgets.views.profile.kernels import alike
from tests.extent import some
from tests.scope.fact_sheets import PROGRAMS, every, made
from tests.scope.page_of_facts import lines_in


@pytest.fixture(scope="module")
def facts(request):
    return made(request.param)


def flat(said):
    return re.sub(r"\s+", " ", said)


def plain(markup):
    """The text of a page, with what may break over lines, and what may not, as it is."""
    kept = re.sub(r'<span class="nw">(.*?)</span>', r"\1", markup.replace("<wbr>", ""))
    return flat(re.sub(r"<[^>]*>", " ", kept))


@every
def test_counts(facts):
    document, page, said = facts.document, facts.page, flat(facts.said)
    fusion, headline = document["fusion"], document["headline"]
    run = [kernel for kernel in fusion["kernels"] if kernel["kind"] != "loop"]
    assert page.headline.startswith(headline) and headline.replace("→", "->") in said
    assert page.told("Graph") == words.plural(document["equations"], "equation")
    assert fusion["summary"]["kernels"] == len(run)
    kernels = words.plural(len(run), "kernel") if run else "no kernel"
    assert (
        page.told("Fusion")
        == f"{words.plural(fusion['summary']['before'], 'operation')} → {words.plural(len(run), 'kernel')}"
    )
    assert fusion["summary"]["sentence"].startswith(
        f"{words.plural(fusion['summary']['before'], 'operation')} → {kernels}"
    )
    kinds = Counter(kernel["kind"] for kernel in run)
    for kind, noun in (("fusion", "fusion"), ("library", "library call"), ("copy", "cop(?:y|ies)")):
        told = re.search(rf"([\d,]+) {noun}", headline)
        if told:
            assert int(told[1].replace(",", "")) == kinds[kind]


@every
def test_seconds(facts):
    timing = facts.document["timing"]
    steps = {stage["name"]: stage["seconds"]["value"] for stage in timing["stages"]}
    page, said = facts.page, flat(facts.said)
    compiling = sum(steps.get(name, 0.0) for name in ("trace", "lower", "compile"))
    made = page.headline.partition(" · ▲ ")[0]  # what another test compiled for other types is told after it
    assert made.endswith(f"compiled in {seconds(compiling)}")
    assert timing["total"]["value"] == pytest.approx(sum(steps.values()))
    assert page.told("Timing") == show(timing["total"])
    for name, value in steps.items():
        assert f"{name} {seconds(value)}" in said
        assert f"{name}{seconds(value)}" in page.panes["Timing"].text


@every
def test_work(facts):
    page = facts.page.panes["Timing"].text
    for name, told in (("flops", "arithmetic"), ("bytes", "moved"), ("memory", "memory")):
        if facts.document["cost"][name]["value"] is not None:
            assert f"{told}{show(facts.document['cost'][name])}" in page


@every
def test_equations_of_lines(facts):
    """Marks say of each line what positions say of each equation."""
    nodes = {n["id"]: n for n in facts.document["graph"]["nodes"]}
    for mark in (facts.document["source"] or {"marks": ()})["marks"]:
        for name in mark["nodes"]:
            if name in nodes and nodes[name]["positions"]:
                assert mark["line"] in {position["line"] for position in nodes[name]["positions"]}, name


@every
def test_lines_of_kernels(facts):
    page = facts.page
    by_name = {kernel["name"]: kernel for kernel in facts.document["fusion"]["kernels"]}
    for row in page.kernels():
        kernel = by_name[row.name]
        read = {n for numbers in lines_in(row.place).values() for n in numbers}
        assert read == {position["line"] for position in kernel["positions"]}, row


# --- instruments ------------------------------------------------------------------------------------------------------

PROFILED = some(PROGRAMS, always="lstm libraries")


@pytest.fixture(scope="module")
def looked(request):
    """The row of a program, its document, and those of instruments."""
    program = PROGRAMS[request.param]
    if program.donate or program.x64:
        pytest.skip("takes over its arguments, or needs a process with x64")
    jx.block_until_ready(program.jit()(*program.args))
    row = next(r for r in reversed(list(observe.ledger())) if r.function == program.fun.__name__ and not r.nested)
    try:
        profile = observe.look(row, "profile", limit=0.2)
    except observe.Unavailable as error:
        pytest.skip(str(error))
    return observe.compilation_document(row), profile


@pytest.mark.parametrize("looked", PROFILED, indirect=True)
def test_a_profile_speaks_of_the_kernels_of_the_fusion_tab(looked):
    document, profile = looked
    assert profile["count"] == document["fusion"]["summary"]["kernels"]
    by_name, counts = {}, Counter()
    for kernel in document["fusion"]["kernels"]:
        word = "loop" if kernel["kind"] == "loop" else "kernel"
        counts[word] += 1
        by_name[kernel["name"]] = f"{word} {counts[word]}", kernel
    for timed in profile["kernels"]:
        called, kernel = by_name[timed["name"]]
        assert (timed["called"], timed["kind"], timed["opcode"], timed["type"], timed["operations"]) == (
            called, kernel["kind"], kernel["opcode"], kernel["type"], len(kernel["members"])
        )  # fmt: skip
        lines = {(p["file"], p["line"]) for p in kernel["positions"]}
        assert {(p["file"], p["line"]) for p in (profile["lines"][at]["position"] for at in timed["lines"])} <= lines
        if timed["share"] is not None and kernel["share"] is not None:
            assert timed["share"] == pytest.approx(kernel["share"], rel=1e-3, abs=1e-9)


@pytest.mark.parametrize("looked", PROFILED, indirect=True)
def test_a_profile_says_the_same_as_text_and_as_a_page(looked):
    document, profile = looked
    said, page = (
        flat(text(profile, width=400)),
        plain(html(profile)),
    )
    with_others = plain(html(document | {"instruments": {"profile": profile}}))
    for sentence in profile_view.sentences(profile):
        assert flat(sentence) in said
    for kernel in profile["kernels"][:12]:
        told = [
            kernel["called"],
            profile_view.what(kernel),
            seconds(kernel["total"]),
            profile_view.timed(kernel),
            profile_view.bound(kernel),
        ]
        for each in filter(None, told):
            assert each.replace("<", "&lt;") in page
    for group in sorted(alike(profile["kernels"]), key=lambda group: -sum(kernel["total"] for kernel in group))[:12]:
        name = group[0]["called"] if len(group) == 1 else f"{profile_view.what(group[0])} × {len(group):,}"
        total = seconds(sum(kernel["total"] for kernel in group))
        assert name in said and total in said
        assert total in with_others or re.search(
            r"Kernels, [^.;]*: left out here", with_others
        )  # a page of limited size


@pytest.mark.parametrize("looked", PROFILED, indirect=True)
def test_each_line_has_one_number_within_its_bounds(looked):
    """Own shares of all lines add up to the kernels that stem from lines; a function has what its lines have."""
    _, profile = looked
    lines = profile["lines"]
    for bounds in [
        *(line["whole"] for line in lines),
        *(line["own"] for line in lines if line["own"]),
        *profile["scopes"],
    ]:
        assert bounds["least"] <= bounds["estimate"] <= bounds["most"]
    told = sum(kernel["share"] for kernel in profile["kernels"] if kernel["share"] is not None and kernel["lines"])
    assert sum(line["own"]["estimate"] for line in lines if line["own"]) == pytest.approx(told, abs=2e-3)
    for at, line in enumerate(lines):
        parts = [
            kernel["share"] * part
            for kernel in profile["kernels"]
            if kernel["share"] is not None
            for place, part in zip(kernel["lines"], kernel["split"], strict=True)
            if place == at
        ]
        assert (line["own"] or {"estimate": 0})["estimate"] == pytest.approx(sum(parts), abs=2e-3)
    for kernel in profile["kernels"]:
        assert not kernel["lines"] or sum(kernel["split"]) == pytest.approx(1, abs=2e-3)
        if "equations" in kernel:
            assert sum(kernel["equations"].values()) == pytest.approx(1, abs=0.02)


@pytest.mark.parametrize("looked", PROFILED, indirect=True)
def test_figures_of_a_kernel_agree_with_each_other(looked):
    """Runs times a run are all runs; a label is true by the figures beside it."""
    _, profile = looked
    dispatch = profile["machine"]["dispatch"]["value"]
    for kernel in profile["kernels"]:
        assert kernel["low"] <= kernel["median"] <= kernel["high"]
        part = profile_view.explained(kernel)
        if kernel["bound"] in ("memory", "arithmetic"):
            assert part >= 0.499 and kernel["bound"] == kernel["nearest"]
        elif kernel["bound"] == "overhead":
            assert kernel["fast"] <= 2.001 * dispatch
        elif kernel["bound"] == "neither":
            assert part < 0.501 and kernel["fast"] > 1.999 * dispatch


# --- memory, and two programs beside each other -----------------------------------------------------------------------------

BESIDE = some(PROGRAMS, always="lstm libraries")
"""Instruments that compile once more."""


@pytest.fixture(scope="module")
def compiled(request):
    """The row of a program and its document."""
    program = PROGRAMS[request.param]
    if program.donate or program.x64:
        pytest.skip("takes over its arguments, or needs a process with x64")
    jx.block_until_ready(program.jit()(*program.args))
    row = next(r for r in reversed(list(observe.ledger())) if r.function == program.fun.__name__ and not r.nested)
    return row, observe.compilation_document(row)


@pytest.mark.parametrize("compiled", BESIDE, indirect=True)
def test_memory_is_what_xla_says_in_every_view(compiled):
    row, document = compiled
    planned = row.entry.executable.memory_stats()
    needed = planned["argument"] + planned["output"] + planned["temp"] - planned["alias"]
    found = observe.look(row, "memory")
    reserved = {name: one["value"] or 0 for name, one in found["reserved"].items()}
    assert document["cost"]["memory"]["value"] == needed
    assert (reserved["argument"], reserved["result"], reserved["aliased"]) == (
        planned["argument"], planned["output"], planned["alias"]
    )  # fmt: skip
    assert reserved["total"] == needed + reserved["constant"]
    alive = [found["buffers"][at]["bytes"] for at in found["peak"]["buffers"]]
    if not found["left_out"]["buffers"] and found["peak"]["count"] == len(alive):
        assert sum(alive) >= found["peak"]["bytes"], "bytes that two values share count once"
    assert found["peak"]["bytes"] == max(map(sum, zip(*(found["curve"][kind] for kind in memory.KINDS))))
    said = flat(text(found, width=400))
    page = plain(html(document | {"instruments": {"memory": found}}))
    for sentence in (memory.headline(found), memory.reserved(found)):
        assert flat(sentence) in said and html_escaped(flat(sentence)) in page
    shown = show(document["cost"]["memory"])
    assert f"memory {shown}" in page


@pytest.mark.parametrize("compiled", BESIDE[:4], indirect=True)
def test_a_comparison_says_of_each_program_what_its_own_view_says(compiled):
    row, document = compiled
    try:
        found = comparison_of(side_of(row), side_with(row, {"xla_backend_optimization_level": 0}), limit=0.01)
    except observe.Unavailable as error:
        pytest.skip(str(error))
    assert {name: found["a"][name]["value"] for name in ("flops", "bytes", "memory")} == {
        name: quantity["value"] for name, quantity in document["cost"].items()
    }
    kernels, equations = found["kernels"], found["equations"]
    assert kernels["common"] + kernels["only_a"] == document["fusion"]["summary"]["kernels"]
    assert equations["common"] + equations["changes"] + equations["only_a"] == document["equations"]
    said, page = flat(text(found, width=400)), plain(html(found))
    for name, one, other, _ in comparison.figures(found):
        assert f"{name} {one} {other}" in said and one in page and other in page
    sentences = [comparison.verdict(found), comparison.results(found)]
    sentences += [
        comparison.common(found[part], noun) for part, noun in (("equations", "equation"), ("kernels", "kernel"))
    ]
    for sentence in sentences:
        assert flat(sentence) in said and html_escaped(flat(sentence)) in page


@pytest.mark.parametrize("compiled", BESIDE[:3], indirect=True)
def test_the_first_sentences_of_panes_have_one_number_for_one_noun(compiled):
    """`879 operations → 317 kernels`: in Fusion, of the passes, in the program's line."""
    row, document = compiled
    panes = [fusion_of(document), *(observe.look(row, which) for which in ("reasons", "passes"))]
    said = {"line": document["headline"]}
    for pane in panes:
        said[pane["kind"]] = inline.words(next(part for part in view_of(pane) if isinstance(part, Sentence)).content)
    found = defaultdict(lambda: defaultdict(list))
    for kind, sentence in said.items():
        for number, noun in re.findall(
            r"(?<!to )(?<!of )(?<![\w.,])([\d,]+) (equation|operation|kernel)s?\b", sentence.split(";")[0]
        ):
            found[noun][number].append(kind)
    assert {"line", "fusion", "passes"} <= {kind for kinds in found["kernel"].values() for kind in kinds}
    assert not {noun: dict(numbers) for noun, numbers in found.items() if len(numbers) > 1}


# --- recompilations -------------------------------------------------------------------------------------------------------


def wave(x, y):
    return jnp.sin(x).sum() + y


AGAIN = {
    "sizes": ([(np.ones(n, np.float32), 1.0) for n in (2, 3, 4, 5, 6)], {4}),
    "dtypes and sizes": (
        [(np.ones(n, np.float32), y) for n, y in ((2, 1.0), (3, 1.0), (4, 1.0), (4, 1), (4, 2))],
        {2, 1},
    ),
    "nothing": ([(np.ones(7, np.float32), 1.0)] * 3, set()),
}
"""Calls in one cell, and how many recompilations each cause has by the keys of the calls."""


@pytest.mark.parametrize("calls", AGAIN)
def test_recompilations_are_counted_once(calls):
    given, wanted = AGAIN[calls]
    jx.clear_caches()
    ledger = observe.Ledger()
    try:
        mark = ledger.mark()
        function = jx.jit(lambda x, y: wave(x, y))
        for args in given:
            function(*args)
        cell = observe.cell_document(mark, cell="In [1]", ledger=ledger)
    finally:
        ledger.close()
    validate(cell)
    cards = cell["recompilations"]["cards"]
    assert {card["compilations"] for card in cards} == wanted and len(cards) == len(wanted)
    first, *others = cell["compilations"]
    assert not words.recompiled(first) and len(others) == sum(wanted)
    of_program = Counter()
    for one in others:
        (card,) = one["recompilations"]["cards"]
        assert card in cards
        of_program[card["cause"]] += 1
    assert of_program == {card["cause"]: card["compilations"] for card in cards}
    shown = [one for at, one in enumerate(cell["compilations"]) if at in in_full(cell["compilations"])]
    page, said = html(cell), flat(text(cell))
    told = re.findall(r"Recompiles \((\d+)\)", page)
    assert list(map(int, told)) == [n for n in map(words.recompiled, shown) if n]
    for card in cards:
        sentence = recompilations.counted(card)
        assert f"({sentence})" in said and sentence in plain(page)
        assert sentence.startswith(words.plural(card["compilations"], "recompilation"))
    if wanted:
        assert f"▲ {words.plural(sum(wanted), 'recompilation')}" in re.sub(r"<[^>]*>", "", page)
