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
        module.__spec__ = module.__spec__.loader_state  # the module stays what it was


sys.meta_path.insert(0, Alias())
jitscope.__version__, jitscope.__version_info__ = version.__version__, version.__version_info__
