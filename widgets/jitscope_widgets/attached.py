"""A compilation's document with what an instrument found, where all its views look for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast


if TYPE_CHECKING:
    from .documents.compilation import CompilationDocument, InstrumentDocument, Instruments
    from .documents.fusion import Kernel
    from .documents.profile import ProfileDocument


def attached(compilation: CompilationDocument, name: str, found: InstrumentDocument) -> CompilationDocument:
    """A newer form of the compilation; what a profile measured is the share of its kernels, too."""
    instruments = cast("Instruments", {**compilation.get("instruments", {}), name: found})
    newer: CompilationDocument = {**compilation, "instruments": instruments}
    fusion = compilation.get("fusion")
    if name == "profile" and fusion:
        shares = {kernel["name"]: kernel["share"] for kernel in cast("ProfileDocument", found)["kernels"]}
        kernels: list[Kernel] = [
            {**kernel, "share": shares.get(kernel["name"], kernel.get("share"))} for kernel in fusion["kernels"]
        ]
        newer["fusion"] = {**fusion, "kernels": kernels}
    return newer
