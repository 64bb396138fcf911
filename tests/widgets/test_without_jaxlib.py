"""What knows documents alone needs no compiler: a saved document is read and shown where jaxlib is not installed."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from jitscope_widgets.envelope import pack
from tests.widgets import documents


_PROGRAM = """
import json, sys


class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("jaxlib", "jax", "jitscope", "jitscope_scope"):
            raise ModuleNotFoundError(f"{name} is not installed here", name=name)


sys.meta_path.insert(0, Missing())
import jitscope_widgets
from jitscope_widgets.envelope import unpack

document = unpack(sys.stdin.read())
shown = [jitscope_widgets.text(document), jitscope_widgets.html(document), jitscope_widgets.page(document, "saved")]
print(json.dumps([document["kind"], *map(len, shown)]))
"""


@pytest.mark.parametrize("document", documents.every_kind(), ids=lambda document: document["kind"])
def test_a_saved_document_is_shown_without_a_compiler(document: dict[str, object]) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", _PROGRAM], input=pack(document).text, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    kind, text, html, page = json.loads(ran.stdout)
    assert kind == document["kind"] and text > 20 and html > 500 and page > html
