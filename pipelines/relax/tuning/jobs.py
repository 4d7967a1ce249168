"""The worker's jobs of `workbench tune` for this route; they run in the relax toolchain."""

from functools import partial
from pathlib import Path
from typing import Any

from pipelines.relax.bindings import host, load, refusals
from pipelines.relax.text import parse
from pipelines.relax.tuning.tuner import RelaxTuner
from pipelines.tvm.tuning.job import Job
from workbench.core.arrays import read_npz
from workbench.core.target import Target
from workbench.core.trace import Trace
from workbench.core.tuning import Devices, Progress, SearchLimits

Message = dict[str, Any]


def check(params: Message, tell: Progress) -> Message:
    """What can be wrong with the log before anything was compiled. Gives its records."""
    from pipelines.tvm.tuning.jobs import checked

    target = Target(**params["target"])
    load(threads=target.threads)
    return checked(RelaxTuner(), params, host(target))


def search(params: Message, tell: Progress) -> Message:
    """List the tasks of the fused model, and search them; see the TVM route's `searched`."""
    from pipelines.tvm.tuning.jobs import searched

    with refusals("TVM cannot tune the model"):
        return searched(read_job(params, tell), RelaxTuner())


def choose(params: Message, tell: Progress) -> Message:
    """Build with what the log has, function by function the better of it and plain loops; gives the Choice."""
    from pipelines.tvm.tuning.choose import choose as better_of

    with refusals("TVM cannot build the tuned model"):
        job, tuner = read_job(params, tell), RelaxTuner()
        return better_of(job, tuner, tuner.tasks(job)).to_json()


def read_job(params: Message, tell: Progress) -> Job:
    """The job that `workbench.tune` asked for: the fused model of a trace."""
    from pipelines.relax.tuning.measure import compiled

    target, root = Target(**params["target"]), Path(params["root"])
    load(threads=target.threads)
    trace = Trace.open(root)
    fused = trace.artefact(trace.stage("fuse"))
    assert fused.signature is not None, "a fused model without a signature"
    return Job(
        parse(fused.text),
        {},
        host(target),
        fused.signature,
        read_npz(root / "numerics" / "inputs.npz"),
        read_npz(root / "numerics" / "reference.npz"),
        Path(params["log"]),
        SearchLimits(**params["limits"]),
        Devices(**params["devices"]),
        params["excluded"],
        params["cold"],
        tell,
        partial(compiled, target=target, root=root),
    )
