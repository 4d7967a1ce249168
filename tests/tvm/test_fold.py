"""Weights folded by numpy are those that TVM's own folding gives, and chains of known sums and products stay equal."""

import itertools
from pathlib import Path

from workbench.worker import run_job

JOB = "tests.tvm.fold_job:run"


def test_layouts_are_tvms(tmp_path: Path) -> None:
    assert run_job(JOB, {"job": "layouts"}, tmp_path / "log", lambda _: None, 120) == {}


def test_chains_become_one_product_and_one_sum(tmp_path: Path) -> None:
    chains = ["".join(c) for n in range(1, 5) for c in itertools.product("+*", repeat=n)]
    params = {"job": "chains", "chains": chains, "seed": 5}
    for chain, (error, operators) in run_job(JOB, params, tmp_path / "log", lambda _: None, 240).items():
        assert error < 1e-12, chain
        assert operators <= 2, chain
