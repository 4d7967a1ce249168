"""gpu-outline: kernels become functions of one `gpu.module`; identical ones are merged and all are named."""

import re
from collections import defaultdict
from typing import Any

from dialects.bindings import Module, Operation, load
from pipelines.mlir.cuda import naming
from pipelines.mlir.cuda.host import entry_block

ir = load("ir")

PIPELINE = "gpu-launch-sink-index-computations,gpu-kernel-outlining,canonicalize,cse"


def launches(module: Module) -> list[Operation]:
    """The host's launches, in order."""
    return [o.operation for o in entry_block(module).operations if o.operation.name == "gpu.launch_func"]


def gpu_modules(module: Module) -> list[Operation]:
    """The modules of device code."""
    return [o.operation for o in module.body.operations if o.operation.name == "gpu.module"]


def kernels(module: Module) -> dict[tuple[str, str], Operation]:
    """Device functions by (gpu.module, function)."""
    found: dict[tuple[str, str], Operation] = {}
    for device in gpu_modules(module):
        for op in device.regions[0].blocks[0].operations:
            if op.operation.name in ("gpu.func", "llvm.func") and op.operation.regions[0].blocks:
                found[symbol(device), symbol(op)] = op.operation
    return found


def symbol(op: Operation) -> str:
    """Name of a symbol operation."""
    return str(ir.StringAttr(op.operation.attributes["sym_name"]).value)


def kernel_of(launch: Operation) -> tuple[str, str]:
    """(gpu.module, function) that a launch runs."""
    device, function = ir.SymbolRefAttr(launch.operation.attributes["kernel"]).value
    return device, function


def merge_identical(module: Module) -> None:
    """Point launches of equal kernels at the first of them and drop the others.

    Two kernels are equal when their text without names and source locations is.
    """
    first: dict[tuple[str, str], tuple[str, str]] = {}
    same: dict[tuple[str, str], tuple[str, str]] = {}
    found = kernels(module)
    for key, op in found.items():
        text = op.get_asm(enable_debug_info=False).replace(f"@{key[1]}(", "@(", 1)
        same[key] = first.setdefault((key[0], text), key)
    for launch in launches(module):
        _retarget(launch, same[kernel_of(launch)])
    for key, kept in same.items():
        if key != kept:
            found[key].erase()


def name_kernels(module: Module) -> None:
    """Name every kernel after its operation and the part of the model it serves, with a number when several agree."""
    served: dict[tuple[str, str], set[str]] = defaultdict(set)
    for launch in launches(module):
        served[kernel_of(launch)].add(naming.source(launch.location))
    wanted: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for device, name in kernels(module):
        base = re.sub(r"_\d+$", "", name)
        place = naming.shared_source(served[device, name])
        wanted[naming.identifier("_".join(filter(None, (base, place))))].append((device, name))
    final = {
        key: (key[0], base if len(keys) == 1 else f"{base}_{i}")
        for base, keys in wanted.items()
        for i, key in enumerate(keys)
    }
    for key, op in kernels(module).items():
        op.attributes["sym_name"] = ir.StringAttr.get(final[key][1])
    for launch in launches(module):
        _retarget(launch, final[kernel_of(launch)])


def _retarget(launch: Any, target: tuple[str, str]) -> None:
    launch.attributes["kernel"] = ir.SymbolRefAttr.get(list(target))
