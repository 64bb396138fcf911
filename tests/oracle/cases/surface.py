"""What there is: parameters of functions of no room that samples cover, and names that tests look up."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Iterator
from typing import Any

from tests.oracle.library import Library
from tests.oracle.programs import parameters
from tests.oracle.results import Plain


FUNCTIONS = """
jax: jit grad value_and_grad jvp vjp linearize vmap jacfwd jacrev jacobian hessian eval_shape make_jaxpr fwd_and_bwd
  make_mesh pmap shard_map block_until_ready effects_barrier default_backend device_count local_device_count local_devices
  process_count process_index process_indices devices ensure_compile_time_eval typeof copy_to_host_async ShapeDtypeStruct
  clear_caches device_put device_get live_arrays P Ref closure_convert custom_gradient custom_jvp custom_vjp disable_jit ds
  empty_ref free_ref freeze host_count host_id host_ids linear_transpose make_array_from_callback
  make_array_from_process_local_data make_array_from_single_device_arrays make_user_context named_call named_scope new_ref
  print_environment_info pure_callback reshard set_mesh smap allow_f16_reductions array_garbage_collection_guard auto_pcast
  check_tracer_leaks debug_infs debug_key_reuse debug_nans default_device default_matmul_precision default_prng_impl
  enable_checks enable_custom_prng enable_x64 explain_cache_misses legacy_prng_key log_compiles no_execution no_tracing
  numpy_dtype_promotion numpy_rank_promotion remove_size_one_mesh_axis_from_type softmax_custom_jvp thread_guard
  threefry_partitionable transfer_guard transfer_guard_device_to_device transfer_guard_device_to_host
  transfer_guard_host_to_device checkpoint
lax: psum pmean pmax pmin all_gather all_to_all ppermute pshuffle psum_scatter axis_index axis_size pswapaxes pbroadcast
tree: all broadcast flatten_with_path flatten leaves_with_path leaves map_with_path map reduce reduce_associative static
  structure transpose unflatten
tree_util: all_leaves flatten_one_level flatten_one_level_with_keys is_tree_node keystr register_dataclass
  register_pytree_node_class register_pytree_node register_pytree_with_keys_class register_pytree_with_keys register_static
  tree_all tree_broadcast tree_flatten_with_path tree_flatten tree_leaves_with_path tree_leaves tree_map_with_path tree_map
  tree_reduce_associative tree_reduce tree_structure tree_transpose tree_unflatten treedef_children treedef_is_leaf
  treedef_tuple Partial
flatten_util: ravel_pytree
dtypes: itemsize_bits canonicalize_dtype issubdtype result_type scalar_type_of
random: key PRNGKey split fold_in wrap_key_data key_data key_impl clone
ad_checkpoint: checkpoint_name print_saved_residuals
api_util: argnums_partial shaped_abstractify
custom_batching: custom_vmap sequential_vmap
custom_derivatives: CustomVJPPrimal SymbolicZero closure_convert custom_gradient custom_jvp custom_vjp zero_from_primal
debug: breakpoint inspect_array_sharding visualize_array_sharding visualize_sharding callback log print
distributed: initialize is_initialized shutdown
experimental: io_callback
experimental.buffer_callback: buffer_callback
experimental.checkify: check check_error checkify debug_check
experimental.compilation_cache.compilation_cache: reset_cache set_cache_dir
experimental.jet: jet
experimental.mesh_utils: create_device_mesh create_hybrid_device_mesh
experimental.multihost_utils: assert_equal broadcast_one_to_all global_array_to_host_local_array
  host_local_array_to_global_array live_devices process_allgather reached_preemption_sync_point sync_global_devices
experimental.ode: odeint ravel_pytree
experimental.sparse: BCOO BCSR COO CSC CSR JAXSparse bcoo_broadcast_in_dim bcoo_concatenate bcoo_dot_general
  bcoo_dot_general_sampled bcoo_dynamic_slice bcoo_extract bcoo_fromdense bcoo_multiply_dense bcoo_multiply_sparse
  bcoo_reduce_sum bcoo_reshape bcoo_rev bcoo_slice bcoo_sort_indices bcoo_squeeze bcoo_sum_duplicates bcoo_todense
  bcoo_transpose bcoo_update_layout bcsr_dot_general bcsr_fromdense bcsr_sum_duplicates bcsr_todense coo_fromdense coo_matmat
  coo_matvec coo_todense csr_fromdense csr_matmat csr_matvec csr_todense empty eye grad jacfwd jacobian jacrev sparsify
  todense value_and_grad
export: DisabledSafetyCheck Exported SymbolicScope default_export_platform deserialize is_symbolic_dim
  register_namedtuple_serialization register_pytree_node_serialization symbolic_args_specs symbolic_shape
extend.core: concrete_or_error gensym get_opaque_trace_state jaxprs_in_params mapped_aval nonempty_axis_env_DO_NOT_USE
  primal_dtype_to_tangent_dtype subjaxprs unmapped_aval unsafe_am_i_under_a_jit_DO_NOT_USE
  unsafe_am_i_under_a_vmap_DO_NOT_USE unsafe_get_axis_names_DO_NOT_USE valid_jaxtype
ffi: ffi_call include_dir pycapsule
interpreters.ad: add_jaxvals add_tangents defbilinear defjvp defjvp2 deflinear deflinear2 get_primitive_transpose
  is_undefined_primal zeros_like_aval
interpreters.batching: bdim_at_front defbroadcasting defreducer defvectorized
profiler: annotate_function device_memory_profile register_subprocess save_device_memory_profile start_server start_trace
  stop_server stop_trace trace
ref: addupdate empty_ref free_ref freeze get new_ref set swap
sharding: AbstractDevice AxisType ManualAxisType Mesh PartitionSpec auto_axes explicit_axes get_abstract_mesh get_mesh
  make_single_device_sharding reshard set_mesh use_abstract_mesh
test_util: check_grads check_jvp check_vjp
"""
METHODS = """
jx.jit(sin): clear_cache
jx.jit(sin).trace(x): lower
jx.jit(sin).lower(x): as_text compile compiler_ir cost_analysis
jx.jit(sin).lower(x).compile(): as_text cost_analysis memory_analysis runtime_executable
jx.vjp(sin, x)[1]: __call__ with_refs
jx.make_jaxpr(sin)(x): map_jaxpr replace pretty_print
jx.make_jaxpr(sin)(x).jaxpr: pretty_print
jx.random.key(0): addressable_data argsort copy devices flatten ravel repeat reshape squeeze swapaxes take to_device transpose
x.at[0]: add apply divide get max min mul multiply power set subtract
x.aval: update
jx.custom_jvp: defjvp defjvps
jx.custom_vjp: defvjp
jx.P: count index update
jx.NamedSharding: addressable_devices_indices_map devices_indices_map is_equivalent_to shard_shape with_memory_kind
jx.sharding.SingleDeviceSharding: devices_indices_map is_equivalent_to shard_shape with_memory_kind
jx.sharding.Mesh: update
jx.ShapeDtypeStruct: like
jnp.ufunc: accumulate at outer reduce reduceat
o.export.Exported: call has_vjp mlir_module serialize vjp
o.custom_batching.custom_vmap: def_vmap
o.jx.experimental.sparse.BCOO: from_scipy_sparse fromdense sort_indices sum_duplicates todense transpose update_layout
o.jx.experimental.sparse.BCSR: from_bcoo from_scipy_sparse fromdense sum_duplicates to_bcoo todense
"""
"""Of objects, by the expression that makes one, or of classes."""
OWN = {("jit", "auto_static"), ("update", "changes")}
"""Parameters that JAX has not."""
LEFT_OUT = {
    ("lower", "_private_parameters"),
    ("ShapeDtypeStruct", "_memory_space"),
    ("vjp", "saveable_args"),
    ("get", "strategy"),
    ("defvjp", "generic_batching"),
    *((name, "unreduced_kind") for name in ("P", "PartitionSpec", "ManualAxisType")),
    *(("custom_gradient", name) for name in ("with_logs", "remat", "with_accums")),
    *(("initialize", f"mtls_{name}") for name in ("cert_file", "key_file", "ca_file", "peer_uri_prefix")),
    ("initialize", "verify_secure_credentials"),
    ("print", "_use_logging"),
    ("log", "_use_logging"),
    *(("pretty_print", name) for name in ("custom_pp_eqn_rules", "print_effects", "kwargs")),
    ("update", "kwargs"),
}
"""Parameters that only JAX has: its private ones, ways of printing what programs here do not have, and what `names.LEFT_OUT` gives the
reasons for."""
OBJECTS = {
    ("jit", "fun"),
    ("jit", "in_shardings"),
    ("jit", "out_shardings"),
    ("shard_map", "in_specs"),
    ("shard_map", "axis_names"),
    ("checkpoint", "fun"),
    ("transfer_guard", "new_val"),
    ("__call__", "out_ct"),
    *((name, first) for name, first in (("callback", "callback"), ("print", "fmt"), ("log", "fmt"))),
}
"""Parameters whose default is an object of JAX's own that stands for "not given"."""


def _signature(o: Library, path: str) -> Plain:
    room, _, name = path.rpartition(".")
    return _rows(name, getattr(o.jx if room == "jx" else importlib.import_module(f"{o.root}.{room}"), name))


def _rows(name: str, function: Any) -> Plain:
    rows = [row for row in parameters(function) if (name, row[0]) not in OWN | LEFT_OUT]
    return Plain([[n, kind, "an object" if (name, n) in OBJECTS else default] for n, kind, default in rows])


def _method(o: Library, owner: str, name: str) -> Plain:
    importlib.import_module(f"{o.root}.experimental.sparse")
    known = {"o": o, "jx": o.jx, "jnp": o.jnp, "sin": o.jnp.sin, "x": o.jnp.zeros(3)}
    return _rows(name, getattr(eval(owner, known), name))


def _listed(table: str) -> Iterator[tuple[str, str]]:
    for line in table.strip().replace("\n  ", " ").splitlines():
        room, _, names = line.rpartition(": ")
        yield from ((room, name) for name in names.split())


def _paths() -> list[str]:
    return [f"{'jx' if room == 'jax' else room}.{name}" for room, name in _listed(FUNCTIONS)]


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
CASES |= {f"{owner}: {name}": functools.partial(_method, owner=owner, name=name) for owner, name in _listed(METHODS)}
CASES |= LISTS
KEPT = dict.fromkeys(LISTS, "test_api and test_config read them")
DIFFERENT = dict.fromkeys(LISTS, "ours has other names beside these; test_api and test_config look them up")
DIFFERENT |= {
    "sharding.AxisType": "what an enumeration takes is Python's affair, and differs with its version",
    "jx.ds": "a size of None counts as not given here",
    "profiler.trace": "a recording is written to a folder: none is kept in memory without one",
    "jx.make_jaxpr(sin)(x): replace": "a closed jaxpr has a jaxpr and constants here; in JAX since 0.11 there is one kind",
}


def section(name: str) -> str:
    return name.partition(":")[0] if ": " in name else name.rpartition(".")[0] or name
