"""Ansor's cost model, watched: what it said of each candidate before that was measured."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from tvm.auto_scheduler.cost_model.xgb_model import XGBModel

LEARNS_AFTER = 16
"""Records before the model's word counts. TVM waits for tasks x candidates a round, most of a short search."""


@dataclass(frozen=True)
class Prediction:
    """`score` is the model's (higher is faster, no unit), `seconds` what was measured."""

    key: str
    score: float
    seconds: float


class WatchedModel(XGBModel):
    """The boosted trees of TVM, learning from the first few records on."""

    def __init__(self, seed: int) -> None:
        super().__init__(verbose_eval=0, num_warmup_sample=LEARNS_AFTER, seed=seed or None)
        self.predictions: list[Prediction] = []

    def update(self, inputs: Sequence[Any], results: Sequence[Any]) -> None:
        """Note what was predicted for these candidates, then learn from them."""
        if self.bst is not None and len(self.inputs) > self.num_warmup_sample:
            self._note(inputs, results)
        super().update(inputs, results)

    def _note(self, inputs: Sequence[Any], results: Sequence[Any]) -> None:
        by_key: dict[str, list[tuple[Any, float]]] = {}
        for item, result in zip(inputs, results, strict=True):
            if result.error_no == 0:
                seconds = float(np.mean([float(c) for c in result.costs]))
                by_key.setdefault(str(item.task.workload_key), []).append((item, seconds))
        for key, measured in by_key.items():
            scores = self.predict(measured[0][0].task, [item.state for item, _ in measured])
            pairs = zip(scores, measured, strict=True)
            self.predictions += [Prediction(key, float(score), seconds) for score, (_, seconds) in pairs]


def rank_correlation(predictions: Sequence[Prediction]) -> float | None:
    """Spearman's correlation of predicted and measured speed, over tasks by their candidates; None below 3 of one.

    Scores of different tasks are not on one scale, so candidates are ranked within their task.
    """
    by_key: dict[str, list[Prediction]] = {}
    for p in predictions:
        by_key.setdefault(p.key, []).append(p)
    ranked = [_spearman(of_task) for of_task in by_key.values() if len(of_task) >= 3]
    weights = [len(of_task) for of_task in by_key.values() if len(of_task) >= 3]
    return float(np.average(ranked, weights=weights)) if ranked else None


def _spearman(predictions: Sequence[Prediction]) -> float:
    scores = np.argsort(np.argsort([p.score for p in predictions])).astype(float)
    speeds = np.argsort(np.argsort([-p.seconds for p in predictions])).astype(float)
    return float(np.corrcoef(scores, speeds)[0, 1])
