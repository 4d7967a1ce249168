"""Writes a bundle: the folder that `workbench run` takes to a machine with a GPU."""

import json
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from workbench.core.arrays import Array, npz_bytes, read_npz
from workbench.core.errors import UsageError
from workbench.core.kinds import IRKind
from workbench.core.trace import Trace
from workbench.launch.plan import LaunchPlan, check, check_against_ptx, constant_file


def write_bundle(
    folder: Path,
    plan: LaunchPlan,
    ptx: str,
    cubin: bytes | None,
    constants: Path,
    inputs: Mapping[str, Array],
    expected: Mapping[str, Array],
) -> LaunchPlan:
    """Write a bundle into a new folder and return its plan. `constants` holds `<sha256>.npy`.

    Raises UsageError when the folder exists, or when plan and PTX disagree: nothing is then left half-written.
    """
    plan = replace(plan, cubin="kernels.cubin" if cubin else None)
    check(plan)
    check_against_ptx(plan, ptx)
    if folder.exists():
        raise UsageError(f"{folder} exists; give a new folder")
    partial = folder.with_name(folder.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    (partial / "consts").mkdir(parents=True)
    (partial / plan.ptx).write_text(ptx)
    if plan.cubin and cubin:
        (partial / plan.cubin).write_bytes(cubin)
    for constant in plan.constants:
        shutil.copyfile(constants / f"{constant.sha256}.npy", partial / constant_file(constant))
    (partial / "inputs.npz").write_bytes(npz_bytes(inputs))
    (partial / "expected.npz").write_bytes(npz_bytes(expected))
    (partial / "plan.json").write_text(plan.dumps())
    partial.rename(folder)
    return plan


def export_trace(trace: Trace, folder: Path) -> LaunchPlan:
    """Write the bundle of a trace that reached its launch plan and PTX, with the cubin if it was made.

    Raises UsageError naming the stage that is missing.
    """
    made = {IRKind(s["kind"]): s for s in trace.stages if s["status"] == "done"}
    for kind in (IRKind.PLAN, IRKind.PTX):
        if kind not in made:
            why = [s.get("reason") or s["status"] for s in trace.stages if s["kind"] == kind]
            raise UsageError(f"{trace.root.name} has no {kind}: {why[0] if why else 'its route does not make one'}")
    plan = LaunchPlan.from_json(json.loads(trace.text(made[IRKind.PLAN])))
    blobs = trace.artefact(made[IRKind.SASS]).blobs if IRKind.SASS in made else {}
    return write_bundle(
        folder,
        replace(plan, model=str(trace.manifest.get("model", ""))),
        trace.text(made[IRKind.PTX]),
        blobs.get("kernels.cubin"),
        trace.root / "consts",
        read_npz(trace.root / "numerics" / "inputs.npz"),
        read_npz(trace.root / "numerics" / "reference.npz"),
    )
