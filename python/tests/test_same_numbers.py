"""The package's answers are the program's, field by field, over all bundled examples."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, RUNS, ask

import railwright

ENVELOPE = {"kind", "command", "version", "railwright", "schema_version"}


def same(mine: Any, theirs: Any, place: str = "") -> None:
    if isinstance(theirs, dict):
        assert isinstance(mine, dict), place
        assert set(mine) == set(theirs), f"{place}: {set(mine) ^ set(theirs)}"
        for key, value in theirs.items():
            same(mine[key], value, f"{place}.{key}")
    elif isinstance(theirs, list):
        assert len(mine) == len(theirs), place
        for index, value in enumerate(theirs):
            same(mine[index], value, f"{place}[{index}]")
    elif isinstance(theirs, float) and isinstance(mine, float):
        assert mine == theirs or (mine != mine and theirs is None), f"{place}: {mine} is not {theirs}"
    else:
        assert mine == theirs, f"{place}: {mine!r} is not {theirs!r}"


def body(answer: dict) -> dict:
    return {key: value for key, value in answer.items() if key not in ENVELOPE}


def mine(answer: Any) -> dict:
    return {key: value for key, value in answer.to_dict().items() if key not in ENVELOPE}


def test_there_are_examples() -> None:
    assert len(RUNS) >= 4


def test_estimate(run: str) -> None:
    theirs = ask("estimate", "--run", run)
    answer = railwright.estimate(run=run)
    same(mine(answer), body(theirs))
    assert answer.step_time_s == theirs["step_time"]
    assert answer.memory_bytes == theirs["memory"]["peak"]
    assert answer.fit == theirs["memory"]["fit"]
    assert len(answer.stages) == len(theirs["stages"])


def test_memory(run: str) -> None:
    theirs = ask("memory", "--run", run)
    answer = railwright.memory(run=run)
    same(mine(answer), body(theirs))
    assert [stage.device_bytes for stage in answer.stages] == [s["device"] for s in theirs["memory"]["stages"]]


def test_whatif(run: str) -> None:
    theirs = ask("whatif", "--run", run, "--change", "nic=x2", "--change", "precision=bf16")
    answer = railwright.whatif(run=run, changes=["nic=x2", "precision=bf16"])
    same(mine(answer), body(theirs))
    assert answer.step_time_s == theirs["before"]["step_time"]


@pytest.mark.parametrize("question", ["recompute", "balance"])
def test_solvers(run: str, question: str) -> None:
    try:
        answer = getattr(railwright, question)(run=run)
    except railwright.Problem as problem:
        with pytest.raises(AssertionError, match=problem.message.split("`")[0][:20]):
            ask(question, "--run", run)
        return
    same(mine(answer), body(ask(question, "--run", run)))


def test_evaluate_is_the_estimate(run: str) -> None:
    estimate = railwright.estimate(run=run)
    found = railwright.prepare(run=run).evaluate()
    assert found.step_time_s == estimate.step_time_s
    assert found.memory_bytes == pytest.approx(estimate.memory_bytes, rel=1e-9)
    assert found.fit == estimate.fit


def test_search() -> None:
    words = ["llama-3.1-8b", "--cluster", "dgx-h100", "--gpus", "64", "--top", "5"]
    theirs = ask("search", *words)
    answer = railwright.search("llama-3.1-8b", "dgx-h100", gpus=64, top=5).result()
    assert [layout.step_time_s for layout in answer.layouts] == [
        row["ranked"]["candidate"]["step_time"] for row in theirs["candidates"]
    ]
    assert [layout.layout for layout in answer.layouts] == [row["layout"] for row in theirs["candidates"]]
    assert [layout.run_file for layout in answer.layouts] == [row["run_file"] for row in theirs["candidates"]]
    assert answer.strategies == theirs["counters"]["enumerated"]
    assert answer.complete


def test_size() -> None:
    words = ["llama-3.1-8b", "--cluster", "dgx-h100", "--gpus", "32,64", "--tokens", "1T", "--deadline", "90d"]
    theirs = ask("size", *words)
    answer = railwright.size("llama-3.1-8b", "dgx-h100", gpus=[32, 64], tokens="1T", deadline="90d")
    same(mine(answer)["size"], theirs["size"])
    assert [row.layout for row in answer.rows] == theirs["layouts"]


MIXED: dict[str, Any] = {"gpus": 32, "pools": ["dgx-a100:16"], "tp": 4, "pp": 4}
MIXED_FILE = """
model.name = "llama-3-8b"
cluster = { preset = "dgx-h100", devices = 32, pools = ["dgx-a100:16"] }
plan = { tensor_parallel = 4, pipeline_parallel = 4 }
"""


@pytest.mark.parametrize("question", ["estimate", "memory", "balance"])
def test_jobs_on_several_kinds_of_device(question: str, tmp_path: Path) -> None:
    file = tmp_path / "mixed.toml"
    file.write_text(MIXED_FILE)
    answer = getattr(railwright, question)(run=str(file))
    same(mine(answer), body(ask(question, "--run", str(file))))


def test_a_mixed_job_names_its_devices_and_its_slowest_kind_decides() -> None:
    mixed = railwright.estimate("llama-3-8b", "dgx-h100", **MIXED)
    assert [(pool.accelerator, pool.first_rank, pool.devices) for pool in mixed.pools] == [("A100 SXM4 80GB", 16, 16)]
    alone = {key: value for key, value in MIXED.items() if key != "pools"}
    fast = railwright.estimate("llama-3-8b", "dgx-h100", **alone)
    assert mixed.step_time_s > fast.step_time_s and len(fast.pools) == 0
    # Stages 2 and 3 are on the slow kind: with equal layers they work longer.
    assert mixed.stages[2].forward_s > 1.5 * mixed.stages[1].forward_s
    # One text is the list of one; a prepared run evaluates to the same.
    text = {**MIXED, "pools": "dgx-a100:16"}
    assert railwright.estimate("llama-3-8b", "dgx-h100", **text).step_time_s == mixed.step_time_s
    assert railwright.prepare("llama-3-8b", "dgx-h100", **MIXED).evaluate().step_time_s == mixed.step_time_s
    better = railwright.balance("llama-3-8b", "dgx-h100", **MIXED)
    assert better.variants[0].step_time_s < 0.7 * mixed.step_time_s
    with pytest.raises(railwright.Problem, match="devices of several kinds"):
        railwright.recompute("llama-3-8b", "dgx-h100", **MIXED)


def test_a_search_over_several_kinds_of_device() -> None:
    settings: dict[str, Any] = {"gpus": 16, "pools": ["dgx-a100:8"], "gbs": 64}
    words = ["llama-3-8b", "--cluster", "dgx-h100", "--gpus", "16", "--pools", "dgx-a100:8", "--gbs", "64", "--top", "3"]
    theirs = ask("search", *words)
    answer = railwright.search("llama-3-8b", "dgx-h100", top=3, **settings).result()
    assert [layout.layout for layout in answer.layouts] == [row["layout"] for row in theirs["candidates"]]
    assert [layout.step_time_s for layout in answer.layouts] == [
        row["ranked"]["candidate"]["step_time"] for row in theirs["candidates"]
    ]
    assert "dgx-a100:8" in answer.layouts[0].run_file


def test_a_model_of_transformers_is_the_file() -> None:
    import json

    path = ROOT / "catalog" / "models" / "llama-3-8b.json"
    config = json.loads(path.read_text())

    class Config:
        """As `transformers.PretrainedConfig`."""

        def to_dict(self) -> dict:
            return {**config, "torch_dtype": type("dtype", (), {"__str__": lambda self: "torch.bfloat16"})()}

    settings = {"gpus": 64, "tp": 2}
    named = railwright.estimate("llama-3-8b", "dgx-h100", **settings)
    for model in (Config(), config, path, str(path), path.read_text()):
        assert railwright.estimate(model, "dgx-h100", **settings).step_time_s == named.step_time_s


def test_megatron_arguments_are_the_log() -> None:
    from argparse import Namespace

    log = ROOT / "examples" / "launch" / "mixtral_8x7b.log"
    arguments: dict[str, Any] = {}
    words = {"True": True, "False": False, "None": None}
    for line in log.read_text().splitlines():
        name, dots, value = line.partition(" ..")
        if dots and line.startswith("  "):
            value = value.strip(". ").strip() if not value.strip(". ")[:1].isdigit() else value.lstrip(". ")
            arguments[name.strip()] = words.get(value, int(value) if value.isdigit() else value)
    assert arguments["tensor_model_parallel_size"] == 2
    theirs = ask("estimate", "--launch", str(log), "--cluster", "dgx-h100")
    answer = railwright.estimate(cluster="dgx-h100", plan=Namespace(**arguments))
    assert answer.step_time_s == theirs["step_time"]


def test_torchtitan_configurations_are_the_file() -> None:
    tomllib = pytest.importorskip("tomllib")
    path = ROOT / "examples" / "launch" / "llama3_8b_torchtitan.toml"
    theirs = ask("estimate", "--launch", str(path), "--cluster", "dgx-h100", "--gpus", "16")
    answer = railwright.estimate(cluster="dgx-h100", gpus=16, plan=tomllib.loads(path.read_text()))
    assert answer.step_time_s == theirs["step_time"]
