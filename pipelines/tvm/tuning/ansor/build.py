"""A build by Ansor's records: layouts and algorithms as decided, and the recorded schedule for each task."""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from functools import cached_property
from typing import Any, ClassVar

from pipelines.tvm.bindings import load
from pipelines.tvm.tuning.ansor.records import parse_record, read_records
from pipelines.tvm.tuning.ansor.variants import Variant, chosen, conv_workload, decided, searched_conv
from pipelines.tvm.tuning.logs import check_target
from pipelines.tvm.tuning.schedules import Schedules

LAYOUTS = {
    "nn.conv2d": ["NHWC", "default"],
    "nn.max_pool2d": ["NHWC"],
    "nn.avg_pool2d": ["NHWC"],
    "nn.global_avg_pool2d": ["NHWC"],
}
"""Channels last: TVM's channel blocks (NCHWc) have neither Winograd nor a weight layout that Ansor may choose."""


class AnsorSchedules(Schedules):
    """`records` are lines of Ansor's log, one for each task that takes its schedule from it.

    `variants` are the algorithms by workload. Operators whose variant is DEFAULT stay in TVM's layout and schedule.
    """

    config: ClassVar[Mapping[str, Any]] = {"relay.backend.use_auto_scheduler": True}

    def __init__(self, records: tuple[str, ...], variants: Mapping[str, Variant]) -> None:
        self.records = records
        self.variants = dict(variants)

    def to_json(self) -> dict[str, Any]:
        """The tuner's name, records and variants."""
        return {"tuner": "ansor", "records": list(self.records), "variants": self.variants}

    def facts(self) -> dict[str, Any]:
        """How many tasks have a recorded schedule."""
        return {"tuned_tasks": len(self.records)}

    def target(self, target: Any) -> Any:
        """The same target with Ansor's key first. Raises UsageError when the records are of another one."""
        from pipelines.tvm.tuning.ansor.strategies import KEY, register

        for line in self.records:
            check_target(target, parse_record(line).target, "the tuned schedules")
        register()
        words = [w for w in str(target).split() if not w.startswith("-keys=")]
        return load().target.Target(" ".join([*words, f"-keys={KEY},cpu"]))

    def prepared(self, module: Any) -> Any:
        """The convolutions that are not left to TVM in NHWC."""
        return channels_last(module, self.variants)

    @contextmanager
    def active(self) -> Generator[None]:
        """TVM sees the records and what was decided."""
        self._history.used.clear()
        with chosen(self.variants), self._history:
            yield

    def code(self) -> str:
        """The schedule that each TIR function of the last lowering took, as the Python that TVM gives for it."""
        used = self._history.used.items()
        return "\n".join(f"# {name}\n# task {key}\n{code}" for name, (key, code) in used)

    @cached_property
    def _history(self) -> Any:
        # One object for the whole build: the layout rewrite adds the records of the rewritten tasks to it.
        from pipelines.tvm.tuning.ansor.history import History

        return History(read_records(self.records))


def channels_last(module: Any, variants: Mapping[str, Variant]) -> Any:
    """The module with convolutions in NHWC, but for those that `variants` leave to TVM; call it in a PassContext."""
    relay, tvm = load("relay"), load()
    with chosen(variants):
        skipped = [i for i, call in enumerate(convolutions(module)) if _left(call)]
    passes = [relay.transform.RemoveUnusedFunctions(), relay.transform.ConvertLayout(LAYOUTS)]
    with relay.transform.LayoutConfig(skip_layers=skipped):
        return tvm.transform.Sequential([*passes, relay.transform.InferType()])(module)


def convolutions(module: Any) -> list[Any]:
    """The 2-D convolutions of `@main` in the order in which ConvertLayout counts them."""
    relay = load("relay")
    found: list[Any] = []

    def visit(node: Any) -> None:
        if isinstance(node, relay.Call) and isinstance(node.op, load("ir").Op) and node.op.name == "nn.conv2d":
            found.append(node)

    relay.analysis.post_order_visit(module["main"].body, visit)
    return found


def _left(call: Any) -> bool:
    data = call.args[0].checked_type
    shape = [int(d) for d in data.shape]
    searched = searched_conv(call.attrs, shape, str(data.dtype))
    return decided(conv_workload(call.attrs, shape), searched) is Variant.DEFAULT
