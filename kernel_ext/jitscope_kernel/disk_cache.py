"""`jitscope cache`: what is kept on disk, shown, explained or removed."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Sequence

from jitscope.backend.disk.folder import Unusable
from jitscope.backend.disk.report import EntryReport, Folder, folder, folder_in_use, open_store
from jitscope.core.words import counted, duration, size


def main(what: str, name: str | None, root: str | None) -> int:
    """Do `what` ("show", "explain" or "clear") with a folder of programs, by default the one in use; print the outcome."""
    try:
        if not os.path.lexists(path := root or folder_in_use()):
            print(f"{path} is not there: nothing is kept yet.")
            return 0 if root is None else 1
        if what == "clear":
            count = open_store(root).clear()
            print(f"{counted(count, 'program')} removed.")
            return 0
        found = folder(root)
    except (Unusable, OSError) as error:
        print(f"jitscope: {error}", file=sys.stderr)
        return 1
    chosen = [entry for entry in found.entries if name is None or entry.function == name]
    lines = _explained(chosen, name) if what == "explain" else _shown(found, chosen)
    print("\n".join("".join(c if c.isprintable() else "\ufffd" for c in line) for line in lines))
    return 0


def _shown(found: Folder, entries: Sequence[EntryReport]) -> Iterator[str]:
    most = "" if found.limit is None else f" of at most {size(found.limit)}"
    yield f"{found.path}: {counted(len(found.entries), 'program')}, {size(found.size)}{most}"
    if others := sum(not entry.usable for entry in found.entries):
        yield f"{others} of them made for other versions or processors, see jitscope cache explain"
    if found.tuned:
        yield f"{counted(found.tuned, 'program')} tuned; jitscope.untune(f)(…) forgets one, jitscope cache clear all"
    if entries:
        width = max(8, *(len(entry.function) for entry in entries))
        yield ""
        yield f"{'function':{width}}  {'size':>8}  {'compiled in':>11}  last used         here"
        for entry in entries:
            used = time.strftime("%Y-%m-%d %H:%M", time.localtime(entry.used))
            usable = "yes" if entry.usable else "no"
            yield f"{entry.function:{width}}  {size(entry.size):>8}  {duration(entry.seconds):>11}  {used}  {usable}"


def _explained(entries: Sequence[EntryReport], name: str | None) -> Iterator[str]:
    if not entries:
        yield f"No program of {name} is kept." if name else "No program is kept."
    for entry in entries:
        yield f"{entry.function}, program {entry.program}, {size(entry.size)}, compiled in {duration(entry.seconds)}"
        there = {part: (stored, here) for part, stored, here in entry.differs}
        for part, stored in entry.parts.items():
            other = f"   here: {there[part][1]}" if part in there else ""
            yield f"  {part:9} {stored}{other}"
        yield f"  -> {_verdict(entry)}"


def _verdict(entry: EntryReport) -> str:
    if entry.usable:
        return "used here, by a program with the same equations and options"
    return f"not used here: another {' and '.join(part for part, _, _ in entry.differs)}"
