"""Recount of ``railwright profile`` from the raw events of recorded traces.

Only the standard library reads the traces here, so that an error in a reader or in the interval arithmetic is no part of both sides. Recounted:
compute, communication, overlap, copies and idle time of every rank and of every step, the time of every kernel, and waits for late ranks.
"""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, ask

TRACES = ROOT / "fixtures" / "traces"
JOBS = [
    "h100_torch211/hf-tiny-gpt2.json.gz",
    "h100_torch211/titan-compile-tiny.json.gz",
    "hta_samples/critical_path/cuda_event_sync/event_sync_trace.json.gz",
    "hta_samples/df_index_resolver/df_index_resolver.json.gz",
    "hta_samples/nccl_parser_config/nccl_data.json.gz",
    "hta_samples/negative_queue_length_values_check/rank0.json.gz",
    "hta_samples/trace_diff/control/control.json.gz",
    "hta_samples/trace_filter",
    "kineto_tb_2021",
    "megatron_tp2_v100",
    "modded_nanogpt_h100/ab/current-rank0.json.gz",
    "modded_nanogpt_h100/ab/hook-rank0.json.gz",
    "param_dlrm_8r",
    "torchrec_v100_4r/resnet18",
    "torchrec_v100_4r/sst_long_a2a_optimizer_3",
    "torchrec_v100_4r/sst_long_a2a_optimizer_4",
    "tracelens_samples/h100_gaunernst_bert-small-uncased__1016001.json.gz",
]
# All ranks of these were recorded, with one communicator whose collectives follow each other.
COMPLETE = [name for name in JOBS if name.split("/")[0] in ("megatron_tp2_v100", "param_dlrm_8r", "torchrec_v100_4r")]

KINDS = {"kernel": "kernel", "gpu_memcpy": "copy", "Memcpy": "copy", "gpu_memset": "copy", "Memset": "copy", "Kernel": "kernel"}
CALLS = {"cuda_runtime", "cuda_driver", "Runtime"}
COMMUNICATION = re.compile("nccl", re.IGNORECASE)
IDLE = {"host_bound", "synchronisation", "data_loading", "memory_allocation", "device_gaps", "unexplained"}
# Times are exact; the reader rounds fractions of nanoseconds.
ROUNDING = 2_000

Span = tuple[int, int]


@dataclass
class Row:
    start: int
    end: int
    kind: str
    name: str
    stream: Any
    call: int | None


@dataclass
class Trace:
    rank: int | None = None
    rows: list[Row] = field(default_factory=list)
    steps: list[tuple[int, int, int]] = field(default_factory=list)

    def spans(self, kind: str) -> list[Span]:
        return union((row.start, row.end) for row in self.rows if row.kind == kind)

    def extent(self) -> Span:
        kernels = [row for row in self.rows if row.kind != "copy"]
        return min(row.start for row in kernels), max(row.end for row in kernels)


def nanoseconds(microseconds: Any) -> int:
    return round(Decimal(microseconds) * 1000)


def read(path: Path) -> Trace:
    with gzip.open(path, "rt", errors="replace") as file:
        whole = json.load(file, strict=False, parse_float=Decimal)
    trace, calls, found = Trace((whole.get("distributedInfo") or {}).get("rank")), {}, []
    for event in whole["traceEvents"]:
        if event.get("ph") != "X" or not isinstance(event.get("name"), str):
            continue
        name, category, arguments = event["name"], event.get("cat"), event.get("args") or {}
        start = nanoseconds(event["ts"])
        end = start + nanoseconds(event.get("dur", 0))
        if category in CALLS:
            calls.setdefault(arguments.get("correlation"), start)
        elif category in KINDS:
            found.append((start, end, KINDS[category], name, arguments))
        elif name.startswith("ProfilerStep#") and category in ("user_annotation", "cpu_op", "Operator"):
            trace.steps.append((int(name.split("#")[1]), start, end))
    for start, end, kind, name, arguments in found:
        kind = "communication" if kind == "kernel" and COMMUNICATION.search(name) else "compute" if kind == "kernel" else kind
        call = calls.get(arguments.get("correlation")) if "correlation" in arguments else None
        trace.rows.append(Row(start, end, kind, name, arguments.get("stream"), call))
    trace.rows.sort(key=lambda row: (row.start, row.end))
    trace.steps.sort(key=lambda step: step[1])
    return trace


def union(spans: Iterable[Span]) -> list[Span]:
    merged: list[Span] = []
    for start, end in sorted(span for span in spans if span[1] > span[0]):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged


def length(spans: list[Span], window: Span) -> int:
    return sum(max(0, min(end, window[1]) - max(start, window[0])) for start, end in spans)


def without(spans: list[Span], others: list[Span]) -> list[Span]:
    """Parts of spans outside of others, by the corners of both."""
    corners = sorted([(at, 0, change) for span in spans for at, change in zip(span, (1, -1))]
                     + [(at, 1, change) for span in others for at, change in zip(span, (1, -1))])
    rest, inside, since = [], [0, 0], 0
    for at, which, change in corners:
        if inside[0] and not inside[1] and at > since:
            rest.append((since, at))
        inside[which] += change
        since = at
    return union(rest)


def counted(trace: Trace, window: Span) -> dict[str, int]:
    compute, communication, copies = (trace.spans(kind) for kind in ("compute", "communication", "copy"))
    exposed = without(communication, compute)
    alone = without(copies, union(compute + communication))
    times = {"compute": compute, "communication": communication, "exposed": exposed, "copies": alone}
    of = {name: length(spans, window) for name, spans in times.items()}
    of["overlap"] = of["communication"] - of["exposed"]
    of["idle"] = window[1] - window[0] - of["compute"] - of["exposed"] - of["copies"]
    return of


def boundaries(trace: Trace) -> list[tuple[int | None, int]]:
    """The first kernel or copy of the main stream launched in each step, and the end of what the last step launched."""
    streams: Counter[Any] = Counter()
    for row in trace.rows:
        streams[row.stream] += row.end - row.start if row.kind == "compute" else 0
    main, first, last = streams.most_common(1)[0][0], {}, None
    for row in trace.rows:
        begun = [number for number, start, _ in trace.steps if row.call is not None and start <= row.call]
        if not begun or (len(begun) == len(trace.steps) and row.call > trace.steps[-1][2]):
            continue
        if row.kind != "communication" and row.stream == main:
            first.setdefault(begun[-1], row.start)
        if len(begun) == len(trace.steps):
            last = max(last or 0, row.end)
    found: list[tuple[int | None, int]] = list(first.items())
    return found + ([(None, last)] if last else [])


def with_heads(trace: Trace, bounds: list[tuple[int | None, int]]) -> list[tuple[int | None, int]]:
    """Of one rank: steps begin with the host's step, or with the end of earlier device work if that is later, where that is above 2%."""
    hosts = {number: (start, end) for number, start, end in trace.steps}
    firsts, (_, last) = bounds[:-1], bounds[-1]
    if not firsts or any(number not in hosts for number, _ in firsts):
        return bounds
    begins = []
    for number, first in firsts:
        host = hosts[number][0]
        earlier = [row.end for row in trace.rows if row.start < first and (row.call is None or row.call < host)]
        begins.append(min(first, max([host, *earlier])))
    limit = 0.02 * (last - firsts[0][1]) / len(firsts)
    heads = [first - begin for (_, first), begin in zip(firsts, begins)]
    tail = hosts[firsts[0][0]][1] - last if len(firsts) == 1 else 0
    later = sorted(heads[1:])
    if not (heads[0] > limit and (not later or later[(len(later) - 1) // 2] > limit)) and tail <= limit:
        return bounds
    return [*((number, begin) for (number, _), begin in zip(firsts, begins)), (None, last + max(0, tail))]


def windows(traces: list[Trace], numbers: list[str]) -> list[Span]:
    """Steps at the median of the ranks; of two middle ones, the earlier begins and the later ends."""
    starts, ends = defaultdict(list), defaultdict(list)
    for trace in traces:
        own = boundaries(trace)
        if len(traces) == 1:
            own = with_heads(trace, own)
        for (number, start), (_, end) in zip(own, own[1:]):
            starts[str(number)].append(start)
            ends[str(number)].append(end)
    begin = [sorted(starts[number])[(len(starts[number]) - 1) // 2] for number in numbers]
    return list(zip(begin, [*begin[1:], sorted(ends[numbers[-1]])[len(ends[numbers[-1]]) // 2]]))


class Job:
    def __init__(self, name: str) -> None:
        path = TRACES / name
        files = [path] if path.is_file() else [file for file in sorted(path.rglob("*.json.gz")) if "pytorch_et" not in file.name]
        self.answer = ask("profile", *map(str, files))
        self.traces = [read(file) for file in files]
        self.rows = {row["rank"]: row for row in self.answer["rows"]}
        self.numbers = [step["step"] for step in self.answer["steps"]]


@pytest.fixture(scope="module", params=JOBS)
def job(request: pytest.FixtureRequest) -> Job:
    return Job(request.param)


def close(own: float, theirs: float, whole: float) -> bool:
    """Equal within 1%, or within 0.01% of the window: a kernel may begin on either side of a step's first instant."""
    return abs(own - theirs) <= max(0.01 * max(abs(own), abs(theirs)), 1e-4 * whole, ROUNDING)


def test_whole_recording(job: Job) -> None:
    extents = [trace.extent() for trace in job.traces]
    common = (max(extent[0] for extent in extents), min(extent[1] for extent in extents))
    for place, trace in enumerate(job.traces):
        theirs = job.rows[place if trace.rank is None else trace.rank]["recorded"]
        assert theirs["window_ns"] == pytest.approx(common[1] - common[0], abs=ROUNDING)
        for name, own in counted(trace, common).items():
            assert close(own, theirs[f"{name}_ns"], theirs["window_ns"]), (trace.rank, name, own, theirs)


def test_steps(job: Job) -> None:
    assert job.answer["cut_by"] == "launches"
    spans = windows(job.traces, job.numbers)
    for step, window in zip(job.answer["steps"], spans, strict=True):
        sums: Counter[str] = Counter()
        for name, time in step["parts"].items():
            kind = "exposed" if "communication" in name else "copies" if name == "memory_copies" else "idle" if name in IDLE else "compute"
            sums[kind] += time
        own: Counter[str] = Counter()
        for trace in job.traces:
            own.update(counted(trace, window))
        # The last step of several ranks includes its time after the recording, in which nothing is known to run: less than the step.
        added = job.answer["added_ns"] if window == spans[-1] else 0
        assert 0 <= added < window[1] - window[0]
        assert added == 0 or len(job.traces) > 1
        own["idle"] += added * len(job.traces)
        whole = (window[1] - window[0] + added) * len(job.traces)
        assert sum(step["parts"].values()) == pytest.approx(whole, abs=ROUNDING)
        for name in ("compute", "exposed", "copies", "idle"):
            assert close(own[name], sums[name], whole), (step["step"], name, own[name], sums[name])


def test_kernels(job: Job) -> None:
    spans = windows(job.traces, job.numbers)
    own: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for row in (row for trace in job.traces for row in trace.rows):
        if spans[0][0] <= row.start < spans[-1][1]:
            own[row.name][0] += 1
            own[row.name][1] += row.end - row.start
    theirs: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for kernel in job.answer["kernels"]:
        theirs[kernel["name"]][0] += kernel["count"]
        theirs[kernel["name"]][1] += kernel["duration_ns"]
    assert own.keys() == theirs.keys()
    for name, (count, time) in own.items():
        assert count == theirs[name][0], name
        assert time == pytest.approx(theirs[name][1], abs=count), name


@pytest.mark.parametrize("name", COMPLETE)
def test_waits(name: str) -> None:
    job = Job(name)
    # Collectives in order from the last one: recordings lack the first ones of some ranks.
    parts = [[row for row in trace.rows if row.kind == "communication"] for trace in job.traces]
    count = min(map(len, parts))
    parts = [rows[len(rows) - count :] for rows in parts]
    entered = [max(rows[at].start for rows in parts) for at in range(count)]
    for step, window in zip(job.answer["steps"], windows(job.traces, job.numbers), strict=True):
        waits = 0
        for trace, rows in zip(job.traces, parts):
            late = union((row.start, min(row.end, at)) for row, at in zip(rows, entered))
            waits += length(without(late, trace.spans("compute")), window)
        theirs = sum(time for part, time in step["parts"].items() if part.endswith("_waiting"))
        assert close(waits, theirs, window[1] - window[0]), (step["step"], waits, theirs)
