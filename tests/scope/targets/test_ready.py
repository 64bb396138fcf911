"""Which plugin is taken, which is refused, and what is said where there is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from jitscope_scope.targets import ready


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, str]:
    """Packages with their versions, and libraries for the GPU's plugins."""
    versions: dict[str, str] = {"jaxlib": "0.10.2"}
    monkeypatch.setattr(ready, "_version", versions.get)
    monkeypatch.setattr(ready, "jaxlib_version", lambda: versions["jaxlib"])
    for kind in ("cuda12", "cuda13"):
        library = tmp_path / "jax_plugins" / f"xla_{kind}" / "xla_cuda_plugin.so"
        library.parent.mkdir(parents=True)
        library.write_bytes(b"")
    monkeypatch.setattr(ready.sys, "path", [str(tmp_path)])
    monkeypatch.setattr(ready, "find_spec", lambda name: None)
    return versions


def test_two_lines_where_nothing_is_installed(installed: dict[str, str]) -> None:
    said = ready.plugin_for("cuda")
    assert isinstance(said, str)
    first, second = said.splitlines()
    assert first == "XLA's compiler for GPUs is not installed here."
    assert second.startswith("pip install --no-deps jax-cuda12-pjrt==0.10.2 ")
    said = ready.plugin_for("tpu")
    assert isinstance(said, str) and 'pip install --no-deps "libtpu==0.0.42.*"' in said.splitlines()[1]


def test_the_plugin_that_fits_is_taken(installed: dict[str, str]) -> None:
    installed["jax-cuda13-pjrt"] = "0.11.0"
    installed["jax-cuda12-pjrt"] = "0.10.2"
    found = ready.plugin_for("cuda")
    assert isinstance(found, ready.Plugin) and "xla_cuda12" in found.library


def test_one_that_does_not_fit_is_refused_by_name(installed: dict[str, str]) -> None:
    installed["jax-cuda12-pjrt"] = "0.11.0"
    said = ready.plugin_for("cuda")
    assert isinstance(said, str)
    assert "jax-cuda12-pjrt 0.11.0 goes with jaxlib 0.11.0, and jaxlib 0.10.2 is installed" in said.splitlines()[0]


def test_every_chip_is_listed_with_what_makes_it_ready(installed: dict[str, str]) -> None:
    installed["jax-cuda12-pjrt"] = "0.10.2"
    listed = {one.name: one for one in ready.targets()}
    assert listed["h100"].ready and not listed["h100"].todo and listed["h100"].several == "h100:8"
    assert not listed["v5e"].ready and "libtpu" in listed["v5e"].todo and listed["v5e"].several == "v5e:4x4"
