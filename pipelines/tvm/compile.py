"""From Relay to machine code in TVM's own steps; the stages of the route and the tuners go through these."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pipelines.tvm.bindings import load
from pipelines.tvm.handle import Built, Lowered, Optimised
from pipelines.tvm.tuning.schedules import Schedules
from workbench.core.errors import CompileError


def optimise(module: Any, target: Any, parameters: Mapping[str, Any], schedules: Schedules) -> Optimised:
    """Relay's own passes on a module in the layouts of `schedules`; call it in a PassContext with their `config`."""
    from pipelines.tvm.optimize import optimize

    keyed = schedules.target(target)
    with schedules.active():
        optimised = optimize(schedules.prepared(module), keyed, dict(parameters))
    return Optimised(optimised, keyed, schedules)


def lower(optimised: Optimised) -> Lowered:
    """A TIR function for each fused function, and the graph that calls them."""
    codegen = load("relay.backend.graph_executor_codegen").GraphExecutorCodegen(None, optimised.target)
    with optimised.schedules.active():
        graph, lowered, parameters = codegen.codegen(optimised.module, optimised.module["main"])
    external = tuple(codegen._mod["get_external_modules"]())
    # Constants that another compiler took into its functions are among the parameters, but no input of the graph.
    inputs = {node["name"] for node in json.loads(graph)["nodes"] if node["op"] == "null"}
    taken = {name: array for name, array in parameters.items() if name in inputs}
    return Lowered(_only_module(lowered, external), graph, taken, optimised.target, external)


def to_host(lowered: Lowered) -> Lowered:
    """The functions under TVM's calling convention."""
    module, target = lowered.module, lowered.target
    driver = load()._ffi.get_global_func
    with target:
        for passes_for in ("driver.mixed_mod_passes", "driver.host_mod_passes"):
            module = driver(passes_for)(module, target)(module)
    return replace(lowered, module=module)


def to_machine_code(host: Lowered) -> Built:
    """LLVM's code for the functions, in memory."""
    library = load("target.codegen").build_module(host.module, host.target)
    return Built(library, host.graph, host.parameters)


def _only_module(lowered: Any, external: Sequence[Any]) -> Any:
    """The one module of a map from target to module; a model for a CPU has one target.

    It is empty where another compiler made every function.
    """
    modules = [module for _, module in lowered.items()]
    if external and not modules:
        return load().IRModule({})
    if len(modules) != 1:
        raise CompileError("TVM made no function: every output is an input or a constant, so there is nothing to lower")
    return modules[0]
