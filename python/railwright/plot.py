"""Diagrams in SVG, as drawn by the program. Notebooks display them, ``.save(path)`` writes them.

>>> from railwright import plot
>>> picture = plot.timeline("llama-3.1-8b", "dgx-h100", gpus=16, pp=2, tp=8, gbs=8)
>>> picture.startswith("<svg")
True
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._answer import Picture, ask

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from typing_extensions import Unpack

    from ._railwright import Settings

__all__ = ["Picture", "breakdown", "memory", "network", "pipeline", "timeline"]


def _drawn(command: Sequence[str], arguments: dict[str, Any]) -> Picture:
    """Draws the diagram of a command."""
    picture = ask(command, {**arguments, "svg": "-"}).picture
    if picture is None:
        raise RuntimeError(f"`railwright {' '.join(command)}` drew nothing; please report this")
    found: Picture = picture
    return found


def timeline(
    model: str | PathLike[str] | None = None,
    cluster: str | PathLike[str] | None = None,
    *,
    run: str | PathLike[str] | None = None,
    **settings: Unpack[Settings],
) -> Picture:
    """Draws one predicted step: passes of every pipeline stage over time."""
    found: Picture = ask(["timeline"], {"model": model, "cluster": cluster, "run": run, **settings}, "svg")
    return found


def breakdown(
    model: str | PathLike[str] | None = None,
    cluster: str | PathLike[str] | None = None,
    *,
    run: str | PathLike[str] | None = None,
    **settings: Unpack[Settings],
) -> Picture:
    """Draws the time breakdown of a predicted step."""
    return _drawn(["estimate"], {"model": model, "cluster": cluster, "run": run, **settings})


def memory(
    model: str | PathLike[str] | None = None,
    cluster: str | PathLike[str] | None = None,
    *,
    run: str | PathLike[str] | None = None,
    **settings: Unpack[Settings],
) -> Picture:
    """Draws the peak memory of every pipeline stage by kind."""
    return _drawn(["memory"], {"model": model, "cluster": cluster, "run": run, **settings})


def pipeline(
    paths: str | PathLike[str] | Sequence[str | PathLike[str]] | None = None, *, step: int | None = None, **arguments: Any
) -> Picture:
    """Draws one recorded step: passes of every rank over time. ``predict=`` draws that of a run file instead."""
    return _drawn(["pipeline"], {"paths": paths, "step": step, **arguments})


def network(design: str | PathLike[str], **keys: Any) -> Picture:
    """Draws a network design."""
    found: Picture = ask(["network", "show"], {"design": design, **keys}, "svg")
    return found
