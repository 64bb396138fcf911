"""`jitscope.experimental.custom_partitioning`: functions whose division among devices the user writes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from .. import tree
from ..backend.partitioning import Partitioning
from ..backend.sharding_rules import ShardingRule
from ..control.bodies import trace_body
from ..control.custom_partition import partitioned_p
from ..core.annotations import PyTree
from ..core.avals import aval_of
from ..core.trace import Tracer
from ..core.wrapping import stand_for


__all__ = ["custom_partitioning"]


class custom_partitioning:
    """A function that runs as it is on one device; over several, `def_partition` says how. `static_argnums`: positions of
    arguments that are not arrays, which the callbacks are given first."""

    def __init__(self, fun: Callable[..., Any], static_argnums: int | Sequence[int] = ()):
        self.fun, self.partition = fun, None
        self.static_argnums = (static_argnums,) if isinstance(static_argnums, int) else tuple(static_argnums)
        self.sharding_rule: Any = None
        self._by_callback = False
        stand_for(self, fun)

    def def_partition(
        self,
        partition: Callable[..., Any],
        infer_sharding_from_operands: Callable[..., Any] | None = None,
        propagate_user_sharding: Callable[..., Any] | None = None,
        decode_shardings: bool = True,
        sharding_rule: str | Callable[..., Any] | None = None,
        *,
        reduction_factors: Sequence[str] = (),
        need_replication_factors: Sequence[str] = (),
        permutation_factors: Sequence[str] = (),
        **factor_sizes: int,
    ) -> Callable[..., Any]:
        """Say how it is divided; gives `partition` back.

        `partition(*static, mesh, arg_shapes, result_shape)` is asked when a program is compiled; the shapes are trees of
        ShapeDtypeStructs with the shardings that XLA chose. It gives (mesh, a function of one device's parts, the shardings of the
        results, those of the arguments): arguments are moved to these, and collectives work along the axes of the mesh.

        `sharding_rule` says which layouts follow from each other: a text such as "i j, j k -> i k" or "... i -> ... i" with a name
        for each axis, or a function of (*static, mesh, operand types, result types) that gives one (or it and a dict of the
        following). Without a rule results are whole on every device, unless something else says how they lie. `reduction_factors`,
        `need_replication_factors` and `permutation_factors` name factors that are summed over, must be whole, or are permuted;
        `factor_sizes` are those of factors in brackets. XLA asks for the rule alone: `infer_sharding_from_operands` and
        `propagate_user_sharding` are never called.

        Raises ValueError for a rule that is none; NotImplementedError where the function is called, for callbacks without a rule.
        """
        self.partition, self._by_callback = partition, bool(infer_sharding_from_operands or propagate_user_sharding)
        special = {
            "reduction_factors": reduction_factors,
            "need_replication_factors": need_replication_factors,
            "permutation_factors": permutation_factors,
        }
        if isinstance(sharding_rule, str):
            sharding_rule = ShardingRule.of(sharding_rule, **special, **factor_sizes)  # pyright: ignore
        elif sharding_rule is not None and not callable(sharding_rule):
            raise TypeError(
                f"sharding_rule is a text such as 'i j -> i j', or a function that gives one, not {sharding_rule!r}"
            )
        elif any(special.values()) or factor_sizes:
            raise ValueError(
                f"{[*[n for n, given in special.items() if given], *factor_sizes]} go with a sharding_rule that is a text"
            )
        self.sharding_rule = sharding_rule
        return partition

    def __call__(self, *args: PyTree, **kwargs: PyTree) -> PyTree:
        name = getattr(self.fun, "__name__", "a function")
        if self.partition is None:
            raise ValueError(
                f"{name} is a custom_partitioning without a partition: call {name}.def_partition(…) before"
            )
        if self.sharding_rule is None and self._by_callback:
            raise NotImplementedError(
                f"{name}: XLA's partitioner (Shardy) asks no callbacks how layouts follow from each other. What to do: give "
                "def_partition a sharding_rule, such as 'i j -> i j'"
            )
        bound = inspect.signature(self.fun).bind(*args, **kwargs)
        bound.apply_defaults()
        if bound.kwargs:
            raise TypeError(f"{name}: arguments by name could not be resolved to positions: {sorted(bound.kwargs)}")
        return self._apply(name, list(bound.args))

    def _apply(self, name: str, args: list[Any]) -> Any:
        positions = [i % len(args) for i in self.static_argnums]
        static = tuple(args[i] for i in positions)
        if any(isinstance(leaf, Tracer) for leaf in tree.leaves(static)):
            raise TypeError(f"{name}: a traced value was passed as a static argument of a custom_partitioning")

        def fun(*arrays: Any) -> Any:
            rest = iter(arrays)
            return self.fun(*[x if i in positions else next(rest) for i, x in enumerate(args)])

        try:
            fun.__dict__["traced_as"] = (self.fun, ("custom_partitioning", self.static_argnums, hash(static), static))
        except TypeError as error:
            raise TypeError(f"{name}: static arguments of a custom_partitioning must be hashable: {error}") from None
        fun.__name__ = name
        leaves, in_tree = tree.flatten(tuple(x for i, x in enumerate(args) if i not in positions))
        body = trace_body(fun, in_tree, [aval_of(x) for x in leaves])
        if any(isinstance(c, Tracer) for c in body.closed.consts):
            raise ValueError(
                f"{name} is divided by custom_partitioning, and uses a traced value from outside: pass it as an argument"
            )
        how = Partitioning(name, self.partition, self.sharding_rule, static, in_tree, body.out_tree)  # pyright: ignore
        return body.out_tree.unflatten(partitioned_p.bind(*leaves, jaxpr=body.closed, how=how))
