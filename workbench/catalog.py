"""Names to where they live. The CLI, the viewer and comparisons reach everything through these tables."""

from workbench.core.registry import Registry

MODELS = Registry(
    "model",
    [
        ("resnet18", "models.resnet18:SPEC"),
        ("resnet18_int8", "models.resnet18_int8:SPEC"),
        ("mobile", "models.mobile:SPEC"),
        ("mlp", "models.mlp:SPEC"),
        ("mlp_fp16", "models.mlp:FP16"),
        ("mlp_int8", "models.mlp_int8:SPEC"),
        ("attention", "models.attention:SPEC"),
        ("attention_causal", "models.attention:CAUSAL"),
        ("attention_fp16", "models.attention:FP16"),
        ("encoder", "models.encoder:SPEC"),
        ("encoder_int8", "models.encoder_int8:SPEC"),
        ("decoder_prefill", "models.decoder:PREFILL"),
        ("decoder_step", "models.decoder:STEP"),
    ],
)
"""name -> `models.spec.ModelSpec`"""

ROUTES = Registry(
    "route",
    [
        ("mlir", "pipelines.mlir.route:ROUTE"),
        ("tvm", "pipelines.tvm.route:ROUTE"),
        ("relax", "pipelines.relax.route:ROUTE"),
        ("byoc", "pipelines.byoc.route:ROUTE"),
        ("npu", "pipelines.npu.route:ROUTE"),
    ],
)
"""name -> `workbench.core.route.Route`"""

ARRAY = Registry(
    "command of the array",
    [
        ("machines", "byoc.systolic.desk:machines"),
        ("front", "byoc.systolic.desk:front_of"),
        ("simulate", "byoc.systolic.desk:simulated"),
    ],
)
"""name -> a function of plain data"""
