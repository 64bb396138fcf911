"""Operations that are lowered as others: what is known of their operands, and notes of what was written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..core import call_sites, source
from ..core.avals import ShapedArray
from ..core.jaxpr import Jaxpr, Var
from ..named_tuple import NamedTuple
from ..xla import mlir
from .levels import levels_of


class Rewrite(NamedTuple):
    """An operation that was written as others for a platform: where it stands in the user's code (empty: unknown), in words what was
    written, and by which rule of `xla.cpu_tuning`."""

    operation: str
    place: str
    words: str
    rule: str


class Rewriting:
    """What `LoweringContext` offers to rules that write an operation as others."""

    if TYPE_CHECKING:  # the rest of the context

        def __getattr__(self, name: str) -> Any: ...

    levels: frozenset[Var] = frozenset()

    def look_for_levels(self, jaxpr: Jaxpr) -> None:
        """Find the greatest elements in a jaxpr, which is lowered next, of which NaN comes out without a look for it
        (`backend/levels.py`)."""
        if not self.module.polymorphic:
            self.levels = levels_of(jaxpr, self.module.platform, self.is_divided)

    def is_level(self) -> bool:
        """Whether the greatest element that the equation finds is such a one."""
        return self.equation is not None and self.equation.outvars[0] in self.levels

    def rewritten(self, words: str, rule: Any) -> None:
        """Note that the equation is written as other operations, by a rule of `xla.cpu_tuning`."""
        if self.equation is not None:
            where = call_sites.user_position(self.equation.traceback)
            where = source.as_typed(where) if where else None
            shown = f"{self.equation.primitive.name} of {', '.join(a.aval.short() for a in self.equation.invars)}"
            told = f"line {where.line} of {where.function}" if where else ""
            self.module.rewrites.append(Rewrite(shown, told, words, rule.name))

    def call_apart(
        self,
        name: str,
        taken: Sequence[ShapedArray],
        given: ShapedArray,
        body: Callable[..., Any],
        values: Sequence[Any],
        marks: dict[str, str],
    ) -> Any:
        """Call a function of its own, which `body` makes of MLIR values, with `marks` for XLA's compiler."""
        call = self.module.function(taken, [given], body, name).call(list(values))
        words = {key: self.ir.StringAttr.get(value) for key, value in marks.items()}
        call.attributes["mhlo.frontend_attributes"] = self.ir.DictAttr.get(words)
        return call.results[0]

    def by_users_rule(self, rule: Callable[..., Any], values: Sequence[Any], params: Mapping[str, Any]) -> Any:
        """What a rule of a user's gives. It gets jaxlib's builders, whose operations have more names than those made here."""
        own = self.hlo, self.chlo, self.module.builders
        self.hlo, self.chlo = mlir.generated_builders()
        self.module.builders = {}  # those by name, too
        try:
            return rule(self, *values, **params)
        finally:
            self.hlo, self.chlo, self.module.builders = own

    def number_of(self, value: Any) -> float | None:
        """The number that all elements of a value of floats are, if it is a constant; None otherwise."""
        if not isinstance(self.ir.RankedTensorType(value.type).element_type, self.ir.FloatType):
            return None  # asked about complex elements, jaxlib's DenseFPElementsAttr raises
        numbers = _constant(value)
        splat = isinstance(numbers, self.ir.DenseFPElementsAttr) and numbers.is_splat and len(numbers) > 0
        return float(self.ir.FloatAttr(numbers.get_splat_value()).value) if splat else None

    def integer_of(self, value: Any) -> int | None:
        """The number that a scalar integer is, if it is a constant; None otherwise."""
        numbers = _constant(value)
        return int(numbers[0]) if isinstance(numbers, self.ir.DenseIntElementsAttr) and len(numbers) == 1 else None


def _constant(value: Any) -> Any:
    """The elements of an MLIR value that is a constant; None of others."""
    owner = value.owner
    return owner.attributes["value"] if getattr(owner, "name", None) == "stablehlo.constant" else None
