//! Bandwidth of collectives and the ceiling of their links.
//!
//! Responsible for: bus bandwidth as in nccl-tests, and the link that limits a group. Placement is inferred
//! only from the number of consecutive ranks in a scale-up domain.

use crate::Job;
use crate::groups::RankSet;
use railwright_spec::cluster::{Accelerator, accelerators};
use railwright_step::CollectiveKind;
use serde::Serialize;

/// Bytes over a link per byte of a collective among `n` ranks: bus bandwidth = factor x bytes / time
/// (nccl-tests, PERFORMANCE.md). The factor is 2(n-1)/n for all-reduce, (n-1)/n for gather, scatter and
/// all-to-all, and 1 for the rest.
pub fn bus_factor(operation: Option<CollectiveKind>, n: u32) -> f64 {
    if n < 2 {
        return 1.0;
    }
    let share = f64::from(n - 1) / f64::from(n);
    match operation {
        Some(CollectiveKind::AllReduce) => 2.0 * share,
        Some(
            CollectiveKind::AllGather
            | CollectiveKind::ReduceScatter
            | CollectiveKind::AllToAll
            | CollectiveKind::Dispatch
            | CollectiveKind::Combine
            | CollectiveKind::Gather
            | CollectiveKind::Scatter,
        ) => share,
        _ => 1.0,
    }
}

/// Kind of link that limits a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LinkKind {
    /// Within the scale-up domain.
    ScaleUp,
    /// The network between domains.
    Network,
}

/// A link and its ceiling.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Link {
    /// Kind.
    pub kind: LinkKind,
    /// Name.
    pub name: String,
    /// Bandwidth in bytes per second, one direction.
    #[cfg_attr(feature = "schema", schemars(extend("x-unit" = "B/s")))]
    pub bytes_per_second: f64,
}

/// The accelerator of a trace's device, by its driver's name, or by that name followed by its memory.
pub(crate) fn accelerator(job: &Job) -> Option<Accelerator> {
    let device = job.members.iter().find_map(|member| {
        let identity = &member.trace.identity;
        let id = identity.device.unwrap_or(0);
        identity.devices.iter().find(|device| device.id == id).or(identity.devices.first())
    })?;
    let plain = |text: &str| -> String {
        text.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
    };
    let name = plain(&device.name);
    let patterns = |accelerator: &Accelerator| {
        accelerator.device_name_patterns.iter().any(|pattern| plain(pattern) == name)
    };
    accelerators().into_iter().find(patterns)
}

/// The link that limits a group of ranks: of the scale-up domain if all of them fit into one block of
/// consecutive ranks, otherwise the network.
pub fn ceiling(accelerator: &Accelerator, ranks: &RankSet) -> Option<Link> {
    let domain = u32::try_from(accelerator.scale_up_domain).unwrap_or(u32::MAX).max(1);
    let (first, last) = (ranks.ranks().first()?, ranks.ranks().last()?);
    if first / domain == last / domain {
        let bandwidth = accelerator.scale_up_bandwidth.get();
        return (bandwidth > 0.0).then(|| Link {
            kind: LinkKind::ScaleUp,
            name: accelerator.scale_up_link.clone(),
            bytes_per_second: bandwidth,
        });
    }
    let bandwidth = accelerator.network_bandwidth?.get();
    Some(Link { kind: LinkKind::Network, name: "network".to_owned(), bytes_per_second: bandwidth })
}
