"""Record what the programs compute on JAX: `python -m tests.libraries.record [NAME …]` with an environment that has JAX and
the libraries of requirements.txt."""

import json
import subprocess
import sys
from pathlib import Path


HERE = Path(__file__).parent


def record(name: str) -> None:
    ran = subprocess.run([sys.executable, HERE / "run.py", name], stdout=subprocess.PIPE, text=True, check=True)
    answer = json.loads(ran.stdout)
    if answer["jax"] != "jax" or None in answer["results"].values():
        raise SystemExit(f"{name} did not run on JAX: {answer['jax']}")
    lines = (f"{json.dumps(part)}: {json.dumps(values)}" for part, values in answer["results"].items())
    (HERE / "recorded" / f"{name}.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    for name in sys.argv[1:] or sorted(path.stem for path in (HERE / "programs").glob("*.py")):
        record(name)
