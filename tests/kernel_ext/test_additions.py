"""An instrument of one's own in three files: its text, its still HTML, its document checked, its tab in the live page."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from jitscope_kernel import add_instruments


ROOT = Path(__file__).parents[2]
FOLDER = Path(__file__).with_name("an_instrument")
# In a process of its own: what is added stays.
PROGRAM = """
import json, re, sys
import numpy as np
import jitscope as jx, jitscope.numpy as jnp
from jitscope_kernel import add_instruments
from jitscope_scope import observe
from jitscope_widgets import html, text, validate
from jitscope_widgets.envelope import pack, unpack
from jitscope_widgets.widget import View

seen = jx.inspect(lambda x: jnp.sin(jnp.sin(x)) + 1)(np.ones(3, "f"))
try:
    seen.look("primitives")
except ValueError as error:
    assert "there is no instrument 'primitives'" in str(error)
add_instruments(sys.argv[1])
add_instruments(sys.argv[1])  # once more changes nothing
assert observe.instrument_names().count("primitives") == 1
document = seen.look("primitives").document
assert {use["primitive"]: use["paths"] for use in document["uses"]} == {"sin": ["e0", "e1"], "add": ["e2"]}
for one in (document, seen.document):
    validate(one)
    assert unpack(pack(one).text) == one
said = text(document)
assert said.startswith("Primitives of <lambda>: 2 primitives in use.") and re.search(r"sin +2", said), said
assert "Primitives of <lambda>" in text(seen.document) and "2 primitives in use." in text(seen.document)
page = html(seen.document)
assert "<summary>Primitives</summary>" in page and "2 primitives in use." in page and "<code>sin</code>" in page
sent = []
view = View(seen.document, seen._made_answers())
view.send = lambda content, buffers=None: sent.append(content)
view._receive(None, {"type": "offers?"})
offer = next(one for one in sent[-1]["data"] if one["name"] == "primitives")
assert offer == {"name": "primitives", "title": "Primitives", "button": "Count primitives",
                 "shows": "How often each primitive is used.", "costs": "Nothing is compiled or run."}
print("fine")
"""


def test_an_instrument_in_three_files_is_seen_as_text_and_html() -> None:
    command = [sys.executable, "-W", "error", "-c", PROGRAM, str(FOLDER)]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert ran.stdout == "fine\n", ran.stderr


def test_a_folder_that_has_no_instruments_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="documents is not there"):
        add_instruments(tmp_path)
