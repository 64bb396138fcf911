"""What an expression gives while a function is traced, as far as the code tells."""

from __future__ import annotations

import enum


class Kind(enum.Enum):
    """What is known of a value.

    STATIC: a Python value, known while tracing. UNKNOWN: it may be anything. ARRAY: an array with values. NUMPY: an array
    of NumPy. TREE: an argument of a traced function: a traced array, or a tree of some. TRACED: a traced array for sure. MASK: one
    of booleans.
    """

    STATIC = "static"
    UNKNOWN = "unknown"
    ARRAY = "array"
    NUMPY = "numpy"
    TREE = "tree"
    TRACED = "traced"
    MASK = "mask"

    @property
    def is_traced(self) -> bool:
        return self in (Kind.TREE, Kind.TRACED, Kind.MASK)

    @property
    def is_tracer(self) -> bool:
        """A traced array for sure."""
        return self in (Kind.TRACED, Kind.MASK)


def joined(kinds: list[Kind]) -> Kind:
    """What a name means after branches that gave it different values."""
    first = kinds[0] if kinds else Kind.UNKNOWN
    if all(kind is first for kind in kinds):
        return first
    if all(kind.is_tracer for kind in kinds):
        return Kind.TRACED
    return Kind.TREE if all(kind.is_traced for kind in kinds) else Kind.UNKNOWN


STATIC_ATTRIBUTES = frozenset(
    {"shape", "ndim", "dtype", "size", "aval", "itemsize", "nbytes", "weak_type", "sharding", "device"}
)
"""Attributes of arrays that are known while tracing."""

METHODS = frozenset({
    "all", "any", "argmax", "argmin", "argsort", "astype", "clip", "conj", "cumprod", "cumsum", "diagonal", "dot", "flatten", "max",
    "mean", "min", "prod", "ptp", "ravel", "repeat", "reshape", "round", "sort", "squeeze", "std", "sum", "swapaxes", "take", "trace",
    "transpose", "var",
})  # fmt: skip
"""Methods that arrays have and trees have not."""

ARRAY_MODULES = ("jax.numpy.", "jax.lax.", "jax.nn.", "jax.random.", "jax.scipy.", "jax.image.", "jax.ops.")
_GIVE_STATIC = frozenset({
    "shape", "ndim", "size", "dtype", "result_type", "issubdtype", "isdtype", "finfo", "iinfo", "isscalar", "promote_types", "can_cast",
    "iterable", "broadcast_shapes", "iscomplexobj", "isrealobj", "key_data_shape", "ix_size",
})  # fmt: skip


_PLAIN = (
    "jax.tree.structure", "jax.tree_util.tree_structure", "jax.eval_shape", "jax.typeof", "jax.make_jaxpr", "jax.device_count",
    "jax.local_device_count", "jax.process_index", "jax.process_count", "jax.default_backend",
)  # fmt: skip
"""Functions of the library whose result is known while tracing, whatever they are given."""

OF_TREES = ("jax.tree.", "jax.tree_util.", "jax.device_put", "jax.block_until_ready", "jax.experimental.shard_map.")
"""Functions that give arrays, or trees of them, for such; what others of the library give may be anything."""

TREE_MAPS = frozenset(
    "jax.tree.map jax.tree.map_with_path jax.tree_map jax.tree_util.tree_map jax.tree_util.tree_map_with_path".split()
)
"""Functions that apply the first argument to the leaves of the others."""


def gives_static(dotted: str) -> bool:
    """Whether a function of the library gives a Python value that is known while tracing: `jnp.shape(x)`, `jnp.issubdtype(…)`."""
    return dotted in _PLAIN or (dotted.startswith(ARRAY_MODULES) and dotted.rpartition(".")[2] in _GIVE_STATIC)


def gives_array(dotted: str) -> bool:
    """Whether a function of the library gives an array (traced, if it is called while tracing)."""
    module, _, name = dotted.rpartition(".")
    if module in _LAYERS:
        return name in _ACTIVATIONS
    of_arrays = dotted.startswith(ARRAY_MODULES) and name not in _GIVE_STATIC and name not in _GIVE_OTHERS
    return of_arrays and not gives_trees(dotted) and name[:1].islower() and ".initializers" not in module


def gives_trees(dotted: str) -> bool:
    """Whether a function of the library gives lists, tuples or whatever it is given: arrays are in it, or it is one."""
    module, _, name = dotted.rpartition(".")
    return name in _GIVE_TREES.get(module, ())


def given_by(dotted: str, any_traced: bool, abstract: bool, stages: bool) -> Kind | None:
    """What a function of a library gives, where one of its arguments is traced or none is, in a place where values are unknown
    (`abstract`), and where all operations of arrays are traced (`stages`). None: the name is of no library that is known."""
    name = dotted.rpartition(".")[2]
    if dotted in ("jax.lax.psum", "jax.lax.axis_size", "jax.lax.axis_index"):
        return Kind.TREE if any_traced and name == "psum" else Kind.UNKNOWN  # of a constant they give an int
    if gives_array(dotted):
        if dotted == "jax.random.split" and not abstract:
            return Kind.UNKNOWN
        if not abstract:
            return Kind.ARRAY
        return (Kind.MASK if name in GIVE_MASKS else Kind.TRACED) if any_traced or stages else Kind.UNKNOWN
    if gives_trees(dotted):
        return Kind.TREE if any_traced or (abstract and stages) else Kind.UNKNOWN
    if gives_static(dotted):
        return Kind.STATIC
    if dotted.startswith("jax."):
        return Kind.TREE if any_traced and dotted.startswith(OF_TREES) else Kind.UNKNOWN
    if dotted.startswith("numpy."):
        return Kind.NUMPY if name not in ("shape", "ndim", "size", "prod") else Kind.STATIC
    return None


_GIVE_TREES = {
    "jax.lax": frozenset(
        "scan cond switch while_loop fori_loop map associative_scan stop_gradient psum pmean pmax pmin all_gather ppermute pshuffle "
        "pswapaxes all_to_all psum_scatter optimization_barrier with_sharding_constraint top_k sort sort_key_val custom_root "
        "custom_linear_solve platform_dependent pvary pcast reduce reduce_window split reduce_precision".split()
    ),
    "jax.lax.linalg": frozenset("eig eigh lu qr svd schur tridiagonal".split()),
    "jax.numpy": frozenset(
        "split array_split hsplit vsplit dsplit meshgrid broadcast_arrays nonzero histogram histogram2d histogramdd unique "
        "unique_all unique_counts unique_inverse divmod modf frexp gradient atleast_1d atleast_2d atleast_3d ix_ "
        "polydiv polyfit unravel_index mask_indices tril_indices triu_indices tril_indices_from triu_indices_from "
        "diag_indices diag_indices_from mgrid ogrid unstack".split()
    ),
    "jax.numpy.linalg": frozenset("eig eigh qr svd slogdet lstsq".split()),
    "jax.scipy.linalg": frozenset("eigh lu lu_factor qr rsf2csf schur svd cho_factor polar".split()),
}  # fmt: skip
_GIVE_OTHERS = frozenset(
    "vectorize frompyfunc ufunc printoptions set_printoptions get_printoptions save savez load dtype custom_gradient as_dtype "
    "conv_dimension_numbers padtype_to_pads axis_size axis_index broadcast_shapes key_impl default_prng_impl".split()
)
"""Functions that give functions, types or other values."""


_LAYERS = ("flax.linen", "flax.nnx")
_ACTIVATIONS = frozenset({
    "avg_pool", "celu", "dot_product_attention", "elu", "gelu", "glu", "hard_tanh", "leaky_relu", "log_sigmoid", "log_softmax", "max_pool",
    "one_hot", "relu", "relu6", "selu", "sigmoid", "silu", "soft_sign", "softmax", "softplus", "standardize", "swish", "tanh",
})  # fmt: skip
"""Functions that libraries of layers have from `jax.nn`, or beside it."""


GIVE_MASKS = frozenset({
    "logical_and", "logical_or", "logical_not", "logical_xor", "isnan", "isinf", "isfinite", "isin", "isclose", "greater", "less", "equal",
    "not_equal", "greater_equal", "less_equal",
})  # fmt: skip
"""Functions of `jax.numpy` that give booleans for arrays."""

BUILTINS_STATIC = frozenset(
    {"len", "isinstance", "hasattr", "callable", "type", "id", "issubclass", "repr", "str", "range", "print"}
)
"""Builtins whose result is known while tracing, whatever they are given."""
