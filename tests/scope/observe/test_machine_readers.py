"""The libraries that read machine code come with an extra, and what brings them is told."""

import sys

import pytest

from jitscope.core.errors import Unavailable
from jitscope_scope.observe.machine.objects import functions_of, library


@pytest.mark.parametrize("name", ["lief", "capstone"])
def test_what_brings_a_missing_reader_is_told(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(
        Unavailable, match=rf'{name} reads machine code, and is not installed: pip install "jitscope\[asm\]"'
    ):
        library(name)


def test_object_files_are_read_with_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "lief", None)
    with pytest.raises(Unavailable, match="lief reads machine code"):
        functions_of(b"\x7fELF")
