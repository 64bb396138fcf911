"""HLO modules: getting them, their text, and the instructions in that text."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import import_module
from typing import Any

from ..named_tuple import NamedTuple
from .devices import get_client
from .errors import translate
from .mlir import to_bytecode
from .runtime import RuntimeFailure, _jax


_hlo: Any = import_module("jaxlib._hlo")

__all__ = ["Computation", "Instruction", "RenamedModule", "computation", "computations", "cost_analysis", "from_text", "header_of", "optimized", "parse",
           "pointer_bytes", "text", "unoptimized"]  # fmt: skip

_HEADER = re.compile(r"^(ENTRY )?%?([^\s(]+) \(.*\{$|^(ENTRY )?%?([^\s(]+) \{$")
_PLAIN = re.compile(
    r'(ROOT )?%?([^\s=]+) = (\w+\[[\d,]*\]) ([a-z-]+)\(([\w.-]+(?:, [\w.-]+)*)\)((?:, (?:dimensions|slice)=\{[^{}"]*\})*)'
    r'(?:, metadata=\{op_name="([^"\\]*)"\})?'
)
"""Most lines: operands by name, an array, no computation called. They are read at once."""
_NAME = re.compile(r"^(ROOT )?%?([^\s=]+) = ")
_REMARK = re.compile(r"/\*index=\d+\*/")
_OPCODE = re.compile(r" ([\w-]+)\(")
_MARK = re.compile(r'"(?:\\.|[^"\\])*"|[(){}\[\],]')
_OP_NAME = re.compile(r'op_name="((?:\\.|[^"\\])*)"')
_ESCAPE = re.compile(r"\\([0-7]{3}|.)")
_CALLING = re.compile(
    r"^(calls|to_apply|condition|body|branch_computations|true_computation|false_computation|called_computations"
    r"|select|scatter|update_computations)=(.*)$"
)
_COMPUTATION = re.compile(r"%?([\w.\-]+)")


class Instruction(NamedTuple):
    """One line of a computation.

    operands: names; type: as printed; text: the whole line; op_name: from the metadata; called: (role, computation)
    pairs such as ("body", "region_0"); kind: a fusion's (kLoop, kInput, kOutput, kCustom); literal: what stands in
    a constant's or a parameter's parentheses; attributes: the rest, without metadata and backend configuration.
    """

    name: str
    opcode: str
    operands: tuple[str, ...]
    type: str
    text: str
    op_name: str | None
    called: tuple[tuple[str, str], ...]
    kind: str | None
    is_root: bool
    custom_call_target: str | None
    literal: str
    attributes: str
    backend_config: str

    @property
    def calls(self) -> tuple[str, ...]:
        """The names of the computations it calls."""
        return tuple(name for _, name in self.called)


def is_end(i: Instruction) -> bool:
    """Whether an instruction only ends, or goes on with, what another one began."""
    return i.opcode.endswith(("-done", "-update"))


class Computation(NamedTuple):
    """A named list of instructions, operands before users."""

    name: str
    instructions: tuple[Instruction, ...]
    is_entry: bool

    @property
    def root(self) -> Instruction:
        """The instruction whose value is the computation's."""
        return next((i for i in self.instructions if i.is_root), self.instructions[-1])


class RenamedModule:
    """A module with a text of its own; what XLA computes of it is computed of `module`."""

    def __init__(self, module: Any):
        self.module, self.name = module, module.name


def optimized(executable: Any) -> Any:
    """The HLO module that an `Executable` runs."""
    return executable.hlo_modules()[0]


def unoptimized(module: Any) -> Any:
    """The HLO module that XLA starts from, of an MLIR module or bytecode (bytes). Raises XlaError."""
    return computation(module).get_hlo_module()


def computation(module: Any) -> Any:
    """The XlaComputation of an MLIR module or bytecode (bytes). Raises XlaError."""
    if not isinstance(module, bytes):
        module = to_bytecode(module)
    convert = _jax.mlir.mlir_module_to_xla_computation
    try:
        return convert(module, use_tuple_args=False, return_tuple=False)
    except RuntimeFailure as error:
        raise translate(error) from None


def text(
    module: Any,
    metadata: bool = False,
    layouts: bool = False,
    backend_config: bool = False,
    large_constants: bool = False,
    percent: bool = False,
) -> str:
    """The module's text. Without `large_constants` those of more than a few elements are printed as {...}."""
    options = _hlo.HloPrintOptions()
    options.print_metadata = metadata
    options.include_layout_in_shapes = layouts
    options.print_backend_config = backend_config
    options.print_large_constants = large_constants
    options.print_percent = percent
    return module.to_string(options)


def from_text(source: str) -> Any:
    """The module of a module's text. Raises XlaError."""
    try:
        return _hlo.hlo_module_from_text(source)
    except RuntimeFailure as error:
        raise translate(error) from None


def cost_analysis(module: Any) -> dict[str, float]:
    """XLA's estimates for a module, also one that is not optimised: "flops", "bytes accessed", …"""
    raw = module.module if isinstance(module, RenamedModule) else module
    return {key: float(value) for key, value in _jax.hlo_module_cost_analysis(get_client(), raw).items()}


@cache
def pointer_bytes() -> float:
    """The bytes that XLA counts for each part of a tuple: 8 with jaxlib 0.10, 4 since 0.11."""
    return cost_analysis(from_text("HloModule m\nENTRY e {\n x = s32[] parameter(0)\n ROOT t = (s32[]) tuple(x)\n}"))[
        "bytes accessed"
    ]


def header_of(line: str) -> str | None:
    """The name of the computation that begins with a line of a module's text; None where none does."""
    found = _HEADER.match(line.strip())
    return (found.group(2) or found.group(4)) if found else None


def computations(module: Any) -> tuple[Computation, ...]:
    """The module's computations, called ones before their callers."""
    return parse(text(module, metadata=True, backend_config=True))


Lines = dict[str, "Instruction | None"]


def parse(source: str, known: Lines | None = None) -> tuple[Computation, ...]:
    """The computations in a module's text, without XLA's remarks in long tuples (`/*index=5*/`); exactly one of them is the
    entry. `known` holds lines that were read before: of equal lines there is one instruction. Raises ValueError when there
    is not an entry."""
    found = tuple(_computations(_REMARK.sub("", source).splitlines(), known))
    if sum(c.is_entry for c in found) != 1:
        raise ValueError("this is not a text of an HLO module: it has no entry computation")
    return found


def _computations(lines: list[str], known: Lines | None) -> Iterator[Computation]:
    header, body = None, []
    for line in lines:
        stripped = line.strip()
        if header is None:
            header, body = _HEADER.match(stripped), []
        elif stripped == "}" or stripped.startswith("}, "):
            name, entry = header.group(2) or header.group(4), header.group(1) or header.group(3)
            yield Computation(name, tuple(body), entry is not None)
            header = None
        else:
            instruction = _once(stripped, known)
            if instruction is not None:
                if "#" in stripped:
                    body += _elements(instruction, body, known)
                body.append(instruction)


def _elements(reader: Instruction, body: Sequence[Instruction], known: Lines | None) -> Iterator[Instruction]:
    """The elements of tuples that an instruction reads as `tuple#0`, which dumps since jaxlib 0.11 write without an instruction of their
    own, as the instructions that other texts have for them; none for those that stand there already."""
    there = {i.name: i for i in body}
    for operand in dict.fromkeys(reader.operands):
        holder, _, index = operand.partition("#")
        if index.isdecimal() and operand not in there and holder in there:
            kinds = _split(there[holder].type[1:-1])
            line = f"%{operand} = {kinds[int(index)]} get-tuple-element(%{holder}), index={index}"
            if (element := _once(line, known)) is not None:
                yield element


def _once(line: str, known: Lines | None) -> Instruction | None:
    if known is None:
        return _instruction(line)
    if line not in known:
        known[line] = _instruction(line)
    return known[line]


def _instruction(line: str) -> Instruction | None:
    plain = _PLAIN.fullmatch(line)
    if plain is None:
        return _any_instruction(line)
    root, name, kind, opcode, operands, attributes, op_name = plain.groups()
    if opcode in ("constant", "parameter"):
        return _any_instruction(line)
    fields = (name, opcode, tuple(operands.split(", ")), kind, line, op_name, (), None, root is not None, None, "")
    return tuple.__new__(Instruction, (*fields, attributes[2:], ""))  # of most lines: without a call of Python's


def _any_instruction(line: str) -> Instruction | None:
    start = _NAME.match(line)
    if start is None:
        return None
    type_end = _type_end(line, start.end())
    opcode = _OPCODE.match(line, type_end)
    if opcode is None:
        return None
    close = _closing(line, opcode.end() - 1)
    inside = line[opcode.end() : close]
    rest = _Attributes(line[close + 1 :])
    has_literal = opcode.group(1) in ("constant", "parameter")
    return Instruction(
        name=start.group(2),
        opcode=opcode.group(1),
        operands=() if has_literal else _operands(inside),
        type=line[start.end() : type_end],
        text=line,
        op_name=rest.op_name,
        called=tuple(rest.called),
        kind=rest.values.get("kind"),
        is_root=start.group(1) is not None,
        custom_call_target=rest.values.get("custom_call_target", "").strip('"') or None,
        literal=inside if has_literal else "",
        attributes=", ".join(rest.kept),
        backend_config=rest.values.get("backend_config", ""),
    )


class _Attributes:
    """What follows an instruction's operands, taken apart."""

    def __init__(self, rest: str):
        self.values: dict[str, str] = {}
        self.called: list[tuple[str, str]] = []
        self.kept: list[str] = []
        self.op_name: str | None = None
        for part in _split(rest):
            self._take(part)

    def _take(self, part: str) -> None:
        key, _, value = part.partition("=")
        self.values[key] = value
        if key == "metadata":
            found = _OP_NAME.search(value)
            self.op_name = _unescaped(found.group(1)) if found else None
        elif (calling := _CALLING.match(part)) is not None:
            self.called += [(key, name) for name in _COMPUTATION.findall(calling.group(2))]
        if key not in ("metadata", "backend_config"):
            self.kept.append(part)


def _unescaped(text: str) -> str:
    """Text as it was before HLO printed it: bytes that are not plain stand as three octal digits."""
    if "\\" not in text:
        return text
    plain = _ESCAPE.sub(lambda found: _character(found.group(1)), text.encode("latin-1", "replace").decode("latin-1"))
    return plain.encode("latin-1", "replace").decode("utf-8", "replace")


def _character(escaped: str) -> str:
    return chr(int(escaped, 8)) if len(escaped) == 3 else {"n": "\n", "t": "\t", "r": "\r"}.get(escaped, escaped)


def _type_end(line: str, start: int) -> int:
    """Where the type that begins at `start` ends: a tuple at its parenthesis, anything else at the next space."""
    if line[start] == "(":
        return _closing(line, start) + 1
    end = line.find(" ", start)
    return len(line) if end < 0 else end


def _closing(line: str, start: int) -> int:
    """The position of the bracket that closes the one at `start`."""
    depth = 0
    for mark in _MARK.finditer(line, start):
        if mark.group() in ("(", "{", "["):
            depth += 1
        elif mark.group() in (")", "}", "]"):
            depth -= 1
            if depth == 0:
                return mark.start()
    return len(line)


def _split(text: str) -> list[str]:
    """The parts between commas that are in no bracket and no string."""
    parts, depth, start = [], 0, 0
    for mark in _MARK.finditer(text):
        if mark.group() == "," and depth == 0:
            parts.append(text[start : mark.start()].strip())
            start = mark.end()
        elif mark.group() in ("(", "{", "["):
            depth += 1
        elif mark.group() in (")", "}", "]"):
            depth -= 1
    parts.append(text[start:].strip())
    return [part for part in parts if part]


def _operands(inside: str) -> tuple[str, ...]:
    """Names of the operands; each may be preceded by its type and a comment."""
    return tuple(part.rsplit(" ", 1)[-1].rsplit("*/", 1)[-1].lstrip("%") for part in _split(inside))
