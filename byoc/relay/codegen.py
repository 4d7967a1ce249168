"""The code generator `relay.ext.systolic`: a region becomes TE that calls the driver, built by TVM for the host.

Each composite is one `te.extern` whose body is one call of the packed function `systolic.run` with the task as JSON. So
the library that TVM exports is whole: whoever loads it needs the driver and nothing else.
"""

from typing import Any

import tvm
from tvm import te, tir

from byoc.relay.driver import PACKED
from byoc.relay.legality import task_of
from byoc.relay.partition import composites, matched
from byoc.systolic.machine import Machine


def register(machine: Machine) -> None:
    """Make TVM compile the regions of later builds for `machine`."""

    def compile_region(function: Any) -> Any:
        return compiled(function, machine)

    tvm.register_func("relay.ext.systolic", compile_region, override=True)


def compiled(function: Any, machine: Machine) -> Any:
    """A runtime module with the region's function."""
    return tvm.build(lowered(function, machine), target="llvm")


def lowered(function: Any, machine: Machine) -> Any:
    """The region's function in TIR: arguments are the region's, then its results."""
    name = str(function.attrs["global_symbol"])
    arguments, results = graph(function, machine)
    schedule = te.create_schedule([t.op for t in results])
    return tvm.lower(schedule, [*arguments, *results], name=name)


def graph(function: Any, machine: Machine) -> tuple[list[Any], list[Any]]:
    """The region in TE: its arguments and its results."""
    values: dict[Any, Any] = {}
    for p in function.params:
        values[p] = te.placeholder(shape(p), str(p.checked_type.dtype), str(p.name_hint))
    for call, composite in composites(function):
        values[call] = extern(composite, [values[a] for a in call.args], machine)
    body = function.body
    fields = list(body.fields) if isinstance(body, tvm.relay.Tuple) else [body]
    return [values[p] for p in function.params], [values[f] for f in fields]


def extern(composite: Any, arguments: list[Any], machine: Machine) -> Any:
    """One composite in TE. Its operands come in the order of the task: both of the product, then the bias."""
    found = matched(composite)
    task = task_of(found, machine)
    at = {p: i for i, p in enumerate(composite.params)}
    operands = [arguments[at[source(e)]] for e in (found.x, found.w, found.bias) if e is not None]
    text = task.to_json(machine)

    def call(ins: Any, outs: Any) -> Any:
        return tir.call_packed(PACKED, text, *ins, *outs)

    return te.extern([shape(composite.body)], operands, call, name=task.name, dtype=[task.out_dtype])


def source(expression: Any) -> Any:
    """The parameter that an operand is, or is the dequantised form of."""
    return expression.args[0] if isinstance(expression, tvm.relay.Call) else expression


def shape(x: Any) -> tuple[int, ...]:
    """Static shape of a typed expression."""
    return tuple(int(d) for d in x.checked_type.shape)
