"""The folder of compiled programs: damaged, foreign and unfinished entries, bounds, other users, full and read-only disks."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import jitscope as jx
import jitscope.numpy as jnp
from jitscope.backend.disk import (
    entry as disk_entry,
    folder as disk_folder,
    key as disk_key,
    programs,
    report,
    store as disk_store,
)
from jitscope.backend.disk.in_use import forget
from jitscope.backend.disk.store import Store
from jitscope.backend.disk.writer import writer
from tests.compiler.disk_folders import ON, X, cache_in, entry, found, pinned, right, taken, written
from tests.compiler.programs import in_new_process, steps


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with cache_in(tmp_path / "cache", monkeypatch) as path:
        yield path


# Damage ---------------------------------------------------------------------------------------------------------------


KEY = disk_key.Key(b"p" * 16, b"e" * 16, {"jaxlib": "1", "cpu": "a"})
MADE = time.time()
WHOLE = disk_entry.pack(KEY, "f", 1.5, b"bytecode" * 20, b"machine code" * 50, 0)


def test_an_entry_is_what_was_put_in():
    entry = disk_entry.unpack(WHOLE, KEY.name)
    assert entry.unpack_lowered()() == b"bytecode" * 20 and entry.executable == b"machine code" * 50
    assert entry.head.seconds == 1.5 and entry.head.size == len(WHOLE)
    told = disk_entry.description_of(entry.text)
    assert told["function"] == "f" and told["parts"] == KEY.parts and -1 < told["made"] - MADE < 60


@given(st.text(), st.dictionaries(st.text(), st.text(), max_size=4))
def test_the_text_of_an_entry_is_json(function, parts):
    data = disk_entry.pack(disk_key.Key(*KEY.name, parts), function, 1.0, b"", b"", 0)
    text = disk_entry.unpack(data, KEY.name).text
    assert disk_entry.description_of(text) == {**json.loads(text), "function": function, "parts": parts}


def test_names_that_are_no_unicode_are_kept():
    told = disk_entry.description_of(disk_entry.unpack(disk_entry.pack(KEY, "f\udc80", 1.0, b"", b"", 0)).text)
    assert told["function"] == "f\udc80"


@given(st.integers(0, len(WHOLE) - 1), st.integers(1, 255))
def test_every_changed_byte_is_noticed(at, change):
    damaged = bytearray(WHOLE)
    damaged[at] ^= change
    with pytest.raises(disk_entry.DamagedEntry):
        disk_entry.unpack(bytes(damaged), KEY.name)


@given(st.one_of(st.binary(max_size=300), st.integers(0, len(WHOLE) - 1).map(lambda n: WHOLE[:n]),
                 st.binary(min_size=1, max_size=20).map(lambda b: WHOLE + b),
                 st.binary(max_size=200).map(lambda b: WHOLE[: disk_entry.HEAD] + b)))  # fmt: skip
def test_anything_else_is_no_entry(data):
    with pytest.raises(disk_entry.DamagedEntry):
        disk_entry.unpack(data, KEY.name)


def test_an_entry_of_another_program_is_not_taken():
    for name in ((b"q" * 16, b"e" * 16), (b"p" * 16, b"f" * 16)):
        with pytest.raises(disk_entry.DamagedEntry, match="another program"):
            disk_entry.unpack(WHOLE, name)


DAMAGE = {
    "cut in half": lambda data: data[: len(data) // 2],
    "cut in its head": lambda data: data[:40],
    "empty": lambda data: b"",
    "a byte in the middle": lambda data: (
        data[: len(data) // 2] + bytes([data[len(data) // 2] ^ 1]) + data[len(data) // 2 + 1 :]
    ),
    "another kind of file": lambda data: b"\x7fELF" + os.urandom(2000),
    "zeros": lambda data: bytes(len(data)),
    "something behind": lambda data: data + b"more",
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_entries_are_passed_over_and_replaced(folder, damage):
    f = lambda x: jnp.sin(x) * 2 + x
    assert not found(f, X)
    written()
    (path,) = [p for p in folder.rglob("*") if p.suffix == ".jsx"]
    path.write_bytes(DAMAGE[damage](path.read_bytes()))
    forget()
    assert not found(f, X)
    written()
    np.testing.assert_allclose(jx.jit(f)(X), np.sin(X) * 2 + X, rtol=1e-6)
    jx.clear_caches()
    for _ in range(2):
        assert found(f, X)
        forget()
        jx.clear_caches()
    assert not found(lambda x: f(x) * 7, X)
    written()
    assert found(lambda x: f(x) * 7, X) and found(f, X)


@pytest.mark.parametrize("code", [b"no program", b"jsx1\0\0\0\0" + b"no program"], ids=["ours", "XLA's"])
def test_a_whole_entry_that_xla_refuses_is_replaced(folder, monkeypatch, code):
    f = lambda x: jnp.sin(x) * 2 + x
    with monkeypatch.context() as changed:
        changed.setattr(programs, "pack", lambda *a: disk_entry.pack(*a[:4], code, a[5]))
        assert not found(f, X)
        written()
    forget()
    assert len(report.folder().entries) == 1
    assert not found(f, X)
    written()
    assert found(f, X)


@pytest.mark.skipif(os.name != "posix", reason="links need rights on Windows")
def test_links_are_not_followed(folder, tmp_path):
    assert not found(jnp.sin, X)
    written()
    (path,) = folder.rglob("*.jsx")
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    assert not found(jnp.sin, X)
    written()
    assert found(jnp.sin, X) and not path.is_symlink()


# Room -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [500, 30_000], ids=["small", "large"])
def test_the_folder_stays_in_its_bounds(tmp_path, size):
    limit = 40 * size
    store = Store(str(tmp_path), limit)
    for i in range(200):
        store.write(*entry(i, size))
        assert taken(store) <= limit
        assert right(store, i, size)
    kept = [i for i in range(200) if right(store, i, size) is not None]
    assert 3 <= len(kept) < 40
    assert len(Store(str(tmp_path), limit).names((199).to_bytes(16, "big"))) == 1


@pytest.mark.parametrize("size", [500, 30_000], ids=["small", "large"])
def test_what_was_used_longest_ago_goes_first(tmp_path, monkeypatch, size):
    monkeypatch.setattr(disk_store, "_FRESH", 0)
    limit = 100 * size
    store = Store(str(tmp_path), limit)
    for i in range(120):
        store.write(*entry(i, size))
        time.sleep(0.002)
        if i >= 3:
            assert store.read(entry(3, size)[0]) is not None  # which is in use
    assert right(store, 3, size) and right(Store(str(tmp_path), limit), 3, size)
    assert right(store, 2, size) is None and right(store, 4, size) is None
    assert right(store, 119, size) and right(store, 118, size)


def test_one_entry_larger_than_all_room_is_not_written(tmp_path):
    store = Store(str(tmp_path), 10_000)
    store.write(*entry(1, 50_000))
    store.write(*entry(2, 3_000))
    assert right(store, 1, 50_000) is None and right(store, 2, 3_000) and taken(store) < 10_000


def test_what_killed_processes_left_half_written_is_removed(tmp_path, monkeypatch):
    store = Store(str(tmp_path), 1 << 30)
    store.write(*entry(1, 30_000))
    path = Path(store.path(entry(1, 30_000)[0]))
    old, new = path.with_suffix(".jsx.1.1.part"), path.with_suffix(".jsx.1.2.part")
    old.write_bytes(b"half")
    new.write_bytes(b"half")
    os.utime(old, (0, 0))
    Store(str(tmp_path), 1 << 30).write(*entry(2, 30_000))
    assert not old.exists() and new.exists() and right(store, 1, 30_000)


# Other users ----------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_only_the_owner_can_read_and_write(folder):
    before = os.umask(0)
    try:
        assert not found(jnp.sin, X)
        assert not found(jnp.cos, X)
        written()
    finally:
        os.umask(before)
    modes = {p.name: stat.S_IMODE(p.stat().st_mode) for p in folder.rglob("*")}
    assert {m for name, m in modes.items() if "." in name} == {0o600}
    assert {m for name, m in modes.items() if "." not in name} == {0o700}
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    (folder / "programs-1").chmod(0o777)
    forget()
    jx.clear_caches()
    assert found(jnp.sin, X)
    assert stat.S_IMODE((folder / "programs-1").stat().st_mode) == 0o700


def one_warning(call: Any) -> str:
    """The one warning that calling it twice gives."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
        call()
        writer.flush()
    (only,) = caught
    assert only.category is UserWarning
    return str(only.message)


needs_root = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away")


@needs_root
@pytest.mark.parametrize("whose", [".", "programs-1"])
def test_a_folder_of_another_user_is_refused(folder, whose):
    (folder / "programs-1").mkdir(parents=True)
    os.chown(folder / whose, 12345, 12345)
    numbers = iter((1, 2))
    said = one_warning(lambda: jx.jit(lambda x: x + next(numbers))(X))
    np.testing.assert_array_equal(jx.jit(lambda x: x + 3)(X), X + 3)
    assert "belongs to another user (number 12345)" in said and "JITSCOPE_COMPILATION_CACHE_DIR" in said
    assert not list((folder / "programs-1").iterdir())


@needs_root
def test_a_file_of_another_user_is_not_read(folder):
    assert not found(jnp.sin, X)
    written()
    (path,) = [p for p in folder.rglob("*") if p.suffix == ".jsx"]
    os.chown(path, 12345, 12345)
    forget()
    assert not found(jnp.sin, X)
    written()
    assert path.stat().st_uid == os.geteuid() and found(jnp.sin, X)


# Folders that cannot be used ------------------------------------------------------------------------------------------


def test_a_folder_that_cannot_be_made_gives_one_warning(folder):
    folder.write_text("a file")
    numbers = iter((1, 2))
    said = one_warning(lambda: jx.jit(lambda x: x + next(numbers))(X))
    assert str(folder) in said and "compiled programs are not kept on disk" in said
    assert folder.read_text() == "a file"
    with steps() as seen:
        jx.jit(lambda x: x + 50)(X)
    assert [r.detail for r in seen.records if r.step == "compile"] == [{}]


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), PermissionError(13, "Permission denied"),
                                   OSError(30, "Read-only file system")], ids=lambda e: e.strerror)  # fmt: skip
def test_a_full_or_read_only_folder_gives_one_warning_and_is_read_on(folder, monkeypatch, error):
    assert not found(jnp.sin, X)
    written()

    def fail(*args):
        raise error

    monkeypatch.setattr(disk_folder, "write_all", fail)
    numbers = iter(range(100, 110))
    said = one_warning(lambda: jx.jit(lambda x: x * float(next(numbers)))(X))
    assert next(numbers) == 102
    assert error.strerror in said and str(folder) in said
    jx.clear_caches()
    assert found(jnp.sin, X) and not found(jnp.tan, X)
    assert not list(folder.rglob("*.part"))


FULL = """
    import resource, sys, warnings
    import numpy as np, jitscope as jx
    resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
    warnings.simplefilter("always")
    x = np.ones(5, np.float32)
    for i in range(3):
        assert float(jx.jit(lambda x: x.sum() + i)(x)) == 5 + i
    from jitscope.backend.disk.writer import writer
    writer.flush()
"""


@pytest.mark.skipif(os.name != "posix", reason="limits of POSIX")
def test_a_disk_that_is_really_full(tmp_path):
    environment = {**os.environ, **ON, "JITSCOPE_COMPILATION_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", pinned(FULL)], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("compiled programs are not kept on disk") == 1 and str(tmp_path) in done.stderr
    assert list(Store(str(tmp_path), 1 << 30).files()) == []


@needs_root
def test_a_user_without_rights(tmp_path):
    code = """
        import os, warnings
        import numpy as np, jitscope as jx
        jx.config.update("jax_enable_compilation_cache", False)
        jx.jit(lambda x: x.sum() * 2)(np.ones(3, np.float32))  # imports what that user may not read
        jx.config.update("jax_enable_compilation_cache", True)
        os.setgid(12345), os.setuid(12345)
        warnings.simplefilter("error")
        try:
            jx.jit(lambda x: x + 1)(np.ones(3, np.float32))
        except UserWarning as warning:
            print("Permission denied" in str(warning) or "belongs to another user" in str(warning))
        print(float(jx.jit(lambda x: x.sum())(np.ones(3, np.float32))))
        """
    out = in_new_process(pinned(code), **ON, JITSCOPE_COMPILATION_CACHE_DIR=str(tmp_path / "cache"))
    assert out == "True\n3.0"
    assert not (tmp_path / "cache").exists()


def test_a_folder_that_somebody_removes_is_made_again(folder):
    for _ in range(2):
        assert not found(jnp.sin, X)
        written()
        shutil.rmtree(folder)
        assert not found(jnp.sin, X)
        written()
        assert found(jnp.sin, X)
        shutil.rmtree(folder)
        jx.clear_caches()


def test_a_home_that_is_not_there_and_the_default_place(tmp_path):
    code = """
        import jitscope.backend.disk.folder as d
        try: print(d.default_folder())
        except d.Unusable as error: print(error)
        """
    home = str(tmp_path)
    if sys.platform == "linux":
        assert in_new_process(code, HOME=home, XDG_CACHE_HOME="") == f"{home}/.cache/jitscope"
        assert in_new_process(code, HOME=home, XDG_CACHE_HOME=f"{home}/x") == f"{home}/x/jitscope"
    assert in_new_process(code, HOME="nowhere", XDG_CACHE_HOME="") == "this user has no home folder"
