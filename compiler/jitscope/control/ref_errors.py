"""What may not be done with references, in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core import call_sites
from ..core.avals import aval_of
from ..core.errors import UnexpectedTracerError
from ..core.jaxpr import subjaxprs
from ..core.messages import message_here, place, with_advice
from ..core.references import Reference


def freed_error() -> ValueError:
    return ValueError(
        message_here(
            "the reference was frozen or freed: it holds nothing any more.",
            "use what freeze gave, or read the reference before",
        )
    )


def aliasing_error(name: str, names: Sequence[str], args: Sequence[Any], captured: Sequence[Any]) -> ValueError:
    """The error for a reference that a call of `name` gets by two names."""
    seen: dict[int, str] = {}
    for i, x in enumerate(args):
        if not isinstance(x, Reference):
            continue
        own = names[i] if i < len(names) else str(i)
        if any(x.whole is c.whole for c in captured if isinstance(c, Reference)):
            how = f"was both closed over and passed as the argument {own}"
        elif id(x.whole) in seen:
            how = f"appeared at both {seen[id(x.whole)]} and {own}"
        else:
            seen[id(x.whole)] = own
            continue
        return ValueError(
            message_here(
                f"only one reference to a mutable array may be passed to a function, but for {name} the mutable array reference "
                f"of type {aval_of(x)!r} {how}.",
                "let the function take it once",
            )
        )
    raise AssertionError


def repeats_reference(args: Sequence[Any]) -> bool:
    refs = [x.whole for x in args if isinstance(x, Reference)]
    return len({id(x) for x in refs}) < len(refs)


def refuse_aliases(primitive: Any, args: Sequence[Any], params: dict[str, Any]) -> None:
    if not repeats_reference(args) or "cond_jaxpr" in params:
        return
    inner = next((closed for _, closed in subjaxprs(params)), None)
    names = inner.jaxpr.debug.arg_names if inner is not None else ()
    extra = 1 if "branches" in params else 0
    own = [x for x, n in zip(args[extra:], names) if n.startswith("const")]
    name = f"{inner.jaxpr.debug.name} ({primitive.name})" if inner is not None else primitive.name
    given = [None if n.startswith("const") else x for x, n in zip(args[extra:], names)]
    raise aliasing_error(name, names, given, own)


def of_another(ref: Any, x: Any) -> ValueError:
    mapped = x is None or hasattr(x.tracing, "axis")
    kind, plain = ("vmapped", "an unbatched") if mapped else ("differentiated", "a non-differentiated")
    advice = "" if mapped else ", or write lax.stop_gradient(value)"
    return ValueError(
        message_here(
            f"performing a set/swap operation with a {kind} value on {plain} array reference of type {ref.aval!r}: which value "
            f"should it hold?",
            f"pass the reference as an argument of the {kind.replace('vmapped', 'mapped')} function{advice}",
        )
    )


def leak_error(ref: Any) -> UnexpectedTracerError:
    where = call_sites.here()
    return UnexpectedTracerError(
        with_advice(
            f"a reference, {ref.aval!r}, was used after the trace that made it had ended.{f' It was used {place(where)}' if where else ''}",
            "return its value, ref[...], from the function",
        )
    )
