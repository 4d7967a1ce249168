"""MetaSchedule's search over the tasks of a model, told as it goes.

`ms` is TVM's package: `tvm.meta_schedule` in 0.19, `tvm.s_tir.meta_schedule` in 0.27.
"""

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from pipelines.tvm.tuning.ansor.tasks import Task
from pipelines.tvm.tuning.fleet import address
from pipelines.tvm.tuning.metaschedule.records import open_database, repair_both
from workbench.core.tuning import Devices, Progress, SearchLimits

CANDIDATES_A_ROUND = 8
LEARNS_AFTER = 16
"""Records before the cost model's word counts. TVM waits for 100."""
POPULATION, GENERATIONS = 96, 2
"""Of the evolution. With TVM's 512 and 4 choosing candidates takes longer than measuring them."""
MEASURE_MS, COLD_RUNS = 40, 10
BUILD_SECONDS, RUN_SECONDS = 40, 10


class _Stop(Exception):
    """The time is used up."""


@dataclass
class Watch:
    """Tells of every round, and ends the search in time."""

    tasks: Sequence[Task]
    limits: SearchLimits
    tell: Progress
    trials: int = 0
    errors: Counter[str] = field(default_factory=Counter[str])
    best_ms: dict[str, float] = field(default_factory=dict[str, float])
    started: float = field(default_factory=time.monotonic)

    def measured(self, task: int, builder_results: Sequence[Any], runner_results: Sequence[Any]) -> None:
        """Take in what a round of a task gave."""
        key = self.tasks[task].key
        for builder, runner in zip(builder_results, runner_results, strict=True):
            self.trials += 1
            error = builder.error_msg or runner.error_msg
            if error:
                late = "timed out" in str(error).lower() or "timeout" in str(error).lower()
                self.errors["timeout" if late else "compile" if builder.error_msg else "launch"] += 1
                continue
            ms_taken = sum(float(s) for s in runner.run_secs) / len(runner.run_secs) * 1e3
            self.best_ms[key] = min(self.best_ms.get(key, ms_taken), ms_taken)
        seconds = time.monotonic() - self.started
        self.tell(
            {"best_ms": dict(self.best_ms), "trials": self.trials, "seconds": seconds, "errors": dict(self.errors)}
        )
        self.tell({"searching": key, "trials": self.trials})
        if self.limits.minutes and seconds > self.limits.minutes * 60:
            raise _Stop


def _callback(ms: Any, watch: Watch) -> Any:
    """`watch` as TVM's hook after a round."""

    class Callback(ms.measure_callback.PyMeasureCallback):
        def apply(self, task_scheduler: Any, task_id: int, candidates: Any, built: Any, ran: Any) -> None:
            watch.measured(int(task_id), list(built), list(ran))

    # Its own module is another in each version; this one has it in both.
    return ms.cost_model.random_model.derived_object(Callback)()


def search(
    ms: Any, tasks: Sequence[Task], target: Any, limits: SearchLimits, log: Path, runner: Any, tell: Progress
) -> dict[str, int]:
    """Measure `limits.trials` candidates, or up to a round more, into `log`; errors by kind are returned.

    TVM's scheduler gives the next round to the task from which the model as a whole has most to gain; what the log has
    already is where evolution starts.
    """
    repair_both(log)
    watch = Watch(tasks, limits, tell)
    cores = int(target.attrs["num-cores"])
    tell({"searching": tasks[0].key, "trials": 0})
    try:
        ms.tune.tune_tasks(
            tasks=[context(ms, task, target, limits.seed + 1 + i) for i, task in enumerate(tasks)],
            task_weights=[float(task.calls) for task in tasks],
            work_dir=str(log.parent),
            max_trials_global=limits.trials,
            num_trials_per_iter=max(min(CANDIDATES_A_ROUND, limits.trials // len(tasks)), 1),
            builder=ms.builder.LocalBuilder(timeout_sec=BUILD_SECONDS),
            runner=runner,
            database=open_database(ms, log),
            cost_model=_cost_model(ms, cores),
            measure_callbacks=[*ms.measure_callback.MeasureCallback.create("default"), _callback(ms, watch)],
        )
    except _Stop:
        tell({"stopped": f"after {limits.minutes:g} minutes"})
    return dict(watch.errors)


def _cost_model(ms: Any, cores: int) -> Any:
    """Boosted trees, or chance where xgboost is not installed: evolution then starts from the best measured."""
    if find_spec("xgboost") is None:
        return ms.cost_model.RandomModel()
    return ms.cost_model.XGBModel(num_warmup_samples=LEARNS_AFTER, num_tuning_cores=cores)


def context(ms: Any, task: Task, target: Any, seed: int) -> Any:
    """What TVM needs to search one task; `seed` is at least 1."""
    strategy = ms.search_strategy.EvolutionarySearch(population_size=POPULATION, genetic_num_iters=GENERATIONS)
    return ms.TuneContext(
        mod=task.search,
        target=target,
        space_generator="post-order-apply",
        search_strategy=strategy,
        task_name=task.name,
        rand_state=seed,
        num_threads=int(target.attrs["num-cores"]),
    ).clone()


def runner(ms: Any, devices: Devices, cold: bool) -> Any:
    """Measures here, or on a fleet. `cold` takes weights out of the caches before each run, as a model's run does."""
    once: dict[str, Any] = {"number": 1, "enable_cpu_cache_flush": cold}
    once |= {"repeat": COLD_RUNS, "min_repeat_ms": 0} if cold else {"repeat": 1, "min_repeat_ms": MEASURE_MS}
    config = ms.runner.EvaluatorConfig(**once)
    if not devices.tracker:
        return ms.runner.LocalRunner(timeout_sec=RUN_SECONDS, evaluator_config=config)
    host, port = address(devices)
    return ms.runner.RPCRunner(
        ms.runner.RPCConfig(
            tracker_host=host,
            tracker_port=port,
            tracker_key=devices.key,
            session_timeout_sec=RUN_SECONDS,
        ),
        config,
    )


def measured_alone(ms: Any, database: Any, target: Any, cold: bool) -> float:
    """Milliseconds of the one candidate of a database, built and run here; infinite when it fails."""
    (record,) = database.get_all_tuning_records()
    candidate = record.as_measure_candidate()
    (built,) = ms.builder.LocalBuilder(timeout_sec=BUILD_SECONDS).build(
        [ms.builder.BuilderInput(candidate.sch.mod, target)]
    )
    if built.error_msg:
        return float("inf")
    inputs = ms.runner.RunnerInput(built.artifact_path, str(target.kind), candidate.args_info)
    (future,) = runner(ms, Devices(), cold).run([inputs])
    result = future.result()
    return float("inf") if result.error_msg else float(np.median([float(s) for s in result.run_secs])) * 1e3
