"""Operations that compute nothing: a name, a barrier."""

from jitscope.ops import marks

from .registry import EVERYTHING, SHAPES, Sample, samples


@samples(marks.name_p, EVERYTHING)
def _(draw, dtype):
    for label, shape in SHAPES.items():
        yield Sample(label, [draw(shape)], lambda x: x, {"name": "here"}, linear=[[0]])


@samples(marks.dce_sink_p, EVERYTHING)
def _(draw, dtype):
    for label, shape in SHAPES.items():
        yield Sample(
            label,
            [draw(shape)],
            lambda x: [],
            {"prevent_mlir_dce": False},
            result=[],
            rules=["abstract", "lower", "batch"],
        )


@samples(marks.optimization_barrier_p, EVERYTHING)
def _(draw, dtype):
    for label, shape in SHAPES.items():
        yield Sample(label, [draw(shape), draw((2,))], lambda x, y: [x, y], linear=[[0, 1]])
