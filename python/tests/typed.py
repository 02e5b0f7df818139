"""What mypy checks of the stub file."""

from __future__ import annotations

import railwright
import railwright.torch

answer: railwright.Estimate = railwright.estimate("llama-3.1-8b", "dgx-h100", gpus=64, tp=2, overlap_expert=True)
seconds: float = answer.step_time_s
cost: float | None = answer.cost_dollars
stage: railwright.Stage = answer.stages[0]
times: list[float] = [row.forward_s for row in answer.stages]
found: railwright.SearchResult = railwright.search("llama-3.1-8b", ["dgx-h100"], gpus=[64, 128]).result()
first: railwright.Layout = found.layouts[0]
whole: dict[str, object] = answer.to_dict()
evaluation: railwright.Evaluation = railwright.evaluate(railwright.prepare("llama-3.1-8b", "dgx-h100"), tp=4)
handler = railwright.torch.on_trace_ready("traces")
problem: str | None = railwright.Problem("a").hint
