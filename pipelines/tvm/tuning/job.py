"""What the jobs of tuning share: the imported model of a trace, the target, and what was asked."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipelines.tvm.bindings import load, machine
from pipelines.tvm.stages import read_relay
from pipelines.tvm.tuning.anchors import Anchor
from pipelines.tvm.tuning.schedules import Schedules
from workbench.core.arrays import Arrays, read_npz
from workbench.core.executable import Executable
from workbench.core.target import Target
from workbench.core.tensors import Signature
from workbench.core.trace import Trace
from workbench.core.trace.layout import get_constant
from workbench.core.tuning import Devices, Progress, SearchLimits


@dataclass(frozen=True)
class Job:
    """`log` is the tuner's own log; `excluded` are tasks that are not to be searched, with the reason.

    `compile` builds the model under schedules, and gives the milliseconds of each of its places.
    """

    module: Any
    parameters: dict[str, Any]
    target: Any
    signature: Signature
    inputs: Arrays
    reference: Arrays
    log: Path
    limits: SearchLimits
    devices: Devices
    excluded: Mapping[str, str]
    cold: bool
    tell: Progress
    compile: "Callable[[Job, Schedules], tuple[Executable, Mapping[Anchor, float]]]"


def read_job(params: Mapping[str, Any], tell: Progress) -> Job:
    """The job that `workbench.tune` asked for."""
    from pipelines.tvm.tuning.measure import compiled

    target = Target(**params["target"])
    tvm = load(threads=target.threads)
    root = Path(params["root"])
    trace = Trace.open(root)
    imported = trace.artefact(next(s for s in trace.stages if s["name"] == "import"))
    module = read_relay(imported.text)
    assert imported.signature is not None, "an imported model without a signature"
    constants = imported.signature.constants
    names = [str(p.name_hint) for p in module["main"].params][-len(constants) :] if constants else []
    parameters = {
        name: tvm.nd.array(get_constant(root / "consts", c.sha256, c.dtype))
        for name, c in zip(names, constants, strict=True)
    }
    return Job(
        module,
        parameters,
        machine(target),
        imported.signature,
        read_npz(root / "numerics" / "inputs.npz"),
        read_npz(root / "numerics" / "reference.npz"),
        Path(params["log"]),
        SearchLimits(**params["limits"]),
        Devices(**params["devices"]),
        params["excluded"],
        params["cold"],
        tell,
        compiled,
    )
