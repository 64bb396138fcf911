"""Record what the programs compute on JAX: `python -m tests.libraries.record [NAME [PART …]]` with an environment that has JAX
and the libraries of requirements.txt."""

import json
import subprocess
import sys
from pathlib import Path


HERE = Path(__file__).parent


def record(name: str, *parts: str) -> None:
    ran = subprocess.run([sys.executable, HERE / "run.py", name, *parts], stdout=subprocess.PIPE, text=True, check=True)
    answer = json.loads(ran.stdout)
    if answer["jax"] != "jax" or None in answer["results"].values():
        raise SystemExit(f"{name} did not run on JAX: {answer['jax']}")
    file = HERE / "recorded" / f"{name}.json"
    before = json.loads(file.read_text()) if parts and file.exists() else {}
    lines = (f"{json.dumps(part)}: {json.dumps(values)}" for part, values in {**before, **answer["results"]}.items())
    file.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    if sys.argv[1:]:
        record(*sys.argv[1:])
    else:
        for path in sorted((HERE / "programs").glob("*.py")):
            record(path.stem)
