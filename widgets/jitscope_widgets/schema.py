"""What a document may hold, as one table that mirrors docs/documents.md, and `validate`, which checks a document by it.

A form is one of: a scalar (`TEXT`, `WHOLE`, `NUMBER`, `FLAG`), `OneOf` some words, `Maybe` a form, `Many` of a form,
`Table` from text to a form, `Record` of named fields, a document of a `Kind`, or the name of a record in `FORMS`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .code_schema import CODE
from .communication_schema import COMMUNICATION
from .measured_schema import MEASURED
from .schema_parts import (
    FLAG,
    NUMBER,
    TEXT,
    WHOLE,
    Form,
    Kind,
    Many,
    Maybe,
    OneOf,
    Perhaps,
    Record,
    Scalar,
    Table,
    document as _document,
    record as _record,
)
from .schema_rules import RULES, found


class DocumentError(ValueError):
    """A document that does not have the form its kind asks for; the message starts with the path of the wrong field."""


INSTRUMENTS = ("transformations", "passes", "memory", "values", "profile", "machine", "communication")
"""The kinds of documents that an instrument makes of one compilation, on demand; its name is the kind."""

_MEMORY = ("argument", "constant", "result", "temporary")
_BOUNDARIES = (
    "library",
    "copy",
    "reduction",
    "broadcast",
    "result",
    "several users",
    "concatenation",
    "loop",
    "branch",
    "call",
)
_PASS_KINDS = ("removed", "added", "changed", "rewired", "fused", "moved")

FORMS: dict[str, Record] = {
    "quantity": _record(value=Maybe(NUMBER), unit=TEXT, origin=OneOf(("measured", "modelled", "unknown")), note=TEXT),
    "position": _record(
        file=TEXT,
        cell=Maybe(TEXT),
        line=WHOLE,
        end_line=WHOLE,
        column=WHOLE,
        end_column=WHOLE,
        function=TEXT,
        text=TEXT,
        named_scope=Perhaps(TEXT),
    ),
    "edit": _record(line=WHOLE, column=WHOLE, end_line=WHOLE, end_column=WHOLE, text=TEXT),
    "fix": _record(text=TEXT, edits=Many("edit"), checked=TEXT, position=Maybe("position"), before=Perhaps(Many(TEXT))),
    "function": _record(name=TEXT, label=TEXT, file=TEXT, cell=Maybe(TEXT), first_line=WHOLE, lines=Many(TEXT)),
    "source": _document(
        "source",
        functions=Many("function"),
        calls=Many(_record(function=WHOLE, parent=Maybe(WHOLE), line=Maybe(WHOLE))),
        marks=Many(_record(call=WHOLE, line=WHOLE, nodes=Many(TEXT), forward=WHOLE, backward=WHOLE)),
    ),
    "node": _record(
        id=TEXT,
        kind=OneOf(("input", "constant", "equation", "output", "instruction", "fusion", "library", "scope", "group")),
        what=Perhaps(OneOf(("tree", "function", "named scope", "repeat", "instance"))),
        count=Perhaps(WHOLE),
        label=TEXT,
        scope=Maybe(TEXT),
        types=Many(TEXT),
        bytes=WHOLE,
        text=TEXT,
        params=Table(TEXT),
        paths=Many(TEXT),
        positions=Many("position"),
        transforms=Perhaps(Many(OneOf(("jvp", "transpose", "vmap")))),
        call=Perhaps(Maybe(WHOLE)),
        left_out=Perhaps(WHOLE),
        mark=Perhaps(OneOf(("path", "stop", *_PASS_KINDS))),
        number=Perhaps(_record(name=TEXT, value=NUMBER, unit=TEXT)),
        fused_into=Maybe(TEXT),
    ),
    "edge": Record({"from": TEXT, "to": TEXT, "type": TEXT, "bytes": WHOLE, "gone": Perhaps(FLAG)}),
    "graph": _document("graph", level=OneOf(("jaxpr", "hlo")), title=TEXT, nodes=Many("node"), edges=Many("edge")),
    "member": _record(name=TEXT, opcode=TEXT, type=TEXT, paths=Many(TEXT)),
    "boundary": Record({"from": TEXT, "to": TEXT, "observed": Many(_record(kind=OneOf(_BOUNDARIES), text=TEXT))}),
    "kernel": _record(
        name=TEXT,
        kind=OneOf(("fusion", "library", "loop", "copy", "other")),
        opcode=TEXT,
        type=TEXT,
        members=Many("member"),
        paths=Many(TEXT),
        positions=Many("position"),
        text=TEXT,
        note=TEXT,
        share=Perhaps(Maybe(NUMBER)),
    ),
    "line": _record(number=WHOLE, text=TEXT, name=TEXT, paths=Many(TEXT)),
    "row": _record(
        kind=OneOf(("same", "changed", "removed", "added", "fused")),
        left=Maybe("line"),
        right=Maybe("line"),
        caption=TEXT,
    ),
    "fusion": _document(
        "fusion",
        title=TEXT,
        before="graph",
        after="graph",
        kernels=Many("kernel"),
        boundaries=Perhaps(Many("boundary")),
        rows=Many("row"),
        summary=_record(
            before=WHOLE,
            after=WHOLE,
            kernels=WHOLE,
            fusions=WHOLE,
            library=WHOLE,
            sentence=TEXT,
            again=Perhaps(FLAG),
            unknown=Perhaps(_record(kernels=WHOLE, bytes=Maybe(NUMBER), time=Maybe(NUMBER))),
        ),
    ),
    "stage": _record(
        name=OneOf(("trace", "lower", "compile", "load", "convert arguments", "first run")), seconds="quantity"
    ),
    "timing": _document(
        "timing",
        title=TEXT,
        stages=Many("stage"),
        total="quantity",
        steady=Maybe(
            _record(median="quantity", low="quantity", high="quantity", runs=WHOLE, source=OneOf(("button", "cell")))
        ),
        call=Perhaps(TEXT),
        can_measure=FLAG,
    ),
    "site": _record(
        position=Maybe("position"), led=Perhaps(Many("position")), compilations=WHOLE, retraces=WHOLE, seconds=NUMBER
    ),
    "matrix": _record(
        columns=Many(_record(label=TEXT, what=OneOf(("compiled", "reused")), calls=Maybe(WHOLE))),
        rows=Many(_record(path=TEXT, cells=Many(TEXT), changed=Many(FLAG))),
        columns_left=WHOLE,
        columns_left_after=WHOLE,
        rows_left=WHOLE,
    ),
    "card": _record(
        function=TEXT,
        cause=OneOf(
            (
                "shape",
                "dtype",
                "weak type",
                "static value",
                "static object",
                "tree structure",
                "none",
                "call form",
                "kind",
                "function",
                "closure",
                "redefined",
                "device",
                "sharding",
                "donation",
                "option",
                "x64",
                "cache",
                "stale",
            )
        ),
        compilations=WHOLE,
        retraces=WHOLE,
        because=TEXT,
        seconds="quantity",
        definition=Maybe("position"),
        sites=Many("site"),
        sites_left=WHOLE,
        matrix="matrix",
        fix=Maybe("fix"),
        quiet=FLAG,
    ),
    "recompilations": _document("recompilations", title=TEXT, cards=Many("card")),
    "diagnostic": _record(
        id=TEXT,
        severity=OneOf(("error", "warning", "info")),
        title=TEXT,
        message=TEXT,
        why=TEXT,
        evidence=Many(TEXT),
        origin=OneOf(("look", "trace", "miss", "run")),
        position=Maybe("position"),
        fix=Maybe("fix"),
        silence=Maybe("fix"),
    ),
    "diagnostics": _document("diagnostics", items=Many("diagnostic"), note=Perhaps(TEXT)),
    "stopped": _document(
        "stopped",
        function=TEXT,
        asked=TEXT,
        graph="graph",
        stop=TEXT,
        steps=Many(
            _record(kind=OneOf(("argument", "line", "stop")), text=TEXT, position=Maybe("position"), nodes=Many(TEXT))
        ),
        left_out=WHOLE,
        fixes=Many("fix"),
    ),
    "numbers": _record(
        name=TEXT,
        type=TEXT,
        text=TEXT,
        smallest=Maybe(NUMBER),
        largest=Maybe(NUMBER),
        nans=WHOLE,
        infinities=WHOLE,
        size=WHOLE,
        index=Maybe(Many(WHOLE)),
        element=TEXT,
    ),
    "step": _record(
        path=TEXT,
        primitive=TEXT,
        position=Maybe("position"),
        transforms=Many(OneOf(("jvp", "transpose", "vmap"))),
        iterations=Many(_record(number=WHOLE, count=Maybe(WHOLE), position=Maybe("position"))),
    ),
    "nan-hunt": _document(
        "nan-hunt",
        title=TEXT,
        what=OneOf(("NaN", "infinity")),
        found=FLAG,
        sentence=TEXT,
        cause=TEXT,
        sharp_bit=TEXT,
        operation=Maybe("step"),
        where=Maybe("position"),
        values=Many("numbers"),
        infinity=Maybe(_record(step="step", values=Many("numbers"))),
        given=Many("numbers"),
        route=Many("step"),
        left_out=WHOLE,
        graph=Perhaps("graph"),
        differs=TEXT,
        seconds="quantity",
        fixes=Many("fix"),
    ),
    "compilation": _document(
        "compilation",
        id=WHOLE,
        function=TEXT,
        signature=TEXT,
        equations=WHOLE,
        cache=OneOf(("compiled", "reused", "loaded")),
        headline=TEXT,
        because=Perhaps(TEXT),
        source=Maybe("source"),
        jaxpr=TEXT,
        graph="graph",
        fusion=Maybe("fusion"),
        timing="timing",
        recompilations="recompilations",
        cost=_record(flops="quantity", bytes="quantity", memory="quantity"),
        instruments=Perhaps(Table(Kind(INSTRUMENTS))),
    ),
    "cell": _document(
        "cell",
        cell=TEXT,
        cell_id=Maybe(TEXT),
        compilations=Many("compilation"),
        recompilations=Perhaps("recompilations"),
        diagnostics=Perhaps("diagnostics"),
        reused=Many(_record(function=TEXT, calls=WHOLE, at_least=Perhaps(FLAG))),
        left_alone=Many(_record(name=TEXT, reason=TEXT)),
        error=Maybe(_record(type=TEXT, message=TEXT, position=Maybe("position"), stopped=Perhaps("stopped"))),
        note=TEXT,
    ),
    "pass": _record(
        name=TEXT,
        does=TEXT,
        pipelines=Many(TEXT),
        round=WHOLE,
        rounds=WHOLE,
        seconds="quantity",
        state=Maybe(WHOLE),
    ),
    "pass row": Record(
        {
            "kind": OneOf(_PASS_KINDS),
            "before": Maybe(TEXT),
            "after": Maybe(TEXT),
            "from": Maybe(TEXT),
            "to": Maybe(TEXT),
            "opcode": TEXT,
            "paths": Many(TEXT),
        }
    ),
    "state": _record(
        operations=WHOLE,
        kernels=WHOLE,
        flops="quantity",
        bytes="quantity",
        counts=_record(**dict.fromkeys(_PASS_KINDS, WHOLE)),
        sentence=TEXT,
        rows=Many("pass row"),
        left_out=WHOLE,
        also=Many(TEXT),
        graph=Maybe("graph"),
        graph_left_out=WHOLE,
    ),
    "program": _record(
        title=TEXT,
        lines=Many(_record(text=TEXT, origin=Maybe(WHOLE), transforms=Many(OneOf(("jvp", "transpose", "vmap"))))),
        left_out=WHOLE,
    ),
    "transformations": _document(
        "transformations",
        title=TEXT,
        steps=Many(
            _record(
                transform=OneOf(("jvp", "linearize", "transpose", "vmap")),
                function=TEXT,
                depth=WHOLE,
                before="program",
                after=Many("program"),
            )
        ),
        left_out=WHOLE,
        missed=Many(TEXT),
        origins=Many(_record(position="position", paths=Many(TEXT))),
        cost="quantity",
    ),
    "passes": _document(
        "passes",
        title=TEXT,
        stages=Many(_record(name=OneOf(("passes", "kernels", "machine code", "rest")), does=TEXT, seconds="quantity")),
        passes=Many("pass"),
        states=Many("state"),
        fates=Many(
            _record(path=TEXT, state=WHOLE, what=OneOf(("fused", "library", "merged", "gone")), into=Many(TEXT))
        ),
        positions=Table("position"),
        cost="quantity",
    ),
    "buffer": _record(
        label=TEXT,
        kind=OneOf(_MEMORY),
        bytes=WHOLE,
        offset=WHOLE,
        allocation=WHOLE,
        born=WHOLE,
        dies=WHOLE,
        type=TEXT,
        instruction=TEXT,
        values=WHOLE,
        argument=Maybe(WHOLE),
        kernel=Maybe(TEXT),
        path=Maybe(TEXT),
        paths=Many(TEXT),
    ),
    "memory change": _record(
        id=TEXT,
        text=TEXT,
        what=OneOf(("donation", "checkpoint")),
        edits=Many("edit"),
        position=Maybe("position"),
        tried=Maybe(
            _record(
                **dict.fromkeys(("peak", "reserved", "temporary", "aliased"), WHOLE),
                **dict.fromkeys(("flops", "flops_before", "seconds"), "quantity"),
                note=TEXT,
            )
        ),
    ),
    "memory": _document(
        "memory",
        title=TEXT,
        sentence=TEXT,
        length=WHOLE,
        peak=_record(
            position=WHOLE,
            bytes=WHOLE,
            instruction=TEXT,
            kernel=Maybe(TEXT),
            paths=Many(TEXT),
            kinds=_record(**dict.fromkeys(_MEMORY, WHOLE)),
            buffers=Many(WHOLE),
            count=WHOLE,
        ),
        reserved=_record(**dict.fromkeys((*_MEMORY, "aliased", "total"), "quantity")),
        curve=_record(positions=Many(WHOLE), instructions=Many(TEXT), **dict.fromkeys(_MEMORY, Many(WHOLE))),
        scopes=Many(
            _record(instruction=TEXT, text=TEXT, iterations=Maybe(WHOLE), start=WHOLE, end=WHOLE, paths=Many(TEXT))
        ),
        buffers=Many("buffer"),
        left_out=_record(buffers=WHOLE, bytes=WHOLE),
        changes=Many("memory change"),
        positions=Table("position"),
        cost="quantity",
    ),
    **MEASURED,
    "value": _record(
        path=TEXT,
        result=WHOLE,
        label=TEXT,
        type=TEXT,
        iterations=Maybe(WHOLE),
        devices=Maybe(_record(count=WHOLE, alike=FLAG)),
        first_bad=Maybe(WHOLE),
        line=Maybe(WHOLE),
        size=WHOLE,
        min=Maybe(NUMBER),
        max=Maybe(NUMBER),
        mean=Maybe(NUMBER),
        std=Maybe(NUMBER),
        zeros=WHOLE,
        nan=WHOLE,
        inf=WHOLE,
    ),
    "value detail": _record(
        path=TEXT,
        result=WHOLE,
        iteration=Maybe(WHOLE),
        histogram=Maybe(_record(low=NUMBER, high=NUMBER, log=FLAG, zeros=WHOLE, counts=Many(WHOLE))),
        picture=Maybe(_record(rows=WHOLE, columns=WHOLE, cells=TEXT, low=NUMBER, high=NUMBER, folded=TEXT)),
        first=Many(TEXT),
        parts=Many(_record(place=TEXT, min=Maybe(NUMBER), max=Maybe(NUMBER), mean=Maybe(NUMBER), nan=WHOLE, inf=WHOLE)),
    ),
    "values": _document(
        "values",
        title=TEXT,
        sentence=TEXT,
        rows=Many("value"),
        first_bad=Maybe(WHOLE),
        details=Many("value detail"),
        loops=Many(_record(path=TEXT, count=Maybe(WHOLE), looked=TEXT)),
        lines=Many("position"),
        differs=TEXT,
        remarks=Many(TEXT),
        cost="quantity",
    ),
    **COMMUNICATION,
    **CODE,
    "ledger row": _record(
        id=WHOLE,
        function=TEXT,
        signature=TEXT,
        cell=Maybe(TEXT),
        cell_id=Maybe(TEXT),
        what=OneOf(("compiled", "recompiled", "reused", "loaded", "failed")),
        because=TEXT,
        seconds=_record(trace=NUMBER, lower=NUMBER, compile=NUMBER),
        equations=WHOLE,
        calls=Maybe(WHOLE),
    ),
    "small operation": _record(
        operation=TEXT,
        programs=WHOLE,
        seconds=NUMBER,
        library=TEXT,
        cell=Maybe(TEXT),
        line=Maybe(WHOLE),
        text=TEXT,
        said=TEXT,
    ),
    "ledger": _document(
        "ledger",
        rows=Many("ledger row"),
        small=Perhaps(_record(programs=WHOLE, seconds=NUMBER, sentence=TEXT, operations=Many("small operation"))),
        recompilations=Perhaps("recompilations"),
    ),
}

KINDS = tuple(name for name, form in FORMS.items() if "version" in form.fields)


def validate(document: object) -> None:
    """Raise `DocumentError` with the path of the first wrong field unless `document` is as docs/documents.md says."""
    if not isinstance(document, dict):
        raise DocumentError(f"a document is a dict, not {found(document)}")
    kind = document.get("kind")
    if kind not in KINDS:
        raise DocumentError(f"kind: expected one of {', '.join(KINDS)}; found {found(kind)}")
    for problem in _problems(FORMS[kind], document, kind, kind):
        raise DocumentError(problem)


def _problems(form: Form, value: Any, path: str, name: str = "") -> Iterator[str]:
    match form:
        case str():
            yield from _problems(FORMS[form], value, path, form)
        case Scalar():
            if not form.fits(value):
                yield f"{path}: expected {form.name}, found {found(value)}"
        case OneOf():
            if isinstance(value, bool) or not isinstance(value, str | int) or value not in form.options:
                yield f"{path}: expected {' or '.join(map(repr, form.options))}, found {found(value)}"
        case Perhaps():
            yield from _problems(form.form, value, path)
        case Maybe():
            if value is not None:
                yield from _problems(form.form, value, path)
        case Many():
            yield from _list_problems(form, value, path)
        case Table():
            yield from _table_problems(form, value, path)
        case Kind():
            yield from _kind_problems(form, value, path)
        case Record():
            yield from _record_problems(form, value, path, name)


def _kind_problems(form: Kind, value: Any, path: str) -> Iterator[str]:
    kind = value.get("kind") if isinstance(value, dict) else None
    if kind in form.kinds:
        yield from _problems(FORMS[kind], value, path, kind)
    else:
        yield f"{path}: expected a document of kind {' or '.join(map(repr, form.kinds))}, found {found(value)}"


def _list_problems(form: Many, value: Any, path: str) -> Iterator[str]:
    if not isinstance(value, list):
        yield f"{path}: expected a list, found {found(value)}"
        return
    for index, item in enumerate(value):
        yield from _problems(form.form, item, f"{path}[{index}]")


def _table_problems(form: Table, value: Any, path: str) -> Iterator[str]:
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        yield f"{path}: expected a dict with texts as keys, found {found(value)}"
        return
    for key, item in value.items():
        yield from _problems(form.form, item, f"{path}[{key!r}]")


def _record_problems(form: Record, value: Any, path: str, name: str) -> Iterator[str]:
    if not isinstance(value, dict):
        yield f"{path}: expected a dict, found {found(value)}"
        return
    for missing in (f for f, inner in form.fields.items() if f not in value and not isinstance(inner, Perhaps)):
        yield f"{path}: the field {missing!r} is missing"
    for surplus in (field for field in value if field not in form.fields):
        yield f"{path}: there is no field {surplus!r} here; the fields are {', '.join(form.fields)}"
    for field, inner in form.fields.items():
        if field in value:
            yield from _problems(inner, value[field], f"{path}.{field}")
    yield from RULES.get(name, lambda *_: ())(value, path)
