"""What `railwright.torch` writes, from a profiler that exports a real trace."""

from __future__ import annotations

import gzip
import shutil
import sys
import types
from pathlib import Path

import pytest
from conftest import ROOT

import railwright
import railwright.torch

TRACES = sorted((ROOT / "fixtures" / "traces" / "megatron_tp2_v100").glob("rank*.json.gz"))


class Profiler:
    """Exports a recorded trace, as `torch.profiler.profile` exports its own."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def export_chrome_trace(self, path: str) -> None:
        opened = gzip.open if self.trace.suffix == ".gz" else open
        with opened(self.trace, "rb") as source, open(path, "wb") as out:
            shutil.copyfileobj(source, out)


@pytest.fixture(autouse=True)
def without_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where PyTorch is not installed, a module without processes stands for it."""
    try:
        import torch  # noqa: F401
    except ImportError:
        distributed = types.SimpleNamespace(is_available=lambda: False)
        monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(distributed=distributed))


def recorded(folder: Path, monkeypatch: pytest.MonkeyPatch, **options: object) -> list[str]:
    for rank, trace in enumerate(TRACES):
        monkeypatch.setenv("RANK", str(rank))
        railwright.torch.on_trace_ready(folder, **options)(Profiler(trace))  # type: ignore[arg-type]
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_traces_and_digests_have_the_same_stragglers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(TRACES) >= 2
    traces = recorded(tmp_path / "traces", monkeypatch)
    assert traces[0] == "rank0000_window0.pt.trace.json.gz" and len(traces) == len(TRACES)
    digests = recorded(tmp_path / "digests", monkeypatch, write="digests")
    assert digests == [f"rank{rank:04d}_window0.digest.parquet" for rank in range(len(TRACES))]
    both = recorded(tmp_path / "both", monkeypatch, write="both", compress=False)
    assert len(both) == 2 * len(TRACES)
    from_traces = railwright.stragglers(tmp_path / "traces").to_dict()
    assert railwright.stragglers(tmp_path / "digests").to_dict() == from_traces
    size = lambda folder: sum(path.stat().st_size for path in (tmp_path / folder).iterdir())  # noqa: E731
    assert size("digests") < size("traces")


def test_an_unknown_form_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="traces"):
        railwright.torch.on_trace_ready(tmp_path, write="both digests")  # type: ignore[arg-type]
