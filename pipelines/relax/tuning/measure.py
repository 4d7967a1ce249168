"""A build of a fused model, and how long each of its functions takes in a run."""

import dataclasses
import statistics
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from pipelines.relax.run import VmExecutable
from pipelines.relax.stages import RelaxHostTir, RelaxToLlvmIr, RelaxToTir, planned
from pipelines.relax.text import text_of
from pipelines.tvm.tuning.anchors import Anchor
from pipelines.tvm.tuning.job import Job
from pipelines.tvm.tuning.schedules import Schedules
from workbench.core.artefact import Artefact
from workbench.core.kinds import IRKind
from workbench.core.stage import Context
from workbench.core.target import Target

MOST_RUNS, MEASURE_SECONDS = 15, 3.0
"""Runs in which functions are timed: at least three, and as many more as fit in the time, for plain loops are slow."""


def compiled(job: Job, schedules: Schedules, target: Target, root: Path) -> tuple[VmExecutable, dict[Anchor, float]]:
    """The model by the route's own stages, and the milliseconds of each call of a function in it."""
    with tempfile.TemporaryDirectory(prefix="workbench-") as scratch:
        ctx = Context(target, root, Path(scratch), capture=False)
        module = planned(ctx, job.module, schedules)
        ir = Artefact(IRKind.RELAX_VM, text_of(module), handle=module, signature=job.signature)
        for stage in (RelaxToTir(), RelaxHostTir(), RelaxToLlvmIr()):
            ir = stage.apply(ctx, ir)
    executable = VmExecutable(ir.handle, job.signature, ctx.store, target.threads)
    return executable, _call_ms(job, executable)


def _call_ms(job: Job, executable: VmExecutable) -> dict[Anchor, float]:
    """Median time of each call of a TIR function, the n-th of its name, over whole runs."""
    names = {str(name.name_hint) for name in job.module.get_global_vars()} - {"main"}
    clock = _Clock(names)
    executable(job.inputs)
    executable.machine.set_instrument(clock)
    until = time.monotonic() + MEASURE_SECONDS
    for run in range(MOST_RUNS):
        if run >= 3 and time.monotonic() > until:
            break
        clock.counts.clear()
        executable(job.inputs)
    executable.machine.set_instrument(None)
    return {anchor: statistics.median(times) * 1e3 for anchor, times in clock.seconds.items()}


@dataclasses.dataclass
class _Clock:
    """TVM's hook before and after each call that its virtual machine makes."""

    names: set[str]
    counts: Counter[str] = dataclasses.field(default_factory=Counter[str])
    seconds: dict[Anchor, list[float]] = dataclasses.field(default_factory=dict[Anchor, list[float]])
    started: float = 0.0

    def __call__(self, function: Any, symbol: str, before: bool, result: Any, *arguments: Any) -> int:
        if before:
            self.started = time.perf_counter()
        elif symbol in self.names:
            taken = time.perf_counter() - self.started
            self.seconds.setdefault((symbol, self.counts[symbol]), []).append(taken)
            self.counts[symbol] += 1
        return 0
