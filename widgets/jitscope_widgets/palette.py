"""The colours of the static views, light and dark, and how they follow the host's theme.

They are those of the live view, so that nothing jumps when a static block comes to life. The hue of a stripe is a source
line (Okabe and Ito's order), red is for errors only; what a colour says, a number, a sign or a label beside it says too.
"""

from __future__ import annotations

from collections.abc import Sequence


INK = {  # what text is written in: light, dark
    "fg": ("#1f2328", "#e6e9ec"),
    "dim": ("#59636e", "#a7b0ba"),
    "type": ("#116329", "#7ee787"),
    "call": ("#8a3c00", "#ffb27a"),
    "bad": ("#b3261e", "#ff9a92"),
}

PAPER = {  # what it is written on
    "bg": ("#ffffff", "#111418"),
    "box": ("#f6f8fa", "#1f242a"),
    "frame": ("#f6f8fb", "#181c21"),
    "hull": ("#fff7e8", "#2a2212"),
    "library": ("#ecebfa", "#24233a"),
    "soft": ("#f5f7f9", "#1a1e23"),
    "before": ("#f6eee0", "#2c2517"),
    "after": ("#e3effb", "#13283d"),
}

LINES = {  # borders, edges, bars
    "rule": ("#e1e4e8", "#343a41"),
    "edge": ("#8c959f", "#747d87"),
    "round": ("#b9821f", "#c4922f"),
    "bar": ("#0a5bb0", "#76b7ff"),
}

HUES = (  # of source lines; later lines take the same hues with a broken stripe
    ("#e69f00", "#e69f00"),
    ("#56b4e9", "#56b4e9"),
    ("#009e73", "#009e73"),
    ("#e6d62e", "#e6d62e"),
    ("#0072b2", "#3d9ad6"),
    ("#d55e00", "#d55e00"),
    ("#cc79a7", "#cc79a7"),
)

_HOST = {"fg": "--jp-content-font-color1", "bg": "--jp-layout-color0", "rule": "--jp-border-color2"}

_LIGHT_HOSTS = ("[data-jp-theme-light=true]", ".vscode-light")
_DARK_HOSTS = ("[data-jp-theme-light=false]", ".vscode-dark", ".vscode-high-contrast")


def style(scope: str) -> str:
    """CSS that gives what `scope` selects the palette: as the host's theme is, else as the reader prefers."""
    light, dark = _block(0), _block(1)
    return (
        f"{scope}{{{light}{_fonts()}}}"
        f"@media(prefers-color-scheme:dark){{{scope}{{{dark}}}}}"
        f"{_selector(_LIGHT_HOSTS, scope)}{{{light}{_from_host(0)}}}"
        f"{_selector(_DARK_HOSTS, scope)}{{{dark}{_from_host(1)}}}"
    )


def hue_of(order: int) -> tuple[int, bool]:
    """Which hue the n-th source line has, and whether its stripe is broken."""
    return order % len(HUES), bool(order // len(HUES) % 2)


def light(name: str) -> str:
    """The light form of a colour, for attributes that stand when styles are stripped."""
    return {**INK, **PAPER, **LINES}[name][0]


def _block(which: int) -> str:
    named = {**INK, **PAPER, **LINES}
    hues = "".join(f"--h{at}:{pair[which]};" for at, pair in enumerate(HUES))
    return "".join(f"--{name}:{pair[which]};" for name, pair in named.items()) + hues


def _from_host(which: int) -> str:
    named = {**INK, **PAPER, **LINES}
    return "".join(f"--{name}:var({host},{named[name][which]});" for name, host in _HOST.items())


def _fonts() -> str:
    return (
        "--code:var(--jp-code-font-family,ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace);"
        "--ui:var(--jp-ui-font-family,system-ui,-apple-system,'Segoe UI',Roboto,sans-serif);"
    )


def _selector(hosts: Sequence[str], scope: str) -> str:
    return ",".join(f"{host} {scope}" for host in hosts)
