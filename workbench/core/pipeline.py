"""A pipeline is an ordered list of stages whose kinds chain; each stage takes the latest artefact of its kind."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from workbench.core.artefact import Artefact
from workbench.core.errors import Skip, UsageError
from workbench.core.kinds import IRKind
from workbench.core.stage import Context, Stage


@dataclass(frozen=True)
class Pipeline:
    """The stages of one route. `start` is the kind that the first stage consumes.

    A route may branch: a stage that consumes an earlier kind starts from the latest artefact of that kind.
    """

    stages: tuple[Stage, ...]

    def __post_init__(self) -> None:
        if not self.stages:
            raise UsageError("a pipeline needs at least one stage")
        made = {self.stages[0].consumes}
        for stage in self.stages:
            for kind in (stage.consumes, *stage.needs):
                if kind not in made:
                    raise UsageError(f"stage '{stage.name}' needs {kind} but no stage before it makes that")
            made.add(stage.produces)

    def index(self, name: str) -> int:
        """Position of the stage called `name`; raises UsageError listing the stages."""
        for i, stage in enumerate(self.stages):
            if stage.name == name:
                return i
        raise UsageError(f"no stage '{name}' in this route; its stages: {', '.join(s.name for s in self.stages)}")

    def segments(self, start: int, stop: int) -> list[range]:
        """Runs of consecutive stages in [start, stop) that share a process."""
        out: list[range] = []
        for i in range(start, stop):
            if out and self.stages[i].process == self.stages[out[-1].start].process:
                out[-1] = range(out[-1].start, i + 1)
            else:
                out.append(range(i, i + 1))
        return out

    def run(self, ctx: Context, span: Sequence[int]) -> None:
        """Run the stages at the positions in `span`, reading from and adding to `ctx.latest`.

        A stage whose input was never made is skipped with that reason. Any error ends the run after observers saw it.
        """
        for i in span:
            stage = self.stages[i]
            missing = [kind for kind in (stage.consumes, *stage.needs) if kind not in ctx.latest]
            if missing:
                ctx.observers.skipped_stage(i, stage, f"no {missing[0]} was made before it")
                continue
            self._run_one(ctx, i, stage, ctx.latest[stage.consumes])

    def _run_one(self, ctx: Context, index: int, stage: Stage, ir: Artefact) -> None:
        ctx.observers.before_stage(index, stage)
        started = time.perf_counter()
        try:
            out = stage.apply(ctx, ir)
            stage.verify(ctx, out)
        except Skip as skip:
            ctx.observers.skipped_stage(index, stage, str(skip))
            if stage.produces != stage.consumes:
                ctx.latest.pop(stage.produces, None)
            return
        except BaseException as error:
            ctx.observers.failed_stage(index, stage, error)
            raise
        seconds = time.perf_counter() - started
        ctx.latest[stage.produces] = out
        ctx.observers.after_stage(index, stage, out, seconds)


def kinds_between(pipeline: Pipeline, start: int, stop: int) -> set[IRKind]:
    """Kinds that stages in [start, stop) read before any of them makes it: what a segment needs from the trace."""
    need: set[IRKind] = set()
    made: set[IRKind] = set()
    for stage in pipeline.stages[start:stop]:
        need |= {stage.consumes, *stage.needs} - made
        made.add(stage.produces)
    return need
