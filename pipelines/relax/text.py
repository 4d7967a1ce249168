"""Relax's and TIR's own text of TVM 0.27's modules, and whether two of them are the same."""

from typing import Any

from pipelines.relax.bindings import load, load_ffi, refusals
from workbench.core.kinds import IRKind


def kind_of(module: Any) -> IRKind:
    """The level of a module: Relax while a function of it is."""
    function = load("relax").Function
    return IRKind.RELAX if any(isinstance(f, function) for f in module.functions.values()) else IRKind.TIR


def text_of(module: Any) -> str:
    """The script of a module; what it cannot print in place it calls `metadata[...]`."""
    return module.script(show_meta=False) + "\n"


def elided(text: str) -> bool:
    """Whether a text lacks something, so that it cannot be read back."""
    return "metadata[" in text


def parse(text: str) -> Any:
    """A module read from its text; raises CompileError with the parser's own sentence."""
    with refusals("the text does not parse"):
        return load("script").from_source(text)


def functions_of(module: Any) -> dict[str, Any]:
    """Functions by name."""
    return {str(name.name_hint): function for name, function in module.functions.items()}


def same(a: Any, b: Any) -> bool:
    """Whether a pass left every function as it was."""
    if a.same_as(b):
        return True
    structural_equal = load_ffi().structural_equal
    one, other = functions_of(a), functions_of(b)
    return one.keys() == other.keys() and all(
        f.same_as(other[name]) or structural_equal(f, other[name]) for name, f in one.items()
    )
