"""The forms of documents about what was measured of a program's kernels."""

from __future__ import annotations

from .schema_parts import NUMBER, TEXT, WHOLE, Many, Maybe, OneOf, Record, document, record


MEASURED: dict[str, Record] = {
    "bounds": record(least=NUMBER, most=NUMBER),
    "timed kernel": record(
        name=TEXT,
        called=TEXT,
        kind=OneOf(("fusion", "library", "loop", "copy", "other")),
        opcode=TEXT,
        operations=WHOLE,
        type=TEXT,
        loop=Maybe(TEXT),
        runs=NUMBER,
        median=NUMBER,
        low=NUMBER,
        high=NUMBER,
        total=NUMBER,
        share=Maybe(NUMBER),
        flops=Maybe(NUMBER),
        bytes=Maybe(NUMBER),
        needs=Maybe(NUMBER),
        bound=Maybe(OneOf(("memory", "arithmetic", "overhead", "unknown"))),
        why=TEXT,
        lines=Many(WHOLE),
    ),
    "hardware": record(
        measured=TEXT,
        seconds="quantity",
        bandwidth=Many(record(bytes=WHOLE, rate="quantity")),
        fresh="quantity",
        peaks=Many(record(dtype=TEXT, rate="quantity")),
    ),
    "profile": document(
        "profile",
        title=TEXT,
        on=TEXT,
        runs=WHOLE,
        wall="quantity",
        low="quantity",
        high="quantity",
        recorded="quantity",
        busy="quantity",
        together="quantity",
        between="quantity",
        kernels=Many("timed kernel"),
        lines=Many(record(position="position", own=Maybe("bounds"), whole="bounds")),
        scopes=Many(record(name=TEXT, least=NUMBER, most=NUMBER)),
        machine="hardware",
        times=TEXT,
        work=TEXT,
        cost="quantity",
    ),
}
