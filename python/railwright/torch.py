"""Traces of ``torch.profiler`` where the program ``railwright profile`` finds them.

>>> import railwright.torch
>>> handler = railwright.torch.on_trace_ready("traces")
>>> # with torch.profiler.profile(on_trace_ready=handler, ...) as profiler: ...
"""

from __future__ import annotations

import gzip
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any


def on_trace_ready(folder: str | os.PathLike[str], *, compress: bool = True) -> Callable[[Any], None]:
    """A handler for ``torch.profiler.profile(on_trace_ready=...)``: one file per rank and recorded window.

    Files are named ``rank0003_window0.pt.trace.json.gz``. A file appears under its name when it is complete, so that a reader never
    sees half of one. ``railwright profile FOLDER`` reads them.
    """
    target = Path(folder)
    windows = 0

    def write(profiler: Any) -> None:
        nonlocal windows
        target.mkdir(parents=True, exist_ok=True)
        name = f"rank{rank():04d}_window{windows}.pt.trace.json"
        windows += 1
        raw = target / f".{name}.{os.getpid()}"
        try:
            profiler.export_chrome_trace(str(raw))
            if not compress:
                raw.replace(target / name)
                return
            packed = target / f".{name}.{os.getpid()}.gz"
            try:
                with open(raw, "rb") as source, gzip.open(packed, "wb", compresslevel=3) as out:
                    shutil.copyfileobj(source, out, 1 << 20)
                packed.replace(target / f"{name}.gz")
            finally:
                packed.unlink(missing_ok=True)
        finally:
            raw.unlink(missing_ok=True)

    return write


def rank() -> int:
    """The rank of this process: of ``torch.distributed`` where it runs, else of the launcher's variables, else 0."""
    import torch

    if torch.distributed.is_available() and torch.distributed.is_initialized():
        return int(torch.distributed.get_rank())
    for variable in ("RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK"):
        value = os.environ.get(variable, "")
        if value.isdigit():
            return int(value)
    return 0
