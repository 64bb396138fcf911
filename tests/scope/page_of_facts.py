"""What a reader sees on the page of a compiled program, taken from its HTML alone."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import NamedTuple


class Row(NamedTuple):
    """A line of the list of kernels, as it is read."""

    called: str
    name: str
    what: str
    members: dict[str, int]
    note: str
    gives: str
    place: str


class Part:
    """An element of the page with what is in it."""

    def __init__(self, tag, classes=(), label=""):
        self.tag, self.classes, self.label, self.inner = tag, classes, label, []

    @property
    def text(self):
        return "".join(part if isinstance(part, str) else part.text for part in self.inner)

    @property
    def parts(self):
        return [part for part in self.inner if isinstance(part, Part)]

    def all(self, tag, *classes):
        for part in self.parts:
            if part.tag == tag and set(classes) <= set(part.classes):
                yield part
            yield from part.all(tag, *classes)


_EMPTY = ("br", "hr", "img", "meta", "link", "input", "wbr", "path", "rect", "line", "circle", "polygon", "use")


class _Reader(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open = [Part("page")]

    def handle_starttag(self, tag, attributes):
        known = dict(attributes)
        part = Part(tag, (known.get("class") or "").split(), known.get("aria-label") or "")
        self.open[-1].inner.append(part)
        if tag == "br":
            part.inner.append("\n")
        elif tag not in _EMPTY:
            self.open.append(part)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if self.open[-1].tag == tag:
            self.open.pop()

    def handle_endtag(self, tag):
        if tag not in _EMPTY and len(self.open) > 1:
            assert self.open.pop().tag == tag

    def handle_data(self, data):
        if self.open[-1].tag not in ("style", "script"):
            self.open[-1].inner.append(data)


class Page:
    def __init__(self, html):
        reader = _Reader()
        reader.feed(html)
        self.whole = reader.open[0]
        self.headline = next(next(self.whole.all("summary")).all("span", "dim")).text
        self.panes = {}
        for pane in self.whole.all("details", "pane"):
            title = pane.parts[0]
            self.panes[str(title.inner[0]).strip()] = pane

    def told(self, pane):
        """What the heading of a pane says in short."""
        return " ".join(part.text for part in self.panes[pane].parts[0].parts)

    def kernels(self):
        pane = self.panes["Fusion"]
        tables = [list(table.all("tr")) for table in pane.all("table") if "diff" not in table.classes]
        single = [list(part.all("tr")) for part in pane.all("details") if part.parts[0].text == "one by one"]
        head, *rows = next(rows for rows in (*single, *tables) if rows[0].text == "kernelisgivesfrom")
        assert head.text == "kernelisgivesfrom"
        found = []
        for row in rows:
            first, *others = row.all("td")
            if others:
                found.append(_row(first, *others))
            else:
                found[-1] = _with_remarks(found[-1], first.text.split("\n"))
        return found

    def functions(self):
        """(function's name, the equations said to be in it or None for the first, [(number, code, whether it is marked)])."""
        for source in self.panes["Graph"].all("div", "source"):
            name = re.match(r"Source of (.*), ", source.label)[1]
            lines = [
                (
                    int(line.parts[0].text),
                    line.text.removeprefix(line.parts[0].text)[1:].rstrip("\n"),
                    bool(line.classes),
                )
                for line in source.all("span")
                if line.parts and line.parts[0].tag == "i"
            ]
            yield name, lines

    def counts_of_functions(self):
        return [
            int(found[1].replace(",", ""))
            for part in self.panes["Graph"].all("summary")
            if (found := re.search(r"([\d,]+) equations?$", part.text)) and part is not self.panes["Graph"].parts[0]
        ]


def _row(called, what, gives, place):
    _, *number, name = called.text.split(" ")
    members = {what.text.removesuffix(" (library call)"): 1}
    return Row(" ".join(number).removeprefix("kernel "), name, what.text, members, "", gives.text, place.text)


def _with_remarks(row, below):
    members, note = {}, ""
    for line in below:
        found = re.fullmatch(r"[\w-]+(?: ×[\d,]+)?(?:, [\w-]+(?: ×[\d,]+)?)*", line)
        if found and not line.endswith("."):
            for piece in line.split(", "):
                opcode, _, times = piece.partition(" ×")
                members[opcode] = int(times.replace(",", "") or 1)
        else:
            note = line
    return row._replace(members=members or row.members, note=note)


def lines_in(place):
    """{where: lines} of what stands in the column "from"; "" is the file of the function itself."""
    found = {}
    for piece in place.split("; "):
        read = re.fullmatch(r"(?:(.*) )?lines? ([\d,\- ]+)", piece)
        if read:
            numbers = set()
            for run in read[2].split(", "):
                first, _, last = run.partition("-")
                numbers |= set(range(int(first), int(last or first) + 1))
            found[read[1] or ""] = numbers
    return found
