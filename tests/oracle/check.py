"""Compare functions, all of a file of samples, or a table of cases: `python -m tests.oracle.check numpy.sum numpy_reductions api …`;
with `--equations`, list the samples whose programs have more equations than JAX's.
"""

from __future__ import annotations

import sys
import warnings

from tests.oracle import comparing, samples, tables
from tests.oracle.library import Library


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    library = Library("jitscope")
    chosen = [a for a in sys.argv[1:] if not a.startswith("--")]
    functions = [f for f in samples.every() if not chosen or f.name in chosen or f.file in chosen]
    bad = 0
    for table in tables.tables():
        if table.name in chosen:
            found = [fault for section in table.sections for fault in table.faults(library, section)]
            print("\n".join(found) if found else f"ok {table.name}: {len(table.names)} cases", flush=True)
    for function in functions:
        if "--equations" in sys.argv:
            for ratio, expr, ours, theirs in comparing.outliers(library, function):
                print(f"{ratio:6.2f}  {ours:4d} {theirs:4d}  {function.name}: {expr}")
            continue
        found = comparing.faults(library, function)
        bad += bool(found)
        print("\n".join(found) if found else f"ok {function.name}", flush=True)
    print(f"{len(functions)} functions, {bad} with faults")
