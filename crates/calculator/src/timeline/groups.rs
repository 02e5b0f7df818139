//! Process groups of the ranks in a timeline, in global ranks.

use crate::collectives::Collective as Operation;
use crate::costing::Costing;
use crate::estimate::calls::Call;
use crate::exchanges::ProcessGroup;
use crate::partition::{rank_stride, stage_of};
use crate::update::UpdateCollective;
use railwright_spec::plan::Plan;
use railwright_spec::quantity::{Bytes, Rank};
use railwright_step::{Collective, CollectiveId, CollectiveKind, Step};
use std::collections::BTreeMap;

/// The displayed rank of the stage that runs a chunk's first micro-batch.
pub(super) fn first_rank(plan: &Plan, chunk: usize) -> u64 {
    stage_of(plan, chunk as u64, 0) * rank_stride(plan)
}

/// The description of one call: its span carries the bytes of all.
pub(super) fn of_call(
    step: &mut Step,
    costing: &Costing<'_>,
    call: &Call,
    base: u64,
) -> Option<CollectiveId> {
    collective(step, costing, (call.operation, call.process_group, call.bytes), base)
}

/// The description of one collective of the update: its span carries the bytes of all.
pub(super) fn of_update(
    step: &mut Step,
    costing: &Costing<'_>,
    one: &UpdateCollective,
    base: u64,
) -> Option<CollectiveId> {
    collective(step, costing, (one.operation, one.process_group, one.bytes), base)
}

/// A collective of the group with the first rank `base`. Groups within a stage are counted in the stage's own
/// numbering. Between its blocks of tensor and context ranks there may be other stages.
pub(super) fn collective(
    step: &mut Step,
    costing: &Costing<'_>,
    (operation, process_group, bytes): (Operation, ProcessGroup, Bytes),
    base: u64,
) -> Option<CollectiveId> {
    let plan = costing.plan;
    let block = rank_stride(plan);
    let members: Vec<u64> = if let ProcessGroup::Stages(offset) = process_group {
        let other = base.checked_add_signed(offset * block.cast_signed())?;
        vec![base.min(other), base.max(other)]
    } else {
        let (members, stride) = process_group.axis(plan, &costing.layout)?;
        let rank = |place: u64| base + place / block * (block * plan.pipeline_parallel) + place % block;
        (0..members).map(|i| rank(i * stride)).collect()
    };
    let ranks: Option<Vec<Rank>> = members.into_iter().map(|n| u32::try_from(n).ok().map(Rank)).collect();
    let group = step.group(&ranks?);
    Some(step.add_collective(Collective { kind: operation.into(), group, bytes, peer: None }))
}

/// Messages between stages, described once per pair of ranks.
pub(super) struct Messages {
    bytes: Bytes,
    known: BTreeMap<(usize, usize), (CollectiveId, CollectiveId)>,
}

impl Messages {
    pub(super) fn new(bytes: Bytes) -> Self {
        Self { bytes, known: BTreeMap::new() }
    }

    /// The two ends of a message between two displayed ranks, by index.
    pub(super) fn between(
        &mut self,
        step: &mut Step,
        from: usize,
        to: usize,
    ) -> (Option<CollectiveId>, Option<CollectiveId>) {
        if let Some(&(send, receive)) = self.known.get(&(from, to)) {
            return (Some(send), Some(receive));
        }
        let (Some(sender), Some(receiver)) = (step.ranks.get(from), step.ranks.get(to)) else {
            return (None, None);
        };
        let (sender, receiver) = (sender.rank, receiver.rank);
        let group = step.group(&[sender, receiver]);
        let bytes = self.bytes;
        let send = Collective { kind: CollectiveKind::Send, group, bytes, peer: Some(receiver) };
        let receive = Collective { kind: CollectiveKind::Receive, group, bytes, peer: Some(sender) };
        let ends = (step.add_collective(send), step.add_collective(receive));
        self.known.insert((from, to), ends);
        (Some(ends.0), Some(ends.1))
    }
}
