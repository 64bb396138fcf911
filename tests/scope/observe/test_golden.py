"""Documents of some programs as they were recorded: what they say of the traced program, which no processor and no release of jaxlib
changes. `python -m tests.scope.observe.test_golden` records them anew."""

from __future__ import annotations

import difflib
import re
from pathlib import Path
from typing import Any

import pytest

import jitscope as jx
from jitscope.core.printing import Names, format_jaxpr
from jitscope_scope import observe
from tests.scope.fact_algorithms import PROGRAMS


FOLDER = Path(__file__).parent / "golden"
NAMES = ("masked_attention", "normalised_convolution", "branches_in_a_scan", "loops_until", "kalman_filter", "clusters",
         "markov_chain", "mixed_precision", "saved_products_only", "nested")  # fmt: skip
LARGEST = 60_000


def said(name: str) -> str:
    """A program's document as lines, kind by kind: each node, edge, function, call and mark is a line; lines of code count from that
    of the traced function."""
    program = PROGRAMS[name]
    traced = program.jit().trace(*program.args)
    with jx.enable_x64(program.x64):
        jx.block_until_ready(program.jit()(*program.args))
    row = next(r for r in reversed(list(observe.ledger())) if r.entry is not None and not r.nested)
    document = observe.compilation_document(row)
    assert document["jaxpr"] == format_jaxpr(traced.jaxpr.jaxpr, names=Names(traced.jaxpr.jaxpr, brief=True))
    parts = {
        "program": [document["signature"], str(document["equations"]), *document["jaxpr"].splitlines()],
        "nodes": list(map(_node, document["graph"]["nodes"])),
        "edges": sorted(f"{e['from']} > {e['to']}: {e['type']}" for e in document["graph"]["edges"]),
        "source": _source(document["source"]),
    }
    text = "".join(f"== {kind}\n" + "".join(f"{line}\n" for line in lines) for kind, lines in parts.items())
    return re.sub(r"lambda, line \d+", "lambda", text)


def _node(node: dict[str, Any]) -> str:
    what = [node["kind"], node.get("what", ""), node["label"], ", ".join(node["types"]), f"{node['bytes']} B"]
    params = ", ".join(f"{key}={value}" for key, value in node["params"].items() if "0x" not in value)
    made = " ".join(node.get("transforms", ()))
    return f"{node['id']} in {node['scope']}: " + "; ".join(part for part in (*what, params, made) if part)


def _source(source: dict[str, Any]) -> list[str]:
    first = [f["first_line"] for f in source["functions"]]
    name = [f["name"] for f in source["functions"]]
    calls = [(name[c["function"]], c["parent"], bool(c["line"])) for c in source["calls"]]
    marks = [
        f"{name[source['calls'][m['call']]['function']]} + {m['line'] - first[source['calls'][m['call']]['function']]}: "
        f"{m['forward']} forward, {m['backward']} backward: {' '.join(m['nodes'])}"
        for m in source["marks"]
    ]
    return [*map(str, calls), *marks]


@pytest.mark.parametrize("name", NAMES)
def test_documents_say_what_they_said(name: str) -> None:
    recorded = (FOLDER / f"{name}.txt").read_text()
    assert len(recorded) < LARGEST
    jx.clear_caches()
    changed = difflib.unified_diff(recorded.splitlines(), said(name).splitlines(), "recorded", "now", n=1, lineterm="")
    assert not (lines := list(changed)), "\n".join(lines[:60])


if __name__ == "__main__":
    for each in NAMES:
        (FOLDER / f"{each}.txt").write_text(said(each))
