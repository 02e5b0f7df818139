"""Predicted and measured step time and MFU in a training loop, written with the run's other metrics.

>>> import railwright
>>> from railwright import loggers
>>> predicted = railwright.estimate("llama-3.1-8b", "dgx-h100", gpus=64, tp=2)
>>> written = []
>>> monitor = loggers.Monitor(predicted, lambda metrics, step: written.append((step, metrics)), warm_up=0)
>>> measured = monitor.step(5 * predicted.step_time_s)
>>> round(measured.ratio, 3), measured.is_within_interval, written[0][0]
(5.0, False, 0)

:func:`wandb`, :func:`mlflow` and :func:`tensorboard` create writers. Extras of the package with the same names install these tools.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from ._railwright import Estimate

PREFIX = "railwright/"


class Writer(Protocol):
    """Writer of a step's metrics: any function of a mapping from names to numbers, and the number of the step."""

    def __call__(self, metrics: Mapping[str, float], step: int, /) -> object: ...


class Measured(NamedTuple):
    """A measured step with its prediction."""

    step_time_s: float
    """Measured time of the step, in seconds."""
    predicted_step_time_s: float
    """Predicted time of the step, in seconds."""
    mfu: float | None
    """Measured model FLOP utilization, 0 to 1; ``None`` without a known peak of the compute format."""
    predicted_mfu: float | None
    """Predicted model FLOP utilization, 0 to 1; ``None`` without a known peak of the compute format."""
    tokens_per_second: float
    """Measured tokens per second."""
    ratio: float
    """Measured over predicted step time."""
    is_within_interval: bool
    """True if the measured time is inside the interval of the prediction."""

    def metrics(self) -> dict[str, float]:
        """Metrics for a writer, by name."""
        named = {
            "step_time_s": self.step_time_s,
            "predicted_step_time_s": self.predicted_step_time_s,
            "mfu": self.mfu,
            "predicted_mfu": self.predicted_mfu,
            "tokens_per_second": self.tokens_per_second,
            "step_time_ratio": self.ratio,
            "within_interval": float(self.is_within_interval),
        }
        return {PREFIX + name: value for name, value in named.items() if value is not None}


class Monitor:
    """Compares the steps of a training loop with their prediction.

    ``prediction`` is an :func:`railwright.estimate` of the run. Each call of :meth:`step` ends a step. The first ``warm_up`` steps, which
    compile and allocate, are neither returned nor written. Every ``every``-th of the others is written.

    The measured MFU is the predicted one times predicted over measured time, because FLOPs per step and peak are equal in both.
    """

    def __init__(
        self,
        prediction: Estimate,
        *writers: Writer,
        warm_up: int = 3,
        every: int = 1,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        if warm_up < 0 or every < 1:
            raise ValueError(f"expected warm_up of at least 0 and every of at least 1, got {warm_up} and {every}")
        self.prediction = prediction
        self._writers = writers
        self._warm_up = warm_up
        self._every = every
        self._clock = clock
        self._count = 0
        self._last: float | None = None

    def step(self, step_time_s: float | None = None, *, step: int | None = None) -> Measured | None:
        """Ends a step.

        Without ``step_time_s``, the time since the previous call is measured; the first call then only starts the clock. Devices run
        asynchronously: call it where the loop synchronizes anyway, such as after reading the loss. ``step`` is the number to write, by
        default a count from 0.
        """
        now = self._clock()
        if step_time_s is None:
            last, self._last = self._last, now
            if last is None:
                return None
            step_time_s = now - last
        else:
            self._last = now
        if not 0.0 < step_time_s < float("inf"):
            raise ValueError(f"expected a time of more than 0 s for step {self._count}, got {step_time_s}")
        index = self._count
        self._count += 1
        if index < self._warm_up:
            return None
        predicted = self.prediction
        ratio = step_time_s / predicted.step_time_s
        measured = Measured(
            step_time_s=step_time_s,
            predicted_step_time_s=predicted.step_time_s,
            mfu=None if predicted.mfu is None else predicted.mfu / ratio,
            predicted_mfu=predicted.mfu,
            tokens_per_second=predicted.tokens_per_second / ratio,
            ratio=ratio,
            is_within_interval=predicted.step_time_low_s <= step_time_s <= predicted.step_time_high_s,
        )
        if (index - self._warm_up) % self._every == 0:
            metrics = measured.metrics()
            for write in self._writers:
                write(metrics, index if step is None else step)
        return measured


def wandb(run: Any = None) -> Writer:
    """Creates a writer for Weights & Biases: to ``run``, by default the run of this process."""
    if run is None:
        import wandb as library

        run = library.run
        if run is None:
            raise RuntimeError("no run of wandb is active: call wandb.init() first, or pass a run")

    def write(metrics: Mapping[str, float], step: int, /) -> object:
        return run.log(dict(metrics), step=step)

    return write


def mlflow(run_id: str | None = None) -> Writer:
    """Creates a writer for MLflow: to the run ``run_id``, by default the active run."""
    import mlflow as library

    def write(metrics: Mapping[str, float], step: int, /) -> object:
        return library.log_metrics(dict(metrics), step=step, run_id=run_id)

    return write


def tensorboard(target: str | os.PathLike[str] | Any) -> Writer:
    """Creates a writer for TensorBoard: to a ``SummaryWriter``, or to event files in a folder."""
    if isinstance(target, (str, os.PathLike)):
        from tensorboard.summary import Writer as Events

        events = Events(os.fspath(target))
    else:
        events = target

    def write(metrics: Mapping[str, float], step: int, /) -> object:
        for name, value in metrics.items():
            events.add_scalar(name, value, step)
        return events.flush()

    return write
