"""What a vmap made of each operation: where the axis of the examples went, and which operations are no longer one for all of them."""

from __future__ import annotations

from collections import Counter

from .. import words
from ..documents.annotations import BatchedOperation, How, TransformationsDocument, TransformationStep
from ..escapes import clean
from ..view import inline
from ..view.parts import Column, Content, Part, Ref, Row, Table
from ..words import plural


WORSE: dict[How, str] = {
    "loop": "is done example by example, in a loop",
    "branches": "computes all branches for each example, and keeps one",
    "last": "runs for all examples until the last of them is done",
    "others": "is done by others",
}
"""What is not one operation for all examples, the worst first."""
_HOW: dict[How, str] = {
    **WORSE,
    "after": "is one operation, after its operands were moved or repeated",
    "products": "is a product for each example, in one operation",
    "one": "is one operation for all examples",
    "shared": "is the same for all examples: computed once",
}
_NAMED = 3
_BEFORE = frozenset(("transpose", "broadcast_in_dim", "reshape", "convert_element_type", "squeeze"))


def subject(document: TransformationsDocument, step: TransformationStep, here: str) -> str:
    """The function's name; of a lambda, which has none, the lines that its program stems from: `a lambda (lines 14-17)`."""
    if step["function"] != "<lambda>":
        return clean(step["function"])
    origins = dict(enumerate(document["origins"]))
    numbers = dict.fromkeys(line["origin"] for line in step["before"]["lines"])
    found = words.lines([origins[number]["position"] for number in numbers if number in origins], here)
    return f"a lambda ({found})" if found else "a lambda"


def batching_words(document: TransformationsDocument, step: TransformationStep, here: str) -> str:
    """`vmap of predict: 19 of 29 operations are one for all examples, 8 are the same for all and computed once. cond (line 12) computes
    all branches for each example, and keeps one.`; "" where nothing is known."""
    batched = step.get("batched", [])
    if not batched:
        return ""
    counts = Counter(one["how"] for one in batched)
    whole = counts["one"] + counts["products"] + counts["after"]
    of = plural(len(batched), "operation")
    parts = [f"{whole:,} of {of} {'is' if whole == 1 else 'are'} one for all examples"]
    if counts["after"]:
        parts.append(f"{counts['after']:,} of these after operands were moved or repeated")
    if counts["shared"]:
        parts.append(f"{counts['shared']:,} the same for all and computed once")
    worse: dict[tuple[str, str], list[str]] = {}
    for how in WORSE:
        for one in batched:
            if one["how"] == how:
                worse.setdefault((clean(one["operation"]), how), []).append(_line(document, one, here))
    sentences = [
        f"{operation}{_places(lines)} {_said(how, operation, batched)}."
        for (operation, how), lines in list(worse.items())[:_NAMED]
    ]
    if (more := len(worse) - _NAMED) > 0:
        sentences.append(f"{plural(more, 'more kind')} of operations in the table.")
    return " ".join([f"vmap of {subject(document, step, here)}: {', '.join(parts)}.", *sentences])


def _said(how: str, operation: str, batched: list[BatchedOperation]) -> str:
    if how != "others":
        return next(words for one, words in _HOW.items() if one == how)
    one = next(one for one in batched if one["how"] == how and clean(one["operation"]) == operation)
    return f"became {_made(one)}"


def _made(one: BatchedOperation) -> str:
    return ", ".join(clean(name) for name in dict.fromkeys(one["made"])) or "nothing"


def _places(lines: list[str]) -> str:
    known = list(dict.fromkeys(filter(None, lines)))
    return f" ({'; '.join(known[:_NAMED])}{' …' if len(known) > _NAMED else ''})" if known else ""


def _line(document: TransformationsDocument, one: BatchedOperation, here: str) -> str:
    number = one["origin"]
    if number not in range(len(document["origins"])):
        return ""
    return words.lines([document["origins"][number or 0]["position"]], here)


def parts(document: TransformationsDocument, step: TransformationStep, here: str) -> list[Part]:
    """The table of a vmap; nothing of other steps."""
    batched = step.get("batched", [])
    if not batched:
        return []
    order = list(_HOW)
    rows = [_row(document, one, here) for one in sorted(batched, key=lambda one: order.index(one["how"]))]
    columns = (
        Column("operation", "code"),
        Column("one example", "code", "the type of its result", named=True),
        Column("all examples", "code", named=True),
        Column("examples along", "short", "the axis of the result along which the examples lie", named=True),
        Column("for all examples"),
        Column("line"),
    )
    left = step.get("batched_left_out", 0)
    more = f"{plural(left, 'more operation')} not kept in this document" if left else ""
    table = Table("What became of the axis of the examples", columns, tuple(rows), left_out=more)
    return [table]


def _row(document: TransformationsDocument, one: BatchedOperation, here: str) -> Row:
    how = _HOW[one["how"]]
    if one["how"] == "others":
        how = f"became {_made(one)}"
    elif one["how"] == "after" and (moved := [name for name in dict.fromkeys(one["made"]) if name in _BEFORE]):
        how = f"{how} ({', '.join(moved)})"
    axis = "none" if one["axis"] is None else f"axis {one['axis']}"
    number, ref = one["origin"], Ref()
    place: Content = ""
    if number in range(len(document["origins"])):
        origin = document["origins"][number or 0]
        place = inline.place(origin["position"], here)
        ref = Ref(tuple(origin["paths"]), position=origin["position"], same=f"origin {number}")
    whole = inline.code(clean(one["all"])) if one["all"] else "?"
    cells: tuple[Content, ...] = (clean(one["operation"]), clean(one["one"]), whole, axis, how, place)
    return Row(cells, ref, tone="bad" if one["how"] == "loop" else "plain")
