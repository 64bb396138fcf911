"""What devices exchange, against the text of the programs and the bytes that must be exchanged at least."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from jitscope.xla.hlo_module import parse
from jitscope_scope.observe.communication import axes_of, groups_of
from tests.many_devices.several import said_by


@pytest.fixture(scope="module")
def said() -> dict[str, Any]:
    return said_by("communication_programs")


def collectives(said: dict[str, Any], name: str) -> list[dict[str, Any]]:
    return said[name]["document"]["collectives"]


@pytest.mark.parametrize("name", ["data", "gradients", "model", "gathered", "parts", "alone"])
def test_the_collectives_are_those_of_the_text(said: dict[str, Any], name: str) -> None:
    assert Counter(one["what"] for one in collectives(said, name)) == said[name]["text"]


def test_a_step_over_batches_sums_the_gradients(said: dict[str, Any]) -> None:
    """The optimum: each gradient is summed over the devices that have other rows, once."""
    (total,) = said["data"]["document"]["totals"]
    assert total["what"] == "all-reduce" and total["gives"] == 2 * 32 * 64 * 4
    for one in collectives(said, "data"):
        assert one["axes"] == ["data"] and one["runs"] == 1
        lines = [said["data"]["document"]["positions"][path]["text"] for path in one["paths"]]
        assert lines and all("x @ up" in line or "hidden @ down" in line for line in lines)


def test_a_sum_of_results_stems_from_what_it_sums(said: dict[str, Any]) -> None:
    """XLA sums all in one, which gives the program's results: no instruction bears a name of it."""
    (one,) = collectives(said, "gradients")
    lines = [said["gradients"]["document"]["positions"][path]["text"].strip() for path in one["paths"]]
    assert len(one["types"]) == 2
    assert sorted(lines) == ["hidden = jnp.tanh(x @ up)", "return ((hidden @ down) ** 2).sum()"]


def test_a_layer_over_columns_sums_its_result(said: dict[str, Any]) -> None:
    """The optimum: the first product needs nothing, the second one sum of the result."""
    (one,) = collectives(said, "model")
    assert (one["what"], one["gives"], one["axes"], one["types"]) == (
        "all-reduce",
        16 * 32 * 4,
        ["model"],
        ["f32[16,32]"],
    )
    assert (
        said["model"]["document"]["positions"][one["paths"][0]]["text"]
        .strip()
        .startswith("return jnp.tanh(x @ up) @ down")
    )


def test_what_is_asked_whole_is_gathered(said: dict[str, Any]) -> None:
    (one,) = collectives(said, "gathered")
    assert (one["what"], one["gives"], one["gets"], one["axes"]) == ("all-gather", 8 * 64 * 4, 32 * 64 * 4, ["data"])
    argument, result = said["gathered"]["document"]["values"]
    assert (argument["asked"], argument["part"], argument["bytes"]) == ("P('data')", "f32[8,64]", 8 * 64 * 4)
    assert (result["asked"], result["lies"], result["differs"], result["part"]) == ("P()", "P()", False, "f32[32,64]")


def test_collectives_that_were_written(said: dict[str, Any]) -> None:
    found = {(one["what"], one["axes"][0]): one for one in collectives(said, "parts")}
    size = 4 * 16 * 4
    turned, looped = found["collective-permute", "data"], found["all-reduce", "model"]
    assert (turned["gives"], turned["runs"], [0, 2] in turned["groups"]) == (size, 1, True)
    assert (looped["gives"], looped["runs"]) == (size, 5)
    assert found["reduce-scatter", "model"]["gets"] * 2 == found["reduce-scatter", "model"]["gives"] == size
    assert found["all-reduce", "data"]["runs"] is None
    assert {one["count"] for one in said["parts"]["document"]["totals"] if one["runs"] is None} == {2}


def test_where_nothing_is_exchanged(said: dict[str, Any]) -> None:
    found = said["alone"]["document"]
    assert (found["collectives"], found["totals"], found["devices"]) == ([], [], 8)
    (result,) = [value for value in found["values"] if value["role"] == "result"]
    assert (result["asked"], result["lies"], result["part"]) == (None, "P('data')", "f32[4,32]")
    assert said["one"]["document"] is None


def test_the_graph_says_what_is_exchanged_for_an_equation_and_how_ends_lie(said: dict[str, Any]) -> None:
    graph = said["model"]["graph"]
    assert (
        graph["dot_general ⇄ all-reduce"]["devices exchange"]
        == "all-reduce of 2,048 bytes from each device along model"
    )
    assert "devices exchange" not in graph["tanh"]
    types = said["model"]["types"]
    assert (types["tanh"], types["up"]) == (["f32[16,64@model]"], ["f32[32,64@model]"])
    assert types["dot_general ⇄ all-reduce"] == ["f32[16,32] ⇄ 2,048 B"]
    assert graph["up"]["sharding"] == "P(None, 'model'), f32[32,32] on each device"
    assert [p["sharding"] for name, p in graph.items() if name.startswith("result")] == [
        "P(), f32[16,32] on each device"
    ]


def test_arguments_and_results_of_trees_say_how_they_lie(said: dict[str, Any]) -> None:
    graph, types = said["tree"]["graph"], said["tree"]["types"]
    assert {name: graph[name]["sharding"] for name in ("params['up']", "params['down']", "x")} == {
        "params['up']": "P(None, 'model'), f32[32,32] on each device",
        "params['down']": "P('model'), f32[32,32] on each device",
        "x": "P('data'), f32[4,32] on each device",
    }
    assert [
        graph[name]["sharding"].partition(", f32")[0] for name in ("result[0]", "result[1]['up']", "result[1]['down']")
    ] == [
        "P()",
        "P(None, 'model')",
        "P('model')",
    ]
    assert types["x"] == ["f32[16@data,32]"] * len(types["x"])


def test_sums_of_gradients_are_of_the_backward_pass(said: dict[str, Any]) -> None:
    document = said["tree"]["document"]
    of = {one["axes"][0]: [path in document["backward"] for path in one["paths"]] for one in document["collectives"]}
    assert of == {
        "data": [False, True, True],
        "model": [False],
    }  # the loss and both gradients in one; what the second product gives
    assert said["model"]["document"]["backward"] == []


def test_the_graph_says_how_inner_values_lie_as_the_compiler_does(said: dict[str, Any]) -> None:
    told = said["told"]
    assert set(told) == {"dot_general", "tanh", "transpose", "sin", "exp", "reduce_max"}
    for name, (spec, shown) in told.items():
        assert shown.startswith(f"{spec.replace(',)', ')')}, f32["), (name, spec, shown)
    assert told["dot_general"] == ["P('data', 'model')", "P('data', 'model'), f32[4,32] on each device"]


def test_times_of_collectives_are_of_each_of_their_runs(said: dict[str, Any]) -> None:
    (one,) = said["model"]["measured"]["collectives"]
    assert 0 < one["seconds"]["least"] <= one["seconds"]["high"] < 10
    assert one["seconds"]["low"] <= one["seconds"]["median"] <= one["seconds"]["high"]
    assert said["model"]["measured"]["measured"]["on"] == "the arguments of the call"
    for one in said["parts"]["measured"]["collectives"]:
        assert (one["seconds"] is None) == (one["runs"] is None), one
    assert "measured" not in said["model"]["document"]


def instruction(attributes: str) -> Any:
    lines = [
        "HloModule m",
        "",
        "ENTRY e {",
        "  p = f32[] parameter(0)",
        f"  ROOT r = f32[] all-reduce(p), {attributes}",
        "}",
    ]
    return parse("\n".join(lines))[0].instructions[-1]


def test_groups_in_all_their_forms() -> None:
    pairs = [[0, 2, 4, 6], [1, 3, 5, 7]]
    for text in (
        "replica_groups={{0,2,4,6},{1,3,5,7}}, to_apply=s",
        "replica_groups=[2,4]<=[4,2]T(1,0), to_apply=s",
        "replica_groups=mesh['a'=4,'b'=1,'c'=2] {'a'}, to_apply=s",
        "replica_groups=mesh['a'=4,'b'=2], device_ids=([8]) {'a'}, to_apply=s",
        "replica_groups=mesh['a'=2,'b'=4], device_ids=([4,2]T(1,0)) {'b'}, to_apply=s",
    ):
        assert groups_of(instruction(text), 8) == pairs, text
    assert groups_of(instruction("replica_groups=[4,2]<=[8], to_apply=s"), 8) == np.arange(8).reshape(4, 2).tolist()
    assert groups_of(instruction("replica_groups={}, to_apply=s"), 4) == [[0, 1, 2, 3]]
    for unknown in ("mesh['a'=8] {'a':(1)2}", "mesh['a'=4] {'a'}", "mesh['a'=8], device_ids=(0,1) {'a'}"):
        assert groups_of(instruction(f"replica_groups={unknown}, to_apply=s"), 8) is None


def test_axes_that_groups_are_along() -> None:
    class Mesh:
        axis_names, axis_sizes = ("x", "y"), (4, 2)

    assert axes_of([[0, 2, 4, 6], [1, 3, 5, 7]], Mesh, False) == ["x"]
    assert axes_of([list(range(8))], Mesh, False) == ["x", "y"]
    assert axes_of([[0, 2], [4, 6], [1, 3], [5, 7]], Mesh, False) is None
    assert axes_of([[0, 1], [1, 0]], Mesh, True) == ["y"]
    assert axes_of([[0, 9]], Mesh, False) is None
