"""The forms of documents about the code that a program's kernels run."""

from __future__ import annotations

from .schema_parts import FLAG, NUMBER, TEXT, WHOLE, Many, Maybe, OneOf, Perhaps, Record, Table, document, record


CODE: dict[str, Record] = {
    "mix": record(total=WHOLE, counts=Table(WHOLE), reads=WHOLE, writes=WHOLE, bits=Maybe(WHOLE), lanes=TEXT),
    "code text": record(text=TEXT, left_out=WHOLE, nesting=Many(Many(WHOLE))),
    "code function": record(
        name=TEXT,
        machine=OneOf(("x86-64", "arm64")),
        module=Maybe(WHOLE),
        role=OneOf(("kernel", "comparator", "helper", "unknown")),
        note=TEXT,
        kernels=Many(TEXT),
        lines=Many(WHOLE),
        share=Maybe(NUMBER),
        written="quantity",
        bytes=WHOLE,
        mix="mix",
        undecoded=WHOLE,
        loops=Many(
            record(
                header=WHOLE,
                blocks=Many(WHOLE),
                parent=Maybe(WHOLE),
                depth=WHOLE,
                innermost=FLAG,
                mix="mix",
                sentence=TEXT,
            )
        ),
        hot=Maybe(WHOLE),
        sentence=TEXT,
        calls=Many(record(name=TEXT, count=WHOLE)),
        blocks=Maybe(Many(record(code=TEXT, depth=WHOLE, ways=Many(WHOLE)))),
        left_out=WHOLE,
    ),
    "machine": document(
        "machine",
        title=TEXT,
        opens=Perhaps(OneOf(("llvm", "code"))),
        triple=TEXT,
        processor=TEXT,
        sentence=TEXT,
        notes=Many(TEXT),
        functions=Many("code function"),
        modules=Many(
            record(name=TEXT, emitter=TEXT, values=Many(TEXT), before=Maybe("code text"), after=Maybe("code text"))
        ),
        kernels=Many(record(name=TEXT, function=Maybe(TEXT), note=TEXT, share=Maybe(NUMBER), lines=Many(WHOLE))),
        positions=Many("position"),
        cost="quantity",
    ),
}
