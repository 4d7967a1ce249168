"""Builds of one model beside each other: right first, then how long the whole takes and each of its places."""

import json
import statistics
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from pipelines.tvm.bindings import OPT_LEVEL, load
from pipelines.tvm.compile import lower, optimise, to_host, to_machine_code
from pipelines.tvm.functions import calls_of, fused_functions
from pipelines.tvm.handle import Built
from pipelines.tvm.run import GraphExecutable
from pipelines.tvm.tuning.anchors import Anchor, computes, family
from pipelines.tvm.tuning.job import Job
from pipelines.tvm.tuning.schedules import Schedules
from workbench.core.executable import Executable
from workbench.core.timing import interleaved
from workbench.numerics import judge_all

NODE_RUNS = 15


@dataclass(frozen=True)
class Measured:
    """One build. `node_ms` has the time of each place of the model as the graph runs it, caches and all."""

    schedules: Schedules
    executable: Executable
    node_ms: Mapping[Anchor, float]
    error: float
    wrong: str


def build(job: Job, schedules: Schedules) -> Measured:
    """Compile, run and judge a model under `schedules`, and time its places."""
    executable, node_ms = job.compile(job, schedules)
    verdicts = judge_all(executable(job.inputs), job.reference)
    wrong = next((f"output '{v.output}': {v.reason}" for v in verdicts if not v.ok), "")
    return Measured(schedules, executable, node_ms, max(v.error for v in verdicts), wrong)


def compiled(job: Job, schedules: Schedules) -> tuple[Executable, dict[Anchor, float]]:
    """TVM 0.19's build of a model, and the time of each node of its graph."""
    tvm = load()
    with tvm.transform.PassContext(opt_level=OPT_LEVEL, config=dict(schedules.config)):
        optimised = optimise(job.module, job.target, job.parameters, schedules)
        lowered = lower(optimised)
    with tvm.transform.PassContext(opt_level=OPT_LEVEL):
        built = to_machine_code(to_host(lowered))
    kinds = _families(built.graph, fused_functions(optimised.module))
    return GraphExecutable(built, job.signature), _node_ms(job, built, kinds)


def whole_ms(job: Job, builds: Mapping[str, Measured], seconds: float) -> dict[str, float]:
    """Median milliseconds of a run of each build, in as many interleaved rounds as fit in `seconds` for each."""
    runs = {name: partial(b.executable, job.inputs) for name, b in builds.items()}
    expected = max(sum(b.node_ms.values()) for b in builds.values()) / 1e3
    rounds = min(max(int(seconds / expected), 7), 200)
    return {name: statistics.median(times) * 1e3 for name, times in interleaved(runs, rounds).items()}


def _families(graph: str, functions: Mapping[str, Any]) -> list[str]:
    """The family of each node of a graph, "" for inputs and for what only moves elements."""
    kinds: list[str] = []
    for node in json.loads(graph)["nodes"]:
        function = functions.get(node.get("attrs", {}).get("hash", "")) if node["op"] == "tvm_op" else None
        names = computes(calls_of(function)) if function is not None else []
        kinds.append(family(names[0]) if names else "")
    return kinds


def _node_ms(job: Job, built: Built, kinds: list[str]) -> dict[Anchor, float]:
    """Median time of each node over runs in the graph's order, so that each finds the caches as in a real run."""
    create = load("contrib.debugger.debug_executor").create
    module = create(built.graph, built.library, load().cpu(0))
    for name, value in built.parameters.items():
        module.set_input(name, value)
    for spec, name in zip(job.signature.inputs, GraphExecutable.input_names(job.signature), strict=True):
        if module.get_input_index(name) >= 0:
            module.set_input(name, load().nd.array(job.inputs[spec.name]))
    execute = module.module["execute_node"]
    times: list[list[float]] = [[] for _ in kinds]
    for _ in range(NODE_RUNS):
        for index in range(len(kinds)):
            started = time.perf_counter()
            execute(index)
            times[index].append(time.perf_counter() - started)
    counts: Counter[str] = Counter()
    found: dict[Anchor, float] = {}
    for kind, taken in zip(kinds, times, strict=True):
        if kind:
            found[(kind, counts[kind])] = statistics.median(taken[2:]) * 1e3
            counts[kind] += 1
    return found
