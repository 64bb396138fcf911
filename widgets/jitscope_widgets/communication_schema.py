"""The forms of documents about how arrays lie over devices, and what those exchange."""

from __future__ import annotations

from .schema_parts import FLAG, NUMBER, TEXT, WHOLE, Many, Maybe, OneOf, Perhaps, Record, Table, document, record


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
        seconds=Perhaps(Maybe(record(median=NUMBER, low=NUMBER, high=NUMBER, least=NUMBER))),
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
    "sharding": document(
        "sharding",
        title=TEXT,
        type=TEXT,
        spec=Maybe(TEXT),
        mesh=Many(record(name=TEXT, size=WHOLE)),
        memory=Maybe(TEXT),
        devices=WHOLE,
        axes=Many(record(size=WHOLE, parts=WHOLE, along=Many(TEXT))),
        part=TEXT,
        bytes=Maybe(WHOLE),
        copies=Maybe(WHOLE),
        drawn=FLAG,
        rows=Maybe(WHOLE),
        columns=Maybe(WHOLE),
        drawing=Many(TEXT),
        tiles=Many(record(at=Many(WHOLE), index=Many(TEXT), devices=Many(TEXT))),
        left_out=WHOLE,
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
        backward=Many(TEXT),
        measured=Perhaps(record(runs=WHOLE, on=TEXT)),
    ),
}
