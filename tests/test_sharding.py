"""The parts of the tests are all of them, each once."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests import extent, sharding


IDS = [f"tests/compiler/test_{a}.py::test_{b}[{c}]" for a in range(9) for b in range(9) for c in range(9)]


@pytest.mark.parametrize("parts", [1, 2, 6, 13])
def test_each_test_is_in_one_part_and_the_parts_are_of_a_size(parts: int) -> None:
    owners = [[part for part in range(1, parts + 1) if sharding.belongs(test, part, parts)] for test in IDS]
    assert all(len(found) == 1 for found in owners)
    sizes = Counter(found[0] for found in owners)
    assert len(sizes) == parts and max(sizes.values()) < 1.5 * len(IDS) / parts


@pytest.mark.parametrize("text", ["0/2", "3/2", "1", "a/b", "1/2/3", "", "-1/2"])
def test_what_is_no_part_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="the second of six parts"):
        sharding.parsed(text)


def test_marked_tests_run_when_all_do_or_when_named(monkeypatch: pytest.MonkeyPatch) -> None:
    marked, plain = (SimpleNamespace(get_closest_marker=lambda _, m=m: m) for m in (extent.full, None))
    for everything, named, kept in (
        (False, False, [plain]),
        (True, False, [marked, plain]),
        (False, True, [marked, plain]),
    ):
        monkeypatch.setattr(extent, "ALL", everything)
        assert extent.chosen([marked, plain], named) == kept
    assert extent.examples(25) == 3


def test_of_cases_that_repeat_each_other_some_are_marked() -> None:
    """The first of each so many; those that are marked already do not count, and other tests are left alone."""
    (test, count), *_ = extent._COUNTS.items()
    marked, items = [], []
    for at, name in enumerate([*(f"{test}[{i}]" for i in range(2 * count + 1)), f"{test}_too[0]", f"{test}_too[1]"]):
        items.append(
            SimpleNamespace(
                nodeid=name,
                add_marker=lambda mark, at=at: marked.append((at, mark)),
                get_closest_marker=lambda _, at=at: at == 0 or None,
            )
        )
    extent.mark_repeated(items)
    assert marked == [(at, extent.full) for at in range(2, 2 * count + 1) if at != 1 + count]


def test_tests_of_many_cases_are_there(root: Path) -> None:
    """A test that got another name would run whole."""
    for name in extent._COUNTS:
        file, _, test = name.partition("::")
        assert f"def {test}(" in (root / file).read_text(encoding="utf-8"), name


def collected(root: Path, *options: str) -> list[str]:
    command = [
        sys.executable,
        "-m",
        "pytest",
        "--collect-only",
        "-q",
        "-p",
        "no:cacheprovider",
        "tests/test_layers.py",
        *options,
    ]
    ran = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert ran.returncode in (0, 5), ran.stdout + ran.stderr
    return [line for line in ran.stdout.splitlines() if "::" in line]


def test_pytest_takes_a_part(root: Path) -> None:
    everything, first, second = collected(root), collected(root, "--shard", "1/2"), collected(root, "--shard", "2/2")
    assert sorted(first + second) == sorted(everything) and first and second
