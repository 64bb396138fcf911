"""What there is: parameters of functions of no room that samples cover, and names that tests look up."""

from __future__ import annotations

import functools
from typing import Any

from tests.oracle.library import Library
from tests.oracle.programs import parameters
from tests.oracle.results import Plain


FUNCTIONS = """
jax: jit grad value_and_grad jvp vjp linearize vmap jacfwd jacrev jacobian hessian eval_shape make_jaxpr fwd_and_bwd make_mesh
  pmap shard_map block_until_ready effects_barrier default_backend device_count local_device_count local_devices process_count
  process_index process_indices devices ensure_compile_time_eval typeof copy_to_host_async ShapeDtypeStruct clear_caches
  device_put device_get live_arrays
lax: psum pmean pmax pmin all_gather all_to_all ppermute pshuffle psum_scatter axis_index axis_size pswapaxes pbroadcast
tree: all broadcast flatten_with_path flatten leaves_with_path leaves map_with_path map reduce reduce_associative static structure
  transpose unflatten
tree_util: all_leaves flatten_one_level flatten_one_level_with_keys is_tree_node keystr register_dataclass
  register_pytree_node_class register_pytree_node register_pytree_with_keys_class register_pytree_with_keys register_static
  tree_all tree_broadcast tree_flatten_with_path tree_flatten tree_leaves_with_path tree_leaves tree_map_with_path tree_map
  tree_reduce_associative tree_reduce tree_structure tree_transpose tree_unflatten treedef_children treedef_is_leaf treedef_tuple
flatten_util: ravel_pytree
dtypes: itemsize_bits canonicalize_dtype issubdtype result_type scalar_type_of
random: key PRNGKey split fold_in wrap_key_data key_data key_impl clone
"""
OWN = {("jit", "auto_static")}
"""Parameters that JAX has not."""
LEFT_OUT = {("local_devices", "host_id")}
"""Parameters that only JAX has."""
OBJECTS = {
    ("jit", "fun"),
    ("jit", "in_shardings"),
    ("jit", "out_shardings"),
    ("shard_map", "in_specs"),
    ("shard_map", "axis_names"),
}
"""Parameters whose default is an object of JAX's own that stands for "not given"."""


def _signature(o: Library, path: str) -> Plain:
    name = path.rpartition(".")[2]
    rows = parameters(functools.reduce(getattr, path.split("."), o))
    rows = [row for row in rows if (name, row[0]) not in OWN | LEFT_OUT]
    return Plain([[n, kind, "an object" if (name, n) in OBJECTS else default] for n, kind, default in rows])


def _paths() -> list[str]:
    rooms = (line.split(": ") for line in FUNCTIONS.strip().replace("\n  ", " ").splitlines())
    return [f"{'jx' if room == 'jax' else room}.{name}" for room, names in rooms for name in names.split()]


def _bases(o: Library) -> Plain:
    kept = (TypeError, IndexError, RuntimeError, ValueError)
    kinds = {n: e for n, e in vars(o.errors).items() if isinstance(e, type)}
    return Plain({n: [base.__name__ for base in e.__mro__ if base in kept] for n, e in kinds.items()})


CASES: dict[str, Any] = {path: functools.partial(_signature, path=path) for path in _paths()}
LISTS: dict[str, Any] = {
    "errors": _bases,
    "options": lambda o: Plain(sorted(name for name in o.config._value_holders if name.startswith("jax_"))),
    **{f"stages.{n}": lambda o, n=n: Plain([m for m in dir(getattr(o.stages, n)) if not m.startswith("_")])
       for n in ("Traced", "Lowered", "Compiled")},
}  # fmt: skip
CASES |= LISTS
DIFFERENT = dict.fromkeys(LISTS, "ours has other names beside these; test_api and test_config look them up")


def section(name: str) -> str:
    return name.partition(".")[0]
