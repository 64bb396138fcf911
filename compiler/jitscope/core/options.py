"""The options of the compiler: names, defaults, what they may be, what they mean."""

import os
from collections.abc import Callable
from typing import Any

from ..named_tuple import NamedTuple
from ..xla import client


# What options may be --------------------------------------------------------------------------------------------------


def _flag(value: Any) -> bool:
    if isinstance(value, (bool, int)) and value in (0, 1):
        return bool(value)
    raise ValueError("True or False")


def _integer(value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise ValueError("an int")


def _count(value: Any) -> int:
    if _integer(value) < 1:
        raise ValueError("a positive int")
    return value


def _one_of(*values: Any) -> Callable[[Any], Any]:
    def check(value: Any) -> Any:
        if any(value is v or (isinstance(value, str) and value == v) for v in values):
            return value
        raise ValueError(", ".join(map(repr, values[:-1])) + f" or {values[-1]!r}")

    return check


def _filtering(value: Any) -> str:
    """JAX's modes other than "off" differ in how frames are hidden; here there is one way."""
    if value in ("auto", "tracebackhide", "remove_frames", "quiet_remove_frames"):
        return "fold"
    return _one_of("fold", "off")(value)


def _folder(value: Any) -> str | None:
    if value is None or (isinstance(value, (str, os.PathLike)) and os.fspath(value)):
        return None if value is None else os.path.abspath(os.path.expanduser(os.fspath(value)))
    raise ValueError("None or the path of a folder")


def _device(value: Any) -> Any:
    if value is None or client.is_device(value):
        return value
    if isinstance(value, str):
        return client.device_named(value)
    raise ValueError("None, one of jitscope.devices(), or its name ('cpu:1')")


PRECISIONS = ("default", "high", "highest", "bfloat16", "tensorfloat32", "float32")
ALGORITHMS = (
    "ANY_F8_ANY_F8_F32", "ANY_F8_ANY_F8_F32_FAST_ACCUM", "ANY_F8_ANY_F8_ANY", "ANY_F8_ANY_F8_ANY_FAST_ACCUM", "F16_F16_F16",
    "F16_F16_F32", "BF16_BF16_BF16", "BF16_BF16_F32", "BF16_BF16_F32_X3", "BF16_BF16_F32_X6", "BF16_BF16_F32_X9",
    "TF32_TF32_F32", "TF32_TF32_F32_X3", "F32_F32_F32", "F64_F64_F64",
)  # fmt: skip
GENERATORS = ("threefry2x32", "threefry4x32", "philox2x32", "philox4x32", "rbg", "unsafe_rbg")


GUARDS = ("allow", "log", "disallow", "log_explicit", "disallow_explicit")


class Option(NamedTuple):
    """One option. `check` gives the value as it is kept, or raises ValueError saying what it may be; `whole_process`:
    it has no context manager."""

    name: str
    default: Any
    check: Callable[[Any], Any]
    meaning: str
    whole_process: bool = False

    @property
    def variable(self) -> str:
        """Its environment variable, read at import."""
        return f"JITSCOPE_{self.name.upper()}"

    def checked(self, value: Any, where: str = "") -> Any:
        """The value to keep. Raises ValueError naming the option and what it may be."""
        try:
            return self.check(value)
        except ValueError as error:
            raise ValueError(f"{where or f'option {self.name}'} is {error}, not {value!r}") from None

    def __str__(self) -> str:
        scope = "for the whole process" if self.whole_process else f"or, in a with block, jitscope.{self.name}(…)"
        return (
            f"{self.name} (default {self.default!r})\n  {self.meaning}\n"
            f"  config.update({self.name!r}, …), {self.variable}=… before import; {scope}"
        )


OPTIONS: dict[str, Option] = {
    option.name: option
    for option in (
        Option("enable_x64", False, _flag, "64-bit dtypes are kept; otherwise they become their 32-bit counterparts."),
        Option(
            "enable_checks",
            False,
            _flag,
            "Each traced program is checked equation by equation. For those who write operations.",
        ),
        Option("disable_jit", False, _flag, "jit calls the Python function, operation by operation; so do loops."),
        Option(
            "numpy_dtype_promotion",
            "standard",
            _one_of("standard", "strict"),
            "What mixed dtypes do: 'standard' converts them to a common one, 'strict' raises.",
        ),
        Option(
            "explicit_x64_dtypes",
            "warn",
            _one_of("warn", "error", "allow"),
            "What 64-bit dtypes do that a program names, without enable_x64: 'warn' takes 32 bits, 'error' raises, 'allow' keeps them.",
        ),
        Option(
            "numpy_rank_promotion",
            "allow",
            _one_of("allow", "warn", "raise"),
            "What arrays of different rank (neither a scalar) do in one operation: broadcast, also warn, or raise.",
        ),
        Option(
            "default_matmul_precision",
            None,
            _one_of(*PRECISIONS, *ALGORITHMS, None),
            "The precision of matrix products and convolutions that name none. The CPU always uses the full one.",
        ),
        Option(
            "default_device",
            None,
            _device,
            "Where arrays are made and functions without arrays run: a device or its name; None is the first one.",
        ),
        Option(
            "default_prng_impl",
            "threefry2x32",
            _one_of(*GENERATORS),
            "The generator of random keys that name none: random.key(seed), PRNGKey(seed), raw uint32 keys.",
        ),
        Option("random_seed_offset", 0, _integer, "Added to every seed given to random.key and PRNGKey."),
        Option(
            "threefry_partitionable",
            True,
            _flag,
            "Which bits Threefry gives: those of the partitionable form, or JAX's older ones (False).",
        ),
        Option(
            "legacy_prng_key",
            "allow",
            _one_of("allow", "warn", "error"),
            "What random functions do with raw uint32 keys: take them, warn too, or raise ValueError.",
        ),
        Option("debug_key_reuse", False, _flag, "Raise KeyReuseError, with both lines, where a key is used twice."),
        Option(
            "debug_nans", False, _flag, "Raise FloatingPointError for a NaN, with the line that made the first one."
        ),
        Option("debug_infs", False, _flag, "Raise FloatingPointError for an infinity, with the line that made it."),
        Option(
            "sharp_bits",
            False,
            _flag,
            "Look at runs for NaNs, integers that wrap and indices out of bounds, and tell who listens (`jitscope check --run`). Slow.",
        ),
        Option(
            "check_tracer_leaks",
            False,
            _flag,
            "Raise where a traced function keeps one of its intermediate values beyond its trace. Slow.",
        ),
        Option(
            "check_static_indices",
            False,
            _flag,
            "Raise IndexError where x[i] reads outside of the array and i is a number that is written there; else i is moved into bounds.",
        ),
        Option("no_tracing", False, _flag, "Raise RuntimeError where a jitted function would be traced."),
        Option("no_execution", False, _flag, "Raise RuntimeError where a program or a single operation would run."),
        Option("log_compiles", False, _flag, "Log every trace and compilation, with its time, as a warning."),
        Option("explain_cache_misses", False, _flag, "Log why a jitted function is traced, as a warning."),
        *[
            Option(
                name, None, _one_of(*GUARDS, None), f"Whether values may be moved {what}; None: transfer_guard decides."
            )
            for name, what in (
                ("transfer_guard_host_to_device", "from the host to a device"),
                ("transfer_guard_device_to_device", "between devices"),
                ("transfer_guard_device_to_host", "from a device to the host (on the CPU nothing is moved for that)"),
            )
        ],
        Option("transfer_guard", None, _one_of(*GUARDS, None), "Whether values may be moved at all; None: yes."),
        *[
            Option(name, default, _flag, f"Nothing here depends on it: {why}.")
            for name, default, why in (
                ("allow_f16_reductions", True, "sums of half precision are computed in float32"),
                ("auto_pcast", True, "it is for functions over meshes"),
                ("enable_custom_prng", False, "typed keys come from random.key, raw ones from random.PRNGKey"),
                ("remove_size_one_mesh_axis_from_type", False, "it is for functions over meshes"),
                ("softmax_custom_jvp", False, "the derivative of softmax is always stable"),
                ("thread_guard", False, "it is for computations over several processes"),
            )
        ],
        Option(
            "array_garbage_collection_guard",
            None,
            _one_of("allow", None),
            "What happens when arrays die as parts of cycles: nothing.",
        ),
        Option(
            "traceback_filtering",
            "fold",
            _filtering,
            "What notebooks do with the library's own frames in tracebacks: 'fold' hides them, 'off' shows all.",
        ),
        Option(
            "num_cpu_devices",
            1,
            _count,
            "How many devices the CPU counts as; to be set before the first array is made.",
            whole_process=True,
        ),
        Option(
            "compilation_cache",
            True,
            _flag,
            "Compiled programs are kept on disk, where other processes and later sessions find them.",
            whole_process=True,
        ),
        Option(
            "compilation_cache_dir",
            None,
            _folder,
            "The folder compiled programs are kept in; None is the system's place for caches.",
            whole_process=True,
        ),
        Option(
            "compilation_cache_max_size",
            1 << 30,
            _integer,
            "The bytes that compiled programs may take on disk: those used longest ago go first. 0: none, -1: any number.",
            whole_process=True,
        ),
    )
}


def read_text(option: Option, text: str) -> Any:
    """The value an environment variable's text stands for."""
    word = text.strip()
    if option.check is _flag:
        word = word.lower()
        value: Any = (
            True if word in ("1", "true", "yes", "on") else False if word in ("0", "false", "no", "off", "") else word
        )
    elif option.check in (_integer, _count):
        value = int(word) if word.removeprefix("-").isdigit() else word
    else:
        value = None if word.lower() in ("", "none") and option.default is None else word
    return option.checked(value, f"the environment variable {option.variable}")
