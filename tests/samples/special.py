"""A special function, for the rules that all of them share; as functions they are tested in tests/compiler/special/test_special.py."""

from scipy import special

from jitscope.special.error import erfcx_p
from jitscope.special.polynomial import polynomial_p

from .elementwise import elementwise


for count, unroll in ((1, None), (3, None), (4, 2)):
    elementwise(
        polynomial_p,
        lambda x, *coefficients, unroll=None: sum(c * x**k for k, c in enumerate(coefficients)),
        *[(-2, 2)] * (count + 1),
        params=[{"unroll": unroll} if unroll else {}],
        linear=[list(range(1, count + 1))],
    )
elementwise(erfcx_p, special.erfcx, (-1, 3), loose=4)
