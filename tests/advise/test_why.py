"""Each sharp bit is explained, in the cards and in the documentation."""

from pathlib import Path

from jitscope.advise import CATALOGUE, WHY


def test_each_id_is_explained_in_cards_and_documentation():
    assert list(WHY) == list(CATALOGUE)
    documentation = (Path(__file__).parents[2] / "docs" / "sharp-bits.md").read_text(encoding="utf-8")
    for id, bit in CATALOGUE.items():
        section = documentation.partition(f"\n### {id}\n\n")[2].partition("\n")[0]
        assert section == f"{bit.title[0].upper()}{bit.title[1:]}. {WHY[id]}"
