//! Every kind of collective that the critical stage makes in a step: bytes, group, time, and what of it is exposed.

use super::breakdown::{dimension_id, runs_per_chunk, stage_work};
use super::calls::{self, Call, Pass};
use crate::collectives::{Collective, CollectiveCost, Source, bus_factor};
use crate::costing::Costing;
use crate::evaluate::{Evaluation, local_chunks, stage_parameters};
use crate::layer::LayerCost;
use crate::sharding::reductions_per_step;
use crate::work::Dimension;
use railwright_spec::plan::Group;
use railwright_spec::quantity::{Bytes, BytesPerSecond, Seconds};
use serde::Serialize;

/// Collectives of one kind, bytes and group.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CommunicationRow {
    /// `tensor`, `context`, `expert`, `shard`, `pipeline` or `data`.
    pub dimension: &'static str,
    /// What for, for people.
    pub title: String,
    /// `all_reduce`, `all_gather`, ...
    pub operation: &'static str,
    /// Bytes of one, by nccl-tests' convention.
    pub bytes: Bytes,
    /// Ranks of the group.
    pub ranks: u64,
    /// Scale-up domains that it spans.
    pub domains: u64,
    /// How often in a step; halves count halves of an exchange.
    pub count: f64,
    /// Time of one.
    pub time_each: Seconds,
    /// Time of all in a step, hidden or not.
    pub time: Seconds,
    /// What compute waits for; absent where the pipeline's bubble holds it.
    pub exposed: Option<Seconds>,
    /// Bus bandwidth, by nccl-tests' convention.
    pub bus_bandwidth: BytesPerSecond,
    /// What the library is taken to run.
    pub algorithm: &'static str,
    /// How well founded the time is.
    pub source: Source,
    /// Whether links of one domain or node join the group: a node's bus joins devices that are each a domain of their own.
    #[serde(skip)]
    pub is_joined: bool,
}

/// An operation's identifier, and its bus bandwidth over bytes per second (nccl-tests, PERFORMANCE.md).
pub(crate) fn operation(operation: Collective, ranks: u64) -> (&'static str, f64) {
    let name = match operation {
        Collective::AllReduce => "all_reduce",
        Collective::AllGather => "all_gather",
        Collective::ReduceScatter => "reduce_scatter",
        Collective::AllToAll => "all_to_all",
        Collective::ExpertDispatch { .. } => "expert_dispatch",
        Collective::Broadcast => "broadcast",
        Collective::SendReceive => "send_receive",
    };
    (name, bus_factor(operation, ranks.max(1) as f64))
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
    // Messages between neighbours know domains alone.
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
        bus_bandwidth: bus,
        algorithm: row.cost.algorithm,
        source: row.cost.source,
        is_joined,
    }
}

/// Exposed over all communication of a dimension in a step of the critical stage.
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
            let call = Call { pass: Pass::Forward, count: call.count * runs_per_chunk(costing), ..call };
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

/// Transfers between stages: each chunk of the stage sends its output on and its input's gradient back.
fn pipeline(costing: &Costing<'_>, evaluation: &Evaluation, rows: &mut Vec<CommunicationRow>) {
    let plan = costing.plan;
    if plan.pipeline_parallel <= 1 {
        return;
    }
    let last = evaluation.chunks.len() - 1;
    let sends: f64 = local_chunks(plan, evaluation.critical_stage)
        .into_iter()
        .map(|c| f64::from(u8::from(c > 0)) + f64::from(u8::from(c < last)))
        .sum();
    let h = costing.model.hidden_size as f64;
    let bytes = Bytes::new(costing.tokens * h * costing.activation_bytes / plan.tensor_parallel as f64);
    let group = costing.layout.pipeline;
    let count = sends * runs_per_chunk(costing);
    rows.push(row(
        costing,
        &Row {
            dimension: "pipeline",
            title: "stage to stage",
            operation: Collective::SendReceive,
            bytes,
            group,
            count,
            time: evaluation.transfer * count,
            exposed: None,
            cost: costing.machine.fabric.send(bytes, &group, 1.0),
        },
    ));
}

/// The reduction of gradients and the gathering of parameters around the optimizer step.
fn update(costing: &Costing<'_>, evaluation: &Evaluation, rows: &mut Vec<CommunicationRow>) {
    let plan = costing.plan;
    let stage = evaluation.critical_stage;
    let local = stage_parameters(costing, &evaluation.chunks);
    let (Some(update), Some(local)) = (evaluation.updates.get(stage), local.get(stage)) else { return };
    let sharded = plan.sharding.zero_stage >= 1 && plan.shard_group() > 1;
    let reduce = if sharded { Collective::ReduceScatter } else { Collective::AllReduce };
    let group = if sharded { costing.layout.shard } else { costing.layout.data };
    let mut push = |title, operation, element: f64, count, (time, exposed)| {
        if time > Seconds::ZERO {
            let bytes = Bytes::new(local.total() * element);
            let cost = costing.machine.fabric.time(operation, bytes, &group, 1.0);
            rows.push(row(
                costing,
                &Row {
                    dimension: "data",
                    title,
                    operation,
                    bytes,
                    group,
                    count,
                    time,
                    exposed: Some(exposed),
                    cost,
                },
            ));
        }
    };
    let wire = plan.precision.gradient_reduce.bytes();
    let count = reductions_per_step(costing, plan.micro_batches().max(1));
    push("gradients", reduce, wire, count, (update.gradient_reduce, update.gradient_exposed));
    let element = plan.precision.parameters.bytes();
    let parameters = (update.parameter_gather, update.parameter_exposed);
    push("parameters", Collective::AllGather, element, 1.0, parameters);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::costing::Machine;
    use crate::evaluate::evaluate;
    use railwright_spec::cluster;
    use railwright_spec::model::by_name;
    use railwright_spec::plan::Plan;

    /// Sharded gradients are reduced by every micro batch: so often is the row's count, and one is as fast as ZeRO-1's.
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
