"""`workbench fleet`: the devices that `tune --tracker` measures on."""

from dataclasses import asdict
from typing import Annotated, Any

import typer
from rich.table import Table

from workbench.cli.console import JsonOption, err, out, print_json
from workbench.fleet import FleetRequest, start, status

app = typer.Typer(help="Devices behind TVM's RPC tracker, on which `tune` measures.", no_args_is_help=True)

ViaOption = Annotated[str, typer.Option(help="Route whose tuner measures there.")]


@app.command("start")
def start_(
    devices: Annotated[int, typer.Option(help="Servers to start.")] = 1,
    key: Annotated[str, typer.Option(help="Key of the devices.")] = "workbench",
    port: Annotated[int, typer.Option(help="Port of the tracker.")] = 9190,
    threads: Annotated[int, typer.Option(min=1, help="Threads that each device computes with.")] = 1,
    via: ViaOption = "tvm",
) -> None:
    """Start a tracker and servers on this machine, to try a fleet out; Ctrl-C ends them."""
    start(FleetRequest(devices, key, port, threads, via), lambda message: _tell(message, threads))
    err.print("the fleet has ended", markup=False)


@app.command("status")
def status_(
    tracker: Annotated[str, typer.Option(help="HOST:PORT of the tracker.")] = "127.0.0.1:9190",
    via: ViaOption = "tvm",
    json: JsonOption = False,
) -> None:
    """List a tracker's devices by key."""
    found = status(via, tracker)
    if json:
        print_json([asdict(queue) | {"busy": queue.busy} for queue in found])
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("key")
    for column in ("total", "free", "pending", "busy"):
        table.add_column(column, justify="right")
    for queue in found:
        table.add_row(queue.key, *map(str, (queue.total, queue.free, queue.pending, queue.busy)))
    out.print(table if found else f"the tracker at {tracker} has no devices")


def _tell(message: dict[str, Any], threads: int) -> None:
    if "restarted" in message:
        number, ended, pid = message["restarted"], message["ended"], message["pid"]
        err.print(f"device {number} (pid {ended}) ended and was started again (pid {pid})", markup=False)
        return
    pids = ", ".join(map(str, message["pids"]))
    out.print(f"{len(message['pids'])} devices of key '{message['key']}' are up: pids {pids}", markup=False)
    words = f"--tracker {message['tracker']} --key {message['key']} --threads {threads}"
    out.print(f"workbench tune MODEL {words}", markup=False, soft_wrap=True)
