"""The machine code of a program as static HTML: its functions, each opens to its loops, its code and LLVM's IR."""

from __future__ import annotations

from collections.abc import Callable

from . import code, machine_words as told, words
from .budget import Part
from .guard import Pieces, part, said
from .plain import clean, clean_lines, escape
from .quantities import origin
from .sentences import say
from .words import Document, plural


_OPEN = 1
_MOST = 40


def machine(document: Document) -> Pieces:
    """The pane of a machine document."""
    target = ", ".join(clean(document[name]) for name in ("processor", "triple") if document[name])
    pieces: Pieces = [said(f"{clean(document['sentence'])}{f'; for {target}' if target else ''}.")]
    pieces += [said(clean(note)) for note in document["notes"]]
    pieces.append(f'<p class="dim">{escape(say("code linked"))} {escape(say("likely hot"))}</p>')
    functions = document["functions"]
    pieces += [_function(document, one, at < _OPEN) for at, one in enumerate(functions[:_MOST])]
    if len(functions) > _MOST:
        pieces.append(said(f"and {plural(len(functions) - _MOST, 'more function')}"))
    pieces += [_without(said, kernels) for said, kernels in told.without_code(document)]
    cost = document["cost"]
    return [
        *pieces,
        f'<p class="dim" title="{escape(origin(cost))}">{escape(words.cost(cost))}</p>',
    ]


def _function(document: Document, one: Document, opened: bool) -> Part:
    name = clean(one["name"])
    summary = f"<summary><b>{escape(name)}</b> {escape(told.facts(document, one))}</summary>"
    sentences = (told.work(one), told.calls(one), told.unread(one), clean(one["note"]), told.missing(one))
    about = "".join(said(sentence) for sentence in sentences if sentence)

    def form(hot: int, rest: int) -> Callable[[], str]:
        def made() -> str:
            ir, whole = _llvm(document, one, rest), _all(one, rest)
            shown = ir + whole if ir and _opens_llvm(document) else _hot(one, hot) + whole + ir
            return f'<details class="pass"{" open" if opened else ""}>{summary}<div class="in">{about}{shown}</div></details>'

        return made

    shorter = form(30, 0) if opened else form(0, 0)
    return part(
        f"the code of {name}", form(1000, 1000), form(200, 100), shorter, form(0, 0), worth=3.0 if opened else 0.5
    )


def _hot(one: Document, most: int) -> str:
    return "" if one["blocks"] is None else _listing(one, told.hot_blocks(one), most)


def _all(one: Document, most: int) -> str:
    if one["blocks"] is None or told.hot_loop(one) is None or not most:
        return ""
    listing = _listing(one, list(range(len(one["blocks"]))), most)
    return f"<details><summary>The whole function: {plural(one['mix']['total'], 'instruction')}</summary>{listing}</details>"


def _listing(one: Document, blocks: list[int], most: int) -> str:
    lines = list(told.code_of(one, blocks))
    shown = code.plain((escape(at), text, "") for at, text in lines[:most]) if most else ""
    return shown + (f'<p class="dim">and {plural(len(lines) - most, "more line")}</p>' if len(lines) > most else "")


def _llvm(document: Document, one: Document, most: int) -> str:
    module = told.place(document["modules"], one["module"])
    if module is None or not most:
        return ""
    opened = " open" if _opens_llvm(document) else ""
    return "".join(_text(when, module[when], most, opened) for when in ("after", "before") if module[when])


def _opens_llvm(document: Document) -> bool:
    return document.get("opens") == "llvm"


def _text(when: str, text: Document, most: int, opened: str) -> str:
    lines = clean_lines(text["text"])
    more = max(0, len(lines) - most) + text["left_out"]
    shown = code.plain((str(number), line, "") for number, line in enumerate(lines[:most], 1))
    rest = f'<p class="dim">and {plural(more, "more line")}</p>' if more else ""
    return f"<details{opened}><summary>LLVM's IR {when} its passes</summary>{shown}{rest}</details>"


def _without(said: str, kernels: list[str]) -> Part:
    def form(most: int) -> Callable[[], str]:
        names = ", ".join(map(escape, kernels[:most])) + (" …" if len(kernels) > most else "")
        return lambda: f'<details class="pass"><summary class="dim">{escape(said)}</summary><p>{names}</p></details>'

    return part("the kernels without code", form(300), form(10), worth=0.3)
