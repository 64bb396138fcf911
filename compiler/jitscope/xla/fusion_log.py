"""What XLA's compiler for the CPU says of each decision of its fusion pass, in its log.

The log is of a whole process, and at this level nobody else wants it. So the program is compiled once more in a process of its own (this file,
run as `python -c`), whose log is read while it works; Ctrl-C ends that process.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from . import lapack, mlir
from .devices import all_devices, default_device, device_count, get_client
from .dumps import Source
from .errors import XlaError
from .program import options_for
from .runtime import xc
from .spread import Spread


_LEVEL = "instruction_fusion=9"
_MAIN = "from jitscope.xla.fusion_log import main; main()"
_LAPACK = (b"lapack_", b"tridiagonal_solve_perturbed")


@contextmanager
def fusion_log(source: Source) -> Iterator[Iterator[str]]:
    """The lines of the log, while the program is compiled once more. Reading to the end raises XlaError where XLA did not compile it."""
    with tempfile.TemporaryDirectory(prefix="jitscope-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        (folder / "module").write_bytes(source.lowered)
        options, devices = _asked(source)
        (folder / "options").write_bytes(options)
        known = any(one in source.lowered for one in _LAPACK)
        (folder / "request").write_text(json.dumps({"devices": devices, "lapack": known}))
        process = subprocess.Popen(
            (sys.executable, "-P", "-c", _MAIN, name),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,  # a Ctrl-C is for the process that asks
            env=_environment(),
        )
        try:
            yield _lines(process, folder)
        finally:
            process.kill()
            process.wait()
            if process.stderr is not None:
                process.stderr.close()


def _lines(process: subprocess.Popen[bytes], folder: Path) -> Iterator[str]:
    assert process.stderr is not None
    for line in process.stderr:
        yield line.decode("utf-8", "replace")
    status = process.wait()
    problem = folder / "problem"
    if status:
        raise XlaError(
            problem.read_text() if problem.exists() else f"the process that compiled it ended with status {status}"
        )


def _asked(source: Source) -> tuple[bytes, list[int]]:
    """The serialized options of a program, and the numbers of its devices."""
    known: Any = source.executable
    if (own := getattr(known, "options_with", None)) is not None:
        return own(source.options), list(range(known.devices))
    device = default_device() if known.device is None else known.device
    devices = [d.id for d in device.group.devices] if type(device) is Spread else [device.id]
    return options_for(device, source.options, len(known.callbacks)).SerializeAsString(), devices


def _environment() -> dict[str, str]:
    here = str(Path(__file__).resolve().parents[2])
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(dict.fromkeys([here, *filter(None, sys.path)])),
        "JITSCOPE_NUM_CPU_DEVICES": str(device_count()),
        "TF_CPP_MIN_LOG_LEVEL": "0",
        "TF_CPP_VMODULE": _LEVEL,
    }


def main() -> None:
    """The other process: compiles what lies in the folder that it is told."""
    folder = Path(sys.argv[-1])
    request = json.loads((folder / "request").read_text())
    try:
        if request["lapack"]:
            lapack.register()
        options = xc.CompileOptions.ParseFromString((folder / "options").read_bytes())
        by_id = {d.id: d for d in all_devices()}
        devices = xc.DeviceList(tuple(by_id[number] for number in request["devices"]))
        get_client().compile_and_load(mlir.parse((folder / "module").read_bytes()), devices, options, [])
    except Exception as problem:
        (folder / "problem").write_text(str(problem) or type(problem).__name__)
        os._exit(1)
    os._exit(0)
