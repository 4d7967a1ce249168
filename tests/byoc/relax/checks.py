"""What `byoc.relax` promises. Runs in a worker of the relax toolchain (`test_relax.py`)."""

from typing import Any

import numpy as np
import tvm
from tvm import relax

from byoc.relax.codegen import compiled, partition
from byoc.systolic.machine import load_machine

LAB = load_machine("lab4")
RNG = np.random.default_rng(5)


def floats(*shape: int, dtype: str = "float32") -> Any:
    return RNG.standard_normal(shape).astype(dtype)


def model(x: Any, w: Any, added: Any = None, relu: bool = False) -> Any:
    """tanh of a product, with something added and a ReLU."""
    builder = relax.BlockBuilder()
    given = [(name, a) for name, a in (("x", x), ("w", w), ("b", added)) if a is not None]
    parameters = [relax.Var(name, relax.TensorType(a.shape, str(a.dtype))) for name, a in given]
    with builder.function("main", parameters):
        with builder.dataflow():
            y = builder.emit(relax.op.matmul(*parameters[:2]))
            y = y if added is None else builder.emit(relax.op.add(y, parameters[2]))
            y = builder.emit(relax.op.nn.relu(y)) if relu else y
            y = builder.emit_output(builder.emit(relax.op.tanh(y)))
        builder.emit_func_output(y)
    return builder.get()


def check(said: str, x: Any, w: Any, added: Any = None, relu: bool = False) -> str:
    """What is wrong with a model on the array, "" for nothing; `said` is the composite that there should be, or ""."""
    module = model(x, w, added, relu)
    text = partition(module, LAB).script()
    if (f'"{said}"' not in text) if said else "Codegen" in text:
        return text
    machine = relax.VirtualMachine(tvm.compile(compiled(module, LAB), target="llvm"), tvm.cpu())
    got = machine["main"](*[tvm.runtime.tensor(a) for a in (x, w, added) if a is not None]).numpy()
    want = np.matmul(x.astype(np.float64), w) + (0 if added is None else added)
    gap = np.abs(got - np.tanh(np.maximum(want, 0) if relu else want)).max()
    return "" if gap < 1e-6 else f"off by {gap}"


def run_checks(params: dict[str, Any], send: object) -> list[str]:
    """Worker job: what went wrong."""
    x, w = floats(5, 9), floats(9, 7)
    found = [
        check("systolic.matmul.bias.relu", x, w, floats(7), relu=True),
        check("systolic.matmul.bias", x, w, floats(7)),
        check("systolic.matmul.relu", x, w, relu=True),
        check("systolic.matmul", floats(3, 4, 6), floats(3, 6, 2)),
        check("systolic.matmul", x, w, floats(5, 7)),
        check("", floats(5, 9, dtype="float64"), floats(9, 7, dtype="float64")),
    ]
    return [problem for problem in found if problem]
