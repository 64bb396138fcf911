"""The colours of the static views, light and dark, and how they follow the host's theme.

Each colour means one thing: the hue of a stripe is a source line (Okabe and Ito's order), red is for errors, the rest is
grey. What a colour says, a number, a sign or a label beside it says as well.
"""

from __future__ import annotations

from collections.abc import Sequence


INK = {  # what text is written in: light, dark
    "fg": ("#1f2328", "#e6e9ed"),
    "dim": ("#57606a", "#a3adb8"),
    "type": ("#0b5394", "#9cc7f0"),
    "bad": ("#a4161a", "#ff9a90"),
}

PAPER = {  # what it is written on
    "bg": ("#ffffff", "#15181c"),
    "box": ("#ffffff", "#20252b"),
    "hull": ("#f1f4f8", "#1a1f25"),
    "soft": ("#f6f8fa", "#1b2026"),
    "less": ("#eef0f2", "#23282e"),
    "more": ("#e6f4ea", "#14301f"),
    "fuse": ("#e8f0fb", "#16273c"),
    "turn": ("#fff5d9", "#33290f"),
}

LINES = {  # borders, edges, bars
    "rule": ("#d0d7de", "#3a424b"),
    "edge": ("#818b98", "#7c8793"),
    "bar": ("#6e7f96", "#8ea2bd"),
}

HUES = (  # of source lines; later lines take the same hues with a broken stripe
    ("#e69f00", "#e69f00"),
    ("#56b4e9", "#56b4e9"),
    ("#009e73", "#00b886"),
    ("#d8c800", "#f0e442"),
    ("#0072b2", "#3f9fdc"),
    ("#d55e00", "#e8752a"),
    ("#cc79a7", "#d98cb5"),
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
