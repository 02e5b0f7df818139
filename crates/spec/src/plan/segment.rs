//! The segment of a job, as in Slurm and in launchers of NVL72 racks: the devices used per scale-up domain.
//!
//! Responsible for: the key, and the default segment. Excludes the price of idle devices.

use super::{Layout, Plan};
use crate::cluster::Cluster;
use crate::problem::Problem;
use crate::run::{Field, Kind, Value, wrong};

/// Devices of each scale-up domain requested by a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Segment {
    /// All devices.
    Whole,
    /// A number of devices.
    Devices(u64),
}

impl Field for Segment {
    const KIND: Kind = Kind::Form(&["64", "whole"]);

    fn read(value: &Value) -> Result<Self, Problem> {
        match value {
            Value::Text(text) if text.trim().eq_ignore_ascii_case("whole") => Ok(Self::Whole),
            Value::Text(text) => text.trim().parse().map(Self::Devices).map_err(|_| wrong(Self::KIND, value)),
            other => u64::read(other).map(Self::Devices).map_err(|_| wrong(Self::KIND, value)),
        }
    }

    fn write(&self) -> Value {
        match self {
            Self::Whole => Value::Text("whole".to_owned()),
            Self::Devices(devices) => devices.write(),
        }
    }
}

impl Segment {
    /// Devices used per scale-up domain of the cluster; `None`: all.
    pub fn on(self, cluster: &Cluster) -> Option<u64> {
        match self {
            Self::Whole => None,
            Self::Devices(devices) => Some(devices).filter(|n| *n != cluster.scale_up.domain_size),
        }
    }
}

/// Largest rack in devices. Larger scale-up domains are used whole.
const MOST_SEGMENTED: u64 = 1024;

impl Plan {
    /// Devices used per scale-up domain: the domain size for the placement of process groups.
    pub fn domain(&self, cluster: &Cluster) -> u64 {
        let whole = cluster.scale_up.domain_size;
        self.segment.map_or(whole, |segment| segment.min(whole))
    }

    /// Default segment of launchers: equally many whole nodes of every domain, such that no group that fits
    /// into a domain spans two. `None` if whole domains satisfy this.
    pub(crate) fn usual_segment(&self, cluster: &Cluster) -> Option<u64> {
        let whole = cluster.scale_up.domain_size;
        if self.world_size() <= whole {
            return None;
        }
        let even = even_segment(whole, self.world_size(), cluster.devices_per_node);
        let segment = Layout::segment(self, even).unwrap_or(even);
        (segment < whole).then_some(segment)
    }

    /// The segments worth comparing, the usual one first.
    pub fn segments(&self, cluster: &Cluster) -> impl Iterator<Item = Option<u64>> {
        let usual = self.usual_segment(cluster);
        std::iter::once(usual).chain(usual.map(|_| None))
    }
}

/// Devices per scale-up domain of a job that domains do not divide: the largest number of whole nodes that
/// divides the job. Megatron-Bridge's launcher requests the most nodes up to a rack's 18 that divide the
/// job's (`segment` in `executors.py`): 64 nodes get 16 in each of 4 racks, not 18, 18, 18 and 10. Less than
/// half a domain is never the default.
fn even_segment(domain: u64, devices: u64, per_node: u64) -> u64 {
    let node = per_node.clamp(1, domain.max(1));
    if devices <= domain || devices.is_multiple_of(domain.max(1)) || domain > MOST_SEGMENTED {
        return domain;
    }
    let nodes = (1..=domain / node).rev().find(|nodes| devices.is_multiple_of(nodes * node));
    nodes.map(|nodes| nodes * node).filter(|segment| 2 * segment >= domain).unwrap_or(domain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::PlanSpec;
    use crate::{cluster, model};

    #[test]
    fn jobs_take_equally_much_of_every_rack() {
        // (domain, devices, devices in a node): 64 nodes of 4 in racks of 18, as requested by these
        // launchers.
        for (domain, devices, node, expected) in [
            (72, 256, 4, 64),
            (72, 512, 4, 64),
            (72, 288, 4, 72),
            (72, 64, 4, 72),
            (72, 96, 4, 48),
            (72, 292, 4, 72),
            (8, 1024, 8, 8),
            (8, 12, 1, 6),
            (256, 6144, 4, 256),
        ] {
            assert_eq!(even_segment(domain, devices, node), expected, "{devices} in domains of {domain}");
        }
    }

    #[test]
    fn a_plan_takes_the_usual_segment_unless_it_names_one() {
        let model = model::by_name("deepseek-v3-671b").expect("known");
        let racks = cluster::by_name("gb300-nvl72", 256).expect("known");
        let spec = PlanSpec {
            tensor_parallel: Some(1),
            pipeline_parallel: Some(2),
            expert_parallel: Some(32),
            uneven_stages: Some(true),
            ..PlanSpec::default()
        };
        let domain = |segment| {
            let plan = PlanSpec { segment, ..spec.clone() }.resolve(&model, &racks).expect("possible");
            (plan.segment, plan.domain(&racks))
        };
        assert_eq!(domain(None), (Some(64), 64));
        assert_eq!(domain(Some(Segment::Whole)), (None, 72));
        assert_eq!(domain(Some(Segment::Devices(32))), (Some(32), 32));
        // 288 GPUs are four whole racks, in which some groups of 32 experts span two racks.
        let racks = cluster::by_name("gb300-nvl72", 72).expect("known");
        let plan = PlanSpec {
            expert_parallel: Some(8),
            pipeline_parallel: Some(1),
            tensor_parallel: Some(1),
            ..spec
        };
        assert_eq!(plan.resolve(&model, &racks).expect("one rack").segment, None);
    }

    #[test]
    fn the_key_reads_what_it_writes() {
        for segment in [Segment::Whole, Segment::Devices(64)] {
            assert_eq!(Segment::read(&segment.write()).expect("sound"), segment);
        }
        assert_eq!(Segment::read(&Value::Text("36".into())).expect("sound"), Segment::Devices(36));
        assert!(Segment::read(&Value::Text("rack".into())).is_err());
    }
}
