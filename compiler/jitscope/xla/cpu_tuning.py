"""Everything that is tuned to XLA's compiler for the CPU, one entry each: what is done, what it was measured to give, and when it can
go. `python -m benchmarks.cpu_tuning` measures all of them again.

An entry holds for programs for the CPU, with the releases of jaxlib it was measured with (the first figure is of 0.10.2, a second of
0.12.0.1); elsewhere programs are as plain as they can be. (What keeps XLA from giving wrong results holds with every jaxlib, but for
those of which somebody has seen that they do not need it.)
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from jaxlib.version import __version__ as JAXLIB

from .choice import chosen


_MEASURED = ("0.10.", "0.11.", "0.12.")
HAS_OLDER_EMITTER = JAXLIB.startswith("0.10.")
"""Whether XLA still has the emitter that `xla_cpu_use_fusion_emitters=False` chooses; since 0.11 the flag is unknown, and in XLA_FLAGS it
ends the process."""


class Tuning:
    """One entry, by the name it has here: `value` is what is set or counted, `jaxlibs` how the versions begin that it holds with (none: all but those that begin as `spared`)."""

    __slots__ = ("_concerned", "jaxlibs", "measured", "name", "off", "remove", "spared", "value", "why")

    def __init__(
        self,
        why: str,
        measured: str,
        remove: str,
        value: Any = None,
        jaxlibs: tuple[str, ...] = _MEASURED,
        spared: tuple[str, ...] = (),
    ):
        self.why, self.measured, self.remove, self.value, self.jaxlibs = why, measured, remove, value, jaxlibs
        self.spared = spared
        self.off, self.name = False, ""
        self._concerned = self.concerns(JAXLIB)  # asked for each equation

    def holds(self, platform: str = "cpu") -> bool:
        """Whether it holds for programs for a platform. (Where a program is still being traced, it is not known which: it is that
        of this release then.)"""
        if platform != "cpu":
            return False
        rules = chosen().rules
        said = next((on for name, on in rules if SWITCHES.get(name) is self), None) if rules else None
        return (not self.off and self._concerned) if said is None else said

    def concerns(self, jaxlib: str) -> bool:
        """Whether it is for that version of jaxlib."""
        return jaxlib.startswith(self.jaxlibs) if self.jaxlibs else not jaxlib.startswith(self.spared)

    def reaches(self, number: Any) -> bool:
        """Whether it holds and a number is not above its value."""
        return self.holds() and number <= self.value


SMALL_LOOPS = Tuning(
    "A loop on so few bytes is compiled into one function (XLA's own limit is 1,024): calling a function for each operation in each "
    "iteration costs more than the operations. Beyond that, operations may be worth several threads.",
    "300 steps of a hidden Markov chain of 20 states: 0.4 to 0.9 of the time, with 0.11.2 0.74, with 0.12.0.1 1.0; 100 of a recurrent "
    "network of 32: 0.82 to 0.95; 30 products of a matrix of 40 × 40 and a vector: 1.1",
    "XLA's own limit does as well, as since 0.12",
    ("xla_cpu_small_while_loop_byte_threshold", 65536),
    jaxlibs=("0.10.", "0.11."),
)
OLDER_EMITTER = Tuning(
    "What runs eagerly is compiled by XLA's older emitter, without the fusion emitters.",
    "the first sin(x) of a size: 0.55 to 0.6 of the time; running it takes the same",
    "the fusion emitters compile a single operation as quickly",
    (("xla_cpu_use_fusion_emitters", False),),
    jaxlibs=("0.10.",),
)
NEWER_EMITTER_FOR = frozenset(
    ("tan", "atan", "cbrt", "dot_general", "transpose", "cumsum", "cumprod", "cummax", "cummin")
)
"""Operations for which the older one is not taken: the first three give other numbers with it (for denormal operands, and near the
largest), so that eager results would differ from compiled ones; for the others its code is slower."""
LIBRARY_FLAG = "xla_cpu_experimental_ynn_fusion_type"
_KIND = "LIBRARY_FUSION_TYPE_"
_LIBRARY_KINDS = {
    "products": ("DOT", "INDIVIDUAL_DOT"),
    "convolutions": ("INDIVIDUAL_CONVOLUTION",),
    "reductions": ("REDUCE",),
}
"""XLA's names for what its library is taken for unless something else is said."""


def library_types_without(kinds: Collection[str]) -> dict[str, Any]:
    """The flag with which XLA takes its library for all it does by default but these kinds."""
    names = [_KIND + name for kind, names in _LIBRARY_KINDS.items() if kind not in kinds for name in names]
    return {LIBRARY_FLAG: ",".join(names)}


LIBRARY_FOR_PRODUCTS_ALONE = Tuning(
    "XLA merges reductions and elementwise operations of some 10,000 elements into library kernels, in which two logarithms whose "
    "operands differ by a constant factor become one. Programs that may have two such (`backend.guards`) keep the library for matrix "
    "products alone.",
    "sum(log(x) + log(2 x)) gives 2 sum(log(x)): tests/compiler/backend/test_guards.py",
    "those tests pass without it",
    library_types_without(("convolutions", "reductions")),
    jaxlibs=(),
)
LONG_CHAINS = Tuning(
    "XLA's newest emitter goes from a kernel's result to its operands by recursion, on a stack of a fixed size: a chain of some 21,000 "
    "operations ends the process. A program that may have one so long is compiled without it (as all were before there was it).",
    "24,000 sines of a number one after the other: tests/compiler/backend/test_long_chains.py; a cumulative sum takes 1.25 of the time without",
    "those programs compile without it",
    {"xla_cpu_disable_tiled_emitter": "true"},
    jaxlibs=(),
    spared=("0.11.", "0.12."),  # those programs compile without it there
)
NOT_FUSED = Tuning(
    "A loop that XLA fuses of a chain of concatenations, gathers, pads or reductions computes what stands before them several times, at "
    "each of them: its time doubles every few links, and a kernel of some 350 ends the process. A program with more than 128 in a chain "
    "is compiled without fusion.",
    "100 times 0.5 * (x + jnp.roll(x, 1)) for 100,000 numbers: 0.01 of the time, compiled in 0.13 of it; 400 times: compiled in 2.5 s "
    "of 46 s; 400 rolls alone ended the process: tests/compiler/backend/test_long_chains.py",
    "those programs compile without it, as quickly",
    {"xla_disable_hlo_passes": "fusion"},
    jaxlibs=(),
)
ROW_BLOCKS = Tuning(
    "A vector times a tall matrix is summed in parts of rows that stay near the core: XLA goes through it column by column, some at a "
    "time, and fetches it from far away each time. Only where the number of rows has a divisor among these: cutting off a rest (of "
    "8,191 rows) makes XLA copy the matrix, which takes 1.8 to 4.6 times as long as the product.",
    "v @ A for A of 65,536 × 64: 0.47 to 0.8 of the time, 0.44; of 16,384 × 512: 0.64 to 0.85, 0.77; of 8,192 × 160: 0.85 to 1, 0.8",
    "XLA divides the rows itself",
    {"numbers": 2**20, "rows": 2**12, "parts": (16, 8, 10, 12, 4)},
)
TRANSPOSED_OPERANDS = Tuning(
    "A product reads the axes of a transposed operand where they were: XLA writes the transpose out first.",
    "A.T @ v for A of 8,192 × 160: 0.1 to 0.3 of the time, 0.29; of 2,000 × 2,000: 0.09, 0.05",
    "XLA takes transposes into products with vectors",
)
RANDOM_BITS_APART = Tuning(
    "So many random bits get a kernel of their own: in one loop with what uses them they would not be drawn in vectors, and be "
    "drawn again for each use. So do one number and the keys of a split: LLVM would take for ever over a loop whose elements share them.",
    "1,000,000 normal numbers: 0.7 to 0.9 of the time, 0.93; less their mean: 0.77, 0.56; categorical: 0.71, 0.41; the sum of as many "
    "uniform ones: 1.05 to 1.2, 1.4; bernoulli: 1.6, 2.1",
    "XLA draws bits in vectors inside of larger loops",
    1024,
)
COMPLEX_OPERANDS_KEPT = Tuning(
    "The operand of a logarithm or a square root of complex numbers is written to memory: in one loop with what leads to it, XLA would compute "
    "that for each time that a part of it is read, and again for the operands of that.",
    "sqrt(-log(1 - z)) of 200,000 numbers: 0.83 of the time, compiled in 0.8; with a square root more and tanh 0.74 and 0.41; of 24 drawn at random: "
    "compiled in 0.2 s, where it took minutes",
    "XLA computes an operand once in a loop",
)
SORTED_AS_INTEGERS = Tuning(
    "Floats are sorted as integers in the same order: XLA sorts those without a comparison that looks for NaN.",
    "sorting 100,000 floats: 0.2 of the time, 0.16",
    "XLA knows the order of floats with NaN last",
)
SORTED_PACKED = Tuning(
    "A sort of several operands, of at least so many elements, is one of 64-bit integers, each a key and a place.",
    "argsort of 100,000 floats: 0.23 of the time, 0.31",
    "XLA sorts several operands as quickly as one",
    512,
)
IN_ONE_PIECE = {"xla_cpu_small_call": "true", "inlineable": "false"}
"""Marks of calls that XLA compiles to one function, with all loops in them, as it does small loops."""
SORTED_BY_NETWORKS = Tuning(
    "Integers (and what is sorted as such: floats, and keys packed with their places) in arrays of at least so many `elements` are sorted along an axis of at "
    "most so many (`length`; `longer` ones in larger arrays) by a network (`ops/sort_networks.py`), and the greatest of rows taken from such a sort: XLA's sort calls a function for each comparison.",
    "120,000 numbers in rows of 2, 3, 5 and 9, with 0.12.0.1 (0.10.2 and 0.11.2 alike): jnp.sort 0.09, 0.12, 0.14 and 0.23 of the time, argsort 0.24 to 0.51, the median "
    "0.19 to 0.29, lax.top_k(x, 2) 0.03 to 0.14; compiled in 50 to 250 ms more. Rows of 10 and 16: 0.23 and 0.3, compiled in 220 and 540 ms more",
    "XLA sorts short rows in vectors",
    {"length": 9, "elements": 1 << 16, "longer": 16, "elements of longer": 1 << 19},
)
RADIX_SORT = Tuning(
    "A sort of at least so many elements, along an axis of at least such a length, is one by digits (`ops/radix_sort.py`), but for places of "
    "32-bit keys that are nearly in order, or in the opposite one: XLA compares elements, one after the other.",
    "sorting 100,000 floats: 0.28 of the time, argsort: 0.35, lexsort of two keys: 0.13; of 1,000,000: 0.43 and 0.48; compiled in 1.8 and 2.6 "
    "of the time. With 0.12.0.1 0.29, 0.35 and 0.14",
    "XLA sorts in vectors, or by digits",
    {"elements": 16384, "length": 4096},
)
NAN_OF_MAX = Tuning(
    "XLA's library gives the greatest (or least) number of an array of so many elements or more that has a NaN, where NaN is what is to be "
    "given; devices do, whatever they exchange. Whether there is one is looked for beside it, or (several devices) integers in the order of "
    "the floats are taken.",
    "jnp.max of 4,096 numbers and a NaN: tests/compiler/ops/test_nan_of_max.py; along the rows of 2,048 × 512 it takes 3 times as long, along "
    "its columns 1.7; without the library the rows take 6 times as long. Softmax and its relatives do without, also written out: NaN comes "
    "out of their sums (of 20,000 × 10, 0.92 of the time with a look for it, with 0.12.0.1 0.88)",
    "those tests pass without it",
    4096,
    jaxlibs=(),
)
MAX_BY_CHOICES = Tuning(
    "The greatest (or least) float along last axes is found by choices that keep NaN, in vectors (`ops/choices.py`), where their length is at most "
    "`steps`, or tables of columns of no more and of 8 to 32 columns; over at most so many elements of other axes, as in poolings, it is that of so many "
    "`slices`; over more of them, with long rows behind, it is chosen between rows: XLA's library loses NaN, and with a look for it reads an array twice.",
    "jnp.max along rows of 3, 10, 32, 96 and 256, with 0.12.0.1: 0.18, 0.34, 0.72, 0.69 and 0.76 of the time, of squares of "
    "them 0.14 to 0.58; of 1,000,000 numbers: 0.60, of 4,194,304: 0.43 (with 0.10.2 rows of more than 32: 1.5); rows of 1,000, 1,024, 4,096 and 32,000, of which pieces are "
    "chosen between first: 0.54, 0.46, 0.57 and 0.38. Poolings of 2 × 2: 0.19 to 0.40. Along the columns of 1,000 × 1,000, 64 × 50,000 and 10,000 × 100: 0.54, 0.32 and 0.20",
    "XLA's library keeps NaN",
    {"steps": 32, "slices": 4},
    jaxlibs=("0.11.", "0.12."),
)
SUMS_OF_SHORT_ROWS = Tuning(
    "Floats whose last axis is short, in an array of at least so many `elements`, are summed over this axis, or last axes, of at most so many (`added`) as "
    "slices; over all axes before a last one of at most so many (`kept`) they are summed, and their greatest and least found, in longer rows; over others and then a last axis, with one between that is kept, they are summed in this order "
    "(`ops/short_sums.py`): XLA's library goes through such an array row by row.",
    "120,000 numbers in rows of 2, 3, 4 and 8, with 0.12.0.1: x.sum(1) 0.15, 0.21, 0.30 and 0.45 of the time, of exponentials 0.12 to 0.5, compiled in some 20 to 35 ms "
    "more (rows of 10, on two cores: no gain); x.sum(0) 0.22, 0.34, 0.35 and 0.6; the norms of 100,000 points in space 0.1, with 0.11.2 0.13, with 0.10.2 0.11; "
    "8 × 32 × 32 × 8 × 8 over axes 1, 2 and 4: 0.27, normalization by groups of features 0.41, its gradient 0.63",
    "XLA's library sums short rows as fast as long ones",
    {"elements": 1 << 15, "added": 8, "kept": 16},
)
ARG_IN_TWO_STEPS = Tuning(
    "The place of the greatest (or least) element along an axis of at least such a length, in an array of at least so many elements, is found in "
    "two reductions: the element, then the first place that has it (`ops/arg_places.py`). So are those of floats, and of others along axes that "
    "are not the last.",
    "jnp.argmax of 200,000 numbers, with 0.12.0.1: 0.09 of the time; along the rows of 64 × 50,257: 0.14, of 3,000 × 64: 0.09, along the columns of "
    "1,000 × 1,000: 0.06 (integers: 0.22); compiling takes 10 ms more",
    "XLA reduces pairs of an element and its place in vectors",
    {"length": 32, "elements": 16384},
)
BOOLEANS_COUNTED = Tuning(
    "Whether any or all of at least so many Booleans are true is told by their number, as float32 (which never falls to 0 again): of Booleans XLA "
    "makes a tree of windows, each of which is a kernel to compile.",
    "jnp.any(x > 5) of 200,000 numbers, with 0.12.0.1: compiled in 0.4 of the time, run in 0.9",
    "any(x > 5) is compiled as quickly without",
    16384,
)
RUNNING_BY_ROWS = Tuning(
    "A running sum, product, maximum or minimum along an axis of at least so many rows, each of at least so many elements, in an array of "
    "at least so many, is a loop over the rows (`ops/running.py`): XLA sums windows that reach back to the start, 16 elements at a time.",
    "jnp.cumsum along the first axis of 1,000 × 1,000: 0.11 of the time (with 0.11.2 0.28, with 0.12.0.1 0.18), compiled in 0.3 of it; of "
    "10,000 × 100: 0.11; of 20,000 × 3: 0.47",
    "XLA's reduce_window over a whole axis is a loop",
    {"rows": 8, "row": 4, "elements": 1024},
)
RUNNING_BY_ELEMENTS = Tuning(
    "A running sum, product, maximum or minimum along the last axis, of at least such a length, is a loop over the elements, eight at a "
    "time, in one function (`ops/running.py`): XLA sums windows that reach back to the start, 16 elements at a time.",
    "jnp.cumsum of 100,000 floats: 0.21 of the time, cummax: 0.12, compiled in 0.2 of it; along the rows of 1,000 × 1,000: 0.23 and "
    "0.14, of 32,000 × 32: 0.31. With 0.11.2 0.38, 0.23, 0.51, 0.31 and 0.52, with 0.12.0.1 0.28, 0.14, 0.25, 0.15 and 0.27",
    "XLA's reduce_window over a whole axis is a loop",
    32,
)
SMALL_BATCHED_PRODUCTS = Tuning(
    "Products side by side of matrices whose rows and columns have at least 2 and at most so many elements (not all of them 2), with a "
    "result of at least so many, are sums of outer products, written out (`ops/small_products.py`): XLA calls a function for each of them.",
    "10,000 products of 4 × 4: 0.05 of the time, 0.06; of 6 × 6: 0.09; 30 of 4 × 4: 0.5; of 3 × 3: 0.8",
    "XLA's products in batches run across the batch",
    {"most": 7, "elements": 1024},
)
PRODUCTS_WITH_SMALL_MATRICES = Tuning(
    "A product of many vectors with a matrix whose axes have 2 to `most` elements, with a result of at least so many, is a sum of outer products, "
    "written out (`ops/small_products.py`): XLA's matrix product is made for larger ones.",
    "50,000 points turned by 3 × 3: 0.31 of the time, 10,000: 0.11; with a sum and tanh after it: 0.38; the gradient by the points: 0.18; by "
    "4 × 4: 0.63, by 3 × 8: 0.89; compiled in some 20 ms more",
    "XLA's products with such matrices run along the vectors",
    {"most": 4, "elements": 4096},
)
PRODUCTS_WITH_VECTORS = Tuning(
    "A product of a vector with a matrix of at most so many `elements` (in a loop: whose axes are no longer than `length in loops`), or of two matrices whose axes are "
    "no longer than 3, is a sum of products, written out (`ops/small_products.py`): XLA compiles a kernel of its own for each such product, however many are equal, and fuses nothing into it.",
    "each is compiled in 1.2 to 1.4 ms, where it took 4 to 8: value and gradient of four layers of 16 and of 32 for one example are compiled in 0.55 of the time (with 0.11.2 0.52), and run in 1.04; 200 "
    "steps of Runge and Kutta's with a matrix of 8 × 8: 0.72 of the time (0.71), the gradient of a recurrent network of 8: 0.7 (0.68). Of 48 × 48: 1.2 of the time, in loops of 16 × 16: 1.1 to 2.3",
    "XLA compiles equal products once, and fuses with them",
    {"elements": 1024, "length in loops": 8},
)
IN_DOUBLE = Tuning(
    "sin, cos, tan, their inverses, atan2, cube roots and powers with an exponent that is half an odd number, of float32 arrays of at least so "
    "many elements, are computed in float64 by sums and products, and rounded once (`ops/elementwise/double`): XLA calls the C library for each "
    "number. The results are nearer to the exact ones.",
    "sin of 200,000 numbers: 0.3 to 0.46 of the time, of 1,000,000 with 0.12.0.1 0.26; cos: 0.28, tan: 0.2, asin: 0.05, acos: 0.06, "
    "atan: 0.22 (with 0.12.0.1, whose own is in vectors and up to 5 units in the last place off, 3.6), atan2: 0.23, cbrt: 0.24, x**-1.5: 0.38",
    "XLA computes them in vectors, as exactly",
    16384,
)
POWERS_IN_DOUBLE = Tuning(
    "Other powers of float32 arrays of at least so many elements are computed so, too, as 2 ** (y log2 x).",
    "x**2.2 of 200,000 numbers: 0.5 of the time, x**y: 0.67; compiling takes 25 to 35 ms more",
    "XLA computes them in vectors, as exactly",
    65536,
)
LGAMMA_IN_DOUBLE = Tuning(
    "The logarithm of the gamma function of float32 arrays of at least so many elements is computed so, too: XLA's own is off by up to 28 units in the last place of 1, "
    "in which near 1 and 2 all digits may be lost.",
    "gammaln of 200,000 numbers: 1.06 of the time, with 0.10.2, 0.11.2 and 0.12.0.1; jax's own, with 0.12.0.1, takes 0.6",
    "XLA's own has the digits of a float32 there",
    1,
)
REMAINDERS_IN_DOUBLE = Tuning(
    "The remainder of float32 arrays of at least so many elements is taken from a quotient in float64, which leaves it exact; where a quotient is "
    "2**28 or more or NaN, or a divisor tiny, by the C library.",
    "fmod of 200,000 numbers: 0.1 of the time; compiling takes 100 ms more",
    "XLA computes it in vectors",
    131072,
)
STENCILS_AS_CHOICES = Tuning(
    "Where at least such a share of an array of at least so many elements is replaced, at places that are known, by what so many slices of it "
    "are combined to, as in steps of finite differences, the result is a choice of old and new elements by their place "
    "(`ops/indexing/stencils.py`): XLA would write into the array's own memory, and copy each slice out before.",
    "20 steps of the heat equation on 512 × 512: 0.28 of the time, of 1,000 × 1,000 with 0.12.0.1 0.29; on 128 × 128: 0.56",
    "XLA reads slices of an array that it writes into from a copy, or not in place",
    {"share": 0.5, "elements": 4096, "slices": 3},
)
STENCILS_IN_TWO_TURNS = Tuning(
    "A loop of at least so many `turns`, whose body has at most so many `equations` and reads at least so many `slices`, of half of it or more, of an array of at least so many "
    "`elements` that it carries, has two iterations in a turn (`control/two_turns.py`): XLA would copy the new state over the old one each time. A part that it writes at a known place "
    "goes into the state before, whose border is the same, where a `row` (the last axis) is so long.",
    "20 steps of the heat equation on 512 × 512, with 0.12.0.1: 0.74 to 0.8 of the time, on 64 × 64 0.87, in space 0.72 (with 0.11.2 0.66, 0.8 and 0.77); of a wave equation 0.55 to 0.68, of Burgers' equation for 100,000 "
    "numbers 0.63; with jnp.roll 0.85; compiled in up to 50 ms more. The game of life (60 equations): 1.0 to 1.16. With the state before, on a processor without vectors of 512 bits: 512 × 512: 0.33 of what "
    "choosing takes in two turns, 1,024 × 1,024: 0.36, 100 × 100 × 100: 0.36, 128 × 128: 0.57, 100,000 numbers: 0.34, compiled in 0.6 to 0.9; in rows of 32 or 64: 1.03 to 1.54",
    "XLA lets states of a loop take turns in two places",
    {"turns": 4, "equations": 32, "slices": 2, "elements": 4096, "row": 96},
    jaxlibs=("0.11.", "0.12."),  # 0.10 computes the first iteration again for the second: 1.1 to 3 times as long
)
WINDOWS_BY_SLICES = Tuning(
    "Windows of fewer elements (added up over the axes) are reduced slice by slice: XLA goes through the window for every result and "
    "tests each element for being there.",
    "the maxima of windows of 3 × 3 in 1,000 × 1,000 numbers: 0.1 to 0.23 of the time, 0.25; the gradient of a layer that takes maxima: "
    "0.09, 0.07",
    "XLA's reduce_window runs in vectors",
    64,
)
WRITTEN_OUT_CONVOLUTION = Tuning(
    "A convolution of vectors with so few elements in the shorter one is a sum of products.",
    "100,000 numbers with 9: 0.05 of the time, 0.04",
    "XLA's convolution of one channel runs in vectors",
    16,
)
CONVOLUTIONS_AS_PRODUCTS = Tuning(
    "A convolution with a window of one element, or one as large as what it moves over, is a product of matrices (`ops/conv_forms.py`).",
    "1 × 1 over 16 × 32 × 32 × 64: 0.6 to 0.86 of the time, its gradient by the window 0.3, 0.32",
    "XLA takes such convolutions for products",
)
CONVOLUTIONS_BY_ELEMENTS = Tuning(
    "Where each feature has a window of its own (depthwise, or one feature and at least so many products), a convolution of at most so many "
    "elements in the window is a sum over these; where the batch is in groups (the gradients by the windows of grouped convolutions), a result with at most so many elements in space "
    "is computed element by element.",
    "3 × 3 over 256 × 256, one feature: 0.07 of the time; over 8 × 32 × 32 × 64, one window for each feature: 0.05, 0.06; its gradient by the window 0.6 (of 128 features "
    "0.28); that of 8 groups of 8 features: 0.03",
    "XLA's convolutions in groups run in vectors",
    {"elements": 64, "products": 2**16},
)
CONVOLUTIONS_IN_LOOPS = Tuning(
    "Where each feature has a window of its own (one feature, or depthwise) of more than so many elements, a convolution with so many elements "
    "and products at least is a loop over the window (`ops/conv_loops.py`): XLA goes through the window for every element of the result.",
    "9 × 9 over 256 × 256, one feature: 0.02 of the time; 15 × 15, three features: 0.05; 50,000 numbers with 1,000: 0.09; compiled in some 70 ms "
    "more (with 0.11.2 and 0.10.2 vectors take 2.1 times as long)",
    "XLA's convolutions of one feature run in vectors",
    {"window": 32, "result": 64, "products": 2**16},
    jaxlibs=("0.12.",),
)
WINDOW_GRADIENTS_IN_LOOPS = Tuning(
    "The gradient by the windows of a convolution in which each feature has its own is a loop over the examples, and the rows of an image where these have so many "
    "elements (`row`), with a total for each of at most so many places (`totals`) of the window (`ops/conv_loops.py`).",
    "3 × 3 over 8 × 32 × 32 × 64, with 0.12.0.1: 0.12 of the time; 5 × 5, a step of 2, over 8 × 28 × 28 × 96: 0.04; 7 × 7 over 4 × 28 × 28 × 96: 0.03; compiled in "
    "0.4 to 2 of it",
    "XLA's convolutions in groups of the batch run in vectors",
    {"row": 512, "totals": 25},
)
CONVOLUTIONS_IN_PARTS = Tuning(
    "A convolution of at least so many products is written as others (`ops/conv_parts.py`): one over a left operand with gaps, with a window larger than its result, "
    "with its operands in each other's places; one of at most so many `groups` of at least so many `features`, as one for each group; one of groups of at most "
    "so `few`, as one for each feature of the groups; one over three axes, of which the first has a window or a result of at most so many `slices`, as one "
    "over two: XLA computes these element by element.",
    "with 0.10.2, 0.11.2 and 0.12.0.1: the gradient by the window of a transposed 4 × 4, from 64 to 32 features: 0.03, 0.04 and 0.03 of the time; 3 × 3 × 3 over 2 × 16 × 16 × 16 × 16: 0.22, 0.23 and 0.24, with "
    "its gradients 0.14 to 0.17, in steps of 2 0.01 to 0.3; 4 groups of 16 features: 0.46, 0.48 and 0.38; 32 of 4: 0.12, 0.24 and 0.2; two windows for each "
    "feature: 0.05, 0.08 and 0.04; compiled in some 100 to 150 ms more",
    "XLA's convolutions of these kinds take no longer than what is written",
    {"products": 2**17, "groups": 8, "features": 8, "few": 4, "slices": 8},
)
MINIMAL_FILTERING = Tuning(
    "A convolution with a window of 3 × 3 and the gradient by such a window, of at least so many `features` on both sides and so many products, are computed tile by tile with "
    "16 multiplications for 36 (`ops/winograd.py`), in blocks of images whose tiles have so many `numbers`; not of fewer `tiles`, nor where these reach too "
    "far beyond the image (`filled`), nor where those of one image have too many numbers (`most`).",
    "with 0.10.2, 0.11.2 and 0.12.0.1: 8 × 32 × 32 × 96, to 96 features: 0.66, 0.61 and 0.56 of the time, its gradients 0.68 to 0.79, 0.58 to 0.77 and 0.58 to 0.73; "
    "8 × 16 × 16 × 192: 0.71 to 0.91, 0.62 to 0.65 and 0.62 to 0.71; on two cores, by the clock on the wall, 0.6 to 0.95; compiled in some 150 to 250 ms more; one after the other, "
    "their tiles do not all fill memory: 8 × 28 × 28 × 128 and more, three layers with gradients: 34 MB for 46, 0.8 of the time",
    "XLA's convolutions do so",
    {"features": 48, "products": 2**24, "tiles": 128, "filled": 1.25, "numbers": 2**18, "most": 2**23},
)
FILTERING_BY_FOUR = Tuning(
    "Such a convolution of at least so many `features` and `tiles` of 4 × 4 results has 49 multiplications for 144, where these are fewer in all: as exact, and with fewer numbers "
    "to write out and read.",
    "with 0.12.0.1, of what the rule before gives: 8 × 32 × 32 × 96: 0.90, its gradients 0.90; 8 × 28 × 28 × 128: 0.84 and 0.92, 8 × 56 × 56 × 64: 0.89 and 0.88, "
    "the gradient by the window of 2 × 112 × 112 × 64: 0.5. Of XLA's own, with few features: 4 × 64 × 64 × 16, to 16: 0.70, by the window 0.65 (with 0.11.2 0.83 and 0.64); "
    "4 × 64 × 64 × 24: 0.72 and 0.63; 8 × 64 × 64 × 32: 0.77 and 0.92; compiled in some 200 ms more",
    "XLA's convolutions do so",
    {"features": 16, "tiles": 192},
    jaxlibs=("0.11.", "0.12."),  # 0.10 computes again what is read several times: 2.6 to 5 times as long
)
FILTERING_WITH_SIX = Tuning(
    "Such a convolution of at least so many `features` and `tiles` of 4 × 4 results has 36 or 42 multiplications for 144, where rounding errors, which they enlarge more, stay "
    "within `error`: that of sums of so many products (their root) times what filters make of it (`ops/winograd.py`).",
    "with 0.12.0.1, of what the rules before give: 8 × 32 × 32 × 96: 0.75, its gradients 0.71 and 0.75; 8 × 16 × 16 × 192: 0.84, 0.75 and 0.73; 8 × 28 × 28 × 128: 0.85, 0.87 and 0.76; "
    "8 × 56 × 56 × 64: 0.74, 0.74 and 0.84; 4 × 64 × 64 × 16: 0.79, 0.77 and 0.98; compiled in as long or less. Errors, of those of XLA's sums: 1.6 to 2.6, without 0.8 to 1.4 (on a processor without vectors of 512 bits 2.8 to 4.2)",
    "XLA's convolutions do so",
    {"features": 16, "tiles": 128, "error": 48},
    jaxlibs=("0.11.", "0.12."),  # as the rule before
)
FILTERING_IN_STEPS = Tuning(
    "A convolution with a window of 3 × 3 that moves by two, of at least so many `features` and `tiles` of 2 × 2 results, and the gradient by such a window (`features of gradient`) "
    "have 25 multiplications for 36 (`ops/winograd.py`).",
    "with 0.12.0.1: 8 × 32 × 32 × 96, to 96 features: 0.86 of the time; 8 × 56 × 56 × 128, to 128: 0.85, by the window 0.72; 1 × 56 × 56 × 128: 0.83 and 0.27; 8 × 28 × 28 × 128, to 256: "
    "0.82, 1.05; with 128 tiles 1.0; compiled in 150 to 300 ms more. Tiles of 4 × 4, with 81 multiplications for 144: 1.3 to 1.4 with 192 features",
    "XLA's convolutions do so",
    {"features": 96, "features of gradient": 128, "tiles": 192},
    jaxlibs=("0.11.", "0.12."),  # as filtering by four
)
FILTERING_WITH_GAPS = Tuning(
    "A transposed convolution with a window of 3 × 3 and a gap behind each element, as is the gradient by the image where a window moves by two, of at least so many `features` and "
    "`tiles` of 4 × 4 results, has 25 multiplications for 36 (`ops/winograd.py`).",
    "with 0.12.0.1, gradients by the image: 8 × 32 × 32 × 96, to 96 features: 0.8 of the time; 8 × 56 × 56 × 128, to 128: 0.56; 8 × 112 × 112 × 64: 0.4; 32 × 32 × 32 × 32: 0.6; "
    "8 × 64 × 64 × 32, to 64: 0.74; 8 × 14 × 14 × 256, to 512: 1.0; 16 to 32 features: 1.07; compiled in 150 to 300 ms more",
    "XLA's convolutions do so",
    {"features": 32, "tiles": 192},
    jaxlibs=("0.11.", "0.12."),  # as filtering by four
)
GROUPS_IN_A_LOOP = Tuning(
    "A convolution in groups of features, or of examples, is a loop over the groups (`ops/conv_groups.py`), where each is computed by minimal filtering, the products of all counted.",
    "with 0.12.0.1: 8 groups of 16 features over 4 × 28 × 28: 0.63 of the time, its gradients 0.65 and 0.48 (with 0.11.2 0.56, 0.59 and 0.5), 32 groups 0.32, 0.34 and 0.2; 8 groups of 32: 0.82, 0.87 "
    "and 1.04; 2 groups of 48: 0.97 to 0.99; compiled in 0.4 to 1 of it (32 groups: in 0.3 s more)",
    "XLA's convolutions in groups do so",
    jaxlibs=("0.11.", "0.12."),  # as filtering by four
)
SMALL_SYSTEMS = Tuning(
    "At least so many `matrices` of at most so many rows (`most`) are factored (Cholesky, LU) and solved all at once, with vectors that run over the matrices "
    "(`ops/small_systems.py`): XLA calls LAPACK for each.",
    "with 0.12.0.1: `solve` of 10,000 systems of 3 × 3 with one right side: 0.09 of the time, of 4 × 4 with four 0.19, of 8 × 8 with eight (5,000) 0.43; of 600 0.21 and 0.24, "
    "of 200 0.3; `inv` of 3 × 3 0.11, `cholesky` 0.26; gradients alike; compiled in some 100 to 250 ms more",
    "XLA's own take no longer",
    {"matrices": 256, "most": 8},
)
RESIZED_BY_PIXELS = Tuning(
    "An image of at least so many `elements` is resized along an axis by sums over the pixels that have weights, where these are at most one in so many (`share`, by the "
    "length of the rows behind the axis), with the same for the gradient (`image`): a product with the matrix of all weights multiplies with its zeros.",
    "with 0.12.0.1: 8 × 256 × 256 × 3 to 128 × 128, linear: 0.2 of the time, its gradient 0.18; 8 × 64 × 64 × 32 to 128 × 128: 0.09 and 0.11; 1,080 × 1,920 × 3 to half of it by Lanczos' "
    "weights: 0.18 and 0.13; 32 × 32 × 3 to 224 × 224: 1.2 to 1.4 and 0.7",
    "XLA's products leave out what is zero",
    {"elements": 4096, "share": ((16, 4), (2, 12), (1, 40))},
)
SHORT_AXES = Tuning(
    "Arrays of at least so many elements whose last axis is at most so long, and is only broadcast, combined and reduced, are written out: "
    "an array for each element of that axis (`backend/short_axes.py`); so are larger ones with a `longer` last axis that is reduced. XLA's "
    "loops would run along the short axis.",
    "128 bodies with positions (128, 3), 100 steps: 0.18 to 0.3 of the time; the forces between 500: with 0.11.2 0.45, with 0.12.0.1 "
    "0.37; the distances between 1,000 points: 0.07, between 2,000: 0.06; the gradient of the sum of their inverses: 0.28. Distances "
    "between 500 points in 5, 8, 12 and 16 dimensions, with 0.12.0.1: 0.13, 0.21, 0.30 and 0.44, compiled in some 30 ms more; 10 steps of "
    "k-means of 5,000 points in 8: 0.22",
    "XLA's loops run along the longer axes",
    {"length": 4, "elements": 4096, "longer": 16, "elements of longer": 131072},
)
FLAT_VALUES = Tuning(
    "Elementwise operations on arrays of at least so many `elements` whose last axis is at most so long (`length`), or that a gather of so few elements at a "
    "time or a product with a vector gives, are computed along one axis (`backend/flat_values.py`) where they end in a sum, a greatest or a least element over "
    "all axes or all but the last, or where one is costly and that axis no longer than `costly`: XLA's loops run along the last axis, and its library goes "
    "row by row.",
    "100,000 numbers in a column, with 0.12.0.1: the mean square error of two 0.21, tanh 0.15 (with 0.11.2 and 0.10.2 1), the sum of absolute differences 0.08; "
    "the sum of the logarithms of gathered numbers 0.17 to 0.18, with 0.11.2 and 0.10.2 0.17; sqrt in rows of 3: 0.5; a step of Adam on "
    "columns: 1.06 to 1.11",
    "XLA computes elementwise operations of short rows as fast as of long ones",
    {"length": 10, "costly": 7, "elements": 4096},
)
VALUES_KEPT = Tuning(
    "A value of at least so many elements that more than one loop reads, and that more than so many operations (more, where it is large) lead to from "
    "what is in memory, is written to memory; so is one computed with a costly function, such as tanh, that several products of matrices read, one "
    "of them contracting several of its axes (`backend/kept_values.py`). XLA computes it again for each: the gradient that runs back through a "
    "residual network in every layer from its start.",
    "one step of a transformer of 8 layers and its optimizer: 0.88 to 0.9 of the time, compiled in 0.73, with 0.12.0.1 0.85 to 0.87; the "
    "gradient of one block of a transformer: 0.9, 0.9; of a residual network of 32 layers on 256 × 128: 0.63, compiled in 0.43; of a block with a window of 3 × 3 for each of "
    "128 features, with 0.10.2, 0.11.2 and 0.12.0.1: 0.72, 0.75 and 0.71",
    "XLA keeps what would be long to compute again",
    {"operations": 16, "of large": 32, "elements": 1024, "large": 1 << 17, "in products": 1 << 15},
)
CONVOLUTIONS_WITHOUT_LIBRARY = Tuning(
    "XLA's library is left out for a program's convolutions where they are estimated to take less time without it "
    "(`backend/library_types.py`): it is slow in gradients by the window, and with many features.",
    "one step of a network of nine convolutions of 3 to 192 features: 0.8 to 0.86 of the time; the gradient by the window of 3 × 3 with 96 "
    "features: 0.4, 0.39; with 32 features, forward: 1.4",
    "the library is as fast as XLA's own convolutions in all of these",
)
SUMS_WITHOUT_LIBRARY = Tuning(
    "XLA's library is left out for a program's reductions where all large ones are sums of what slices are combined to, as in finite "
    "differences: it writes each slice out before.",
    "the sum of the squares of a five-point stencil of 1,024 × 1,024: 0.28 to 0.33 of the time, 0.38; of differences of 1,000,000: "
    "0.55; the sum of squares of an array: 4.3",
    "the library reads slices where they are",
)
WRITTEN_OUT_STRETCHES = Tuning(
    "Overlapping stretches of a signal, of so few steps each, are joined from slices.",
    "stretches of 256, a step of 128, in 1,000,000 numbers: 0.9 to 1.8 of the time; their derivative: 0.1 to 0.4, since 0.11 1",
    "0.10 is no longer supported",
    4,
    jaxlibs=("0.10.",),
)
VECTORS_OF_512 = Tuning(
    "A program that makes at least so many numbers by exponentials, logarithms, tanh, powers or draws, the turns of its loops counted, is compiled for "
    "vectors of 512 bits, on processors of AMD's that have them: XLA takes 256.",
    "silu of 100,000 numbers: 0.78 of the time; gelu: 0.84, log1p: 0.82, softplus and normal numbers with 0.12.0.1: 0.70 and 0.73 (with 0.10.2 and "
    "0.11.2 1.0); the gradient of a softmax cross entropy: 0.84, prices of options: 0.88; compiled in 0.9 to 1.5 of the time. Finite differences, which do "
    "without: 1.08; a product of 100,000 × 8 with a vector, which does, too: 2.7",
    "XLA takes 512 bits where they are faster",
    {"flag": ("xla_cpu_prefer_vector_width", 512), "numbers": 1 << 16},
)
SHORT_LOOPS_KEPT = Tuning(
    "A program that computes at least so many elements in loops along last axes of 9 to 32, or gathers rows of 16 to 64, and half as many or fewer in reductions, "
    "stencils and the like, is compiled without writing loops out (`backend/short_loops.py`): XLA's compiler finds no vectors in what it has written out.",
    "40,000 rows of 16 and a row added, their maximum with 0: 0.36 of the time; of 12: 0.47, of 32: 0.36; rows of 32 gathered: 0.43, of 16: 0.82; gathered, "
    "a maximum, added up at their targets: 0.37 to 0.62. Programs that do without it: k-means 5, a softmax cross entropy of 1,000 classes 1.4, 128 bodies 1.2",
    "XLA's compiler finds the vectors of short loops",
    {"flag": ("xla_cpu_disable_loop_unrolling", "true"), "elements": 1 << 14},
)
FILLED_BY_NUMPY = Tuning(
    "An eager array of one number, of up to so many elements, is filled by NumPy and not by a program.",
    "jnp.zeros((4, 4)): 0.5 to 0.8 of the time, 0.5",
    "running a program costs no more than handing over an array",
    1 << 18,
)

SWITCHES = {
    "short axes written out": SHORT_AXES,
    "convolutions as products": CONVOLUTIONS_AS_PRODUCTS,
    "convolutions by elements": CONVOLUTIONS_BY_ELEMENTS,
    "convolutions in parts": CONVOLUTIONS_IN_PARTS,
    "minimal filtering": MINIMAL_FILTERING,
    "minimal filtering by four": FILTERING_BY_FOUR,
    "minimal filtering with six": FILTERING_WITH_SIX,
    "minimal filtering in steps": FILTERING_IN_STEPS,
    "minimal filtering with gaps": FILTERING_WITH_GAPS,
    "groups in a loop": GROUPS_IN_A_LOOP,
    "resizing by pixels": RESIZED_BY_PIXELS,
    "small systems side by side": SMALL_SYSTEMS,
    "convolutions in loops": CONVOLUTIONS_IN_LOOPS,
    "gradients by windows in loops": WINDOW_GRADIENTS_IN_LOOPS,
    "windows by slices": WINDOWS_BY_SLICES,
    "products with small matrices": PRODUCTS_WITH_SMALL_MATRICES,
    "products with vectors": PRODUCTS_WITH_VECTORS,
    "sums in blocks of rows": ROW_BLOCKS,
    "transposes taken into products": TRANSPOSED_OPERANDS,
    "two iterations in a turn": STENCILS_IN_TWO_TURNS,
    "random bits apart": RANDOM_BITS_APART,
    "sorts by digits": RADIX_SORT,
    "floats sorted as integers": SORTED_AS_INTEGERS,
    "sorts packed into integers": SORTED_PACKED,
    "sorts by networks": SORTED_BY_NETWORKS,
    "values kept in memory": VALUES_KEPT,
}
"""The rules that a program may be lowered with or without (`choice.Choice`). The results are those of the same sums and orders."""


for _name, _entry in list(globals().items()):
    if isinstance(_entry, Tuning):
        _entry.name = _name
