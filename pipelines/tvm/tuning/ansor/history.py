"""TVM's look-up of recorded schedules, which remembers what it gave to which function."""

from typing import Any

from tvm.auto_scheduler import ApplyHistoryBest


class History(ApplyHistoryBest):
    """`used`: function's name -> (workload key, the schedule as Python)."""

    def __init__(self, records: list[tuple[Any, Any]]) -> None:
        super().__init__(records)
        self.used: dict[str, tuple[str, str]] = {}

    def query(self, target: Any, workload_key: str, has_complex_op: bool, dag: Any, func_name: str) -> Any:
        """The recorded state of a workload, None where there is none."""
        state = super().query(target, workload_key, has_complex_op, dag, func_name)
        if state is not None:
            self.used[func_name] = (workload_key, str(dag.print_python_code_from_state(state)))
        return state
