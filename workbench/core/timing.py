"""Interleaved timing: every round times each contestant once, so that drift hits all alike."""

import statistics
import time
from collections.abc import Callable, Mapping


def interleaved(
    contestants: Mapping[str, Callable[[], object]],
    rounds: int,
    warm_up: int = 2,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, list[float]]:
    """Seconds of each call by `clock`, by contestant, in `rounds` rounds after `warm_up` unmeasured ones."""
    times: dict[str, list[float]] = {name: [] for name in contestants}
    for i in range(warm_up + rounds):
        for name, call in contestants.items():
            started = clock()
            call()
            if i >= warm_up:
                times[name].append(clock() - started)
    return times


def ratio(times: Mapping[str, list[float]], ours: str, peer: str) -> float:
    """Median over rounds of ours/peer: above 1 is slower than the peer."""
    return statistics.median(a / b for a, b in zip(times[ours], times[peer], strict=True))
