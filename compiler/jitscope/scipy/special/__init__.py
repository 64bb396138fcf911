"""`jitscope.scipy.special`: the special functions of SciPy that JAX has, element by element.

Operands broadcast against each other; integers and booleans become floats. float16 and bfloat16 are computed as
float32. Complex numbers are taken where a function says so, else refused. Outside of its domain a function gives NaN.
docs/special.md lists domains and accuracy.
"""

from ...nn.normalizing import logsumexp as logsumexp
from .bessel import bessel_jn as bessel_jn, i0 as i0, i0e as i0e, i1 as i1, i1e as i1e
from .entropy import (
    boxcox as boxcox,
    boxcox1p as boxcox1p,
    entr as entr,
    expit as expit,
    kl_div as kl_div,
    log_softmax as log_softmax,
    logit as logit,
    rel_entr as rel_entr,
    softmax as softmax,
    xlog1py as xlog1py,
    xlogy as xlogy,
)
from .error import (
    dawsn as dawsn,
    erf as erf,
    erfc as erfc,
    erfcx as erfcx,
    erfinv as erfinv,
    log_ndtr as log_ndtr,
    ndtr as ndtr,
    ndtri as ndtri,
    owens_t as owens_t,
    wofz as wofz,
)
from .exponential import (
    exp1 as exp1,
    expi as expi,
    expn as expn,
    fresnel as fresnel,
    sici as sici,
    spence as spence,
)
from .gammas import (
    beta as beta,
    betainc as betainc,
    betaln as betaln,
    comb as comb,
    digamma as digamma,
    factorial as factorial,
    gamma as gamma,
    gammainc as gammainc,
    gammaincc as gammaincc,
    gammaln as gammaln,
    gammasgn as gammasgn,
    loggamma as loggamma,
    multigammaln as multigammaln,
    poch as poch,
    polygamma as polygamma,
)
from .harmonics import sph_harm_y as sph_harm_y
from .hypergeometric import hyp1f1 as hyp1f1, hyp2f1 as hyp2f1
from .zetas import bernoulli as bernoulli, zeta as zeta
