"""Runs a bundle, judges its outputs and times it; what `workbench run BUNDLE` does."""

import json
import statistics
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workbench.core.arrays import Array, npz_bytes, read_npz
from workbench.core.errors import UsageError
from workbench.launch.plan import LaunchPlan, check_against_ptx
from workbench.launch.runner import Session
from workbench.numerics import TOLERANCE, Verdict, judge

_ROUNDS = 7
_ROUND_MS = 50.0


@dataclass(frozen=True)
class RunResult:
    """What a run found. Times are medians in milliseconds of device time, null unless the outputs were right."""

    bundle: str
    device: str
    code: str
    verdicts: tuple[Verdict, ...]
    times: dict[str, float] = field(default_factory=dict[str, float])
    steps: tuple[dict[str, Any], ...] = ()

    @property
    def ok(self) -> bool:
        """Every output that has a reference is right, and there is at least one."""
        return bool(self.verdicts) and all(v.ok for v in self.verdicts)

    def to_json(self) -> dict[str, Any]:
        """JSON-ready form."""
        return {
            "bundle": self.bundle, "device": self.device, "code": self.code, "ok": self.ok,
            "verdicts": [v.to_json() for v in self.verdicts],
            "milliseconds": self.times or None, "steps": list(self.steps),
        }  # fmt: skip


def load_plan(bundle: Path) -> LaunchPlan:
    """The bundle's plan, checked against its PTX. Raises UsageError."""
    if not (bundle / "plan.json").is_file():
        raise UsageError(f"{bundle} is not a bundle: it has no plan.json")
    plan = LaunchPlan.load(bundle / "plan.json")
    code = bundle / plan.ptx
    if not code.is_file():
        raise UsageError(f"{bundle} has no {plan.ptx}, which its plan names")
    check_against_ptx(plan, code.read_text())
    return plan


def run_bundle(
    bundle: Path,
    inputs: Path | None = None,
    save_outputs: Path | None = None,
    time: bool = False,
    profile: bool = False,
    prefer_cubin: bool = True,
) -> RunResult:
    """Run once on poisoned memory, judge against `expected.npz`, then time.

    Inputs of one's own have no reference: the outputs are saved and not judged. Raises UsageError or ToolMissing.
    """
    plan = load_plan(bundle)
    with Session(bundle, plan, prefer_cubin) as session:
        session.set_inputs(read_npz(inputs or bundle / "inputs.npz"))
        session.poison()
        session.enqueue()
        outputs = session.outputs()
        if save_outputs is not None:
            save_outputs.write_bytes(npz_bytes(outputs))
        verdicts = () if inputs else _judge(plan, outputs, read_npz(bundle / "expected.npz"))
        result = RunResult(bundle.name, str(session.device.name), session.code, verdicts)
        if result.ok and time:
            result = _timed(session, result, profile)
    (bundle / "result.json").write_text(json.dumps(result.to_json(), indent=1) + "\n")
    return result


def _judge(plan: LaunchPlan, got: dict[str, Array], want: dict[str, Array]) -> tuple[Verdict, ...]:
    return tuple(judge(o.name, got[o.name], want[o.name], TOLERANCE.get(o.dtype, 0.0)) for o in plan.outputs)


def _timed(session: Session, result: RunResult, profile: bool) -> RunResult:
    times = {"launches": _median(session, session.enqueue), "graph": _median(session, session.graph())}
    steps: tuple[dict[str, Any], ...] = ()
    if profile:
        steps = tuple(
            {"step": i, "kernel": s.kernel, "source": s.source, "milliseconds": _median(session, session.step(i), 3)}
            for i, s in enumerate(session.plan.steps)
        )
    return RunResult(result.bundle, result.device, result.code, result.verdicts, times, steps)


def _median(session: Session, work: Any, rounds: int = _ROUNDS) -> float:
    """Median over rounds of about 50 ms each, after a warm-up that also sizes the rounds."""
    work()
    once = session.time(work, 1)
    repeats = max(1, min(1000, int(_ROUND_MS / max(once, 1e-3))))
    session.time(work, repeats)
    return statistics.median(session.time(work, repeats) for _ in range(rounds))
