"""Runs the cases in a process of eight devices: `python -m tests.many_devices.run LIBRARY [NAME …]` prints what each gives as JSON.

python -m tests.many_devices.run jax > tests/many_devices/recorded.json         (in an environment with jax)
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from typing import Any

import numpy as np


def plain(x: Any) -> Any:
    """As JSON has it."""
    if isinstance(x, (np.ndarray, np.generic)):
        return {"dtype": str(x.dtype), "values": np.asarray(x).tolist()}
    if isinstance(x, dict):
        return {str(k): plain(v) for k, v in x.items()}
    if isinstance(x, (list, tuple)):
        return [plain(v) for v in x]
    return x


def main(root: str, names: list[str]) -> None:
    if root == "jax":
        os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
    os.environ["JITSCOPE_NUM_CPU_DEVICES"] = "8"
    import tests.many_devices.cases_of_divisions
    import tests.many_devices.cases_of_documentation
    import tests.many_devices.cases_of_exports
    import tests.many_devices.cases_of_formats
    import tests.many_devices.cases_of_inputs
    import tests.many_devices.cases_of_nesting
    import tests.many_devices.cases_of_one_device
    import tests.many_devices.cases_of_open_sums
    import tests.many_devices.cases_of_partitioning
    import tests.many_devices.cases_of_parts
    import tests.many_devices.cases_of_places
    import tests.many_devices.cases_of_refusals
    import tests.many_devices.cases_of_spread_operations
    import tests.many_devices.cases_of_types
    import tests.many_devices.cases_of_ways  # noqa: F401  (more cases)
    from tests.many_devices.cases import CASES, Given

    given, found = Given(root), {}
    for name in names or CASES:
        try:
            found[name] = plain(CASES[name](given))
        except Exception:
            found[name] = {"raised": traceback.format_exc()}
    print(json.dumps(found, separators=(",", ":")).replace('],"', '],\n"'))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
