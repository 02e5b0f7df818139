//! Goodput over time: the share of calendar time with progress of a job that fails, restarts and writes
//! checkpoints.
//!
//! Responsible for: the renewal model of one job ([`Job`]), its optimal checkpoint interval, the split of
//! lost time, and the wait for spare hosts. Failures are a Poisson process (exponential times between them).
//! Excludes failure rates of parts ([`rates`]) and defaults ([`answer`]). [`run`] has the goodput of a
//! resolved run.

pub mod answer;
pub mod rates;
pub mod run;

use railwright_spec::Portable as _;
use railwright_spec::quantity::Seconds;
use serde::Serialize;

/// Checkpoint and restart times of a job, and its mean time between failures.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Job {
    /// Mean time between failures of the whole job.
    pub mtbf: Seconds,
    /// Time for which each checkpoint stops training.
    pub stall: Seconds,
    /// Time from the end of the stall until the checkpoint is restorable; training continues meanwhile.
    pub write: Seconds,
    /// Time to detect a failure and replace faulty hosts. Nothing runs, so nothing fails.
    pub detection: Seconds,
    /// Time to restart and read the checkpoint. A failure during it restarts it.
    pub restart: Seconds,
}

/// Shares of calendar time, with sum 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Split {
    /// Steps that count as progress: the effective training time ratio (ETTR).
    pub training: f64,
    /// Stalls of completed checkpoints.
    pub checkpoints: f64,
    /// Repeated steps, and stalls among them, after a failure.
    pub lost_work: f64,
    /// Detection of failures and replacement of hosts.
    pub detection: f64,
    /// Restart and reading of checkpoints.
    pub restart: f64,
    /// Waiting for a repair without a spare host.
    pub spares: f64,
}

impl Job {
    /// Expected time on the calendar from one durable checkpoint to the next, for `t` of training between
    /// them:
    ///
    /// `T = exp((R + L) / M) (M + D) (exp((t + s) / M) - 1)`
    ///
    /// with the MTBF `M`, restart `R`, background write `L`, detection `D` and stall `s`, all in seconds. For
    /// `L = 0` it is the expectation of Bougeret et al., Checkpointing strategies for parallel jobs
    /// (10.1145/2063384.2063428), and, if also `D = 0`, that of Daly (10.1016/j.future.2004.11.016,
    /// equation 13). The background write enters as the restart does: after a restart the first checkpoint
    /// needs `t + s + L` without failure, each later one `t + s`. With `p = exp(-(t + s) / M)` and `q = p
    /// exp(-L / M)`, the time to the next checkpoint is `(1 - p) (exp(R / M) (M + D) + A)`, `A = (1 / q -
    /// 1) exp(R / M) (M + D)`, which is the above.
    pub fn cycle(&self, interval: Seconds) -> Seconds {
        let m = self.mtbf.get();
        let again = ((self.restart + self.write).get() / m).portable_exp();
        Seconds::new(
            again * (m + self.detection.get()) * ((interval + self.stall).get() / m).portable_exp_m1(),
        )
    }

    /// The effective training time ratio: `t / T`, training between checkpoints over the calendar.
    pub fn ettr(&self, interval: Seconds) -> f64 {
        interval.get() / self.cycle(interval).get()
    }

    /// Expected split of the calendar, without spares. In a cycle `T` ([`Self::cycle`]):
    ///
    /// * `E = T M / (M + D)` is time in which something runs, so `E / M` failures happen, each with detection
    ///   `D`;
    /// * `C = E exp(-R / M)` of it are steps and stalls, `E - C` restarts;
    /// * `C - t - s` is work done again.
    pub fn split(&self, interval: Seconds) -> Split {
        let m = self.mtbf.get();
        let whole = self.cycle(interval).get();
        let running = m / (m + self.detection.get());
        let computing = running * (-self.restart.get() / m).portable_exp();
        let (training, checkpoints) = (interval.get() / whole, self.stall.get() / whole);
        Split {
            training,
            checkpoints,
            lost_work: (computing - training - checkpoints).max(0.0),
            detection: 1.0 - running,
            restart: running - computing,
            spares: 0.0,
        }
    }

    /// Failures per day of the calendar: `86400 / (M + D)`. This is less than `86400 / M`, because nothing
    /// fails while nothing runs.
    pub fn failures_per_day(&self) -> f64 {
        86_400.0 / (self.mtbf + self.detection).get()
    }

    /// The interval with the highest ETTR: the root of `(1 - t / M) exp((t + s) / M) = 1`, found by
    /// bisection. It is independent of `D`, `R` and `L`. At least `L - s`, because the next checkpoint
    /// waits for the end of the previous write. `None` if a checkpoint takes no time: then no interval is
    /// too short.
    pub fn optimal_interval(&self) -> Option<Seconds> {
        let (m, s) = (self.mtbf.get(), self.stall.get());
        let least = (self.write - self.stall).get().max(0.0);
        let slope = |t: f64| (1.0 - t / m) * ((t + s) / m).portable_exp() - 1.0;
        let (mut low, mut high) = (0.0, m);
        // Each halving adds a bit: more iterations than a double has bits.
        for _ in 0..200 {
            let middle = low + (high - low) / 2.0;
            if slope(middle) > 0.0 { low = middle } else { high = middle }
        }
        let best = low.max(least);
        (best > 0.0).then(|| Seconds::new(best))
    }

    /// Young's first-order interval: `sqrt(2 s M)`, in seconds (10.1145/361147.361115).
    pub fn young(&self) -> Seconds {
        Seconds::new((2.0 * self.stall.get() * self.mtbf.get()).sqrt())
    }

    /// Daly's higher-order interval: `sqrt(2 s M) (1 + sqrt(s / 2M) / 3 + s / 18M) - s` for `s < 2M`, else
    /// `M`, in seconds (10.1016/j.future.2004.11.016, equation 37).
    pub fn daly(&self) -> Seconds {
        let (m, s) = (self.mtbf.get(), self.stall.get());
        if s >= 2.0 * m {
            return self.mtbf;
        }
        let half = s / (2.0 * m);
        Seconds::new((2.0 * s * m).sqrt() * (1.0 + half.sqrt() / 3.0 + half / 9.0) - s)
    }
}

impl Split {
    /// The same split with a share of the calendar spent waiting for a host.
    #[must_use]
    pub fn waiting(self, share: f64) -> Self {
        let rest = 1.0 - share;
        Self {
            training: self.training * rest,
            checkpoints: self.checkpoints * rest,
            lost_work: self.lost_work * rest,
            detection: self.detection * rest,
            restart: self.restart * rest,
            spares: share,
        }
    }
}

/// Share of calendar time spent waiting for a repair, with `spares` hosts in addition to the required ones.
///
/// Hosts in repair are a loss queue: they arrive at the rate of failures that remove a host, and each stays
/// for the repair time. With `spares + 1` of them the job stops and nothing else fails. The share is Erlang's
/// loss formula `B(spares + 1, a)`, `a = repair time / time between such failures`, by `B(0) = 1`, `B(k) = a
/// B(k - 1) / (k + a B(k - 1))`; it is valid for any distribution of repair times. Callers add the detection
/// time to the time between failures: nothing fails in it. That time is not exponential, so the share is then
/// an approximation, within a point of a simulation (a test has the cases).
pub fn waiting_share(between: Seconds, repair: Seconds, spares: u32) -> f64 {
    let load = repair / between;
    (1..=u64::from(spares) + 1).fold(1.0, |blocked, k| load * blocked / (k as f64 + load * blocked))
}

/// Time to write a checkpoint, in seconds: `bytes / bandwidth` of the storage.
pub fn write_time(
    bytes: railwright_spec::quantity::Bytes,
    bandwidth: railwright_spec::quantity::BytesPerSecond,
) -> Seconds {
    bytes / bandwidth
}

/// Expected slowdown of a synchronous step by slow hosts: `1 + (1 - (1 - p)^hosts) (f - 1)`, where a host is
/// slow with probability `p` at any time and a step with any slow host takes `f` times as long. Several slow
/// hosts cost as much as one: each collective waits for the slowest member.
pub fn slowdown(hosts: u64, share: f64, factor: f64) -> f64 {
    let any = -((hosts as f64) * (-share).portable_ln_1p()).portable_exp_m1();
    1.0 + any * (factor - 1.0)
}

#[cfg(test)]
mod tests;
