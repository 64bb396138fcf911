"""The layout is the architecture: imports run one way, and three things alone are bound late."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest


ROOT = Path(__file__).resolve().parents[1]
COMPILER = ROOT / "compiler" / "jitscope"
# Each room imports only from those before it (DESIGN: "Inside the compiler").
LAYERS = [
    "xla",
    "core",
    "symbolic",
    "tree",
    "ops",
    "transforms",
    "control",
    "special",
    "backend",
    "observe",
    "api",
    "monitoring",
    "profiler",
    "errors",
    "ir",
    "sharding",
    "stages",
    "typing",
    "ref",
    "ad",
    "lax",
    "numpy",
    "random",
    "tree_util",
    "dtypes",
    "dlpack",
    "flatten_util",
    "debug",
    "nn",
    "image",
    "segment",
    "scipy",
    "optimizers",
    "example_libraries",
    "custom_derivatives",
    "custom_batching",
    "ad_checkpoint",
    "ffi",
    "extend",
    "api_util",
    "interpreters",
    "export",
    "checkify",
    "experimental",
    "test_util",
    "version",
    "_src",
    "advise",
    "__init__",
]
# Façades that users see side by side; numpy is written over lax.
OPS = [
    "families",
    "linear",
    "split",
    "scanning",
    "stacking",
    "marks",
    "elementwise",
    "reduce",
    "precision",
    "dot",
    "conv",
    "indexing",
    "taps",
    "windows",
    "sort",
    "approximate",
    "linalg",
    "householder",
    "eigen",
    "svd",
    "schur",
    "tridiagonal",
    "fft",
    "generators",
    "rng",
    "collective",
]


def files(folder: Path) -> list[Path]:
    return sorted(p for p in folder.rglob("*.py") if "static" not in p.parts and "js" not in p.parts)


def imports(path: Path) -> Iterator[tuple[str, bool]]:
    """Absolute names of the modules a file imports, and whether the import stands inside a function."""
    tree = ast.parse(path.read_text())
    package = package_of(path)
    inside = {
        id(n) for f in ast.walk(tree) if isinstance(f, (ast.FunctionDef, ast.AsyncFunctionDef)) for n in ast.walk(f)
    }
    typing = {
        id(n)
        for i in ast.walk(tree)
        if isinstance(i, ast.If) and "TYPE_CHECKING" in ast.dump(i.test)
        for n in ast.walk(i)
    }
    for node in ast.walk(tree):
        if id(node) in typing:
            continue
        if isinstance(node, ast.Import):
            yield from ((alias.name, id(node) in inside) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            for alias in node.names:
                yield (f"{module}.{alias.name}" if not node.module else module), id(node) in inside
                if node.module in (None, "ops") or module.endswith(".ops"):
                    yield f"{module}.{alias.name}", id(node) in inside


def package_of(path: Path) -> list[str]:
    for room in ("compiler", "kernel_ext", "widgets"):
        if (ROOT / room) in path.parents:
            return list(path.relative_to(ROOT / room).parent.parts)
    raise AssertionError(path)


def layer_of(module: str) -> str | None:
    parts = module.split(".")
    if parts[0] != "jitscope":
        return None
    return parts[1] if len(parts) > 1 and parts[1] in LAYERS else "__init__"


def own_layer(path: Path) -> str:
    relative = path.relative_to(COMPILER)
    return relative.parts[0].removesuffix(".py")


@pytest.mark.smoke
@pytest.mark.parametrize("path", files(COMPILER), ids=lambda p: str(p.relative_to(COMPILER)))
def test_imports_run_one_way(path: Path) -> None:
    own = own_layer(path)
    assert own in LAYERS, f"{own} has no place in the order of rooms"
    for module, _ in imports(path):
        target = layer_of(module)
        if (target is not None and path.name != "__init__.py") or target not in (None, own, "__init__"):
            assert LAYERS.index(target) <= LAYERS.index(own), (
                f"{path.name} in {own} imports {module}, which is above it"
            )


@pytest.mark.parametrize("path", files(COMPILER / "ops"), ids=lambda p: str(p.relative_to(COMPILER)))
def test_operations_import_only_earlier_files(path: Path) -> None:
    own = path.relative_to(COMPILER / "ops").parts[0].removesuffix(".py")
    if own == "__init__":
        return
    for module, _ in imports(path):
        parts = module.split(".")
        if parts[:2] == ["jitscope", "ops"] and len(parts) > 2 and parts[2] in OPS and parts[2] != own:
            assert OPS.index(parts[2]) < OPS.index(own), f"ops/{own} imports ops/{parts[2]}, which comes later"


@pytest.mark.smoke
def test_jaxlib_is_imported_by_xla_alone_and_jax_by_nobody() -> None:
    for room in ("compiler", "kernel_ext", "widgets"):
        for path in files(ROOT / room):
            for module, _ in imports(path):
                root = module.split(".")[0]
                assert root != "jax", path
                if root == "jaxlib":
                    assert own_layer(path) == "xla", f"{path} imports jaxlib; only xla/ may"


def test_rooms_import_downwards() -> None:
    """compiler and widgets know nothing of each other; kernel_ext brings them together."""
    for path in files(COMPILER):
        assert not any(m.startswith(("jitscope_kernel", "jitscope_widgets")) for m, _ in imports(path)), path
    for path in files(ROOT / "widgets"):
        assert not any(m.split(".")[0] in ("jitscope", "jitscope_kernel") for m, _ in imports(path)), path


LATE_IMPORTS = {
    "core/jaxpr.py": {"jitscope.core.printing"},
    "backend/stages.py": {"jitscope.xla"},
    "numpy/updates.py": {"jitscope.lax.applying"},
    "backend/watching.py": {"jitscope.backend.key_reuse", "jitscope.backend.replay"},
}


def test_no_imports_inside_functions() -> None:
    """But in xla/, which delays the MLIR bindings until the first lowering, and for what few programs need: `repr` of a
    jaxpr, HLO as text, the search for NaNs and keys used twice, `at[...].apply`."""
    for path in files(COMPILER):
        relative = str(path.relative_to(COMPILER))
        if own_layer(path) == "xla":
            continue
        found = {module for module, inside in imports(path) if inside}
        allowed = LATE_IMPORTS.get(relative, set())
        assert {m for m in found if m.startswith("jitscope")} <= allowed, (
            f"{relative} imports {found} inside a function"
        )


@pytest.mark.smoke
def test_three_late_bindings_and_no_others() -> None:
    """The evaluating trace, the operators, and the lowering of held jaxprs (handed in with `ctx`)."""
    installers = {}
    for path in files(COMPILER):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("install"):
                installers[node.name] = str(path.relative_to(COMPILER))
    assert installers == {"install_evaluation": "core/trace.py", "install": "core/operators.py"}
    callers = [
        str(p.relative_to(COMPILER))
        for p in files(COMPILER)
        if any(
            isinstance(n, ast.Call)
            and isinstance(n.func, (ast.Name, ast.Attribute))
            and (getattr(n.func, "id", None) or getattr(n.func, "attr", "")) in installers
            for n in ast.walk(ast.parse(p.read_text()))
        )
    ]
    assert sorted(callers) == ["backend/evaluate.py", "numpy/operators.py"]
