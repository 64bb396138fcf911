"""Releases of jaxlib: which are verified, what is said of others, and what is done where one lacks a name."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from jitscope.xla import buffers, client, layout, versions
from tests.compiler.programs import in_new_process


@pytest.mark.parametrize(
    ("version", "verified"),
    [("0.8.0", True), ("0.9.2", True), ("0.10.9", True), ("0.10.2.dev20260101", True), ("0.7.2", False), ("0.11.0", False), ("1.0", False)],
)  # fmt: skip
def test_minor_releases_are_verified(version: str, verified: bool) -> None:
    assert versions.is_verified(version) is verified


def test_verified_releases_are_not_spoken_of() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        versions.warn_if_unverified("0.8.0")


def test_what_another_release_lacks_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.warns(
        RuntimeWarning, match=r"jaxlib 0\.11\.0 .* verified with jaxlib 0\.8 to 0\.10\. It has all the names"
    ):
        versions.warn_if_unverified("0.11.0")
    used = {
        "_jax": "JaxRuntimeError Client.no_such_method",
        "_no_such_module": "f",
        "xla_client": "gone|CompileOptions gone|lost",
    }
    monkeypatch.setattr(versions, "_USED", used)
    lacking = ["_jax.Client.no_such_method", "_no_such_module.f", "xla_client.gone|lost"]
    assert versions.missing() == lacking
    with pytest.warns(RuntimeWarning, match=r"It lacks .*no_such_method, .*pip install \"jaxlib==0\.10\.\*\""):
        versions.warn_if_unverified("0.11.0")


def test_an_unverified_release_is_tried_with_one_warning() -> None:
    told = in_new_process(
        """
        import warnings
        import jaxlib.version
        jaxlib.version.__version__ = "0.99.1"
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            import jitscope as jx, jitscope.numpy as jnp
            float(jx.jit(jnp.sin)(1.0))
        print(len(seen), seen[0].category.__name__, "jaxlib 0.99.1" in str(seen[0].message))
        """
    )
    assert told == "1 RuntimeWarning True"


def test_both_ways_to_another_object_for_the_same_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    for same_memory in (versions.same_memory, lambda buf: buf.clone()):
        monkeypatch.setattr(buffers, "same_memory", same_memory)
        buf = client.put(np.arange(4, dtype=np.float32))
        other = same_memory(buf)
        assert other is not buf and buffers.pointer(other) == buffers.pointer(buf)
        client.delete(buf)
        assert client.is_deleted(buf)


def test_text_is_plain_with_what_the_printer_is_told() -> None:
    doc = layout.group(layout.nest(2, layout.concat([layout.text("a"), layout.line_break(), layout.text("b")])))
    assert layout.render(doc) == "a b" and layout.render(doc, 1) == "a\n  b"
