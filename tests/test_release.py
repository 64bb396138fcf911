"""What `make release` writes."""

import datetime
import importlib.util
import json
import re
from pathlib import Path
from types import ModuleType

import pytest


ROOT = Path(__file__).parents[1]
DAY = datetime.date(2030, 1, 2)
TEXT = "# Changes\n\n## Unreleased\n\n* A thing.\n\n## 0.1.0\n\nThe first version.\n"


@pytest.fixture(scope="module")
def release() -> ModuleType:
    spec = importlib.util.spec_from_file_location("release", ROOT / ".github" / "release.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_what_was_unreleased_gets_the_version_and_its_day(release: ModuleType) -> None:
    text = release.released(TEXT, "0.2.0", DAY)
    assert text == TEXT.replace("## Unreleased\n", "## Unreleased\n\n## 0.2.0 (2030-01-02)\n")


@pytest.mark.parametrize(
    ("text", "version", "why"),
    [
        (TEXT, "0.1.0", "has a section"),
        (TEXT.replace("* A thing.\n", ""), "0.2.0", "nothing under Unreleased"),
        ("# Changes\n", "0.2.0", "nothing under Unreleased"),
    ],
)
def test_what_cannot_be_released_is_told(release: ModuleType, text: str, version: str, why: str) -> None:
    with pytest.raises(release.ReleaseError, match=why):
        release.released(text, version, DAY)


@pytest.mark.parametrize("version", ["1", "v0.2.0", "0.2", "0.2.0-beta"])
def test_what_is_no_version_is_refused(release: ModuleType, version: str) -> None:
    with pytest.raises(release.ReleaseError, match="is no version"):
        release.prepare(version)


def test_the_changelog_of_this_checkout_can_be_released(release: ModuleType) -> None:
    assert "## 99.0.0 (2030-01-02)" in release.released((ROOT / "CHANGELOG.md").read_text(), "99.0.0", DAY)


def test_the_citation_has_the_version_that_package_json_has() -> None:
    version = json.loads((ROOT / "package.json").read_text())["version"]
    assert re.search(r"^version: (.*)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)[1] == version  # pyright: ignore
