"""Pages of the documents' types, made from their source: a table of fields for each record."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from jitscope_widgets import documents


FOLDER = Path(documents.__file__).parent


def write(folder: Path) -> None:
    """Leave a page for the parts and for each kind in `folder`, and an index of them."""
    folder.mkdir(parents=True, exist_ok=True)
    names = ["parts", *map(documents.file_name, documents.kinds())]
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
    known = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    for node, after in zip(tree.body, [*tree.body[1:], None]):
        match node:
            case ast.ClassDef():
                lines += _record(node, known)
            case ast.Assign(targets=[ast.Name(id=called)], value=value) if not called.startswith("_"):
                lines += [f"## {called}", "", f"`{ast.unparse(value)}`", "", _text(after), ""]
    return "\n".join(lines)


def _record(node: ast.ClassDef, known: dict[str, ast.ClassDef]) -> list[str]:
    head = [f"## {node.name}", "", ast.get_docstring(node) or "", "", "| field | type | |", "| --- | --- | --- |"]
    return [*head, *_fields(node, known), ""]


def _fields(node: ast.ClassDef, known: dict[str, ast.ClassDef]) -> Iterator[str]:
    """The rows of a record's fields, those of the records first that it is made from."""
    for base in node.bases:
        if isinstance(base, ast.Name) and base.id in known:
            yield from _fields(known[base.id], known)
        elif isinstance(base, ast.Name) and base.id.startswith("_"):
            yield "| `from`, `to` | `str` | |"
    for field, after in zip(node.body, [*node.body[1:], None]):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
            form, said = (
                ast.unparse(field.annotation).replace("|", "\\|"),
                " ".join(_text(after).split()).replace("|", "\\|"),
            )
            yield f"| `{field.target.id}` | `{form}` | {said} |"


def _text(node: ast.stmt | None) -> str:
    match node:
        case ast.Expr(value=ast.Constant(value=str() as text)):
            return text
    return ""
