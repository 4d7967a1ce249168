"""What MetaSchedule may search over: computations for targets that have the key "metaschedule" before "cpu".

While MetaSchedule is on, TVM gives dense and NHWC convolutions plain loops, whether there is a record for them or not.
These strategies do so only where that was decided. They stand beside TVM's own and replace nothing.
"""

from typing import Any

from tvm.ir.transform import PassContext
from tvm.relay.op.strategy import generic, x86

from pipelines.tvm.bindings import OPT_LEVEL
from pipelines.tvm.tuning.ansor.variants import Variant, conv_workload, decided, dense_workload, searched_conv

KEY = "metaschedule"

_x86: Any = x86


def conv2d(attrs: Any, inputs: Any, out_type: Any, target: Any) -> Any:
    """For MetaSchedule in NHWC, with TVM's own schedule in NCHW or where a convolution is left to it."""
    shape = [int(d) for d in inputs[0].shape]
    if attrs.data_layout != "NHWC":
        return _plain(_x86.conv2d_strategy_cpu, attrs, inputs, out_type, target)
    variant = decided(conv_workload(attrs, shape), searched_conv(attrs, shape, str(inputs[0].dtype)))
    if variant is Variant.DEFAULT:
        return _plain(_x86.conv2d_strategy_cpu, attrs, inputs, out_type, target)
    return _x86.conv2d_strategy_cpu(attrs, inputs, out_type, target)


def dense(attrs: Any, inputs: Any, out_type: Any, target: Any) -> Any:
    """Plain loops for MetaSchedule, or TVM's packed product."""
    rows, depth = (int(d) for d in inputs[0].shape)
    workload = dense_workload(rows, depth, int(out_type.shape[-1]))
    floating = str(inputs[0].dtype).startswith("float")
    if decided(workload, Variant.DIRECT if floating else Variant.DEFAULT) is Variant.DEFAULT:
        return _plain(_x86.dense_strategy_cpu, attrs, inputs, out_type, target)
    return _x86.dense_strategy_cpu(attrs, inputs, out_type, target)


def batch_matmul(attrs: Any, inputs: Any, out_type: Any, target: Any) -> Any:
    """TVM's own: it can be searched, and has a schedule where no record is."""
    return _plain(_x86.batch_matmul_strategy_cpu, attrs, inputs, out_type, target)


def _plain(strategy: Any, attrs: Any, inputs: Any, out_type: Any, target: Any) -> Any:
    """What `strategy` gives when no tuner is on."""
    with PassContext(opt_level=OPT_LEVEL):
        return strategy(attrs, inputs, out_type, target)


def register() -> None:
    """Add the strategies; doing it twice does no harm."""
    ours: list[tuple[Any, Any]] = [
        (generic.conv2d_strategy, conv2d),
        (generic.dense_strategy, dense),
        (generic.batch_matmul_strategy, batch_matmul),
    ]
    for function, strategy in ours:
        function.register(KEY, strategy)
