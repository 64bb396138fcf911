"""The Poisson log-normal model fitted by Adam, from a loop without compilation to one compiled class.

The program of Hugo Gangloff's tutorial on just-in-time compilation, with its levels: no jit; 1, jitted pieces in a Python loop;
2, `lax.scan`, compiled ahead of time; 3, a NamedTuple as carry (a plain class is refused); 3.5, a dataclass; 4, a class with
`tree_flatten`, `tree_unflatten` and methods. All levels do the same arithmetic.

The counts are the oaks of Jakuschkin et al. (2016): 114 taxa on 116 leaves, as they come with the package pyPLNmodels. It need
not be installed: `pip download --no-deps pyPLNmodels -d FOLDER` fetches a file of 10 MB. Without it, synthetic counts of the same
shape are drawn.

    python examples/programs/pln.py [--data FOLDER] [--steps 50] [--copies 100] [--levels 0 1 2 3 3.5 4]
"""

import argparse
import csv
import io
import time
import zipfile
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np


SAMPLES, TAXA = 116, 114
COPIES = 100
"""How often the tutorial repeats the samples, "to feel the speed up"."""


# Data -----------------------------------------------------------------------------------------------------------------


class MissingOaks(Exception):
    """The data are not there; the message says how to get them."""


def read_oaks(folder=None):
    """(counts, offsets), 116 × 114, out of an installed pyPLNmodels, or its wheel or unpacked files in a folder."""
    tables = {}
    for name in ("counts", "offsets"):
        text = _text_of(f"oaks/{name}.csv", folder)
        rows = list(csv.reader(io.StringIO(text)))
        tables[name] = np.array(rows[1:], np.float64)
    assert tables["counts"].shape == tables["offsets"].shape == (SAMPLES, TAXA)
    return tables["counts"], tables["offsets"]


def _text_of(ending, folder):
    """A text file of the package."""
    installed = None if folder else find_spec("pyPLNmodels")
    places = [Path(p) for p in (installed.submodule_search_locations or ())] if installed else [Path(folder or ".")]
    for place in places:
        for path in place.rglob(f"*{Path(ending).name}"):
            if path.as_posix().endswith(ending):
                return path.read_text()
        for wheel in place.rglob("*.whl"):
            if wheel.name.lower().startswith("pyplnmodels"):
                with zipfile.ZipFile(wheel) as archive:
                    return archive.read(next(n for n in archive.namelist() if n.endswith(ending))).decode()
    raise MissingOaks(
        f"the oaks data are not in {', '.join(map(str, places))}: fetch them with `make oaks`, or with `pip download --no-deps "
        "pyPLNmodels -d FOLDER` and name the folder (--data FOLDER)"
    )


def synthetic_oaks(seed=0):
    """Counts of a Poisson log-normal model, of the shape of the oaks: few taxa abundant, many zeros, a factor in common."""
    random = np.random.default_rng(seed)
    offsets = np.exp(random.normal(7.0, 0.8, (SAMPLES, 1))) * np.ones((1, TAXA))
    loadings = random.normal(0.0, 0.7, (3, TAXA))
    logarithm = random.normal(-5.5, 1.5, TAXA) + random.normal(size=(SAMPLES, 3)) @ loadings
    return random.poisson(offsets * np.exp(logarithm)).astype(np.float64), offsets


def tutorial_data(counts, offsets, copies=COPIES):
    """Y, O and X as the tutorial makes them: samples repeated, logarithms of the offsets, one covariate of ones."""
    Y = np.repeat(counts.astype(np.float32), copies, axis=0)
    O = np.repeat(np.log(offsets).astype(np.float32), copies, axis=0)
    return Y, O, np.ones([Y.shape[0], 1], np.float32)


# The model ------------------------------------------------------------------------------------------------------------


def model(jax, jnp):
    """The functions that all levels but the first share."""

    def _log_stirling(integer):
        integer_ = integer + (integer == 0)  # Replace 0 with 1 since 0! = 1!
        return jnp.log(jnp.sqrt(2 * jnp.pi * integer_)) + integer_ * jnp.log(integer_ / jnp.exp(1))

    def get_ELBO(optim_params, other_params):
        B, M, S = optim_params["B"], optim_params["M"], optim_params["S"]
        X, O, n, Omega, Y, p = (other_params["X"], other_params["O"], other_params["n"], other_params["Omega"],
                                other_params["Y"], other_params["p"])  # fmt: skip
        S2 = jnp.square(S)
        XB = X @ B
        A = jnp.exp(O + M + XB + S2 / 2)

        elbo = n / 2 * jnp.log(jnp.linalg.det(Omega))
        elbo += jnp.sum(-A + Y * (O + M + XB) + 0.5 * jnp.log(S2))
        elbo -= 0.5 * jnp.trace(M.T @ M + jnp.diag(jnp.sum(S2, axis=0)) @ Omega)
        elbo += 0.5 * n * p - jnp.sum(_log_stirling(Y))
        return -elbo

    def get_Sigma(n, M, S):
        return 1 / n * (M.T @ M + jnp.diag(jnp.sum(S**2, axis=0)))

    return get_ELBO, get_Sigma


def init_params(jnp, Y, O, X):
    n, p = Y.shape
    d = X.shape[1]
    M, S = jnp.full(Y.shape, 0.0), jnp.full(Y.shape, 1.0)  # variational parameters
    B, Sigma, Omega = jnp.zeros((d, p)), jnp.eye(p), jnp.eye(p)  # model parameters
    return n, p, d, M, S, B, Sigma, Omega


def parameters(jnp, Y, O, X):
    """(optim_params, other_params)."""
    Y, O, X = jnp.asarray(Y), jnp.asarray(O), jnp.asarray(X)
    n, p, _, M, S, B, Sigma, Omega = init_params(jnp, Y, O, X)
    return {"B": B, "M": M, "S": S}, {"X": X, "O": O, "n": n, "Omega": Omega, "Y": Y, "p": p, "Sigma": Sigma}


def adam(optax, lr):
    return optax.chain(optax.scale_by_adam(), optax.scale(-lr))


# No jit ----------------------------------------------------------------------------------------------------------------


def fit_no_jit(jax, jnp, optax, Y, O, X, N_iter, lr):
    get_ELBO, get_Sigma = model(jax, jnp)

    class PLN:
        def __init__(self, Y, O, X):
            self.Y, self.O, self.X = Y, O, X
            self.n, self.p, self.d, self.M, self.S, self.B, self.Sigma, self.Omega = init_params(jnp, Y, O, X)

        def get_ELBO(self, optim_params):
            B, M, S = optim_params
            return get_ELBO({"B": B, "M": M, "S": S}, vars(self))

        def fit(self, N_iter, lr):
            ELBO = jnp.zeros(N_iter)
            optimizer = adam(optax, lr)
            opt_state = optimizer.init((self.B, self.M, self.S))
            for i in range(N_iter):
                loss_value, grads = jax.value_and_grad(self.get_ELBO, 0)((self.B, self.M, self.S))
                updates, opt_state = optimizer.update(grads, opt_state, (self.B, self.M, self.S))
                self.B, self.M, self.S = optax.apply_updates((self.B, self.M, self.S), updates)
                ## update parameters with closed form
                self.Sigma = get_Sigma(self.n, self.M, self.S)
                self.Omega = jnp.linalg.inv(self.Sigma)
                ELBO = ELBO.at[i].set(loss_value)
            return ELBO

    return PLN(jnp.asarray(Y), jnp.asarray(O), jnp.asarray(X)).fit(N_iter, lr)


# Level 1: jax.jit -------------------------------------------------------------------------------------------------------


def level_1(jax, jnp, optax, lr):
    """`jaxfit1(optim_params, other_params, N_iter)`."""
    get_ELBO, get_Sigma = model(jax, jnp)
    optimizer = adam(optax, lr)

    jit_loss_and_grad = jax.jit(jax.value_and_grad(get_ELBO, 0))  # JIT !
    jit_getSigma = jax.jit(get_Sigma)  # JIT !
    jit_inv = jax.jit(jnp.linalg.inv)  # JIT !
    update = jax.jit(optimizer.update)
    apply_updates = jax.jit(optax.apply_updates)

    def jaxfit1(optim_params, other_params, N_iter):
        ELBO = jnp.zeros(N_iter)
        opt_state = optimizer.init(optim_params)
        for i in range(N_iter):
            loss_value, grads = jit_loss_and_grad(optim_params, other_params)
            updates, opt_state = update(grads, opt_state, optim_params)
            optim_params = apply_updates(optim_params, updates)
            ## update parameters with closed form
            other_params["Sigma"] = jit_getSigma(other_params["n"], optim_params["M"], optim_params["S"])
            other_params["Omega"] = jit_inv(other_params["Sigma"])
            ELBO = ELBO.at[i].set(loss_value)
        return ELBO

    return jaxfit1


def fit_level_1(jax, jnp, optax, Y, O, X, N_iter, lr):
    return level_1(jax, jnp, optax, lr)(*parameters(jnp, Y, O, X), N_iter)


# Level 2: jax.lax.scan --------------------------------------------------------------------------------------------------


def level_2(jax, jnp, optax):
    """`jaxfit2(optim_params, other_params, N_iter, lr)`."""
    get_ELBO, get_Sigma = model(jax, jnp)

    def jaxfit2(optim_params, other_params, N_iter, lr):
        optimizer = adam(optax, lr)
        opt_state = optimizer.init(optim_params)

        def scan_fun(carry, _):
            optim_params = carry["optim_params"]
            other_params = carry["other_params"]
            loss_value, grads = jax.value_and_grad(get_ELBO)(optim_params, other_params)
            updates, opt_state = optimizer.update(grads, carry["opt_state"])
            optim_params = optax.apply_updates(optim_params, updates)
            ## update parameters with closed form
            other_params["Sigma"] = get_Sigma(other_params["n"], optim_params["M"], optim_params["S"])
            other_params["Omega"] = jnp.linalg.inv(other_params["Sigma"])
            carry["optim_params"] = optim_params
            carry["other_params"] = other_params
            carry["opt_state"] = opt_state
            return carry, loss_value

        carry = {"optim_params": optim_params, "other_params": other_params, "opt_state": opt_state}
        _, ELBO = jax.lax.scan(scan_fun, carry, jnp.arange(N_iter))
        return ELBO

    return jaxfit2


def fit_level_2(jax, jnp, optax, Y, O, X, N_iter, lr):
    return level_2(jax, jnp, optax)(*parameters(jnp, Y, O, X), N_iter, lr)


def compile_level_2(jax, jnp, optax, Y, O, X, N_iter, lr):
    """(compiled, seconds): level 2 compiled ahead of time; call `compiled(optim_params, other_params)`."""
    optim_params, other_params = parameters(jnp, Y, O, X)
    jitted = jax.jit(level_2(jax, jnp, optax), static_argnums=(2, 3))
    began = time.perf_counter()
    compiled = jitted.lower(optim_params, other_params, N_iter, lr).compile()
    return compiled, time.perf_counter() - began


# Level 3: containers -----------------------------------------------------------------------------------------------------


class PlainPLN:
    """A container that says nothing about its parts: a scan cannot carry it."""

    def __init__(self, jnp, Y, O, X):
        self.Y, self.O, self.X = Y, O, X
        self.n, self.p, self.d, self.M, self.S, self.B, self.Sigma, self.Omega = init_params(jnp, Y, O, X)

    def replace(self, **new):
        vars(self).update(new)
        return self


class TuplePLN(NamedTuple):
    Y: Any
    O: Any
    X: Any
    n: Any
    p: Any
    d: Any
    M: Any
    S: Any
    B: Any
    Sigma: Any
    Omega: Any

    @classmethod
    def of(cls, jnp, Y, O, X):
        return cls(Y, O, X, *init_params(jnp, Y, O, X))

    def replace(self, **new):
        return self._replace(**new)


@dataclass
class DataPLN:
    """Level 3.5; `jax.tree_util.register_dataclass` makes it a pytree."""

    Y: Any
    O: Any
    X: Any
    n: int
    p: int
    d: int
    M: Any
    S: Any
    B: Any
    Sigma: Any
    Omega: Any

    @classmethod
    def of(cls, jnp, Y, O, X):
        return cls(Y, O, X, *init_params(jnp, Y, O, X))

    def replace(self, **new):
        return type(self)(**(vars(self) | new))


def level_3(jax, jnp, optax):
    """`jaxfit3(pln, N_iter, lr)` for a container of any kind."""
    get_ELBO, get_Sigma = model(jax, jnp)

    def jaxfit3(pln, N_iter, lr):
        optimizer = adam(optax, lr)
        opt_state = optimizer.init({"B": pln.B, "M": pln.M, "S": pln.S})

        def scan_fun(carry, _):
            pln = carry["PLN"]
            params = {"B": pln.B, "M": pln.M, "S": pln.S}
            loss_value, grads = jax.value_and_grad(get_ELBO)(
                params,
                {"X": pln.X, "O": pln.O, "n": pln.n, "Omega": pln.Omega, "Y": pln.Y, "p": pln.p, "Sigma": pln.Sigma},
            )
            updates, opt_state = optimizer.update(grads, carry["opt_state"])
            updated_params = optax.apply_updates(params, updates)
            pln = pln.replace(**updated_params)
            ## update parameters with closed form
            pln = pln.replace(Sigma=get_Sigma(pln.n, pln.M, pln.S))
            pln = pln.replace(Omega=jnp.linalg.inv(pln.Sigma))
            carry["PLN"] = pln
            carry["opt_state"] = opt_state
            return carry, loss_value

        _, ELBO = jax.lax.scan(scan_fun, {"PLN": pln, "opt_state": opt_state}, jnp.arange(N_iter))
        return ELBO

    return jaxfit3


def fit_plain_class(jax, jnp, optax, Y, O, X, N_iter, lr):
    """Raises TypeError: the class is no pytree."""
    return level_3(jax, jnp, optax)(PlainPLN(jnp, *map(jnp.asarray, (Y, O, X))), N_iter, lr)


def fit_level_3(jax, jnp, optax, Y, O, X, N_iter, lr):
    return level_3(jax, jnp, optax)(TuplePLN.of(jnp, *map(jnp.asarray, (Y, O, X))), N_iter, lr)


def fit_level_3_5(jax, jnp, optax, Y, O, X, N_iter, lr):
    fields = ["Y", "O", "X", "M", "S", "B", "Sigma", "Omega"]
    registered = type(
        "RegisteredPLN", (DataPLN,), {}
    )  # a class of its own for each call: a class can be registered once
    jax.tree_util.register_dataclass(dataclass(registered), data_fields=fields, meta_fields=["n", "p", "d"])
    return level_3(jax, jnp, optax)(registered.of(jnp, *map(jnp.asarray, (Y, O, X))), N_iter, lr)


# Level 4: a class with methods --------------------------------------------------------------------------------------------


def level_4(jax, jnp, optax):
    """(PLN, jaxfit4): the class, and `jaxfit4(pln, N_iter, lr)`."""
    get_ELBO, get_Sigma = model(jax, jnp)

    @jax.tree_util.register_pytree_node_class
    class PLN:
        def __init__(self, Y, O, X):
            self.Y, self.O, self.X = Y, O, X
            self.n, self.p, self.d, self.M, self.S, self.B, self.Sigma, self.Omega = init_params(jnp, Y, O, X)

        def get_optim_params(self):
            return {"B": self.B, "M": self.M, "S": self.S}

        def set_optim_params(self, op):
            for k, v in op.items():
                vars(self)[k] = v

        def get_other_params(self):
            return {"X": self.X, "O": self.O, "n": self.n, "Omega": self.Omega, "Y": self.Y, "p": self.p,
                    "Sigma": self.Sigma}  # fmt: skip

        def update_Sigma(self):
            self.Sigma = get_Sigma(self.n, self.M, self.S)

        def update_Omega(self):
            self.Omega = jnp.linalg.inv(self.Sigma)

        def tree_flatten(self):
            children = (self.B, self.M, self.S, self.Sigma, self.Omega)  # arrays / dynamic values
            aux_data = {"Y": self.Y, "O": self.O, "X": self.X, "n": self.n, "p": self.p, "d": self.d}  # static values
            return (children, aux_data)

        @classmethod
        def tree_unflatten(cls, aux_data, children):
            obj = object.__new__(cls)
            vars(obj).update(aux_data)
            obj.B, obj.M, obj.S, obj.Sigma, obj.Omega = children
            return obj

    def jaxfit4(pln, N_iter, lr):
        optimizer = adam(optax, lr)
        opt_state = optimizer.init(pln.get_optim_params())

        def scan_fun(carry, k):
            pln = carry["PLN"]
            loss_value, grads = jax.value_and_grad(get_ELBO)(pln.get_optim_params(), pln.get_other_params())
            updates, opt_state = optimizer.update(grads, carry["opt_state"])
            pln.set_optim_params(optax.apply_updates(pln.get_optim_params(), updates))
            ## update parameters with closed form
            pln.update_Sigma()
            pln.update_Omega()
            carry["PLN"] = pln
            carry["opt_state"] = opt_state
            return carry, loss_value

        _, ELBO = jax.lax.scan(scan_fun, {"PLN": pln, "opt_state": opt_state}, jnp.arange(N_iter))
        return ELBO

    return PLN, jaxfit4


def fit_level_4(jax, jnp, optax, Y, O, X, N_iter, lr):
    PLN, jaxfit4 = level_4(jax, jnp, optax)
    return jaxfit4(PLN(*map(jnp.asarray, (Y, O, X))), N_iter, lr)


LEVELS = {"0": fit_no_jit, "1": fit_level_1, "2": fit_level_2, "3": fit_level_3, "3.5": fit_level_3_5, "4": fit_level_4}


def main(jax, jnp, optax):
    parser = argparse.ArgumentParser(description="Fit the Poisson log-normal model at all levels of compilation.")
    fetched = Path(__file__).parents[2] / "build" / "oaks"
    parser.add_argument(
        "--data",
        default=str(fetched) if fetched.is_dir() else None,
        help="the folder of the downloaded pyPLNmodels; by default build/oaks (`make oaks`), or the installed package",
    )
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--copies", type=int, default=COPIES)
    parser.add_argument("--levels", nargs="+", default=list(LEVELS), choices=list(LEVELS))
    options = parser.parse_args()
    try:
        oaks = read_oaks(options.data)
    except MissingOaks as missing:
        print(f"{missing}; synthetic counts take their place")
        oaks = synthetic_oaks()
    data = tutorial_data(*oaks, options.copies)
    print(f"{data[0].shape[0]:,} samples of {data[0].shape[1]} taxa, {options.steps} steps")
    _, seconds = compile_level_2(jax, jnp, optax, *data, options.steps, 1e-4)
    print(f"level 2 compiled ahead of time: {seconds:.2f} s")
    for name in options.levels:
        began = time.perf_counter()
        losses = np.asarray(LEVELS[name](jax, jnp, optax, *data, options.steps, 1e-4))
        print(
            f"level {name:<3} {time.perf_counter() - began:7.2f} s with compilation   ELBO {-losses[0]:.6g} → {-losses[-1]:.6g}"
        )


if __name__ == "__main__":
    import jitscope as jax
    import jitscope.numpy as jnp
    from jitscope import optimizers as optax

    main(jax, jnp, optax)
