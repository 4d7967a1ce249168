"""What `relay.optimize` does, in its order, with weights folded by `FoldWeights`."""

from typing import Any

import tvm
from tvm import relay
from tvm.relay.qnn import transform as qnn

from pipelines.tvm.fold import fold_weights


def optimize(module: Any, target: Any, parameters: dict[str, Any]) -> Any:
    """Relay with layouts chosen, constants folded and operators fused, under the pass context that is current."""
    bound = tvm.IRModule(dict(module.functions.items()))
    bound.update_func(bound.get_global_var("main"), relay.build_module.bind_params_by_name(module["main"], parameters))
    passes = before_fusion()
    with target:
        settled = tvm.transform.Sequential(passes)(bound)
    with _without({"FoldScaleAxis", *(str(p.info.name) for p in passes)} - {"InferType"}):
        return relay.optimize(settled, target)[0]


def before_fusion() -> list[Any]:
    """The passes up to those that fuse and label functions; FoldScaleAxis is written out, for it folds too."""
    t = relay.transform
    after_layouts: Any = tvm.get_global_func("relay._transform.SimplifyExprPostAlterOp")
    folding = [fold_weights(), t.FoldConstant()]
    return [
        *(t.RemoveUnusedFunctions(), t.ToBasicBlockNormalForm(), qnn.Legalize(), t.Legalize(), t.SimplifyInference()),
        *(t.EliminateCommonSubexpr(), *folding),
        *(t.BackwardFoldScaleAxis(), t.ForwardFoldScaleAxis(), *folding, t.SimplifyExpr()),
        *(t.CanonicalizeCast(), t.CanonicalizeOps(), t.FlattenAtrousConv(), t.InferType()),
        *(t.AlterOpLayout(), after_layouts(), *folding),
    ]


def _without(names: set[str]) -> Any:
    """The current pass context with some passes left out."""
    now = tvm.transform.PassContext.current()
    return tvm.transform.PassContext(
        opt_level=now.opt_level,
        required_pass=list(now.required_pass),
        disabled_pass=[*now.disabled_pass, *sorted(names)],
        instruments=list(now.instruments),
        config=dict(now.config.items()),
    )
