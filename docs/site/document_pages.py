"""Pages of the documents' types, made from their source: a table of fields for each record."""

from __future__ import annotations

import ast
from pathlib import Path

from jitscope_widgets import documents


FOLDER = Path(documents.__file__).parent


def write(folder: Path) -> None:
    """Leave a page for the parts and for each kind in `folder`, and an index of them."""
    folder.mkdir(parents=True, exist_ok=True)
    names = ["parts", *map(documents.file_name, documents.KINDS)]
    for name in names:
        (folder / f"{name}.md").write_text(page(name), encoding="utf-8")
    listed = "\n".join(names)
    (folder / "index.md").write_text(
        f"# Types of documents\n\n```{{toctree}}\n:titlesonly:\n\n{listed}\n```\n", encoding="utf-8"
    )


def page(name: str) -> str:
    """The page of a file of types: what the file says, then each type."""
    tree = ast.parse((FOLDER / f"{name}.py").read_text(encoding="utf-8"))
    lines = [f"# {name.replace('_', '-')}", "", ast.get_docstring(tree) or "", ""]
    for node, after in zip(tree.body, [*tree.body[1:], None]):
        match node:
            case ast.ClassDef():
                lines += _record(node)
            case ast.Assign(targets=[ast.Name(id=called)], value=value) if not called.startswith("_"):
                lines += [f"## {called}", "", f"`{ast.unparse(value)}`", "", _text(after), ""]
    return "\n".join(lines)


def _record(node: ast.ClassDef) -> list[str]:
    lines = [f"## {node.name}", "", ast.get_docstring(node) or "", "", "| field | type | |", "| --- | --- | --- |"]
    if any(isinstance(base, ast.Name) and base.id.startswith("_") for base in node.bases):
        lines += ["| `from`, `to` | `str` | |"]
    for field, after in zip(node.body, [*node.body[1:], None]):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
            form, said = (
                ast.unparse(field.annotation).replace("|", "\\|"),
                " ".join(_text(after).split()).replace("|", "\\|"),
            )
            lines.append(f"| `{field.target.id}` | `{form}` | {said} |")
    return [*lines, ""]


def _text(node: ast.stmt | None) -> str:
    match node:
        case ast.Expr(value=ast.Constant(value=str() as text)):
            return text
    return ""
