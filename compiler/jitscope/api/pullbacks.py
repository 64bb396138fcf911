"""What `vjp` and `linearize` return: linear functions that are pytrees.

Their leaves are the residuals (what the forward pass kept), everything else is static data. So a jitted function may
return one or take one, `vmap` maps over one, and a loop may carry one. Two of them have equal structure if their linear
programs are equal, wherever they were made.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import tree
from ..backend.array import Array, array_on, device_for, one_device, to_array
from ..core import call_sites, config, dtypes, notices
from ..core.avals import ShapedArray, aval_of, tangent_aval
from ..core.config import NOT_GIVEN
from ..core.folding import folding
from ..core.hashing import structural_hash
from ..core.jaxpr import ClosedJaxpr, DebugInfo, Jaxpr
from ..core.references import Reference, ReferenceAval
from ..core.staging import eval_jaxpr, trace_to_jaxpr
from ..core.trace import Tracer, evaluating
from ..core.zeros import UndefinedPrimal, Zero, is_zero
from ..ops.linear import instantiate
from ..transforms.linearize import Linearized
from ..transforms.steps import transpose_step
from ..transforms.transpose import backward_pass, reduced
from ._flat import check_array
from .residuals import ResidualPlaces
from .with_refs import BoundPullback


class LinearProgram:
    """The static part: a jaxpr from input tangents to output tangents, its residuals open, and the trees around it.

    The first `len(out_avals)` results of the differentiated function are its own, further ones belong to `aux`.
    """

    __slots__ = (
        "_kept", "_key", "in_avals", "in_tree", "jaxpr", "name", "nonzero_in", "nonzero_out", "out_avals", "out_tree", "stopped",
    )  # fmt: skip

    def __init__(self, linear: Linearized, in_tree: Any, out_tree: Any, name: str):
        self.jaxpr: Jaxpr = linear.jaxpr.jaxpr
        self.in_avals, self.in_tree = tuple(linear.in_avals), in_tree
        self.out_avals = tuple([aval_of(x) for x in linear.outs[: out_tree.num_leaves]])
        self.out_tree, self.name = out_tree, name
        self.nonzero_in, self.nonzero_out = tuple(linear.nonzero_in), tuple(linear.nonzero_out)
        self.stopped = linear.stopped
        self._key: Any = None
        self._kept: Any = None

    @property
    def key(self) -> tuple:
        """What tells different programs apart; names and positions do not count."""
        if self._key is None:
            found = structural_hash(ClosedJaxpr(self.jaxpr))
            self._kept = found.kept  # objects that were hashed by identity
            self._key = (found.digest, self.in_tree, self.out_tree, self.in_avals, self.out_avals, self.nonzero_in,
                         self.nonzero_out)  # fmt: skip
        return self._key

    def __eq__(self, other: Any) -> bool:
        return self is other or (isinstance(other, LinearProgram) and self.key == other.key)

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        return f"<linear program of {self.name}>"


class LinearFunction:
    """Base of what `vjp` and `linearize` return."""

    __slots__ = ("__weakref__", "program", "residuals")

    def __init__(self, program: LinearProgram, residuals: Sequence[Any]):
        self.program, self.residuals = program, tuple(residuals)

    @property
    def jaxpr(self) -> Jaxpr:
        """The linear program, from tangents of the arguments to tangents of the results; its constvars are the
        residuals."""
        return self.program.jaxpr

    @property
    def in_tree(self) -> Any:
        """The structure of the arguments, a tuple."""
        return self.program.in_tree

    @property
    def out_tree(self) -> Any:
        """The structure of the result."""
        return self.program.out_tree

    @property
    def out_nzs(self) -> Any:
        """Which arrays of the result may have tangents other than zero: a tree of bools."""
        return self.program.out_tree.unflatten(self.program.nonzero_out[: self.program.out_tree.num_leaves])

    def _device(self, given: Sequence[Any]) -> Any:
        """Where numbers and NumPy arrays among the given values go; None if nobody need ask."""
        if one_device() or not evaluating():
            return None
        known = [x.known() if isinstance(x, Tracer) else x for x in (*self.residuals, *given)]
        return device_for(known)

    def __repr__(self) -> str:
        held = ", ".join(aval_of(x).short() if _is_array(x) else repr(x) for x in self.residuals)
        return f"<{self._kind} of {self.program.name}, residuals ({held})>"

    _kind = "linear function"


def _is_array(x: Any) -> bool:
    return hasattr(x, "aval") or isinstance(x, (np.ndarray, np.generic))


class Pullback(LinearFunction):
    """From a cotangent of the result (one value, of the result's structure, shapes and dtypes) to a tuple of cotangents of
    the arguments; those of integers have dtype float0.

    `args_res` is what it keeps of the arguments, argument by argument as tuples in place of containers: arrays that the way back
    needs, NotNeeded() for others, NotSaveable() for those that `vjp` was told not to keep. They may be set, and must be before a
    call where they are NotSaveable(). `opaque_residuals` is what it keeps beside.

    Raises TypeError unless called with one value, ValueError where that does not fit the result.
    """

    __slots__ = ("args_res", "opaque_residuals", "saved")
    _kind = "pullback"

    def __init__(self, program: LinearProgram, saved: ResidualPlaces, args_res: Any, opaque_residuals: Any):
        self.program, self.saved = program, saved
        self.args_res, self.opaque_residuals = args_res, opaque_residuals

    @property
    def residuals(self) -> tuple[Any, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """All that it keeps. Raises ValueError where an argument that it needs was not kept."""
        return self.saved.residuals(self.args_res, self.opaque_residuals, self.program.in_tree, self.program.name)

    def __repr__(self) -> str:
        held = [x for x in tree.leaves((self.args_res, self.opaque_residuals)) if _is_array(x)]
        return f"<{self._kind} of {self.program.name}, residuals ({', '.join(aval_of(x).short() for x in held)})>"

    def __call__(self, out_ct: Any = NOT_GIVEN, *extra_args: Any) -> tuple:
        with folding:
            if out_ct is NOT_GIVEN or extra_args:
                raise self._wrong_count(len(extra_args) + (out_ct is not NOT_GIVEN))
            return self._pull_back(out_ct)

    def _wrong_count(self, count: int) -> TypeError:
        name = self.program.name
        return TypeError(
            f"the function that vjp of {name} returned takes one argument, the cotangent of {name}'s result; it was "
            f"called with {count}. A result that is a tuple has a tuple for its cotangent: "
            f"f_vjp(({', '.join(['ct'] * max(count, 2))}))"
        )

    def with_refs(self, *maybe_ct_refs: Any) -> BoundPullback:
        """The same function with places for cotangents: for each array among the arguments a reference, to which its
        cotangent is added, `ad.GradValue()`, to have it back, or `ad.DontWant()`. Raises ValueError for another structure."""
        return BoundPullback(self, maybe_ct_refs)

    def _pull_back(self, cotangent: Any) -> tuple:
        program = self.program
        if any(isinstance(a, ReferenceAval) for a in program.in_avals):
            raise ValueError(
                f"{program.name} was differentiated with respect to a reference, and its cotangent is added to one: "
                "f_vjp.with_refs(ref)(cotangent), where ref is a reference of the same shape and dtype"
            )
        found = self.cotangents(cotangent, [True] * len(program.in_avals))
        return program.in_tree.unflatten(found)

    def cotangents(self, cotangent: Any, wanted: Sequence[bool]) -> list[Any]:
        """The cotangents of the arguments' arrays, those marked in `wanted`; None for others."""
        program = self.program
        cts, ct_tree = tree.flatten(cotangent)
        if ct_tree != program.out_tree:
            raise ValueError(
                f"the cotangent has structure {ct_tree}, the result of {program.name} {program.out_tree}; they must agree"
            )
        device = self._device(cts)
        given = [
            _cotangent(ct, a, path_in(cotangent, i), device) for i, (ct, a) in enumerate(zip(cts, program.out_avals))
        ]
        cts_out = [ct for ct, m in zip(given, program.nonzero_out) if m]
        cts_out += [Zero(v.aval) for v in program.jaxpr.outvars[len(cts_out) :]]  # of aux
        args = [UndefinedPrimal(v.aval) for v in program.jaxpr.invars]
        jaxpr = program.jaxpr
        if not all(wanted):
            jaxpr = reduced(jaxpr, [w for w, m in zip(wanted, program.nonzero_in) if m])
        found = iter(self._backward(jaxpr, args, cts_out))
        cts = [next(found) if m else Zero(tangent_aval(a)) for m, a in zip(program.nonzero_in, program.in_avals)]
        if notices.listeners and any(wanted) and all(is_zero(ct) for ct, w in zip(cts, wanted) if w):
            notices.tell(
                "grad-zero",
                "this derivative is zero whatever the arguments are: no path through operations with a derivative leads from them "
                "to the result.",
                "Differentiate with respect to what the result depends on; round, floor, argmax, sign, comparisons and integers "
                "have derivative zero.",
                call_sites.user_position(program.stopped),
            )
        return [instantiate(ct) if w else None for ct, w in zip(cts, wanted)]

    def _backward(self, jaxpr: Jaxpr, args: list[Any], cts: list[Any]) -> list[Any]:
        """The cotangents of the linear arguments. Outside of jit, where runs are looked at, it is shown as one program."""
        transpose_step(jaxpr, self.residuals, args, cts, self.program.name, of_jvp=True)
        values = [*self.residuals, *[ct for ct in cts if not is_zero(ct)]]
        if not (notices.run_listeners and evaluating() and config.settings().sharp_bits) or any(
            isinstance(x, (Tracer, Reference)) for x in values
        ):
            return backward_pass(jaxpr, self.residuals, args, cts)

        def backward(*values: Any) -> list[Any]:
            given = iter(values[len(self.residuals) :])
            each = [ct if is_zero(ct) else next(given) for ct in cts]
            return [instantiate(x) for x in backward_pass(jaxpr, values[: len(self.residuals)], args, each)]

        with config.override(sharp_bits=False):
            found = backward_pass(jaxpr, self.residuals, args, cts)
            closed = trace_to_jaxpr(backward, [aval_of(x) for x in values], DebugInfo(self.program.name))
            outs = [instantiate(x) for x in found]
        notices.tell_run(closed, self.program.name, [to_array(x) for x in values], outs)
        return found


class Pushforward(LinearFunction):
    """From tangents of the arguments (their structure, shapes and dtypes) to the tangent of the result.

    Raises TypeError for another structure, ValueError for tangents of other shapes or dtypes than the arguments.
    """

    __slots__ = ()
    _kind = "linear function"

    def __call__(self, *tangents: Any) -> Any:
        with folding:
            return self._push(tangents)

    def _push(self, tangents: tuple) -> Any:
        program = self.program
        given, tangent_tree = tree.flatten(tangents)
        if tangent_tree != program.in_tree:
            raise TypeError(
                f"the tangents have structure {tangent_tree}, the arguments of {program.name} {program.in_tree}; they must "
                "agree"
            )
        device = self._device(given)
        dots = [
            check_tangent(t, a, path_in(tangents, i), device, ValueError)
            for i, (t, a) in enumerate(zip(given, program.in_avals))
        ]
        wanted = [instantiate(t) for t, m in zip(dots, program.nonzero_in) if m]
        found = iter(eval_jaxpr(program.jaxpr, self.residuals, *wanted))
        ts = [
            next(found) if m else instantiate(Zero(tangent_aval(a)))
            for m, a in zip(program.nonzero_out, program.out_avals)
        ]
        return program.out_tree.unflatten(ts)


tree.register_pytree_node(Pushforward, lambda f: (f.residuals, f.program), Pushforward)
tree.register_pytree_node(
    Pullback,
    lambda f: ((f.args_res, f.opaque_residuals), (f.program, f.saved)),
    lambda static, kept: Pullback(*static, *kept),
)


# Tangents and cotangents ---------------------------------------------------------------------------------------------


Path = Callable[[], str]
"""Where a leaf stands: asked when an error is made."""


def path_in(whole: Any, i: int) -> Path:
    """The path of leaf number `i` of a tree."""
    return lambda: tree.leaf_paths(whole)[i]


def _array(x: Any, what: str, path: Path) -> ShapedArray:
    return x.aval if hasattr(x, "aval") else check_array(x, f"{what}{path()} is")


def check_tangent(
    tangent: Any, primal: ShapedArray, path: Path, device: Any = None, wrong: type[Exception] = TypeError
) -> Any:
    """A tangent for a value of aval `primal`. Raises ValueError for another shape, `wrong` for another dtype."""
    wanted = tangent_aval(primal)
    if isinstance(primal, ReferenceAval):
        if isinstance(tangent, Reference) and tangent.aval.inner_aval.strong() is wanted.strong():  # pyright: ignore
            return tangent
        raise TypeError(f"the primal at {path()} is {primal!r}: its tangent is a reference to {wanted.short()}")
    if is_zero(tangent):
        return tangent
    if wanted.dtype == dtypes.float0:
        if getattr(tangent, "dtype", None) != dtypes.float0:
            raise wrong(
                f"the primal at {path()} is {primal.short()}, which has no tangent: pass zeros of dtype float0 for it"
            )
        if tuple(tangent.shape) != primal.shape:
            raise ValueError(
                f"at {path()} the primal is {primal.short()} and the tangent has the shape {tuple(tangent.shape)}; they must "
                "agree"
            )
        return Zero(wanted)
    aval = _array(tangent, "the tangent at ", path)
    if aval.shape != wanted.shape:
        raise ValueError(f"at {path()} the primal is {primal.short()} and the tangent {aval.short()}; they must agree")
    if aval.dtype != wanted.dtype:
        raise wrong(
            f"at {path()} the primal is {primal.short()} and the tangent {aval.short()}; they must agree: convert the tangent "
            f"with jnp.asarray(t, '{wanted.dtype.name}')"
        )
    return _on_device(tangent, device)


def _cotangent(ct: Any, result: ShapedArray, path: Path, device: Any) -> Any:
    wanted = tangent_aval(result)
    if is_zero(ct) or wanted.dtype == dtypes.float0:
        return Zero(wanted)
    aval = _array(ct, "the cotangent", path)
    if aval.shape != wanted.shape or aval.dtype != wanted.dtype:
        raise ValueError(f"the result{path()} is {wanted.short()} and its cotangent {aval.short()}; they must agree")
    return _on_device(ct, device)


def _on_device(x: Any, device: Any) -> Any:
    if isinstance(x, Tracer) or not evaluating():
        return x
    array = to_array(x)
    return array_on(array, device) if isinstance(array, Array) and device is not None else array
