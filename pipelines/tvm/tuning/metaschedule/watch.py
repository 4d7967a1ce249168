"""Which loop nest TVM asks a schedule for. Loads TVM."""

from typing import Any

from tvm.meta_schedule.database import PyDatabase
from tvm.meta_schedule.utils import derived_object


class _Watch(PyDatabase):
    """Has no record, and notes what it is asked for. TVM calls these methods by their names."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[Any] = []

    def query_tuning_record(self, mod: Any, target: Any, workload_name: str | None = None) -> None:
        self.asked.append(mod)

    def query_schedule(self, mod: Any, target: Any, workload_name: str | None = None) -> None:
        self.asked.append(mod)


Watch: Any = derived_object(_Watch)
