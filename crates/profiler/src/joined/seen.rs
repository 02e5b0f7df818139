//! Operations of groups, on their most active rank.
//!
//! Responsible for: the operations of a group with the phases that they belong to, computed only for
//! requested groups. Excludes their interpretation.

use crate::groups::{Call, GroupProfile};
use crate::matching::{Lane, Matching, Membership, Part};
use crate::phases::{host_phases, phases};
use crate::trace::GpuKind;
use crate::workers::Workers;
use crate::{Job, RankTrace};
use railwright_step::Phase;
use std::collections::{BTreeMap, BTreeSet};

/// The phases of one rank's rows.
struct PhasesOf {
    device: Vec<Phase>,
    host: Vec<Option<Phase>>,
    /// Kernels that compute, by start, with their phases.
    around: Vec<(i64, Phase)>,
}

impl PhasesOf {
    fn new(trace: &RankTrace, parts: &[Part]) -> Self {
        let launches = crate::launches::launches(trace, &trace.gpu);
        let device = phases(trace, &trace.gpu, &launches).gpu;
        let moved: BTreeSet<u32> =
            parts.iter().filter(|part| part.lane != Lane::Host).map(|part| part.row).collect();
        let rows = trace.gpu.iter().zip(&device).enumerate();
        let rows = rows.filter(|(at, (row, _))| {
            row.kind == GpuKind::Kernel && u32::try_from(*at).is_ok_and(|at| !moved.contains(&at))
        });
        let around = rows.map(|(_, (row, phase))| (row.start, *phase)).collect();
        Self { device, host: host_phases(trace), around }
    }

    /// Phase of a communication: its own, otherwise that of the previous compute.
    fn of(&self, part: &Part) -> Phase {
        let own = match part.lane {
            Lane::Stream(_) => self.device.get(part.row as usize).copied(),
            Lane::Host => self.host.get(part.row as usize).copied().flatten(),
        };
        if let Some(own) = own.filter(|own| *own != Phase::Other) {
            return own;
        }
        let after = self.around.partition_point(|(start, _)| *start <= part.start);
        after.checked_sub(1).map_or(Phase::Other, |before| self.around[before].1)
    }
}

/// Tests whether a name belongs to a mixture of experts: its layers, router, token exchange or grouped GEMMs.
pub(crate) fn speaks_of_experts(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let words = [
        "expert",
        "moe",
        "router",
        "topk_softmax",
        "grouped_gemm",
        "groupedgemm",
        "deep_ep",
        "permute_with_mask",
    ];
    words.iter().any(|word| lower.contains(word))
}

/// Observed operations of groups.
pub(super) struct Seen<'a> {
    job: &'a Job,
    matching: &'a Matching,
    /// By group: the most active member, with its parts.
    busiest: BTreeMap<u32, &'a Membership>,
    phases: BTreeMap<u32, PhasesOf>,
    steps: u32,
}

impl<'a> Seen<'a> {
    pub(super) fn new(job: &'a Job, matching: &'a Matching, workers: &impl Workers) -> Self {
        let mut busiest: BTreeMap<u32, &Membership> = BTreeMap::new();
        for communicator in &matching.communicators {
            let Some(group) = communicator.group else { continue };
            for member in &communicator.members {
                let known = busiest.entry(group.0).or_insert(member);
                if member.parts.len() > known.parts.len() {
                    *known = member;
                }
            }
        }
        Self {
            job,
            matching,
            busiest,
            phases: BTreeMap::new(),
            steps: crate::windows::recorded(job, matching, workers),
        }
    }

    pub(super) fn profile(&mut self, group: usize) -> GroupProfile {
        let Some(member) = u32::try_from(group).ok().and_then(|group| self.busiest.get(&group)) else {
            return GroupProfile::default();
        };
        let trace = &self.job.members[member.member as usize].trace;
        let parts = &self.matching.parts[member.member as usize];
        let phases = self.phases.entry(member.member).or_insert_with(|| PhasesOf::new(trace, parts));
        let call = |&at: &u32| {
            let part = &parts[at as usize];
            Call { operation: part.operation, bytes: part.bytes, start: part.start, phase: phases.of(part) }
        };
        let rows = || trace.gpu.starts().iter().zip(trace.gpu.ends());
        let hosts = || trace.host.iter().map(|row| (row.start, row.end));
        let over = |all: (i64, i64), row: (i64, i64)| (all.0.min(row.0), all.1.max(row.1));
        let device = rows().map(|(&start, &end)| (start, end)).reduce(over);
        let recorded = device.or_else(|| hosts().reduce(over)).unwrap_or_default();
        let experts = trace.names.iter().any(speaks_of_experts);
        GroupProfile { calls: member.parts.iter().map(call).collect(), recorded, steps: self.steps, experts }
    }
}
