"""What the tests of the cache on disk share: a folder, what the disk says of a program, entries made by hand."""

from __future__ import annotations

import random
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import jitscope as jx
from jitscope.backend.disk import entry as disk_entry, environment, key as disk_key
from jitscope.backend.disk.answer import Answer
from jitscope.backend.disk.store import Store
from jitscope.backend.disk.writer import writer
from tests.compiler.programs import floats, steps


X = floats(6)
ON = {"JITSCOPE_COMPILATION_CACHE": "1"}
OPTIONS = ("compilation_cache", "compilation_cache_dir", "compilation_cache_max_size")


def pinned(code: str) -> str:
    """The code, in which the compiler's source counts as one and the same: somebody may be at work on it."""
    head = 'from jitscope.backend.disk import key\nkey.source_version = lambda folder: "the source"\n'
    return head + textwrap.dedent(code)


@contextmanager
def cache_in(path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The cache, on, in a new folder; nothing is known in memory. Somebody may be at work on the source meanwhile."""
    monkeypatch.setattr(disk_key, "source_version", lambda folder: "the source")
    environment.program_parts.cache_clear()
    before = {name: jx.config.read(name) for name in OPTIONS}
    jx.config.update("compilation_cache_dir", path)
    jx.config.update("compilation_cache", True)
    jx.clear_caches()
    try:
        yield path
    finally:
        writer.flush()
        for name, value in before.items():
            jx.config.update(name, value)
        jx.clear_caches()
        environment.program_parts.cache_clear()


def written() -> None:
    """Wait until everything is on disk, and forget what is in memory."""
    assert writer.flush(30)
    jx.clear_caches()


def answer(fun: Any, *args: Any, **options: Any) -> Answer:
    """What the disk said when the function was compiled."""
    with steps() as seen:
        jx.block_until_ready(jx.jit(fun, **options)(*args))
    (record,) = [r for r in seen.records if r.step == "compile"]
    assert seen["lower"] == (not record.detail["disk"].found)
    return record.detail["disk"]


def found(fun: Any, *args: Any, **options: Any) -> bool:
    """Whether the function's program was on disk."""
    return answer(fun, *args, **options).found


def entry(i: int, size: int, variant: int = 0) -> tuple[tuple[bytes, bytes], bytes]:
    """An entry whose content follows from its number."""
    key = disk_key.Key(i.to_bytes(16, "big"), variant.to_bytes(16, "big"), {"cpu": str(variant)})
    code = random.Random(i).randbytes(size)
    return key.name, disk_entry.pack(key, f"f{i}", 1.0, b"", code, 0)


def right(store: Store, i: int, size: int) -> bool | None:
    """Whether the store's entry of a number is the right one; None if there is none."""
    found = store.read(entry(i, size)[0], use=False)
    return None if found is None else found.executable == random.Random(i).randbytes(size)


def taken(store: Store) -> int:
    """The bytes that all its files take."""
    return sum(file.size for file in store.files())
