"""`workbench run`: execute a bundle on a GPU machine."""

from pathlib import Path
from typing import Annotated

import typer

from workbench.core.errors import UsageError


def command(bundle: Annotated[Path, typer.Argument(help="Bundle folder.")]) -> None:
    """Run a launch-plan bundle on this machine's GPU."""
    raise UsageError(f"{bundle}: not a bundle")
