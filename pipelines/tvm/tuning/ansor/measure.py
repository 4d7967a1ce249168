"""Where Ansor's candidates are measured: on this machine, or on a fleet."""

import shutil
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import tvm
from tvm import auto_scheduler

from pipelines.tvm.bindings import load
from pipelines.tvm.functions import shape_of
from pipelines.tvm.tuning.fleet import address
from pipelines.tvm.tuning.remote import Fleet
from pipelines.tvm.tuning.session import Candidate, Ran, Timing
from workbench.core.errors import ToolMissing
from workbench.core.tuning import Devices

MEASURE_MS, COLD_RUNS = 40, 10
RUN_SECONDS = 10
NOT_RUN = 1e10
"""Seconds that TVM writes for a candidate that failed."""

_ERRORS = {"load": 3, "launch": 4, "timeout": 7}
"""TVM's MeasureErrorNo of what `Ran` calls a failure."""
_RUN = "auto_scheduler.rpc_runner.run"


def timing(cold: bool) -> Timing:
    """How long to time; `cold` takes weights out of the caches before each run, as a model's run does."""
    return Timing(RUN_SECONDS, 1, COLD_RUNS, 0, True) if cold else Timing(RUN_SECONDS, 1, 1, MEASURE_MS, False)


def local_runner(how: Timing) -> Any:
    """TVM's runner on this machine."""
    return auto_scheduler.LocalRunner(
        timeout=int(how.seconds),
        number=how.number,
        repeat=how.repeat,
        min_repeat_ms=how.min_repeat_ms,
        enable_cpu_cache_flush=how.flush,
    )


@contextmanager
def fleet_runner(fleet: Fleet, how: Timing, log: Path) -> Generator[Any]:
    """A runner for the block whose candidates run on a fleet.

    TVM's own waits without end when no device is left, and takes one that went away for the candidate's failure. Its
    RPCRunner calls a function of TVM's registry by name, which in this block is ours; a runner in Python cannot be had.
    """
    theirs = tvm.get_global_func(_RUN)
    raised: list[Exception] = []

    def run(inputs: Any, builds: Any, *_: Any) -> list[Any]:
        try:
            return _measured(fleet, how, log, list(inputs), list(builds))
        except Exception as error:
            raised.append(error)
            raise

    tvm.register_func(_RUN, run, override=True)
    try:
        yield _Runner(fleet.devices)
    except Exception:
        # On its way through TVM an error loses its type, and sometimes its text.
        if raised:
            raise raised[0] from None
        raise
    finally:
        tvm.register_func(_RUN, theirs, override=True)


class _Runner(auto_scheduler.RPCRunner):
    """TVM's runner without its constructor's own search for a device, which fails on a busy fleet."""

    def __init__(self, devices: Devices) -> None:
        host, port = address(devices)
        asked = (devices.key, host, port, 1, 1, RUN_SECONDS, 1, 1, MEASURE_MS, 0.0, False, 0)
        self.__init_handle_by_constructor__(load("auto_scheduler._ffi_api").RPCRunner, *asked)


def _measured(fleet: Fleet, how: Timing, log: Path, inputs: Sequence[Any], builds: Sequence[Any]) -> list[Any]:
    """Results for the builds. Raises ToolMissing when no device is left, what was measured until then in the log."""
    good = [build for build in builds if not int(build.error_no)]
    ran, gave_up = fleet.measure([_candidate(build) for build in good], how)
    for build in good:
        shutil.rmtree(Path(str(build.filename)).parent, ignore_errors=True)
    rest = iter(ran)
    results = [_failed(build) if int(build.error_no) else _result(next(rest), build) for build in builds]
    if gave_up is None:
        return results
    done = [(i, r) for i, r in zip(inputs, results, strict=True) if r is not None]
    if done:
        auto_scheduler.save_records(str(log), [i for i, _ in done], [r for _, r in done])
    raise ToolMissing(f"{gave_up}; what was measured is in {log}: go on with --resume when there are devices")


def _candidate(build: Any) -> Candidate:
    return Candidate(str(build.filename), tuple((tuple(shape_of(a)), str(a.dtype)) for a in build.args))


def _result(ran: Ran | None, build: Any) -> Any:
    if ran is None:
        return None
    seconds = ran.seconds + float(build.time_cost)
    costs = ran.costs or (NOT_RUN,)
    return auto_scheduler.MeasureResult(costs, _ERRORS.get(ran.failed, 0), ran.message, seconds, time.time())


def _failed(build: Any) -> Any:
    number, message = int(build.error_no), str(build.error_msg or "")
    return auto_scheduler.MeasureResult((NOT_RUN,), number, message, float(build.time_cost), time.time())
