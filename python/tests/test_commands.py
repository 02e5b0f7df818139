"""Functions of commands: the program's answers field by field over the bundled examples and traces, and what one does with an answer."""

from __future__ import annotations

import inspect
import pickle
import subprocess
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, RUNS, ask, program
from test_same_numbers import same

import railwright
from railwright import answers, clusters, commands, gpus, models, network, plot

LLAMA = ("llama-3-8b", "dgx-h100")
SETTINGS: dict[str, Any] = {"gpus": 64, "tp": 8, "pp": 2, "global_batch": 128}
FLAGS = ("--gpus", "64", "--tp", "8", "--pp", "2", "--global-batch", "128")
RUN = ("llama-3-8b", "--cluster", "dgx-h100", *FLAGS)
LAUNCH = sorted(path for path in (ROOT / "examples" / "launch").iterdir() if path.name != "README.md")
TRACES = ROOT / "fixtures" / "traces"
JOBS = [TRACES / "megatron_tp2_v100", TRACES / "torchrec_v100_4r" / "resnet18", TRACES / "generated_torch215_gloo_pp2dp2"]
PAIR = [TRACES / "modded_nanogpt_h100" / "ab" / f"{name}-rank0.json.gz" for name in ("current", "hook")]


def agree(answer: Any, *words: str) -> None:
    """An answer is the program's, and prints as its report in full: Python has no flag that would add details."""
    theirs = ask(*words)
    assert type(answer).__name__ == answers.class_of(theirs["kind"])
    own = {key: value for key, value in theirs.items() if key not in ("schema_version", "kind", "railwright")}
    same(answer.to_dict(), own)
    details = () if words[0] == "export" else ("-v",)  # A launch file has no details.
    printed = subprocess.run([program(), *words, *details], capture_output=True, text=True, check=False, cwd=ROOT)
    assert str(answer).split() == printed.stdout.split()
    assert isinstance(answer, answers.Answer) and answer._repr_html_().startswith("<div>")




@pytest.fixture(autouse=True)
def root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    monkeypatch.setenv("COLUMNS", "100")


@pytest.mark.parametrize("job", JOBS, ids=lambda path: path.name)
@pytest.mark.parametrize("command", ["profile", "comm", "stragglers"])
def test_traces(command: str, job: Path) -> None:
    agree(getattr(railwright, command)(job), command, str(job))


@pytest.mark.parametrize("file", LAUNCH, ids=lambda path: path.name)
@pytest.mark.parametrize("command", ["check", "detect"])
def test_launch_files(command: str, file: Path) -> None:
    passed = [file] if command == "check" else file
    words = [command, str(file)]
    agree(getattr(railwright, command)(passed), *words)


@pytest.mark.parametrize("run", RUNS, ids=lambda path: path.stem)
def test_runs(run: Path) -> None:
    agree(railwright.sensitivity(run=run), "sensitivity", "--run", str(run))
    agree(network.traffic(run=run, by="rail"), "network", "traffic", "--run", str(run), "--by", "rail")
    assert railwright.timeline(run=run, form="chrome", detail="passes") == printed(
        "timeline", "--run", str(run), "--format", "chrome", "--detail", "passes"
    )
    assert plot.timeline(run=run, detail="passes") == printed(
        "timeline", "--run", str(run), "--format", "svg", "--detail", "passes"
    )


def printed(*words: str) -> str:
    done = subprocess.run([program(), *words], capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.stdout, done.stderr
    return done.stdout


QUESTIONS: list[tuple[Any, tuple[str, ...]]] = [
    (lambda: railwright.compare(*PAIR), ("compare", *map(str, PAIR))),
    (lambda: railwright.hang("examples/hang"), ("hang", "examples/hang")),
    (lambda: railwright.log("examples/launch/mixtral_8x7b.log"), ("log", "examples/launch/mixtral_8x7b.log")),
    (
        lambda: railwright.pipeline("fixtures/traces/bytedance_whatif/trace-ST.parquet"),
        ("pipeline", "fixtures/traces/bytedance_whatif/trace-ST.parquet"),
    ),
    (
        lambda: railwright.memory_snapshot("fixtures/memory_snapshot/training.pickle"),
        ("memory-snapshot", "fixtures/memory_snapshot/training.pickle"),
    ),
    (
        lambda: railwright.query("select * from gpu limit 3", JOBS[0]),
        ("query", "select * from gpu limit 3", str(JOBS[0])),
    ),
    (
        lambda: railwright.tune("examples/launch/llama3_70b.sh", cluster="dgx-h100"),
        ("tune", "examples/launch/llama3_70b.sh", "--cluster", "dgx-h100"),
    ),
    (
        lambda: railwright.goodput(gpus=16384, checkpoint_time="30s", spares=16, repair_time="2d"),
        ("goodput", "--gpus", "16384", "--checkpoint-time", "30s", "--spares", "16", "--repair-time", "2d"),
    ),
    (lambda: railwright.export(*LLAMA, to="megatron", **SETTINGS), ("export", *RUN, "--to", "megatron")),
    (lambda: railwright.explain("mfu"), ("explain", "mfu")),
    (lambda: railwright.keys(), ("keys",)),
    (lambda: railwright.values(*LLAMA, **SETTINGS), ("values", *RUN)),
    (lambda: models.show("llama-3-8b"), ("models", "show", "llama-3-8b")),
    (lambda: models.list(), ("models", "list")),
    (lambda: gpus.show("h100-sxm5-80gb"), ("gpus", "show", "h100-sxm5-80gb")),
    (lambda: gpus.list(), ("gpus", "list")),
    (lambda: clusters.show("dgx-h100"), ("clusters", "show", "dgx-h100")),
    (lambda: clusters.list(), ("clusters", "list")),
    (lambda: network.show("rail-optimized", gpus=1024), ("network", "show", "rail-optimized", "--gpus", "1024")),
    (lambda: network.cost(gpus=1024), ("network", "cost", "--gpus", "1024")),
    (
        lambda: network.failures("rail-optimized", gpus=1024),
        ("network", "failures", "rail-optimized", "--gpus", "1024"),
    ),
    (
        lambda: network.collective("all-reduce", bytes=["1M", "256M"], gpus=64),
        ("network", "collective", "all-reduce", "--bytes", "1M,256M", "--gpus", "64"),
    ),
    (
        lambda: network.simulate(*LLAMA, topology="rail-optimized", **SETTINGS),
        ("network", "simulate", *RUN, "--topology", "rail-optimized"),
    ),
    (lambda: network.rail_only(), ("network", "rail-only")),
    (lambda: network.topologies(), ("network", "topologies")),
]


@pytest.mark.parametrize(("question", "words"), QUESTIONS, ids=lambda value: "-".join(value[:2]) if isinstance(value, tuple) else "")
def test_commands(question: Any, words: tuple[str, ...]) -> None:
    agree(question(), *words)


def test_every_command_is_a_function_with_words_about_its_arguments() -> None:
    functions = [getattr(commands, name) for name in commands.__all__]
    for group in (network, models, gpus, clusters):
        functions += [getattr(group, name) for name in group.__all__]
    assert len(functions) > 40
    for function in functions:
        for name, one in inspect.signature(function).parameters.items():
            assert f"    {name}: " in (function.__doc__ or ""), f"{function.__name__}({name})"
            assert one.kind is not inspect.Parameter.VAR_POSITIONAL
    for name in commands.__all__:
        assert getattr(railwright, name) is getattr(commands, name) and name in dir(railwright)


def test_fields_have_the_classes_that_the_stub_file_has() -> None:
    found = railwright.stragglers(JOBS[0])
    assert type(found).__name__ == "Stragglers" and isinstance(found, answers.Stragglers)
    assert found.outcome in ("yes", "no", "cannot-tell") and found.command_line.startswith("railwright stragglers")
    with pytest.raises(AttributeError, match="did you mean `verdict`"):
        found.verdct  # noqa: B018
    with pytest.raises(AttributeError):
        found.verdict = "none"
    profile = railwright.profile(JOBS[0])
    line = profile.lines[0]
    assert isinstance(line, answers.Record) and type(line).__name__ in dir(answers)
    assert line["parts"][0].to_dict() == profile.to_dict()["lines"][0]["parts"][0]
    assert pickle.loads(pickle.dumps(profile)).to_dict() == profile.to_dict()


def test_lists_of_records_are_tables_of_arrow() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    rows = railwright.profile(JOBS[0]).kernels
    table = pyarrow.table(rows)
    whole = [row.to_dict() for row in rows]
    assert table.num_rows == len(rows) > 3
    for name in table.column_names:
        first, *rest = name.split(".")
        values = [row.get(first) for row in whole]
        for part in rest:
            values = [None if value is None else value.get(part) for value in values]
        assert table.column(name).to_pylist() == values, name
    flat = [name for name, value in whole[0].items() if isinstance(value, (int, float, str))]
    assert set(flat) <= set(table.column_names)


def test_problems_are_the_programs() -> None:
    with pytest.raises(railwright.Problem) as caught:
        railwright.profile("no/such/folder")
    done = subprocess.run([program(), "profile", "no/such/folder"], capture_output=True, text=True, check=False)
    assert done.returncode == caught.value.code and caught.value.message in done.stderr
    with pytest.raises(railwright.Problem, match="no argument of this name"):
        railwright.sensitivity(*LLAMA, tensor_paralel=2)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="mapping"):
        network.cost(gpus={})  # type: ignore[arg-type]


def test_pictures_are_the_programs() -> None:
    breakdown = plot.breakdown(*LLAMA, **SETTINGS)
    assert breakdown == printed("estimate", *RUN, "--svg", "-")
    memory = plot.memory(*LLAMA, **SETTINGS)
    assert memory == printed("memory", *RUN, "--svg", "-")
    trace = "fixtures/traces/bytedance_whatif/trace-ST.parquet"
    pipeline = plot.pipeline(trace)
    assert pipeline == printed("pipeline", trace, "--svg", "-")
    design = plot.network("rail-optimized", gpus=64)
    assert design == printed("network", "show", "rail-optimized", "--gpus", "64", "--svg")
    for picture in (breakdown, memory, pipeline, design):
        assert picture._repr_svg_().rstrip().endswith("</svg>")


def test_a_picture_is_saved(tmp_path: Path) -> None:
    picture = plot.breakdown(*LLAMA, **SETTINGS)
    picture.save(tmp_path / "step.svg")
    assert (tmp_path / "step.svg").read_text(encoding="utf-8") == picture
