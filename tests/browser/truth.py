"""What the compiler itself says about a function, asked in the notebook's kernel through public functions only.

The views draw documents that the `observe` room makes. These few lines count the same things a second time, from
`make_jaxpr` and from the text of the compiled module, so that a view which leaves something out cannot agree by accident.
"""

from dataclasses import dataclass

from tests.browser.notebook import Notebook


# Runs in the kernel. An HLO instruction is a line `[ROOT] %name = type opcode(…)` inside `[ENTRY] %computation (…) … { … }`.
# A fusion of kind kCustom is a call into a library.
CODE = r"""
def _jitscope_truth(f, *args):
    import re
    import jitscope as jx

    def equations(jaxpr):
        for equation in getattr(jaxpr, "jaxpr", jaxpr).eqns:
            yield equation.params.get("name", equation.primitive.name)  # a call goes by its function's name
            values = list(equation.params.values())
            for value in values:
                if isinstance(value, (tuple, list)):
                    values.extend(value)
                elif hasattr(value, "eqns") or hasattr(value, "jaxpr"):
                    yield from equations(value)

    f = getattr(f, "__wrapped__", f)  # what the magic wrapped would be one more equation
    text = jx.jit(f).lower(*args).compile().as_text()
    computations, entry = {}, ""
    for line in text.splitlines():
        opened = re.match(r"(ENTRY )?%?([\w.-]+) \(.*\{$", line)
        if opened:
            name = opened[2]
            computations[name] = []
            entry = name if opened[1] else entry
        instruction = re.match(r"\s+(?:ROOT )?%?([\w.-]+) = .*?(?<![\w%.-])([a-z][\w-]*)\((.*)", line)
        if instruction:
            computations[name].append(instruction.groups())

    def called(rest):
        found = re.search(r"calls=%?([\w.-]+)", rest)
        return [member[:2] for member in computations[found[1]]] if found else []

    def kind(opcode, rest):
        return "library" if "kind=kCustom" in rest else opcode

    return {
        "equations": sorted(equations(jx.make_jaxpr(f)(*args))),
        "instructions": [[name, kind(opcode, rest), called(rest)] for name, opcode, rest in computations[entry]],
        "text": text,
    }
"""

# What an instruction reads but does not compute.
PASSIVE = {"parameter", "constant"}


@dataclass
class Truth:
    equations: list[str]  # primitives and functions called, of every level, sorted
    instructions: list[tuple[str, str, list[tuple[str, str]]]]  # of the entry: name, opcode or "library", members
    text: str

    def fusions(self) -> dict[str, list[str]]:
        """The fusions of the compiled module: name → names of their members, sorted. Not those round one operation."""
        members = {
            name: sorted(member for member, kind in inside if kind not in PASSIVE)
            for name, opcode, inside in self.instructions
            if opcode == "fusion"
        }
        return {name: inside for name, inside in members.items() if len(inside) > 1}


def ask(notebook: Notebook, call: str) -> Truth:
    """The truth about a call such as `layer(x, w, b)`; its function may be wrapped by the magic or not."""
    function, _, arguments = call.partition("(")
    return Truth(**notebook.ask(f"_jitscope_truth({function}, {arguments}", CODE))
