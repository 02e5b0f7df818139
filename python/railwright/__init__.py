"""Models, profiles and tunes distributed training of large language models.

Every function takes a model, a cluster and settings, named as the flags of the program with underscores:

>>> import railwright
>>> answer = railwright.estimate("llama-3.1-8b", "dgx-h100", gpus=64, tp=2)
>>> answer.fit
'fits'
>>> 0.1 < answer.step_time_s < 100
True

A model is a name of the catalogue, a path of a ``config.json``, its text, a mapping, or a configuration of ``transformers``.
``run=`` reads a run file, ``plan=`` takes the ``args`` of Megatron-LM or a job configuration of torchtitan.

What is wrong with a question is raised as :class:`railwright.Problem`:

>>> railwright.estimate("llama-3.1-8b", "dgx-h100", gpus=64, tp=3)
Traceback (most recent call last):
    ...
railwright.Problem: ...
"""

from __future__ import annotations

from ._problem import Problem
from ._railwright import (
    Change,
    Collective,
    Estimate,
    Evaluation,
    Layout,
    Memory,
    MemoryItem,
    MemoryStage,
    Part,
    Prepared,
    Rows,
    Search,
    SearchResult,
    SizeResult,
    SizeRow,
    Solution,
    Stage,
    Variant,
    Warning,
    WhatIf,
    __version__,
    balance,
    estimate,
    evaluate,
    memory,
    prepare,
    recompute,
    search,
    size,
    whatif,
)

__all__ = [
    "Change",
    "Collective",
    "Estimate",
    "Evaluation",
    "Layout",
    "Memory",
    "MemoryItem",
    "MemoryStage",
    "Part",
    "Prepared",
    "Problem",
    "Rows",
    "Search",
    "SearchResult",
    "SizeResult",
    "SizeRow",
    "Solution",
    "Stage",
    "Variant",
    "Warning",
    "WhatIf",
    "__version__",
    "balance",
    "estimate",
    "evaluate",
    "memory",
    "prepare",
    "recompute",
    "search",
    "size",
    "whatif",
]
