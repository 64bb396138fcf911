"""The sentences and phrases that all views share."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import PurePath
from typing import Any

from .documents import kinds
from .escapes import clean
from .quantities import amount, seconds, show


Document = Mapping[str, Any]


NO_LINE = "no known line"


def no_line(kernel: Document) -> str:
    """What stands where a kernel has no line: copies of no equation are XLA's."""
    return "added by XLA" if kernel["kind"] == "copy" and not kernel["paths"] else NO_LINE


"""What stands for the lines of what stems from none that is known."""


def own_numbers(graph: Document) -> str:
    """What the numbers of a user's own at a graph are called; "" where there are none."""
    return next((clean(node["number"]["name"]) for node in graph["nodes"] if "number" in node), "")


def plural(count: int, noun: str) -> str:
    """`1 kernel`, `2,000 boxes`, `3 copies`."""
    if count != 1:
        ies = noun.endswith("y") and noun[-2] not in "aeiou"
        noun = f"{noun[:-1]}ies" if ies else f"{noun}es" if noun.endswith(("x", "s", "ch", "sh")) else f"{noun}s"
    return f"{count:,} {noun}"


def not_viewable(document: object) -> str:
    """Why there is no view of `document`, "" when there is one."""
    if not isinstance(document, Mapping):
        return f"There is no view of this: a document is a dict, this is {type(document).__name__}."
    kind, version = document.get("kind"), document.get("version")
    if kind not in kinds():
        return f"There is no view of documents of kind {clean(repr(kind))}."
    if version != 1:
        return f"This {kind} is a document of version {clean(repr(version))}; these views know version 1."
    return ""


def cost(found: Document) -> str:
    """What an instrument took to find what it shows."""
    how = f": {clean(found['note'])}" if found["note"] else ""
    return f"Finding this out took {show(found)}{how}."


def title(document: Document) -> str:
    """What a page about a document is called."""
    return clean(document.get("title") or document.get("function") or document.get("cell") or document.get("kind"))


def reason(error: BaseException) -> str:
    """What an error says, for people. One of Python's own for a fault in a program comes with its class: its message alone
    ("list index out of range") would read as an explanation."""
    try:
        message = clean(str(error))
    except Exception:
        message = ""
    name = type(error).__name__
    if isinstance(error, _FAULTS) and type(error).__module__ == "builtins":
        return f"{name}: {message}" if message else name
    return message or name


_FAULTS = (LookupError, AttributeError, NameError, AssertionError, ArithmeticError)


def failure(what: str, error: Exception) -> str:
    """What stands in the place of a view that could not be made."""
    detail = clean(str(error))
    return f"The view of {what} could not be made ({type(error).__name__}{': ' + detail if detail else ''})."


def home(position: Document) -> str:
    """The cell or file of a position, as short as it can be told."""
    return _home(position["cell"], position["file"])


@lru_cache(1000)
def _home(cell: str | None, file: str) -> str:
    if not cell and _EXPRESSION.fullmatch(file):
        return "the expression"
    return clean(cell or PurePath(file).name or "unknown file")


_EXPRESSION = re.compile(r"<.*[(@+*/%&|^~].*>", re.DOTALL)
"""What an expression that was asked about, such as `%nans f(x)`, is called where code has a file."""


def where(position: Document) -> str:
    """`In [3], line 2, columns 8-13`."""
    columns = ""
    if position["end_line"] == position["line"] and position["end_column"] > position["column"] + 1:
        columns = f", columns {position['column'] + 1}-{position['end_column']}"
    return f"{home(position)}, line {position['line']}{columns}"


def lines(positions: Iterable[Document], here: str = "") -> str:
    """The lines of some positions, `lines 2-4`; those outside `here` with their cell, `In [2] line 7`."""
    found: dict[str, set[int]] = {}
    for position in positions:
        found.setdefault(home(position), set()).add(position["line"])
    return "; ".join(
        f"{'' if place == here else place + ' '}line{'s' * (len(numbers) > 1)} {runs(numbers)}"
        for place, numbers in found.items()
    )


def only_home(positions: Iterable[Document]) -> str:
    """The cell or file of all positions, which need not name it then; "" where there are several, or none."""
    homes = set(map(home, positions))
    return homes.pop() if len(homes) == 1 else ""


def here_of(compilation: Document) -> str:
    """The cell or file a compiled function stands in, "" when its source is unknown."""
    source = compilation["source"]
    return home_of(source["functions"][0]) if source and source["functions"] else ""


def home_of(function: Document) -> str:
    """The cell or file a function of a source document stands in."""
    return clean(function["label"] or PurePath(function["file"]).name)


def written_in(source: Document, function: int) -> dict[int, int]:
    """How many equations were written in each line of a function, in all its calls."""
    counts: dict[int, int] = {}
    calls = {at for at, call in enumerate(source["calls"]) if call["function"] == function}
    for mark in source["marks"]:
        if mark["call"] in calls:
            counts[mark["line"]] = counts.get(mark["line"], 0) + mark["forward"] + mark["backward"]
    return counts


def kernel_names(kernels: Sequence[Document]) -> list[str]:
    """`kernel 1`, `loop 1`, `kernel 2`, …: loops are counted by themselves, the work is in the kernels that they repeat."""
    counts: Counter[str] = Counter()
    names = []
    for kernel in kernels:
        word = "loop" if kernel["kind"] == "loop" else "kernel"
        counts[word] += 1
        names.append(f"{word} {counts[word]}")
    return names


_PART = re.compile(r"\w+\[[^\]]*\](?:\{[^}]*\})?")


def kernel_name(kernel: Document, operations: int) -> str:
    """`fusion of 13`, `dot (library call)`, `fusion of 3 (library call)`, `while of scan × 40`, `copy`."""
    named = clean(kernel.get("label") or kernel["opcode"])
    operation = f"fusion of {operations:,}" if kernel["opcode"] == "fusion" else named
    return f"{operation} (library call)" if kernel["kind"] == "library" else operation


def type_words(kind: str) -> str:
    """A printed type; of a tuple of many, such as what a loop hands on, the first."""
    parts = _PART.findall(kind) if kind.startswith("(") else []
    return clean(f"({', '.join(parts[:3])}, … {len(parts) - 3} more)" if len(parts) > 5 else kind)


def recompiled(compilation: Document) -> int:
    """How many times a function was compiled again."""
    return sum(card["compilations"] for card in compilation["recompilations"]["cards"])


def because(compilation: Document) -> str:
    """Why it was compiled; documents saved earlier say it in their cards."""
    told = (str(card["because"]) for card in compilation["recompilations"]["cards"])
    return str(compilation.get("because") or "; ".join(told))


def cards_of(cell: Document) -> list[Document]:
    """The cards of what a cell compiled or traced again; documents saved earlier have none."""
    return list(cell.get("recompilations", {}).get("cards", ()))


def few_cards(cell: Document) -> tuple[Document | None, str]:
    """The dearest recompilations of a cell as a document, None where there are none; and what is said of the others."""
    cards = cards_of(cell)
    if not cards:
        return None, ""
    more = f"{plural(len(cards) - _CARDS, 'more cause')}: %recompiles shows all." if len(cards) > _CARDS else ""
    return {**cell["recompilations"], "cards": cards[:_CARDS]}, more


_CARDS = 5
"""Cards below a cell; %recompiles has all."""


def steady_of(compilation: Document) -> Document | None:
    """What a run takes: of calls that were timed, else of those of its profile; None where nobody measured it."""
    if timed := compilation["timing"]["steady"] or compilation.get("profiled"):
        return timed
    profile = (compilation.get("instruments") or {}).get("profile")
    if not profile or not profile.get("wall"):
        return None
    times = {"median": profile["wall"], "low": profile["low"], "high": profile["high"]}
    return {**times, "runs": profile["runs"], "source": "profile"}


def times_of(steady: Document) -> str:
    """`41 calls not recorded`: what the median of a run's times is of."""
    return clean(steady["median"]["note"]).removeprefix("median of ") or plural(steady["runs"], "run")


def steady_words(compilation: Document) -> str:
    """`runs in 210 µs`, "" when nobody measured it."""
    steady = steady_of(compilation)
    return f"runs in {show(steady['median'])}" if steady else ""


def compiled_words(compilation: Document) -> str:
    """`compiled in 66.1 ms`, or that an earlier compilation is used, or was loaded from a cache on disk."""
    if compilation["cache"] == "reused":
        return "compiled before"
    known, verb = spent(compilation), compilation["cache"]
    return verb if known is None else f"{verb} in {seconds(known)}"


MAKING = ("trace", "lower", "compile", "load")
"""The steps that make a program; the others run it."""


def spent(compilation: Document) -> float | None:
    """Seconds to trace, lower and compile; None when nobody knows them."""
    timing = compilation["timing"]
    steps = [amount(stage["seconds"]) for stage in timing["stages"] if stage["name"] in MAKING]
    known = [step for step in steps if step is not None]
    return sum(known) if known and len(known) == len(steps) else amount(timing["total"])


def recompiled_words(compilation: Document) -> str:
    """`1 recompilation`, "" when there was none."""
    count = recompiled(compilation)
    return plural(count, "recompilation") if count else ""


def left_alone_words(entry: Document) -> str:
    """`Model (a class)`."""
    return f"{clean(entry['name'])} ({clean(entry['reason'])})"


def reused_words(entry: Document) -> str:
    """`step (3 calls)`."""
    more = " or more" if entry.get("at_least") else ""
    return f"{clean(entry['function'])} ({plural(entry['calls'], 'call')}{more})"


def error_words(error: Document) -> str:
    """`ValueError in In [3], line 2`. Its message stands in the traceback above; the views that fold have it, too."""
    place = f" in {where(error['position'])}" if error["position"] else ""
    return f"{clean(error['type'])}{place}"


def runs(numbers: set[int]) -> str:
    """`2-4, 7`."""
    found: list[list[int]] = []
    for number in sorted(numbers):
        if found and number == found[-1][1] + 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in found)
