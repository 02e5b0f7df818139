//! Parts of the passes of each virtual stage: by families of operators, or layer by layer.
//!
//! Responsible for: the selection, and rejecting timelines too large to open. Excludes the times of passes.

use super::detail::Depth;
use super::maker::{KINDS, Maker, Sequence, kinds, too_many, work};
use super::{groups, layers};
use crate::costing::Costing;
use crate::estimate::calls::{self, Call};
use crate::evaluate::Evaluation;
use crate::partition::stage_of;
use crate::schedule::{OperationKind, PipelineTimeline};
use crate::stage::ByKind;
use crate::work::Family;
use railwright_spec::problem::{Problem, Wanted};
use railwright_spec::quantity::Seconds;
use railwright_step::Step;
use railwright_step::build::Part;

/// Maximum number of spans: 120 bytes each, and a trace of half a gigabyte.
const MOST_SPANS: usize = 2_000_000;

/// The parts of every kind of pass of every virtual stage.
pub(super) struct Parts {
    chunks: Vec<[Vec<Part>; KINDS]>,
}

impl Parts {
    /// Parts of an evaluated step. Fails if the number of spans is too large.
    pub(super) fn new(
        step: &mut Step,
        costing: &Costing<'_>,
        evaluation: &Evaluation,
        depth: Depth,
        simulated: &PipelineTimeline,
        wanted: Wanted<'_>,
    ) -> Result<Self, Problem> {
        let count = evaluation.chunks.len();
        if depth == Depth::Passes {
            return Ok(Self { chunks: vec![Default::default(); count] });
        }
        if depth == Depth::Layers {
            layers::check(costing)?;
        }
        // Virtual stages on devices of a different kind have their own prices.
        let by_kind = ByKind::new(costing);
        let mut maker = Maker::new(step, costing);
        let mut chunks = Vec::with_capacity(count);
        for chunk in 0..count {
            wanted()?;
            maker.lead(groups::first_rank(costing.plan, chunk));
            let stage = stage_of(costing.plan, chunk as u64, 0) as usize;
            maker.costing = by_kind.as_ref().and_then(|by_kind| by_kind.slowest(stage)).unwrap_or(costing);
            chunks.push(match depth {
                Depth::Layers => layers::of_chunk(&mut maker, evaluation, chunk),
                _ => of_chunk(&mut maker, evaluation, chunk),
            });
        }
        let parts = Self { chunks };
        let passes = simulated.stages.iter().flatten();
        let spans: usize =
            passes.map(|pass| parts.of(pass.operation.chunk as usize, pass.operation.kind).len()).sum();
        if spans > MOST_SPANS { Err(too_many(spans)) } else { Ok(parts) }
    }

    /// Parts of one kind of pass of a virtual stage. If empty, the pass is one span.
    pub(super) fn of(&self, chunk: usize, kind: OperationKind) -> &[Part] {
        self.chunks.get(chunk).map_or(&[], |kinds| &kinds[kind as usize])
    }
}

/// Families of operators, followed by exposed communication.
fn of_chunk(maker: &mut Maker<'_, '_>, evaluation: &Evaluation, chunk: usize) -> [Vec<Part>; KINDS] {
    let all = calls::of_chunk(maker.costing, &evaluation.chunks, chunk);
    let cost = &evaluation.chunks[chunk].cost;
    kinds(evaluation, chunk).map(|(phases, whole, sequence)| {
        let work = work(cost, phases);
        let own: Vec<Call> = all.iter().filter(|call| phases.contains(&call.phase)).copied().collect();
        let (mut list, exposed) = maker.communication(&work, &own, whole);
        let mut families = Family::ALL;
        if sequence == Sequence::Back {
            families.reverse();
        }
        for family in families {
            let time = work.compute[family as usize];
            if time > Seconds::ZERO {
                list.push(maker.compute(family, family.label(), time));
            }
        }
        list.extend(exposed.into_iter().map(|(_, part)| part));
        list.extend(maker.offload(&work));
        list.extend(maker.host(&work, whole));
        list
    })
}
