"""The forms of documents about what devices exchange."""

from __future__ import annotations

from .schema_parts import FLAG, TEXT, WHOLE, Many, Maybe, OneOf, Record, Table, document, record


_KINDS = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective-permute", "collective-broadcast",
          "ragged-all-to-all")  # fmt: skip

COMMUNICATION: dict[str, Record] = {
    "collective": record(
        name=TEXT,
        what=OneOf(_KINDS),
        types=Many(TEXT),
        gives=WHOLE,
        gets=WHOLE,
        groups=Maybe(Many(Many(WHOLE))),
        axes=Maybe(Many(TEXT)),
        runs=Maybe(WHOLE),
        paths=Many(TEXT),
    ),
    "laid": record(
        role=OneOf(("argument", "result")),
        name=TEXT,
        type=TEXT,
        asked=Maybe(TEXT),
        lies=Maybe(TEXT),
        differs=FLAG,
        part=TEXT,
        bytes=WHOLE,
    ),
    "communication": document(
        "communication",
        title=TEXT,
        devices=WHOLE,
        mesh=Many(record(name=TEXT, size=WHOLE)),
        collectives=Many("collective"),
        values=Many("laid"),
        left_out=record(collectives=WHOLE, values=WHOLE),
        totals=Many(record(what=OneOf(_KINDS), count=WHOLE, runs=Maybe(WHOLE), gives=Maybe(WHOLE))),
        positions=Table("position"),
    ),
}
