//! Exchanges of the ranks of every stage in a step: operation, bytes, group, count.
//!
//! Responsible for: each exchange once, with all stages that take part in the same one. A test compares every
//! stage's with the estimate's table and the timeline's spans. Excludes durations, and the placement of a
//! group's ranks on a machine.

mod exchange;
mod passes;
mod process_group;
#[cfg(test)]
mod tests;
mod update;

pub use exchange::StageExchange;
pub(crate) use passes::transfers;
pub use process_group::ProcessGroup;

use crate::costing::Costing;
use crate::evaluate::Evaluation;
use railwright_spec::quantity::Bytes;

/// Exchanges of a stage's ranks in one run of one of its chunks: the collectives of its passes, without
/// messages between stages.
pub fn of_chunk(
    costing: &Costing<'_>,
    evaluation: &Evaluation,
    stage: usize,
    chunk: usize,
) -> Vec<StageExchange> {
    passes::of_chunk(costing, evaluation, stage, chunk, 1.0)
}

/// All exchanges of a step, in the order of the stages that begin them.
pub fn of_step(costing: &Costing<'_>, evaluation: &Evaluation) -> Vec<StageExchange> {
    let mut all: Vec<StageExchange> = Vec::new();
    for stage in 0..costing.plan.pipeline_parallel as usize {
        let mut own: Vec<StageExchange> = Vec::new();
        let mut add = |exchange: StageExchange| {
            if exchange.count > 0.0 && exchange.bytes > Bytes::ZERO {
                match own.iter_mut().find(|known| known.is_like(&exchange)) {
                    Some(known) => known.count += exchange.count,
                    None => own.push(exchange),
                }
            }
        };
        passes::collectives(costing, evaluation, stage, &mut add);
        passes::transfers(costing, evaluation, stage, &mut add);
        update::exchanges(costing, evaluation, stage, &mut add);
        for exchange in own {
            let same = |known: &&mut StageExchange| known.is_like(&exchange) && known.count == exchange.count;
            match all.iter_mut().find(same) {
                Some(known) => known.stages.extend(&exchange.stages),
                None => all.push(exchange),
            }
        }
    }
    all
}
