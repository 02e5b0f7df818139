//! Cause of a rank's lateness.
//!
//! Responsible for: the class of the excess of a late rank over its peers, with three numbers. Without
//! sufficient evidence the class is unknown. "More work" is decided by whole steps: an interval begins at the
//! last wait. Where collectives overlap compute, the peers ran some kernels before that wait. The late rank
//! did not wait, so its interval contains them.

use super::compared::{Compared, Whole};
use crate::occupancy::Spent;
use serde::Serialize;

/// A class of causes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CauseClass {
    /// The same kernels take longer.
    SlowChip,
    /// More kernels, at the rate of the peers.
    MoreWork,
    /// The device is idle until the host launches.
    SlowHost,
    /// Launched work starts a millisecond later or more on an idle device.
    LaunchLatency,
    /// Transfers take longer than those of peers with the same bytes.
    SlowLink,
    /// Copies between host and device.
    Copies,
    /// Idle although work was launched: it waits for another stream or for a communication without
    /// counterpart in the recording.
    Schedule,
    /// No excess over its peers, or late before the recording began.
    Unknown,
}

impl CauseClass {
    /// Label.
    pub const fn name(self) -> &'static str {
        match self {
            Self::SlowChip => "slow chip",
            Self::MoreWork => "more work",
            Self::SlowHost => "slow host",
            Self::LaunchLatency => "launch latency",
            Self::SlowLink => "slow link",
            Self::Copies => "memory copies",
            Self::Schedule => "schedule",
            Self::Unknown => "unknown",
        }
    }

    /// Tests whether a name of a cause is that of a late host: slow, or in a recorded activity.
    pub fn is_of_host(name: &str) -> bool {
        name == Self::SlowHost.name() || crate::causes::is_of_host(name)
    }

    /// Name of the cause. On a rank without a device (`from_host`), operators run on processors.
    pub const fn called(self, from_host: bool) -> &'static str {
        match self {
            Self::SlowChip if from_host => "slow processor",
            cause => cause.name(),
        }
    }
}

/// One value of a rank and that of its peers.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Evidence {
    /// Kind.
    pub name: String,
    /// Value of the rank.
    pub own: f64,
    /// Median of its peers.
    pub peers: f64,
    /// Unit: `ns` for a time per step, empty for counts and ratios.
    pub unit: &'static str,
}

/// Class supported by a comparison, with its three numbers (times per step, for `steps` steps). `from_host`
/// is true without a device. If intervals show more kernels and whole steps (`whole`) do not, the whole steps
/// are compared. A cause must explain at least half of the excess.
pub(super) fn class(
    compared: &Compared,
    steps: f64,
    from_host: bool,
    whole: impl FnOnce() -> Whole,
) -> (CauseClass, Vec<Evidence>) {
    let by_stretches = explained(compared, class_of(compared, steps, from_host));
    if by_stretches.0 != CauseClass::MoreWork {
        return by_stretches;
    }
    let whole = whole();
    if whole.steps == 0 || grew(&whole.compared, 1.005) {
        return by_stretches;
    }
    explained(&whole.compared, class_of(&whole.compared, whole.steps as f64, from_host))
}

/// A class that explains at least half of the excess; otherwise the class is unknown.
fn explained(
    compared: &Compared,
    (class, evidence): (CauseClass, Vec<Evidence>),
) -> (CauseClass, Vec<Evidence>) {
    let most = excesses(compared).into_iter().map(|part| part.0).max().unwrap_or(0);
    let class = if most.saturating_mul(2) < compared.excess { CauseClass::Unknown } else { class };
    (class, evidence)
}

/// Excess time of a rank over its peers, by class of cause.
fn excesses(compared: &Compared) -> [(i64, CauseClass); 5] {
    let (own, peers) = (compared.own, compared.peers);
    let more = |own: i64, peers: i64| (own - peers).max(0);
    [
        (more(own.compute, peers.compute), CauseClass::SlowChip),
        (more(own.host, peers.host), CauseClass::SlowHost),
        (more(own.late, peers.late), CauseClass::LaunchLatency),
        (more(own.copy, peers.copy), CauseClass::Copies),
        (more(own.idle, peers.idle), CauseClass::Schedule),
    ]
}

/// The mean compute kernel.
fn per_kernel(spent: &Spent) -> f64 {
    if spent.kernels > 0 { spent.compute as f64 / spent.kernels as f64 } else { 0.0 }
}

/// Tests whether there are more kernels rather than longer ones: 5% more, or above the ratio `least` by more
/// than they are longer.
fn grew(compared: &Compared, least: f64) -> bool {
    let longer = per_kernel(&compared.own) / per_kernel(&compared.peers).max(1e-9);
    let counts = compared.own.kernels as f64 / (compared.peers.kernels as f64).max(1.0);
    counts > 1.05 || (counts > least && counts > longer)
}

fn class_of(compared: &Compared, steps: f64, from_host: bool) -> (CauseClass, Vec<Evidence>) {
    let (own, peers) = (compared.own, compared.peers);
    let ns = |name: &str, own: i64, peers: i64| Evidence {
        name: name.to_owned(),
        own: own as f64 / steps,
        peers: peers as f64 / steps,
        unit: "ns",
    };
    let kernels = Evidence {
        name: if from_host { "operators" } else { "kernels" }.to_owned(),
        own: own.kernels as f64 / steps,
        peers: peers.kernels as f64 / steps,
        unit: "",
    };
    let compute = ns("compute", own.compute, peers.compute);
    let host = ns(
        if from_host { "outside operators" } else { "idle until the host launches" },
        own.host,
        peers.host,
    );
    let late = ns("idle after a launch, 1 ms or longer", own.late, peers.late);
    let idle = ns("idle after the launch", own.idle, peers.idle);
    let copy = ns("memory copies", own.copy, peers.copy);
    let mean = Evidence {
        name: if from_host { "mean operator" } else { "mean kernel" }.to_owned(),
        own: per_kernel(&own),
        peers: per_kernel(&peers),
        unit: "ns",
    };
    let excess = excesses(compared);
    let total: i64 = excess.iter().map(|part| part.0).sum();
    let Some(&(most, class)) = excess.iter().max_by_key(|part| part.0).filter(|part| part.0 > 0) else {
        return (CauseClass::Unknown, vec![compute, host, kernels]);
    };
    if most * 2 < total {
        return (CauseClass::Unknown, vec![compute, host, kernels]);
    }
    match class {
        CauseClass::SlowChip => {
            // Longer at the same count is the chip; a higher count is more work, regardless of kernel times,
            // because the kernels differ.
            let class = if grew(compared, 1.02) { CauseClass::MoreWork } else { class };
            (class, vec![compute, kernels, mean])
        }
        CauseClass::LaunchLatency => (class, vec![late, host, compute]),
        CauseClass::Copies => (class, vec![copy, compute, host]),
        CauseClass::Schedule => (class, vec![idle, compute, host]),
        _ => (class, vec![host, compute, kernels]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The excess lies in communication during idle time of the host. A tenth of it in kernels is no evidence
    /// of a slow chip.
    #[test]
    fn a_class_explains_at_least_half_of_the_excess() {
        let spent = |compute: i64| Spent { compute, kernels: 100, ..Spent::default() };
        let compared =
            |excess: i64| Compared { own: spent(110_000), peers: spent(100_000), stretches: 4, excess };
        let of = |excess: i64| {
            class(&compared(excess), 1.0, false, || Whole { compared: Compared::default(), steps: 0 }).0
        };
        assert_eq!(of(20_000), CauseClass::SlowChip);
        assert_eq!(of(100_000), CauseClass::Unknown);
    }
}
