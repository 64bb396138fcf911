"""Several processes on this machine that compute together, each really started; every wait is bounded."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from jitscope import distributed
from tests.extent import full, some


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


@pytest.mark.parametrize("count", [2, pytest.param(4, marks=full)])
def test_processes_compute_together(count: int) -> None:
    for code, text in run("together", count, 180):
        assert code == 0 and text.endswith("done\n"), text


@pytest.mark.parametrize("count", [2, pytest.param(4, marks=full)])
def test_others_raise_where_a_process_died_and_go_on(count: int) -> None:
    *others, (killed, _) = run("last_dies", count, 120)
    assert killed == -signal.SIGKILL
    for code, text in others:
        assert code == 0 and "heard after" in text and text.endswith("done\n"), text


def test_the_living_agree_who_lives() -> None:
    *others, (killed, _) = run("live", 3, 120)
    assert killed == -signal.SIGKILL
    for code, text in others:
        assert code == 0 and text.endswith("done\n"), text


def test_the_runtime_ends_the_others_where_the_first_process_died() -> None:
    (killed, _), (code, text) = run("first_dies", 2, 120)
    assert killed == -signal.SIGKILL
    # Its service went with it: an exchange raises, or the runtime ends the process before, and says why.
    assert "heard after" in text or (code != 0 and "Terminating process" in text), (code, text)


@pytest.mark.parametrize(
    "name",
    some(
        ["other_program", "other_release", "one_stays_away", "one_runs_ahead", "one_is_done_first"],
        always="other_program one_stays_away one_is_done_first",
    ),
)
def test_a_process_that_differs_is_told_or_waited_for(name: str) -> None:
    for code, text in run(name, 2, 120):
        assert code == 0 and text.endswith("done\n"), (code, text)


def test_a_process_that_does_not_come_is_waited_for_so_long() -> None:
    for code, text in run("one_is_late", 3, 60):
        assert code == 0 and text.endswith("done\n"), (code, text)


def test_variables_of_clusters(monkeypatch: pytest.MonkeyPatch) -> None:
    assert distributed.detected() == {}
    for nodes, host in [("n1", "n1"), ("n1,n2", "n1"), ("n[001-015],m", "n001"), ("n[3,7-9]", "n3")]:
        for name, value in {"JOB_ID": "5000", "STEP_NODELIST": nodes, "NTASKS": "8", "PROCID": "3"}.items():
            monkeypatch.setenv(f"SLURM_{name}", value)
        assert distributed.detected() == {"address": f"{host}:{5000 % 4096 + 61440}", "count": 8, "number": 3}
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "4")
    monkeypatch.setenv("OMPI_COMM_WORLD_RANK", "2")
    monkeypatch.setenv("OMPI_MCA_orte_hnp_uri", "1531576320.0;tcp://10.96.0.1,10.148.0.1:34911")
    assert distributed.detected("ompi") == {
        "address": f"10.96.0.1:{1531576320 // 4096 % 4096 + 61440}",
        "count": 4,
        "number": 2,
    }
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
    for name, value in {"JOB_COMPLETION_INDEX": "1", "JOB_COMPLETIONS": "2", "JOB_NAME": "train"}.items():
        monkeypatch.setenv(name, value)
    assert distributed.detected("k8s") == {"address": "train-0.train:1234", "count": 2, "number": 1}


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
