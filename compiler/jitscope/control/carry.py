"""The carried value of loops: it keeps its structure, shapes and dtypes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import tree
from ..core import call_sites, source, users_source
from ..core.avals import ShapedArray, is_python_scalar
from ..core.dtypes import promote
from ..core.effects import no_effects
from ..core.errors import stepped_on
from ..core.jaxpr import Atom, ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var, rearranged
from ..core.messages import with_advice
from ..core.part_types import laid_of, sums_of, varying, with_mark, with_varying, without_sums
from ..core.varying import as_said, lie_alike, pvary_p, reduced_vary_p, vary_alike, vary_over
from ..ops.linear import convert, convert_element_type_p
from .bodies import Body, name_of, short, shown


def stable(
    step: Callable[[list[bool]], Any], read: Callable[[Any], Sequence[bool]], flags: Sequence[bool]
) -> tuple[Any, list[bool]]:
    """`step(flags)` for the least flags, above those given, that what it gives does not add to (by `read`); and those."""
    flags = list(flags)
    while True:
        found = step(flags)
        grown = [a or b for a, b in zip(flags, read(found))]
        if grown == flags:
            return found, flags
        flags = grown


def settle_carry(
    what: str,
    f: Callable[..., Any],
    trace: Callable[[Sequence[ShapedArray]], Body],
    leaves: Sequence[Any],
    avals: Sequence[ShapedArray],
    in_tree: Any,
    carry_of: Callable[[Any, Any], Any],
) -> tuple[Body, list[Any]]:
    """The body whose first results have the shapes and dtypes of the carry, and the first carry's leaves.

    A leaf that stems from a Python number takes the dtype the body makes of it; results are weak where the body's are. Raises
    TypeError where structure, shape or dtype change otherwise, and where the body is a user's and values vary over other mesh axes.
    """
    leaves, avals, what = list(leaves), list(avals), getattr(f, "loop", what)
    strict = source.position_of_function(f) is not None
    while True:
        body = trace(avals)
        out_tree = carry_of(f, body.out_tree)
        if out_tree != in_tree:
            given = body.closed.out_avals[: out_tree.num_leaves]
            sides = (_returned(f, in_tree, avals), _returned(f, out_tree, given))
            raise stepped_on(
                TypeError(_structure_message(what, f, *(shown(own, short(each)) for own, each in sides))),
                "loop-carry-mismatch",
                users_source.position_of_result(f),
            )
        outs = body.closed.out_avals[: len(avals)]
        changed: list[int] = []
        for i, (a, b) in enumerate(zip(avals, outs)):
            if not a.weak_type or a.dtype == b.dtype:
                continue
            dtype, _ = promote((a.dtype, True), (b.dtype, b.weak_type))
            if dtype == a.dtype:
                continue
            changed.append(i)
            leaves[i] = dtype.type(leaves[i]) if is_python_scalar(leaves[i]) else convert(leaves[i], dtype)
            avals[i] = ShapedArray(avals[i].shape, dtype, False, avals[i].mark)
        for i, (a, b) in enumerate(zip(avals, outs)):
            if strict and varying(a) != varying(b):
                continue
            if not varying(b) <= varying(a):
                changed.append(i)
                leaves[i] = vary_over(leaves[i], varying(b))
                avals[i] = with_varying(avals[i], varying(a) | varying(b))
            elif laid_of(a) is None and laid_of(b) is not None and lie_alike(a, b):
                changed.append(i)
                avals[i] = with_mark(a, varying(a), sums_of(a), without_sums(laid_of(b)))
                leaves[i] = as_said(leaves[i], avals[i])
        if not changed:
            break
    _check_types(what, f, body.closed, avals, in_tree, strict)
    return body, leaves


def handed_on(closed: ClosedJaxpr, before: int, leaves: Sequence[Any]) -> list[int]:
    """Indices of the carry's leaves that a body with `before` further arguments gives back as it got them."""
    invars, outvars = closed.jaxpr.invars[before:], closed.jaxpr.outvars
    return [i for i, x in enumerate(leaves) if outvars[i] is invars[i] and hasattr(x, "aval")]


def kept_of(closed: ClosedJaxpr, arguments: Sequence[int], results: Sequence[int]) -> ClosedJaxpr:
    """The program with these arguments and results alone; made once."""
    key = ("kept", tuple(arguments), tuple(results))
    if key not in closed.derived:
        closed.derived[key] = rearranged(closed, arguments, results)
    return closed.derived[key]


def with_result_avals(closed: ClosedJaxpr, avals: Sequence[ShapedArray]) -> ClosedJaxpr:
    """The program with its first results in the weak types of `avals` (dtypes and shapes agree already)."""
    outs = closed.out_avals[: len(avals)]
    if all(a is b for a, b in zip(avals, outs)):
        return closed
    key = ("result avals", tuple(avals))
    if key not in closed.derived:
        old = closed.jaxpr
        eqns, outvars = list(old.eqns), list(old.outvars)
        for i, (atom, aval) in enumerate(zip(old.outvars, avals)):
            if isinstance(atom, Literal):
                value = aval.dtype.type(atom.value)
                outvars[i] = Literal(value.item() if aval.weak_type else value, aval)
            elif atom.aval is not aval:
                eqns += _conversion(atom, aval)
                outvars[i] = eqns[-1].outvars[0]
        jaxpr = Jaxpr(old.constvars, old.invars, outvars, eqns, old.effects, old.debug)
        closed.derived[key] = ClosedJaxpr(jaxpr, closed.consts)
    return closed.derived[key]


def _conversion(atom: Atom, aval: ShapedArray) -> list[JaxprEqn]:
    eqns, left = [], varying(aval) - varying(atom.aval)
    reduced = left & sums_of(atom.aval).reduced
    for primitive, axes in ((reduced_vary_p, reduced), (pvary_p, left - reduced)):
        if axes:
            var = Var(with_varying(atom.aval, axes | varying(atom.aval)))
            eqns.append(JaxprEqn([atom], [var], primitive, {"axes": tuple(sorted(axes, key=str))}, no_effects))
            atom = var
    if laid_of(atom.aval) is not laid_of(aval):
        eqns += _relaid(atom, aval)
        atom = eqns[-1].outvars[0]
    if not (left or eqns) or atom.aval is not aval:
        params = {"new_dtype": aval.dtype, "weak_type": aval.weak_type}
        eqns.append(JaxprEqn([atom], [Var(aval)], convert_element_type_p, params, no_effects))
    return eqns


def _relaid(atom: Atom, aval: ShapedArray) -> list[JaxprEqn]:
    """The equation that gives a value the layout of a type (or the same one, which its own does not say)."""
    from ..core.meshes import AxisType  # of several devices
    from ..core.resharding import reshard_p, typed_as
    from ..core.shardings import NamedSharding, PartitionSpec

    laid = laid_of(aval) or laid_of(atom.aval)
    auto = laid.mesh.update_axis_types(dict.fromkeys(laid.mesh.explicit_axes, AxisType.Auto))
    sharding = laid if laid_of(aval) is not None else NamedSharding(auto, PartitionSpec())
    return [JaxprEqn([atom], [Var(typed_as(atom.aval, sharding))], reshard_p, {"sharding": sharding}, no_effects)]


# Messages ------------------------------------------------------------------------------------------------------------


def _returned(f: Any, state: Any, avals: Sequence[ShapedArray]) -> tuple[Any, Sequence[ShapedArray]]:
    """The part of a loop's state that the user's function returns, without the counters of a fori_loop."""
    n = _counters(f)
    return (state.children()[n], avals[n:]) if n else (state, avals)


def _counters(f: Any) -> int:
    return getattr(f, "counters", 0)


def _structure_message(what: str, f: Any, before: str, after: str) -> str:
    return with_advice(
        f"{what}: {name_of(f)} must return a carry of the structure it takes\n"
        f"  it takes   {before}\n  and gives  {after}",
        "return the same containers with the same keys; what changes from iteration to iteration goes into the leaves",
    )


def _check_types(
    what: str, f: Any, closed: ClosedJaxpr, avals: Sequence[ShapedArray], in_tree: Any, strict: bool
) -> None:
    paths = tree.paths_in(in_tree)
    rows, guilty = [], None
    advice, counted = "", f"[{_counters(f)}]" if _counters(f) else ""
    for path, aval, atom in zip(paths, avals, closed.jaxpr.outvars):
        alike = (atom.aval.shape, atom.aval.dtype) == (aval.shape, aval.dtype) and lie_alike(atom.aval, aval)
        if alike and strict and varying(atom.aval) != varying(aval):
            alike, advice = False, vary_alike("the first carry", aval, "what the body returns", atom.aval)
        if not alike:
            rows.append(
                f"  carry{path.removeprefix(counted)} comes in as {aval.short()} and goes out as {atom.aval.short()}{made_in(closed, atom)}"
            )
            guilty = guilty or place_made(closed, atom)
            advice = advice or advice_on_types(aval.shape, atom.aval.shape)
    if rows:
        listed = "\n".join(rows)
        error = TypeError(
            with_advice(f"{what}: {name_of(f)} must return a carry of the shapes and dtypes it takes\n{listed}", advice)
        )
        raise stepped_on(error, "loop-carry-mismatch", guilty or users_source.position_of_result(f))


def advice_on_types(before: Sequence[int], after: Sequence[int]) -> str:
    """What to do about a carry that comes in and goes out with other types, by its two shapes: one that grows never has those of the first."""
    if (
        len(before) == len(after)
        and any(a < b for a, b in zip(before, after))
        and all(a <= b for a, b in zip(before, after))
    ):
        return (
            "make the array of its final size before the loop and write into it with .at[i].set(…): what a loop carries has one shape; "
            "values that a scan is to stack are what its body returns beside the carry"
        )
    return (
        "start with a carry of the shape and dtype that the body gives (jnp.zeros(shape, dtype)), or convert what the body returns "
        "(.astype, .reshape)"
    )


def made_in(closed: ClosedJaxpr, atom: Any) -> str:
    """Where a result was computed, in words; empty if it is an argument or not known."""
    eqn = _maker(closed, atom)
    return "" if eqn is None else source.position_text(place_made(closed, atom), f", by {eqn.primitive.name} in ")


def place_made(closed: ClosedJaxpr, atom: Any) -> source.Position | None:
    """The position where a result was computed; None if it is an argument or not known."""
    eqn = _maker(closed, atom)
    return call_sites.user_position(eqn.traceback) if eqn is not None else None


def _maker(closed: ClosedJaxpr, atom: Any) -> JaxprEqn | None:
    return next((eqn for eqn in closed.jaxpr.eqns if atom in eqn.outvars), None)
