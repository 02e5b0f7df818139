"""`railwright.ray` on a cluster of three nodes on this machine. Skipped where Ray is not installed."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import ROOT

import railwright
import railwright.ray

ray = pytest.importorskip("ray", reason="Ray is not installed")
JOB = ROOT / "fixtures" / "traces" / "param_dlrm_8r"


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    from ray.cluster_utils import Cluster

    nodes = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    for _ in range(2):
        nodes.add_node(num_cpus=1)
    ray.init(address=nodes.address, log_to_driver=False)
    yield
    ray.shutdown()
    nodes.shutdown()


def untitled(answer: object) -> dict:
    fields = answer.to_dict()  # type: ignore[attr-defined]
    fields.pop("title", None)
    return fields


def test_answers_are_those_of_one_machine(cluster: None, tmp_path: Path) -> None:
    assert untitled(railwright.ray.profile(JOB)) == untitled(railwright.profile(JOB))
    assert untitled(railwright.ray.stragglers(JOB, parts=3)) == untitled(railwright.stragglers(JOB))
    railwright.digest(JOB, output=tmp_path / "here")
    assert railwright.ray.digest(JOB, tmp_path / "there", parts=16) == []
    content = lambda name: {path.name: path.read_bytes() for path in (tmp_path / name).iterdir()}  # noqa: E731
    assert content("here") == content("there") and len(content("here")) == 8


def test_a_worker_that_is_killed_changes_nothing(
    cluster: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    marker, part = str(tmp_path / "killed"), railwright.ray._part

    def dying(paths: list, number: str, remote: object) -> object:
        made = part(paths, number, remote)
        if number == "1/4" and not os.path.exists(marker):
            open(marker, "w").close()
            os.kill(os.getpid(), signal.SIGKILL)
        return made

    monkeypatch.setattr(railwright.ray, "_part", dying)
    assert untitled(railwright.ray.comm(JOB, parts=4)) == untitled(railwright.comm(JOB))
    assert os.path.exists(marker)


def test_what_cannot_be_read_is_a_missing_rank(cluster: None, tmp_path: Path) -> None:
    for path in sorted(JOB.iterdir())[:2]:
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "a.json").write_text("")
    with pytest.warns(RuntimeWarning, match="the file is empty"):
        answer = railwright.ray.profile(tmp_path, parts=3)
    assert answer.ranks == 2
    with pytest.raises(railwright.Problem, match="no such file|file not found"):
        railwright.ray.profile(tmp_path / "missing", parts=2)
