"""What mypy checks of the stub file."""

from __future__ import annotations

import railwright
import railwright.torch
from railwright import answers, loggers, network, plot

answer: railwright.Estimate = railwright.estimate("llama-3.1-8b", "dgx-h100", gpus=64, tp=2, overlap_expert=True)
seconds: float = answer.step_time_s
dollars: float | None = answer.cost_dollars
stage: railwright.Stage = answer.stages[0]
times: list[float] = [row.forward_s for row in answer.stages]
found: railwright.SearchResult = railwright.search("llama-3.1-8b", ["dgx-h100"], gpus=[64, 128]).result()
first: railwright.Layout = found.layouts[0]
whole: dict[str, object] = answer.to_dict()
evaluation: railwright.Evaluation = railwright.evaluate(railwright.prepare("llama-3.1-8b", "dgx-h100"), tp=4)
handler = railwright.torch.on_trace_ready("traces")
digests = railwright.torch.on_trace_ready("traces", write="digests")
stragglers: answers.Stragglers = railwright.stragglers(["traces"], ranks=3)
culprits: int = len(stragglers.culprits)
cost: answers.NetworkCost = network.cost(designs=["clos", "rail-only"], gpus=1024)
picture: plot.Picture = plot.breakdown("llama-3.1-8b", "dgx-h100", gpus=64, tp=2)
measured: loggers.Measured | None = loggers.Monitor(answer, lambda metrics, step: None).step(1.0)
problem: str | None = railwright.Problem("a").hint
