"""TVM's modules as text, and whether two of them are the same."""

import re
from typing import Any

from pipelines.tvm.bindings import load
from workbench.core.kinds import IRKind

_ADDRESS = re.compile(r"\bid=[0-9a-f]{6,}, ")
_OMITTED = re.compile(r"\n/\* For debugging purposes the metadata section has been omitted\..*?\*/", re.DOTALL)


def kind_of(module: Any) -> IRKind:
    """The level of a module; while functions are lowered one by one it is Relay until none of Relay is left."""
    function = load("relay").Function
    return IRKind.RELAY if any(isinstance(f, function) for f in module.functions.values()) else IRKind.TIR


def text_of(module: Any, constants: bool = False) -> str:
    """Relay's or TIR's own text of a module; with `constants`, those of Relay in full, so that it can be read back.

    Addresses of objects, which TVM prints into targets, are left out: the text of a model is the same in every run.
    """
    if kind_of(module) is IRKind.TIR:
        # A module's attributes refer to tables that only a live one has; with them the text could not be read back.
        return load().IRModule(module.functions).script(show_meta=False) + "\n"
    return _ADDRESS.sub("", _OMITTED.sub("", module.astext(show_meta_data=constants))).rstrip() + "\n"


def functions_of(module: Any) -> dict[str, Any]:
    """Functions by name."""
    return {str(name.name_hint): function for name, function in module.functions.items()}


def same(a: Any, b: Any) -> bool:
    """Whether a pass left every function as it was. Types that a pass only wrote down do not count as a change."""
    if a.same_as(b):
        return True
    structural_equal = load("ir").structural_equal
    one, other = functions_of(a), functions_of(b)
    return one.keys() == other.keys() and all(
        f.same_as(other[name]) or structural_equal(f, other[name]) for name, f in one.items()
    )
