"""Releases of jaxlib: which are verified, what is said of others, and what is done where one lacks a name."""

from __future__ import annotations

import ast
import re
import warnings
from itertools import accumulate
from pathlib import Path

import numpy as np
import pytest

from jitscope.xla import buffers, client, layout, versions
from tests.compiler.programs import in_new_process


@pytest.mark.parametrize(
    ("version", "verified"),
    [("0.10.2", True), ("0.10.9", True), ("0.11.2", True), ("0.12.0.1", True), ("0.12.1.dev20260101", True), ("0.10.1", False),
     ("0.9.2", False), ("0.13.0", False), ("1.0", False)],
)  # fmt: skip
def test_minor_releases_are_verified(version: str, verified: bool) -> None:
    assert versions.is_verified(version) is verified


def test_verified_releases_are_not_spoken_of() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        versions.warn_if_unverified("0.10.2")


def test_what_another_release_lacks_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.warns(
        RuntimeWarning, match=r"jaxlib 0\.13\.0 .* 0\.10\.2 to 0\.12\. All names .* not known: `jitscope doctor`"
    ):
        versions.warn_if_unverified("0.13.0")
    with pytest.warns(RuntimeWarning, match=r"jaxlib 0\.9\.2 .* too old: .*pip install \"jaxlib>=0\.10\.2\""):
        versions.warn_if_unverified("0.9.2")
    used = {
        "_jax": "JaxRuntimeError Client.no_such_method",
        "_no_such_module": "f",
        "xla_client": "CompileOptions gone array_result_handler(aval,committed,skips)",
    }
    monkeypatch.setattr(versions, "_USED", used)
    lacking = [
        "_jax.Client.no_such_method",
        "_no_such_module.f",
        "xla_client.gone",
        "xla_client.array_result_handler(skips)",
    ]
    assert versions.missing() == lacking
    with pytest.warns(RuntimeWarning, match=r"It lacks .*no_such_method, .*pip install \"jaxlib==0\.12\.\*\""):
        versions.warn_if_unverified("0.13.0")


def test_all_that_the_sources_read_of_jaxlib_is_asked_for() -> None:
    modules = {"xc": "xla_client", "_jax": "_jax", "_hlo": "_hlo", "_printer": "_pretty_printer"}
    found = set()
    for file in Path(versions.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            root, _, name = ast.unparse(node).partition(".") if isinstance(node, ast.Attribute) else ("", "", "")
            if root in modules and file.name != "plugin_worker.py" and re.fullmatch(r"[\w.]+", name):
                found.add((modules[root], name))
    asked = {(module, one.partition("(")[0]) for module, used in versions._USED.items() for one in used.split()}
    beginnings = {(module, name) for module, full in asked for name in accumulate(full.split("."), "{}.{}".format)}
    assert len(found) > 30 and found - beginnings == set()


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


def test_another_object_for_the_same_memory() -> None:
    buf = client.put(np.arange(4, dtype=np.float32))
    other = versions.same_memory(buf)
    assert other is not buf and buffers.pointer(other) == buffers.pointer(buf)
    client.delete(buf)
    assert client.is_deleted(buf)


def test_text_is_plain_with_what_the_printer_is_told() -> None:
    doc = layout.group(layout.nest(2, layout.concat([layout.text("a"), layout.line_break(), layout.text("b")])))
    assert layout.render(doc) == "a b" and layout.render(doc, 1) == "a\n  b"
