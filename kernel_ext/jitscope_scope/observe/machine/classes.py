"""What kind of work an instruction does, by its name and operands: x86-64 and arm64."""

from __future__ import annotations

import re
from typing import Literal


Class = Literal[
    "fused multiply-add", "float arithmetic", "vector integer", "integer", "bitwise", "compare", "convert", "move",
    "branch", "call", "other",
]  # fmt: skip

ARITHMETIC: tuple[Class, ...] = ("fused multiply-add", "float arithmetic", "vector integer")

_X86: tuple[tuple[Class, re.Pattern[str]], ...] = tuple(
    (name, re.compile(pattern))  # type: ignore[misc]
    for name, pattern in (
        ("other", r"nop|endbr|int3|ud2|pause|prefetch|vzero|emms|leave|\.byte|c[dwq][tqo]|cbw|lock|[lms]fence"),
        ("fused multiply-add", r"vfn?m(add|sub)|vfmaddsub|vfmsubadd|vdpbf16|v4f"),
        ("convert", r"v?cvt|movs[xl]|movz[xl]|movsxd|cdqe|cwde|v?pmov[sz]x|vpmov[swdqu]"),
        ("compare", r"v?cmp[a-z]*[sp][sdh]$|v?u?comis[sdh]$|v?pcmp|cmp$|test$|v?ptest|vtest|vpcmp|vfpclass|kortest|ktest|set"),
        ("bitwise", r"v?(and|andn|or|xor)p[sd]$|v?p(and|andn|or|xor)[dq]?$|vpternlog|k(and|or|xor|not|shift|xnor)"),
        ("float arithmetic", r"v?(add|sub|mul|div|sqrt|rsqrt|rcp|max|min|round|rndscale|hadd|hsub|addsub|dp|getexp|getmant|scalef"
                             r"|fixupimm|range|reduce)(14|28)?[sp][sdh]$"),
        ("move", r"v?mov|v?p?broadcast|v?perm|v?p?shuf|v?p?unpck|v?p?insr|v?p?extr|v?insert|v?extract|v?p?blend|v?p?gather"
                 r"|v?p?scatter|v?lddqu|v?p?align|v?align|kmov|kunpck|cmov|v?p?maskmov|v?p?compress[dpbw]|v?p?expand|v?pack|push|pop|xchg"
                 r"|v?pack|vbroadcast|lahf|sahf|stmxcsr|ldmxcsr|v?pslldq|v?psrldq|vperm|rep "),
    )
)  # fmt: skip
_ARM: tuple[tuple[Class, re.Pattern[str]], ...] = tuple(
    (name, re.compile(pattern))  # type: ignore[misc]
    for name, pattern in (
        ("other", r"nop|hint|brk|udf|prfm|dmb|dsb|isb|\.byte"),
        ("fused multiply-add", r"fn?m(la|ls|add|sub|ad|sb)|bfml|bfdot|bfmmla"),
        ("convert", r"b?fcvt|[su]cvtf|[su]xt[bhwl]|[su]shll|[su]?q?xtu?n|fcvt"),
        ("compare", r"f?cmpe?$|fcm|fac|cm(eq|ge|gt|hi|hs|le|lt|n|tst|p)|cmn|tst|cset|ccm"),
        ("bitwise", r"(and|orr|orn|eor|bic|mvn|not|bsl|bit|bif|eon)s?$"),
        ("float arithmetic", r"f(add|sub|n?mul|mulx|div|sqrt|abs|neg|max|min|rint|recp|rsqrt|abd|scale)"),
        ("move", r"ld|st|mov|fmov|dup|ins|ext|zip|uzp|trn|tbl|tbx|csel|fcsel|csinc|csinv|csneg|rev|ptrue|pfalse|whilel|sel$"),
    )
)  # fmt: skip
_X86_VECTOR = re.compile(r"\b(?:[xyz]mm|mm)\d+")
_ARM_VECTOR = re.compile(r"\bv\d+\.(\d+)([bhsdq])|\b([zqv])\d+")
_X86_SCALAR = re.compile(r"s[sdh]$|^v?mov[dq]$|^v?cvt\w*s[sdi]2|2si$|2s[sd]$")


def class_of(machine: str, mnemonic: str, operands: str) -> Class:
    """What an instruction does that neither jumps nor calls."""
    table = _X86 if machine == "x86-64" else _ARM
    for name, pattern in table:
        if pattern.match(mnemonic):
            return name
    vector = (_X86_VECTOR if machine == "x86-64" else _ARM_VECTOR).search(operands)
    return "vector integer" if vector else "integer"


def width_of(machine: str, mnemonic: str, operands: str) -> int | None:
    """The bits of the vectors an instruction works on; None for one that works on single numbers, and for vectors whose width
    the code leaves to the processor (SVE)."""
    return _x86_width(mnemonic, operands) if machine == "x86-64" else _arm_width(operands)


def _x86_width(mnemonic: str, operands: str) -> int | None:
    for register, bits in (("zmm", 512), ("ymm", 256)):
        if register in operands:
            return bits
    if "xmm" not in operands or (_X86_SCALAR.search(mnemonic) and "broadcast" not in mnemonic):
        return None
    return 128


_BITS = {"b": 8, "h": 16, "s": 32, "d": 64, "q": 128}


def _arm_width(operands: str) -> int | None:
    found = [int(lanes) * _BITS[kind] for lanes, kind in re.findall(r"\bv\d+\.(\d+)([bhsdq])", operands)]
    if found:
        return max(found)
    return 128 if re.search(r"\bq\d+", operands) else None


def element_of(machine: str, mnemonic: str, operands: str) -> tuple[str, int] | None:
    """The type of the elements a vector instruction of floating-point numbers works on, and its bits; None where its name does not
    tell."""
    if machine == "x86-64":
        found = re.search(r"p([sdh])$", mnemonic)
        return {"s": ("f32", 32), "d": ("f64", 64), "h": ("f16", 16)}[found.group(1)] if found else None
    lanes = re.search(r"\bv\d+\.\d+([hsd])", operands)
    if lanes is None or not mnemonic.startswith("f"):
        return None
    return {"s": ("f32", 32), "d": ("f64", 64), "h": ("f16", 16)}[lanes.group(1)]


_READS_FIRST = re.compile(r"(cmp|test|push|call|jmp|i?div|i?mul|bt|v?p?test|v?u?comi|prefetch|ldmxcsr)")
_WRITES_FIRST = re.compile(
    r"(v?mov|v?p?extr|v?extract|set|v?p?scatter|vpmov|kmov|pop|v?cvt|v?p?compress|stmxcsr|v?maskmov|vpmaskmov|v?p?mov)"
)


def memory_of(machine: str, mnemonic: str, operands: str) -> tuple[bool, bool]:
    """Whether an instruction reads memory, and whether it writes there; what a call or a push on the stack does by itself is not
    counted."""
    if machine == "arm64":
        return mnemonic.startswith("ld"), mnemonic.startswith("st")
    if "[" not in operands or re.match(r"lea|nop|prefetch", mnemonic):
        return mnemonic.startswith(("rep movs", "rep cmps")), mnemonic.startswith(("rep movs", "rep stos"))
    if mnemonic.startswith("rep"):
        return "movs" in mnemonic, True
    first = operands.split(",", 1)[0]
    if "[" not in first:
        return True, False
    if _READS_FIRST.match(mnemonic):
        return True, False
    return not _WRITES_FIRST.match(mnemonic), True
