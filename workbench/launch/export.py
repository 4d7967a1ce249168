"""Writes a bundle: the folder that `workbench run` takes to a machine with a GPU."""

import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from workbench.core.errors import UsageError
from workbench.launch.plan import LaunchPlan, check, check_against_ptx, constant_file
from workbench.launch.runner import Array


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
    np.savez(partial / "inputs.npz", **dict(inputs))  # pyright: ignore[reportArgumentType]
    np.savez(partial / "expected.npz", **dict(expected))  # pyright: ignore[reportArgumentType]
    (partial / "plan.json").write_text(plan.dumps())
    partial.rename(folder)
    return plan
