"""A special function, for the rules that all of them share; as functions they are tested in tests/compiler/test_special.py."""

from scipy import special

from jitscope.special.error import erfcx_p

from .elementwise import elementwise


elementwise(erfcx_p, special.erfcx, (-1, 3), loose=4)
