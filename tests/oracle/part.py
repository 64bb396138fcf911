"""The part of the questions of which git keeps the answers (`recorded/`): the samples that `make test` compares, a fifteenth of the
functions, and a twentieth of the cases; it depends on the names alone. `make answers` asks jax for the others."""

from __future__ import annotations

import functools
import zlib

from tests.oracle import samples, tables


TAKE_LONG = frozenset(
    """
    Array.__getitem__ Array.at image.resize image.scale_and_translate lax.betainc lax.igamma_grad_a nn.logsumexp
    numpy.insert numpy.linalg.lstsq numpy.nanquantile numpy.polydiv numpy.polyfit numpy.quantile numpy.searchsorted
    random.ball random.beta random.binomial random.chisquare random.dirichlet random.f random.gamma random.generalized_normal
    random.loggamma random.multinomial random.poisson random.t
    scipy.linalg.solve_sylvester scipy.ndimage.map_coordinates scipy.sparse.linalg.bicgstab scipy.special.gammaincc
    scipy.special.hyp2f1 scipy.special.owens_t scipy.stats.beta.logcdf scipy.stats.chi2.cdf scipy.stats.gamma.logcdf
    scipy.stats.norm.logsf scipy.stats.truncnorm.logcdf scipy.stats.truncnorm.logsf
    """.split()
)
"""Functions whose programs take XLA many seconds: `make test` has others of their files. Those that draw are in test_random_distributions."""


def hashed(name: str) -> int:
    return zlib.crc32(name.encode())


@functools.cache
def functions(file: str) -> frozenset[str]:
    """Of a file of samples a fifteenth, and one at least if one is quick."""
    quick = sorted((f.name for f in samples.functions(file) if f.name not in TAKE_LONG), key=hashed)
    return frozenset([name for name in quick if hashed(name) % 15 == 0] or quick[:1])


def dtypes(function: samples.Function) -> list[str]:
    """Those in which `make test` compares a function: float32, and of the others two, which depend on its name."""
    main = [dtype for dtype in function.dtypes if dtype == "float32"]
    others = sorted(set(function.dtypes) - {*main}, key=lambda dtype: hashed(f"{function.name} {dtype}"))
    return main if main and function.name in TAKE_LONG else [*main, *others[:2]]


@functools.cache
def cases(name: str) -> frozenset[str]:
    """Of a table a twentieth, and the answers that are kept for a reason of their own."""
    table = tables.table(name)
    return frozenset(n for n in table.names if n in table.kept or (hashed(n) % 20 == 0 and n not in table.different))


def kept(file: str) -> frozenset[str]:
    """The questions of a file of samples, or of a table of cases."""
    return functions(file) if file in samples.files() else cases(file)
