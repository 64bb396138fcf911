"""The switch of the lessons: `import real_jax; real_jax.use()` in a cell at the top, and the cells below it run with jax itself.

Cells are read as they stand, with these lines as one would write them for jax: `import jitscope as jx` becomes `import jax as jx`, and so on;
under `%%jit`, which watches jax and compiles nothing itself, `f = jx.jit(f)` stands in the empty line below a function, so that all lines
keep their numbers; `jx.inspect` stays jitscope's.
"""

import re
import sys

from IPython.core.getipython import get_ipython


_LINES = (
    (r"^import jitscope as jx$", "import jax as jx, jitscope"),
    (r"^import jitscope\.numpy as jnp$", "import jax.numpy as jnp"),
    (r"^from jitscope import (.*)$", r"from jax import \1"),
    (r"\bjx\.inspect\(", "jitscope.inspect("),
)
_STATIC = re.compile(r"\s*--static (\w+):([\w,]+)")


def use():
    """Run the cells that follow with jax. Raises ImportError where it is not installed."""
    import jax

    shell = get_ipython()
    if shell is not None and _as_for_jax not in shell.input_transformers_cleanup:
        shell.input_transformers_cleanup.insert(0, _as_for_jax)
    print(f"The cells below run with jax {jax.__version__}.")


def library():
    """The library that the lesson runs with: jax after `use`, else jitscope."""
    shell = get_ipython()
    if shell is not None and _as_for_jax in shell.input_transformers_cleanup:
        return sys.modules["jax"]
    import jitscope

    return jitscope


def _as_for_jax(lines):
    """The lines of a cell as they are written for jax."""
    text = "".join(lines)
    static = dict(_STATIC.findall(lines[0])) if lines and lines[0].startswith("%%jit") else None
    for pattern, instead in _LINES:
        text = re.sub(pattern, instead, text, flags=re.MULTILINE)
    if static is None:
        return text.splitlines(keepends=True)
    text = _STATIC.sub("", text, count=len(static))
    return list(_compiled(text.splitlines(keepends=True), static))


def _compiled(lines, static):
    """The lines with each function compiled in the empty line below it; one without arguments, or with a decorator, stays as it is."""
    function, before = "", ""
    for at, line in enumerate(lines):
        after = next((one for one in lines[at:] if one.strip()), "x")
        if function and after[0] not in " \t)":  # its code has ended
            yield function
            function = ""
            if not line.strip():
                continue
        found = re.match(r"def (\w+)\((?!\))", line)
        if found and not before.startswith("@"):
            names = static.get(found[1], "")
            options = f", static_argnames={names.split(',')}" if names else ""
            function = f"{found[1]} = jx.jit({found[1]}{options})\n"
        before = line
        yield line
    if function:
        yield function if line.endswith("\n") else f"\n{function}"
