"""Sparse arrays: what they print as, the dense arrays they stand for, and errors."""

from __future__ import annotations

import functools
import importlib
from typing import Any

from tests.oracle.library import Library
from tests.oracle.programs import Cases


EXPRESSIONS = """
S
S.T
S@S
S@S.T
S*2
2*S
S*M
S*S
S+S
S+M
S-S
-S
S/2
S**2
abs(S)
S.sum()
S.sum(0)
S.sum(1)
S[0]
S[0,1]
S[:,1:3]
S[::2]
S[...,0]
S[-1]
S[:,None]
S>1
S==S
S.reshape(4,3)
S.reshape(12)
S.reshape(-1,2)
sparse.BCOO.fromdense(M,nse=6)
sparse.BCOO.fromdense(M,nse=6).data
sparse.BCOO.fromdense(M,nse=6).indices
sparse.BCOO.fromdense(M,nse=2)
sparse.BCOO.fromdense(M,n_batch=1)
sparse.BCOO.fromdense(M,n_batch=1).indices
sparse.BCOO.fromdense(M,n_dense=1)
S.astype(int)
S.sum_duplicates()
(S+S).sum_duplicates()
(S-S).sum_duplicates()
(S-S).sum_duplicates(remove_zeros=False)
(S+S).sum_duplicates(nse=6)
(S+S).sum_duplicates(nse=6).indices
S.indices_sorted,S.unique_indices
S.T.indices_sorted
S.T.sort_indices().indices
sparse.BCSR.fromdense(M)
sparse.BCSR.fromdense(M).indptr
sparse.BCSR.fromdense(M)@jnp.ones(4)
sparse.BCSR.fromdense(B3,n_batch=1)
sparse.BCSR.fromdense(M).sum_duplicates()
sparse.COO.fromdense(M)
sparse.CSR.fromdense(M)
sparse.CSC.fromdense(M)
sparse.COO.fromdense(M)@jnp.ones(4)
sparse.CSR.fromdense(M)@jnp.ones((4,2))
sparse.CSC.fromdense(M)@jnp.ones(4)
sparse.COO.fromdense(M).T
sparse.CSR.fromdense(M).T
sparse.coo_matvec(sparse.COO.fromdense(M),jnp.ones(3),transpose=True)
sparse.csr_matmat(sparse.CSR.fromdense(M),jnp.ones((4,2)))
sparse.eye(3)
sparse.eye(3,4,k=1)
sparse.eye(3,4,k=-1,dtype=int)
sparse.eye(3).indices
sparse.eye(3,sparse_format='csr')
sparse.empty((2,3))
sparse.empty((2,3),sparse_format='coo')
jnp.ones(3)@S
jnp.ones((2,3))@S
S@jnp.ones((4,2))
S@jnp.ones(3)
sparse.sparsify(jnp.sin)(S)
sparse.sparsify(jnp.exp)(S)
sparse.sparsify(jnp.cos)(S)
sparse.sparsify(lambda a,b:a@b)(S,S.T)
sparse.sparsify(lambda a,b:a*b)(S,M)
sparse.sparsify(lambda a:a.sum(1))(S)
sparse.sparsify(lambda a:a.sum())(S)
sparse.sparsify(lambda a:a.mean(0))(S)
sparse.sparsify(lambda a:a+1.)(S)
sparse.sparsify(lambda a: jnp.concatenate([a,a]))(S)
sparse.sparsify(lambda a: jnp.concatenate([a,a],1))(S)
sparse.sparsify(lambda a: jnp.stack([a,a]))(S)
sparse.sparsify(lambda a: jnp.hstack([a,a]))(S)
sparse.sparsify(lambda M,v: 2*jnp.dot(jnp.log1p(M.T),v)+1)(S,jnp.array([3.,6.,5.]))
sparse.grad(lambda s,y:(s@y).sum())(S,jnp.ones(4))
sparse.grad(lambda s,y:(s@y).sum(),argnums=(0,1))(S,jnp.ones(4))
sparse.value_and_grad(lambda s,y:((s@y)**2).sum())(S,jnp.ones(4))
jx.vmap(lambda s: s@jnp.ones(4))(sparse.BCOO.fromdense(M,n_batch=1))
sparse.BCOO((jnp.ones(2),jnp.array([0,1])),shape=(3,))
sparse.BCOO((jnp.ones(3),jnp.array([[0],[0],[7]])),shape=(3,)).todense()
sparse.jacfwd(lambda s: s@jnp.ones(4))(S)
sparse.jacrev(lambda s: s@jnp.ones(4))(S)
jx.jit(lambda s: s)(S)
jx.jit(lambda s: s.sum_duplicates(nse=4))(S)
jx.jit(lambda s,v: s@v)(S,jnp.ones(4))
jx.jit(lambda s: s@s.T)(S)
S.n_batch,S.n_dense,S.n_sparse,S.size
list(S)
len(S)
S.update_layout(n_batch=1)
S.update_layout(n_batch=1,on_inefficient=None)
S.update_layout(n_dense=1,on_inefficient=None)
SB
SD
SB.update_layout(n_batch=0)
SD.update_layout(n_dense=0)
SB@jnp.ones(4)
SB@jnp.ones((4,2))
sparse.bcoo_dot_general(SB,jnp.ones((2,4,5)),dimension_numbers=(([2],[1]),([0],[0])))
sparse.bcoo_dot_general(SB,jnp.arange(10.).reshape(5,2),dimension_numbers=(([0],[1]),([],[])))
sparse.bcoo_dot_general(jnp.arange(10.).reshape(5,2),SB,dimension_numbers=(([1],[0]),([],[])))
sparse.bcoo_dot_general(SB,SB,dimension_numbers=(([2],[2]),([0],[0])))
SB.transpose((0,2,1))
SB.sum(0)
SB.sum((0,1))
SB.sum(2)
SB.sum(1)
SD.sum(0)
SD.sum(2)
SB[0]
SB[1,1:]
SB[:,:,2]
SD[0]
SD[:,1]
SD[...,1]
SB*2.
SB*B3
SB*jnp.ones(4)
SB*SB
SB+SB
SB+B3
SB.sum_duplicates()
SB.reshape(2,12)
SB.reshape(2,2,6)
sparse.bcoo_broadcast_in_dim(S,shape=(2,3,4),broadcast_dimensions=(1,2))
sparse.bcoo_broadcast_in_dim(S,shape=(3,1,4),broadcast_dimensions=(0,2))
sparse.bcoo_broadcast_in_dim(S,shape=(3,2,4),broadcast_dimensions=(0,2))
sparse.bcoo_squeeze(sparse.BCOO.fromdense(M[None]),dimensions=(0,))
sparse.bcoo_squeeze(sparse.BCOO.fromdense(M[None],n_batch=1),dimensions=(0,))
sparse.bcoo_slice(S,start_indices=(1,0),limit_indices=(3,4),strides=(1,2))
sparse.bcoo_dynamic_slice(S,(1,1),(2,2))
sparse.bcoo_dynamic_slice(S,(5,-2),(2,2))
sparse.bcoo_rev(S,(0,))
sparse.bcoo_extract(S,M*2)
sparse.bcoo_multiply_dense(S,jnp.arange(4.))
sparse.bcoo_concatenate([S,S,S],dimension=1)
sparse.bcoo_concatenate([SB,SB],dimension=0)
sparse.bcoo_concatenate([SB,SB],dimension=2)
sparse.bcoo_dot_general_sampled(M,M.T,jnp.array([[0,0],[2,2]]),dimension_numbers=(([1],[0]),([],[])))
sparse.todense(S)
sparse.todense(M)
S-M
sparse.sparsify(jnp.maximum)(S,0.)
sparse.sparsify(lambda s: s.T.reshape(2,6))(S)
sparse.sparsify(lambda s: jnp.einsum('ij,kj->ik',s,s))(S)
sparse.sparsify(jnp.squeeze)(sparse.BCOO.fromdense(M[None]))
sparse.sparsify(lambda s: s.astype(int))(S)
sparse.sparsify(lambda p,s: jx.lax.cond(p,lambda x:x*2,lambda x:-x,s))(True,S)
sparse.sparsify(lambda s: jx.lax.fori_loop(0,3,lambda i,c: c@jnp.ones((4,4))*0+c,s@jnp.ones((4,4))))(S)
sparse.sparsify(lambda s,v: jx.lax.scan(lambda c,x: (c+(s@x).sum(),s@x),0.,v))(S,jnp.ones((2,4)))
sparse.sparsify(lambda s: jx.lax.while_loop(lambda c: c.sum()<100.,lambda c: c*2.,s))(S)
sparse.sparsify(jx.jit(lambda s: s*2))(S)
sparse.sparsify(jx.grad(lambda v,s: ((s@v)**2).sum()))(jnp.ones(4),S)
jx.tree.map(lambda x:x*2,S)
S[1:] + S[0]
SB[:, :, ::-1]
S.sum(axis=-1, keepdims=True)
S.sum(axis=(0, 1), keepdims=True)
S.sum(axis=(0, 1))
S.sum(keepdims=True)
S.sum(axis=0, dtype=int)
S.astype(int, copy=True)
sparse.linalg.spsolve(D, I, P, b)
jx.jit(sparse.linalg.spsolve)(D, I, P, b)
jx.grad(lambda D, b: sparse.linalg.spsolve(D, I, P, b) @ jnp.arange(3.0), (0, 1))(D, b)
jx.jvp(lambda D, b: sparse.linalg.spsolve(D, I, P, b), (D, b), (D * 2, b))
jx.jit(jx.grad(lambda D: (sparse.linalg.spsolve(D, I, P, b) ** 2).sum()))(D)
sparse.linalg.spsolve(D, I, P, b, tol=1e-3, reorder=0)
sparse.linalg.spsolve(D, I, P, b.astype(jnp.float16))
sparse.linalg.spsolve(D, I.astype(float), P, b)
sparse.linalg.spsolve(D, I, P[:-1], b)
sparse.linalg.spsolve(D, I[:-1], P, b)
sparse.linalg.spsolve(D, I, P, jnp.ones((3, 3)))
sparse.linalg.spsolve(D, I, P, b, reorder=7)
"""


def _scope(o: Library) -> dict[str, Any]:
    sparse = importlib.import_module(f"{o.root}.experimental.sparse")
    importlib.import_module(f"{o.root}.experimental.sparse.linalg")
    rows = {"D": [4.0, 1, 3, 1, 2, 5], "I": [0, 1, 1, 0, 1, 2], "P": [0, 2, 3, 6], "b": [1.0, 2, 3]}
    dense = o.jnp.array([[0.0, 1.0, 0.0, 2.0], [3.0, 0.0, 0.0, 0.0], [0.0, 0.0, 4.0, 0.0]])
    count = o.jnp.arange(24.0).reshape(2, 3, 4)
    deep = count * (count % 3 == 0)
    return {**{k: o.jnp.array(v) for k, v in rows.items()}, "sparse": sparse, "jnp": o.jnp, "jx": o.jx, "M": dense, "S": sparse.BCOO.fromdense(dense), "B3": deep,
            "SB": sparse.BCOO.fromdense(deep, n_batch=1), "SD": sparse.BCOO.fromdense(deep, n_dense=1)}  # fmt: skip


def _result(expression: str, o: Library) -> Any:
    scope = _scope(o)
    is_sparse = lambda x: isinstance(x, scope["sparse"].JAXSparse)
    result = eval(expression, scope)
    said = [repr(x) for x in o.jx.tree.leaves(result, is_leaf=is_sparse) if is_sparse(x)]
    dense = o.jx.tree.map(lambda x: x.todense() if is_sparse(x) else x, result, is_leaf=is_sparse)
    return dense, {text: i for i, text in enumerate(said)}


CASES = Cases({e: functools.partial(_result, e) for e in EXPRESSIONS.strip().splitlines()})
DIFFERENT = {
    "sparse.bcoo_broadcast_in_dim(S,shape=(3,2,4),broadcast_dimensions=(0,2))": "JAX has no repeated axes between sparse ones",
    "sparse.sparsify(lambda s,v: jx.lax.scan(lambda c,x: (c+(s@x).sum(),s@x),0.,v))(S,jnp.ones((2,4)))": "JAX's scan has no sparse constants",
}
