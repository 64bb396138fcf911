"""How arrays lie over devices, as it is shown, against the parts that the devices have; and asked inside of programs."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.many_devices.several import said_by


ARRAYS = ("rows", "columns", "both", "turned", "together", "vector", "whole", "three axes", "cube")


@pytest.fixture(scope="module")
def said() -> dict[str, Any]:
    found = said_by("layout_programs")
    assert set(found["arrays"]) == set(ARRAYS)
    return found


@pytest.mark.parametrize("name", ARRAYS)
def test_each_tile_names_the_devices_that_have_it(said: dict[str, Any], name: str) -> None:
    one = said["arrays"][name]
    document = one["document"]
    found = {
        device: [[int(n) for n in span.split(":")] for span in tile["index"]]
        for tile in document["tiles"]
        for device in tile["devices"]
    }
    assert found == one["parts"] and document["devices"] == 8
    sizes = {tuple(end - begin for begin, end in spans) for spans in one["parts"].values()}
    assert document["part"] == f"f32[{','.join(map(str, sizes.pop()))}]" and not sizes
    for form in (one["text"], one["html"]):
        assert document["part"] in form and (document["spec"] in form or "&#x27;" in form)


def test_which_axes_are_drawn(said: dict[str, Any]) -> None:
    arrays = {name: one["document"] for name, one in said["arrays"].items()}
    drawn = {name: (one["drawn"], one["rows"], one["columns"]) for name, one in arrays.items()}
    assert drawn["both"] == drawn["whole"] == (True, 0, 1) and drawn["vector"] == (True, None, 0)
    assert drawn["three axes"] == (True, 0, 2) and drawn["cube"] == (False, None, None)
    assert "More than two axes are cut" in said["arrays"]["cube"]["text"]
    assert "axis 1" in said["arrays"]["three axes"]["text"]
    assert arrays["whole"]["copies"] == 8 and "replicated" in said["arrays"]["whole"]["text"]
    assert arrays["columns"]["copies"] == 4


def test_the_drawing_has_the_devices_in_their_places(said: dict[str, Any]) -> None:
    lines = [re.findall(r"CPU [\d,]+", line) for line in said["arrays"]["both"]["text"].splitlines()]
    assert [line for line in lines if line] == [
        ["CPU 0", "CPU 1"],
        ["CPU 2", "CPU 3"],
        ["CPU 4", "CPU 5"],
        ["CPU 6", "CPU 7"],
    ]
    cells = re.findall(
        r'<td style="[^"]*solid var\(--h(\d)\)[^"]*"[^>]*>([^<]*)</td>', said["arrays"]["columns"]["html"]
    )
    assert cells == [("0", "CPU 0, 2, 4, 6"), ("1", "CPU 1, 3, 5, 7")]


def test_values_inside_of_programs_are_told_when_those_are_compiled(said: dict[str, Any]) -> None:
    """As JAX 0.10.2 tells them on a mesh of this shape."""
    inside = said["inside"]
    expected = [["hidden", "P('data', 'model')"], ["sum", "P('model',)"]]
    assert inside["first"] == inside["again"] == expected
    assert inside["others"] == [["carry", "P('data',)"], ["own", "P()"]]
    assert "from the callback" in inside["error"]


def test_every_view_of_a_program_over_several_devices_says_something(said: dict[str, Any]) -> None:
    views = dict(said["views"])
    assert "runs on several devices" in views.pop("profile") and views.pop("run")
    assert views == {name: name for name in views} and len(views) == 6


def test_values_of_a_program_over_several_devices_are_those_of_its_run(said: dict[str, Any]) -> None:
    """Loops and parts of a mesh, on arguments that lie as the program takes them and on others."""
    laid, given = said["values"]
    assert laid == given and laid[0] >= 8
    assert laid[1:3] == ["The results are those of the compiled program, bit by bit.", "log"]
    assert laid[3] == laid[4] and "jnp.log(row - 20)" in laid[3]
