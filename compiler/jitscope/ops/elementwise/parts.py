"""Complex numbers and their parts."""

from __future__ import annotations

from ...core import dtypes
from ...core.avals import aval_of
from ..families import Elementwise, is_linear, is_zero, zero_of
from ..linear import full, instantiate, neg_p, unbroadcast


__all__ = ["Complex", "Conj", "Part", "complex_p", "conj_p", "imag_p", "real_p"]


class Part(Elementwise):
    """The real or the imaginary part: a real-linear map, transposed by JAX's convention (no conjugation)."""

    def jvp(self, primals, tangents, /):
        (x,), (t,) = primals, tangents
        out = self.bind(x)
        return out, zero_of(out) if is_zero(t) else self.bind(t)

    def transpose(self, ct, x, /):
        nothing = full(aval_of(ct).shape, 0, aval_of(ct).dtype)
        return [complex_p(ct, nothing) if self is real_p else complex_p(nothing, neg_p(ct))]


real_p = Part("real", accepts="c", result=dtypes.real_part)
imag_p = Part("imag", accepts="c", result=dtypes.real_part)


class Complex(Elementwise):
    """A complex number from its real and imaginary part."""

    def jvp(self, primals, tangents, /):
        out = complex_p(*primals)
        if all(map(is_zero, tangents)):
            return out, zero_of(out)
        return out, complex_p(*map(instantiate, tangents))

    def transpose(self, ct, x, y, /):
        return [
            unbroadcast(real_p(ct), x.aval) if is_linear(x) else None,
            unbroadcast(neg_p(imag_p(ct)), y.aval) if is_linear(y) else None,
        ]


complex_p = Complex("complex", accepts="f", result=dtypes.complex_of)


class Conj(Elementwise):
    """The complex conjugate (of a real number: the number as a complex one)."""

    def lower(self, ctx, x, /, *, input_dtype):
        if not dtypes.is_complex(ctx.avals_in[0].dtype):
            return ctx.hlo.complex(x, ctx.full(0, ctx.avals_in[0]))
        return ctx.hlo.complex(ctx.hlo.real(x), ctx.hlo.negate(ctx.hlo.imag(x)))

    def jvp(self, primals, tangents, /, *, input_dtype):
        out, (t,) = conj_p(*primals, input_dtype=input_dtype), tangents
        return out, zero_of(out) if is_zero(t) else conj_p(t, input_dtype=input_dtype)

    def transpose(self, ct, x, /, *, input_dtype):
        conjugate = conj_p(ct, input_dtype=aval_of(ct).dtype)
        return [real_p(conjugate) if not dtypes.is_complex(input_dtype) else conjugate]


conj_p = Conj("conj", accepts="fc", result=dtypes.complex_of)
