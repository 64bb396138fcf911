"""The public names of JAX that are to be here, and the few that are not, with the reason."""

from __future__ import annotations

import functools
import json
from pathlib import Path


MODULES = (
    "numpy", "numpy.linalg", "numpy.fft", "lax", "lax.linalg", "random", "nn", "nn.initializers", "image", "ops", "dtypes",
    "dlpack", "scipy", "scipy.special", "scipy.linalg", "scipy.fft", "scipy.stats", "scipy.signal", "scipy.ndimage",
    "scipy.optimize", "scipy.cluster.vq", "scipy.integrate", "scipy.interpolate", "scipy.sparse.linalg",
    "scipy.spatial.transform",
    *(f"scipy.stats.{name}" for name in (
        "bernoulli beta betabinom binom cauchy chi2 dirichlet expon gamma gennorm geom gumbel_l gumbel_r laplace logistic "
        "multinomial multivariate_normal nbinom norm pareto poisson t truncnorm uniform vonmises wrapcauchy"
    ).split()),
)  # fmt: skip
RECORDED = Path(__file__).parent / "recorded" / "names.json"
NUMPYS = Path(__file__).parent / "recorded" / "numpy_names.json"

LATER = {
    f"lax.{name}": "a send between GPUs, which XLA's runtime for CPUs does not have; it says so when called"
    for name in ("precv", "psend")
}
"""Name → why it raises NotImplementedError."""
SEVERAL_DEVICES = frozenset({"lax.pcast", "lax.ragged_all_to_all", "lax.with_sharding_constraint"})
"""What means something over several devices alone: compared there, in tests/many_devices."""

_TOKENS = "tokens put infeed and outfeed in order, which no function here has; ordered effects need none"
_PARTS = "JAX's part of another operation, which is made otherwise here"
_LOGS = "what a backward pass logs or adds up in place: `debug.callback` in the rule, and `vjp(…)[1].with_refs` here"
_LOWERING = "a lowering rule here builds the call with `ctx.hlo.CustomCallOp`"
_DEVICES = "the operation of a function that waits for several devices"
_ORDER = "hints about the order of operations, which compilers for GPUs and TPUs read"
_SPARSE = "few programs ask for it: `todense()`, or slices and products of the sparse array"
LEFT_OUT = {
    "CompilerEffortLevel": "how much XLA is to optimise, by its own options: `compiler_options` has them by name",
    "jax2tf_associative_scan_reductions": "an option of the way to TensorFlow",
    **{
        f"{room}custom_gradient({name})": _LOGS
        for room in ("", "custom_derivatives.")
        for name in ("with_logs", "remat", "with_accums")
    },
    "ad_checkpoint.checkpoint_name_fwd": "`checkpoint_name` of the forward pass alone: a policy can tell by the name",
    "custom_derivatives.custom_vjp_primal_tree_values(tree)": "the same, with another name: it is given by position",
    "debug.DebugEffect": "what marks equations of `debug.print` in JAX",
    "debug.OrderedDebugEffect": "what marks equations of `debug.print` in JAX",
    "debug.log(_use_logging)": "private",
    "debug.print(_use_logging)": "private",
    **{
        f"distributed.initialize({name})": "certificates between machines: the service here speaks without, in a closed network"
        for name in (
            "mtls_cert_file",
            "mtls_key_file",
            "mtls_ca_file",
            "mtls_peer_uri_prefix",
            "verify_secure_credentials",
        )
    },
    "export.export(_override_lowering_rules)": "private",
    "ffi.abstract_token": _TOKENS,
    "ffi.build_ffi_lowering_function": _LOWERING,
    "ffi.ffi_lowering": _LOWERING,
    "ffi.register_ffi_target(kwargs)": "what backends other than XLA's take",
    "ffi.register_ffi_target_as_batch_partitionable": "`custom_partitioning` says how a call is shared out",
    "ffi.register_ffi_type": "state of native functions between calls; their own global variables hold it as well",
    "ffi.register_ffi_type_id": "state of native functions between calls; their own global variables hold it as well",
    "lax.psum_scatter_start": "the beginning of an exchange that goes on beside what follows; CPUs wait for it",
    "profiler.ProfileSession": "`trace` and `observe.kernel_times` are the ways here",
    "profiler.export_profile_data": "`trace` writes what it recorded",
    "sharding.no_collectives": "forbids exchanges in a block; %communication lists them",
    "experimental.EArray": "the inside of arrays of keys",
    "experimental.primal_tangent_dtype": "dtypes of one's own",
    "experimental.layout.explicit_layout": "layouts in types; `with_layout_constraint` asks for one",
    "experimental.mesh_utils.device_kind_handler_dict": "orders of TPUs",
    "lax.after_all_p": _TOKENS,
    "lax.create_token_p": _TOKENS,
    "lax.eq_to_p": f"{_PARTS} (the order of floats in `sort`)",
    "lax.le_to_p": f"{_PARTS} (the order of floats in `sort`)",
    "lax.lt_to_p": f"{_PARTS} (the order of floats in `sort`)",
    "lax.select_and_scatter_p": f"{_PARTS} (derivatives of `reduce_window`)",
    "lax.linalg.symmetric_product_p": f"{_PARTS} (`symmetric_product`)",
    "lax.stage_p": _DEVICES,
    "lax.ragged_all_to_all_p": f"{_PARTS} (`ragged_all_to_all`)",
    "lax.sharding_constraint_p": _DEVICES,
    "custom_derivatives.remat_opt_p": f"{_PARTS} (`checkpoint`)",
    "experimental.array_serialization": "it writes through TensorStore; orbax and `jnp.save` do without it",
    "experimental.colocated_python": "Python on the hosts of other machines' accelerators",
    "experimental.control_deps": _ORDER,
    "experimental.scheduling_groups": _ORDER,
    "experimental.fused": _ORDER,
    "experimental.key_reuse": "its types of keys; the option `debug_key_reuse` finds keys used twice here",
    "experimental.pallas": "kernels for GPUs and TPUs",
    "experimental.profiler": "reads profiles of accelerators; `%profile` reads those of CPUs",
    "experimental.random": "random numbers with a state; `random.key` and `random.split` are what it is made of",
    "experimental.rnn": "an LSTM of cuDNN's, on GPUs alone",
    "experimental.roofline": "estimates of flops and bytes, which each view here has",
    "experimental.shard_alike": "ties the layouts of two values; `lax.with_sharding_constraint` says one for each",
    "experimental.source_mapper": "links lines to operations, which each view here does",
    "experimental.sparse.bcoo_gather": _SPARSE,
    "experimental.sparse.bcoo_conv_general_dilated": _SPARSE,
    "experimental.topologies": "compiling for accelerators that are not there; `export` takes platforms",
    "experimental.transfer": "moving arrays between clusters",
    "experimental.xla_metadata": "marks on operations that compilers for GPUs and TPUs read",
    "vjp(…)[1].args_res": "which residuals are arguments: the whole pullback is a tree of residuals here",
    "Array.unsafe_raw_buffer": "the handle of a buffer for runtimes of one's own; `unsafe_buffer_pointer()` is its address",
    "Array.device_buffer": "JAX has removed it: it raises there",
    "Array.device_buffers": "JAX has removed it: it raises there",
    "Array.traceback": "where an array was made: JAX keeps it only when asked to, the ledger here tells it of programs",
}
"""Name → why a user would not miss it."""


@functools.cache
def public() -> dict[str, dict[str, str]]:
    """By module, JAX's public names and what they are: function, class, constant, primitive, module."""
    found = json.loads(RECORDED.read_text())
    return {m: {n: kind for kind, names in kinds.items() for n in names} for m, kinds in found.items()}


@functools.cache
def of_numpy() -> tuple[str, tuple[str, ...]]:
    """NumPy's version, and its public functions."""
    found = json.loads(NUMPYS.read_text())
    return found["version"], tuple(found["functions"])
