//! Collectives of one virtual stage for one micro-batch, individually, for tables and timelines.
//!
//! Responsible for: summing the exchanges of [`crate::program`] and the collectives of sharded weights of
//! [`crate::update`] over the layers of a virtual stage. Excludes exposure.

use crate::collectives::{Collective, CollectiveCost};
use crate::costing::Costing;
use crate::exchanges::ProcessGroup;
use crate::layer::LayerCost;
use crate::local::{LocalParameters, layer_parameters, local_parameters};
use crate::program::{self, Exchange};
use crate::stage::{self, Chunk, Piece};
use crate::update::{self, Purpose};
use crate::work::Dimension;
use railwright_spec::model::Layer;
use railwright_spec::plan::Group;
use railwright_spec::quantity::{Bytes, Seconds};
use railwright_step::Phase;

/// Collectives of one kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Call {
    pub dimension: Dimension,
    pub operation: Collective,
    /// Bytes of one call, by nccl-tests' convention.
    pub bytes: Bytes,
    pub process_group: ProcessGroup,
    pub group: Group,
    /// `Forward`, `BackwardInput`, `BackwardWeight` or `Recompute`.
    pub phase: Phase,
    /// Number of calls; 0.5 is half of an exchange.
    pub count: f64,
    /// Sustained over burst rate.
    pub rate: f64,
}

impl Call {
    /// Cost of one call, at the burst rate.
    pub(crate) fn cost(&self, costing: &Costing<'_>) -> CollectiveCost {
        costing.machine.fabric.time(self.operation, self.bytes, &self.group, 1.0)
    }

    /// Time of all calls, at the sustained rate.
    pub(crate) fn time(&self, costing: &Costing<'_>) -> Seconds {
        self.cost(costing).time * (self.count / self.rate)
    }
}

struct Calls<'a, 'b> {
    costing: &'b Costing<'a>,
    list: Vec<Call>,
}

impl Calls<'_, '_> {
    fn add(
        &mut self,
        dimension: Dimension,
        operation: Collective,
        bytes: f64,
        process_group: ProcessGroup,
        passes: impl IntoIterator<Item = (Phase, f64)>,
    ) {
        let rate = self.costing.software.collective_rate;
        let (bytes, group) = (Bytes::new(bytes), process_group.group(&self.costing.layout));
        for (phase, count) in passes {
            let call = Call { dimension, operation, bytes, process_group, group, phase, count, rate };
            self.push(call);
        }
    }

    fn push(&mut self, call: Call) {
        if call.count <= 0.0 || call.bytes.get() <= 0.0 || call.group.ranks <= 1 {
            return;
        }
        let same = |c: &&mut Call| {
            (c.dimension, c.operation, c.process_group, c.phase, c.bytes)
                == (call.dimension, call.operation, call.process_group, call.phase, call.bytes)
                && c.rate == call.rate
        };
        match self.list.iter_mut().find(same) {
            Some(known) => known.count += call.count,
            None => self.list.push(call),
        }
    }

    fn exchange(&mut self, exchange: &Exchange, times: f64) {
        for operation in exchange.operations() {
            let turns = exchange.turns().map(|turn| (turn.phase, turn.count * times));
            self.add(exchange.dimension, operation, exchange.bytes.get(), exchange.process_group, turns);
        }
    }

    fn layer(&mut self, layer: &Layer, times: f64) {
        let costing = self.costing;
        program::exchanges(costing, layer, &mut |exchange| self.exchange(&exchange, times));
        self.shard(layer_parameters(layer, costing.plan), times);
    }

    fn shard(&mut self, local: LocalParameters, times: f64) {
        let costing = self.costing;
        let plan = costing.plan;
        let again = if plan.sharding.reshard_after_forward { times } else { 0.0 };
        for collective in update::inside_passes(costing, local) {
            let passes = match collective.purpose {
                Purpose::Parameters => [(Phase::Forward, times), (Phase::BackwardInput, again)],
                _ => [(Phase::Forward, 0.0), (Phase::BackwardInput, times)],
            };
            let bytes = collective.bytes.get();
            self.add(Dimension::Shard, collective.operation, bytes, collective.process_group, passes);
        }
    }

    /// Adds the forward collectives that recompute repeats.
    fn again(&mut self, cost: &LayerCost) {
        let forward: Vec<Call> = self.list.iter().copied().filter(|c| c.phase == Phase::Forward).collect();
        for call in forward {
            let d = call.dimension as usize;
            let (whole, again) = (cost.forward.communication[d], cost.recompute.communication[d]);
            if again > Seconds::ZERO && whole > Seconds::ZERO {
                self.push(Call { phase: Phase::Recompute, count: call.count * (again / whole), ..call });
            }
        }
    }

    fn head(&mut self) {
        program::head_exchanges(self.costing, &mut |exchange| self.exchange(&exchange, 1.0));
    }
}

/// The collectives of a virtual stage for one micro-batch.
pub(crate) fn of_chunk(costing: &Costing<'_>, chunks: &[Chunk], index: usize) -> Vec<Call> {
    let model = costing.model;
    let mut calls = Calls { costing, list: Vec::new() };
    let start: usize = chunks[..index].iter().map(|c| c.layers as usize).sum();
    let end = (start + chunks[index].layers as usize).min(model.layers.len());
    let here = model.layers.get(start..end).unwrap_or_default();
    for (kind, layer) in model.layer_kinds.iter().enumerate() {
        let times = here.iter().filter(|&&k| k == kind).count();
        calls.layer(layer, times as f64);
    }
    if index == 0 {
        program::embedding_exchanges(costing, &mut |exchange| calls.exchange(&exchange, 1.0));
        calls.shard(local_parameters(&model.embedding, costing.plan), 1.0);
    }
    if index + 1 == chunks.len() {
        if let Some(prediction) = &model.multi_token_prediction {
            for _ in 0..prediction.depth {
                calls.layer(&model.layer_kinds[prediction.layer_kind], 1.0);
                calls.head();
            }
        }
        calls.head();
        calls.shard(stage::head_parameters(costing), 1.0);
    }
    calls.again(&chunks[index].cost);
    calls.list
}

/// The collectives of a piece of a virtual stage with this cost, for one micro-batch.
pub(crate) fn of_piece(costing: &Costing<'_>, piece: Piece, cost: &LayerCost) -> Vec<Call> {
    let model = costing.model;
    let mut calls = Calls { costing, list: Vec::new() };
    match piece {
        Piece::Embedding => {
            program::embedding_exchanges(costing, &mut |exchange| calls.exchange(&exchange, 1.0));
            calls.shard(local_parameters(&model.embedding, costing.plan), 1.0);
        }
        Piece::Layer { kind, .. } => calls.layer(&model.layer_kinds[kind], 1.0),
        Piece::PredictionHead => calls.head(),
        Piece::Head => {
            calls.head();
            calls.shard(stage::head_parameters(costing), 1.0);
        }
    }
    calls.again(cost);
    calls.list
}
