//! Events that last seconds to hours without a replaced part: flapping links, and slow parts that are not
//! yet found.
//!
//! Responsible for: their columns of a table of rates, and the expected cost of one event and of a month.
//! Rates have no defaults: published counts of flaps have no number of links (5,000 to 60,000 a day in all
//! clusters of one operator, 10.1145/3651890.3672265, section 2.3). Excludes failures that end with a repair
//! ([`super::expected`]).

use railwright_spec::Portable as _;
use serde::Serialize;

/// Hours in a month: a twelfth of 8,760.
pub const MONTH: f64 = 730.0;

/// Seconds until the transport of a connection without answers reports an error, and the job stops: `4.096 us
/// 2^timeout (retries + 1)` (InfiniBand Architecture Specification, volume 1, section 9.9.2: local ACK
/// timeout and retry counter), with NCCL's defaults `NCCL_IB_TIMEOUT` 20 and `NCCL_IB_RETRY_CNT` 7.
pub const TRANSPORT_SECONDS: f64 = 4.096e-6 * (1 << 20) as f64 * 8.0;

/// Effect of a part on a job.
#[derive(Clone, Copy, Debug)]
pub struct Role {
    /// Number of these parts.
    pub count: u64,
    /// Devices of the job.
    pub devices: u64,
    /// True if each is the only connection of a device.
    pub is_only: bool,
    /// Share of bandwidth that the most affected device keeps without the part, if no other device helps it
    /// (0 to 1).
    pub kept_alone: f64,
    /// Step time relative to the whole network once routes avoid the part; `None` if the step cannot finish
    /// without it.
    pub slowdown: Option<f64>,
}

/// Flaps of one part.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Flaps {
    /// Flaps of one part in a month of 730 hours.
    pub per_month: f64,
    /// Mean time until the link is up again.
    #[cfg_attr(feature = "schema", schemars(extend("x-unit" = "s")))]
    pub seconds: f64,
    /// Time until routes avoid the part, where others exist; `None` if they never do for a flap.
    #[cfg_attr(feature = "schema", schemars(extend("x-unit" = "s")))]
    pub reroute_seconds: Option<f64>,
}

/// Slow parts: lossy links, NICs below their bandwidth.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Slow {
    /// Expected number of times that one part becomes slow in a month of 730 hours.
    pub per_month: f64,
    /// Hours until one is found and replaced.
    pub hours: f64,
    /// Share of its bandwidth that it keeps (0 to 1).
    pub kept: f64,
}

/// Flaps and slow parts of one kind of part, as in a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Brief {
    /// Flaps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flaps: Option<Flaps>,
    /// Slow parts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slow: Option<Slow>,
}

/// Expected cost of the flaps of a class of parts.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FlapLoss {
    /// Flaps of all parts of the class in a month.
    pub per_month: f64,
    /// Mean stall of the whole job in one.
    #[cfg_attr(feature = "schema", schemars(extend("x-unit" = "s")))]
    pub stall_seconds: f64,
    /// Share of them that outlasts the transport, so that the job stops and restarts (0 to 1).
    pub stopping: f64,
    /// Device-hours of one.
    pub lost_hours: f64,
    /// Device-hours in a month.
    pub lost_hours_per_month: f64,
}

/// Expected cost of the slow parts of a class.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SlowLoss {
    /// Slow parts that appear in a month.
    pub per_month: f64,
    /// Bandwidth that the most affected device keeps (0 to 1).
    pub kept: f64,
    /// Step time relative to the whole network until the part is found; `None` if it cannot finish.
    pub slowdown: Option<f64>,
    /// Mean number of them at any time.
    pub present: f64,
    /// Device-hours of one.
    pub lost_hours: f64,
    /// Device-hours in a month.
    pub lost_hours_per_month: f64,
}

/// A class with its flaps and slow parts.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BriefLoss {
    /// Name of the parts, as in [`super::Class::part`].
    pub part: &'static str,
    /// Number of parts.
    pub count: u64,
    /// Flaps; `None` without a rate.
    pub flaps: Option<FlapLoss>,
    /// Slow parts; `None` without a rate.
    pub slow: Option<SlowLoss>,
}

impl BriefLoss {
    /// Device-hours in a month.
    pub fn lost_hours_per_month(&self) -> f64 {
        let flaps = self.flaps.as_ref().map_or(0.0, |loss| loss.lost_hours_per_month);
        flaps + self.slow.as_ref().map_or(0.0, |loss| loss.lost_hours_per_month)
    }

    /// Interruptions in a month.
    pub fn stops_per_month(&self) -> f64 {
        self.flaps.as_ref().map_or(0.0, |loss| loss.per_month * loss.stopping)
    }
}

/// Cost of flaps. The outage `X` is exponential with mean `d`. Connections over the part stall until the link
/// is up, routes avoid it (after `W`, if others exist), or the transport gives up (after `T`); a synchronous
/// step stalls with them.
///
/// * stall: `E[min(X, L)] = d (1 - exp(-L / d))` with `L = min(W, T)`, in seconds;
/// * interruptions: `exp(-T / d)` of the flaps if `W > T`, at `I` hours of all `N` devices each;
/// * after new routes, the rest of the outage, `d exp(-W / d)`, at `s` times the step time: `N (1 - 1 / s)`
///   of it is lost.
pub fn flaps(role: &Role, flaps: &Flaps, interruption_hours: f64) -> FlapLoss {
    let n = role.devices as f64;
    let d = flaps.seconds;
    let beyond = |limit: f64| if d > 0.0 { (-limit / d).portable_exp() } else { 0.0 };
    let others = role.slowdown.filter(|_| !role.is_only);
    let reroute = flaps.reroute_seconds.filter(|seconds| *seconds < TRANSPORT_SECONDS).zip(others);
    let (limit, stopping, slower) = match reroute {
        Some((seconds, s)) => (seconds, 0.0, d * beyond(seconds) * (1.0 - 1.0 / s.max(1.0))),
        None => (TRANSPORT_SECONDS, beyond(TRANSPORT_SECONDS), 0.0),
    };
    let stall_seconds = d * (1.0 - beyond(limit));
    let lost_hours = n * ((stall_seconds + slower) / 3600.0 + stopping * interruption_hours);
    let per_month = flaps.per_month * role.count as f64;
    FlapLoss { per_month, stall_seconds, stopping, lost_hours, lost_hours_per_month: per_month * lost_hours }
}

/// Cost of slow parts. Nothing routes around a part that still works, and packets are spread evenly over it
/// and the parts next to it: its share of a message arrives last. So the most affected device keeps what the
/// part keeps, unless it would miss nothing without the part. Until the part is found after `h` hours, all
/// `N` devices run `s` times slower: `N (1 - 1 / s) h` device-hours; all of them if the step cannot finish.
pub fn slow(role: &Role, slow: &Slow, slowdown: &dyn Fn(f64) -> Option<f64>) -> SlowLoss {
    let kept = if role.kept_alone < 1.0 { slow.kept } else { 1.0 };
    let factor = slowdown(kept).map(|s| s.max(1.0));
    let share = factor.map_or(1.0, |s| 1.0 - 1.0 / s);
    let lost_hours = role.devices as f64 * share * slow.hours;
    let per_month = slow.per_month * role.count as f64;
    SlowLoss {
        per_month,
        kept,
        slowdown: factor,
        present: per_month * slow.hours / MONTH,
        lost_hours,
        lost_hours_per_month: per_month * lost_hours,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative step time with 20% exposed network time.
    fn slowdown(kept: f64) -> Option<f64> {
        (kept > 0.0).then(|| 1.0 + 0.2 * (1.0 / kept - 1.0))
    }

    /// Links between NICs and leaves of 4,096 devices in domains of 8, in one plane or in two.
    fn link(planes: u64) -> Role {
        let kept_spread = 1.0 - 1.0 / (8 * planes) as f64;
        Role {
            count: 4096 * planes,
            devices: 4096,
            is_only: planes == 1,
            kept_alone: 1.0 - 1.0 / planes as f64,
            slowdown: slowdown(kept_spread),
        }
    }

    #[test]
    fn the_transport_of_the_defaults_gives_up_after_half_a_minute() {
        // 4.096 us x 2^20 = 4.29 s, eight times: the limit of 30 s of a vendor's check of link flaps is of
        // this size.
        assert!((TRANSPORT_SECONDS - 34.36).abs() < 0.01);
    }

    /// One port: the job stalls for the whole flap (more than 9 s with a single ToR,
    /// 10.1145/3651890.3672265), and stops if it lasts longer than the transport. A second plane: it
    /// stalls until routes avoid the port.
    #[test]
    fn a_second_plane_ends_stalls_and_stops() {
        let rate = Flaps { per_month: 0.1, seconds: 10.0, reroute_seconds: Some(1.0) };
        let cost = |planes, rate: &Flaps| flaps(&link(planes), rate, 0.3);
        let (one, two) = (cost(1, &rate), cost(2, &rate));
        assert!((one.stopping - (-TRANSPORT_SECONDS / 10.0_f64).exp()).abs() < 1e-12 && one.stopping > 0.03);
        assert!(one.stall_seconds > 9.0 && two.stall_seconds < 1.0 && two.stopping == 0.0);
        assert!(one.lost_hours > 10.0 * two.lost_hours, "{one:?} {two:?}");
        // By hand: a stall of 10 (1 - exp(-1 / 10)) s, then 1/16 of the bandwidth is missing.
        let s = 1.0 + 0.2 / 15.0;
        let lost = 10.0 * (1.0 - (-0.1_f64).exp()) + 10.0 * (-0.1_f64).exp() * (1.0 - 1.0 / s);
        assert!((two.lost_hours - 4096.0 * lost / 3600.0).abs() < 1e-9);
        assert!((one.per_month - 409.6).abs() < 1e-9 && (two.per_month - 819.2).abs() < 1e-9);
        // Without new routes both stall, and flaps that end at once cost nothing.
        let fixed = Flaps { reroute_seconds: None, ..rate };
        assert!((cost(2, &fixed).stall_seconds - one.stall_seconds).abs() < 1e-12);
        let none = cost(1, &Flaps { seconds: 0.0, ..rate });
        assert_eq!((none.stall_seconds, none.lost_hours), (0.0, 0.0));
    }

    #[test]
    fn a_slow_part_costs_until_it_is_found() {
        let half = Slow { per_month: 0.01, hours: 24.0, kept: 0.5 };
        let cost = |planes, rate: &Slow| slow(&link(planes), rate, &slowdown);
        let loss = cost(1, &half);
        // Half of the bandwidth doubles 20% of the step.
        assert_eq!((loss.kept, loss.slowdown), (0.5, Some(1.2)));
        assert!((loss.lost_hours - 4096.0 * (1.0 - 1.0 / 1.2) * 24.0).abs() < 1e-9);
        assert!((loss.present - 40.96 * 24.0 / MONTH).abs() < 1e-12);
        // It is worse than a lost one whose traffic the domain spreads, which is why operators remove them.
        assert!(loss.slowdown > link(1).slowdown);
        // One of two ports at half of its bandwidth: it carries half of each message.
        assert_eq!(cost(2, &half).kept, 0.5);
        assert_eq!(cost(1, &Slow { kept: 1.0, ..half }).lost_hours, 0.0);
        assert_eq!(cost(1, &Slow { kept: 0.0, ..half }).slowdown, None);
    }
}
