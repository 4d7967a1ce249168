"""What an ONNX model must satisfy before it is lowered; each refusal names the operator, the node and the remedy."""

from collections.abc import Iterable

from onnx import GraphProto, ModelProto, NodeProto, TensorProto, TypeProto, defs, inliner

from pipelines.importers.onnx.graph import Graph, Value, element_name, subgraphs, value_at, where
from workbench.core.errors import CompileError

OWN_DOMAINS = ("", "ai.onnx")

MUST_BE_CONSTANT: dict[str, tuple[int, ...]] = {
    "Reshape": (1,),
    "Slice": (1, 2, 3, 4),
    "Expand": (1,),
    "Tile": (1,),
    "Range": (0, 1, 2),
    "ConstantOfShape": (0,),
    "Pad": (1, 3),
    "Resize": (1, 2, 3),
    "Upsample": (1,),
    "TopK": (1,),
    "OneHot": (1,),
    "Split": (1,),
    "Squeeze": (1,),
    "Unsqueeze": (1,),
    "CumSum": (1,),
    "CumProd": (1,),
    "Trilu": (1,),
    "CenterCropPad": (1,),
    "Compress": (1,),
    "AffineGrid": (1,),
    "Col2Im": (1, 2),
    "DFT": (1, 2),
    "STFT": (1, 3),
    "Dropout": (2,),
    **{
        f"Reduce{kind}": (1,)
        for kind in ("L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare")
    },
}
"""Inputs whose values decide sizes or which axes are meant."""

DATA_SIZED = frozenset({"NonZero", "Unique", "NonMaxSuppression"})
"""Operators whose output has as many elements as the data says."""

LOWERED = frozenset(
    {
        TensorProto.FLOAT,
        TensorProto.DOUBLE,
        TensorProto.FLOAT16,
        TensorProto.BFLOAT16,
        TensorProto.BOOL,
        *(TensorProto.INT8, TensorProto.INT16, TensorProto.INT32, TensorProto.INT64),
        *(TensorProto.UINT8, TensorProto.UINT16, TensorProto.UINT32, TensorProto.UINT64),
    }
)
"""Element types that later forms can hold."""

RANDOM = frozenset(
    {"RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike", "Bernoulli", "Multinomial"}
)
"""Operators that draw numbers."""

UNSOUND = frozenset({"Det", "MaxUnpool", "DeformConv", "RoiAlign", "Col2Im", "ImageDecoder"})
"""Operators whose conversion crashes, or fails far from where it could say why."""


def check_model(model: ModelProto) -> None:
    """Raises CompileError on an operator nobody defined, a tensor nobody makes, and values that are not tensors."""
    local = {(f.domain, f.name) for f in model.functions}
    versions = {o.domain: o.version for o in model.opset_import}
    for node in every_node(model.graph):
        if (node.domain, node.op_type) not in local:
            _check_operator(node, versions)
    _check_defined(model.graph, set())


def named(model: ModelProto) -> ModelProto:
    """The model with its local functions inlined and a name for every node: that of its first output if it had none."""
    model = inliner.inline_local_functions(model) if model.functions else model
    out = ModelProto()
    out.CopyFrom(model)
    for node in every_node(out.graph):
        node.name = node.name or value_at(node.output, 0)
    return out


def check_static(graph: Graph) -> None:
    """Raises CompileError naming the first node whose output has a size that only running the model would tell."""
    for name in {n for node in graph.nodes for n in node.input if n in graph.constants or n in graph.types}:
        if graph.element(name) not in LOWERED | {TensorProto.UNDEFINED}:
            kind = element_name(graph.element(name))
            raise CompileError(f"tensor '{name}' is of type {kind}, which has no lowering; convert it in the model")
    for node in graph.nodes:
        if node.op_type in RANDOM:
            raise CompileError(f"{where(node)} draws random numbers, so no result could be checked; export without it")
        if node.op_type in UNSOUND:
            raise CompileError(f"{where(node)} has no lowering; export the model without it")
        for position in MUST_BE_CONSTANT.get(node.op_type, ()):
            name = value_at(node.input, position)
            if name and name not in graph.constants:
                raise CompileError(
                    f"{where(node)} takes '{name}', which is only known at run time; the size of its result depends "
                    f"on that value, so make '{name}' a constant of the model"
                )
        for name in node.output:
            _check_tensor(node, graph.types[name].type if name in graph.types else TypeProto())
            if name and (graph.shape(name) is None or node.op_type in DATA_SIZED):
                reason = "on the data" if node.op_type in DATA_SIZED else "on something that is only known at run time"
                raise CompileError(
                    f"{where(node)}: the size of its result '{name}' depends {reason}; only static sizes can be lowered"
                )


def every_node(graph: GraphProto) -> Iterable[NodeProto]:
    """The nodes of a graph and of the graphs inside them."""
    for node in graph.node:
        yield node
        for sub in subgraphs(node):
            yield from every_node(sub)


def _check_operator(node: NodeProto, versions: dict[str, int]) -> None:
    if node.domain not in OWN_DOMAINS:
        raise CompileError(
            f"{where(node)} is not one of ONNX's own operators and has no definition in the model; "
            "export the model without it, or add its definition as a model-local function"
        )
    try:
        schema = defs.get_schema(node.op_type, versions.get(node.domain, versions.get("", 1)), "")
    except defs.SchemaError:
        raise CompileError(
            f"{where(node)} is no operator of opset {versions.get('', 1)}; give the opset the model was written for"
        ) from None
    kinds = {str(t) for o in schema.outputs for t in o.types}
    if kinds and all(k.startswith(("seq(", "map(", "optional(seq")) for k in kinds):
        raise CompileError(f"{where(node)} makes a sequence or a map; only tensors can be lowered, so return tensors")


def _check_defined(graph: GraphProto, outer: set[Value]) -> None:
    known = outer | {"", *(v.name for v in graph.input), *(t.name for t in graph.initializer)}
    known |= {t.values.name for t in graph.sparse_initializer}
    for node in graph.node:
        missing = [name for name in node.input if name not in known]
        if missing:
            raise CompileError(
                f"tensor '{missing[0]}' is used by {where(node)} but is no input, no weight and no node's output; "
                "the file is incomplete, export it again with all its weights"
            )
        for sub in subgraphs(node):
            _check_defined(sub, known)
        known |= set(node.output)
    for value in graph.output:
        if value.name not in known:
            raise CompileError(f"output '{value.name}' is made by no node; export the model again")


def _check_tensor(node: NodeProto, kind: TypeProto) -> None:
    found = kind.WhichOneof("value")
    if found not in (None, "tensor_type"):
        what = str(found).removesuffix("_type").replace("_", " ")
        raise CompileError(f"{where(node)} makes a {what}; only tensors can be lowered")
    element = kind.tensor_type.elem_type
    if found and element not in LOWERED:
        raise CompileError(f"{where(node)} makes a tensor of {element_name(element)}, a type that has no lowering")
