"""The tasks of a model: one for each fused function that Ansor can schedule, by TVM's own workload key."""

from collections.abc import Container, Iterable
from dataclasses import dataclass
from typing import Any

from pipelines.tvm.bindings import OPT_LEVEL, load
from pipelines.tvm.compile import optimise
from pipelines.tvm.functions import calls_of, flop, shape_of
from pipelines.tvm.tuning.anchors import Anchor, anchors_of
from pipelines.tvm.tuning.ansor.variants import Variant, batch_workload, conv_workload, dense_workload
from pipelines.tvm.tuning.schedules import Schedules


@dataclass(frozen=True)
class Task:
    """One task: `key` is TVM's, `workload` names the operator whose variant decides it ("" for others).

    `anchors` are the places of the model that it computes, `flop` that of one call in the direct form.
    """

    key: str
    name: str
    workload: str
    variant: Variant
    anchors: tuple[Anchor, ...]
    flop: int
    search: Any

    @property
    def calls(self) -> int:
        """How often a run of the model computes it."""
        return len(self.anchors)


def tasks_of(module: Any, parameters: dict[str, Any], target: Any, schedules: Schedules) -> list[Task]:
    """Tasks of an imported module under `schedules`' variants, in the order in which the model runs them."""
    tvm = load()
    context = tvm.transform.PassContext(
        opt_level=OPT_LEVEL, config=dict(schedules.config), disabled_pass=["AutoSchedulerLayoutRewrite"]
    )
    with context:
        optimised = optimise(module, target, parameters, schedules)
        with schedules.active():
            keys = _workload_keys(optimised.module, optimised.target)
    found: dict[str, Task] = {}
    for anchor, function in anchors_of(optimised.module):
        key = keys.get(str(function.attrs["hash"]), "")
        if key:
            known = found.get(key)
            found[key] = _task(key, function, optimised.target, (*(known.anchors if known else ()), anchor))
    return list(found.values())


def _workload_keys(optimised: Any, target: Any) -> dict[str, str]:
    """TVM's workload key of each fused function that has one, by the function's hash; lowers each once to see it."""
    from tvm.auto_scheduler.relay_integration import TracingEnvironment, TracingMode
    from tvm.relay.backend import te_compiler

    compiler = te_compiler.get()
    compiler.clear()
    keys: dict[str, str] = {}
    for _, function in anchors_of(optimised):
        hashed = str(function.attrs["hash"])
        if hashed in keys:
            continue
        tracing = TracingEnvironment(TracingMode.EXTRACT_COMPLEX_TASK_ONLY)
        with tracing, target:
            compiler.lower(function, target)
        keys[hashed] = next(iter(tracing.func_name_to_wkl_key.values()), "")
    compiler.clear()
    return keys


def _task(key: str, function: Any, target: Any, anchors: tuple[Anchor, ...]) -> Task:
    scheduler = load("auto_scheduler")
    work = calls_of(function)
    heavy = max(work, key=flop)
    variant, workload = variant_of(heavy)
    search = scheduler.SearchTask(
        workload_key=key,
        target=target,
        hardware_params=hardware(target),
        layout_rewrite_option=scheduler.LayoutRewriteOption.get_target_default(target, True),
        desc=_name(work),
    )
    return Task(key, _name(work), workload, variant, anchors, sum(map(flop, work)), search)


def variant_of(call: Any) -> tuple[Variant, str]:
    """By which algorithm an operator of an optimised module is computed, and the workload that decided it."""
    name = str(call.op.name).removeprefix("nn.").removeprefix("contrib_")
    shape = list(shape_of(call.args[0].checked_type)) if hasattr(call.args[0].checked_type, "shape") else []
    match name:
        case "conv2d_winograd_without_weight_transform":
            return Variant.WINOGRAD, conv_workload(call.attrs, shape)
        case "conv2d" if call.attrs.data_layout == "NHWC":
            return Variant.DIRECT, conv_workload(call.attrs, shape)
        case "dense":
            return Variant.DIRECT, dense_workload(shape[0], shape[1], shape_of(call.checked_type)[-1])
        case "batch_matmul":
            depth = shape[1 if call.attrs.transpose_a else 2]
            made = shape_of(call.checked_type)
            return Variant.DIRECT, batch_workload(made[0], made[1], depth, made[2])
        case "conv2d_NCHWc" | "depthwise_conv2d_NCHWc" | "dense_pack":
            return Variant.DEFAULT, ""
        case _:
            return Variant.DIRECT, ""


def divided(
    tasks: Iterable[Task], found: Container[str], default: Container[str]
) -> tuple[list[str], dict[str, Variant]]:
    """Keys of the tasks that take what was found, and the variant of each workload.

    A workload that several tasks share is left to TVM when one of them is in `default` or was not found.
    """
    searched = [t for t in tasks if t.variant is not Variant.DEFAULT]
    left = {t.workload for t in searched if t.workload and (t.key in default or t.key not in found)}
    variants = {t.workload: Variant.DEFAULT if t.workload in left else t.variant for t in searched if t.workload}
    taken = [t.key for t in searched if t.key in found and t.key not in default and t.workload not in left]
    return taken, variants


def hardware(target: Any) -> Any:
    """What Ansor should know of the CPU, instead of what it finds on the machine that it happens to run on."""
    has_512 = load("target.codegen").target_has_features("avx512f", target)
    return load("auto_scheduler").HardwareParams(
        num_cores=int(target.attrs["num-cores"]),
        vector_unit_bytes=64 if has_512 else 32,
        cache_line_bytes=64,
        max_shared_memory_per_block=0,
        max_local_memory_per_block=0,
        max_threads_per_block=0,
        max_vthread_extent=0,
        warp_size=0,
        target=target,
    )


def _name(work: list[Any]) -> str:
    """Operators and the shape of the result: `conv2d+add+maximum 1x56x56x64`."""
    short = {"conv2d_winograd_without_weight_transform": "conv2d(winograd)", "conv2d_NCHWc": "conv2d(default)"}
    names = [str(c.op.name).removeprefix("nn.").removeprefix("contrib_") for c in work]
    shape = "x".join(map(str, shape_of(work[-1].checked_type))) if hasattr(work[-1].checked_type, "shape") else "tuple"
    return "+".join(short.get(n, n) for n in names) + f" {shape}"
