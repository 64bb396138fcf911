"""Run a program of `programs/`, or some of its parts, and print what it computed as JSON: `python run.py NAME [PART …]`.

With JAX installed this is how answers are recorded; where it is not, `jax` is jitscope. A program defines
`PARTS`, functions that give trees of numbers and arrays.
"""

import importlib.util
import json
import runpy
import sys
import traceback
import warnings
from pathlib import Path


HERE = Path(__file__).resolve().parent
if importlib.util.find_spec("jax") is None:
    sys.path.insert(0, str(HERE.parents[1] / "examples"))
    import alias  # noqa: F401

import jax  # noqa: E402
import numpy as np  # noqa: E402


def rounded(leaf):
    values = np.asarray(leaf)
    if values.dtype.kind == "c":
        values = np.stack([values.real, values.imag])
    return [float(f"{float(x):.7g}") for x in values.ravel()]


if __name__ == "__main__":
    warnings.simplefilter("error", ImportWarning)
    parts = runpy.run_path(str(HERE / "programs" / f"{sys.argv[1]}.py"))["PARTS"]
    flat = {}
    for part in parts:
        if not sys.argv[2:] or part.__name__ in sys.argv[2:]:
            try:
                flat[part.__name__] = [x for leaf in jax.tree.leaves(part()) for x in rounded(leaf)]
            except Exception:
                traceback.print_exc()
                flat[part.__name__] = None
    json.dump({"jax": jax.__file__.rsplit("/", 2)[1], "results": flat}, sys.stdout)
