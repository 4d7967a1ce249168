"""Constants as trailing parameters of `@main`, so that the text of a module is complete. Loads TVM."""

from typing import Any

import numpy as np

from pipelines.relax.bindings import load

_relax: Any = load("relax")
_functor: Any = load("relax.expr_functor")

Array = np.ndarray[Any, Any]


def lift_constants(module: Any, taken: set[str]) -> tuple[Any, dict[str, Array]]:
    """The module with every constant but scalars as a parameter of `@main`, and their values by name, in order.

    Scalars have a text of their own. Names stay out of `taken`.
    """
    lifter = _Lifter(module, taken)
    main = module["main"]
    body = lifter.visit_expr(main.body)
    if not lifter.arrays:
        return module, {}
    function = _relax.Function([*main.params, *lifter.variables], body, main.ret_ty, main.is_pure, main.attrs)
    functions = {name: f for name, f in module.functions.items() if str(name.name_hint) != "main"}
    functions[module.get_global_var("main")] = function
    return load().IRModule(functions, attrs=module.attrs), lifter.arrays


@_functor.mutator
class _Lifter(_functor.PyExprMutator):
    """Replaces constants by new variables. One that is used twice becomes one parameter."""

    def __init__(self, module: Any, taken: set[str]) -> None:
        super().__init__(module)
        self.arrays: dict[str, Array] = {}
        self.variables: list[Any] = []
        self._taken = taken
        self._seen: dict[Any, Any] = {}

    def visit_constant_(self, op: Any) -> Any:
        if len(op.data.shape) == 0:
            return op
        if op not in self._seen:
            name = next(n for i in range(len(self._taken) + 1) if (n := f"constant_{i}") not in self._taken)
            self._taken.add(name)
            self.arrays[name] = op.data.numpy()
            self._seen[op] = _relax.Var(name, op.ty)
            self.variables.append(self._seen[op])
        return self._seen[op]
