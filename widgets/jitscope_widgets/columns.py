"""Plain data with every text once and lists of like records as columns: a fraction of the JSON, and quick to make.

`compact(value)` is again plain data, `expand` gives the value back; js/compact.ts reads it too. A value stands as itself
but for objects with the one key that names a form:

* `{"$rows": column}`: a list, by column; `{"$": {…}}`: an object, as it is; `{"$lines": column}`: a text of many lines with its number
  (`n`); `{"$again": n}`: the one of that number once more; `{"$text": n}`: a text by its number.

A column says in one key how its values are told: `c` one value for all (`n` of them), `t` texts by their number, `i` whole
numbers (both as differences), `d` numbers with few decimals (differences in steps of 10 to the minus `e`), `v` values, `l` lists (their lengths, and a column of all that is in them), `r` records (a
column for each field), `p` records of a few kinds (which kind each is, the records of each kind), `m` objects with keys of their
own (their keys, their values), `s` values that may be null (where they
are not, and those), `x` anything else.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import accumulate, chain, count, islice, pairwise
from typing import Any


_MOST_KINDS = 12  # of records; what has more is no list of records
_FEWEST = 4  # records that make columns worth while
_LONG = 400  # characters of a text that may be one of many lines


def compact(value: Any) -> dict[str, Any]:
    """The texts, each once, and the value that refers to them."""
    writer = _Writer()
    said = writer.value(value)
    return {"texts": list(writer.texts), "value": said}


def expand(said: dict[str, Any]) -> Any:
    """The value that `compact` made this of."""
    return _Reader(said["texts"]).value(said["value"])


class _Writer:
    def __init__(self) -> None:
        self.texts: defaultdict[str, int] = defaultdict(count().__next__)
        self.programs: dict[str, int] = {}

    def value(self, value: Any) -> Any:
        match value:
            case str() if len(value) > _LONG and "\n" in value:
                return self._program(value)
            case dict():
                said = {key: self.value(item) for key, item in value.items()}
                return {"$": said} if any(key.startswith("$") for key in value) else said
            case list() if len(value) >= _FEWEST:
                return {"$rows": self.column(value)}
            case list():
                return [self.value(item) for item in value]
        return value

    def _program(self, text: str) -> dict[str, Any]:
        if text in self.texts:
            return {"$text": self.texts[text]}
        if text in self.programs:
            return {"$again": self.programs[text]}
        number = self.programs[text] = len(self.programs)
        return {"$lines": {**self._lines(text), "n": number}}

    def _lines(self, text: str) -> dict[str, Any]:
        lines = text.split("\n")
        bare = [line.lstrip(" ") for line in lines]
        indents = [len(line) - len(rest) for line, rest in zip(lines, bare)]
        return {"r": {"indent": self.column(indents), "text": self.column(bare)}}

    def column(self, values: list[Any]) -> dict[str, Any]:
        kinds = set(map(type, values))
        if kinds == {str}:
            return self._constant(values) or {"t": _differences([self.texts[text] for text in values])}
        if kinds == {int}:
            return self._constant(values) or {"i": _differences(values)}
        if kinds <= {int, float, bool, type(None)}:
            return (
                (len(kinds) == 1 and self._constant(values))
                or (kinds == {float} and _decimals(values))
                or {"v": values}
            )
        if type(None) in kinds:
            there = [0 if value is None else 1 for value in values]
            return {"s": there, "of": self.column([value for value in values if value is not None])}
        if kinds == {list}:
            return {"l": self.column(list(map(len, values))), "of": self.column(list(chain.from_iterable(values)))}
        if kinds == {dict}:
            return self._objects(values)
        return {"x": [self.value(value) for value in values]}

    def _constant(self, values: list[Any]) -> dict[str, Any] | None:
        return (
            {"c": values[0], "n": len(values)} if len(values) > 1 and values.count(values[0]) == len(values) else None
        )

    def _objects(self, values: list[dict[str, Any]]) -> dict[str, Any]:
        keys = list(values[0])
        if keys and all(list(value) == keys for value in values):
            return {"r": {key: self.column([value[key] for value in values]) for key in keys}}
        kinds: dict[tuple[str, ...], list[dict[str, Any]]] = {}
        for value in values:
            kinds.setdefault(tuple(value), []).append(value)
        if len(kinds) <= _MOST_KINDS and () not in kinds:
            number = {kind: at for at, kind in enumerate(kinds)}
            which = [number[tuple(value)] for value in values]
            return {"p": self.column(which), "of": [self._objects(same) for same in kinds.values()]}
        return {
            "m": self.column([list(value) for value in values]),
            "of": self.column(list(chain.from_iterable(value.values() for value in values))),
        }


class _Reader:
    def __init__(self, texts: list[str]) -> None:
        self.texts = texts
        self.programs: dict[int, str] = {}

    def value(self, said: Any) -> Any:
        match said:
            case {"$rows": column}:
                return self.column(column)
            case {"$lines": {"r": {"indent": indents, "text": texts}, **rest}}:
                text = "\n".join(" " * indent + text for indent, text in zip(self.column(indents), self.column(texts)))
                return self.programs.setdefault(rest.get("n", -1), text) if rest else text
            case {"$again": number}:
                return self.programs[number]
            case {"$text": number}:
                return self.texts[number]
            case {"$": value}:
                return {key: self.value(item) for key, item in value.items()}
            case dict():
                return {key: self.value(item) for key, item in said.items()}
            case list():
                return list(map(self.value, said))
        return said

    def column(self, said: dict[str, Any]) -> list[Any]:
        match said:
            case {"c": value, "n": length}:
                return [value] * length
            case {"t": steps}:
                return [self.texts[at] for at in accumulate(steps)]
            case {"i": steps}:
                return list(accumulate(steps))
            case {"d": steps, "e": digits}:
                return [number / 10**digits for number in accumulate(steps)]
            case {"v": values}:
                return values
            case {"s": there, "of": column}:
                known = iter(self.column(column))
                return [next(known) if one else None for one in there]
            case {"l": lengths, "of": column}:
                return self._slices(lengths, column)
            case {"r": fields}:
                columns = [self.column(column) for column in fields.values()]
                return [dict(zip(fields, row)) for row in zip(*columns)]
            case {"p": which, "of": columns}:
                each = [iter(self.column(column)) for column in columns]
                return [next(each[kind]) for kind in self.column(which)]
            case {"m": keys, "of": column}:
                values = iter(self.column(column))
                return [dict(zip(names, islice(values, len(names)))) for names in self.column(keys)]
            case {"x": values}:
                return [self.value(value) for value in values]
        raise ValueError(f"a column of an unknown form: {sorted(said)}")

    def _slices(self, lengths: dict[str, Any], column: dict[str, Any]) -> list[list[Any]]:
        values = iter(self.column(column))
        return [list(islice(values, length)) for length in self.column(lengths)]


_MANY = 16  # floats that make their differences worth while
_DIGITS = (1, 3, 6, 9)
_EXACT = 1e15


def _decimals(values: list[float]) -> dict[str, Any] | None:
    """As whole steps of a power of ten, where that gives each value back to the bit and is shorter. Division rounds correctly, so that
    a whole number by a power of ten is the float nearest to what its digits say."""
    if len(values) < _MANY or not all(abs(value) < _EXACT / 10 ** _DIGITS[-1] for value in values):
        return None
    for digits in _DIGITS:
        steps = [round(value * 10**digits) for value in values]
        if all(repr(step / 10**digits) == repr(value) for step, value in zip(steps, values)):
            told = _differences(steps)
            return {"d": told, "e": digits} if len(str(told)) < len(str(values)) else None
    return None


def _differences(values: list[int]) -> list[int]:
    return [*values[:1], *(after - before for before, after in pairwise(values))]
