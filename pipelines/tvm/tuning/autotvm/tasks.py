"""The tasks of a model: one for each template and shapes that TVM's own build takes."""

from dataclasses import dataclass
from typing import Any

from pipelines.tvm.bindings import OPT_LEVEL, load
from pipelines.tvm.functions import calls_of, flop
from pipelines.tvm.tuning.anchors import Anchor, anchors_of, described
from pipelines.tvm.tuning.autotvm.records import key_of

CONFIGS_TRIED = 4
"""Configurations that are lowered before a task is said to have none that can be."""


@dataclass(frozen=True)
class Task:
    """One task. `anchors` are the places of the model that it computes, `flop` that of one call, `search` TVM's."""

    key: str
    name: str
    anchors: tuple[Anchor, ...]
    flop: int
    search: Any

    @property
    def calls(self) -> int:
        """How often a run of the model computes it."""
        return len(self.anchors)


def tasks_of(module: Any, parameters: dict[str, Any], target: Any) -> list[Task]:
    """Tasks of an imported module, in the order in which the model runs them.

    They are found by watching TVM build the model, so that each is known by its places, and only templates that TVM
    takes are searched: `dense_pack` where it could also take `dense_nopack`.
    """
    from pipelines.tvm.tuning.autotvm.watch import Watch

    tvm, relay, create = load(), load("relay"), load("autotvm.task").create
    compiler = load("relay.backend.te_compiler").get()
    found: dict[str, Task] = {}
    watch = Watch()
    with watch, tvm.transform.PassContext(opt_level=OPT_LEVEL):
        optimised, _ = relay.optimize(module, target, parameters)
        compiler.clear()
        for anchor, function in anchors_of(optimised):
            # The same function is lowered once only, and asks for nothing a second time.
            compiler.clear()
            watch.asked.clear()
            with target:
                compiler.lower(function, target)
            workload = watch.task()
            if workload is None:
                continue
            key = key_of(workload)
            known = found.get(key)
            search = known.search if known else create(workload[0], workload[1:], target)
            work = sum(map(flop, calls_of(function)))
            anchors = (*(known.anchors if known else ()), anchor)
            found[key] = Task(key, described(function), anchors, work, search)
        compiler.clear()
    return list(found.values())


def lowers(task: Task, seed: int) -> bool:
    """Whether one of a few configurations drawn by `seed` can be lowered."""
    import numpy as np

    tvm, space = load(), task.search.config_space
    np.random.seed(seed)
    for index in space.sample_ints(min(CONFIGS_TRIED, len(space))):
        try:
            with task.search.target:
                schedule, arguments = task.search.instantiate(space.get(int(index)))
                tvm.lower(schedule, arguments)
            return True
        except (tvm.error.TVMError, ValueError, RuntimeError):
            continue
    return False
