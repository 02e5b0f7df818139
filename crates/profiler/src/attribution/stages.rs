//! Pipeline stages that compute longer than the others.
//!
//! Responsible for: compute time of every stage, and stages so far above the median (of two, above the other)
//! that they delay the others. If every stage has one rank, the cause is a slow chip, more work, or either.
//! Stages that fill nodes with slow chips are one delay. Does not compare ranks of one stage: see stragglers.

use super::cause::{CauseClass, Evidence};
use super::event::Chains;
use super::lone::{self, Kernels};
use super::lone_hosts::OwnTime;
use super::nodes::nodes;
use super::verdict::EITHER;
use super::{lone_hosts, steps, uneven};
use crate::Job;
use crate::communication::NameTable;
use crate::joined::Joined;
use crate::occupancy::Occupancy;
use crate::windows::Windows;
use std::collections::{BTreeMap, BTreeSet};

/// Minimum ratio of a slow stage to the median: first and last stages have an embedding or a head by design.
const MORE: f64 = 1.1;

/// Minimum ratio of a stage that may be slow: within [`MORE`], more work and the design of a stage are not
/// separable.
const NEARLY: f64 = 1.03;

/// Cause of a stage with more work than the others.
const IMBALANCE: &str = "imbalance";

/// A stage with longer compute than the others.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SlowStage {
    pub stage: u32,
    pub members: Vec<usize>,
    /// Compute time of the stage, and of the median stage, in nanoseconds.
    pub compute: i64,
    pub peers: i64,
    /// Cause. For a slow chip, the times are those of the kernels that all stages have; for a slow host,
    /// idle times until launches.
    pub cause: &'static str,
    /// For a slow host: by member, own time of each event with the idle times of the other stages, in
    /// nanoseconds.
    pub own: Vec<Vec<i64>>,
}

impl SlowStage {
    /// Factor that scales its own times to those of the others.
    pub(super) fn usual(&self) -> f64 {
        self.peers as f64 / self.compute.max(1) as f64
    }

    /// Cause if it lies in the stage's only rank or in the chips of a node, and not in its work.
    pub(super) fn of_rank(&self) -> Option<CauseClass> {
        let is_alone = self.members.len() == 1;
        [CauseClass::SlowChip, CauseClass::SlowHost]
            .into_iter()
            .find(|class| class.name() == self.cause && (is_alone || *class == CauseClass::SlowChip))
    }

    /// Tests whether its hosts are the cause.
    pub(super) fn is_of_hosts(&self) -> bool {
        self.cause == CauseClass::SlowHost.name()
    }

    /// Its time per step relative to the others, for `steps` steps.
    pub(super) fn evidence(&self, steps: f64) -> Evidence {
        let is_host = self.is_of_hosts();
        Evidence {
            name: if is_host {
                "idle until the host launches, in the median step"
            } else {
                "kernels that all stages have"
            }
            .to_owned(),
            own: self.compute as f64 / steps,
            peers: self.peers as f64 / steps,
            unit: "ns",
        }
    }
}

/// Stages that delay the others, among all `stages`.
pub(super) fn slow_stages(
    (job, names): (&Job, &NameTable),
    stages: &[Stage],
    chains: &Chains,
    occupancies: &[Occupancy],
    windows: &Windows,
) -> Vec<SlowStage> {
    let mut slow = above_median(stages, MORE);
    for (stage, member, longer) in lone_stages((job, names), stages, windows) {
        let at = slow.iter().position(|one| one.stage == stage);
        if longer.is_chip {
            at.map(|at| slow.remove(at));
            slow.push(SlowStage {
                stage,
                members: vec![member],
                compute: longer.own,
                peers: longer.usual,
                cause: CauseClass::SlowChip.name(),
                own: Vec::new(),
            });
        } else if let Some(at) = at {
            slow[at].cause = EITHER;
        }
    }
    if let Some((stages, node)) = slow_nodes((job, names), stages, windows) {
        slow.retain(|one| !stages.contains(&one.stage));
        slow.push(node);
    }
    let hosts = slow_hosts(stages, chains, occupancies, windows);
    slow.extend(
        hosts.into_iter().filter(|host| !slow.iter().any(|one| one.stage == host.stage)).collect::<Vec<_>>(),
    );
    slow
}

/// Stages other than `slow` that compute somewhat longer than the median: by design, or because of more work
/// or slow chips.
pub(super) fn near(slow: &[SlowStage], stages: &[Stage]) -> Vec<SlowStage> {
    let mut near = above_median(stages, NEARLY);
    near.retain(|stage| !slow.iter().any(|one| one.stage == stage.stage));
    near
}

/// Stages whose ranks all wait for their hosts far longer than those of the other stages, such as a first
/// stage that loads data.
fn slow_hosts(
    stages: &[Stage],
    chains: &Chains,
    occupancies: &[Occupancy],
    windows: &Windows,
) -> Vec<SlowStage> {
    if occupancies.iter().any(|on| on.host_alone) {
        return Vec::new();
    }
    let of = |&member: &usize| OwnTime::of(&chains.events[member], &occupancies[member], &windows.steps);
    // Of the ranks of a stage, at least half have this time.
    let typical = |stage: &Stage| {
        let mut own: Vec<OwnTime> = stage.members.iter().map(of).collect();
        own.sort_unstable_by_key(|one| one.host);
        own.get(own.len().saturating_sub(1) / 2).copied().unwrap_or_default()
    };
    let own: Vec<OwnTime> = stages.iter().map(typical).collect();
    let found = |(at, stage): (usize, &Stage)| {
        let others: Vec<OwnTime> =
            own.iter().enumerate().filter(|other| other.0 != at).map(|other| *other.1).collect();
        let is_alone = stage.members.len() == 1;
        let (compute, peers) = (own[at].host, lone_hosts::usual(own[at], &others, is_alone)?);
        let kept = peers as f64 / compute.max(1) as f64;
        let like_others =
            |&member: &usize| lone_hosts::with_share(&chains.events[member], &occupancies[member], kept);
        Some(SlowStage {
            stage: stage.number,
            members: stage.members.clone(),
            compute,
            peers,
            cause: CauseClass::SlowHost.name(),
            own: stage.members.iter().map(like_others).collect(),
        })
    };
    stages.iter().enumerate().filter_map(found).collect()
}

/// Stages of one rank with longer kernels than the other stages, as (stage, member, kernels), if every stage
/// has one rank.
fn lone_stages(
    (job, names): (&Job, &NameTable),
    stages: &[Stage],
    windows: &Windows,
) -> Vec<(u32, usize, lone::Longer)> {
    if stages.iter().any(|stage| stage.members.len() != 1) {
        return Vec::new();
    }
    let of = |stage: &Stage| uneven::taken(&job.members[stage.members[0]].trace, names, windows.span());
    let kernels: Vec<Kernels> = stages.iter().map(of).collect();
    let found = |(at, stage): (usize, &Stage)| {
        let others: Vec<&Kernels> =
            kernels.iter().enumerate().filter(|other| other.0 != at).map(|other| other.1).collect();
        Some((stage.number, stage.members[0], lone::longer(&kernels[at], &others)?))
    };
    stages.iter().enumerate().filter_map(found).collect()
}

/// Nodes with slow chips that hold all ranks of some stages and no others, as the numbers of these stages and
/// one delay: a stage alone hides the other ones. On the median rank of each stage, all kernels take longer
/// by one factor than on the other stages.
fn slow_nodes(
    (job, names): (&Job, &NameTable),
    stages: &[Stage],
    windows: &Windows,
) -> Option<(Vec<u32>, SlowStage)> {
    let nodes = nodes(job);
    if nodes.len() < job.members.len() || stages.iter().any(|stage| stage.members.len() < 2) {
        return None;
    }
    let of = |stage: &Stage| {
        let typical = stage.members[(stage.members.len() - 1) / 2];
        uneven::taken(&job.members[typical].trace, names, windows.span())
    };
    let kernels: Vec<Kernels> = stages.iter().map(of).collect();
    let found = |(at, stage)| {
        let others: Vec<&Kernels> =
            kernels.iter().enumerate().filter(|other| other.0 != at).map(|other| other.1).collect();
        lone::longer(&kernels[at], &others).filter(|longer| longer.is_chip).map(|longer| (stage, longer))
    };
    let slow: Vec<(&Stage, lone::Longer)> = stages.iter().enumerate().filter_map(found).collect();
    let members: BTreeSet<usize> = slow.iter().flat_map(|(stage, _)| stage.members.iter().copied()).collect();
    let node = |member: usize| nodes.get(&job.members[member].rank);
    let of_slow: Vec<_> = members.iter().map(|&member| node(member)).collect();
    let all = 0..job.members.len();
    let are_whole = all.clone().all(|member| members.contains(&member) == of_slow.contains(&node(member)));
    if members.is_empty() || members.len() == all.len() || !are_whole {
        return None;
    }
    let delay = SlowStage {
        stage: slow.first()?.0.number,
        members: members.into_iter().collect(),
        compute: slow.iter().map(|(_, longer)| longer.own).sum(),
        peers: slow.iter().map(|(_, longer)| longer.usual).sum(),
        cause: CauseClass::SlowChip.name(),
        own: Vec::new(),
    };
    Some((slow.iter().map(|(stage, _)| stage.number).collect(), delay))
}

/// A stage: its members, and the compute time of its median rank in nanoseconds.
pub(super) struct Stage {
    number: u32,
    compute: i64,
    members: Vec<usize>,
}

/// The stages of a job, in order.
pub(super) fn by_stage(joined: &Joined, occupancies: &[Occupancy], windows: &Windows) -> Vec<Stage> {
    let (from, to) = steps::closed(windows);
    let places = joined.groups.stages();
    let mut stages: BTreeMap<u32, Vec<(i64, usize)>> = BTreeMap::new();
    for (member, clock) in joined.clocks.clocks.iter().enumerate() {
        let place = places.get(&clock.rank).map(|place| place.1);
        let Some((stage, on)) = place.zip(occupancies.get(member)) else { continue };
        stages.entry(stage).or_default().push((on.compute.within(from, to), member));
    }
    let typical = |(stage, mut ranks): (u32, Vec<(i64, usize)>)| {
        ranks.sort_unstable();
        let compute = ranks[(ranks.len() - 1) / 2].0;
        Stage { number: stage, compute, members: ranks.into_iter().map(|rank| rank.1).collect() }
    };
    stages.into_iter().map(typical).collect()
}

/// Stages with compute above the median by this ratio.
fn above_median(stages: &[Stage], least: f64) -> Vec<SlowStage> {
    let mut times: Vec<i64> = stages.iter().map(|stage| stage.compute).collect();
    times.sort_unstable();
    let Some(&peers) = times.get(times.len().saturating_sub(1) / 2) else { return Vec::new() };
    let slow = |stage: &&Stage| peers > 0 && stage.compute as f64 > least * peers as f64;
    let stage = |stage: &Stage| SlowStage {
        stage: stage.number,
        members: stage.members.clone(),
        compute: stage.compute,
        peers,
        cause: IMBALANCE,
        own: Vec::new(),
    };
    stages.iter().filter(slow).map(stage).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{GpuActivity, GpuKind};
    use crate::windows::{CutBy, StepWindow};

    /// Four stages of four ranks on nodes of eight. Kernels of each rank take a factor longer.
    fn job(factor: &dyn Fn(u32) -> f64) -> (Job, Vec<Stage>, Windows) {
        let trace = |rank: u32| {
            let mut trace = crate::RankTrace::default();
            trace.identity.rank = Some(rank);
            trace.identity.world_size = Some(16);
            trace.identity.device = Some(rank % 8);
            let mut start = 0;
            for call in 0..90_i64 {
                let name = ["sm90_gemm_nn", "flash_fwd_kernel", "void vectorized_elementwise_kernel"]
                    [call as usize % 3];
                let end = start + ((100_000 + call % 7 * 100) as f64 * factor(rank)) as i64;
                let name = trace.names.intern(name);
                trace.gpu.push(GpuActivity {
                    start,
                    end,
                    name,
                    kind: GpuKind::Kernel,
                    ..GpuActivity::default()
                });
                start = end;
            }
            trace
        };
        let job = Job::new((0..16).map(trace).collect());
        let stage = |number: u32| {
            let members = (0..4).map(|at| number as usize * 4 + at).collect();
            Stage { number, compute: 0, members }
        };
        let steps = vec![StepWindow { number: None, start: 0, end: 1_000_000_000, without: Vec::new() }];
        let windows = Windows {
            cut_by: CutBy::Nothing,
            common: (0, 1_000_000_000),
            steps,
            warm_up: Vec::new(),
            at_collective: false,
            spread: 0,
            added: 0,
            warnings: Vec::new(),
        };
        (job, (0..4).map(stage).collect(), windows)
    }

    #[test]
    fn stages_that_fill_a_slow_node_are_one_delay() {
        let of = |factor: &dyn Fn(u32) -> f64| {
            let (job, stages, windows) = job(factor);
            slow_nodes((&job, NameTable::shipped()), &stages, &windows)
        };
        let (stages, node) = of(&|rank| if rank < 8 { 1.0 } else { 1.1 }).expect("a node");
        assert_eq!((stages, node.members.clone()), (vec![2, 3], (8..16).collect()));
        assert_eq!(node.of_rank(), Some(CauseClass::SlowChip));
        assert!((node.usual() * 1.1 - 1.0).abs() < 0.01, "{}", node.usual());
        // Half of a node, no node, and all of them.
        assert_eq!(of(&|rank| if rank < 12 { 1.0 } else { 1.1 }), None);
        assert_eq!(of(&|_| 1.0), None);
    }
}
