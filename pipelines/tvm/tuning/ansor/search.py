"""Ansor's search over the tasks of a model, told as it goes."""

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from tvm import auto_scheduler
from tvm.auto_scheduler.task_scheduler import TaskSchedulerCallback

from pipelines.tvm.tuning.ansor.measure import local_runner, timing
from pipelines.tvm.tuning.ansor.model import WatchedModel
from pipelines.tvm.tuning.ansor.records import ERROR_KINDS, Record, read_log, read_records
from pipelines.tvm.tuning.ansor.tasks import Task
from workbench.core.tuning import Progress, SearchLimits

POLICY = {
    "evolutionary_search_population": 96,
    "evolutionary_search_num_iters": 2,
    "sample_init_min_population": 16,
    "sample_init_use_measured_ratio": 0.2,
}
"""A small population: with TVM's 2048 choosing candidates takes longer than measuring them."""
CANDIDATES_A_ROUND = 10
TRANSFERRED = 2
"""Candidates of a task that are taken over from another log."""
BUILD_SECONDS = 60
BUILDS_A_BATCH = 5
"""TVM starts as many processes for each batch of twice as many candidates, and one that runs them: with one for each
core, more time goes into starting them than into compiling."""


class _Stop(Exception):
    """The trials or the time are used up; the text says which, when the user should know."""


@dataclass
class _Watch(TaskSchedulerCallback):
    """Tells of every round, and ends the search in time."""

    tasks: Sequence[Task]
    tell: Progress
    limits: SearchLimits
    trials: int = 0
    errors: Counter[str] = field(default_factory=Counter[str])
    started: float = field(default_factory=time.monotonic)

    def pre_tune(self, task_scheduler: Any, task_id: int) -> None:
        if self.limits.minutes and time.monotonic() - self.started > self.limits.minutes * 60:
            raise _Stop(f"after {self.limits.minutes:g} minutes")
        task_scheduler.num_measures_per_round = min(CANDIDATES_A_ROUND, self.limits.trials - self.trials)
        if task_scheduler.num_measures_per_round <= 0:
            raise _Stop
        self.tell({"searching": self.tasks[task_id].key, "trials": self.trials})

    def measured(self, results: Sequence[Any]) -> None:
        """Count what a batch gave."""
        self.trials += len(results)
        self.errors.update(ERROR_KINDS[int(r.error_no)] for r in results if int(r.error_no))

    def post_tune(self, task_scheduler: Any, task_id: int) -> None:
        best = {t.key: float(c) * 1e3 for t, c in zip(self.tasks, task_scheduler.best_costs, strict=True) if c < 1e9}
        seconds = time.monotonic() - self.started
        self.tell({"best_ms": best, "trials": self.trials, "seconds": seconds, "errors": dict(self.errors)})


def search(
    tasks: Sequence[Task], limits: SearchLimits, log: Path, runner: Any, tell: Progress
) -> tuple[WatchedModel, dict[str, int]]:
    """Measure up to `limits.trials` candidates into `log`, going on from what it holds; errors by kind are returned.

    The scheduler gives the next round to the task from which the model as a whole has most to gain.
    """
    model = WatchedModel(limits.seed)
    watch = _Watch(tasks, tell, limits)
    if limits.transfer:
        _transfer(tasks, Path(limits.transfer), log, runner, watch)
    known = str(log) if log.exists() and log.stat().st_size else ""
    if known:
        model.update_from_file(known)
    np.random.seed(limits.seed)
    make_scheduler: Any = auto_scheduler.TaskScheduler
    scheduler = make_scheduler(
        [t.search for t in tasks], [t.calls for t in tasks], load_log_file=known or None, callbacks=[watch]
    )
    options = auto_scheduler.TuningOptions(
        # TVM shrinks its rounds when trials are few for the tasks, as after a crash; here the watch ends the search.
        num_measure_trials=max(limits.trials, len(tasks) * CANDIDATES_A_ROUND),
        num_measures_per_round=CANDIDATES_A_ROUND,
        builder=auto_scheduler.LocalBuilder(timeout=BUILD_SECONDS, n_parallel=BUILDS_A_BATCH),
        runner=runner,
        measure_callbacks=[auto_scheduler.RecordToFile(str(log)), _Counted(watch)],
        verbose=0,
    )
    try:
        scheduler.tune(options, search_policy=[_policy(t, model, limits.seed, known) for t in tasks])
    except _Stop as stop:
        tell({"stopped": str(stop)})
    return model, dict(watch.errors)


def _transfer(tasks: Sequence[Task], other: Path, log: Path, runner: Any, watch: _Watch) -> None:
    """Measure the best candidates of each task in a log for another target, as far as the trials go."""
    records = sorted((r for r in read_log(other) if r.seconds is not None), key=lambda r: r.seconds or 0.0)
    lines = [r.line for t in tasks for r in [r for r in records if r.key == t.key][:TRANSFERRED]]
    searched = {t.key: t.search for t in tasks}
    states = [recorded for recorded, _ in read_records(lines[: watch.limits.trials])]
    builder = auto_scheduler.LocalBuilder(timeout=BUILD_SECONDS, n_parallel=BUILDS_A_BATCH)
    for start in range(0, len(states), CANDIDATES_A_ROUND):
        batch = states[start : start + CANDIDATES_A_ROUND]
        inputs = [auto_scheduler.MeasureInput(searched[str(i.task.workload_key)], i.state) for i in batch]
        results = runner.run(inputs, builder.build(inputs, verbose=0), verbose=0)
        auto_scheduler.save_records(str(log), inputs, results)
        watch.measured(results)
        watch.tell({"doing": f"measured {watch.trials} candidates of {other.name}"})


def _policy(task: Task, model: WatchedModel, seed: int, known: str) -> Any:
    loaded = [auto_scheduler.PreloadMeasuredStates(known)] if known else None
    return auto_scheduler.SketchPolicy(
        task.search, model, params=dict(POLICY), seed=seed, verbose=0, init_search_callbacks=loaded
    )


class _Counted(auto_scheduler.measure.PythonBasedMeasureCallback):
    """Counts what each batch gave."""

    def __init__(self, watch: _Watch) -> None:
        super().__init__()
        self._watch = watch

    def callback(self, policy: Any, inputs: Any, results: Any) -> None:
        """TVM's hook after a batch."""
        self._watch.measured(results)


def valid_candidates(task: Task, seed: int) -> int:
    """How many of a first sample of candidates can be lowered; 0 says that the search would find nothing."""
    policy = auto_scheduler.SketchPolicy(
        task.search, auto_scheduler.RandomModel(), params=dict(POLICY), seed=seed, verbose=0
    )
    states = policy.sample_initial_population()
    features = auto_scheduler.feature.get_per_store_features_from_states(states, task.search)
    return sum(bool(np.any(f)) for f in features)


def measured_alone(task: Task, record: Record, cold: bool) -> float:
    """Milliseconds of a recorded candidate, built and run here; infinite when it fails."""
    ((recorded, _),) = read_records([record.line])
    inputs = [auto_scheduler.MeasureInput(task.search, recorded.state)]
    built = auto_scheduler.LocalBuilder(timeout=BUILD_SECONDS, n_parallel=1).build(inputs, verbose=0)
    (result,) = local_runner(timing(cold)).run(inputs, built, verbose=0)
    return float("inf") if result.error_no else float(np.median([float(c) for c in result.costs])) * 1e3
