"""What is on disk, for people: the entries in a folder, and whether this process can use them."""

from __future__ import annotations

from typing import Any

from ...core.config import value_of
from ...named_tuple import NamedTuple
from ...xla import client
from .answer import differences, short_name
from .entry import DamagedEntry, Head, description_of
from .folder import default_folder
from .key import process_parts
from .store import UNLIMITED, Store
from .tuning_records import SUFFIX as TUNED


ANYWHERE = ("options", "device")
"""Components that belong to the program: with another one it is another program, for this process as for any."""


class EntryReport(NamedTuple):
    """An entry. Times are seconds since 1970, `seconds` is what compiling took, `differs` has (component, there, here)
    where it was made for another environment than this process's: then it is not used here."""

    function: str
    program: str
    size: int
    made: float
    used: float
    seconds: float
    parts: dict[str, str]
    differs: tuple[tuple[str, str, str], ...]

    @property
    def usable(self) -> bool:
        """Whether this process would load it."""
        return not self.differs


class Folder(NamedTuple):
    """A folder of programs: entries, those used last first. `limit` is in bytes, None without one. `tuned`: how many programs `jitscope.tune`
    found a faster form of."""

    path: str
    size: int
    limit: int | None
    entries: list[EntryReport]
    tuned: int = 0


def folder(root: str | None = None) -> Folder:
    """What is kept in a folder, by default the one in use. Raises Unusable."""
    store = open_store(root)
    here = process_parts(client.default_device(), store.folder)
    entries = [found for used, head, text in store.heads() if (found := _stored(used, head, text, here)) is not None]
    entries.sort(key=lambda entry: entry.used, reverse=True)
    files = list(store.files())
    size, tuned = sum(file.size for file in files), sum(file.path.endswith(TUNED) for file in files)
    return Folder(store.root, size, None if store.limit == UNLIMITED else store.limit, entries, tuned)


def open_store(root: str | None = None) -> Store:
    """The store in a folder, by default the one in use, also where the cache is off. Raises Unusable."""
    return Store(root or folder_in_use(), value_of("compilation_cache_max_size"))


def folder_in_use() -> str:
    """The folder that the options name, whether it exists or not. Raises Unusable."""
    return value_of("compilation_cache_dir") or default_folder()


def _stored(used: float, head: Head, text: bytes, here: dict[str, str]) -> EntryReport | None:
    try:
        found: dict[str, Any] = description_of(text)
    except DamagedEntry:
        return None
    parts = found["parts"]
    differs = differences(text, {**parts, **{name: here[name] for name in here if name not in ANYWHERE}})
    return EntryReport(
        found["function"], short_name(head.program), head.size, found["made"], used, head.seconds, parts, differs
    )  # fmt: skip
