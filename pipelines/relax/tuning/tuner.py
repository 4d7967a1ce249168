"""MetaSchedule as the tuner of this route."""

from collections import Counter
from collections.abc import Collection, Mapping
from typing import Any, ClassVar

from pipelines.relax.bindings import load, load_ffi
from pipelines.relax.tuning.schedules import PACKAGE, RelaxSchedules
from pipelines.tvm.tuning.anchors import Anchor
from pipelines.tvm.tuning.ansor.tasks import Task
from pipelines.tvm.tuning.ansor.variants import Variant
from pipelines.tvm.tuning.job import Job
from pipelines.tvm.tuning.logs import best_lines
from pipelines.tvm.tuning.metaschedule.records import read_log, workload_lines
from pipelines.tvm.tuning.metaschedule.tuner import MetaScheduleTuner
from pipelines.tvm.tuning.schedules import Schedules
from workbench.core.tuning import TaskRow


class RelaxTuner(MetaScheduleTuner):
    """MetaSchedule of TVM 0.27, on the TIR functions of a fused model."""

    package: ClassVar[str] = PACKAGE

    def tasks(self, job: Job) -> Mapping[str, tuple[TaskRow, tuple[Anchor, ...]]]:
        """See Tuner; a function's key is the structural hash by which TVM finds its records."""
        found = tasks_of(job.module)
        self.found = {task.key: task for task in found}
        return {t.key: (TaskRow(t.key, t.name, t.calls, t.flop * t.calls), t.anchors) for t in found}

    def lowers(self, module: Any, target: Any) -> bool:
        """See MetaScheduleTuner."""
        tirx = load("tirx")
        pipeline, finish, _ = tirx.get_default_tir_pipeline(target)
        try:
            with target:
                finish()(pipeline(tirx.transform.BindTarget(target.with_host(target))(module)))
        except (ValueError, RuntimeError):
            return False
        return True

    def schedules(self, job: Job, default: Collection[str]) -> Schedules:
        """See Tuner."""
        best = best_lines(read_log(job.log))
        taken = [best[key].line for key in self.found if key in best and key not in default]
        return RelaxSchedules(tuple(workload_lines(job.log)), tuple(taken))


def tasks_of(module: Any) -> list[Task]:
    """Tasks of a fused module, in the order in which the model runs them; `search` is a module of the one function."""
    normalised = load(f"{PACKAGE}.tune_context")._normalize_mod
    structural_hash = load_ffi().structural_hash
    counts: Counter[str] = Counter()
    found: dict[str, Task] = {}
    for name in _calls(module):
        loops = normalised(module[name])
        key = str(structural_hash(loops) % 2**64)
        known = found.get(key)
        anchors = (*(known.anchors if known else ()), (name, counts[name]))
        found[key] = Task(key, known.name if known else name, "", Variant.DIRECT, anchors, _flop(loops), loops)
        counts[name] += 1
    return list(found.values())


def _calls(module: Any) -> list[str]:
    """The TIR functions that `@main` calls, in order, by name."""
    call, variable = load("ir").Call, load("ir").GlobalVar
    values = [b.value for block in module["main"].body.blocks for b in block.bindings]
    calls = [v for v in values if isinstance(v, call) and str(getattr(v.op, "name", "")).startswith("relax.call_tir")]
    return [str(v.args[0].name_hint) for v in calls if isinstance(v.args[0], variable)]


def _flop(loops: Any) -> int:
    """TVM's count of the operations of a function's loops."""
    return int(load("s_tir.analysis").estimate_tir_flops(loops))
