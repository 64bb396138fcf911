"""Libraries written for JAX, run on jitscope (`examples/alias.py`) in an environment without JAX. What their programs compute
is compared with what they computed on JAX 0.10.2: `recorded/NAME.json`, which `python -m tests.libraries.record` writes."""

import importlib.util
import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

from tests.extent import ALL, QUICK, flags, some


HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PYTHON = ROOT / ".venv-libraries" / "bin" / "python"
PROGRAMS = sorted(path.stem for path in (HERE / "programs").glob("*.py"))
# Where results stop at a tolerance of the method, or a sum of many terms cancels.
TOLERANCE = {"diffrax_solves": 2e-5, "numpyro_models": 2e-5}


def environment() -> dict[str, str]:
    spec = importlib.util.find_spec("jitscope")
    assert spec is not None and spec.origin is not None
    quickly = {} if ALL else flags(**QUICK)
    return os.environ | quickly | {"PYTHONPATH": str(Path(spec.origin).parents[1])}


@pytest.fixture(scope="module")
def python() -> str:
    if not (ROOT / ".venv-libraries" / ".installed").exists():
        pytest.fail(
            "the libraries are not installed: `make .venv-libraries/.installed` does it, as `make test` does; it needs a "
            "package index that can be reached"
        )
    return str(PYTHON)


@pytest.mark.parametrize("name", some(PROGRAMS, always="equinox_nets flax_nnx"))
def test_programs_give_what_they_give_on_jax(python: str, name: str) -> None:
    ran = subprocess.run(
        [python, HERE / "run.py", name], capture_output=True, text=True, env=environment(), check=False
    )
    assert ran.returncode == 0, ran.stderr[-4000:]
    answer = json.loads(ran.stdout)
    assert answer["jax"] == "jitscope"
    recorded = json.loads((HERE / "recorded" / f"{name}.json").read_text())
    assert sorted(answer["results"]) == sorted(recorded)
    for part, wanted in recorded.items():
        found = answer["results"][part]
        assert found is not None, f"{name}: {part} failed\n{ran.stderr[-4000:]}"
        tolerance = TOLERANCE.get(name, 2e-6)
        scale = max(map(abs, wanted), default=0) + 1e-3
        np.testing.assert_allclose(
            found, wanted, rtol=20 * tolerance, atol=tolerance * scale, err_msg=f"{name}: {part}"
        )


def test_modules_stay_what_they_are(python: str) -> None:
    """The alias gives second names to modules; it makes no second modules."""
    script = """
import alias, sys
import jax, jax.numpy as jnp, jax.numpy.linalg, jax.scipy.special, jitscope, jax._src.core
from jax.interpreters import ad
assert jax is jitscope and jnp is jitscope.numpy and jax.numpy.linalg is jitscope.numpy.linalg
assert jnp.__spec__.name == "jitscope.numpy" and jax.__version__ == "0.12.0.1" == jax.version.__version__
try:
    import jax.no_such_room
except ModuleNotFoundError as error:
    print(error)
"""
    where = environment()
    where["PYTHONPATH"] += os.pathsep + str(ROOT / "examples")
    ran = subprocess.run([python, "-W", "error", "-c", script], capture_output=True, text=True, env=where, check=False)
    assert ran.returncode == 0 and "no_such_room" in ran.stdout, ran.stderr
