"""Several processes on this machine that compute together, each really started; every wait is bounded."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from jitscope import distributed
from tests.extent import full


def run(name: str, count: int, timeout: float) -> list[tuple[int, str]]:
    """Exit codes and what was printed."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.many_devices.process_programs", name, str(i), str(count), str(port)],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=Path(__file__).parents[2],
        )
        for i in range(count)
    ]  # fmt: skip
    found = []
    try:
        for p in processes:
            found.append((p.communicate(timeout=timeout)[0], p))
    finally:
        for p in processes:
            p.kill()
    return [(p.returncode, text) for text, p in found]


PROGRAMS = {
    "together": 2,
    "last_dies": 2,
    "live": 3,
    "first_dies": 2,
    "other_program": 2,
    "one_stays_away": 2,
    "one_is_done_first": 2,
    "one_is_late": 3,
}
"""Programs, and of how many processes."""
MORE = [("together", 4), ("last_dies", 4), ("other_release", 2), ("one_runs_ahead", 2)]


@pytest.mark.long
@pytest.mark.parametrize("programs", [[*PROGRAMS.items()], pytest.param(MORE, marks=full)], ids=["all", "more"])
def test_processes_compute_together_and_tell_what_differs_and_who_died(programs: list[tuple[str, int]]) -> None:
    """They mostly wait, so that four programs run at a time."""
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda program: run(*program, 180), programs))
    for (name, _), ended in zip(programs, found, strict=True):
        check(name, ended)


def check(name: str, ended: list[tuple[int, str]]) -> None:
    if name == "first_dies":
        (killed, _), (code, text) = ended
        assert killed == -signal.SIGKILL
        # Its service went with it: an exchange raises, or the runtime ends the process before, and says why.
        assert "heard after" in text or (code != 0 and "Terminating process" in text), (code, text)
        return
    if name in ("last_dies", "live"):
        *ended, (killed, _) = ended
        assert killed == -signal.SIGKILL, name
    for code, text in ended:
        assert code == 0 and text.endswith("done\n"), (name, code, text)
        assert "heard after" in text or name != "last_dies", text


def test_variables_of_clusters(monkeypatch: pytest.MonkeyPatch) -> None:
    assert distributed.cluster_settings() == {}
    for nodes, host in [("n1", "n1"), ("n1,n2", "n1"), ("n[001-015],m", "n001"), ("n[3,7-9]", "n3")]:
        for name, value in {"JOB_ID": "5000", "STEP_NODELIST": nodes, "NTASKS": "8", "PROCID": "3"}.items():
            monkeypatch.setenv(f"SLURM_{name}", value)
        assert distributed.cluster_settings() == {"address": f"{host}:{5000 % 4096 + 61440}", "count": 8, "number": 3}
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "4")
    monkeypatch.setenv("OMPI_COMM_WORLD_RANK", "2")
    monkeypatch.setenv("OMPI_MCA_orte_hnp_uri", "1531576320.0;tcp://10.96.0.1,10.148.0.1:34911")
    assert distributed.cluster_settings("ompi") == {
        "address": f"10.96.0.1:{1531576320 // 4096 % 4096 + 61440}",
        "count": 4,
        "number": 2,
    }
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
    for name, value in {"JOB_COMPLETION_INDEX": "1", "JOB_COMPLETIONS": "2", "JOB_NAME": "train"}.items():
        monkeypatch.setenv(name, value)
    assert distributed.cluster_settings("k8s") == {"address": "train-0.train:1234", "count": 2, "number": 1}


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"coordinator_address": "a:1", "num_processes": 2, "process_id": 2},
        {"coordinator_address": "a", "num_processes": 1, "process_id": 0},
    ],
)
def test_wrong_calls(given: dict) -> None:
    with pytest.raises(ValueError, match=r"coordinator_address|process_id"):
        distributed.initialize(**given)
