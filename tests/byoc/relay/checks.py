"""What `byoc.relay` promises, at the level of Relay. Runs in a worker, which has TVM loaded (`test_relay.py`)."""

import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from byoc.systolic.machine import Machine, load_machine
from pipelines.tvm.bindings import load

tvm = load()
relay: Any = load("relay")

from byoc.relay import codegen  # noqa: E402  (TVM loads as the route wants it)
from byoc.relay.partition import accelerated, annotate, left_behind, partition  # noqa: E402

LAB, GEMMINI = load_machine("lab4"), load_machine("gemmini16")
RNG = np.random.default_rng(5)


def floats(*shape: int, dtype: str = "float32") -> Any:
    return RNG.standard_normal(shape).astype(dtype)


def cut(body: Any, machine: Machine = GEMMINI, **weights: Any) -> Any:
    """A function of `x`, partitioned; `weights` are constants of its other variables."""
    function = relay.Function(relay.analysis.free_vars(body), body)
    bound = relay.build_module.bind_params_by_name(function, {k: tvm.nd.array(v) for k, v in weights.items()})
    return partition(annotate(tvm.IRModule.from_expr(bound), machine))


def variable(name: str, like: Any) -> Any:
    return relay.var(name, shape=like.shape, dtype=str(like.dtype))


def on_graph(module: Any, machine: Machine, x: Any) -> Any:
    codegen.register(machine)
    with tvm.transform.PassContext(opt_level=3):
        library = relay.build(module, target="llvm")
    run = load("contrib.graph_executor").GraphModule(library["default"](tvm.cpu()))
    run.set_input("x", tvm.nd.array(x))
    run.run()
    return run.get_output(0).numpy()


def on_vm(module: Any, machine: Machine, x: Any) -> Any:
    codegen.register(machine)
    with tvm.transform.PassContext(opt_level=3):
        executable = relay.vm.compile(module, target="llvm")
    return load("runtime.vm").VirtualMachine(executable, tvm.cpu()).run(tvm.nd.array(x)).numpy()


def close(got: Any, want: Any, limit: float = 1e-5) -> None:
    assert got.shape == want.shape
    gap = np.abs(got.astype(np.float64) - want).max() / max(np.abs(want).max(), 1e-30)
    assert gap < limit, gap


def layer(x: Any, w: Any, b: Any) -> Any:
    body = relay.nn.bias_add(relay.nn.dense(variable("x", x), variable("w", w)), variable("b", b))
    return relay.nn.relu(body)


def graph_and_virtual_machine_agree() -> None:
    x, w, b = floats(5, 9), floats(7, 9), floats(7)
    module = cut(layer(x, w, b), LAB, w=w, b=b)
    want = np.maximum(x.astype(np.float64) @ w.T + b, 0)
    close(on_graph(module, LAB, x), want)
    close(on_vm(module, LAB, x), want)


def two_layers_are_one_region_with_two_tasks() -> None:
    x, w, v = floats(4, 6), floats(6, 6), floats(3, 6)
    body = relay.nn.dense(relay.nn.dense(variable("x", x), variable("w", w)), variable("v", v))
    module = cut(body, LAB, w=w, v=v)
    rows = accelerated(module, LAB)
    assert len(rows) == 2 and len({r.region for r in rows}) == 1
    close(on_graph(module, LAB, x), x.astype(np.float64) @ w.T @ v.T)


def a_value_that_two_operations_read_is_computed_once_and_for_both() -> None:
    x, w = floats(4, 6), floats(6, 6)
    product = relay.nn.dense(variable("x", x), variable("w", w))
    module = cut(relay.tanh(product) + relay.nn.relu(product), LAB, w=w)
    assert [r.task.fused for r in accelerated(module, LAB)] == [()]
    want = x.astype(np.float64) @ w.T
    close(on_graph(module, LAB, x), np.tanh(want) + np.maximum(want, 0))


RELOAD = """
import sys, numpy as np, tvm
import byoc.relay.driver
from tvm.contrib import graph_executor
run = graph_executor.GraphModule(tvm.runtime.load_module(sys.argv[1])["default"](tvm.cpu()))
run.set_input("x", tvm.nd.array(np.load(sys.argv[2])))
run.run()
np.save(sys.argv[3], run.get_output(0).numpy())
"""


def an_exported_library_runs_in_a_fresh_process() -> None:
    x, w, b = floats(5, 9), floats(7, 9), floats(7)
    codegen.register(LAB)
    with tvm.transform.PassContext(opt_level=3):
        library = relay.build(cut(layer(x, w, b), LAB, w=w, b=b), target="llvm")
    with tempfile.TemporaryDirectory() as folder:
        paths = [f"{folder}/{name}" for name in ("model.so", "x.npy", "y.npy")]
        library.export_library(paths[0])
        np.save(paths[1], x)
        subprocess.run([sys.executable, "-c", RELOAD, *paths], check=True, cwd=Path(__file__).parents[3])
        close(np.load(paths[2]), np.maximum(x.astype(np.float64) @ w.T + b, 0))
        without = subprocess.run(
            [sys.executable, "-c", RELOAD.replace("import byoc.relay.driver\n", ""), *paths],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert without.returncode and "systolic.run" in without.stderr


def refused(body: Any, said: str, machine: Machine = GEMMINI, **weights: Any) -> Any:
    """The module, whose one product stays on the host for that reason."""
    module = cut(body, machine, **weights)
    assert not accelerated(module, machine)
    (row,) = (r for r in left_behind(module, machine) if r.reason != "no matrix product")
    assert said in row.reason, row.reason
    return module


def convolution(x: Any, w: Any, **attributes: Any) -> Any:
    return relay.nn.conv2d(variable("x", x), variable("w", w), kernel_size=(3, 3), **attributes)


def what_the_array_cannot_take_stays_and_is_right() -> None:
    x, w = floats(1, 4, 9, 8), floats(6, 4, 3, 3)
    halves = floats(6, 2, 3, 3)
    no_conv = replace(GEMMINI, name="mm", operations=("matmul",))
    fixed = replace(GEMMINI, tile=(512, 512, 512))
    x64, w64, big = floats(5, 9, dtype="float64"), floats(7, 9, dtype="float64"), floats(600, 600)
    cases = [
        (convolution(x, w, dilation=(2, 2)), "dilated by 2x2", GEMMINI, x, w),
        (convolution(x, halves, groups=2), "2 groups", GEMMINI, x, halves),
        (convolution(x, w), "mm has no conv2d; it has matmul", no_conv, x, w),
        (relay.nn.dense(variable("x", x64), variable("w", w64)), "not float64", GEMMINI, x64, w64),
        (relay.nn.dense(variable("x", big), variable("w", big)), "tile m=512 k=512 n=512", fixed, big, big),
    ]
    for body, said, machine, data, weight in cases:
        module = refused(body, said, machine, w=weight)
        alone = tvm.IRModule.from_expr(relay.Function(relay.analysis.free_vars(body), body))
        want = relay.create_executor("graph", alone, target="llvm").evaluate()(data, weight).numpy()
        close(on_graph(module, machine, data), want)


def a_size_known_at_run_time_only_stays_and_is_right() -> None:
    w = floats(7, 9)
    body = relay.nn.dense(relay.var("x", shape=(relay.Any(), 9)), variable("w", w))
    module = refused(body, "not known before it runs", w=w)
    for rows in (1, 6):
        x = floats(rows, 9)
        close(on_vm(module, GEMMINI, x), x.astype(np.float64) @ w.T)


def what_is_added_or_compared_is_fused_only_when_it_fits() -> None:
    x, w, other = floats(4, 6), floats(5, 6), floats(4, 5)
    product = relay.nn.dense(variable("x", x), variable("w", w))
    want = x.astype(np.float64) @ w.T
    for body, result in (
        (product + variable("other", other), want + other),
        (relay.maximum(relay.const(0.5), product), np.maximum(want, 0.5)),
        (relay.maximum(relay.const(0.0), product), np.maximum(want, 0.0)),
    ):
        module = cut(body, LAB, w=w, other=other)
        (row,) = accelerated(module, LAB)
        assert row.task.fused == (("relu",) if (result >= 0).all() and (result == 0).any() else ())
        close(on_graph(module, LAB, x), result)


def nan_goes_through() -> None:
    x, w = floats(4, 6), floats(5, 6)
    x[1, 2] = np.nan
    module = cut(relay.maximum(relay.const(0.0), relay.nn.dense(variable("x", x), variable("w", w))), LAB, w=w)
    assert [r.task.fused for r in accelerated(module, LAB)] == [("relu",)]
    assert np.isnan(on_graph(module, LAB, x)[1]).all()


SIZES = st.integers(1, 9)


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(SIZES, SIZES, SIZES, st.booleans(), st.sampled_from([LAB, GEMMINI]))
def drawn_products_are_right(m: int, k: int, n: int, biased: bool, machine: Machine) -> None:
    x, w, b = floats(m, k), floats(n, k), floats(n)
    body = relay.nn.dense(variable("x", x), variable("w", w))
    module = cut(relay.nn.bias_add(body, variable("b", b)) if biased else body, machine, w=w, b=b)
    assert len(accelerated(module, machine)) == 1
    close(on_graph(module, machine, x), x.astype(np.float64) @ w.T + b * biased)


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(
    st.tuples(st.integers(1, 2), st.integers(1, 5), st.integers(3, 8), st.integers(3, 8)),
    st.integers(1, 6),
    st.tuples(st.integers(1, 3), st.integers(1, 3)),
    st.tuples(st.integers(1, 2), st.integers(1, 3)),
    st.tuples(*[st.integers(0, 2)] * 4),
    st.booleans(),
)
def drawn_convolutions_are_right(
    image: Any, channels: int, kernel: Any, strides: Any, padding: Any, last: bool
) -> None:
    x, w = floats(*image), floats(channels, image[1], *kernel)
    body = relay.nn.conv2d(variable("x", x), variable("w", w), strides, padding, kernel_size=kernel)
    alone = tvm.IRModule.from_expr(relay.Function(relay.analysis.free_vars(body), body))
    want = relay.create_executor("graph", alone, target="llvm").evaluate()(x, w).numpy()
    if last:
        x, w, want = x.transpose(0, 2, 3, 1), w.transpose(2, 3, 1, 0), want.transpose(0, 2, 3, 1)
        layouts = {"data_layout": "NHWC", "kernel_layout": "HWIO"}
        body = relay.nn.conv2d(variable("x", x), variable("w", w), strides, padding, kernel_size=kernel, **layouts)
    module = cut(body, LAB, w=np.ascontiguousarray(w))
    assert len(accelerated(module, LAB)) == 1
    close(on_graph(module, LAB, np.ascontiguousarray(x)), want)


CHECKS = (
    graph_and_virtual_machine_agree,
    two_layers_are_one_region_with_two_tasks,
    a_value_that_two_operations_read_is_computed_once_and_for_both,
    an_exported_library_runs_in_a_fresh_process,
    what_the_array_cannot_take_stays_and_is_right,
    a_size_known_at_run_time_only_stays_and_is_right,
    what_is_added_or_compared_is_fused_only_when_it_fits,
    nan_goes_through,
    drawn_products_are_right,
    drawn_convolutions_are_right,
)


def run_checks(params: dict[str, Any], send: object) -> dict[str, str]:
    """Worker job: what went wrong, by check."""
    import traceback

    found: dict[str, str] = {}
    for check in CHECKS:
        try:
            check()
        except Exception:
            found[check.__name__] = traceback.format_exc()
    return found
