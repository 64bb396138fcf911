"""The style sheet of the still pictures; without it their attributes give the light look."""

from __future__ import annotations

from .palette import HUES, style


CLASS = "jitscope-svg"

_RULES = {
    "": "font:13px var(--code);display:block;margin:0 auto;background:var(--bg);max-width:none",
    " .p": "fill:var(--bg)",
    " .b": "fill:var(--box);stroke:var(--edge)",
    " .h": "fill:var(--hull);stroke:var(--round)",
    " .r": "fill:var(--frame);stroke:var(--edge)",
    " .l": "fill:var(--library);stroke:var(--edge)",
    " .e": "stroke:var(--edge)",
    " .a": "fill:var(--edge)",
    " .w": "fill:var(--fg)",
    " .s": "fill:var(--dim);font-size:11px",
    " .n": "fill:var(--dim);font-size:11px",
    " .t.p": "fill:var(--dim);stroke:var(--bg)",
    " .t.h": "fill:var(--dim);stroke:var(--hull)",
    " .t.r": "fill:var(--dim);stroke:var(--frame)",
} | {f" .h{at}": f"stroke:var(--h{at})" for at in range(len(HUES))}


def svg_style() -> str:
    """The palette and the rules, for a picture that stands alone."""
    return style(f".{CLASS}") + svg_rules()


def svg_rules() -> str:
    """The rules without the palette, for a page that has it."""
    return "".join(f".{CLASS}{part}{{{rule}}}" for part, rule in _RULES.items())
