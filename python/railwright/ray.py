"""Jobs whose traces do not fit on one machine: Ray creates a digest of each rank, and the driver joins them.

``pip install railwright[ray]`` on the driver and on the nodes of the cluster. Then, with traces in an object store or on a shared file system:

>>> import railwright.ray
>>> # railwright.ray.profile("s3://bucket/traces/")

Answers equal those of the same command on one machine. A part whose worker or node dies is repeated. Digests have the same bytes on
every worker. A trace that cannot be read is a missing rank.
"""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union

from . import commands
from ._problem import Problem

if TYPE_CHECKING:
    from . import answers

    Paths = Union[str, os.PathLike[str], Sequence[Union[str, os.PathLike[str]]]]

__all__ = ["comm", "digest", "pipeline", "profile", "stragglers"]

RETRIES = 5
"""Maximum retries of a part whose worker or node dies."""
PARTS_PER_CPU = 4
"""Parts per CPU of the cluster. Several small ones reduce the idle time at the end."""
ADDRESSES = ("s3://", "gs://", "az://")
"""Schemes of object stores that workers write to."""


def digest(paths: Paths, output: str | os.PathLike[str], *, parts: int | None = None) -> list[str]:
    """Writes one digest per rank to ``output``. Returns a message for each trace that could not be read.

    ``output`` is a folder of the driver, or an address (``s3://bucket/digests/``) that workers write to. ``parts`` is the number of tasks
    (default: four for each CPU of the cluster).
    """
    import ray

    text = os.fspath(output)
    remote = text if text.startswith(ADDRESSES) else None
    folder = Path(text)
    named = [os.fspath(paths)] if isinstance(paths, (str, os.PathLike)) else [os.fspath(path) for path in paths]
    if not ray.is_initialized():
        ray.init()
    cpus = max(1, int(ray.cluster_resources().get("CPU", 1)))
    count = parts or PARTS_PER_CPU * cpus
    task = ray.remote(num_cpus=1, max_retries=RETRIES)(_part)
    left = iter(range(count))
    running: list[Any] = []
    written = 0
    failed: list[str] = []
    while True:
        # Digests stay in the driver's memory until written, so at most two per CPU are requested.
        for number in left:
            running.append(task.remote(named, f"{number}/{count}", remote))
            if len(running) >= 2 * cpus:
                break
        if not running:
            break
        done, running = ray.wait(running)
        for digests, number, problem in ray.get(done):
            written += number
            if problem:
                failed.append(problem)
            for name, content in digests.items():
                target = folder / name
                target.parent.mkdir(parents=True, exist_ok=True)
                unfinished = target.with_name(f".{target.name}.part")
                unfinished.write_bytes(content)
                unfinished.replace(target)
    if not written:
        raise Problem(failed[0] if failed else "no trace of a rank", place=" ".join(named))
    return sorted(failed)


def profile(paths: Paths, *, parts: int | None = None, **options: Any) -> answers.Profile:
    """:func:`railwright.profile` of traces that Ray digests; ``options`` are its keyword arguments."""
    found: answers.Profile = _joined(commands.profile, paths, parts, options)
    return found


def stragglers(paths: Paths, *, parts: int | None = None, **options: Any) -> answers.Stragglers:
    """:func:`railwright.stragglers` of traces that Ray digests; ``options`` are its keyword arguments."""
    found: answers.Stragglers = _joined(commands.stragglers, paths, parts, options)
    return found


def comm(paths: Paths, *, parts: int | None = None, **options: Any) -> answers.Communication:
    """:func:`railwright.comm` of traces that Ray digests; ``options`` are its keyword arguments."""
    found: answers.Communication = _joined(commands.comm, paths, parts, options)
    return found


def pipeline(paths: Paths, *, parts: int | None = None, **options: Any) -> Any:
    """:func:`railwright.pipeline` of traces that Ray digests; ``options`` are its keyword arguments."""
    return _joined(commands.pipeline, paths, parts, options)


def _joined(command: Any, paths: Paths, parts: int | None, options: dict[str, Any]) -> Any:
    """Runs a command on the digests of traces."""
    with tempfile.TemporaryDirectory(prefix="railwright-") as folder:
        for problem in digest(paths, folder, parts=parts):
            warnings.warn(f"skipped: {problem}", RuntimeWarning, stacklevel=3)
        return command(folder, **options)


def _part(paths: list[str], part: str, remote: str | None) -> tuple[dict[str, bytes], int, str | None]:
    """Creates the digests of one part. Returns their bytes (empty with ``remote``), their number, and the problem if there are none."""
    # Ray has one task per CPU. Must be set before the first command of this process starts its threads.
    os.environ.setdefault("RAYON_NUM_THREADS", "1")
    with tempfile.TemporaryDirectory(prefix="railwright-") as folder:
        try:
            commands.digest(paths, output=remote or folder, part=part)
        except Problem as problem:
            return {}, 0, str(problem)
        made = {path.relative_to(folder).as_posix(): path.read_bytes() for path in Path(folder).rglob("*.parquet")}
        return made, 1 if remote else len(made), None
