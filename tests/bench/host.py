"""Host code against torch and onnxruntime, in one process: `python -m tests.bench.host THREADS NAME=TRACE ...`."""

import json
import os
import statistics
import sys
from pathlib import Path
from typing import Any

_THREADS = sys.argv[1] if len(sys.argv) > 1 and sys.argv[1].isdecimal() else "1"
os.environ["OMP_NUM_THREADS"] = _THREADS  # read by the OpenMP runtimes when they load

import numpy as np  # noqa: E402
import torch  # noqa: E402

from pipelines.mlir.host.call import HostExecutable  # noqa: E402
from pipelines.mlir.host.run import assemble, openmp_libraries  # noqa: E402
from workbench.core.arrays import read_npz  # noqa: E402
from workbench.core.timing import interleaved, ratio  # noqa: E402
from workbench.core.trace import Trace  # noqa: E402
from workbench.numerics import judge_all  # noqa: E402

_ROUNDS = 15


def measure(name: str, root: Path, threads: int) -> dict[str, Any]:
    """Times of one lowered model and its peer, after both were compared with the float64 reference."""
    torch.set_num_threads(threads)
    trace = Trace.open(root)
    stage = next(s for s in reversed(trace.stages) if s["kind"] == "asm" and s["status"] == "done")
    artefact = trace.artefact(stage)
    assert artefact.signature is not None
    inputs, want = (read_npz(root / "numerics" / f"{n}.npz") for n in ("inputs", "reference"))
    ours = HostExecutable(assemble(artefact.text), artefact.signature, root / "consts", openmp_libraries(threads))
    peer_name, peer = _peer(name, inputs, threads)
    right = {
        "ours": judge_all(ours(inputs), want),
        peer_name: judge_all(dict(zip(want, peer(), strict=True)), want),
    }
    wrong = [who for who, verdicts in right.items() if not all(v.ok for v in verdicts)]
    if wrong:
        return {"name": name, "threads": threads, "peer": peer_name, "wrong": wrong}
    times = interleaved({"ours": lambda: ours(inputs), peer_name: peer}, _ROUNDS)
    return {
        "name": name,
        "threads": threads,
        "peer": peer_name,
        "ours_ms": statistics.median(times["ours"]) * 1e3,
        "peer_ms": statistics.median(times[peer_name]) * 1e3,
        "ratio": ratio(times, "ours", peer_name),
    }


def _peer(name: str, inputs: dict[str, Any], threads: int) -> tuple[str, Any]:
    if name == "resnet18":
        return "onnxruntime", _onnxruntime(inputs, threads)
    tensors = [torch.from_numpy(a) for a in inputs.values()]
    call = torch.matmul if name == "matmul" else torch.nn.functional.scaled_dot_product_attention

    def run() -> list[np.ndarray]:
        with torch.no_grad():
            return [call(*tensors).numpy()]

    return ("torch" if name == "matmul" else "torch SDPA"), run


def _onnxruntime(inputs: dict[str, Any], threads: int) -> Any:
    import onnxruntime

    from models.load import load_source
    from workbench.core.source import ModelRequest

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    model = load_source(ModelRequest("resnet18", "onnx")).program.SerializeToString()
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    return lambda: session.run(None, inputs)


if __name__ == "__main__":
    pairs = [item.split("=", 1) for item in sys.argv[2:]]
    print(json.dumps([measure(name, Path(root), int(_THREADS)) for name, root in pairs]))
