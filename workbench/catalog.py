"""Names to where they live. The CLI, the viewer and comparisons reach everything through these tables."""

from workbench.core.registry import Registry

MODELS = Registry(
    "model",
    [
        ("resnet18", "models.resnet18:SPEC"),
        ("mlp", "models.mlp:SPEC"),
    ],
)
"""name -> `models.spec.ModelSpec`"""

ROUTES = Registry(
    "route",
    [
        ("mlir", "pipelines.mlir.route:ROUTE"),
    ],
)
"""name -> `workbench.core.route.Route`"""
