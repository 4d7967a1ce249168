"""Channels last: convolutions and pools run with the channel innermost, and transposes cancel between them."""

from collections.abc import Sequence
from typing import Any

from dialects.bindings import Module, Operation
from pipelines.mlir.tiled.edit import (
    create,
    defining,
    inverse,
    ir,
    ops_named,
    permute_loops,
    permute_operand,
    permuted,
    replace_uses,
    transpose,
    transposed_type,
    users,
)
from pipelines.mlir.tiled.nest import Access, LoopNest, read_nest


def channels_last(module: Module) -> None:
    """Give every windowed operation its operands with batch first, then space, then channels.

    Image (n, c, h, w) becomes (n, h, w, c), weights (f, c, kh, kw) become (kh, kw, c, f); the transposes this needs
    stand as `linalg.transpose` around the operation until `cancel_transposes`.
    """
    for op in ops_named(module, "linalg.generic"):
        nest = read_nest(op)
        if nest is not None and nest.windowed and len(nest.outputs) == 1:
            _reorder(op, nest)


def _reorder(op: Operation, nest: LoopNest) -> None:
    lane = channel_loop(nest)
    if lane is None:
        return
    with ir.InsertionPoint(op), op.location:
        for number, access in enumerate(nest.accesses):
            order = operand_order(access, nest, lane)
            if order != sorted(order):
                permute_operand(op, number, transpose(op.operands[number], order), order)
    order = operand_order(nest.outputs[0], nest, lane)
    if order != sorted(order):
        _retype_result(op, order)
    loops = [term[0] for index in permuted(nest.outputs[0].indices, order) for term in index]
    permute_loops(op, loops + list(nest.reductions))


def channel_loop(nest: LoopNest) -> int | None:
    """The loop over output channels: the last dimension of the output that is not part of a window."""
    space = _space(nest)
    channels = [index[0][0] for index in nest.outputs[0].indices if len(index) == 1 and index[0][0] not in space]
    return channels[-1] if channels and nest.outputs[0].position(channels[-1]) is not None else None


def _space(nest: LoopNest) -> set[int]:
    """Loops that walk an image: those that share an index with another."""
    return {loop for a in nest.inputs for index in a.indices if len(index) > 1 for loop, _ in index}


def operand_order(access: Access, nest: LoopNest, lane: int) -> list[int]:
    """Order of an operand's dimensions: batch and groups, space, reduced channels, output channel.

    The first of several dimensions outside the windows is the batch; an image keeps only that one in front.
    """
    space = _space(nest)
    image = any(len(index) > 1 for index in access.indices) or access is nest.outputs[0]
    outside = [d for d, index in enumerate(access.indices) if not {loop for loop, _ in index} & space]
    batch = outside[:1] if image and len(outside) > 1 else []

    def rank(d: int) -> int:
        loops = {loop for loop, _ in access.indices[d]}
        if d in batch:
            return 0
        if loops & space:
            return 2
        if lane in loops:
            return 5
        return 3 if image or any(not nest.parallel[loop] for loop in loops) else 1

    return sorted(range(len(access.indices)), key=rank)


def _retype_result(op: Operation, order: Sequence[int]) -> None:
    """Let the result hold its dimensions in the order given; users read it through a transpose back."""
    result = op.results[0]
    result.set_type(transposed_type(result.type, order))
    with ir.InsertionPoint.after(op), op.location:
        back = transpose(result, inverse(order))
    replace_uses(result, back, keep=back.owner.operation)


def cancel_transposes(module: Module) -> None:
    """Move transposes through what can absorb them until only those at the model's edges are left."""
    flipped: list[Operation] = []
    while sum(_absorb(op, flipped) for op in ops_named(module, "linalg.transpose")):
        pass
    for op in ops_named(module, "linalg.generic"):
        _order_by_output(op)


def _absorb(op: Operation, flipped: list[Operation]) -> bool:
    """One step for one transpose; whether anything changed."""
    source, result = op.operands[0], op.results[0]
    order = _permutation(op)
    if not list(result.uses):
        op.erase()
        return True
    if order == sorted(order):
        result.replace_all_uses_with(source)
        return True
    with ir.InsertionPoint(op), op.location:
        fresh = _through_producer(source, order, flipped)
    if fresh is not None:
        result.replace_all_uses_with(fresh)
        return True
    return sum(_into_reader(user, result, source, order) for user in users(result)) > 0


def _through_producer(source: Any, order: Sequence[int], flipped: list[Operation]) -> Any:
    """The transpose of `source` without a transpose, or with an earlier one; None when its producer stays."""
    if (before := defining(source, "linalg.transpose")) is not None:
        return transpose(before.operands[0], permuted(_permutation(before), order))
    if defining(source, "tensor.empty") is not None:
        return create("tensor.empty", [], transposed_type(source.type, order))
    if (pad := defining(source, "tensor.pad")) is not None and _static_pad(pad) and _only_transposed(source, order):
        return _transposed_pad(pad, order)
    producer = defining(source, "linalg.generic")
    if producer is None or producer in flipped or not _writes_only(producer):
        return None
    flipped.append(producer)
    with ir.InsertionPoint(producer), producer.location:
        last = len(producer.operands) - 1
        permute_operand(producer, last, transpose(producer.operands[last], order), order)
    _retype_result(producer, order)
    return None


def _permutation(op: Operation) -> list[int]:
    return list(ir.DenseI64ArrayAttr(op.attributes["permutation"]))


def _only_transposed(value: Any, order: Sequence[int]) -> bool:
    return all(user.name == "linalg.transpose" and _permutation(user) == list(order) for user in users(value))


def _static_pad(pad: Operation) -> bool:
    """Whether it pads by static amounts with one value from outside its body."""
    body = pad.regions[0].blocks[0]
    filler = body.operations[0].operands
    return len(pad.operands) == 1 and len(body.operations) == 1 and filler[0] not in list(body.arguments)


def _transposed_pad(pad: Operation, order: Sequence[int]) -> Any:
    """The pad of the transposed source."""
    low, high = (list(ir.DenseI64ArrayAttr(pad.attributes[name])) for name in ("static_low", "static_high"))
    filler = pad.regions[0].blocks[0].operations[0].operands[0]
    source = transpose(pad.operands[0], order)
    fresh = ir.Operation.create(
        "tensor.pad",
        operands=[source],
        results=[transposed_type(pad.results[0].type, order)],
        attributes={
            "static_low": ir.DenseI64ArrayAttr.get(permuted(low, order)),
            "static_high": ir.DenseI64ArrayAttr.get(permuted(high, order)),
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 0, 0]),
        },
        regions=1,
    )
    index = ir.IndexType.get()
    block = fresh.regions[0].blocks.append(*[index] * len(order), arg_locs=[pad.location] * len(order))
    with ir.InsertionPoint(block):
        ir.Operation.create("tensor.yield", operands=[filler])
    return fresh.results[0]


def _writes_only(op: Operation) -> bool:
    """Whether it is elementwise with one result and does not read what was in its output."""
    nest = read_nest(op)
    if nest is None or not nest.elementwise or len(nest.outputs) != 1:
        return False
    arguments = list(op.regions[0].blocks[0].arguments)
    return not list(arguments[-1].uses)


def _into_reader(user: Operation, value: Any, source: Any, order: Sequence[int]) -> bool:
    """Let an elementwise operation or a plain reduction read the source directly."""
    nest = read_nest(user)
    if nest is None or nest.windowed or nest.contraction:
        return False
    changed = False
    for number in range(len(nest.inputs)):
        if user.operands[number] == value:
            permute_operand(user, number, source, inverse(order))
            changed = True
    return changed


def _order_by_output(op: Operation) -> None:
    """Run the loops of an elementwise operation in the order of its output's dimensions."""
    nest = read_nest(op)
    if nest is None or not nest.elementwise or len(nest.outputs) != 1:
        return
    loops = [index[0][0] for index in nest.outputs[0].indices if len(index) == 1]
    if sorted(loops) == list(range(len(nest.sizes))) and loops != sorted(loops):
        permute_loops(op, loops)
