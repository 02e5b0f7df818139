//! Why a rank is late.
//!
//! Responsible for: what it did longer than its peers, in the stretches that others waited for, and the class that follows, with three numbers. Refuses a class
//! that its numbers do not carry: then it is unknown.

use super::peers::{Stretch, Stretches};
use crate::occupancy::{Occupancy, Spent};
use serde::Serialize;

/// A class of causes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CauseClass {
    /// The same kernels take longer.
    SlowChip,
    /// More kernels, at the rate of the peers.
    MoreWork,
    /// The device is idle until the host launches.
    SlowHost,
    /// Transfers take longer than those of peers with the same bytes.
    SlowLink,
    /// Copies between host and device.
    Copies,
    /// Idle though work was launched: it waits for another stream or for a communication that has no counterpart here.
    Schedule,
    /// Nothing that its peers do not do as well, or it was late before the recording began.
    Unknown,
}

impl CauseClass {
    /// What to call it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::SlowChip => "slow chip",
            Self::MoreWork => "more work",
            Self::SlowHost => "slow host",
            Self::SlowLink => "slow link",
            Self::Copies => "memory copies",
            Self::Schedule => "schedule",
            Self::Unknown => "unknown",
        }
    }

    /// What to call it on a rank without a device (`from_host`), whose operators run on processors.
    pub const fn called(self, from_host: bool) -> &'static str {
        match self {
            Self::SlowChip if from_host => "slow processor",
            cause => cause.name(),
        }
    }
}

/// One number of a rank beside that of its peers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Evidence {
    /// What it is.
    pub name: String,
    /// The rank's.
    pub own: f64,
    /// The median of its peers'.
    pub peers: f64,
    /// Its unit: `ns` for a step, or nothing for counts and ratios.
    pub unit: &'static str,
}

/// Sums over stretches, of a rank and of its peers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Compared {
    pub own: Spent,
    pub peers: Spent,
    /// Stretches that have peers.
    pub stretches: u32,
}

/// Sums the wanted stretches of a member up beside those of its peers.
pub(super) fn compared(
    member: usize,
    stretches: &Stretches,
    occupancies: &[Occupancy],
    wanted: &dyn Fn(&Stretch) -> bool,
) -> Compared {
    let mut sum = Compared::default();
    for stretch in stretches.lists[member].iter().filter(|stretch| wanted(stretch)) {
        let Some(column) = stretch.column else { continue };
        let own = occupancies[member].spent(stretch.from, stretch.to);
        let others: Vec<Spent> = stretches.columns[column as usize]
            .iter()
            .filter(|at| at.0 as usize != member)
            .take(16)
            .map(|&at| {
                let peer = stretches.get(at);
                occupancies[at.0 as usize].spent(peer.from, peer.to)
            })
            .collect();
        add(&mut sum.own, &own);
        let middle = |get: fn(&Spent) -> i64| {
            let mut values: Vec<i64> = others.iter().map(get).collect();
            let at = (values.len() - 1) / 2;
            *values.select_nth_unstable(at).1
        };
        let peers = Spent {
            compute: middle(|s| s.compute),
            exposed: middle(|s| s.exposed),
            copy: middle(|s| s.copy),
            host: middle(|s| s.host),
            idle: middle(|s| s.idle),
            kernels: middle(|s| s.kernels),
        };
        add(&mut sum.peers, &peers);
        sum.stretches += 1;
    }
    sum
}

fn add(sum: &mut Spent, other: &Spent) {
    sum.compute += other.compute;
    sum.exposed += other.exposed;
    sum.copy += other.copy;
    sum.host += other.host;
    sum.idle += other.idle;
    sum.kernels += other.kernels;
}

/// The class that a comparison carries, with its three numbers (times for a step of `steps`); `from_host` where there is no device.
pub(super) fn class(compared: &Compared, steps: f64, from_host: bool) -> (CauseClass, Vec<Evidence>) {
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
    let per = |s: &Spent| if s.kernels > 0 { s.compute as f64 / s.kernels as f64 } else { 0.0 };
    let compute = ns("compute", own.compute, peers.compute);
    let host = ns(
        if from_host { "outside of operators" } else { "idle until the host launches" },
        own.host,
        peers.host,
    );
    let idle = ns("idle though launched", own.idle, peers.idle);
    let copy = ns("memory copies", own.copy, peers.copy);
    let mean = Evidence {
        name: if from_host { "mean operator" } else { "mean kernel" }.to_owned(),
        own: per(&own),
        peers: per(&peers),
        unit: "ns",
    };
    let more = |own: i64, peers: i64| (own - peers).max(0);
    let excess = [
        (more(own.compute, peers.compute), CauseClass::SlowChip),
        (more(own.host, peers.host), CauseClass::SlowHost),
        (more(own.copy, peers.copy), CauseClass::Copies),
        (more(own.idle, peers.idle), CauseClass::Schedule),
    ];
    let total: i64 = excess.iter().map(|part| part.0).sum();
    let Some(&(most, class)) = excess.iter().max_by_key(|part| part.0).filter(|part| part.0 > 0) else {
        return (CauseClass::Unknown, vec![compute, host, kernels]);
    };
    if most * 2 < total {
        return (CauseClass::Unknown, vec![compute, host, kernels]);
    }
    match class {
        CauseClass::SlowChip => {
            // Longer at the same count is the chip; a count that grows is work, whatever its kernels take: they are not the same ones.
            let longer = per(&own) / per(&peers).max(1e-9);
            let counts = own.kernels as f64 / (peers.kernels as f64).max(1.0);
            let is_work = counts > 1.05 || (counts > 1.02 && counts > longer);
            let class = if is_work { CauseClass::MoreWork } else { class };
            (class, vec![compute, kernels, mean])
        }
        CauseClass::Copies => (class, vec![copy, compute, host]),
        CauseClass::Schedule => (class, vec![idle, compute, host]),
        _ => (class, vec![host, compute, kernels]),
    }
}
