"""AutoTVM's search, one task after another, told as it goes. Loads TVM."""

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from tvm import autotvm
from tvm.autotvm.tuner.sa_model_optimizer import SimulatedAnnealingOptimizer
from tvm.autotvm.tuner.xgboost_tuner import XGBTuner

from pipelines.tvm.tuning.autotvm.records import read_log, read_records
from pipelines.tvm.tuning.autotvm.tasks import Task
from pipelines.tvm.tuning.fleet import address
from pipelines.tvm.tuning.logs import ERROR_KINDS, repair
from workbench.core.tuning import Devices, Progress, SearchLimits

PLAN = 16
"""Candidates between two fits of the cost model. With TVM's 64 a short search of many tasks would be random."""
WALKERS, STEPS = 32, 30
"""Annealing over the model's word, which lowers a candidate for each step. TVM has 128 walkers of 500 steps."""
TOLD_EVERY = 8
MEASURE_MS, COLD_RUNS = 40, 10
BUILD_SECONDS, RUN_SECONDS = 40, 10


class _Stop(Exception):
    """The time is used up."""


@dataclass
class Watch:
    """Counts what was measured, tells of it, and ends the search in time."""

    tell: Progress
    limits: SearchLimits
    best_ms: dict[str, float]
    trials: int = 0
    errors: Counter[str] = field(default_factory=Counter[str])
    started: float = field(default_factory=time.monotonic)

    def measured(self, key: str, results: Sequence[Any]) -> None:
        """Take in what a batch of a task gave."""
        before = self.trials
        self.trials += len(results)
        for result in results:
            if int(result.error_no):
                self.errors[ERROR_KINDS[int(result.error_no)]] += 1
            else:
                ms = float(np.mean(result.costs)) * 1e3
                self.best_ms[key] = min(self.best_ms.get(key, ms), ms)
        if before // TOLD_EVERY != self.trials // TOLD_EVERY:
            self.report()
        if self.limits.minutes and time.monotonic() - self.started > self.limits.minutes * 60:
            raise _Stop

    def report(self) -> None:
        """Tell how far the search is."""
        seconds = time.monotonic() - self.started
        self.tell(
            {"best_ms": dict(self.best_ms), "trials": self.trials, "seconds": seconds, "errors": dict(self.errors)}
        )


def search(
    tasks: Sequence[tuple[Task, float]], limits: SearchLimits, log: Path, runner: Any, tell: Progress
) -> dict[str, int]:
    """Measure up to `limits.trials` candidates into `log`, none that it has already; errors by kind are returned.

    Each task comes with its share of the model's time, by which it gets trials. What a small space leaves over goes to
    the tasks after it.
    """
    np.random.seed(limits.seed)
    known: dict[str, list[str]] = {}
    if log.exists():
        repair(log)
        for record in read_log(log) if log.stat().st_size else []:
            known.setdefault(record.key, []).append(record.line)
    watch = Watch(tell, limits, {})
    options = autotvm.measure_option(builder=autotvm.LocalBuilder(timeout=BUILD_SECONDS), runner=runner)
    try:
        for index, (task, share) in enumerate(tasks):
            left = limits.trials - watch.trials
            after = tasks[index + 1 :]
            part = share / max(share + sum(s for _, s in after), 1e-9)
            trials = min(max(round(left * part), 1), left - len(after))
            tell({"searching": task.key, "trials": watch.trials})
            _tune(task, trials, known.get(task.key, []), log, options, watch)
    except _Stop:
        tell({"stopped": f"after {limits.minutes:g} minutes"})
    watch.report()
    return dict(watch.errors)


def _tune(task: Task, trials: int, known: Sequence[str], log: Path, options: Any, watch: Watch) -> None:
    """Search one task, its model taught by what the log has of it already."""
    annealing: Any = SimulatedAnnealingOptimizer(task.search, n_iter=STEPS, parallel_size=WALKERS, log_interval=0)
    tuner: Any = XGBTuner(
        task.search,
        plan_size=PLAN,
        feature_type="itervar",
        loss_type="rank-binary",
        optimizer=annealing,
        log_interval=0,
    )
    pairs = read_records(known)
    inputs = [autotvm.MeasureInput(task.search.target, task.search, i.config) for i, _ in pairs]
    tuner.update(inputs, [result for _, result in pairs])
    write = autotvm.callback.log_to_file(str(log))

    def measured(tuner: Any, inputs: Any, results: Any) -> None:
        write(tuner, inputs, results)
        watch.measured(task.key, results)

    tuner.tune(n_trial=trials, measure_option=options, callbacks=[measured])


def runner(devices: Devices, cold: bool) -> Any:
    """Measures here, or on a fleet. `cold` takes weights out of the caches before each run, as a model's run does."""
    once: dict[str, Any] = {"timeout": RUN_SECONDS, "number": 1, "enable_cpu_cache_flush": cold, "cooldown_interval": 0}
    once |= {"repeat": COLD_RUNS, "min_repeat_ms": 0} if cold else {"repeat": 1, "min_repeat_ms": MEASURE_MS}
    if not devices.tracker:
        return autotvm.LocalRunner(**once)
    host, port = address(devices)
    return autotvm.RPCRunner(devices.key, host, port, **once)


def measured_alone(task: Task, line: str, cold: bool) -> float:
    """Milliseconds of a recorded candidate, built and run here; infinite when it fails."""
    ((recorded, _),) = read_records([line])
    builder = autotvm.LocalBuilder(timeout=BUILD_SECONDS)
    options = autotvm.measure_option(builder=builder, runner=runner(Devices(), cold))
    measure = autotvm.measure.create_measure_batch(task.search, options)
    (result,) = measure([autotvm.MeasureInput(task.search.target, task.search, recorded.config)])
    return float("inf") if result.error_no else float(np.median(result.costs)) * 1e3
