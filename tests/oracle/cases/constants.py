"""Questions about what is known while a function is traced: which values are arrays (A), NumPy's (N) or Python's, and which are
traced (T), where constants alone come in."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.oracle.library import Library
from tests.oracle.results import Plain


EXPRESSIONS = {
    "creation": """
        jnp.linspace(0., 1., 4) ; jnp.linspace(0, 1, 4, retstep=True) ; jnp.linspace(0, 1, 1) ; jnp.linspace(0, 1, 0)
        jnp.linspace(0, 10, 11, dtype=int) ; jnp.logspace(0., 1., 4) ; jnp.geomspace(1., 10., 4) ; jnp.arange(4)
        jnp.arange(4.) ; jnp.arange(1, 4) ; jnp.arange(0, 4, 2) ; jnp.arange(4, dtype='float32')
        jnp.arange(0., 1., .1) ; jnp.arange(4) * 1.0 ; jnp.zeros(4) ; jnp.zeros(()) ; jnp.zeros((2,3), int)
        jnp.ones(4) ; jnp.ones(()) ; jnp.full(4, 2.) ; jnp.full((2,), 2) ; jnp.full((2,), np.arange(2))
        jnp.full((2,), outer[:2]) ; jnp.empty(3) ; jnp.zeros_like(A) ; jnp.ones_like(A) ; jnp.full_like(A, 3)
        jnp.zeros_like(outer) ; jnp.ones_like(outer) ; jnp.full_like(outer, 2) ; jnp.empty_like(outer) ; jnp.eye(3)
        jnp.eye(3, 4, 1) ; jnp.identity(3) ; jnp.tri(3) ; jnp.tril(A) ; jnp.triu(A) ; jnp.tril(jnp.ones((3,3)))
        jnp.frombuffer(b'12345678', dtype='float32') ; jnp.fromfunction(lambda i, j: i + j, (2, 2))
        jnp.fromiter(iter([1, 2]), dtype=int) ; jnp.fromstring('1 2', dtype=int, sep=' ')
        jnp.from_dlpack(np.arange(3.)) ; jnp.indices((2, 2)) ; jnp.indices((2, 2), sparse=True)
        jnp.meshgrid(np.arange(2), np.arange(3)) ; jnp.meshgrid(jnp.arange(2), jnp.arange(3)) ; jnp.mgrid[0:2, 0:3]
        jnp.mgrid[0:1:3j] ; jnp.ogrid[0:2, 0:3] ; jnp.r_[1, 2, 3] ; jnp.r_[0:3] ; jnp.c_[np.arange(3), np.arange(3)]
        jnp.hamming(4) ; jnp.hanning(4) ; jnp.blackman(4) ; jnp.bartlett(4) ; jnp.kaiser(4, 2.) ; jnp.tril_indices(3)
        jnp.triu_indices(3) ; jnp.tril_indices_from(A) ; jnp.triu_indices_from(A) ; jnp.diag_indices(3)
        jnp.diag_indices_from(np.eye(3)) ; jnp.fft.fftfreq(4) ; jnp.fft.rfftfreq(4)
        jnp.trim_zeros(np.array([0., 2., 1.])) ; jnp.arange(outer[2]) ; jnp.arange(jnp.array(3))
        jnp.arange(np.float32(3)) ; jnp.linspace(outer[0], 1, 3) ; jnp.linspace(outer, 1, 3)
        jnp.linspace(np.float32(0), 1, 3) ; jnp.zeros(outer.shape) ; jnp.full((2,), np.float32(1))
        jnp.full((2,), jnp.float32(1)) ; jnp.fft.fftfreq(4, 2.)
        jnp.frompyfunc(lambda a, b: a + b, 2, 1)(outer, outer)
    """,
    "values": """
        jnp.array([1., 2.]) ; jnp.array([1, 2]) ; jnp.array([[1, 2], [3, 4]]) ; jnp.array(1.) ; jnp.array(1)
        jnp.array(True) ; jnp.array(np.float32(1)) ; jnp.array(A) ; jnp.array(A, dtype=int) ; jnp.array(A, copy=False)
        jnp.array(outer) ; jnp.array(outer, copy=False) ; jnp.array(outer, dtype=int) ; jnp.array([outer[0], 1.])
        jnp.array([]) ; jnp.array([[]]) ; jnp.array([outer, outer]) ; jnp.array([np.float32(1), 2])
        jnp.array([A, A]) ; jnp.array([A, A+1], dtype='bfloat16') ; jnp.array((1, 2.0, True)) ; jnp.array(range(3))
        jnp.array(1, dtype='float32') ; jnp.array([1, 2], dtype='float32') ; jnp.array([1, 2], ndmin=3)
        jnp.array(1., ndmin=1) ; jnp.asarray(A) ; jnp.asarray(1.) ; jnp.asarray([1., 2.]) ; jnp.asarray(outer)
        jnp.asarray(np.int64(3)) ; jnp.asarray(A, dtype='int32') ; jnp.asarray(A.astype('float64'))
        jnp.asarray([True, False]) ; jnp.copy(A) ; jnp.copy(outer) ; jnp.float32(1) ; jnp.float32(A)
        jnp.float32([1, 2]) ; jnp.int32(3) ; jnp.bfloat16(1) ; jnp.bool_(True) ; jnp.float32(outer)
        jnp.array([1.]).sharding and 1 ; jnp.array([1.]).devices() and 1 ; jnp.array([1.]).device and 1
        jnp.array([1.]).addressable_shards and 1 ; jnp.array([1.]).block_until_ready() ; jnp.array([1.]).nbytes
        jnp.array([1.]).aval.shape ; jnp.array([1.]).weak_type ; jnp.array(1.).weak_type ; jnp.float32(1).weak_type
        jnp.asarray(1).weak_type ; jnp.array([1.]).copy() ; jnp.array([1.]).committed
        jnp.array([1.]).is_fully_replicated ; jnp.array([1.]).delete() ; jnp.array([1.]).__array__()
        jnp.array([1.]) is jnp.array([1.]) ; jnp.asarray(outer, copy=True) ; jnp.asarray(outer, 'float32')
        jnp.array(outer, 'float32', copy=False) ; jnp.asarray([outer]) ; jnp.asarray((1., outer[0])) ; jnp.array('a')
        jnp.asarray(np.array(['a'])) ; jnp.array(1 << 40) ; jnp.array([1 << 40]) ; jnp.array(3, 'uint8')
        jnp.array(300, 'uint8') ; jnp.array(-1, 'uint8') ; jnp.array([300], 'uint8') ; jnp.array(1.7, 'int32')
        jnp.uint8(300) ; jnp.int32(1.7) ; jnp.array(np.float64(1.5)) ; jnp.array(np.array(1.5)) ; jnp.array(okey)
        jnp.asarray([okey, okey])
    """,
    "arrays": """
        outer + 1 ; -outer ; outer[0] ; outer[1:3] ; outer[np.array([0, 1])] ; outer.T ; outer.reshape(2, 2)
        outer.sum() ; outer.astype(int) ; outer.astype('float32') ; outer.copy() ; outer.at[0].set(1) ; outer.shape
        outer.size ; outer == outer ; outer.ravel() ; outer.flatten() ; outer.squeeze() ; outer.real ; outer.imag
        outer.mean() ; outer.view('int32') ; outer.block_until_ready() ; list(outer) ; abs(outer)
        outer[np.array([True, False, True, False])] ; outer[outer > 2] ; outer[jnp.array([True, False, True, False])]
        outer.at[np.array([True, False, True, False])].set(1) ; outer.at[outer > 2].set(1) ; outer.nonzero()
        outer.reshape((4,)) ; outer.transpose() ; outer.swapaxes(0, 0) ; outer.conj() ; outer.round() ; outer.clip()
        outer.sort() ; outer.take(1) ; outer.tolist() ; outer.item(0) ; outer.item() ; outer[0].item()
        outer.sharding and 1 ; outer.devices() and 1 ; outer.device and 1 ; outer ** 1 ; outer ** 0 ; outer * 1
        +outer ; outer + 0 ; outer[...] ; outer[:] ; outer[()] ; outer[None] ; outer[0:4] ; outer[jnp.array(1)]
        outer[np.int64(1)] ; outer.at[...].get() ; outer.at[:].set(1) ; outer.at[0].get()
        outer.at[jnp.array([0])].add(1)
    """,
    "functions": """
        jnp.diag(np.arange(3.)) ; jnp.diag(jnp.arange(3.)) ; jnp.diagonal(A) ; jnp.diagflat(np.arange(3))
        jnp.ix_(np.arange(2), np.arange(3)) ; jnp.vander(np.arange(3.)) ; jnp.mask_indices(3, jnp.tril)
        jnp.unravel_index(5, (2, 3)) ; jnp.finfo('float32').eps ; jnp.iinfo('int32').max ; jnp.sin(1.)
        jnp.sin(np.float32(1)) ; jnp.sin(A) ; jnp.sin(jnp.array([1., 2.])) ; jnp.sin(outer) ; jnp.add(1, 2)
        jnp.add(A, A) ; jnp.add(outer, 1) ; jnp.sum(A) ; jnp.sum(outer) ; jnp.dot(A, A.T) ; jnp.matmul(A, A.T)
        jnp.reshape(outer, (2, 2)) ; jnp.reshape(outer, (4,)) ; jnp.transpose(A) ; jnp.transpose(outer) ; jnp.ravel(A)
        jnp.ravel(outer) ; jnp.squeeze(A) ; jnp.expand_dims(A, 0) ; jnp.expand_dims(outer, 0) ; jnp.atleast_1d(1.)
        jnp.atleast_1d(A) ; jnp.atleast_1d(outer) ; jnp.atleast_2d(outer) ; jnp.atleast_3d(outer)
        jnp.broadcast_to(A, (2, 2, 3)) ; jnp.broadcast_to(outer, (4,)) ; jnp.broadcast_to(1., (2,))
        jnp.broadcast_to(1., ()) ; jnp.broadcast_arrays(A, 1) ; jnp.broadcast_arrays(outer, outer)
        jnp.broadcast_shapes((2, 1), (3,)) ; jnp.stack([A, A]) ; jnp.stack([outer]) ; jnp.concatenate([A, A])
        jnp.concatenate([outer]) ; jnp.concatenate([A]) ; jnp.hstack([A, A]) ; jnp.split(A, 2) ; jnp.split(outer, 2)
        jnp.tile(A, 2) ; jnp.repeat(A, 2) ; jnp.roll(A, 1) ; jnp.flip(A) ; jnp.where(True, 1, 2)
        jnp.where(A > 1, A, 0) ; jnp.where(A > 1) ; jnp.nonzero(A) ; jnp.argwhere(A) ; jnp.flatnonzero(A)
        jnp.nonzero(outer) ; jnp.unique(A) ; jnp.unique(outer) ; jnp.sort(A) ; jnp.argsort(A) ; jnp.take(A, 1)
        jnp.cumsum(A) ; jnp.clip(A, 0, 1) ; jnp.round(A) ; jnp.astype(A, int) ; jnp.astype(outer, outer.dtype)
        jnp.real(A) ; jnp.imag(A) ; jnp.conj(A) ; jnp.real(outer) ; jnp.conj(outer) ; jnp.positive(outer)
        jnp.negative(1.) ; jnp.abs(-1) ; jnp.sign(-1) ; jnp.exp(1) ; jnp.maximum(1, 2) ; jnp.minimum(A, 1)
        jnp.isnan(A) ; jnp.isinf(1.) ; jnp.all(A) ; jnp.any(np.array([True])) ; jnp.allclose(A, A)
        jnp.array_equal(A, A) ; jnp.array_equal(outer, outer) ; jnp.array_equiv(A, A) ; jnp.isclose(A, A)
        jnp.size(A) ; jnp.shape(A) ; jnp.ndim(A) ; jnp.iscomplexobj(A) ; jnp.isscalar(1) ; jnp.result_type(1, 2.)
        jnp.einsum('ij->ji', A) ; jnp.einsum('ij,jk->ik', A, A.T) ; jnp.tensordot(A, A, 2)
        jnp.outer(np.arange(2), np.arange(2)) ; jnp.inner(A, A) ; jnp.kron(A, A) ; jnp.cross(np.ones(3), np.ones(3))
        jnp.trace(np.eye(3)) ; jnp.linalg.norm(A) ; jnp.linalg.inv(np.eye(2)) ; jnp.linalg.matrix_rank(A)
        jnp.fft.fft(np.ones(4)) ; jnp.fft.fftshift(np.arange(4)) ; jnp.polyfit(np.arange(4.), np.arange(4.), 1)
        jnp.polyval(np.arange(3.), 2.) ; jnp.roots(np.array([1., 2., 1.]), strip_zeros=False)
        jnp.interp(1., np.arange(3.), np.arange(3.)) ; jnp.histogram(A) ; jnp.histogram_bin_edges(A)
        jnp.bincount(np.array([1, 2]), length=3) ; jnp.digitize(A, np.arange(3.))
        jnp.searchsorted(np.arange(3.), 1.) ; jnp.pad(A, 1) ; jnp.block([[A, A]]) ; jnp.delete(A, 0)
        jnp.insert(A, 0, 1) ; jnp.append(A, 1) ; jnp.resize(A, (2, 2)) ; jnp.vectorize(lambda x: x + 1)(A)
        jnp.apply_along_axis(lambda x: x.sum(), 0, A) ; jnp.piecewise(A, [A > 1], [0, 1]) ; jnp.select([A > 1], [A])
        jnp.gcd(4, 6) ; jnp.mean(A) ; jnp.std(A) ; jnp.var(A) ; jnp.median(A) ; jnp.quantile(A, .5)
        jnp.percentile(A, 50) ; jnp.cov(A) ; jnp.corrcoef(A) ; jnp.max(A) ; jnp.argmax(A)
        jnp.packbits(np.array([1, 0], 'uint8')) ; jnp.bitwise_and(1, 2) ; jnp.left_shift(1, 2) ; jnp.invert(1)
        jnp.logical_not(True) ; jnp.floor_divide(3, 2) ; jnp.divmod(3, 2) ; jnp.remainder(3, 2) ; jnp.power(2, 3)
        jnp.power(2., 3) ; jnp.float_power(2, 3) ; jnp.square(2) ; jnp.sqrt(2) ; jnp.modf(1.5) ; jnp.frexp(1.5)
        jnp.ldexp(1., 2) ; jnp.heaviside(1., 0.) ; jnp.sinc(1.) ; jnp.i0(1.) ; jnp.nan_to_num(A) ; jnp.diff(A)
        jnp.ediff1d(A) ; jnp.gradient(A) ; jnp.trapezoid(A) ; jnp.convolve(np.ones(3), np.ones(2))
        jnp.correlate(np.ones(3), np.ones(2)) ; jnp.rot90(A) ; jnp.swapaxes(A, 0, 1) ; jnp.moveaxis(A, 0, 1)
        jnp.moveaxis(outer, 0, 0) ; jnp.repeat(A, np.array([1,2]), axis=0) ; jnp.repeat(outer, np.array([1,2,0,1]))
        jnp.repeat(outer, jnp.array([1,2,0,1])) ; jnp.repeat(outer, [1,2,0,1])
        jnp.compress([True, False], A, axis=0) ; jnp.delete(A, np.array([0])) ; jnp.delete(outer, jnp.array([0]))
        jnp.delete(outer, [0, 1]) ; jnp.delete(outer, np.array([True, False, False, True]))
        jnp.insert(outer, np.array([0]), 1) ; jnp.insert(outer, jnp.array([0]), 1) ; jnp.insert(outer, [0, 1], 1)
        jnp.bincount(np.array([1,2])) ; jnp.bincount(jnp.array([1,2])) ; jnp.roots(np.array([1., 2., 1.]))
        jnp.polydiv(np.array([1., 2., 1.]), np.array([1., 1.]), trim_leading_zeros=True)
        jnp.union1d(np.arange(3), np.arange(2)) ; jnp.setdiff1d(np.arange(3), np.arange(2))
        jnp.intersect1d(np.arange(3), np.arange(2)) ; jnp.setxor1d(np.arange(3), np.arange(2))
        jnp.isin(np.arange(3), np.arange(2)) ; jnp.unique_values(np.arange(3)) ; jnp.where(np.array([True, False]))
        jnp.where(outer > 2) ; jnp.nonzero(np.array([1, 0])) ; jnp.nonzero([1, 0]) ; jnp.argwhere(outer)
        jnp.select([outer > 1], [outer]) ; jnp.piecewise(outer, [outer > 1], [0, 1])
        jnp.split(outer, np.array([1, 2])) ; jnp.array_split(outer, 3) ; jnp.roll(outer, jnp.array(1))
        jnp.take(outer, jnp.array([1])) ; jnp.take(outer, np.array([1])) ; jnp.vectorize(lambda x: outer)(1.)
        jnp.apply_over_axes(jnp.sum, A, (0,)) ; jnp.einsum('i->i', outer) ; jnp.einsum('i', A[0])
        jnp.sum(outer, axis=()) ; jnp.mean(outer, axis=()) ; jnp.max(outer, axis=()) ; jnp.cumsum(np.zeros(0))
        jnp.prod(np.float32(1)) ; jnp.clip(outer) ; jnp.round(jnp.arange(3)) ; jnp.floor(jnp.arange(3))
        jnp.fix(np.arange(3)) ; jnp.trunc(np.arange(3)) ; jnp.nan_to_num(np.arange(3)) ; jnp.swapaxes(outer, 0, 0)
        jnp.roll(outer, 0) ; jnp.rollaxis(outer, 0) ; jnp.flip(outer, ()) ; jnp.rot90(A, 0) ; jnp.tile(outer, 1)
        jnp.tile(outer, ()) ; jnp.repeat(outer, 1) ; jnp.pad(outer, 0) ; jnp.resize(outer, (4,)) ; jnp.hstack([outer])
        jnp.vstack([outer]) ; jnp.dstack([outer]) ; jnp.column_stack([outer])
        jnp.concatenate([outer, np.zeros(0, 'float32')]) ; jnp.append(outer, np.zeros(0, 'float32'))
        jnp.block(outer) ; jnp.block([outer]) ; jnp.split(outer, 1) ; jnp.unstack(outer) ; jnp.squeeze(outer)
        jnp.permute_dims(outer, (0,)) ; jnp.matrix_transpose(A) ; jnp.where(True, outer, outer) ; jnp.abs(np.uint8(1))
        jnp.sign(outer) ; jnp.power(outer, 1) ; jnp.linalg.matrix_power(jnp.eye(2), 1)
        jnp.linalg.matrix_power(jnp.eye(2), 0) ; jnp.linalg.multi_dot([jnp.eye(2), jnp.eye(2)])
        jnp.linalg.det(jnp.eye(2)) ; jnp.i0(outer) ; jnp.searchsorted(outer, outer)
        jnp.select([np.array([True])], [np.array([1.])]) ; jnp.add.reduce(outer) ; jnp.add.outer(outer, outer)
        jnp.astype(outer, 'float32', copy=True) ; jnp.stack([okey, okey]) ; jnp.stack([1., 2.])
        jnp.stack([A[0], A[1]]) ; jnp.concatenate([np.ones(1), np.ones(2)]) ; jnp.hstack([1., 2.])
        jnp.vstack([np.ones(2), np.ones(2)])
    """,
    "lax": """
        lax.iota('int32', 4) ; lax.iota('float32', 4) ; lax.broadcasted_iota('int32', (2, 2), 0) ; lax.full((2,), 1.)
        lax.full((2,), 1) ; lax.full((), 1.) ; lax.full((2,), 1, 'float32') ; lax.full_like(A, 1)
        lax.full_like(outer, 1) ; lax.broadcast(1., (2,)) ; lax.broadcast(A, (2,)) ; lax.broadcast(outer, ())
        lax.broadcast_in_dim(1., (2,), ()) ; lax.convert_element_type(1., 'int32')
        lax.convert_element_type(1., 'float32') ; lax.convert_element_type(A, 'int32')
        lax.convert_element_type(A, 'float32') ; lax.convert_element_type(outer, 'float32')
        lax.convert_element_type(outer, 'int32') ; lax.convert_element_type(np.float32(1), 'float32') ; lax.add(1, 2)
        lax.add(A, A) ; lax.sin(1.) ; lax.sin(A) ; lax.neg(1) ; lax.reshape(A, (6,)) ; lax.reshape(A, (2, 3))
        lax.reshape(outer, (4,)) ; lax.squeeze(A, ()) ; lax.transpose(A, (1, 0)) ; lax.transpose(A, (0, 1))
        lax.transpose(outer, (0,)) ; lax.expand_dims(outer, (0,)) ; lax.expand_dims(outer, ()) ; lax.rev(outer, ())
        lax.slice(A, (0, 0), (1, 1)) ; lax.dynamic_slice(A, (0, 0), (1, 1)) ; lax.concatenate([A, A], 0)
        lax.concatenate([outer], 0) ; lax.pad(A, 0., ((0, 0, 0), (0, 0, 0))) ; lax.select(True, 1., 2.)
        lax.select(A > 1, A, A) ; lax.stop_gradient(outer) ; lax.reduce(A, np.float32(0), lax.add, (0,))
        lax.cond(True, lambda: 1., lambda: 2.) ; lax.switch(1, [lambda: 1., lambda: 2.])
        lax.fori_loop(0, 3, lambda i, c: c + 1, 0) ; lax.while_loop(lambda c: c < 3, lambda c: c + 1, 0)
        lax.scan(lambda c, x: (c + x, c), 0., np.arange(3.)) ; lax.map(lambda x: x + 1, np.arange(3.))
        lax.associative_scan(lambda a, b: a + b, np.arange(3.)) ; lax.top_k(A, 1) ; lax.sort(A)
        lax.bitcast_convert_type(A, 'int32') ; lax.bitcast_convert_type(outer, 'float32')
        lax.reduce_precision(A, 8, 7) ; lax.rng_bit_generator(np.zeros(4, 'uint32'), (2,))
        lax.optimization_barrier(A) ; lax.optimization_barrier(outer) ; lax.clamp(0., A, 1.) ; lax.dot(A, A.T)
        lax.real(1j) ; lax.complex(1., 2.) ; lax.conj(1j) ; lax.integer_pow(2., 2)
        lax.linalg.cholesky(np.eye(2, dtype='float32'))
        lax.with_sharding_constraint(outer, jx.sharding.SingleDeviceSharding(jx.devices()[0]))
        lax.select_n(np.array(True), 1., 2.) ; lax.cond(True, lambda: outer, lambda: outer + 1)
        lax.fori_loop(0, 2, lambda i, c: outer, outer) ; lax.scan(lambda c, x: (c, x), outer, outer)
        lax.map(lambda x: outer, outer) ; lax.cumsum(outer) ; lax.top_k(outer, 2) ; lax.argmax(outer, 0, 'int32')
        lax.psum(outer, ())
    """,
    "random": """
        random.key(0) ; random.PRNGKey(0) ; random.key(np.uint32(3)) ; random.key_data(okey)
        random.key_data(random.key(1)) ; random.wrap_key_data(np.zeros(2, 'uint32')) ; random.clone(okey)
        random.key_impl(okey) ; random.split(okey) ; random.split(random.key(0)) ; random.split(random.PRNGKey(0), 3)
        random.fold_in(okey, 1) ; random.bits(okey) ; random.uniform(okey, (2,)) ; random.normal(random.key(0), (2,))
        random.normal(random.PRNGKey(0)) ; random.randint(okey, (2,), 0, 3) ; random.permutation(okey, 3)
        random.permutation(okey, A) ; random.choice(okey, 3) ; random.choice(okey, A) ; random.bernoulli(okey)
        random.categorical(okey, A) ; random.gamma(okey, 1.) ; random.beta(okey, 1., 1.)
        random.dirichlet(okey, np.ones(3)) ; random.multivariate_normal(okey, np.zeros(2), np.eye(2))
        random.truncated_normal(okey, 0., 1.) ; random.exponential(okey) ; random.poisson(okey, 1.)
        random.orthogonal(okey, 2) ; random.ball(okey, 2) ; okey[None] ; okey.shape
        random.split(jnp.array([0, 1], 'uint32')) ; random.key(jnp.array(3)) ; random.PRNGKey(outer[0].astype(int))
        random.key_data(random.PRNGKey(0)) ; random.wrap_key_data(jnp.array([0, 1], 'uint32'))
    """,
    "jax": """
        jx.nn.relu(1.) ; jx.nn.relu(A) ; jx.nn.one_hot(1, 3) ; jx.nn.one_hot(np.array([0, 1]), 3) ; jx.nn.softmax(A)
        jx.nn.gelu(A) ; jx.nn.sigmoid(1.) ; jx.nn.initializers.zeros(okey, (2,)) ; jx.nn.initializers.ones(okey, (2,))
        jx.nn.initializers.constant(1.)(okey, (2,)) ; jx.nn.initializers.normal()(okey, (2,))
        jx.nn.initializers.glorot_uniform()(okey, (2, 2)) ; jx.nn.initializers.orthogonal()(okey, (2, 2))
        jx.nn.standardize(A) ; jx.nn.logsumexp(A) ; jx.device_put(A) ; jx.device_put(1.) ; jx.device_put(outer)
        jx.device_put([1., A]) ; jx.device_put(A, jx.devices()[0]) ; jx.device_get(A)
        jx.numpy.asarray(jx.device_put(A)) ; jx.grad(lambda t: t * 2.)(1.) ; jx.grad(jnp.sin)(1.)
        jx.value_and_grad(jnp.sin)(1.) ; jx.jvp(jnp.sin, (1.,), (1.,)) ; jx.vjp(jnp.sin, 1.)[0]
        jx.vjp(jnp.sin, 1.)[1](1.) ; jx.vjp(jnp.sin, outer)[0] ; jx.linearize(jnp.sin, 1.)[0] ; jx.vmap(jnp.sin)(A)
        jx.vmap(lambda x: 1.)(A) ; jx.vmap(lambda x: jnp.ones(3))(A) ; jx.jit(jnp.sin)(1.) ; jx.jit(lambda: 1.)()
        jx.jit(lambda x: x)(outer) ; jx.jit(lambda x: x)(1.) ; jx.jit(lambda: outer)() ; jx.jit(lambda: (outer, 1))()
        jx.checkpoint(jnp.sin)(1.) ; jx.jacfwd(jnp.sin)(1.) ; jx.jacrev(jnp.sin)(1.) ; jx.hessian(jnp.sin)(1.)
        jx.eval_shape(jnp.sin, 1.) ; jx.tree.map(jnp.asarray, [1., A]) ; jx.scipy.special.logsumexp(A)
        jx.scipy.special.erf(1.) ; jx.scipy.linalg.expm(np.eye(2, dtype='float32'))
        jx.scipy.linalg.toeplitz(np.arange(3.)) ; jx.scipy.linalg.hilbert(3) ; jx.scipy.linalg.block_diag(A, A)
        jx.scipy.stats.norm.pdf(1.) ; jx.ops.segment_sum(A, np.array([0, 1]), 2)
        jx.pure_callback(lambda: np.float32(1), jx.ShapeDtypeStruct((), 'float32')) ; jx.custom_jvp(jnp.sin)(1.)
        jx.custom_jvp(lambda x: 2.)(1.) ; jx.named_call(jnp.sin)(1.) ; jx.device_get(jnp.array([1.]))
        jx.device_get(outer) ; jx.block_until_ready(jnp.array([1.])) ; jx.typeof(jnp.array([1.])) and 1
        jx.nn.silu(outer) ; jx.vmap(lambda x: outer)(A) ; jx.vmap(lambda x: x, out_axes=1)(outer.reshape(2,2))
        jx.vmap(lambda x: outer, out_axes=None)(A) ; jx.grad(lambda x: outer.sum())(1.) ; jx.grad(lambda x: 3.)(1.)
        jx.jvp(lambda x: 2., (1.,), (1.,)) ; jx.jvp(lambda x: outer, (1.,), (1.,)) ; jx.vjp(lambda x: outer, 1.)[0]
        jx.vjp(lambda x: outer, 1.)[1](outer) ; jx.linearize(lambda x: outer, 1.)[0]
        jx.linearize(lambda x: outer, 1.)[1](1.) ; jx.value_and_grad(lambda x: outer[0])(1.)
        jx.checkpoint(lambda x: outer)(1.) ; jx.checkpoint(lambda x: x)(outer) ; jx.custom_jvp(lambda x: outer)(1.)
        jx.custom_jvp(lambda x: x)(outer) ; jx.named_call(lambda x: x)(outer) ; jx.named_call(lambda x: 1.)(outer)
        jx.jit(lambda x: 1)(outer) ; jx.jit(lambda x: np.float32(1))(outer) ; jx.jit(lambda x: A)(outer)
        jx.hessian(lambda x: 3.)(1.) ; jx.jacfwd(lambda x: outer)(1.)
        jx.pure_callback(lambda x: x, jx.ShapeDtypeStruct((4,), 'float32'), outer)
        jx.tree.map(lambda a, b: a, outer, outer) ; jx.ShapeDtypeStruct((2,), 'float32')
    """,
    "python": """
        float(outer[1]) ; float(outer.sum()) ; int(jnp.array(3)) ; int(jnp.int32(3)) ; float(jnp.array(3.))
        bool(jnp.array(True)) ; bool(jnp.all(A > -1)) ; bool(outer[0] == 0) ; np.asarray(jnp.array([1.]))
        np.asarray(outer) ; np.sum(outer) ; np.sin(outer) ; np.asarray(jnp.linspace(0,1,3))
        np.asarray(jnp.arange(3)) ; np.asarray(jnp.zeros(3)) ; np.asarray(jnp.eye(3)) ; np.float32(jnp.array(1.))
        len(jnp.array([1,2])) ; [v for v in jnp.array([1,2])] ; [v for v in jnp.arange(2)] ; range(jnp.array(3))
        range(3)[jnp.array(1)] ; [1,2,3][jnp.int32(1)] ; hash(jnp.array(1)) and 1 ; {1: 2}.get(jnp.array(1))
        str(jnp.array(1)) and 1 ; f'{jnp.array(1.)}' and 1 ; isinstance(jnp.array([1.]), jx.Array)
        isinstance(jnp.array([1.]), jx.core.Tracer)
    """,
}
WAYS = """
    jnp.array([1., 2.])
    jnp.array(1.)
    jnp.asarray(A)
    jnp.float32(1)
    jnp.linspace(0., 1., 4)
    jnp.zeros(4)
    jnp.arange(4)
    jnp.eye(3)
    jnp.sin(jnp.array([1., 2.]))
    jnp.sin(outer)
    jnp.ravel(outer)
    outer.reshape((4,))
    outer[0]
    list(outer)
    jnp.nonzero(A)
    bool(jnp.array(True))
    float(outer[1])
    random.key(0)
    random.normal(random.key(0))
    jx.device_put(outer)
    lax.iota('int32', 4)
    lax.stop_gradient(outer)
"""
"""Asked under every transformation."""


def scope_of(o: Library) -> dict[str, Any]:
    return {
        "jx": o.jx,
        "jnp": o.jnp,
        "lax": o.lax,
        "random": o.random,
        "np": np,
        "A": np.arange(6, dtype="float32").reshape(2, 3),
        "outer": o.jnp.arange(4.0),
        "okey": o.random.key(0),
    }


def kind(o: Library, x: Any) -> str:
    if isinstance(x, (list, tuple)):
        return f"({','.join(kind(o, part) for part in x)})"
    kinds = {"T": o.core.Tracer, "A": o.jx.Array, "N": np.ndarray}
    return next((letter for letter, of in kinds.items() if isinstance(x, of)), type(x).__name__)


def kinds(o: Library, expressions: str, way: Any) -> Plain:
    scope, found = scope_of(o), {}

    def ask(expression: str) -> str:
        try:
            return kind(o, eval(expression, scope))
        except Exception as error:
            return " ".join(b.__name__ for b in type(error).__mro__ if b in (TypeError, IndexError, ValueError))

    for line in expressions.strip().replace(" ; ", "\n").splitlines():

        def fun(x: Any, expression: str = line.strip()) -> Any:
            found[expression] = ask(expression)
            return x

        way(o, fun)
    return Plain(found)


def known(o: Library, fun: Any) -> Any:
    def at_once(x: Any) -> Any:
        with o.jx.ensure_compile_time_eval():
            return fun(x)

    return o.jx.jit(at_once)(1.0)


TRANSFORMATIONS: dict[str, Any] = {
    "jit": lambda o, f: o.jx.jit(f)(1.0),
    "evaluated": lambda o, f: f(1.0),
    "grad": lambda o, f: o.jx.grad(f)(1.0),
    "jvp": lambda o, f: o.jx.jvp(f, (1.0,), (1.0,)),
    "vmap": lambda o, f: o.jx.vmap(f)(np.ones(2, "float32")),
    "scan": lambda o, f: o.lax.scan(lambda c, x: (f(c), x), 0.0, np.ones(2, "float32")),
    "cond": lambda o, f: o.lax.cond(True, f, lambda x: x, 1.0),
    "checkpoint": lambda o, f: o.jx.checkpoint(f)(1.0),
    "eval_shape": lambda o, f: o.jx.eval_shape(f, 1.0),
    "make_jaxpr": lambda o, f: o.jx.make_jaxpr(f)(1.0),
    "jit of grad": lambda o, f: o.jx.jit(o.jx.grad(f))(1.0),
    "jit of vmap": lambda o, f: o.jx.jit(o.jx.vmap(f))(np.ones(2, "float32")),
    "ensure_compile_time_eval": known,
}
CASES = {
    f"jit: {group}": lambda o, lines=lines: kinds(o, lines, TRANSFORMATIONS["jit"])
    for group, lines in EXPRESSIONS.items()
} | {f"ways: {name}": lambda o, way=way: kinds(o, WAYS, way) for name, way in TRANSFORMATIONS.items()}


def section(name: str) -> str:
    return name.partition(":")[0]
