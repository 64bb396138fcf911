"""A compilation's document with what an instrument found, where all its views look for it."""

from __future__ import annotations

from typing import Any

from .words import Document


def attached(compilation: Document, name: str, found: Document) -> dict[str, Any]:
    """A newer form of the compilation; what a profile measured is the share of its kernels, too."""
    newer = {**compilation, "instruments": {**compilation.get("instruments", {}), name: found}}
    fusion = compilation.get("fusion")
    if name == "profile" and fusion:
        shares = {kernel["name"]: kernel["share"] for kernel in found["kernels"]}
        kernels = [{**kernel, "share": shares.get(kernel["name"], kernel["share"])} for kernel in fusion["kernels"]]
        newer["fusion"] = {**fusion, "kernels": kernels}
    return newer
