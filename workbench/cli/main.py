"""Entry point of `workbench` and `python -m workbench`."""

import os
import sys

import typer

from workbench.cli import accel, array, doctor, fleet, listing, lower, run, toolchain, trace, tune
from workbench.cli.console import err
from workbench.core.errors import ExitCode, WorkbenchError, from_os_error

app = typer.Typer(
    name="workbench",
    help="Lower a model to the machine, keep every form it takes on the way, and prove each one right.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command("lower")(lower.command)
app.command("tune")(tune.command)
app.command("run")(run.command)
app.command("list")(listing.command)
app.command("doctor")(doctor.command)
app.add_typer(trace.app, name="trace")
app.add_typer(fleet.app, name="fleet")
accel.app.command("list")(array.machines)
accel.app.command("front")(array.front)
accel.app.command("simulate")(array.simulate)
app.add_typer(accel.app, name="accel")
app.add_typer(toolchain.app, name="toolchain")


def main() -> None:
    """Run a command; every expected failure is one line on stderr and an exit code."""
    try:
        code = app(standalone_mode=False)
    except WorkbenchError as error:
        err.print(f"error: {error}", markup=False)
        if error.trace is not None:
            err.print(f"trace: {error.trace}", markup=False)
        code = int(error.exit_code)
    except (KeyboardInterrupt, typer.Abort):
        err.print("interrupted", markup=False)
        code = int(ExitCode.INTERRUPTED)
    except typer.Exit as stop:
        code = stop.exit_code
    except typer.TyperException as error:
        err.print(f"error: {error.format_message()}", markup=False)
        code = int(ExitCode.USAGE)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except OSError as error:
        err.print(f"error: {from_os_error(error, 'output')}", markup=False)
        code = int(ExitCode.USAGE)
    sys.exit(code)
