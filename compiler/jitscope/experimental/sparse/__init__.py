"""`jitscope.experimental.sparse`: arrays of which only some elements are kept, and programs for dense arrays made to run on them.

`BCOO` keeps elements with their places; `BCSR`, `CSR`, `CSC` and `COO` are other layouts of matrices. All are trees of arrays, so
that `jit`, `vmap`, `grad` and loops take them. `sparsify(f)` is `f` for sparse arguments.
"""

from . import linalg as linalg
from .arrays import *
from .conversion import *
from .elementwise import *
from .gradients import *
from .layouts import *
from .products import *
from .rules import *
from .structure import *


__all__ = ["BCOO", "BCSR", "COO", "CSC", "CSR", "JAXSparse", "SparseEfficiencyError", "SparseEfficiencyWarning",
           "bcoo_broadcast_in_dim", "bcoo_concatenate", "bcoo_dot_general", "bcoo_dot_general_sampled",
           "bcoo_dynamic_slice", "bcoo_extract", "bcoo_fromdense", "bcoo_multiply_dense", "bcoo_multiply_sparse",
           "bcoo_reduce_sum", "bcoo_reshape", "bcoo_rev", "bcoo_slice", "bcoo_sort_indices", "bcoo_squeeze",
           "bcoo_sum_duplicates", "bcoo_todense", "bcoo_transpose", "bcoo_update_layout", "bcsr_dot_general",
           "bcsr_fromdense", "bcsr_sum_duplicates", "bcsr_todense", "coo_fromdense", "coo_matmat", "coo_matvec",
           "coo_todense", "csr_fromdense", "csr_matmat", "csr_matvec", "csr_todense", "empty", "eye", "grad", "jacfwd",
           "jacobian", "jacrev", "linalg", "random_bcoo", "sparsify", "todense", "value_and_grad"]  # fmt: skip
