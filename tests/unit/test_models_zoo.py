"""Every model of the zoo: both front ends compute what the float64 reference says, and it can tell results apart."""

import subprocess
import sys
from functools import cache
from typing import Any

import numpy as np
import onnxruntime
import pytest
import torch

from models.arrays import to_numpy
from models.load import load_source
from models.torch_reference import tensors_in
from workbench.catalog import MODELS
from workbench.core.errors import ToolMissing
from workbench.core.source import Arrays, ModelRequest, Source
from workbench.numerics import judge_all


@cache
def loaded(name: str) -> Source:
    return load_source(ModelRequest(name))


def run_torch(source: Source, inputs: Arrays) -> Arrays:
    with torch.no_grad():
        result = source.program.module()(*map(torch.from_numpy, inputs.values()))
    return dict(zip(source.output_names, (t.numpy() for t in tensors_in(result)), strict=True))


def run_onnx(source: Source, inputs: Arrays) -> Arrays:
    session = onnxruntime.InferenceSession(source.program.SerializeToString())
    results: list[Any] = session.run(list(source.output_names), inputs)
    return dict(zip(source.output_names, results, strict=True))


@pytest.mark.parametrize("name", list(MODELS))
def test_spec_says_what_the_model_is(name: str) -> None:
    spec = MODELS.load(name)
    assert spec.name == name
    module, inputs = spec.build(0)
    assert not module.training
    dtypes = {t.dtype for t in (*module.state_dict().values(), *inputs) if t.is_floating_point()}
    assert dtypes == {getattr(torch, spec.dtype)}


@pytest.mark.parametrize("name", list(MODELS))
def test_exported_program_agrees_with_the_reference(name: str) -> None:
    source = loaded(name)
    assert source.reference_kind == "torch float64"
    want = source.reference(source.inputs)
    assert tuple(want) == source.output_names
    assert all(verdict.ok for verdict in judge_all(run_torch(source, source.inputs), want))


@pytest.mark.parametrize("name", list(MODELS))
def test_onnx_model_agrees_with_the_reference(name: str) -> None:
    source = load_source(ModelRequest(name, frontend="onnx"))
    assert [i.name for i in source.program.graph.input] == list(source.inputs)
    assert [o.name for o in source.program.graph.output] == list(source.output_names)
    verdicts = judge_all(run_onnx(source, source.inputs), loaded(name).reference(loaded(name).inputs))
    assert all(verdict.ok for verdict in verdicts), verdicts


@pytest.mark.parametrize("name", list(MODELS))
def test_seed_decides_weights_and_inputs(name: str) -> None:
    state = torch.random.get_rng_state()
    build = MODELS.load(name).build
    (one, first), (two, second), (other, third) = build(0), build(0), build(1)
    assert torch.equal(torch.random.get_rng_state(), state)
    assert all(map(torch.equal, one.state_dict().values(), two.state_dict().values()))
    assert all(map(torch.equal, first, second))
    assert not torch.equal(first[-1], third[-1])
    assert not all(map(torch.equal, one.state_dict().values(), other.state_dict().values()))


@pytest.mark.parametrize("name", list(MODELS))
def test_outputs_vary_and_depend_on_the_input(name: str) -> None:
    source = loaded(name)
    _, tensors = MODELS.load(name).build(1)
    others = dict(zip(source.inputs, map(to_numpy, tensors), strict=True))
    for first, second in zip(source.reference(source.inputs).values(), source.reference(others).values(), strict=True):
        scale = np.abs(first).max()
        assert np.isfinite(first).all()
        assert 0.1 < scale < 100
        assert first.std() > 0.1 * scale
        assert np.abs(first - second).max() > 0.1 * scale


def test_decoder_step_continues_what_prefill_began() -> None:
    prefill, step = loaded("decoder_prefill"), loaded("decoder_step")
    after = step.reference(step.inputs)
    longer = np.concatenate([prefill.inputs["arg0"], step.inputs["arg0"]], axis=1)
    whole = prefill.reference({"arg0": longer})
    np.testing.assert_allclose(after["out0"][:, 0], whole["out0"][:, -1], atol=1e-5)
    for name in ("out1", "out2"):
        np.testing.assert_allclose(after[name], whole[name], atol=1e-5)


def test_causal_attention_does_not_look_ahead() -> None:
    source = loaded("attention_causal")
    x = source.inputs["arg0"].copy()
    x[:, 64:] += 1.0
    before, after = source.reference(source.inputs)["out0"], source.reference({"arg0": x})["out0"]
    np.testing.assert_array_equal(before[:, :64], after[:, :64])
    assert np.abs(before[:, 64:] - after[:, 64:]).max() > 0.1


def test_int8_model_is_exact() -> None:
    source = loaded("mlp_int8")
    np.testing.assert_array_equal(run_torch(source, source.inputs)["out0"], source.reference(source.inputs)["out0"])


@pytest.mark.parametrize("statement", ["import models, models.spec, models.load", "import workbench.catalog"])
def test_naming_models_loads_no_torch(statement: str) -> None:
    check = f"{statement}; import sys; assert not {{'torch', 'onnx'}} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", check], check=True)


@pytest.mark.parametrize("model, package", [("mlp", "torch"), ("x.onnx", "onnx")])
def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch, model: str, package: str) -> None:
    for name in [n for n in sys.modules if n.startswith("models.") and n != "models.load"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ToolMissing, match=rf"loading {model} needs {package}: pip install"):
        load_source(ModelRequest(model))
