"""`import alias`, and from then on `import jax` is `import jitscope`: libraries written for JAX run on it, where JAX itself
is not installed. docs/libraries.md says which do."""

import importlib
import sys
from importlib.machinery import ModuleSpec

import jitscope
from jitscope import version


class Alias:
    """Finds `jax` and its modules: they are those of jitscope."""

    def find_spec(self, name, path=None, target=None):
        return ModuleSpec(name, self, is_package=True) if name.split(".")[0] == "jax" else None

    def create_module(self, spec):
        module = importlib.import_module("jitscope" + spec.name[3:])
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module):
        spec = module.__spec__
        module.__spec__ = spec.loader_state  # the module stays what it was
        if spec.name == "jax":
            for name in LOADED:
                importlib.import_module(f"jax.{name}")


LOADED = """ad_checkpoint api_util core custom_batching custom_derivatives debug distributed dlpack dtypes errors export ffi image
interpreters.ad interpreters.batching interpreters.mlir interpreters.partial_eval interpreters.xla lax lax.linalg lib monitoring nn
nn.initializers numpy numpy.fft numpy.linalg ops profiler random ref scipy sharding stages tree tree_util typing version""".split()
"""What `import jax` imports, too: libraries look for it among the modules."""


sys.meta_path.insert(0, Alias())
jitscope.__version__, jitscope.__version_info__ = version.__version__, version.__version_info__
