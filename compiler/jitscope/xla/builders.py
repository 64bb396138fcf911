"""Builders of operations, by the names and with the arguments of jaxlib's `stablehlo` and `chlo` modules, and of functions.

Those modules are generated, thousands of lines each, and take longer to import than a small program takes to compile; and each of
their builders goes through three Python calls. An operation of a form that stands here is made by one call of MLIR, which
infers its type; everything else is taken from jaxlib's modules, which are imported then.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from types import ModuleType
from typing import Any


_ONE = "x"
_MANY = "xs"

_UNARY = """abs cbrt ceil cosine count_leading_zeros exponential exponential_minus_one floor imag is_finite log log_plus_one
    logistic negate not_ popcnt real round_nearest_afz round_nearest_even rsqrt sign sine sqrt tan tanh"""
_BINARY = """add and_ atan2 complex divide maximum minimum multiply or_ power remainder shift_left shift_right_arithmetic
    shift_right_logical subtract xor"""

FORMS: dict[str, str] = {
    **dict.fromkeys(_UNARY.split(), "x"),
    **dict.fromkeys(_BINARY.split(), "x x"),
    "constant": "#value",
    "iota": "type #iota_dimension",
    "broadcast_in_dim": "type x #broadcast_dimensions",
    "transpose": "x #permutation",
    "clamp": "x x x",
    "select": "x x x",
    "convert": "type x",
    "bitcast_convert": "type x",
    "reshape": "type x",
    "reverse": "x #dimensions",
    "slice": "x #start_indices #limit_indices #strides",
    "pad": "x x #edge_padding_low #edge_padding_high #interior_padding",
    "concatenate": "xs #dimension",
    "dynamic_slice": "x xs #slice_sizes",
    "dynamic_update_slice": "x x xs",
    "compare": "x x #comparison_direction compare_type=",
    "dot_general": "type x x #dot_dimension_numbers precision_config=",
    "gather": "x x #dimension_numbers #slice_sizes indices_are_sorted=",
    "return_": "nothing xs",
    "OptimizationBarrierOp": "xs",
    "ReduceOp": "types xs xs #dimensions",
    "ScatterOp": "types xs x xs #scatter_dimension_numbers indices_are_sorted= unique_indices=",
    "SortOp": "types xs dimension= is_stable=",
    "WhileOp": "types xs",
    "CaseOp": "types x regions",
    "ReduceWindowOp": "types xs xs #window_dimensions window_strides= base_dilations= window_dilations= padding=",
    "convolution": """type x x #dimension_numbers #feature_group_count #batch_group_count
        window_strides= padding= lhs_dilation= rhs_dilation= window_reversal= precision_config=""",
    "reduce_precision": "x #exponent_bits #mantissa_bits",
    "CustomCallOp": """types xs call_target_name= has_side_effect= backend_config= api_version= called_computations=
        operand_layouts= result_layouts= output_operand_aliases=""",
}
"""What a builder takes, in order: the type of its result or those of its results (where MLIR cannot infer them), an operand (`x`)
or several (`xs`), an attribute (`#name`), how many `regions` it has; `nothing` are no results, `name=` is an attribute by
keyword that may be left out. Builders whose names end in `Op` give the operation, the others its result."""

_CHLO = """acos acosh asin asinh atan atanh bessel_i1e cosh digamma erf erf_inv erfc lgamma sinh square"""
CHLO_FORMS = {**dict.fromkeys(_CHLO.split(), "x"), **dict.fromkeys(("next_after", "polygamma", "zeta"), "x x")}

_REGIONS = {"ReduceOp": 1, "ScatterOp": 1, "ReduceWindowOp": 1, "SortOp": 1, "WhileOp": 2}
_PLACES = ("dimension", "iota_dimension")
_KEYWORDS = ("and_", "not_", "or_", "return_")


def leave_out_generated_modules(mlir: Any) -> None:
    """Tell MLIR's bindings that there are no classes of operations: it would import jaxlib's generated modules for them as soon as it
    meets an attribute or asks which operation made a value. Whoever imports these modules registers the classes all the same."""
    for name in ("builtin", "stablehlo", "chlo", "func"):
        sys.modules.setdefault(f"{__name__}.{name}", ModuleType(f"{__name__}.{name}"))
    mlir.dialect_search_modules = [__name__, *mlir.dialect_search_modules]


class Dialect:
    """The builders of a dialect, and whatever else jaxlib's module of it has."""

    def __init__(self, ir: Any, name: str, forms: dict[str, str]):
        self._ir, self._name, self._forms = ir, name, forms
        self._native = import_module(f"jaxlib.mlir._mlir_libs._{name}")

    def __getattr__(self, name: str) -> Any:
        if name in self._forms:
            found = self._builder(name)
        elif hasattr(self._native, name):
            found = getattr(self._native, name)
        else:
            found = self._theirs(name)
        setattr(self, name, found)
        return found

    def _theirs(self, name: str) -> Any:
        return getattr(import_module(f"jaxlib.mlir.dialects.{self._name}"), name)

    def _builder(self, name: str) -> Callable[..., Any]:
        form, operation = self._forms[name].split(), f"{self._name}.{_operation(name)}"
        if set(form) == {_ONE}:
            return self._of_operands(name, operation, len(form))
        if all(part in ("type", _ONE) or part[0] == "#" for part in form):
            return self._of_one_result(name, operation, form)
        return self._of_form(name, operation, form)

    def _of_operands(self, name: str, operation: str, count: int) -> Callable[..., Any]:
        create = self._ir.Operation.create

        def build(*operands: Any, **others: Any) -> Any:
            if not others and len(operands) == count:
                try:
                    return create(operation, None, operands, infer_type=True).result
                except TypeError:
                    pass  # an operation in the place of its result, say
            return self._theirs(name)(*operands, **others)

        return build

    def _of_one_result(self, name: str, operation: str, form: Sequence[str]) -> Callable[..., Any]:
        create = self._ir.Operation.create
        typed, names = form.count("type"), [part[1:] for part in form if part[0] == "#"]
        first, count = typed + form.count(_ONE), len(form)  # the first of the attributes, and all together

        def build(*given: Any, **others: Any) -> Any:
            if not others and len(given) == count:
                try:
                    attributes = dict(zip(names, given[first:]))
                    types = given[:typed] if typed else None
                    return create(operation, types, given[typed:first], attributes, infer_type=not typed).result
                except (TypeError, RuntimeError):  # something else than an attribute, say, or None
                    pass
            return self._theirs(name)(*given, **others)

        return build

    def _of_form(self, name: str, operation: str, form: Sequence[str]) -> Callable[..., Any]:
        create = self._ir.Operation.create
        required = [part for part in form if part != "nothing" and not part.endswith("=")]
        optional = {part[:-1] for part in form if part.endswith("=")}
        nothing, regions, whole = "nothing" in form, _REGIONS.get(name, 0), name.endswith("Op") or name == "return_"

        def build(*given: Any, **others: Any) -> Any:
            if len(given) != len(required) or not others.keys() <= optional:
                return self._theirs(name)(*given, **others)
            results, operands, attributes, held = () if nothing else None, [], {}, regions
            for part, value in zip(required, given):
                if part == _ONE:
                    operands.append(value)
                elif part == _MANY:
                    operands.extend(value)
                elif part[0] == "#":
                    attributes[part[1:]] = value
                elif part == "regions":
                    held = value
                else:
                    results = value if part == "types" else (value,)
            for key, value in others.items():
                if value is not None:
                    attributes[key] = value
            if not self._complete(attributes):
                return self._theirs(name)(*given, **others)
            try:
                made = create(operation, results, operands, attributes, regions=held, infer_type=results is None)
            except TypeError:
                return self._theirs(name)(*given, **others)
            return made if whole else made.result

        return build

    def _complete(self, attributes: dict[str, Any]) -> bool:
        """Make attributes of what are Python's values; whether all are attributes then."""
        ir = self._ir
        for key, value in attributes.items():
            if isinstance(value, ir.Attribute):
                continue
            if isinstance(value, bool):
                attributes[key] = ir.BoolAttr.get(value)
            elif isinstance(value, int) and key in _PLACES:
                attributes[key] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), value)
            elif isinstance(value, str):
                attributes[key] = ir.StringAttr.get(value)
            else:
                return False
        return True


def _operation(name: str) -> str:
    """The operation that a builder makes: `and_` makes `and`, `OptimizationBarrierOp` makes `optimization_barrier`."""
    if name in _KEYWORDS:
        return name[:-1]
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name.removesuffix("Op")).lower() if name.endswith("Op") else name


class Function:
    """A function of a module under construction, made where operations are inserted now."""

    __slots__ = ("_ir", "name", "operation")

    def __init__(self, ir: Any, name: str, kind: Any, visibility: str | None = None):
        attributes = {"sym_name": ir.StringAttr.get(name), "function_type": ir.TypeAttr.get(kind)}
        if visibility is not None:
            attributes["sym_visibility"] = ir.StringAttr.get(visibility)
        self._ir, self.name = ir, name
        self.operation = ir.Operation.create("func.func", None, None, attributes, regions=1)

    @property
    def attributes(self) -> Any:
        return self.operation.attributes

    @property
    def type(self) -> Any:
        """The types it takes and gives."""
        return self._ir.FunctionType(self._ir.TypeAttr(self.attributes["function_type"]).value)

    def entry(self, locations: Sequence[Any] | None = None) -> Any:
        """Its block, with an argument for each type it takes."""
        return self.operation.regions[0].blocks.append(*self.type.inputs, arg_locs=locations)

    def call(self, values: Sequence[Any]) -> Any:
        """A call of it, made where operations are inserted now."""
        callee = {"callee": self._ir.FlatSymbolRefAttr.get(self.name)}
        return self._ir.Operation.create("func.call", self.type.results, values, callee)


def give_back(ir: Any, values: Sequence[Any]) -> None:
    """The end of a function, with its results."""
    ir.Operation.create("func.return", None, values)
