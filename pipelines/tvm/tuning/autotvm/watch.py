"""Which template TVM's own build takes for each place of a model. Loads TVM."""

from typing import Any

from tvm.autotvm.task.dispatcher import ApplyHistoryBest, DispatchContext


class Watch(DispatchContext):
    """Changes nothing, and notes what TVM asks for.

    `asked` are workloads in the order of the questions; `original` is the workload that was asked for before the layout
    of its operator was changed, by the workload in the new layout.
    """

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[tuple[Any, ...]] = []
        self.original: dict[tuple[Any, ...], tuple[Any, ...]] = {}

    def _query_inside(self, target: Any, workload: tuple[Any, ...]) -> None:
        self.asked.append(workload)

    def update(self, target: Any, workload: tuple[Any, ...], cfg: Any) -> None:
        """TVM's hook for an operator whose layout changes, which is always the one asked for last."""
        self.original[workload] = self.asked[-1]
        outer: Any = self._old_ctx
        outer.update(target, workload, cfg)

    def task(self) -> tuple[Any, ...] | None:
        """The workload asked for last, which a schedule was made for, in its first layout; None when none was."""
        return self.original.get(self.asked[-1], self.asked[-1]) if self.asked else None


class History(ApplyHistoryBest):
    """TVM's look-up of recorded knobs; `used` has those that were found, by workload."""

    def __init__(self, records: list[tuple[Any, Any]]) -> None:
        super().__init__(records)
        self.used: dict[tuple[Any, ...], str] = {}

    def _query_inside(self, target: Any, workload: tuple[Any, ...]) -> Any:
        config = super()._query_inside(target, workload)
        if config is not None and not config.is_fallback:
            self.used[workload] = str(config)
        return config
