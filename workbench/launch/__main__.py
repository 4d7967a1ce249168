"""`python -m workbench.launch BUNDLE`: the runner where only numpy and cuda-core are installed."""

import argparse
import sys
from pathlib import Path

from workbench.core.errors import ExitCode, WorkbenchError
from workbench.launch.bundle import RunResult, load_plan, run_bundle


def main(argv: list[str] | None = None) -> int:
    """Run, print one line an output, and return the exit code (4: numbers differ)."""
    parser = argparse.ArgumentParser(prog="python -m workbench.launch", description=__doc__)
    parser.add_argument("bundle", type=Path)
    parser.add_argument("--inputs", type=Path, help="inputs of your own (.npz by name); outputs are then not judged")
    parser.add_argument("--save-outputs", type=Path, help="write the outputs to this .npz")
    parser.add_argument("--time", action="store_true", help="time the whole plan when the outputs are right")
    parser.add_argument("--profile", action="store_true", help="with --time: each step too")
    parser.add_argument("--ptx", action="store_true", help="let the driver compile the PTX even if a cubin fits")
    parser.add_argument("--check", action="store_true", help="only check the plan against its PTX; needs no GPU")
    args = parser.parse_args(argv)
    try:
        if args.check:
            plan = load_plan(args.bundle)
            print(f"{args.bundle.name}: {len(plan.steps)} steps, arena {plan.arena_bytes} bytes, plan and PTX agree")
            return ExitCode.DONE
        result = run_bundle(args.bundle, args.inputs, args.save_outputs, args.time, args.profile, not args.ptx)
    except WorkbenchError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    print("\n".join(describe(result)))
    return ExitCode.DONE if result.ok or args.inputs else ExitCode.NUMBERS_DIFFER


def describe(result: RunResult) -> list[str]:
    """What a person wants to read of a result."""
    lines = [f"{result.bundle} on {result.device} ({result.code})"]
    for v in result.verdicts:
        word = "right" if v.ok else f"WRONG ({v.reason})"
        lines.append(f"  {v.output}: {word}, error {v.error:.2e} of the output's scale, tolerance {v.tolerance:.0e}")
    lines += [f"  {name}: {ms:.4f} ms" for name, ms in result.times.items()]
    slowest = sorted(result.steps, key=lambda s: -s["milliseconds"])[:15]
    lines += [f"    {s['milliseconds']:.4f} ms  step {s['step']:3}  {s['kernel']}  {s['source']}" for s in slowest]
    return lines


if __name__ == "__main__":
    sys.exit(main())
