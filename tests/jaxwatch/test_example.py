"""The notebook of jax's programs runs, and its views are what its text says."""

from pathlib import Path

from tests import notebooks


NOTEBOOK = Path(__file__).resolve().parents[2] / "examples" / "real-jax.ipynb"


def test_the_notebook_runs_and_shows_what_it_says(tmp_path):
    notebook = notebooks.read(NOTEBOOK)
    notebooks.execute(notebook, tmp_path)
    shown = {
        name: notebooks.documents(cell)
        for cell in notebook.cells
        for name in ("train", "fit", "model", "padded_error")
        if cell.cell_type == "code" and cell.source.startswith("%%jit") and f"def {name}(" in cell.source
    }
    (train,) = shown["train"]
    assert [one["function"] for one in train["compilations"]] == ["train"]
    assert {"function": "train", "calls": 19, "at_least": True} in train["reused"]
    unknown = train["compilations"][0]["fusion"]["summary"]["unknown"]
    assert unknown["kernels"] == 0
    assert shown["fit"][0]["compilations"] and shown["model"][0]["compilations"]
    assert "small programs" in shown["model"][0]["note"]
    padded = shown["padded_error"][0]
    assert [one["function"] for one in padded["compilations"]] == ["padded_error"] and not padded["recompilations"][
        "cards"
    ]
    (error,) = [cell for cell in notebook.cells if "def error(" in cell.source]
    cards = [card for document in notebooks.documents(error) for card in document.get("cards", [])]
    assert [(card["function"], card["cause"]) for card in cards] == [("error", "shape")]
    (hunt,) = [cell for cell in notebook.cells if cell.source.startswith("%nans")]
    (found,) = notebooks.documents(hunt)
    assert found["kind"] == "nan-hunt" and found["sharp_bit"] == "where-grad-nan"
    assert [edit["text"] for fix in found["fixes"] for edit in fix["edits"]] == ["jnp.where(p > 0, p, 1.0)"]
