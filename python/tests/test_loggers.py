"""Loggers with the real libraries: what was written is read back with the library's own reader."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

import railwright
from railwright import loggers

TIMES = [5.0, 4.0, 1.1, 0.9, 1.0]
PREDICTED = railwright.estimate("llama-3.1-8b", "dgx-h100", gpus=64, tp=2)


def loop(writer: loggers.Writer) -> list[loggers.Measured]:
    """A training loop: two steps of warm-up, then three."""
    monitor = loggers.Monitor(PREDICTED, writer, warm_up=2)
    found = [monitor.step(PREDICTED.step_time_s * time) for time in TIMES]
    assert found[:2] == [None, None]
    return [one for one in found if one is not None]


def test_measured_mfu_is_that_of_the_time() -> None:
    written: dict[int, dict[str, float]] = {}
    found = loop(lambda metrics, step: written.setdefault(step, dict(metrics)))
    assert list(written) == [2, 3, 4] and len(found) == 3
    assert PREDICTED.mfu is not None
    for one, time in zip(found, TIMES[2:]):
        assert one.mfu == pytest.approx(PREDICTED.mfu / time)
        assert one.tokens_per_second == pytest.approx(PREDICTED.tokens_per_second / time)
        assert one.ratio == pytest.approx(time)
    assert found[2].is_within_interval
    # The measured MFU is what the program reports of a log with this step time.
    assert written[4]["railwright/mfu"] == pytest.approx(PREDICTED.mfu)


def test_the_clock_runs_between_calls_and_some_steps_are_written() -> None:
    now = iter(range(100))
    steps: list[int] = []
    monitor = loggers.Monitor(
        PREDICTED, lambda _, step: steps.append(step), warm_up=1, every=2, clock=lambda: float(next(now))
    )
    found = [monitor.step() for _ in range(7)]
    assert found[0] is None and found[1] is None
    assert [one.step_time_s for one in found[2:] if one] == [1.0] * 5
    assert steps == [1, 3, 5]
    with pytest.raises(ValueError, match="more than 0"):
        monitor.step(0.0)
    with pytest.raises(ValueError, match="every"):
        loggers.Monitor(PREDICTED, every=0)


def test_tensorboard(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    found = loop(loggers.tensorboard(tmp_path))
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    from tensorboard.util import tensor_util

    events = EventAccumulator(str(tmp_path))
    events.Reload()
    read = {event.step: float(tensor_util.make_ndarray(event.tensor_proto)) for event in events.Tensors("railwright/mfu")}
    assert list(read) == [2, 3, 4]
    assert list(read.values()) == pytest.approx([one.mfu for one in found])


def test_mlflow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mlflow = pytest.importorskip("mlflow")
    # MLflow asks for a database from some version on, and takes a folder of files with this variable.
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    with mlflow.start_run() as run:
        found = loop(loggers.mlflow())
    history = mlflow.MlflowClient().get_metric_history(run.info.run_id, "railwright/mfu")
    assert [metric.step for metric in history] == [2, 3, 4]
    assert [metric.value for metric in history] == pytest.approx([one.mfu for one in found])


def test_wandb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wandb = pytest.importorskip("wandb")
    for name in ("WANDB_DIR", "WANDB_CACHE_DIR", "WANDB_CONFIG_DIR", "WANDB_DATA_DIR"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.setenv("WANDB_SILENT", "true")
    with pytest.raises(RuntimeError, match="wandb.init"):
        loggers.wandb()
    run = wandb.init(project="railwright", mode="offline", dir=tmp_path)
    found = loop(loggers.wandb())
    run.finish()
    # Another process writes the file, on a busy machine some time later.
    written: dict[int, float] = {}
    end = time.monotonic() + 60
    while len(written) < 3 and time.monotonic() < end:
        written = {step: mfu for step, mfu in history(tmp_path) if mfu is not None}
        time.sleep(0.2)
    assert list(written) == [2, 3, 4]
    assert list(written.values()) == pytest.approx([one.mfu for one in found])


def history(folder: Path) -> list[tuple[int, float | None]]:
    """Steps and MFU of the offline run in a folder, by the library's own description of its records."""
    from wandb.proto import wandb_internal_pb2

    (file,) = folder.rglob("*.wandb")
    out = []
    for data in records(file.read_bytes()):
        record = wandb_internal_pb2.Record()
        record.ParseFromString(data)
        if record.WhichOneof("record_type") != "history":
            continue
        items = {item.key or "/".join(item.nested_key): json.loads(item.value_json) for item in record.history.item}
        step = items.get("_step", record.history.step.num)
        out.append((int(step), items.get("railwright/mfu")))
    return out


def records(file: bytes) -> list[bytes]:
    """Records of a file as LevelDB writes logs: blocks of 32 KiB, pieces of records with checksum, length and kind."""
    block, header, start = 32768, 7, 7
    out: list[bytes] = []
    at, current = start, b""
    while at + header <= len(file):
        if block - at % block < header:
            at += block - at % block
            continue
        length, kind = int.from_bytes(file[at + 4 : at + 6], "little"), file[at + 6]
        current += file[at + header : at + header + length]
        at += header + length
        # A whole record, its first, a middle and its last piece are 1 to 4.
        if kind in (1, 4):
            out.append(current)
            current = b""
    return out
