"""Documents as one HTML page that stands alone: static blocks, with the view code once to bring them to life."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .envelope import renewed
from .escapes import escape
from .html import html
from .offline import without_network
from .palette import INK, PAPER
from .static_files import PAGE_VIEW, read, view_problem
from .words import Document


_UNLIMITED = 10**12
_MARK = "data-jitscope-view"
_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline' blob:; worker-src blob:; "
    "img-src data: blob:; font-src data:"
)


def page(blocks: Document | str | Sequence[Document | str], title: str = "jitscope") -> str:
    """A page with `blocks`, which are documents or (trusted) HTML; it asks the network for nothing."""
    parts = blocks if isinstance(blocks, Sequence) and not isinstance(blocks, str) else [blocks]
    body = "\n".join(_renewed(part) if isinstance(part, str) else html(part, limit=_UNLIMITED) for part in parts)
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        f"<title>{escape(title)}</title><style>{_style()}</style></head>\n"
        f"<body><main><h1>{escape(title)}</h1>\n{body}\n</main>{_view_code()}</body></html>\n"
    )


def enliven_notebook_html(exported: str) -> str:
    """A notebook that nbconvert exported as HTML, without what it would ask of the network, with live views."""
    still = without_network(_renewed(exported))
    if _MARK in still or "data-jitscope-document" not in still:
        return still
    head, end, tail = still.rpartition("</body>")
    return f"{head}{_view_code()}{end}{tail}" if end else still + _view_code()


def _renewed(saved: str) -> str:
    """HTML with the views of its documents made anew: an earlier version may have saved them with others, or without."""

    def anew(found: re.Match[str]) -> str:
        try:
            text = renewed(found[2])
        except Exception:  # of a later version, or cut: it stays as it was saved
            return found[0]
        return f"{found[1]}{text or found[2]}{found[3]}"

    return re.sub(r'(data-jitscope-document=")([^"]*)(")', anew, saved)


def _view_code() -> str:
    problem = view_problem()
    if problem:
        return f"<p>{escape(problem)}</p>"
    code = read(PAGE_VIEW).replace("</script", "<\\/script").replace("<!--", "<\\!--")
    return f"<script {_MARK}>{code}</script>"


def _style() -> str:
    light, dark = ({"fg": INK["fg"][at], "bg": PAPER["bg"][at]} for at in (0, 1))
    return (
        f":root{{color-scheme:light dark}}body{{margin:0;background:{light['bg']};color:{light['fg']};"
        "font:13px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,sans-serif}"
        "main{max-width:max(1280px,min(66vw,2560px));margin:0 auto;padding:12px 20px 40px}h1{font-size:16px;font-weight:600;margin:8px 6px;"
        "overflow-wrap:anywhere;display:-webkit-box;-webkit-box-orient:vertical;-webkit-line-clamp:2;overflow:hidden}"
        f"@media(prefers-color-scheme:dark){{body{{background:{dark['bg']};color:{dark['fg']}}}}}"
    )
