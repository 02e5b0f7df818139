//! Collectives of the critical stage in a step, by kind: bytes, group, total and exposed time.

use super::breakdown::{dimension_id, runs_per_chunk, stage_work};
use super::calls::{self, Call};
use crate::collectives::{Collective, CollectiveCost, Source, bus_factor};
use crate::costing::Costing;
use crate::evaluate::{Evaluation, local_chunks};
use crate::exchanges::{StageExchange, transfers};
use crate::layer::LayerCost;
use crate::transfer::{Gather, Transfer};
use crate::update;
use crate::work::Dimension;
use railwright_spec::plan::Group;
use railwright_spec::quantity::{Bytes, BytesPerSecond, Seconds};
use railwright_step::Phase;
use serde::Serialize;

/// Collectives of one kind, bytes and group.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CommunicationRow {
    /// `tensor`, `context`, `expert`, `shard`, `pipeline` or `data`.
    pub dimension: &'static str,
    /// Title of its purpose.
    pub title: String,
    /// `all_reduce`, `all_gather`, ...
    pub operation: &'static str,
    /// Bytes of one call, by nccl-tests' convention.
    pub bytes: Bytes,
    /// Ranks of the group.
    pub ranks: u64,
    /// Number of scale-up domains of the group.
    pub domains: u64,
    /// Calls per step; 0.5 is half of a collective.
    pub count: f64,
    /// Time of one call.
    pub time_each: Seconds,
    /// Time of all calls in a step, hidden or exposed.
    pub time: Seconds,
    /// Exposed time; absent if it is part of the pipeline bubble.
    pub exposed: Option<Seconds>,
    /// Lower and upper bound on the time of one call. `None` if measurements cover it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unmeasured: Option<[Seconds; 2]>,
    /// Bus bandwidth, by nccl-tests' convention.
    pub bus_bandwidth: BytesPerSecond,
    /// Assumed algorithm of the library.
    pub algorithm: &'static str,
    /// Evidence for the time.
    pub source: Source,
    /// True if links of one domain or node connect the group. A node's bus connects devices that are
    /// separate domains.
    #[serde(skip)]
    pub is_joined: bool,
}

/// Identifier of an operation, and its bus bandwidth over bytes per second (nccl-tests, PERFORMANCE.md).
pub(crate) fn operation(operation: Collective, ranks: u64) -> (&'static str, f64) {
    (operation.name(), bus_factor(operation, ranks.max(1) as f64))
}

struct Row<'a> {
    dimension: &'static str,
    title: &'a str,
    operation: Collective,
    bytes: Bytes,
    group: Group,
    count: f64,
    time: Seconds,
    exposed: Option<Seconds>,
    cost: CollectiveCost,
}

fn row(costing: &Costing<'_>, row: &Row<'_>) -> CommunicationRow {
    // Messages between neighbours use domains only.
    let is_message = row.operation == Collective::SendReceive;
    let is_joined = row.group.domains() <= 1 || !is_message && costing.machine.fabric.joins(&row.group);
    let (operation, factor) = operation(row.operation, row.group.ranks);
    let each = row.time / row.count.max(f64::MIN_POSITIVE);
    let bus = if each > Seconds::ZERO { row.bytes * factor / each } else { BytesPerSecond::ZERO };
    CommunicationRow {
        dimension: row.dimension,
        title: row.title.to_owned(),
        operation,
        bytes: row.bytes,
        ranks: row.group.ranks,
        domains: row.group.domains(),
        count: row.count,
        time_each: each,
        time: row.time,
        exposed: row.exposed,
        unmeasured: costing
            .machine
            .fabric
            .doubt(row.operation, row.bytes, &row.group)
            .map(|bounds| bounds.map(|multiple| each * multiple)),
        bus_bandwidth: bus,
        algorithm: row.cost.algorithm,
        source: row.cost.source,
        is_joined,
    }
}

/// Exposed share of all communication of a dimension in a step of the critical stage.
fn exposed_share(evaluation: &Evaluation, work: &LayerCost, dimension: Dimension) -> f64 {
    let d = dimension as usize;
    let works = [&work.forward, &work.backward_input, &work.backward_weight, &work.recompute];
    let all: Seconds = works.iter().map(|w| w.communication[d]).sum();
    let exposed = evaluation.time.exposed[d].1;
    if all > Seconds::ZERO { exposed / all } else { 0.0 }
}

/// The table of the critical stage, slowest first.
pub(super) fn table(costing: &Costing<'_>, evaluation: &Evaluation) -> Vec<CommunicationRow> {
    let stage = evaluation.critical_stage;
    let work = stage_work(costing, evaluation, stage);
    let mut merged: Vec<Call> = Vec::new();
    for index in local_chunks(costing.plan, stage) {
        for call in calls::of_chunk(costing, &evaluation.chunks, index) {
            let call = Call { phase: Phase::Forward, count: call.count * runs_per_chunk(costing), ..call };
            let key = |c: &Call| (c.dimension, c.operation, c.group);
            let same = |c: &&mut Call| key(c) == key(&call) && c.bytes == call.bytes && c.rate == call.rate;
            match merged.iter_mut().find(same) {
                Some(known) => known.count += call.count,
                None => merged.push(call),
            }
        }
    }
    let mut rows: Vec<CommunicationRow> = merged
        .iter()
        .map(|call| {
            let (dimension, title) = dimension_id(call.dimension);
            let time = call.time(costing);
            row(
                costing,
                &Row {
                    dimension,
                    title,
                    operation: call.operation,
                    bytes: call.bytes,
                    group: call.group,
                    count: call.count,
                    time,
                    exposed: Some(time * exposed_share(evaluation, &work, call.dimension)),
                    cost: call.cost(costing),
                },
            )
        })
        .collect();
    pipeline(costing, evaluation, &mut rows);
    update(costing, evaluation, &mut rows);
    rows.sort_by(|a, b| b.time.get().total_cmp(&a.time.get()));
    rows
}

/// Transfers between stages: the messages that the stage sends, and its tensor ranks' gathers of received
/// ones. Together they take the pipeline's time of each transfer. Host launches are part of a message.
fn pipeline(costing: &Costing<'_>, evaluation: &Evaluation, rows: &mut Vec<CommunicationRow>) {
    let Some(transfer) = Transfer::new(costing) else { return };
    let mut all: Vec<StageExchange> = Vec::new();
    transfers(costing, evaluation, evaluation.critical_stage, &mut |exchange| match all
        .iter_mut()
        .find(|known| known.operation == exchange.operation)
    {
        Some(known) => known.count += exchange.count,
        None => all.push(exchange),
    });
    for exchange in &all {
        // A message has two ends, in one domain or in two.
        let between = costing.layout.pipeline;
        let near = if between.is_inside_domain() { 2 } else { 1 };
        let ends = Group { ranks: 2, per_domain: near, least: near, ..between };
        let (group, cost, each) =
            match transfer.gather.filter(|_| exchange.process_group == Gather::PROCESS_GROUP) {
                Some(gather) => (costing.layout.tensor, gather.cost, gather.time),
                None => (ends, transfer.message_cost, evaluation.transfer - transfer.gather_time()),
            };
        rows.push(row(
            costing,
            &Row {
                dimension: "pipeline",
                title: "stage to stage",
                operation: exchange.operation,
                bytes: exchange.bytes,
                group,
                count: exchange.count,
                time: each * exchange.count,
                exposed: None,
                cost,
            },
        ));
    }
}

/// The reduction of gradients and the gathering of parameters around the optimizer step.
fn update(costing: &Costing<'_>, evaluation: &Evaluation, rows: &mut Vec<CommunicationRow>) {
    let stage = evaluation.critical_stage;
    for priced in update::of_stage(costing, evaluation, stage) {
        let collective = priced.collective;
        let title = collective.title();
        rows.push(row(
            costing,
            &Row {
                dimension: "data",
                title: &title,
                operation: collective.operation,
                bytes: collective.bytes,
                group: collective.group,
                count: collective.count,
                time: priced.time,
                exposed: Some(priced.exposed),
                cost: priced.cost,
            },
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::costing::Machine;
    use crate::evaluate::evaluate;
    use railwright_spec::cluster;
    use railwright_spec::model::by_name;
    use railwright_spec::plan::Plan;

    /// Every micro-batch reduces sharded gradients: the row counts all reductions, each as fast as ZeRO-1's.
    #[test]
    fn sharded_gradients_count_every_reduction() {
        let model = by_name("llama-3-8b").expect("in the catalogue");
        let cluster = cluster::by_name("dgx-h100", 64).expect("a preset");
        let row = |zero_stage| {
            let mut plan = Plan::default_for(&model, &cluster).expect("possible");
            plan.sharding.zero_stage = zero_stage;
            let machine = Machine::new(&cluster);
            let costing = Costing::new(&model, &cluster, &plan, &machine).expect("known software");
            let evaluation = evaluate(&costing).expect("possible");
            let mut rows = Vec::new();
            update(&costing, &evaluation, &mut rows);
            let row = rows.into_iter().find(|row| row.title == "gradients").expect("replicas reduce");
            (row, plan.micro_batches())
        };
        let (once, _) = row(1);
        let (each, micro_batches) = row(2);
        assert!(micro_batches > 1);
        assert!((once.count - 1.0).abs() < 1e-9);
        assert!((each.count - micro_batches as f64).abs() < 1e-9, "{}", each.count);
        assert!((each.bus_bandwidth.get() / once.bus_bandwidth.get() - 1.0).abs() < 1e-9);
    }
}
