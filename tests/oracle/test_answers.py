"""Which of JAX's answers git keeps, and for which others jax is asked."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.oracle import part, record, recorded, samples, tables, there


FILES = [*samples.files(), *(table.name for table in tables.tables())]


@pytest.fixture
def empty(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """A folder in which jax has been asked nothing."""
    monkeypatch.setattr(recorded, "folder", lambda version: tmp_path / version)
    recorded.load.cache_clear()
    yield tmp_path / recorded.RECORDED
    recorded.load.cache_clear()


def names(file: str) -> set[str]:
    if file in samples.files():
        return {function.name for function in samples.functions(file)}
    return set(tables.table(file).names) - (tables.table(file).different.keys() - tables.table(file).kept.keys())


def asked(file: str, version: str = recorded.RECORDED, **options: bool) -> list[str]:
    chosen = {"again": False, "only_part": False, **options}
    return [name for _, some in record.questions(file, version, **chosen) for name in some]


@pytest.mark.usefixtures("empty")
def test_what_git_does_not_keep_is_asked_once() -> None:
    for file in FILES:
        found = asked(file)
        assert len(found) == len(set(found)) and set(found) == names(file) - part.kept(file), file
    assert not [file for file in samples.files() if asked(file, only_part=True)]


@pytest.mark.usefixtures("empty")
def test_another_jax_is_asked_everything() -> None:
    assert all(set(asked(file, "0.0")) == names(file) for file in FILES)


def test_git_keeps_a_small_part() -> None:
    assert sum(path.stat().st_size for path in recorded.FOLDER.iterdir()) < 700_000
    functions = [f.name for file in samples.files() for f in samples.functions(file)]
    some = {name for file in samples.files() for name in part.functions(file)}
    assert len(functions) / 20 < len(some) < len(functions) / 10 and not some & part.TAKE_LONG


def test_answers_are_asked_again_after_a_change(empty: Path) -> None:
    file = "trees"
    name = next(n for n in tables.table(file).names if n not in part.kept(file))
    record.write(file, recorded.RECORDED, {name: {"plain": "1"}})
    assert recorded.load(file)[name] == {"plain": "1"} and name not in asked(file)
    assert recorded.load(file).keys() == part.kept(file) | {name}
    path = empty / f"{file}.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"digest": "of another program"}))
    recorded.load.cache_clear()
    assert name in asked(file) and recorded.load(file).keys() == part.kept(file)


@pytest.mark.usefixtures("empty")
def test_a_run_tells_how_many_answers_are_there() -> None:
    functions = [f for file in samples.files() for f in samples.functions(file) if f.name in part.functions(file)]
    said = there.told()
    assert (
        f"{sum(len(f.samples) for f in functions):,} of {sum(len(f.samples) for f in samples.every()):,} samples"
        in said
    )
    assert "make answers" in said
    absent = next(f.name for f in samples.every() if f not in functions)
    with pytest.raises(pytest.skip.Exception, match="make answers"):
        there.answer(next(f.file for f in samples.every() if f.name == absent), absent)
