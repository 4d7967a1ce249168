"""The tasks of a model: one for each loop nest that TVM asks MetaSchedule's database for."""

from dataclasses import replace
from typing import Any

from pipelines.tvm.bindings import OPT_LEVEL, load
from pipelines.tvm.functions import calls_of, flop
from pipelines.tvm.tuning.anchors import anchors_of, described
from pipelines.tvm.tuning.ansor.tasks import Task, variant_of
from pipelines.tvm.tuning.ansor.variants import chosen
from pipelines.tvm.tuning.metaschedule.build import MetaSchedules


def tasks_of(module: Any, parameters: dict[str, Any], target: Any) -> list[Task]:
    """Tasks of an imported module, in the order in which the model runs them.

    `search` is the module of TIR with the one function, `key` its structural hash, by which TVM finds its records.
    """
    from pipelines.tvm.tuning.metaschedule.watch import Watch

    tvm, relay = load(), load("relay")
    schedules, watch = MetaSchedules((), (), {}), Watch()
    keyed = schedules.target(target)
    compiler = load("relay.backend.te_compiler").get()
    found: dict[str, Task] = {}
    with chosen({}), watch, keyed, tvm.transform.PassContext(opt_level=OPT_LEVEL, config=dict(schedules.config)):
        optimised, _ = relay.optimize(schedules.prepared(module), keyed, parameters)
        for anchor, function in anchors_of(optimised):
            compiler.clear()
            watch.asked.clear()
            compiler.lower(function, keyed)
            if not watch.asked:
                continue
            key = str(tvm.ir.structural_hash(watch.asked[-1]) % 2**64)  # as the log has it
            known = found.get(key)
            task = known or _task(key, function, watch.asked[-1])
            found[key] = replace(task, anchors=(*task.anchors, anchor))
        compiler.clear()
    return list(found.values())


def _task(key: str, function: Any, loops: Any) -> Task:
    work = calls_of(function)
    variant, workload = variant_of(max(work, key=flop))
    return Task(key, described(function), workload, variant, (), sum(map(flop, work)), loops)
