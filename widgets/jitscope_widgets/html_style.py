"""The style sheet of the static HTML: small, and for nothing outside these views."""

from __future__ import annotations

from .palette import HUES, style
from .svg_style import svg_rules


CLASS = "jitscope-static"
_SCOPE = f".jitscope .{CLASS}"

_RULES = (
    {
        "": "font:13px/1.5 var(--ui);color:var(--fg);background:var(--bg);padding:4px 0;font-variant-numeric:tabular-nums;overflow-wrap:break-word",
        " summary": "cursor:pointer;padding:3px 6px;border-radius:4px",
        " summary:hover": "background:var(--soft)",
        " summary:focus-visible": "outline:2px solid var(--bar)",
        " .pane": "margin-left:14px;border-top:1px solid var(--rule)",
        " .pane>summary": "font-weight:600",
        " .in": "padding:4px 6px 12px 20px;overflow-x:auto",
        " .dim": "color:var(--dim);font-weight:400",
        " .bad": "color:var(--bad)",
        " p": "margin:4px 0;padding:0 6px",
        " .sign": "padding-left:20px",
        " code, pre, pre *": "font:12px/1.5 var(--code)",
        " code, pre": "color:var(--fg);background:none;padding:0;margin:0",
        " pre": "white-space:pre-wrap;overflow-wrap:anywhere;word-break:normal;border:0",
        " pre span": "display:block;padding-left:52px;text-indent:-52px;border-left:4px solid transparent",
        " pre i": "display:inline-block;width:40px;margin-right:5px;text-indent:0;text-align:right;color:var(--dim);user-select:none",
        " pre b": "font-weight:600;color:var(--call)",
        " pre em": "color:var(--type)",
        " pre small": "color:var(--dim)",
        " .two": "display:flex;flex-wrap:wrap;gap:12px;align-items:flex-start",
        " .two>.calls": "flex:1 1 300px;min-width:0",
        " .two>.view": "flex:2 1 620px",
        " .source": "overflow:auto;max-height:600px;background:var(--soft);padding:6px 8px 6px 0",
        " .view": "overflow:auto;max-height:600px;border:1px solid var(--rule);min-width:0",
        " svg": "max-width:none",  # notebooks' pages squeeze pictures to the width of the page, letters and all
        " mark": "background:var(--bg);color:inherit;font-weight:600",
        " table": "border-collapse:collapse;border:0;margin:6px;font:inherit;color:inherit;table-layout:auto",
        " tr, tbody tr:nth-child(n), tbody tr:hover": "background:none",
        " th, td": "text-align:left;vertical-align:top;padding:2px 14px 2px 0;border:0;white-space:normal;max-width:none;font-weight:400",
        " th": "color:var(--dim)",
        " .diff": "width:100%;table-layout:fixed;margin:6px 0",
        " .diff td": "padding:1px 0",
        " .diff td+td": "border-left:1px solid var(--rule)",
        " .diff details summary": "color:var(--dim);padding-left:56px",
        " .diff p": "padding:0 6px 0 56px",
        " .diff tr+tr .was, .diff tr+tr .is": "border-top:1px solid var(--rule)",
        " .was": "background:var(--before)",
        " .is": "background:var(--after)",
        " .card": "border-left:3px solid var(--rule);padding:2px 0 2px 10px;margin:8px 0",
        " .fix": "padding:0 6px;margin:2px 0 6px",
        " .fix p": "padding:0",
        " .fix pre": "border:1px solid var(--rule);border-radius:5px;margin:4px 0",
        " .card.bad": "color:inherit;border-color:var(--bad)",
        " pre ins": "text-decoration:underline wavy var(--call);text-underline-offset:3px",
        " .bad pre ins": "text-decoration-color:var(--bad)",
        " .bar": "display:inline-block;height:10px;background:var(--bar);vertical-align:middle;min-width:1px",
        " .bars": "display:block;white-space:nowrap",
        " td.wide": "width:220px",
        " .nw": "white-space:nowrap",
    }
    | {f" pre .h{at}": f"border-left-color:var(--h{at})" for at in range(len(HUES))}
    | {" pre .broken": "border-left-style:dotted", " pre .off": "color:var(--dim);font-style:italic"}
)

_NARROW = {
    " .pane": "margin-left:0",
    " .in": "padding-left:6px",
    " .diff, .diff tbody, .diff tr, .diff td": "display:block",
    " .diff td+td": "border-left:0",
    " td.wide": "width:90px",
    " td:first-child code": "display:inline-block;width:84px",
}


def html_style() -> str:
    """Everything for one <style> element."""
    narrow = _css(_NARROW)
    still = f"@media(max-width:640px){{{narrow}}}"
    return style(_SCOPE) + svg_rules() + _css(_RULES) + still


def _css(rules: dict[str, str]) -> str:
    return "".join(f"{_selectors(part)}{{{rule}}}" for part, rule in rules.items())


def _selectors(part: str) -> str:
    return ",".join(f"{_SCOPE} {one.strip()}".rstrip() for one in part.split(","))
