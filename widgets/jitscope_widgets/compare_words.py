"""What a comparison of two programs says, in words that all its views share."""

from __future__ import annotations

from collections.abc import Sequence

from .plain import clean
from .quantities import amount, number, show
from .sentences import TABLES, say
from .words import Document, home, lines as lines_of, plural


def verdict(document: Document) -> str:
    """`g takes 1.2 times as long as f (99 % interval 1.18 to 1.22, from 200 pairs of runs).`"""
    one, other = clean(document["a"]["title"]), clean(document["b"]["title"])
    interval = say(
        "interval", low=_ratio(document["low"]), high=_ratio(document["high"]), pairs=plural(document["pairs"], "pair")
    )
    ratio = f"takes {_ratio(document['ratio'])} times as long as"
    if document["verdict"] == "no difference found":
        return f"No difference in time was found: {other} {ratio} {one} ({interval}, which includes 1)."
    return f"{other} is {document['verdict']}: it {ratio} {one} ({interval})."


def _ratio(value: float) -> str:
    return f"{value:.3g}" if abs(value - 1) >= 0.05 else f"{value:.3f}"


def ran_on(document: Document) -> str:
    """What both ran on."""
    one, other = (clean(document[side]["on"]) for side in "ab")
    return say("both ran on", on=one) if one == other else say("ran on", a=one, b=other)


def compiling(document: Document) -> str:
    """Which of the two was not compiled now, and what its time is then; "" where both were."""
    notes = [(side.upper(), clean(document[side]["compile"]["note"])) for side in "ab"]
    return " ".join(say("compiling noted", side=side, note=note) for side, note in notes if note)


def donations(document: Document) -> str:
    """Which arguments are donated; "" where both donate the same, or it is not known."""
    one, other = (document[side].get("donated") for side in "ab")
    if one == other or one is None or other is None:
        return ""
    named = [", ".join(map(clean, names)) or "nothing" for names in (one, other)]
    return say("donations", a=named[0], b=named[1])


def results(document: Document) -> str:
    """How far the results are apart."""
    found = document["results"]
    if found["why"]:
        return say("not compared", why=clean(found["why"]))
    if found["equal"]:
        return say("results equal")
    if amount(found["absolute"]) is None:
        return say("results differ", where=clean(found["where"]))
    absolute, relative = (number(found[which]["value"], "") for which in ("absolute", "relative"))
    return say("results apart", absolute=absolute, relative=relative, where=clean(found["where"]))


def figures(document: Document) -> list[tuple[str, str, str, str]]:
    """What is said of both: name, of the first, of the second, their ratio (that of the times is the verdict's: of pairs of runs)."""
    rows = []
    for name, called in TABLES["compared"].items():
        one, other = document["a"][name], document["b"][name]
        a, b = amount(one), amount(other)
        rows.append((called, show(one), show(other), f"× {_ratio(b / a)}" if a and b and name != "wall" else ""))
    return rows


def common(part: Document, noun: str) -> str:
    """`12 equations in both (3 of them read other operands), 1 only in A, 2 only in B`."""
    rewired = part.get("rewired")
    other = f" ({rewired:,} of them read{'s' * (rewired == 1)} other operands)" if rewired else ""
    return f"{plural(part['common'], noun)} in both{other}, {part['only_a']:,} only in A, {part['only_b']:,} only in B"


def left(found: Document, side: str, shown: Sequence[Document]) -> int:
    """How many equations or kernels of one alone are not among those that are shown."""
    return found[f"only_{side}"] - sum(one.get("times", 1) for one in shown)


def equation(one: Document) -> str:
    """An equation with its line, and how often it is there."""
    position = one["position"]
    place = f"   {home(position)}, line {position['line']}" if position else ""
    return _often(one) + clean(one["text"]) + place


def _often(one: Document) -> str:
    times = one.get("times", 1)
    return f"{times:,} × " if times > 1 else ""


def kernel(one: Document) -> str:
    """`fusion of 3: f32[64,7] (exponential, 2 add)   In [3] lines 2-4`"""
    several = TABLES["kernels of several"].get(one["kind"]) if one["operations"] > 1 else None
    what = f"{several} of {one['operations']:,}" if several else clean(one["opcode"])
    place = lines_of(one.get("positions", ()))
    details = f" ({clean(one['details'])})" if one.get("details") else ""
    return f"{_often(one)}{what}: {clean(one['type'])}{details}{f'   {place}' if place else ''}"


def legend(document: Document) -> str:
    """What the signs in the graph of both mean; "" where it shows nothing that differs."""
    graph = document["joint"]["graph"]
    marks = {node.get("mark") for node in graph["nodes"]}
    signs = [f"{sign} {said}" for mark, (sign, said) in TABLES["compared equations"].items() if mark in marks]
    if not signs:
        return ""
    left_out = document["joint"]["left_out"]
    more = [say("only changes", count=plural(left_out, "equation"))] if left_out else []
    return f"{'; '.join([*signs, say('of both'), *more])}."
