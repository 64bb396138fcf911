"""A compilation's document with what an instrument found, where all its views look for it."""

from __future__ import annotations

from typing import cast

from .documents.annotations import (
    CodeFunction,
    CompilationDocument,
    InstrumentDocument,
    Instruments,
    MachineDocument,
    MachineKernel,
    ProfileDocument,
)


def with_instrument(compilation: CompilationDocument, name: str, found: InstrumentDocument) -> CompilationDocument:
    """A newer form of the compilation; what a profile measured is the share of its kernels and of their code, too."""
    instruments = cast("Instruments", {**compilation.get("instruments", {}), name: found})
    newer: CompilationDocument = {**compilation, "instruments": instruments}
    profile, machine, fusion = instruments.get("profile"), instruments.get("machine"), compilation.get("fusion")
    if profile and name in ("profile", "machine"):
        shares = _shares(profile)
        if fusion:
            kernels = [
                {**kernel, "share": shares.get(kernel["name"], kernel.get("share"))} for kernel in fusion["kernels"]
            ]
            newer["fusion"] = {**fusion, "kernels": kernels}  # pyright: ignore[reportGeneralTypeIssues]
        if machine:
            instruments["machine"] = _timed_code(machine, shares)
    return newer


def _shares(profile: ProfileDocument) -> dict[str, float]:
    return {kernel["name"]: kernel["share"] for kernel in profile["kernels"] if kernel["share"] is not None}


def _timed_code(machine: MachineDocument, shares: dict[str, float]) -> MachineDocument:
    """Machine code with the measured shares of kernels, what takes most time first."""

    def timed(one: CodeFunction) -> CodeFunction:
        known = [shares[kernel] for kernel in one["kernels"] if kernel in shares]
        return {**one, "share": sum(known)} if known and one["role"] == "kernel" else one

    functions = sorted(map(timed, machine["functions"]), key=lambda one: -(one["share"] or 0.0))
    kernels: list[MachineKernel] = [
        {**one, "share": shares.get(one["name"], one["share"])} for one in machine["kernels"]
    ]
    return {**machine, "functions": functions, "kernels": kernels}
