"""The observer that judges executed results against the float64 reference."""

from typing import Any

from workbench.core.arrays import read_npz
from workbench.core.artefact import Artefact
from workbench.core.kinds import IRKind
from workbench.core.observe import Observer
from workbench.core.stage import Stage
from workbench.core.trace.layout import write_json
from workbench.core.trace.writer import TraceWriter
from workbench.numerics import judge_all


class Verifier(Observer):
    """Compares each result with numerics/reference.npz and writes numerics/<stage>.json. Collects `verdicts`.

    A wrong result does not stop the run: the remaining forms are still made. A time is kept only for a right result.
    """

    def __init__(self, writer: TraceWriter, tolerance: float | None = None) -> None:
        self._writer = writer
        self._tolerance = tolerance
        self.verdicts: list[dict[str, Any]] = []

    def after_stage(self, index: int, stage: Stage, out: Artefact, seconds: float) -> None:
        if out.kind is not IRKind.RESULT:
            return
        numerics = self._writer.root / "numerics"
        want = read_npz(numerics / "reference.npz")
        outputs = [v.to_json() for v in judge_all(out.handle, want, self._tolerance)]
        right = all(v["ok"] for v in outputs)
        timing = {k: (out.facts.get(k) if right else None) for k in ("seconds_per_run", "runs", "threads")}
        record = {"stage": stage.name, "index": index, "ok": right, "outputs": outputs, **timing}
        write_json(numerics / f"{stage.name}.json", record)
        self._writer.event("verdict", stage=stage.name, ok=right, outputs=outputs, **timing)
        self._writer.save()
        self.verdicts += outputs
