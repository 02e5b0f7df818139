"""Traces of ``torch.profiler`` in files that ``railwright profile`` reads.

>>> import railwright.torch
>>> handler = railwright.torch.on_trace_ready("traces")
>>> # with torch.profiler.profile(on_trace_ready=handler, ...) as profiler: ...
"""

from __future__ import annotations

import gzip
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal


Form = Literal["traces", "digests", "both"]


def on_trace_ready(
    folder: str | os.PathLike[str], *, write: Form = "traces", compress: bool = True
) -> Callable[[Any], None]:
    """Creates a handler for ``torch.profiler.profile(on_trace_ready=...)``: one file per rank and recorded window.

    Files are named ``rank0003_window0.pt.trace.json.gz``. A file gets its name once it is complete, so that readers never see
    a partial one. ``railwright profile FOLDER`` reads them.

    ``write="digests"`` writes ``rank0003_window0.digest.parquet`` instead. It has a fraction of the size and is sufficient for the analyses
    of many ranks (``railwright stragglers``, ``comm``). ``"both"`` writes both. ``compress=False`` leaves traces uncompressed.
    """
    if write not in ("traces", "digests", "both"):
        raise ValueError(f"expected write='traces', 'digests' or 'both', got {write!r}")
    target = Path(folder)
    windows = 0

    def ready(profiler: Any) -> None:
        nonlocal windows
        target.mkdir(parents=True, exist_ok=True)
        name = f"rank{rank():04d}_window{windows}.pt.trace.json"
        windows += 1
        # Incomplete files are in a separate folder on the same disk, so that moving a complete one is atomic.
        with tempfile.TemporaryDirectory(prefix=f".{name}.", dir=target) as unfinished:
            raw = Path(unfinished) / name
            profiler.export_chrome_trace(str(raw))
            if write != "traces":
                _digest(raw, target)
            if write == "digests":
                return
            if not compress:
                raw.replace(target / name)
                return
            packed = raw.with_name(f"{name}.gz")
            with open(raw, "rb") as source, gzip.open(packed, "wb", compresslevel=3) as out:
                shutil.copyfileobj(source, out, 1 << 20)
            packed.replace(target / packed.name)

    return ready


def _digest(trace: Path, target: Path) -> None:
    """Writes the digest of a trace."""
    from . import commands

    made = trace.parent / "digests"
    commands.digest(trace, output=made)
    for path in made.iterdir():
        path.replace(target / path.name)


def rank() -> int:
    """Rank of this process: from ``torch.distributed`` if initialized, else from the launcher's variables, else 0."""
    import torch

    if torch.distributed.is_available() and torch.distributed.is_initialized():
        return int(torch.distributed.get_rank())
    for variable in ("RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK"):
        value = os.environ.get(variable, "")
        if value.isdigit():
            return int(value)
    return 0
