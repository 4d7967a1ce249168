"""An artefact that can run, and running it."""

import statistics
import time
from abc import ABC, abstractmethod
from collections.abc import Callable

from workbench.core.arrays import Arrays, npz_bytes
from workbench.core.artefact import Artefact
from workbench.core.kinds import IRKind


class Executable(ABC):
    """A compiled model, called with its inputs by name and giving its outputs by name."""

    @abstractmethod
    def __call__(self, inputs: Arrays) -> Arrays:
        """Run once. Raises UsageError when an input is missing or has another shape or dtype."""


def timed(run: Callable[[], object], budget: float, first: float) -> tuple[float, int]:
    """Median seconds of a run and how many were timed, at most `budget` seconds or 50 runs.

    `first` is what a run took already: it is warm-up where others fit in the budget, and else the time.
    """
    times: list[float] = []
    while first < budget and sum(times) < budget and len(times) < 50:
        started = time.perf_counter()
        run()
        times.append(time.perf_counter() - started)
    return (statistics.median(times), len(times)) if times else (first, 1)


def executed(ir: Artefact, executable: Executable, inputs: Arrays, budget: float, threads: int) -> Artefact:
    """Run and time `executable`; the RESULT artefact carries the outputs for the verifier, and as outputs.npz."""
    started = time.perf_counter()
    outputs = executable(inputs)
    seconds, runs = timed(lambda: executable(inputs), budget, time.perf_counter() - started)
    text = "".join(f"{name}: {list(a.shape)} {a.dtype.name}\n" for name, a in outputs.items())
    facts = {"seconds_per_run": seconds, "runs": runs, "threads": threads}
    return ir.derive(IRKind.RESULT, text, handle=outputs, facts=facts, blobs={"outputs.npz": npz_bytes(outputs)})
