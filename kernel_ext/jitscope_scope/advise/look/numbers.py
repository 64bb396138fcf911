"""Numbers of types that jax has not, or not unless asked: 64-bit types while they are off, integers to differentiate by."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from ...source_code.text import Code
from ..code.walk import Walk
from ..diagnostic import Diagnostic, Fix
from .diagnostics import diagnostic


WIDE = {"float64": "float32", "int64": "int32", "uint64": "uint32", "complex128": "complex64"}


def integers(walk: Walk) -> Iterator[Diagnostic]:
    """grad-bad-signature of `grad(f)(3)`, x64-truncation of `dtype=jnp.float64`."""
    code = walk.code
    enabled = next((i for i, line in enumerate(code.lines, 1) if _SWITCH in line), None)
    inside: list[tuple[ast.expr, str]] = []
    for node in code.of(ast.Call):
        dotted, is_inside = code.dotted(node.func), code.function_around(node) is not None
        if enabled is None or (node.lineno < enabled and not is_inside):
            wide = [(value, name) for value in _dtypes(node, dotted, walk) if (name := _wide(value, walk))]
            if wide and enabled is None and _is_on_elsewhere(code):
                enabled, wide = 0, []
            inside += wide if is_inside else []
            yield from (_cut(walk, value, name) for value, name in wide if not is_inside)
        match node.func:
            case ast.Call(func=func) if (
                code.dotted(func) in ("jax.grad", "jax.value_and_grad") and not node.func.keywords
            ):
                if node.args and isinstance(node.args[0], ast.Constant) and type(node.args[0].value) is int:
                    number = node.args[0]
                    message = f"grad needs a real number, and {code.source(number)} is an int."
                    yield diagnostic(
                        code, "grad-bad-signature", number, message, Fix(f"Write {code.source(number)}.0.")
                    )
    if inside:
        yield _cut(walk, *min(inside, key=lambda one: code.span(one[0])), True)


_SWITCH = "enable_x64"
_ROOTS = ("pyproject.toml", "setup.py", "setup.cfg", "tox.ini", "pytest.ini", ".git")


def may_be_on(code: Code) -> bool:
    """Whether 64-bit types may be on, as far as a program and what runs before it say."""
    return _SWITCH in code.text or "ENABLE_X64" in code.text or _is_on_elsewhere(code)


def _is_on_elsewhere(code: Code) -> bool:
    """Whether a file that runs before this one speaks of the switch: a `conftest.py` above a test, the `__init__.py` of the packages
    it is in, a file beside it that it imports."""
    file = Path(code.file)
    if not file.is_file():
        return False
    folders = list(file.resolve().parents)
    before = [one / "__init__.py" for one in folders if (one / "__init__.py").is_file()]
    if file.name.startswith("test_") or file.stem.endswith("_test"):
        root = next((i for i, one in enumerate(folders) if any((one / name).exists() for name in _ROOTS)), len(folders))
        before += [one / "conftest.py" for one in folders[: root + 1]]
    above = [one for one in folders if (one / "__init__.py") in before]
    for name in _imported(code):
        path = Path(*name.split("."))
        roots = [folders[0], *(one.parent for one in above)]
        before += [found for one in roots for found in ((one / path).with_suffix(".py"), one / path / "__init__.py")]
    return any(_speaks(one) for one in before if one != file)


def _imported(code: Code) -> Iterator[str]:
    """The modules that a program imports, by their names as it writes them, without dots before."""
    for node in code.of(ast.Import, ast.ImportFrom):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names)
        elif node.module:
            yield node.module
            yield from (f"{node.module}.{one.name}" for one in node.names)
        else:
            yield from (one.name for one in node.names)


def _speaks(file: Path) -> bool:
    try:
        return _SWITCH in file.read_text(encoding="utf-8", errors="ignore")
    except OSError:
        return False


def _cut(walk: Walk, value: ast.expr, name: str, inside: bool = False) -> Diagnostic:
    """What a 64-bit type becomes; in a function only while nobody turns them on, which the program that calls it may do."""
    message = f"{name} becomes {WIDE[name]} here: 64-bit types are off."
    if inside:
        message = f"{name} becomes {WIDE[name]} here, unless your program turns 64-bit types on."
    fix = f'Turn them on first: jax.config.update("jax_enable_x64", True); or ask for {WIDE[name]}.'
    return diagnostic(walk.code, "x64-truncation", value, message, Fix(fix), "info" if inside else None)


def _dtypes(node: ast.Call, dotted: str, walk: Walk) -> Iterator[ast.expr]:
    if isinstance(node.func, ast.Attribute) and node.func.attr == "astype" and not dotted:
        base = node.func.value.func if isinstance(node.func.value, ast.Call) else node.func.value
        of_ours = walk.code.dotted(base).startswith("jax.")
        yield from (a for a in node.args[:1] if of_ours or walk.code.dotted(a).startswith("jax."))
    if dotted.startswith("jax."):
        yield from (k.value for k in node.keywords if k.arg == "dtype")
        if (
            dotted in ("jax.numpy.asarray", "jax.numpy.array", "jax.numpy.zeros", "jax.numpy.ones")
            and len(node.args) > 1
        ):
            yield node.args[1]


def _wide(value: ast.expr, walk: Walk) -> str:
    name = walk.code.dotted(value).rpartition(".")[2] or str(getattr(value, "value", ""))
    return name if name in WIDE else ""
