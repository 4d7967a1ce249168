"""What a fleet does with devices that go away, come late or cannot be reached; the devices here are pretended."""

from collections.abc import Iterator
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.tvm.tuning import remote
from pipelines.tvm.tuning.fleet import Device, GaveUp, address, is_lost
from pipelines.tvm.tuning.remote import MOST_LOSSES, MOST_REFUSALS, Fleet
from pipelines.tvm.tuning.session import Candidate, Ran, Timing
from workbench.core.errors import UsageError
from workbench.core.tuning import Devices, Queue

TIMING = Timing(10, 1, 1, 40, False)
FAST = Ran((1e-3,))


class PretendedClient:
    """Fails as the candidate's name says: a letter a run, `l`ost, `r`efused, `t`imeout; then it runs."""

    runs: dict[str, Iterator[str]]

    def ready(self) -> None: ...

    def run(self, device: Device, candidate: Candidate, timing: Timing) -> Ran:
        letter = next(self.runs[candidate.library], "")
        failed = {"l": "lost", "r": "refused", "t": "timeout"}.get(letter, "")
        return Ran(failed=failed, message=str(device)) if failed else FAST


def measured(monkeypatch: pytest.MonkeyPatch, names: list[str], given_up_after: int = 1 << 30) -> tuple[Fleet, object]:
    """Measure candidates; the tracker gives that many devices and then none."""
    numbers = count(1)

    def acquire(_: Devices) -> Device:
        number = next(numbers)
        if number > given_up_after:
            raise GaveUp("no device")
        return Device("host", number, "key")

    libraries = [f"{index}:{name}" for index, name in enumerate(names)]
    PretendedClient.runs = {library: iter(library.partition(":")[2]) for library in libraries}
    monkeypatch.setattr(remote, "acquire", acquire)
    monkeypatch.setattr(remote, "queues", lambda _: (Queue("k", 3, 3, 0),))
    monkeypatch.setattr(remote, "Client", PretendedClient)
    monkeypatch.setattr(remote, "REFUSED_SECONDS", 0.0)
    told: list[object] = []
    fleet = Fleet(Devices("host:1", "k"), told.append)
    ran = fleet.measure([Candidate(library, ()) for library in libraries], TIMING)
    assert len(told) == fleet.lost
    return fleet, ran


@given(st.lists(st.sampled_from(["", "l", "r", "rrr", "lr", "rl"]), max_size=12))
def test_what_went_away_once_runs_again(names: list[str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        fleet, ran = measured(patch, names)
    assert ran == ([FAST] * len(names), None)
    assert fleet.lost == sum(name.count("l") for name in names)


def test_what_takes_device_after_device_down_is_the_cause(monkeypatch: pytest.MonkeyPatch) -> None:
    fleet, (ran, gave_up) = measured(monkeypatch, ["l" * MOST_LOSSES, ""])  # type: ignore[misc]
    assert (ran[0].failed, ran[1], gave_up) == ("launch", FAST, None)
    assert "devices went away under it" in ran[0].message
    assert fleet.lost == MOST_LOSSES


def test_a_timeout_is_the_candidates_own(monkeypatch: pytest.MonkeyPatch) -> None:
    fleet, (ran, _) = measured(monkeypatch, ["t", "lt"])  # type: ignore[misc]
    assert [r.failed for r in ran] == ["timeout", "timeout"]
    assert fleet.lost == 1


def test_when_no_device_comes_what_ran_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    _, (ran, gave_up) = measured(monkeypatch, [""] * 8, given_up_after=5)  # type: ignore[misc]
    assert sorted(map(str, ran)) == sorted([str(FAST)] * 5 + ["None"] * 3)
    assert str(gave_up) == "no device"


def test_devices_that_cannot_be_reached_end_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    _, (ran, gave_up) = measured(monkeypatch, ["r" * MOST_REFUSALS])  # type: ignore[misc]
    assert ran == [None]
    assert "cannot be reached: host:20" in str(gave_up)


@pytest.mark.parametrize(
    ("message", "lost"),
    [
        ("InternalError: Check failed: (code == RPCCode::kReturn) is false: code=1", True),
        ("TVMError: Socket SockChannel::Send Error:Broken pipe", True),
        ("Socket SockChannel::Recv Error:Connection reset by peer", True),
        ("connection reset", True),
        ("RPCSessionTimeoutError: Your 5.0s session has expired: connection reset", False),
        ("RPCError: Error caught from RPC call: Check failed: ret == 0 (-1 vs. 0)", False),
        ("", False),
    ],
)
def test_what_says_that_a_device_went_away(message: str, lost: bool) -> None:
    assert is_lost(message) is lost


@pytest.mark.parametrize("text", ["", "nowhere", ":9190", "host:", "host:0", "host:65536", "host:-1", "host:²"])
def test_what_is_no_address_is_named(text: str) -> None:
    with pytest.raises(UsageError, match=f"takes HOST:PORT, not '{text}'"):
        address(Devices(text))


def test_addresses() -> None:
    assert address(Devices("10.0.0.1:9190")) == ("10.0.0.1", 9190)
