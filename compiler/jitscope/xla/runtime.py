"""jaxlib's main modules, imported once with its logging kept quiet.

The log level is read when jaxlib is loaded, so it has to be set here, before every other import of jaxlib.
"""

import os
from importlib import import_module
from typing import Any


os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

xc: Any = import_module("jaxlib.xla_client")
_jax: Any = import_module("jaxlib._jax")

RuntimeFailure: type[RuntimeError] = _jax.JaxRuntimeError
