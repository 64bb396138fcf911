"""What one module puts into another when it is imported: the late bindings, and no others, however they are spelled."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest


COMPILER = Path(__file__).resolve().parents[1] / "compiler" / "jitscope"
MUTATING = ("update", "append", "setdefault", "add", "extend", "insert", "__setitem__", "__setattr__")


def trees() -> dict[str, ast.Module]:
    paths = sorted(COMPILER.rglob("*.py"))
    return {path.relative_to(COMPILER).as_posix(): ast.parse(path.read_text(encoding="utf-8")) for path in paths}


def at_import(tree: ast.Module) -> Iterator[ast.AST]:
    """The nodes that run when a module is imported."""
    rest: list[ast.AST] = [*tree.body]
    while rest:
        node = rest.pop()
        yield node
        inside = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        rest += getattr(node, "decorator_list", []) if inside else ast.iter_child_nodes(node)


def imported(tree: ast.Module) -> set[str]:
    """The names of a module that are other modules of the compiler, or theirs."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.level or (node.module or "").split(".")[0] == "jitscope"):
            found |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {a.asname or a.name.split(".")[0] for a in node.names if a.name.split(".")[0] == "jitscope"}
    return found


def root(node: ast.AST) -> str | None:
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        named = isinstance(node, ast.Call) and root(node.func) == "vars" and node.args
        node = node.args[0] if named else node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else None


def targets(node: ast.AST) -> list[ast.expr]:
    return node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, (ast.AugAssign, ast.AnnAssign)) else []  # fmt: skip


def setters(tree: ast.Module) -> Iterator[str]:
    """The functions that put what they are given into their module, or into something of it."""
    own = {n.name for n in tree.body if isinstance(n, ast.ClassDef)}
    own |= {t.id for n in tree.body for t in targets(n) if isinstance(t, ast.Name)}
    for function in tree.body:
        if not isinstance(function, ast.FunctionDef):
            continue
        given = {a.arg for a in function.args.args}
        inside = list(ast.walk(function))
        outer = {name for n in inside if isinstance(n, ast.Global) for name in n.names}
        for node in inside:
            kept = outer and any(isinstance(t, ast.Name) and t.id in outer for t in targets(node))
            if kept and isinstance(node, ast.Assign) and root(node.value) in given:
                yield function.name
            if isinstance(node, ast.Call) and root(node.func) == "setattr" and root(node.args[0]) in own:
                yield function.name


def bindings(found: dict[str, ast.Module]) -> Iterator[str]:
    """What modules put into others when they are imported: `file: what it does`."""
    names = {name for tree in found.values() for name in setters(tree)}
    for file, tree in found.items():
        foreign = imported(tree)
        for node in at_import(tree):
            for target in targets(node):
                if isinstance(target, (ast.Attribute, ast.Subscript)) and root(target) in foreign:
                    yield f"{file}: {ast.unparse(target)} = …"
            if isinstance(node, ast.Call):
                called = node.func.attr if isinstance(node.func, ast.Attribute) else root(node.func)
                first = root(node.args[0]) if node.args else None
                if called in ("setattr", "__setattr__") and first in foreign:
                    yield f"{file}: {ast.unparse(node)}"
                elif called in (*names, *MUTATING) and root(node.func) in foreign:
                    yield f"{file}: {ast.unparse(node.func)}"


def test_these_late_bindings_and_no_others() -> None:
    """The evaluating trace and the operators; the lowering of inner jaxprs is handed in with `ctx`. Entries in tables are not
    bindings: nothing is missing without them."""
    bound = {"eager/operations.py: install_evaluation", "numpy/operators.py: install"}
    entered = {
        "eager/running.py: relief.append",  # what lets programs go when memory runs short
        # what went by devices alone, and is told of the first mesh
        "backend/array.py: meshes_in_force.on_first_mesh.append",
        "backend/dispatch.py: on_first_mesh.append",
        "eager/running.py: on_first_mesh.append",
        "transforms/vmap.py: call_sites.rules_run_by[BatchTrace.process.__code__] = …",  # whose frames tell that vmap made an equation
    }
    assert set(bindings(trees())) == bound | entered


SPELLINGS = {
    "an attribute": "from jitscope.core import trace\ntrace.evaluation = f",
    "an attribute of a class": "from jitscope.core.trace import Tracer\nTracer.sin = f",
    "an entry": "from jitscope.core.trace import TABLE\nTABLE['f'] = f",
    "in a branch": "import jitscope.core as core\nif True:\n    core.trace.f = f",
    "setattr": "from jitscope.core import trace\nsetattr(trace, 'f', f)",
    "update": "from jitscope.core import trace\ntrace.TABLE.update(f=f)",
    "vars": "from jitscope.core import trace\nvars(trace).update(f=f)",
    "an entry of vars": "from jitscope.core import trace\nvars(trace)['f'] = f",
    "a setter": "from jitscope.own import keep\nkeep(f)",
    "a setter of a module": "import jitscope.own\njitscope.own.keep(f)",
}


@pytest.mark.parametrize("name", SPELLINGS)
def test_every_spelling_is_found(name: str) -> None:
    own = "hook = None\ndef keep(function):\n    global hook\n    hook = function"
    found = list(bindings({"own.py": ast.parse(own), "other.py": ast.parse(SPELLINGS[name])}))
    assert len(found) == 1 and found[0].startswith("other.py: ")


def test_what_is_no_binding_is_not_taken_for_one() -> None:
    text = "from jitscope.core import trace\ntable = {}\ntable['f'] = trace.f\ndef later():\n    trace.f = 1\nx = trace.make()"
    assert not list(bindings({"other.py": ast.parse(text)}))
