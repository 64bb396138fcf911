"""Programs on a GPU of this machine: what its recordings and its HLO tell. Names, kernels and texts are of runs on an H200 with jaxlib 0.11.2."""

from __future__ import annotations

import numpy as np
import pytest

from jitscope.xla.hlo_module import parse
from jitscope.xla.profiler import Event, Run
from jitscope_scope.observe.accelerators import tensor_float_products
from jitscope_scope.observe.profiling.spans import recording_of


HLO = """HloModule m

body {{
  s = (s32[], f32[8]{{0}}) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  v = f32[8]{{0}} get-tuple-element(s), index=1
  gemm.2 = f32[8]{{0}} custom-call(v), custom_call_target="cusolver_gesvdj_ffi"
  ROOT next = (s32[], f32[8]{{0}}) tuple(i, gemm.2)
}}

condition {{
  s = (s32[], f32[8]{{0}}) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  ROOT less = pred[] compare(i, i), direction=LT
}}

ENTRY main {{
  a = f32[64,64]{{1,0}} parameter(0)
  b = f32[64,64]{{1,0}} parameter(1)
  h = bf16[64,64]{{1,0}} parameter(2)
  s = (s32[], f32[8]{{0}}) parameter(3)
  loop_add_fusion.1 = f32[64,64]{{1,0}} add(a, b)
  gemm.1 = (f32[64,64]{{1,0}}, s8[33554432]{{0}}) custom-call(a, b), custom_call_target="__cublas$lt$matmul"{first}
  loop.3 = (s32[], f32[8]{{0}}) while(s), condition=condition, body=body
  ROOT dot.3 = {third}
}}
"""
NARROW = "bf16[64,64]{1,0} dot(h, h), lhs_contracting_dims={1}, rhs_contracting_dims={0}"
WIDE = "f32[64,64]{1,0} dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}"
PLAIN = ', backend_config={"gemm_backend_config":{"selected_algorithm":"0","precision_config":{"operand_precision":["DEFAULT","DEFAULT"],"algorithm":"ALG_UNSET"}}}'


@pytest.mark.parametrize(
    ("first", "third", "count"),
    [
        (PLAIN, NARROW, 1),
        (PLAIN, WIDE, 2),
        (PLAIN, f"{WIDE}, operand_precision={{highest,highest}}", 1),
        (PLAIN.replace('"DEFAULT","DEFAULT"', '"HIGHEST","HIGHEST"'), NARROW, 0),
        (PLAIN.replace("ALG_UNSET", "ALG_DOT_F32_F32_F32"), f"{WIDE}, algorithm=dot_f32_f32_f32", 0),
        (
            ', backend_config={"cudnn_conv_backend_config":{"algorithm":{"algo_id":"51","math_type":"DEFAULT_MATH"}}}',
            NARROW,
            1,
        ),
    ],
    ids=["library", "both", "one asks for more", "library asks for more", "by algorithm", "a library's own algorithm"],
)
def test_products_in_tf32_are_those_of_f32_that_ask_for_no_more(first: str, third: str, count: int) -> None:
    assert tensor_float_products(parse(HLO.format(first=first, third=third))) == count


def _run(*events: tuple[str, str, float]) -> Run:
    found = [
        Event("m", name, float(at), seconds, "Stream #14(Compute)", kernel)
        for at, (name, kernel, seconds) in enumerate(events)
    ]
    return Run(0.0, 100.0, tuple(found))


def test_kernels_of_one_run_of_an_instruction_are_one_run() -> None:
    """A library's product clears memory first; in a loop the next run begins with the kernel that the last one began with."""
    parsed = parse(HLO.format(first="", third=NARROW))
    clear, product = ("Memset 3", 0.25), ("sm90_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize128x256x32", 0.5)
    looped = [("gemm.2", *clear), ("gemm.2", *product)] * 3
    run = _run(("gemm.1", *clear), ("gemm.1", *product), ("gemm.1", *product), *looped)
    found = {span.name: span for span in recording_of([run, run], parsed).spans}
    assert found["gemm.1"].seconds.tolist() == [1.25, 1.25]
    assert found["gemm.2"].seconds.tolist() == [0.75] * 6 and found["gemm.2"].runs == 3
    assert found["gemm.1"].total == 1.25


def test_kernels_of_a_graph_are_those_they_are_named_after_and_of_others_the_time_is_told() -> None:
    parsed = parse(HLO.format(first="", third=NARROW))
    run = _run(("command_buffer_1", "loop_add_fusion_1", 0.5), ("command_buffer_1", "nvjet_sm90_tst_128x128", 0.25))
    found = recording_of([run], parsed)
    assert [(span.name, span.total) for span in found.spans] == [("loop_add_fusion.1", 0.5)]
    assert found.foreign == 0.25 and found.busy.tolist() == [0.5]


def test_on_a_cpu_each_event_is_a_run() -> None:
    parsed = parse(HLO.format(first="", third=NARROW))
    events = tuple(Event("m", "dot.3", float(at), 0.5, "tf_XLAEigen/7") for at in range(2))
    (span,) = recording_of([Run(0.0, 10.0, events)], parsed).spans
    np.testing.assert_array_equal(span.seconds, [0.5, 0.5])
