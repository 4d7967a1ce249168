"""What tuning does without TVM: logs, the database, the projected curve."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.tvm.tuning.ansor.records import parse_record, read_log
from pipelines.tvm.tuning.ansor.variants import Variant, chosen, conv_workload, decided, searched_conv
from pipelines.tvm.tuning.logs import best_lines, repair
from workbench.core.errors import UsageError
from workbench.core.target import Target
from workbench.core.tuning import TaskRow
from workbench.database import Entry, database_entry, find_schedules
from workbench.viewer.tuning import projected, relative_speeds, write_curve


def line(key: str, *costs: float, error: int = 0) -> str:
    return json.dumps(
        {"i": [[key, "llvm -keys=cpu -num-cores=1"], [[], []]], "r": [list(costs), error, 1.0, 0], "v": "v"}
    )


def test_a_record_is_its_task_and_mean_cost() -> None:
    record = parse_record(line("a", 1e-3, 3e-3))
    assert (record.key, record.seconds, record.error) == ("a", 2e-3, "")
    failed = parse_record(line("a", 1e10, error=6))
    assert (failed.seconds, failed.error) == (None, "timeout")


def test_the_best_is_the_fastest_that_ran() -> None:
    records = [parse_record(line("a", c)) for c in (3.0, 1.0, 2.0)] + [parse_record(line("b", 0.1, error=4))]
    assert {key: r.seconds for key, r in best_lines(records).items()} == {"a": 1.0}


@given(st.lists(st.floats(1e-6, 1.0), min_size=1, max_size=5), st.integers(0, 60))
def test_repair_cuts_only_what_was_not_written_to_its_end(costs: list[float], cut: int) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "log.json")
        whole = "".join(line("a", c) + "\n" for c in costs)
        half = line("b", 1.0)[:cut]
        log.write_text(whole + half)
        assert repair(log) == bool(half)
        assert log.read_text() == whole
        assert len(read_log(log)) == len(costs)


def test_a_foreign_line_is_named_by_its_number(tmp_path: Path) -> None:
    log = tmp_path / "log.json"
    log.write_text(line("a", 1.0) + '\n{"not": "a record"}\n')
    with pytest.raises(UsageError, match="line 2: not a record"):
        read_log(log)


def conv(layout: str, kernel: int = 3, stride: int = 1, channels: int = 64, groups: int = 1) -> SimpleNamespace:
    return SimpleNamespace(
        data_layout=layout,
        channels=channels,
        kernel_size=(kernel, kernel),
        strides=(stride, stride),
        padding=(1, 1, 1, 1),
        dilation=(1, 1),
        groups=groups,
    )


def test_a_workload_is_the_same_in_either_layout() -> None:
    assert conv_workload(conv("NCHW"), (1, 64, 56, 48)) == conv_workload(conv("NHWC"), (1, 56, 48, 64))


@pytest.mark.parametrize(
    ("attrs", "shape", "dtype", "variant"),
    [
        (conv("NCHW"), (1, 64, 56, 56), "float32", Variant.WINOGRAD),
        (conv("NHWC"), (1, 56, 56, 64), "float32", Variant.WINOGRAD),
        (conv("NCHW"), (1, 512, 7, 7), "float32", Variant.DIRECT),  # four tiles: bound by its weights
        (conv("NCHW"), (4, 512, 7, 7), "float32", Variant.WINOGRAD),
        (conv("NCHW", stride=2), (1, 64, 56, 56), "float32", Variant.DIRECT),
        (conv("NCHW", kernel=1), (1, 64, 56, 56), "float32", Variant.DIRECT),
        (conv("NCHW", groups=64), (1, 64, 56, 56), "float32", Variant.DIRECT),
        (conv("NCHW", groups=4), (1, 64, 56, 56), "float32", Variant.DEFAULT),
        (conv("NCHW"), (1, 64, 56, 56), "int8", Variant.DEFAULT),
    ],
)
def test_which_algorithm_is_searched(
    attrs: SimpleNamespace, shape: tuple[int, ...], dtype: str, variant: Variant
) -> None:
    assert searched_conv(attrs, shape, dtype) is variant


def test_decisions_end_with_their_block() -> None:
    with chosen({"w": Variant.DEFAULT}):
        assert decided("w", Variant.DIRECT) is Variant.DEFAULT
        assert decided("other", Variant.DIRECT) is Variant.DIRECT
    assert decided("w", Variant.DIRECT) is Variant.DIRECT


ROWS = (TaskRow("a", "conv", 2, 10, default_ms=4.0), TaskRow("b", "dense", 1, 10, default_ms=1.0))


def test_the_projected_curve_takes_the_better_of_both_and_never_rises() -> None:
    history = [("a", 3.0), ("b", None), ("b", 0.5), ("a", 1.0), ("a", 9.0), ("other", 0.1)]
    assert projected(ROWS, history) == [5.0, 5.0, 5.0, 4.5, 2.5, 2.5, 2.5]


def test_relative_speeds_rank_within_a_task() -> None:
    said = [{"key": "a", "score": s, "seconds": t} for s, t in ((0.1, 4.0), (0.9, 1.0), (0.5, 2.0))]
    assert relative_speeds(said) == [(0.0, 0.25), (0.5, 0.5), (1.0, 1.0)]


def test_the_plot_is_the_same_for_the_same_search(tmp_path: Path) -> None:
    meta = {
        "model": "m",
        "tuner": "ansor",
        "rows": [r.to_json() for r in ROWS],
        "history": [["a", 1.0]],
        "search": {"rank_correlation": 0.5, "predictions": [{"key": "a", "score": 1.0, "seconds": 1.0}]},
    }
    write_curve(tmp_path / "a.svg", meta)
    assert "<svg" in (tmp_path / "a.svg").read_text()


def test_the_database_keeps_targets_and_threads_apart(tmp_path: Path) -> None:
    one = database_entry(tmp_path, "resnet18", "tvm", "ansor", Target(cpu="znver4", chip=""))
    two = database_entry(tmp_path, "resnet18", "tvm", "ansor", Target(cpu="znver4", chip="", threads=2))
    assert one.log.name == "resnet18-tvm-ansor-znver4-1t.json"
    assert two.log != one.log


def test_the_fastest_of_several_tuners_is_found(tmp_path: Path) -> None:
    target = Target(cpu="znver4", chip="")
    for tuner, ms in (("ansor", 2.0), ("autotvm", 1.0)):
        entry = database_entry(tmp_path, "m", "tvm", tuner, target)
        entry.meta.write_text(json.dumps({"models_ms": {"chosen": ms}}))
        entry.schedules.write_text("{}")
    assert find_schedules(tmp_path, "m", "tvm", target).name == "m-tvm-autotvm-znver4-1t.schedules.json"
    with pytest.raises(UsageError, match="no schedules of 'n'"):
        find_schedules(tmp_path, "n", "tvm", target)
    with pytest.raises(UsageError, match="nothing was chosen"):
        find_schedules(Path(tmp_path / "raw.json").touch() or tmp_path / "raw.json", "m", "tvm", target)
    assert Entry(tmp_path / "raw.json").curve.name == "raw.curve.svg"
