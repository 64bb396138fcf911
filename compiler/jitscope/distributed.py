"""`jitscope.distributed`: several processes, on one machine or many, that compute together."""

from __future__ import annotations

import atexit
import os
import re
import sys
from collections.abc import Sequence
from typing import Any

from .xla import processes


__all__ = ["initialize", "is_initialized", "shutdown"]


def initialize(
    coordinator_address: str | None = None,
    num_processes: int | None = None,
    process_id: int | None = None,
    local_device_ids: int | Sequence[int] | None = None,
    cluster_detection_method: str | None = None,
    initialization_timeout: int = 300,
    heartbeat_timeout_seconds: int = 100,
    shutdown_timeout_seconds: int = 300,
    coordinator_bind_address: str | None = None,
    slice_index: int | None = None,
    partition_index: int | None = None,
) -> None:
    """Join the other processes; each calls it before it makes its first array.

    `coordinator_address` ("host:port") is where process 0 listens, `num_processes` how many there are, `process_id` the number of
    this one. What is left out comes from JAX_COORDINATOR_ADDRESS, or from the variables of Slurm, Open MPI or an indexed job of
    Kubernetes (not with `cluster_detection_method="deactivate"`). Times in seconds. `local_device_ids`, `slice_index` and
    `partition_index` say nothing on the CPU, whose devices num_cpu_devices counts.

    All processes need the same releases of jaxlib and jitscope, and run the same programs over all devices in the same order; where they
    do not, all of them raise XlaError.

    Where a process dies, what others compute with it raises XlaError, at the latest after `heartbeat_timeout_seconds`. Where it is
    process 0, which runs the service, the runtime ends the others with a message. Where one does not come, the others raise XlaError
    after `initialization_timeout`; none waits for ever.

    Raises ValueError for what nobody says, RuntimeError where this process has computed already.
    """
    address = coordinator_address or os.environ.get("JAX_COORDINATOR_ADDRESS")
    found = {} if cluster_detection_method == "deactivate" else cluster_settings(cluster_detection_method)
    address = address or found.get("address")
    count = found.get("count") if num_processes is None else num_processes
    number = found.get("number") if process_id is None else process_id
    for name, value in (("coordinator_address", address), ("num_processes", count), ("process_id", number)):
        if value is None:
            raise ValueError(
                f"distributed.initialize needs {name}: there are no variables of Slurm, Open MPI or Kubernetes here that say it"
            )
    if not isinstance(number, int) or not isinstance(count, int) or not 0 <= number < count:
        raise ValueError(f"process_id is a number from 0 to num_processes - 1, not {number!r} of {count!r}")
    if ":" not in str(address):
        raise ValueError(f"coordinator_address is 'host:port', not {address!r}")
    processes.join(
        str(address), count, number, coordinator_bind_address, initialization_timeout, heartbeat_timeout_seconds, shutdown_timeout_seconds
    )  # fmt: skip


def is_initialized() -> bool:
    """Whether this process has joined others."""
    return processes.joined is not None


def shutdown() -> None:
    """Leave the others, when all that live are about to: the service ends then, with process 0, which leaves last. Raises XlaError where
    one does not come in time."""
    processes.leave()


def cluster_settings(method: str | None = None) -> dict[str, Any]:
    """What the variables of a cluster say: `address`, `count`, `number`. `method`: of this one alone ("slurm", "ompi", "k8s")."""
    for name, read in (("slurm", _slurm), ("ompi", _open_mpi), ("k8s", _kubernetes)):
        if method in (None, name) and (found := read()):
            return found
    return {}


def _port(job: int) -> int:
    return job % 2**12 + (65535 - 2**12 + 1)


def _slurm() -> dict[str, Any]:
    names = ("SLURM_JOB_ID", "SLURM_STEP_NODELIST", "SLURM_NTASKS", "SLURM_PROCID")
    if not all(name in os.environ for name in names):
        return {}
    job, nodes, count, number = (os.environ[name] for name in names)
    # node001 | node001,node002 | node[001-015],other | node[001,007-015]
    host = re.match(r"([^,\[]+)(?:\[([^,\-\]]+))?", nodes)
    first = "".join(part or "" for part in host.groups()) if host else nodes
    return {"address": f"{first}:{_port(int(job))}", "count": int(count), "number": int(number)}


def _open_mpi() -> dict[str, Any]:
    size, rank = os.environ.get("OMPI_COMM_WORLD_SIZE"), os.environ.get("OMPI_COMM_WORLD_RANK")
    if size is None or rank is None:
        return {}
    found: dict[str, Any] = {"count": int(size), "number": int(rank)}
    uri = os.environ.get("OMPI_MCA_orte_hnp_uri", "")
    host = re.search(r"tcp6?://\[?([^,:\]]+)", uri)
    if host:
        found["address"] = f"{host.group(1)}:{_port(int(uri.split('.')[0]) // 2**12)}"
    return found


def _kubernetes() -> dict[str, Any]:
    """An indexed job with a headless service of the job's name, which is the subdomain of its pods."""
    index, count = os.environ.get("JOB_COMPLETION_INDEX"), os.environ.get("JOB_COMPLETIONS")
    if index is None or "KUBERNETES_SERVICE_HOST" not in os.environ:
        return {}
    found: dict[str, Any] = {"number": int(index)}
    if count is not None:
        found["count"] = int(count)
    job = os.environ.get("JOB_NAME") or os.environ.get("HOSTNAME", "").rpartition(f"-{index}")[0]
    if job:
        found["address"] = f"{job}-0.{os.environ.get('JOB_SERVICE', job)}:1234"
    return found


@atexit.register
def _at_the_end() -> None:
    try:
        processes.leave()
    except processes.XlaError:
        pass  # the others are gone, and so is this process
    if processes.stuck.is_set():  # else it would wait for threads of the runtime that wait for ever
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(1 if hasattr(sys, "last_value") else 0)
