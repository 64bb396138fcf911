"""Moving values between devices as an operation: eagerly a copy, inside a compiled program, as in JAX, nothing but that it runs over the
devices of a layout that is named."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from .. import tree
from ..core.annotations import Sharding
from ..core.avals import aval_of
from ..core.effects import no_effects
from ..core.errors import ShardingTypeError
from ..core.messages import with_advice
from ..core.part_types import sums_of
from ..core.primitive import FunctionCall
from ..core.trace import Tracer
from ..core.wrapping import wraps
from ..core.zeros import is_zero
from ..xla import client
from .array import Array, array_from_numpy, array_on, one_device, put_on, sharding_of
from .signature import as_written


F = TypeVar("F", bound=Callable[..., Any])


class DevicePut(FunctionCall):
    """`x` on `device`, or in a layout, from `source` (None: wherever it is)."""

    def abstract(self, x, /, *, device, source):
        return [x], no_effects

    def evaluate(self, args, /, *, device, source):
        (x,) = args
        if is_layout(device):
            return [laid_out(x, device)]
        return [by_device(array_on(x, device))]

    def lower(self, ctx, x, /, *, device, source):
        return [x]

    def jvp(self, primals, tangents, /, **params):
        (t,) = tangents
        return self.bind(*primals, **params), [t if is_zero(t) else self.bind(t, **params)[0]]

    def transpose(self, cts, x, /, *, device, source):
        (ct,) = cts
        return [ct if source is None else self.bind(ct, device=source, source=device)[0]]

    def batch(self, axis, args, dims, /, *, device, source):
        (x,), (d,) = args, dims
        if is_layout(device):
            from ..core.shardings import UNCONSTRAINED, padded  # of several devices

            spec = list(padded(device.spec, aval_of(x).ndim - 1))
            spec.insert(d, UNCONSTRAINED)
            device = device.with_spec(device.spec.update(partitions=spec))
        return self.bind(x, device=device, source=None if is_layout(source) else source), [d]

    def program_params(self, params):
        return {}


device_put_p = DevicePut("device_put")


def by_device(array: Array) -> Array:
    """An array that the user put on one device, known by that and by no mesh of it."""
    return array if one_device() or client.is_spread(array.buf) else array.called(put_on(array.place))


def is_layout(x: Any) -> bool:
    """Whether what `device_of_request` gave is a NamedSharding (which programs on one device do not load)."""
    return x is not None and not client.is_device(x) and type(x) is not client.Group


def laid_out(x: Any, sharding: Any) -> Array:
    """Any value as an array in a layout, which the user asks for."""
    from .spreading import moved_to

    return moved_to(x, sharding)


def beside(like: Any, value: Any, weak_type: bool = False) -> Any:
    """NumPy values that were computed from those of `like`, as an array that all of its devices have."""
    array = array_from_numpy(value, weak_type)
    if one_device() or type(like) is not Array:
        return array
    if not client.is_spread(like.buf):
        return array_on(array, like.place)
    from ..core.shardings import NamedSharding, PartitionSpec  # of several devices

    return laid_out(array, NamedSharding(like.sharding.mesh, PartitionSpec()))  # pyright: ignore[reportAttributeAccessIssue]


def moved(x: Any, device: Any) -> Any:
    """A traced value on `device`, or in a layout."""
    known = x.known() if isinstance(x, Tracer) else x
    if is_layout(device) and (device.mesh.explicit_axes or aval_of(x).mark is not None):
        from .constraint import resharded

        return resharded(x, device)
    source = None
    if isinstance(known, Array):
        source = known.sharding if client.is_spread(known.buf) else known.place
    return device_put_p.bind(x, device=device, source=source)[0]


def place_like(x: Any, shape: Sequence[int], dtype: Any) -> Sharding | None:
    """Where an array of `shape` lies that is made like `x`: where that was put, if it can be there, too."""
    if type(x) is not Array or one_device() or not x.committed or (dtype is None and x.aval.weak_type):
        return None
    fits = tuple(shape) == x.shape or x.sharding.is_fully_replicated
    return x.sharding if fits and not sums_of(x.aval).unreduced else None


def laid(out_sharding: Any, fun: Any, *args: Any, **kwargs: Any) -> Any:
    """What `fun` gives, laid out as asked (`out_sharding`); how what it computes on the way lies, the compiler decides."""
    from ..core.meshes import AxisType, summing_later, use_abstract_mesh  # of several devices
    from ..core.resharding import with_auto_layout
    from ..core.shardings import padded
    from .constraint import resharded

    wanted = device_of_request(out_sharding)
    if not is_layout(wanted):
        out = fun(*args, **kwargs)
        return out if wanted is None else tree.map(lambda x: moved(x, wanted), out)
    mesh = wanted.mesh.abstract_mesh
    if wanted.spec.unreduced:
        with use_abstract_mesh(mesh), summing_later(wanted.spec.unreduced):
            out = fun(*args, **kwargs)
        _check_terms(wanted, args, out)
        return tree.map(lambda x: resharded(x, wanted.with_spec(padded(wanted.spec, aval_of(x).ndim))), out)
    args, kwargs = tree.map(lambda x: with_auto_layout(x) if hasattr(x, "aval") else x, (args, kwargs))
    with use_abstract_mesh(mesh.update_axis_types(dict.fromkeys(mesh.explicit_axes, AxisType.Auto))):
        out = fun(*args, **kwargs)
    return tree.map(lambda x: resharded(x, wanted.with_spec(padded(wanted.spec, aval_of(x).ndim))), out)


def _check_terms(wanted: Any, args: Any, out: Any) -> None:
    """Raises ShardingTypeError for what was computed of arrays and is no sum over the axes of which `wanted` says that it is."""
    for x in tree.leaves(out) if any(hasattr(x, "aval") for x in tree.leaves(args)) else []:
        if sums_of(aval_of(x)).unreduced != wanted.spec.unreduced:
            raise ShardingTypeError(
                with_advice(
                    f"the result is {aval_of(x).short()}, and out_sharding={wanted.spec} says that it is unreduced over {set(wanted.spec.unreduced)}: "
                    "it would be, were the axes that are summed over cut along these",
                    "move the operands with jitscope.sharding.reshard(x, spec), or reshard the result",
                )
            )


def laying(fun: F) -> F:
    """Decorator: a function that says how its result is to lie with `out_sharding`, by name or where it stands among the arguments."""
    code = getattr(fun, "__code__", None)
    names = () if code is None else code.co_varnames[: code.co_argcount]
    place = names.index("out_sharding") if "out_sharding" in names else None

    @wraps(fun)
    def wrapper(*args: Any, out_sharding: Any = None, **kwargs: Any) -> Any:
        if place is not None and len(args) == place + 1:
            args, out_sharding = args[:-1], args[-1]
        return fun(*args, **kwargs) if out_sharding is None else laid(out_sharding, fun, *args, **kwargs)

    return wrapper  # pyright: ignore[reportReturnType]


def layouts_text(arrays: Sequence[Any]) -> tuple[str, ...]:
    """How arrays lie on several devices, in words; empty if none of them does."""
    bufs = [a.buf if type(a) is Array else None for a in arrays]
    if not any(buf is not None and client.is_spread(buf) for buf in bufs):
        return ()
    return tuple(_layout_text(sharding_of(buf)) if buf is not None and client.is_spread(buf) else "" for buf in bufs)


def _layout_text(sharding: Any) -> str:
    return as_written(f"{sharding.spec} of {sharding.mesh}")


def device_of_request(x: Any) -> Any:
    """The device or sharding that a user means: None, one of the runtime's devices, a sharding, a PartitionSpec for the mesh in
    force. Raises ValueError for others."""
    if x is None or client.is_device(x):
        return x
    from ..core.shardings import NamedSharding, SingleDeviceSharding
    from .spreading import NoMeshError, requested_sharding, says_nothing

    try:
        x = requested_sharding(x)
    except NoMeshError as error:  # JAX's device_put says so
        raise ValueError(str(error)) from None
    if isinstance(x, NamedSharding):
        return None if says_nothing(x) else x
    if not isinstance(x, SingleDeviceSharding):
        raise ValueError(
            f"device_put takes None, a device (one of jitscope.devices()), a sharding, a Format, or a tree of those; it got {x!r}"
        )
    return x._device


def checked_sharding(sharding: Any, shape: tuple[Any, ...]) -> Any:
    """The sharding of a struct of this shape. Raises ValueError for what is none and for specs of too many axes."""
    from ..core.shardings import NamedSharding, Sharding
    from .spreading import NoMeshError, requested_sharding

    try:
        found = requested_sharding(sharding)
    except NoMeshError as error:
        raise TypeError(str(error)) from None
    if not isinstance(found, Sharding):
        raise ValueError(f"the sharding of a ShapeDtypeStruct is a sharding or a PartitionSpec, not {sharding!r}")
    if isinstance(found, NamedSharding) and len(found.spec) > len(shape):
        found.check(shape)
    return sharding
