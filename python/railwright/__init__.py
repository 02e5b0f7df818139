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

Every other command of the program is a function, too. Its arguments are named as its flags. Its answer has the fields of ``--json`` and
prints as the program's report. Commands of two words are in modules: ``railwright.network.cost(...)``.

>>> railwright.explain("mfu").topic.id
'mfu'

Problems of a question are raised as :class:`railwright.Problem`:

>>> railwright.estimate("llama-3.1-8b", "dgx-h100", gpus=64, tp=3)
Traceback (most recent call last):
    ...
railwright.Problem: ...
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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
    Pool,
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

if TYPE_CHECKING:
    from . import answers, clusters, gpus, loggers, models, network, plot
    from .commands import (
        calibrate,
        check,
        comm,
        compare,
        detect,
        digest,
        examples,
        explain,
        export,
        export_perfetto,
        goodput,
        hang,
        init,
        keys,
        log,
        memory_snapshot,
        pipeline,
        profile,
        query,
        save,
        schema,
        sensitivity,
        stragglers,
        timeline,
        tune,
        validate,
        values,
    )

# Functions of commands are loaded on first use, because most programs need few of them.
_MODULES = ("answers", "clusters", "gpus", "loggers", "models", "network", "plot")


def __getattr__(name: str) -> Any:
    import importlib

    if name in _MODULES:
        return importlib.import_module(f".{name}", __name__)
    if not name.startswith("_"):
        commands = importlib.import_module(".commands", __name__)
        if name in commands.__all__:
            return getattr(commands, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    from . import commands

    return sorted({*globals(), *_MODULES, *commands.__all__})


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
    "Pool",
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
    "answers",
    "balance",
    "calibrate",
    "check",
    "clusters",
    "comm",
    "compare",
    "detect",
    "digest",
    "estimate",
    "evaluate",
    "examples",
    "explain",
    "export",
    "export_perfetto",
    "goodput",
    "gpus",
    "hang",
    "init",
    "keys",
    "log",
    "loggers",
    "memory",
    "memory_snapshot",
    "models",
    "network",
    "pipeline",
    "plot",
    "prepare",
    "profile",
    "query",
    "recompute",
    "save",
    "schema",
    "search",
    "sensitivity",
    "size",
    "stragglers",
    "timeline",
    "tune",
    "validate",
    "values",
    "whatif",
]
