"""Exceptions, progress, cancellation, threads, tables, and how answers look."""

from __future__ import annotations

import subprocess
import sys
import threading
import time

import pytest
from conftest import program

import railwright

LARGE = {"gpus": 4096, "gbs": 2048}


def test_problems_are_the_programs() -> None:
    with pytest.raises(railwright.Problem) as caught:
        railwright.estimate("llama-3.1-70", "dgx-h100", gpus=64)
    problem = caught.value
    done = subprocess.run(
        [program(), "estimate", "llama-3.1-70", "--cluster", "dgx-h100"], capture_output=True, text=True, check=False
    )
    assert done.returncode == problem.code == 2
    assert problem.message in done.stderr
    assert problem.hint is not None and "llama-3.1-70b" in problem.hint


def test_all_problems_of_a_plan_are_reported() -> None:
    with pytest.raises(railwright.Problem) as caught:
        railwright.estimate("llama-3.1-8b", "dgx-h100", gpus=64, tp=3, pp=7, dp=1)
    assert caught.value.place is not None
    assert isinstance(caught.value, ValueError)


def test_unknown_settings_have_a_hint() -> None:
    with pytest.raises(railwright.Problem, match="tensor_parallel"):
        railwright.estimate("llama-3.1-8b", "dgx-h100", tensor_paralel=8)
    with pytest.raises(railwright.Problem, match="no model"):
        railwright.estimate(cluster="dgx-h100")
    with pytest.raises(railwright.Problem, match="no cluster"):
        railwright.estimate("llama-3.1-8b")
    with pytest.raises(TypeError):
        railwright.estimate("llama-3.1-8b", "dgx-h100", gpus=object())


def test_what_a_framework_leaves_open_is_asked_for() -> None:
    plan = {"model": {"name": "llama3", "flavor": "8B"}, "training": {"seq_len": 8192}, "parallelism": {}}
    with pytest.raises(railwright.Problem, match="number of devices"):
        railwright.estimate(cluster="dgx-h100", plan=plan)
    assert railwright.estimate(cluster="dgx-h100", plan=plan, gpus=64).devices == 64
    with pytest.raises(railwright.Problem, match="neither"):
        railwright.estimate(cluster="dgx-h100", plan={"learning_rate": 1})


def test_a_search_shows_its_progress() -> None:
    search = railwright.search("llama-3.1-70b", "dgx-h100", **LARGE)
    seen = list(search)
    assert search.done
    assert seen and set(seen[0]) == {"stage", "done", "total", "evaluated", "best_step_time_s"}
    assert search.result().layouts[0].rank == 1


def test_a_search_is_cancelled() -> None:
    search = railwright.search("deepseek-v3", "dgx-h100", gpus=16384, unlimited=True)
    time.sleep(0.1)
    begin = time.perf_counter()
    search.cancel()
    result = search.result()
    assert time.perf_counter() - begin < 20
    assert not result.complete


def test_ctrl_c_ends_a_search() -> None:
    script = (
        "import os, signal, threading, railwright\n"
        # A process in the background starts with the signal ignored.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "search = railwright.search('deepseek-v3', 'dgx-h100', gpus=16384, unlimited=True)\n"
        "threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()\n"
        "try:\n"
        "    search.result()\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted')\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout == "interrupted\n", done.stderr


def test_other_threads_run_while_a_search_does() -> None:
    ticks = 0
    search = railwright.search("llama-3.1-70b", "dgx-h100", **LARGE)
    stop = threading.Event()

    def tick() -> None:
        nonlocal ticks
        while not stop.is_set():
            ticks += 1
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    search.result()
    stop.set()
    thread.join()
    assert ticks > 5


def test_tables_are_arrow() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    rows = railwright.estimate("llama-3.1-70b", "dgx-h100", gpus=64, tp=4, pp=4).stages
    table = pyarrow.table(rows)
    assert table.num_rows == len(rows) == 4
    assert table["memory_bytes"].to_pylist() == [row.memory_bytes for row in rows]
    assert table["critical"].to_pylist() == [row.critical for row in rows]
    for _ in range(200):
        pyarrow.table(rows).validate(full=True)


def test_missing_values_and_texts_are_arrow() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    items = railwright.memory("llama-3.1-8b", "dgx-h100", gpus=8, tp=2).items
    table = pyarrow.table(items)
    table.validate(full=True)
    assert table["module"].to_pylist() == [item.module for item in items]
    assert table["layer"].to_pylist() == [item.layer for item in items]
    assert table["layer"].null_count == sum(item.layer is None for item in items) > 0
    items.__arrow_c_stream__()  # Released unread.


def test_answers_look_like_what_they_are() -> None:
    answer = railwright.estimate("llama-3.1-8b", "dgx-h100", gpus=64, tp=2)
    text = repr(answer)
    assert text.startswith("Estimate\n  model ") and "GiB" in text
    assert "<table>" in answer._repr_html_() and "step_time_s" in answer._repr_html_()
    assert repr(answer.stages).startswith("Rows[Stage]\nstage")
    assert answer.stages[-1].stage == len(answer.stages) - 1
    with pytest.raises(IndexError):
        answer.stages[len(answer.stages)]
    with pytest.raises(AttributeError):
        answer.step_time_s = 1  # type: ignore[misc]


def test_the_fast_path_takes_other_settings() -> None:
    prepared = railwright.prepare("llama-3.1-70b", "dgx-h100", gpus=256, tp=8, pp=4)
    for pp in (2, 4, 8):
        whole = railwright.estimate("llama-3.1-70b", "dgx-h100", gpus=256, tp=8, pp=pp)
        assert railwright.evaluate(prepared, pp=pp).step_time_s == whole.step_time_s
    with pytest.raises(railwright.Problem):
        prepared.evaluate(tp=5)
    with pytest.raises(railwright.Problem, match="plan alone"):
        prepared.evaluate(gpus=512)


def test_a_stub_file_is_current() -> None:
    from pathlib import Path

    from railwright import _railwright

    stub = Path(railwright.__file__).with_name("_railwright.pyi")
    assert stub.read_text() == _railwright.stub(), "run `python -m railwright.stub > railwright/_railwright.pyi`"


def test_traces_are_written_by_rank(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    import gzip
    import types
    from pathlib import Path

    import railwright.torch

    distributed = types.SimpleNamespace(is_available=lambda: True, is_initialized=lambda: False)
    monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(distributed=distributed))
    monkeypatch.setenv("RANK", "3")

    class Profiler:
        def export_chrome_trace(self, path: str) -> None:
            Path(path).write_text('{"traceEvents": []}')

    handler = railwright.torch.on_trace_ready(str(tmp_path))
    handler(Profiler())
    handler(Profiler())
    names = sorted(path.name for path in Path(str(tmp_path)).iterdir())
    assert names == ["rank0003_window0.pt.trace.json.gz", "rank0003_window1.pt.trace.json.gz"]
    with gzip.open(Path(str(tmp_path)) / names[0]) as file:
        assert file.read() == b'{"traceEvents": []}'
