"""loops: what torch-mlir leaves in its own tm_tensor dialect (scan, scatter, sort) as loops over elements."""

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from dialects.protocol import Module, Operation
from dialects.torch_bindings import ir, node_of, walk
from workbench.core.errors import CompileError

UPSTREAM = frozenset({"arith", "builtin", "cf", "complex", "func", "linalg", "math", "scf", "tensor", "ml_program"})
"""Dialects that later stages know."""


def loops(module: Module) -> None:
    """Rewrite in place; raises CompileError naming an operation of a dialect that no later stage knows."""
    walk(module, _lower)


def _lower(op: Operation) -> None:
    op = op.operation
    if op.name.startswith("tm_tensor.") and op.name != "tm_tensor.yield":
        lowering = {"tm_tensor.scan": _scan, "tm_tensor.scatter": _scatter, "tm_tensor.sort": _sort}.get(op.name)
        if lowering is None:
            raise CompileError(
                f"{op.name} at node '{node_of(op.location)}' has no lowering; export the model without it"
            )
        with ir.InsertionPoint(op), op.location:
            results = lowering(op)
        for old, new in zip(op.results, results, strict=True):
            old.replace_all_uses_with(new)
        op.erase()
    elif op.name.partition(".")[0] not in UPSTREAM | {"tm_tensor"}:
        raise CompileError(f"{op.name} at node '{node_of(op.location)}' has no lowering; export the model without it")


def _scan(op: Operation) -> list[Any]:
    """Running totals along one dimension: out[i] = f(out[i-1], in[i]), or in[i-1] when exclusive."""
    source, out, total = op.operands
    axis = ir.IntegerAttr(op.attributes["dimension"]).value
    inclusive = ir.BoolAttr(op.attributes["inclusive"]).value
    shape = _shape(source)

    def line(rest: list[Any], state: list[Any]) -> list[Any]:
        def at(i: Any) -> list[Any]:
            return [*rest[:axis], i, *rest[axis:]]

        first = _extract(source, at(_index(0))) if inclusive else _extract(state[1], rest)
        out = _insert(first, state[0], at(_index(0)))

        def step(i: Any, carried: list[Any]) -> list[Any]:
            value = _extract(source, at(i if inclusive else _minus_one(i)))
            (result,) = _inline(op, [carried[1], value])
            return [_insert(result, carried[0], at(i)), result]

        out, last = _for(1, shape[axis], [out, first], step)
        return [out, _insert(last, state[1], rest)]

    if 0 in shape:
        return [out, total]
    return _nest([n for d, n in enumerate(shape) if d != axis], [out, total], line)


def _scatter(op: Operation) -> list[Any]:
    """out[indices[i], ...] = f(updates[i, ...], out[...]), one update after the other."""
    updates, indices, out = op.operands
    targets = list(ir.DenseI64ArrayAttr(op.attributes["dimension_map"]))
    shape, rank = _shape(updates), len(_shape(out))

    def update(at: list[Any], state: list[Any]) -> list[Any]:
        slice_at = at[1:]
        where = [_index(0)] * (rank - len(slice_at)) + slice_at
        for column, dimension in enumerate(targets):
            index = _extract(indices, [at[0], _index(column)])
            offset = ir.Operation.create("arith.index_cast", [ir.IndexType.get()], [index]).result
            base = where[dimension]
            known = dimension >= rank - len(slice_at)
            where[dimension] = _binary("arith.addi", base, offset) if known else offset
        (result,) = _inline(op, [_extract(updates, at), _extract(state[0], where)])
        return [_insert(result, state[0], where)]

    return _nest(shape, [out], update)


def _sort(op: Operation) -> list[Any]:
    """Bubble sort along one dimension of several tensors at once; stable for an order that keeps equals."""
    outs = list(op.operands)
    axis = ir.IntegerAttr(op.attributes["dimension"]).value
    shape = _shape(outs[0])

    def line(rest: list[Any], state: list[Any]) -> list[Any]:
        def sweep(_: Any, state: list[Any]) -> list[Any]:
            def exchange(i: Any, state: list[Any]) -> list[Any]:
                here, there = ([*rest[:axis], k, *rest[axis:]] for k in (_minus_one(i), i))
                pairs = [(_extract(t, here), _extract(t, there)) for t in state]
                (keep,) = _inline(op, list(itertools.chain(*pairs)))
                out: list[Any] = []
                for tensor, (a, b) in zip(state, pairs, strict=True):
                    low, high = _select(keep, a, b), _select(keep, b, a)
                    out.append(_insert(high, _insert(low, tensor, here), there))
                return out

            return _for(1, shape[axis], state, exchange)

        return _for(0, shape[axis], state, sweep)

    return _nest([n for d, n in enumerate(shape) if d != axis], outs, line)


Body = Callable[[list[Any], list[Any]], list[Any]]


def _nest(extents: Sequence[int], state: list[Any], body: Body, at: tuple[Any, ...] = ()) -> list[Any]:
    """Loops over a box of indices around `body(indices, tensors)`, which returns the tensors changed."""
    if not extents:
        return body(list(at), state)
    return _for(0, extents[0], state, lambda i, inner: _nest(extents[1:], inner, body, (*at, i)))


def _for(first: int, last: int, state: list[Any], body: Callable[[Any, list[Any]], list[Any]]) -> list[Any]:
    bounds = [_index(first), _index(last), _index(1)]
    loop = ir.Operation.create("scf.for", [v.type for v in state], [*bounds, *state], regions=1)
    block = loop.regions[0].blocks.append(ir.IndexType.get(), *(v.type for v in state))
    with ir.InsertionPoint(block):
        ir.Operation.create("scf.yield", [], body(block.arguments[0], list(block.arguments)[1:]))
    return list(loop.results)


def _inline(op: Operation, values: list[Any]) -> list[Any]:
    """The operations of an operation's body, here, on `values`; what it yields."""
    block = op.regions[0].blocks[0]
    known: list[tuple[Any, Any]] = list(zip(block.arguments, values, strict=True))

    def mapped(value: Any) -> Any:
        return next((new for old, new in known if old == value), value)

    for inner in block.operations:
        operands = [mapped(v) for v in inner.operation.operands]
        if inner.operation.name == "tm_tensor.yield":
            return operands
        copy = inner.operation.clone()
        for i, operand in enumerate(operands):
            copy.operands[i] = operand
        known += zip(inner.operation.results, copy.operation.results, strict=True)
    raise AssertionError("a body without a yield")


def _shape(value: Any) -> list[int]:
    return list(value.type.shape)


def _index(value: int) -> Any:
    kind = ir.IndexType.get()
    return ir.Operation.create("arith.constant", [kind], attributes={"value": ir.IntegerAttr.get(kind, value)}).result


def _minus_one(value: Any) -> Any:
    return _binary("arith.subi", value, _index(1))


def _binary(name: str, a: Any, b: Any) -> Any:
    return ir.Operation.create(name, [a.type], [a, b]).result


def _select(condition: Any, a: Any, b: Any) -> Any:
    return ir.Operation.create("arith.select", [a.type], [condition, a, b]).result


def _extract(tensor: Any, at: list[Any]) -> Any:
    return ir.Operation.create("tensor.extract", [tensor.type.element_type], [tensor, *at]).result


def _insert(value: Any, tensor: Any, at: list[Any]) -> Any:
    return ir.Operation.create("tensor.insert", [tensor.type], [value, tensor, *at]).result
