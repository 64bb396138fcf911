"""Programs compiled for chips that are not here: `chips` (what the chips are), `names` (what a target is called), `ready` (which plugin
compiles for it, and whether it is installed), `helper` (the process that loads the plugin, `jitscope.xla.plugin_worker`, from the side of who asks), `lowered` (the program that it
is given), `decisions`, `resources` and `dumped` (what XLA's compiler writes), `models` (the roofline of the data sheet), `document` (all of
it as plain data). Nothing here runs a program: what is told of it is XLA's model of a chip, or arithmetic on the chip's data sheet."""

from .asking import (
    chip_of as chip_of,
    compiled_for as compiled_for,
    target_document as target_document,
)
from .chips import CHIPS as CHIPS, Chip as Chip
from .names import Target as Target, target_of as target_of, targets_in as targets_in
from .ready import ListedChip as ListedChip, targets as targets
