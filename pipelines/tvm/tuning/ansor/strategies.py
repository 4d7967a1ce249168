"""What Ansor may search over: computations for targets that have the key "ansor" before "cpu".

TVM looks an operator's strategy up by the target's keys, so these stand beside its own and replace nothing.
"""

from typing import Any

from tvm import auto_scheduler, te, topi
from tvm.relay.op.op import OpStrategy
from tvm.relay.op.strategy import generic, x86

from pipelines.tvm.tuning.ansor.variants import (
    Variant,
    batch_workload,
    conv_workload,
    decided,
    dense_workload,
    searched_conv,
)

KEY = "ansor"
ABOVE_TVM = 20
"""Priority: TVM takes the implementation with the largest, and its own go to 15."""


def conv2d(attrs: Any, inputs: Any, out_type: Any, target: Any) -> Any:
    """TVM's strategy, and Winograd where that was decided (TVM's takes it for 64 < channels < 512 only)."""
    strategy = x86.conv2d_strategy_cpu(attrs, inputs, out_type, target)
    shape = [int(d) for d in inputs[0].shape]
    if attrs.data_layout != "NHWC":
        return strategy
    variant = decided(conv_workload(attrs, shape), searched_conv(attrs, shape, str(inputs[0].dtype)))
    if variant is Variant.WINOGRAD:
        strategy.add_implementation(
            generic.wrap_compute_conv2d(topi.nn.conv2d_winograd_nhwc, need_auto_scheduler_layout=True),
            generic.naive_schedule,
            name="conv2d_nhwc.winograd.ansor",
            plevel=ABOVE_TVM,
        )
    elif int(attrs.groups) == 1:
        strategy.add_implementation(
            generic.wrap_compute_conv2d(topi.nn.conv2d_nhwc, need_auto_scheduler_layout=True),
            generic.wrap_topi_schedule(topi.x86.schedule_conv2d_nhwc),
            name="conv2d_nhwc.direct.ansor",
            plevel=ABOVE_TVM,
        )
    return strategy


def dense(attrs: Any, inputs: Any, out_type: Any, target: Any) -> Any:
    """A product with plainly named axes and weights whose layout Ansor may choose, or TVM's packed one.

    TVM has one computation for products of any rank, whose axes it calls i0 and i1: rewriting their layout fails
    every trial.
    """
    rows, depth = (int(d) for d in inputs[0].shape)
    workload = dense_workload(rows, depth, int(out_type.shape[-1]))
    floating = str(inputs[0].dtype).startswith("float")
    if decided(workload, Variant.DIRECT if floating else Variant.DEFAULT) is Variant.DEFAULT:
        of_tvm: Any = x86.dense_strategy_cpu
        return of_tvm(attrs, inputs, out_type, target)
    strategy: Any = OpStrategy()
    strategy.add_implementation(_dense, generic.naive_schedule, name="dense.ansor", plevel=ABOVE_TVM)
    return strategy


def _dense(attrs: Any, inputs: Any, out_type: Any) -> list[Any]:
    data, weight = inputs[0], inputs[1]
    rewritten: Any = generic.get_auto_scheduler_rewritten_layout
    layout = rewritten(attrs)
    rows, depth = data.shape
    if layout:
        columns, _ = auto_scheduler.get_shape_from_rewritten_layout(layout, ["j", "k"])
        auto_scheduler.remove_index_check(weight)
    else:
        columns = weight.shape[0]
    k = te.reduce_axis((0, depth), name="k")
    dtype = out_type.dtype

    def element(i: Any, j: Any) -> Any:
        return te.sum(data[i, k].astype(dtype) * weight[j, k].astype(dtype), axis=k)

    product = te.compute(
        (rows, columns),
        element,
        name="dense",
        tag="dense",
        attrs={"layout_free_placeholders": [weight]},
    )
    return [auto_scheduler.rewrite_compute_body(product, layout) if layout else product]


def batch_matmul(attrs: Any, inputs: Any, out_type: Any, target: Any) -> Any:
    """Products whose right side keeps its layout, or TVM's own.

    TVM calls the right side layout-free, as if it were weights. In attention it is not, and packing it in every run
    costs what its layout gains.
    """
    batch, rows, columns = (int(d) for d in out_type.shape)
    depth = int(inputs[0].shape[1 if attrs.transpose_a else 2])
    floating = str(inputs[0].dtype).startswith("float")
    workload = batch_workload(batch, rows, depth, columns)
    strategy: Any = OpStrategy()
    if decided(workload, Variant.DIRECT if floating else Variant.DEFAULT) is Variant.DEFAULT:
        strategy.add_implementation(
            generic.wrap_compute_batch_matmul(topi.x86.batch_matmul, need_out_dtype=True),
            generic.wrap_topi_schedule(topi.x86.schedule_batch_matmul),
            name="batch_matmul.x86",
            plevel=ABOVE_TVM,
        )
    else:
        strategy.add_implementation(_batch_matmul, generic.naive_schedule, name="batch_matmul.ansor", plevel=ABOVE_TVM)
    return strategy


def _batch_matmul(attrs: Any, inputs: Any, out_type: Any) -> list[Any]:
    left, right = inputs
    k = te.reduce_axis((0, left.shape[1 if attrs.transpose_a else 2]), name="k")
    dtype = out_type.dtype

    def element(b: Any, i: Any, j: Any) -> Any:
        # A batch of one is shared by all products of the other side.
        of_left, of_right = (0 if int(t.shape[0]) == 1 else b for t in (left, right))
        a = left[of_left, k, i] if attrs.transpose_a else left[of_left, i, k]
        c = right[of_right, j, k] if attrs.transpose_b else right[of_right, k, j]
        return te.sum(a.astype(dtype) * c.astype(dtype), axis=k)

    return [te.compute(out_type.shape, element, name="batch_matmul", tag="batch_matmul")]


def register() -> None:
    """Add the strategies; doing it twice does no harm."""
    ours: list[tuple[Any, Any]] = [
        (generic.conv2d_strategy, conv2d),
        (generic.dense_strategy, dense),
        (generic.batch_matmul_strategy, batch_matmul),
    ]
    for function, strategy in ours:
        function.register(KEY, strategy)
