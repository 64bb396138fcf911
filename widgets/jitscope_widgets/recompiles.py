"""Cards of recompilations: one for each function and cause, as static HTML and as text. The counterpart of recompiles.ts."""

from __future__ import annotations

from collections.abc import Sequence

from . import words
from .fixes import fix_html, fix_text
from .plain import clean, escape
from .quantities import origin, seconds, show
from .sentences import say
from .words import Document, plural
from .wrap import table, wrap


MOST = 5  # cards below a cell; %recompiles has all
NOTHING = say("nothing compiled")
_MARKED = say("marked")


def counted(card: Document) -> str:
    """`299 recompilations and 2 retraces, 12.3 s lost`."""
    parts = [
        plural(card[what], noun)
        for what, noun in (("compilations", "recompilation"), ("retraces", "retrace"))
        if card[what]
    ]
    lost = show(card["seconds"])
    told = " and ".join(parts) or ("keeps an old value" if card["cause"] == "stale" else "run again")
    return told if lost == "?" else f"{told}, {lost} lost"


def by_function(cards: Sequence[Document]) -> dict[str, int]:
    """How many recompilations the cards tell of, by function."""
    counts: dict[str, int] = {}
    for card in cards:
        counts[card["function"]] = counts.get(card["function"], 0) + card["compilations"]
    return {name: count for name, count in counts.items() if count}


def more(cards: Sequence[Document]) -> str:
    """What is said of the cards that are not shown, or ""."""
    left = len(cards) - MOST
    return f"{plural(left, 'more cause')}: %recompiles shows all." if left > 0 else ""


# --- HTML -------------------------------------------------------------------------------------------------------------


def card_html(card: Document, opened: bool) -> str:
    """One card, closed to a line or open."""
    reason = clean(card["because"]).strip()
    return (
        f'<details class="card"{" open" if opened else ""}><summary>▲ <b>{escape(card["function"])}</b>: {escape(reason)} '
        f'<span class="dim" title="{escape(origin(card["seconds"]))}">{escape(counted(card))}</span></summary>'
        f'<div class="in">{_sites_html(card)}{_matrix_html(card["matrix"])}{fix_html(card["fix"]) if card["fix"] else ""}</div></details>'
    )


def _sites_html(card: Document) -> str:
    lines = []
    for site in card["sites"]:
        if site["position"] is None:
            continue
        place = f"{words.where(site['position'])}, {times(site)}, {seconds(site['seconds'])}"
        text = site["position"]["text"].strip()
        code = f": <code>{escape(text)}</code>" if text else ""
        lines.append(f'<p><span class="dim">called from {escape(place)}</span>{code}{escape(led(site))}</p>')
    if card["sites_left"]:
        lines.append(f'<p class="dim">and from {plural(card["sites_left"], "more line")}</p>')
    return "".join(lines)


def led(site: Document) -> str:
    """The cell's own lines that led to a helper's: `, led to by In [5], line 3: train(x)`."""
    told = [f"{words.where(one)}: {one['text'].strip()}" for one in site.get("led", ())]
    return f", led to by {'; '.join(map(clean, told))}" if told else ""


def times(site: Document) -> str:
    """`28 times`."""
    count = site["compilations"] + site["retraces"]
    return "once" if count == 1 else f"{count:,} times"


def _matrix_html(matrix: Document) -> str:
    at, left = matrix["columns_left_after"], matrix["columns_left"]
    gap = [f'<td class="dim">… {left:,} more</td>'] if left else []

    def line(cells: list[str], filler: list[str]) -> str:
        return "".join([*cells[:at], *filler, *cells[at:]])

    heads = [f"<th{_reused(column)}>{escape(column['label'])}</th>" for column in matrix["columns"]]
    head = f"<tr><th>program</th>{line(heads, ['<th></th>'] if left else [])}</tr>"
    body = ""
    for row in matrix["rows"]:
        cells = [
            f'<td class="{"is nw" if changed else "nw"}">{f"<b>{code}</b>" if changed else code}</td>'
            for text, changed in zip(row["cells"], row["changed"])
            for code in [f"<code>{escape(text)}</code>"]
        ]
        body += f"<tr><td><code>{escape(row['path'])}</code></td>{line(cells, gap)}</tr>"
    rest = f"; {plural(matrix['rows_left'], 'more row')} left out" if matrix["rows_left"] else ""
    return f'<table><tbody>{head}{body}</tbody></table><p class="dim">{_MARKED}{rest}</p>' if body else ""


def _reused(column: Document) -> str:
    return ' title="traced again, the program was known"' if column["what"] == "reused" else ""


# --- text -------------------------------------------------------------------------------------------------------------


def card_text(card: Document, width: int) -> list[str]:
    """One card as lines."""
    lines = wrap(f"{clean(card['function'])}: {clean(card['because'])} ({counted(card)})", width, "  ")
    for site in card["sites"]:
        if site["position"] is not None:
            text = clean(site["position"]["text"].strip())
            said = (
                f"  called from {words.where(site['position'])}, {times(site)}{': ' + text if text else ''}{led(site)}"
            )
            lines += wrap(said, width, "    ")
    if card["sites_left"]:
        lines.append(f"  and from {plural(card['sites_left'], 'more line')}")
    lines += [f"  {line}" for line in _matrix_text(card["matrix"], width - 2)]
    return lines + ([f"  {line}" for line in fix_text(card["fix"], width - 2)] if card["fix"] else [])


def _matrix_text(matrix: Document, width: int) -> list[str]:
    """The changes alone, each with the values it had: what the table of the HTML shows in columns."""
    at, left = matrix["columns_left_after"], matrix["columns_left"]
    rows = []
    for row in matrix["rows"]:
        if not any(row["changed"]):
            continue
        cells = [clean(cell) for cell in row["cells"]]
        shown = [*cells[:at], *([f"({left:,} more)"] if left else []), *cells[at:]]
        rows.append((clean(row["path"]), " -> ".join(shown)))
    return [line for lines in table(rows, width) for line in lines]
