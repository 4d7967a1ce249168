"""`workbench run`: execute a bundle, or a trace that reached a launch plan, on this machine's GPU."""

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from workbench.cli.console import DEFAULT_RUNS, RunsOption, out
from workbench.core.errors import ExitCode, UsageError


def command(
    bundle: Annotated[str, typer.Argument(help="Bundle folder, or a trace: folder, part of its name, or `last`.")],
    inputs: Annotated[Path | None, typer.Option(help="Inputs of your own (.npz by name); not judged then.")] = None,
    save_outputs: Annotated[Path | None, typer.Option(help="Write the outputs to this .npz.")] = None,
    export: Annotated[Path | None, typer.Option(help="Only write the trace's bundle here; needs no GPU.")] = None,
    time: Annotated[bool, typer.Option("--time", help="Time the plan when its outputs are right.")] = False,
    profile: Annotated[bool, typer.Option("--profile", help="Time each step too.")] = False,
    runs: RunsOption = DEFAULT_RUNS,
) -> None:
    """Run a launch plan on this machine's GPU and judge it against the float64 reference."""
    from workbench.core.trace import find_trace
    from workbench.launch.__main__ import describe
    from workbench.launch.bundle import run_bundle
    from workbench.launch.export import export_trace

    is_bundle = (Path(bundle) / "plan.json").is_file()
    if export is not None:
        if is_bundle:
            raise UsageError(f"{bundle} is a bundle already; --export takes a trace")
        plan = export_trace(find_trace(runs, bundle), export)
        out.print(f"{export}: {len(plan.steps)} launches, {len(plan.constants)} constants", markup=False)
        return
    with tempfile.TemporaryDirectory(prefix="workbench-") as scratch:
        folder = Path(bundle)
        if not is_bundle:
            folder = Path(scratch) / "bundle"
            export_trace(find_trace(runs, bundle), folder)
        result = run_bundle(folder, inputs, save_outputs, time or profile, profile)
    out.print("\n".join(describe(result)), markup=False)
    if not result.ok and inputs is None:
        raise typer.Exit(ExitCode.NUMBERS_DIFFER)
