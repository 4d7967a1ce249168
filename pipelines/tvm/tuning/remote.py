"""Candidates measured on a fleet. A device that goes away costs time: what ran on it runs again on another."""

import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from pipelines.tvm.tuning.fleet import GaveUp, acquire, queues
from pipelines.tvm.tuning.session import Candidate, Client, Ran, Timing
from workbench.core.errors import ToolMissing
from workbench.core.tuning import Devices, Progress

if TYPE_CHECKING:
    from collections.abc import Generator

MOST_LOSSES = 2
"""Devices that may go away under one candidate before that is taken for the cause: a crash ends TVM's server too."""
MOST_REFUSALS = 20
"""Devices in a row that the tracker gives us and we cannot reach."""
REFUSED_SECONDS = 1.0


class Fleet:
    """The devices of a key. `lost` counts the runs that went with their device."""

    def __init__(self, devices: Devices, tell: Progress) -> None:
        self.devices = devices
        self.lost = 0
        self._tell = tell
        self._losses: SimpleQueue[str] = SimpleQueue()
        self._idle: SimpleQueue[Client] = SimpleQueue()

    def measure(self, candidates: Sequence[Candidate], timing: Timing) -> tuple[list[Ran | None], GaveUp | None]:
        """Run the candidates, as many at once as there are devices.

        None stands for those that were not measured, because no device was left: then the error says so.
        """
        with ThreadPoolExecutor(max(min(self._size(), len(candidates)), 1)) as pool:
            runs = [pool.submit(self._run, candidate, timing) for candidate in candidates]
            try:
                for run in as_completed(runs):
                    self._report()
                    if run.exception() is not None:
                        break
            finally:
                pool.shutdown(wait=False, cancel_futures=True)
        self._report()
        errors = [run.exception() for run in runs if not run.cancelled()]
        gave_up = next((error for error in errors if isinstance(error, GaveUp)), None)
        return [_result(run) for run in runs], gave_up

    def _size(self) -> int:
        with suppress(ToolMissing):
            return next((queue.total for queue in queues(self.devices) if queue.key == self.devices.key), 1)
        return 1

    def _run(self, candidate: Candidate, timing: Timing) -> Ran:
        """Run one candidate on one device after the other, until one keeps."""
        losses = refusals = 0
        with self._client() as client:
            while True:
                client.ready()
                device = acquire(self.devices)
                ran = client.run(device, candidate, timing)
                if ran.failed == "refused":
                    refusals += 1
                    if refusals == MOST_REFUSALS:
                        raise GaveUp(f"the devices that {self.devices.tracker} names cannot be reached: {ran.message}")
                    time.sleep(REFUSED_SECONDS)
                elif ran.failed == "lost":
                    losses += 1
                    self._losses.put(str(device))
                    if losses == MOST_LOSSES:
                        return Ran(failed="launch", message=f"{losses} devices went away under it: {ran.message}")
                else:
                    return ran

    @contextmanager
    def _client(self) -> "Generator[Client]":
        try:
            client = self._idle.get_nowait()
        except Empty:
            client = Client()
        try:
            yield client
        finally:
            self._idle.put(client)

    def _report(self) -> None:
        """Tell of what was lost since the last time; TVM's threads may not."""
        while not self._losses.empty():
            self.lost += 1
            self._tell({"lost": self._losses.get(), "in_all": self.lost})


def _result(run: "Future[Ran]") -> Ran | None:
    if run.cancelled():
        return None
    error = run.exception()
    if error is None:
        return run.result()
    if isinstance(error, GaveUp):
        return None
    raise error
