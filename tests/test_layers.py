"""The layout is the architecture: imports run one way, three things alone are bound late, and files are short."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.compiler.programs import in_new_process


FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
ROOT = Path(__file__).resolve().parents[1]
COMPILER = ROOT / "compiler" / "jitscope"
SCOPE = ROOT / "kernel_ext" / "jitscope_scope"
# Each room imports only from those before it (DESIGN: "Inside the compiler").
LAYERS = (
    "named_tuple xla core symbolic tree ops transforms control special backend eager api monitoring profiler "
    "errors ir memory sharding distributed stages typing ref ad lax numpy random tree_util dtypes dlpack "
    "flatten_util debug nn image segment scipy optimizers example_libraries custom_derivatives custom_batching "
    "ad_checkpoint ffi extend api_util interpreters export checkify experimental test_util version lib _src "
    "testing __init__ __main__"
).split()
SCOPE_LAYERS = [
    "__init__",
    "annotations",
    "page_faults",
    "asked_calls",
    "source_code",
    "observe",
    "targets",
    "jaxwatch",
    "advise",
    "regions",
    "tune",
    "testing",
]
# Façades that users see side by side; numpy is written over lax.
OPS = (
    "families short_sums linear small_floats split scanning stacking marks elementwise cotangents sort_keys "
    "nan_of_max arg_places choices running reduce precision small_products dot conv_forms conv_parts conv_loops "
    "minimal_filters winograd conv_groups conv indexing taps windows radix_sort sort_networks sort approximate small_systems linalg "
    "householder eigen svd schur tridiagonal fft generators counter_based rng collective exchanges "
    "ragged_exchange"
).split()


DOORS = {
    "__init__.py": "jitscope_kernel jitscope_scope.observe",
    "__main__.py": "jitscope_kernel.cli",
    "core/records.py": "jitscope_scope.observe.ledger",
    "core/users_source.py": "jitscope_scope.source_code.names jitscope_scope.source_code.places jitscope_scope.source_code.rewrites jitscope_scope.source_code.unpacking",
    "debug.py": "jitscope_scope.observe.layout_pictures",
    "testing.py": "jitscope_scope.testing",
}
"""The files of the compiler that load what stands above it, late and by these names."""


def files(folder: Path) -> list[Path]:
    return sorted(p for p in folder.rglob("*.py") if "static" not in p.parts and "js" not in p.parts)


@cache
def import_statements(path: Path) -> list[tuple[ast.Import | ast.ImportFrom, bool, bool]]:
    """The imports of a file; whether each stands inside a function, and whether below `if TYPE_CHECKING:`."""
    return list(_import_statements(ast.parse(path.read_text(encoding="utf-8")).body, False, False))


def _import_statements(body: list[ast.stmt], inside: bool, typing: bool) -> Iterator[tuple]:
    for one in body:
        if isinstance(one, (ast.Import, ast.ImportFrom)):
            yield one, inside, typing
            continue
        within = inside or isinstance(one, FUNCTIONS)
        for_types = typing or (isinstance(one, ast.If) and "TYPE_CHECKING" in ast.dump(one.test))
        for part in ("body", "orelse", "handlers", "cases", "finalbody"):
            yield from _import_statements(getattr(one, part, []), within, for_types)


@cache
def imports(path: Path, for_types: bool = False) -> list[tuple[str, bool]]:
    """Absolute names of the modules a file imports, and whether the import stands inside a function. `for_types`: those that it
    imports for its annotations alone, in place of the others."""
    return list(_imports(path, for_types))


def _imports(path: Path, for_types: bool) -> Iterator[tuple[str, bool]]:
    for node, inside, typing in import_statements(path):
        if typing != for_types:
            continue
        if isinstance(node, ast.Import):
            yield from ((alias.name, inside) for alias in node.names)
            continue
        module = absolute(node, path)
        for alias in node.names:
            yield (f"{module}.{alias.name}" if not node.module else module), inside
            if node.module in (None, "ops") or module.endswith(".ops"):
                yield f"{module}.{alias.name}", inside


def absolute(node: ast.ImportFrom, path: Path) -> str:
    """The module from which a file imports."""
    package = package_of(path)
    base = package[: len(package) - node.level + 1] if node.level else []
    return ".".join([*base, *([node.module] if node.module else [])])


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
    folder = SCOPE if SCOPE in path.parents else COMPILER
    return path.relative_to(folder).parts[0].removesuffix(".py")


def imported(folder: Path) -> Iterator[tuple[Path, str, str]]:
    """Each file of a folder with its layer and each module that it imports."""
    return ((path, own_layer(path), module) for path in files(folder) for module, _ in imports(path))


def test_imports_run_one_way() -> None:
    assert {own_layer(path) for path in files(COMPILER)} <= {*LAYERS}, "a room has no place in the order of rooms"
    for path, own, module in imported(COMPILER):
        target = layer_of(module)
        if (target is not None and path.name != "__init__.py") or target not in (None, own, "__init__"):
            assert LAYERS.index(target) <= LAYERS.index(own), f"{path} imports {module}, which is above it"


def test_the_scope_imports_one_way() -> None:
    for path, own, module in imported(SCOPE):
        root, *rest = module.split(".")
        assert root not in ("jitscope_kernel", "jitscope_widgets"), f"{path} imports {module}, which stands above it"
        if root == "jitscope_scope":
            assert SCOPE_LAYERS.index(rest[0]) <= SCOPE_LAYERS.index(own), f"{path} imports {module}"
    for path in files(SCOPE):
        for module, _ in imports(path, for_types=True):
            assert not module.startswith("jitscope_kernel"), f"{path} names {module}, which stands above it"
            allowed = not module.startswith("jitscope_widgets") or module.startswith("jitscope_widgets.documents")
            assert allowed, f"{path} names {module}: of widgets, documents alone"


def test_types_for_annotations_alone_are_imported_in_one_file_a_room() -> None:
    """Arrays, what stands for one and documents; a module that loads late what it names tells type checkers of it itself."""
    common = re.compile(r"jitscope\.(api\.arrays|typing|core\.shardings)|jitscope_widgets\.documents\.(?!checking)\w+")
    for room in ("compiler", "kernel_ext", "widgets"):
        for path in files(ROOT / room):
            if path.name in ("__init__.py", "annotations.py") or "_late(" in path.read_text(encoding="utf-8"):
                continue
            found = [module for module, _ in imports(path, for_types=True) if common.fullmatch(module)]
            assert not found, f"{path} has imports for types of its own: {found}"


def test_operations_import_only_earlier_files() -> None:
    for path, _, module in imported(COMPILER / "ops"):
        own = path.relative_to(COMPILER / "ops").parts[0].removesuffix(".py")
        parts = module.split(".")
        if own != "__init__" and parts[:2] == ["jitscope", "ops"] and len(parts) > 2 and parts[2] in {*OPS} - {own}:
            assert OPS.index(parts[2]) < OPS.index(own), f"ops/{own} imports ops/{parts[2]}, which comes later"


def test_jaxlib_is_imported_by_xla_alone_and_jax_by_nobody() -> None:
    for room in ("compiler", "kernel_ext", "widgets"):
        for path in files(ROOT / room):
            for module, _ in imports(path):
                root = module.split(".")[0]
                assert root != "jax", path
                if root == "jaxlib":
                    assert own_layer(path) == "xla", f"{path} imports jaxlib; only xla/ may"


def test_rooms_import_downwards() -> None:
    """The compiler knows nothing of what stands above it, but for the doors; compiler and widgets know nothing of each other."""
    above = re.compile(r"""["'](jitscope_(?:scope|kernel|widgets)[\w.]*)["']""")
    for path in files(COMPILER):
        assert not any(
            m.startswith(("jitscope_scope", "jitscope_kernel", "jitscope_widgets")) for m, _ in imports(path)
        ), path
        named = " ".join(dict.fromkeys(above.findall(path.read_text())))
        assert named == DOORS.get(path.relative_to(COMPILER).as_posix(), ""), path
    for path in files(ROOT / "widgets"):
        assert not any(
            m.split(".")[0] in ("jitscope", "jitscope_scope", "jitscope_kernel") for m, _ in imports(path)
        ), path


@pytest.fixture(scope="module")
def loaded() -> set[str]:
    """The modules that `import jitscope` loads."""
    return set(
        in_new_process("import jitscope, sys; print(*[m for m in sys.modules if m.startswith('jitscope')])").split()
    )


def test_imports_inside_functions_save_time(loaded: set[str]) -> None:
    """They are of what few programs need (`repr` of a jaxpr, HLO as text, the search for NaNs, `at[...].apply`), so that
    `import jitscope` need not wait for it: the modules they name are not loaded by that."""
    for path in files(COMPILER):
        late = {module for module, inside in modules_imported(path) if inside} & loaded
        assert not late, (
            f"{path.relative_to(COMPILER)} imports {late} inside a function, although that is loaded anyway"
        )


def test_no_import_circles(loaded: set[str]) -> None:
    """Modules import each other in one direction. What is imported inside a function and saves time at start does not count:
    whoever calls for it is there before."""
    needs = {
        module_of(path): {m for m, inside in modules_imported(path) if not inside or m in loaded}
        for path in files(COMPILER)
    }
    settled: set[str] = set()
    while ready := {module for module, others in needs.items() if module not in settled and others <= settled}:
        settled |= ready
    assert not (circles := {m: others - settled for m, others in needs.items() if m not in settled}), circles


@cache
def modules_imported(path: Path) -> list[tuple[str, bool]]:
    """The other modules of the compiler that a file imports, and whether the import stands inside a function. Packages only
    where it takes names of theirs."""
    return list(_modules_imported(path))


def _modules_imported(path: Path) -> Iterator[tuple[str, bool]]:
    for node, inside, typing in import_statements(path):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif not typing:
            module = absolute(node, path)
            for alias in node.names:
                names.append(f"{module}.{alias.name}" if is_module(f"{module}.{alias.name}") else module)
        yield from ((name, inside) for name in names if is_module(name) and name != module_of(path))


def module_of(path: Path) -> str:
    parts = path.relative_to(COMPILER.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def is_module(name: str) -> bool:
    path = COMPILER.parent.joinpath(*name.split("."))
    return name.startswith("jitscope.") and (path.with_suffix(".py").is_file() or (path / "__init__.py").is_file())


def test_files_are_short() -> None:
    """Under 600 lines each, but for what is generated."""
    lines = {
        path: len(path.read_text().splitlines())
        for room in ("compiler", "kernel_ext", "widgets", "labextension/src", "examples", "benchmarks", "tests")
        for path in (ROOT / room).rglob("*")
        if path.suffix in (".py", ".ts", ".tsx", ".css")
        and path.name != "forms.ts"
        and not {"static", "node_modules", "dist", "lib"} & set(path.parts)
    }
    assert len(lines) > 400
    assert not {str(path.relative_to(ROOT)): n for path, n in lines.items() if n > 600}


def test_the_hops_that_contributing_lists_exist() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text().partition("## How to follow a call")[2].partition("\n## ")[0]
    hops = re.findall(r"`(\w+/\w+\.py)`: `([\w.]+)`", text)
    assert len(hops) > 15
    for file, name in hops:
        body: list[ast.stmt] = ast.parse((COMPILER / file).read_text()).body
        for part in name.split("."):
            found = [n for n in body if isinstance(n, (ast.FunctionDef, ast.ClassDef)) and n.name == part]
            assert found, f"CONTRIBUTING.md names {name} in {file}, which is not there"
            body = found[0].body
