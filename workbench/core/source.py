"""What the user wants lowered, and the loaded model."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from workbench.core.arrays import Arrays
from workbench.core.errors import UsageError

Frontend = Literal["fx", "onnx"]


@dataclass(frozen=True)
class ModelRequest:
    """The model as asked for on the command line.

    `model` is a name of the zoo, a path to an .onnx file, or "package.module:factory" / "file.py:factory" where the
    factory returns (module, example inputs). `sizes` gives shapes for inputs with symbolic dimensions by input name
    ("x" -> (1, 3, 224, 224)); `weights` a safetensors or torch state-dict file; `inputs` an .npz to verify on.
    """

    model: str
    frontend: Frontend = "fx"
    sizes: Mapping[str, tuple[int, ...]] = field(default_factory=dict[str, tuple[int, ...]])
    weights: str | None = None
    inputs: str | None = None
    seed: int = 0

    def to_json(self) -> dict[str, Any]:
        """JSON-ready form; `from_json` reads it back."""
        return asdict(self)

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> "ModelRequest":
        """Read what `to_json` wrote."""
        sizes = {name: tuple(shape) for name, shape in data.get("sizes", {}).items()}
        return ModelRequest(
            data["model"],
            data.get("frontend", "fx"),
            sizes,
            data.get("weights"),
            data.get("inputs"),
            data.get("seed", 0),
        )


@dataclass(frozen=True)
class Source:
    """A loaded model.

    `program` is a torch.export.ExportedProgram ("fx") or an onnx.ModelProto ("onnx"). `inputs` are the fixed inputs to
    verify on. `reference` maps inputs to outputs, computed in float64 where `reference_kind` says so; integer and
    boolean outputs keep their dtype, floating outputs come back as float64.
    """

    name: str
    frontend: Frontend
    program: Any
    inputs: Arrays
    output_names: tuple[str, ...]
    reference: Callable[[Arrays], Arrays]
    reference_kind: str


def frontend_of(model: str, asked: str | None) -> Frontend:
    """The front end a model comes through: .onnx files by ONNX, everything else by torch.export unless asked."""
    if asked not in (None, "fx", "onnx"):
        raise UsageError(f"no front end '{asked}'; known: fx, onnx")
    if Path(model).suffix == ".onnx":
        if asked == "fx":
            raise UsageError(f"{model} is an ONNX file: it cannot come through torch.export; leave out --frontend")
        return "onnx"
    return "onnx" if asked == "onnx" else "fx"
