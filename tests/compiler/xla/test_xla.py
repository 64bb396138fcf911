"""One test per assumption about jaxlib, so that a new version tells which of them broke."""

import os
import signal

import ml_dtypes
import numpy as np
import pytest

from jitscope.xla import client, dlpack, dtypes, forks, hlo_module, lapack, mlir, pytrees, tracebacks, versions
from jitscope.xla.errors import DeletedBufferError, XlaError
from jitscope.xla.program import Executable, compile_options
from tests.compiler.programs import in_new_process


F32 = np.dtype("float32")
BF16 = np.dtype(ml_dtypes.bfloat16)
DOUBLE = "module @m { func.func public @main(%x: T) -> T { %0 = stablehlo.add %x, %x : T return %0 : T } }"
DONATE = DOUBLE.replace("%x: T)", "%x: T {tf.aliasing_output = 0 : i32})")
CALLBACK = """module @m { func.func public @main(%x: T) -> T {
  %0 = stablehlo.custom_call @xla_ffi_python_cpu_callback(%x)
    {api_version = 4 : i32, has_side_effect = true, backend_config = {index = 0 : ui64}} : (T) -> T
  return %0 : T } }"""


def compiled(source=DOUBLE, tensor="tensor<4xf32>", shape=(4,), dtype=F32, **kwargs) -> Executable:
    return Executable.compile(source.replace("T", tensor), [(shape, dtype)], **kwargs)


def sample(dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
    values = np.arange(int(np.prod(shape))) % 2
    if dtype.name == "float8_e8m0fnu":
        values = values + 1  # has no zero
    return values.reshape(shape).astype(dtype)


def bits(x: np.ndarray) -> bytes:
    return x.astype(np.float32).tobytes() if x.dtype in dtypes.PACKED else x.tobytes()


def test_installed_jaxlib_has_all_we_use():
    assert versions.missing() == []
    assert versions.is_verified(), f"jaxlib {versions.JAXLIB} is installed: docs/versions.md says which were verified"


def test_client_imports_no_mlir_and_no_scipy():
    code = "import sys, jitscope.xla.client, jitscope.xla.program; print([m for m in sys.modules if 'mlir' in m or m == 'scipy'])"
    assert "jaxlib.mlir" not in in_new_process(code)


def test_nothing_looks_for_jax():
    out = in_new_process(
        """
        import sys
        class Watch:
            def find_spec(self, name, path=None, target=None):
                if name.split(".")[0] == "jax":
                    print("looked for", name)
        sys.meta_path.insert(0, Watch())
        import numpy as np, ml_dtypes
        from jitscope.xla import client, dlpack, hlo_module, lapack, mlir, program, pytrees, tracebacks, versions
        source = '''module @m { func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
            %0 = stablehlo.add %x, %x : tensor<4xf32> return %0 : tensor<4xf32> } }'''
        exe = program.Executable.compile(mlir.parse(source), [((4,), "float32")])
        exe = program.Executable.deserialize(exe.serialize(), exe.outputs)
        for dtype in ("float32", "complex128", "bool", ml_dtypes.bfloat16, ml_dtypes.float8_e5m2, ml_dtypes.int4):
            buf = client.put(np.ones(4, dtype))
            client.to_numpy(client.copy_to_device(buf, client.default_device()))
            client.nbytes(buf), client.is_ready(buf), client.live_buffers()
            if dtype is not ml_dtypes.int4:
                client.pointer(buf)
                class Producer:
                    def __dlpack__(self, **kwargs): return client.to_dlpack(buf)
                    def __dlpack_device__(self): return (1, 0)
                client.from_dlpack(Producer())
        out = exe.run([client.put(np.ones(4, "float32"))])
        client.block_until_ready(out), client.to_numpy(out[0]), exe.cost_analysis(), exe.memory_stats()
        hlo_module.computations(hlo_module.optimized(exe))
        hlo_module.cost_analysis(hlo_module.unoptimized(mlir.parse(source)))
        lapack.register(), tracebacks.frames(tracebacks.capture()), pytrees.new_registry().flatten([1])
        out[0].delete()
        try: client.to_numpy(out[0])
        except client.DeletedBufferError: pass
        print("done", "jax" in sys.modules)
        """
    )
    assert out == "done False"


# Buffers


@pytest.mark.parametrize("dtype", sorted(dtypes.SUPPORTED, key=str), ids=str)
@pytest.mark.parametrize("shape", [(), (5,), (2, 3), (0, 3)], ids=str)
def test_put_and_read_back(dtype, shape):
    x = sample(dtype, shape)
    y = client.to_numpy(client.put(x))
    assert (y.dtype, y.shape, y.flags.writeable) == (x.dtype, x.shape, False)
    assert bits(y) == bits(x)


@pytest.mark.parametrize("dtype", [d for d in dtypes.PACKED if "int" in d.name], ids=str)
def test_packed_dtypes_keep_their_sign_and_order(dtype):
    info = ml_dtypes.iinfo(dtype)
    x = np.array([info.min, info.max, 0, 1, info.min], dtype)
    assert client.to_numpy(client.put(x)).astype(int).tolist() == x.astype(int).tolist()
    assert client.nbytes(client.put(x)) == (5 * dtypes.PACKED[dtype] + 7) // 8


@pytest.mark.parametrize("order", ["<", ">", "="])
def test_byte_order(order):
    x = np.arange(3, dtype=f"{order}f8")
    assert client.to_numpy(client.put(x)).tolist() == [0, 1, 2]


def test_strides():
    x = np.arange(12.0).reshape(3, 4)
    for view in (x.T, x[:, ::-2], x[::-1], np.broadcast_to(x[0], (3, 4))):
        assert client.to_numpy(client.put(view)).tolist() == view.tolist()


def test_put_copies_also_aligned_arrays():
    raw = np.zeros(4096 + 64, np.uint8)
    start = -raw.ctypes.data % 64
    x = raw[start : start + 4096].view(np.float32)
    buf = client.put(x)
    x[:] = 2
    assert client.to_numpy(buf).max() == 0


@pytest.mark.parametrize(
    "x", [np.array([None]), np.array(["a"]), np.zeros(2, "f4,i4"), np.zeros(2, "M8[s]"), np.zeros(2, np.longdouble)]
)
def test_dtypes_that_xla_has_not(x):
    with pytest.raises(TypeError, match="cannot be put on a device"):
        client.put(x)


@pytest.mark.parametrize("dtype", [F32, BF16, np.dtype(ml_dtypes.int4)], ids=str)
def test_a_view_outlives_its_buffer(dtype):
    view = client.to_numpy(client.put(sample(dtype, (1000,))))
    others = [client.put(sample(dtype, (1000,)) * sample(dtype, (1,))) for _ in range(20)]
    assert bits(view) == bits(sample(dtype, (1000,))), others


@pytest.mark.parametrize(("dtype", "tensor"), [(F32, "tensor<64xf32>"), (BF16, "tensor<64xbf16>")])
def test_donation_leaves_a_view_alone(dtype, tensor):
    exe = compiled(DONATE, tensor, (64,), dtype)
    first = exe.run([client.put(np.ones(64, dtype))])[0]
    view, address = client.to_numpy(first), client.pointer(first)
    second = exe.run([first])[0]
    assert not client.is_deleted(first)  # whoever promises that a donated array is gone has to delete it
    assert view[0] == 2 and client.to_numpy(second)[0] == 4 and client.pointer(second) != address


def test_donation_reuses_the_memory():
    exe = compiled(DONATE, "tensor<64xf32>", (64,))
    first = exe.run([client.put(np.ones(64, F32))])[0]
    address = client.pointer(first)
    assert client.is_deleted(first) is False
    assert client.pointer(exe.run([first])[0]) == address


@pytest.mark.parametrize(
    "ask",
    [
        client.to_numpy, client.is_ready, client.pointer, client.nbytes, client.to_dlpack,
        lambda buf: client.block_until_ready([buf]), lambda buf: client.copy_to_device(buf, client.default_device()),
        lambda buf: compiled().run([buf]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("dtype", [F32, BF16], ids=str)
def test_deleted_buffers_say_so(ask, dtype):
    buf = client.put(np.ones(4, dtype))
    client.delete(buf)
    client.delete(buf)
    assert client.is_deleted(buf)
    with pytest.raises(DeletedBufferError, match="deleted or donated"):
        ask(buf)


# DLPack


class Producer:
    def __init__(self, buf):
        self.buf = buf

    def __dlpack__(self, stream=None, **kwargs):
        return client.to_dlpack(self.buf, stream)

    def __dlpack_device__(self):
        return (1, 0)


@pytest.mark.parametrize("dtype", sorted(dtypes.PLAIN | dtypes.WHOLE_BYTES, key=str), ids=str)
@pytest.mark.parametrize("shape", [(), (2, 3), (0, 3)], ids=str)
def test_dlpack_round_trip(dtype, shape):
    x = sample(dtype, shape)
    y = client.to_numpy(client.from_dlpack(Producer(client.put(x))))
    assert (y.dtype, y.shape, y.tobytes()) == (x.dtype, x.shape, x.tobytes())


def test_dlpack_refuses_other_memory_and_packed_dtypes():
    producer = Producer(client.put(np.ones(3)))
    producer.__class__ = type("Elsewhere", (Producer,), {"__dlpack_device__": lambda self: (2, 0)})
    with pytest.raises(ValueError, match="not in host memory"):
        dlpack.read(producer)
    with pytest.raises(XlaError):
        client.to_dlpack(client.put(np.ones(3, ml_dtypes.int4)))
    with pytest.raises(TypeError, match="no __dlpack__"):
        dlpack.read(3)


# Programs


@pytest.mark.parametrize("form", ["text", "bytes", "module"])
def test_compile_from_each_form(form):
    source = DOUBLE.replace("T", "tensor<4xf32>")
    module = {"text": source, "bytes": mlir.to_bytecode(mlir.parse(source)), "module": mlir.parse(source)}[form]
    exe = Executable.compile(module, [((4,), F32)])
    assert client.to_numpy(exe.run([client.put(np.ones(4, F32))])[0]).tolist() == [2] * 4


def test_the_inlined_path_is_what_run_does():
    exe, buf = compiled(), client.put(np.ones(4, F32))
    (out,) = exe.raw_execute([buf]).consume_with_handlers(exe.handlers)
    assert client.to_numpy(out).tolist() == [2] * 4 and client.device_of(out) == exe.device


def test_arguments_are_checked_by_size_only():
    out = compiled().run([client.put(np.zeros(4, np.int32))])[0]
    assert client.to_numpy(out).tolist() == [0] * 4
    with pytest.raises(XlaError, match="incompatible size") as caught:
        compiled().run([client.put(np.ones(5, F32))])
    assert caught.value.status == "INVALID_ARGUMENT"


def test_serialized_programs():
    exe = compiled()
    again = Executable.deserialize(exe.serialize(), exe.outputs)
    assert client.to_numpy(again.run([client.put(np.ones(4, F32))])[0]).tolist() == [2] * 4
    with pytest.raises(ValueError, match="not a serialized executable"):
        Executable.deserialize(b"something else", exe.outputs)
    with pytest.raises(XlaError):
        Executable.deserialize(exe.serialize()[:-500], exe.outputs)


def test_callbacks_and_their_number():
    exe = compiled(CALLBACK, callbacks=[lambda x: (x + 1,)])
    assert client.to_numpy(exe.run([client.put(np.ones(4, F32))])[0]).tolist() == [2] * 4
    again = Executable.deserialize(exe.serialize(), exe.outputs, callbacks=[lambda x: (x + 2,)])
    assert client.to_numpy(again.run([client.put(np.ones(4, F32))])[0]).tolist() == [3] * 4
    with pytest.raises(ValueError, match="1 callbacks, 0 were given"):
        Executable.deserialize(exe.serialize(), exe.outputs)
    with pytest.raises(ValueError, match="no callbacks were given"):
        compiled(CALLBACK)


def test_a_callback_that_raises_is_an_xla_error():
    def bad(x):
        raise KeyError("lost")

    exe = compiled(CALLBACK, callbacks=[bad])
    with pytest.raises(XlaError, match="lost"):
        client.to_numpy(exe.run([client.put(np.ones(4, F32))])[0])


def test_options():
    fast = compile_options(overrides={"xla_cpu_parallel_codegen_split_count": 1, "xla_backend_optimization_level": 0})
    assert compiled(options=fast)
    with pytest.raises(ValueError, match="xla_no_such_flag"):
        compiled(options=compile_options(overrides={"xla_no_such_flag": 1}))
    with pytest.raises(ValueError, match="xla_cpu_enable_fast_math"):
        compiled(options=compile_options(overrides={"xla_cpu_enable_fast_math": "perhaps"}))
    with pytest.raises(TypeError, match="xla_dump_to"):
        compile_options(overrides={"xla_dump_to": None})  # type: ignore[arg-type]


def test_bad_programs():
    with pytest.raises(XlaError, match="expected"):
        Executable.compile("module nonsense", [])
    with pytest.raises(mlir.MlirError):
        mlir.parse("module nonsense")


def test_costs_and_memory():
    exe = compiled()
    assert exe.cost_analysis()["flops"] == 4
    assert exe.memory_stats()["argument"] == exe.memory_stats()["output"] == 16
    module = hlo_module.unoptimized(mlir.parse(DOUBLE.replace("T", "tensor<4xf32>")))
    assert hlo_module.cost_analysis(module)["bytes accessed"] == 48


# MLIR


@pytest.mark.parametrize("dtype", sorted(dtypes.SUPPORTED, key=str), ids=str)
@pytest.mark.parametrize("values", ["ramp", "splat", "empty", "scalar"])
def test_constants_hold_what_they_were_given(dtype, values):
    x = {"ramp": sample(dtype, (3, 3)), "splat": np.ones((3, 3), dtype), "empty": np.ones((0, 3), dtype)}.get(values)
    x = np.ones((), dtype) if x is None else x
    tensor, attribute = mlir.tensor_type(x.shape, x.dtype), mlir.constant_attr(x)
    assert attribute.is_splat == (values in ("splat", "scalar"))
    source = f"module {{ func.func public @main() -> {tensor} {{ %0 = stablehlo.constant {attribute} return %0 : {tensor} }} }}"
    (out,) = Executable.compile(source, [(x.shape, x.dtype)]).run([])
    assert bits(client.to_numpy(out)) == bits(x)


def test_splats_are_told_by_their_bits():
    assert not mlir.constant_attr(np.array([0.0, -0.0])).is_splat
    assert mlir.constant_attr(np.array([np.nan, np.nan])).is_splat
    assert not mlir.constant_attr(np.array([1, 2, 1, 2])).is_splat
    assert mlir.constant_attr(np.array([[1 + 2j, 1 + 2j]])).is_splat
    assert not mlir.constant_attr(np.array([True, False])).is_splat


def test_locations_become_op_names_joined_through_calls_and_loops():
    source = """module @m {
      func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
        %0 = func.call @f(%x) : (tensor<4xf32>) -> tensor<4xf32> loc("e4") return %0 : tensor<4xf32> }
      func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
        %n = stablehlo.constant dense<3> : tensor<i32> loc("e0")
        %one = stablehlo.constant dense<1> : tensor<i32> loc("e0")
        %r:2 = stablehlo.while(%k = %one, %a = %x) : tensor<i32>, tensor<4xf32>
          cond { %c = stablehlo.compare LT, %k, %n : (tensor<i32>, tensor<i32>) -> tensor<i1> loc("e3/e0")
                 stablehlo.return %c : tensor<i1> }
          do { %j = stablehlo.add %k, %one : tensor<i32> loc("e3/e1")
               %b = func.call @g(%a) : (tensor<4xf32>) -> tensor<4xf32> loc("e3/e2")
               stablehlo.return %j, %b : tensor<i32>, tensor<4xf32> } loc("e3")
        return %r#1 : tensor<4xf32> }
      func.func private @g(%x: tensor<4xf32>) -> tensor<4xf32> {
        %0 = stablehlo.sine %x : tensor<4xf32> loc("e0") return %0 : tensor<4xf32> } }"""
    exe = Executable.compile(source, [((4,), F32)])
    found = {i.opcode: i.op_name for c in hlo_module.computations(hlo_module.optimized(exe)) for i in c.instructions}
    assert found["sine"] == "e4/e3/e2/e0" and found["while"] == "e4/e3"


def test_text_with_and_without_locations():
    module = mlir.parse(DOUBLE.replace("T", "tensor<4xf32>").replace("%0 = ", "%0 = ", 1))
    assert "loc(" not in mlir.module_text(module) and "loc(" in mlir.module_text(module, debug_info=True)
    assert "stablehlo.add" in str(mlir.parse(mlir.to_bytecode(module)))
    assert str(mlir.location("e2/e0")) == 'loc("e2/e0")'


# HLO text


def test_parsed_instructions_agree_with_xlas_own_objects():
    module = hlo_module.optimized(compiled())
    parsed = {c.name: c for c in hlo_module.computations(module)}
    assert set(parsed) == {c.name for c in module.computations()}
    for theirs in module.computations():
        ours = {i.name: i for i in parsed[theirs.name].instructions}
        assert {i.name: [o.name for o in i.operands()] for i in theirs.instructions()} == {
            name: list(i.operands) for name, i in ours.items()
        }


def test_parsing_awkward_lines():
    source = """HloModule m
    %inner (p: f32[2]) -> f32[2] {
      ROOT %p = f32[2]{0} parameter(0)
    }
    ENTRY %not_main.7 (a: (f32[2], s32[])) -> (f32[2], s32[], /*index=2*/pred[]) {
      %a = (f32[2]{0}, s32[]) parameter(0)
      %g = f32[2]{0} get-tuple-element((f32[2]{0}, s32[]) %a), index=0
      %k = s32[2]{0} constant({1, 2})
      %c = f32[2]{0:T(128)} custom-call(%g, /*index=1*/%k), custom_call_target="a, (b", metadata={op_name="e1;e\\"2" source_line=3}, backend_config={"x":{"kind":"}"}}
      %z = f32[2]{0} conditional(%k, %g, %g), branch_computations={%inner, %inner}
      ROOT %t = (f32[2]{0}, s32[]) tuple(%c, %k)
    }"""
    inner, entry = hlo_module.parse(source)
    assert (inner.is_entry, entry.is_entry, entry.name, entry.root.name) == (False, True, "not_main.7", "t")
    by_name = {i.name: i for i in entry.instructions}
    assert by_name["g"].operands == ("a",) and by_name["g"].attributes == "index=0"
    assert by_name["c"].operands == ("g", "k") and by_name["c"].custom_call_target == "a, (b"
    assert by_name["c"].op_name == 'e1;e"2' and by_name["c"].backend_config == '{"x":{"kind":"}"}}'
    assert by_name["k"].literal == "{1, 2}" and by_name["k"].operands == ()
    assert by_name["z"].calls == ("inner", "inner") and by_name["z"].called[0][0] == "branch_computations"
    with pytest.raises(ValueError, match="no entry"):
        hlo_module.parse("nothing")


# Trees, tracebacks, LAPACK


def test_registries_are_apart():
    class Box:
        def __init__(self, x):
            self.x = x

    ours, other = pytrees.new_registry(), pytrees.new_registry()
    pytrees.register(ours, Box, lambda b: ((b.x,), "tag"), lambda tag, xs: Box(*xs))
    leaves, tree = ours.flatten({"b": Box(1), "a": (2, None)})
    assert leaves == [2, 1] and tree.unflatten(leaves)["b"].x == 1
    assert len(other.flatten(Box(1))[0]) == 1
    assert ours.flatten([1])[1] == other.flatten([2])[1]


def test_tracebacks_are_innermost_first():
    def inner():
        return tracebacks.capture()

    (code, offset), (caller, _), *_ = tracebacks.frames(inner())
    assert (code, caller.co_name) == (inner.__code__, "test_tracebacks_are_innermost_first")
    assert list(code.co_positions())[offset // 2][0] == code.co_firstlineno + 1
    assert tracebacks.frames(None) == []


def test_lapack():
    lapack.register()
    lapack.register()
    source = """module @m { func.func public @main(%x: tensor<2x2xf64>) -> (tensor<2x2xf64>, tensor<i32>) {
      %0:2 = stablehlo.custom_call @lapack_dpotrf_ffi(%x) {api_version = 4 : i32, backend_config = {uplo = 76 : ui8},
        operand_layouts = [dense<[0, 1]> : tensor<2xindex>],
        result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>]}
        : (tensor<2x2xf64>) -> (tensor<2x2xf64>, tensor<i32>)
      return %0#0, %0#1 : tensor<2x2xf64>, tensor<i32> } }"""
    exe = Executable.compile(source, [((2, 2), np.dtype(float)), ((), np.dtype("int32"))])
    c, info = exe.run([client.put(np.array([[4.0, 2.0], [2.0, 5.0]]))])
    assert client.to_numpy(info) == 0 and np.tril(client.to_numpy(c)).tolist() == [[2, 0], [1, 2]]


# Forks


def in_forked_child(check) -> int:
    """The exit status of a forked child that runs `check`; a hang ends it after 20 seconds."""
    pid = os.fork()
    if pid == 0:
        signal.alarm(20)
        status = 1
        try:
            check()
            status = 0
        finally:
            os._exit(status)
    return os.waitpid(pid, 0)[1]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the platform has no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_gets_errors_and_can_read():
    exe, buf, bf16 = compiled(), client.put(np.ones(4, F32)), client.put(np.ones(4, BF16))
    run = exe.raw_execute
    offset = 7

    @forks.guard
    def captured(x, twice=2, *, more=3):
        return run([x]), offset

    def refused(function):
        with pytest.raises(forks.ForkedProcessError, match="spawn"):
            function()

    def check():
        refused(lambda: client.put(np.ones(3)))
        refused(client.get_client)
        refused(client.cpu_devices)
        refused(lambda: exe.run([buf]))
        refused(lambda: exe.raw_execute([buf]))
        refused(lambda: captured(buf))
        refused(lambda: client.copy_to_device(buf, exe.device))
        refused(compiled)
        refused(forks.guard(lambda: 1))
        assert client.to_numpy(buf)[0] == client.to_numpy(bf16)[0] == 1

    assert captured(buf)[1] == 7
    assert in_forked_child(check) == 0
    assert client.to_numpy(exe.run([buf])[0])[0] == 2


def test_threads_share_one_client():
    out = in_new_process(
        """
        import threading
        from jitscope.xla import client, mlir
        seen = []
        threads = [threading.Thread(target=lambda: seen.append((id(client.get_client()), id(mlir.context())))) for _ in range(8)]
        [t.start() for t in threads], [t.join() for t in threads]
        print(len(seen), len(set(seen)))
        """
    )
    assert out == "8 1"


def test_bad_device_count():
    out = in_new_process(
        """
        from jitscope.xla import client
        try: client.get_client()
        except ValueError as error: print(error)
        """,
        JITSCOPE_CPU_DEVICES="many",
    )
    assert "JITSCOPE_CPU_DEVICES" in out
