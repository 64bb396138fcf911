"""The options as flags of absl's, `--jax_enable_x64`, for programs that read their command line with it. absl is imported only here."""

from __future__ import annotations

import itertools
import sys
from importlib import import_module

from . import jax_options
from .annotations import Config
from .options import OPTIONS, read_text


def define(config: Config, aliases: dict[str, str]) -> None:
    """Define a flag for each option, JAX's own ones, too; when absl's app begins, those that were given are set."""
    app, flags = import_module("absl.app"), import_module("absl.flags")
    for name in sorted({*OPTIONS, *aliases, *jax_options.names()}):
        if (flag := f"jax_{name}") not in flags.FLAGS:
            option = OPTIONS.get(aliases.get(name, name))
            default = option.default if option else jax_options.default(name)
            meaning = option.meaning if option else f"an option of JAX's{jax_options.why(name)}"
            kinds = {bool: flags.DEFINE_bool, int: flags.DEFINE_integer, float: flags.DEFINE_float}
            kinds.get(type(default), flags.DEFINE_string)(flag, default, meaning)
    app.call_after_init(lambda: take(config, aliases))


def take(config: Config, aliases: dict[str, str]) -> None:
    """Set the options whose flags stood on the command line. Raises ValueError for what one may not be."""
    flags = import_module("absl.flags")
    for name in flags.FLAGS:
        flag, own = flags.FLAGS[name], name.removeprefix("jax_")
        if name != own and flag.present:
            option, value = OPTIONS.get(aliases.get(own) or own), flag.value
            config.update(name, read_text(option, value) if option and isinstance(value, str) else value)


def parse(config: Config, aliases: dict[str, str]) -> None:
    """Read JAX's flags among the words of the command line up to `--`, and leave the others alone."""
    flags = import_module("absl.flags")
    define(config, aliases)
    words = itertools.takewhile(lambda word: word != "--", sys.argv)
    flags.FLAGS(["", *(word for word in words if word.startswith(("--jax", "--nojax")))], known_only=True)
    take(config, aliases)
