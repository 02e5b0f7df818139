//! The collectives that one virtual stage makes for one micro batch, one by one, for tables and timelines.
//!
//! Responsible for: naming operation, bytes, group and count of what [`crate::layer`] and [`crate::stage`] price in sums, next to the
//! collectives of sharded weights, which [`crate::update`] lists; a test holds the times of the calls to those sums. Refuses to know what is exposed.

use crate::collectives::{Collective, CollectiveCost};
use crate::costing::Costing;
use crate::exchanges::Among;
use crate::layer::{context_widths, experts, tensor_halves};
use crate::local::{LocalParameters, layer_parameters, local_parameters};
use crate::stage::Chunk;
use crate::update::{self, Purpose};
use crate::work::Dimension;
use railwright_spec::model::{FeedForward, Layer};
use railwright_spec::plan::{ContextKind, Group};
use railwright_spec::quantity::{Bytes, Seconds};

/// Which of a chunk's four works a call belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Pass {
    Forward,
    BackwardInput,
    BackwardWeight,
    Recompute,
}

/// Collectives of one kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Call {
    pub dimension: Dimension,
    pub operation: Collective,
    /// Of one call, by nccl-tests' convention.
    pub bytes: Bytes,
    pub among: Among,
    pub group: Group,
    pub pass: Pass,
    /// How often; halves are half of an exchange.
    pub count: f64,
    /// Sustained over measured rate.
    pub rate: f64,
}

impl Call {
    /// What one call costs, at the measured rate.
    pub(crate) fn cost(&self, costing: &Costing<'_>) -> CollectiveCost {
        costing.machine.fabric.time(self.operation, self.bytes, &self.group, 1.0)
    }

    /// All calls together, at the sustained rate.
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
        among: Among,
        passes: &[(Pass, f64)],
    ) {
        let rate = self.costing.software.collective_rate;
        let (bytes, group) = (Bytes::new(bytes), among.group(&self.costing.layout));
        for &(pass, count) in passes {
            let call = Call { dimension, operation, bytes, among, group, pass, count, rate };
            self.push(call);
        }
    }

    fn push(&mut self, call: Call) {
        if call.count <= 0.0 || call.bytes.get() <= 0.0 || call.group.ranks <= 1 {
            return;
        }
        let same = |c: &&mut Call| {
            (c.dimension, c.operation, c.among, c.pass, c.bytes)
                == (call.dimension, call.operation, call.among, call.pass, call.bytes)
                && c.rate == call.rate
        };
        match self.list.iter_mut().find(same) {
            Some(known) => known.count += call.count,
            None => self.list.push(call),
        }
    }

    /// The exchange of a full-width activation that tensor parallelism cuts.
    fn exchange(&mut self, passes: &[(Pass, f64)]) {
        let costing = self.costing;
        let bytes = costing.tokens * costing.model.hidden_size as f64 * costing.activation_bytes;
        let among = Among::Tensor;
        if costing.plan.sequence_parallel {
            self.add(Dimension::Tensor, Collective::AllGather, bytes, among, passes);
            self.add(Dimension::Tensor, Collective::ReduceScatter, bytes, among, passes);
        } else {
            self.add(Dimension::Tensor, Collective::AllReduce, bytes, among, passes);
        }
    }

    fn layer(&mut self, layer: &Layer, times: f64) {
        let costing = self.costing;
        let plan = costing.plan;
        let both = |n: f64| [(Pass::Forward, n * times), (Pass::BackwardInput, n * times)];
        let h = costing.model.hidden_size as f64;
        let e = costing.activation_bytes;
        if plan.tensor_parallel > 1 {
            let halves = tensor_halves(costing, layer);
            self.exchange(&both(halves));
            if plan.sequence_parallel && costing.trains_weights() {
                let again = [(Pass::BackwardWeight, halves * times)];
                let bytes = costing.tokens * h * e;
                self.add(Dimension::Tensor, Collective::AllGather, bytes, Among::Tensor, &again);
            }
        }
        if plan.context_parallel > 1 {
            self.context(layer, times);
        }
        if let FeedForward::MixtureOfExperts(moe) = &layer.feed_forward {
            let capped = experts::load(plan);
            let copies = experts::source_tokens(costing) * moe.top_k as f64;
            let width = layer.expert_input_width().map_or(h, |width| width as f64);
            let operation = experts::dispatch(costing, moe);
            let bytes = copies * width * e * capped;
            // Dispatch and combine, each way.
            self.add(Dimension::Expert, operation, bytes, Among::Expert, &both(2.0));
            if plan.sequence_parallel {
                let held = copies * plan.expert_tensor_parallel as f64 * capped * width * e;
                let among = Among::ExpertTensor;
                self.add(Dimension::Tensor, Collective::AllGather, held, among, &both(1.0));
                self.add(Dimension::Tensor, Collective::ReduceScatter, held, among, &both(1.0));
            }
        }
        self.shard(layer_parameters(layer, plan), times);
    }

    fn context(&mut self, layer: &Layer, times: f64) {
        let costing = self.costing;
        let tp = costing.plan.tensor_parallel as f64;
        let cp = costing.plan.context_parallel as f64;
        let Some((query, key_value)) = context_widths(layer, tp) else { return };
        let e = costing.activation_bytes;
        let among = Among::Context;
        let whole = costing.tokens * cp * key_value * e;
        let (forward, backward) = (Pass::Forward, Pass::BackwardInput);
        let dimension = Dimension::Context;
        match costing.plan.context_kind {
            ContextKind::Ring => {
                let counts = [(forward, (cp - 1.0) * times), (backward, 2.0 * (cp - 1.0) * times)];
                self.add(dimension, Collective::SendReceive, whole / cp, among, &counts);
            }
            ContextKind::AllGather => {
                let counts = [(forward, times), (backward, times)];
                self.add(dimension, Collective::AllGather, whole, among, &counts);
                self.add(dimension, Collective::ReduceScatter, whole, among, &counts[1..]);
            }
            ContextKind::Ulysses => {
                let bytes = costing.tokens * (query + key_value) * e;
                let counts = [(forward, times), (backward, times)];
                self.add(dimension, Collective::AllToAll, bytes, among, &counts);
            }
        }
    }

    fn shard(&mut self, local: LocalParameters, times: f64) {
        let costing = self.costing;
        let plan = costing.plan;
        let again = if plan.sharding.reshard_after_forward { times } else { 0.0 };
        for collective in update::inside_passes(costing, local) {
            let passes = match collective.purpose {
                Purpose::Parameters => [(Pass::Forward, times), (Pass::BackwardInput, again)],
                _ => [(Pass::Forward, 0.0), (Pass::BackwardInput, times)],
            };
            let bytes = collective.bytes.get();
            self.add(Dimension::Shard, collective.operation, bytes, collective.among, &passes);
        }
    }

    /// Exchanges that a gather or a scatter is; without sequence parallelism it is a whole all-reduce.
    fn one_way(&self) -> f64 {
        if self.costing.plan.sequence_parallel { 0.5 } else { 1.0 }
    }

    fn head(&mut self) {
        if self.costing.plan.tensor_parallel <= 1 {
            return;
        }
        let one_way = self.one_way();
        self.exchange(&[(Pass::Forward, one_way), (Pass::BackwardInput, one_way)]);
        // Maximum, sum and target of the softmax, in fp32.
        self.push(Call {
            dimension: Dimension::Tensor,
            operation: Collective::AllReduce,
            bytes: Bytes::new(self.costing.tokens * 4.0),
            among: Among::Tensor,
            group: self.costing.layout.tensor,
            pass: Pass::Forward,
            count: 3.0,
            rate: self.costing.software.collective_rate,
        });
    }
}

/// The collectives of a virtual stage for one micro batch.
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
        if costing.plan.tensor_parallel > 1 {
            let one_way = calls.one_way();
            calls.exchange(&[(Pass::Forward, one_way)]);
        }
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
        let own_copy = model.tied_embeddings && costing.plan.pipeline_parallel > 1;
        let shared = if own_copy { &model.embedding[..] } else { &[] };
        let ends = model.head.iter().chain(&model.final_norm).chain(shared);
        calls.shard(local_parameters(ends, costing.plan), 1.0);
    }
    let cost = &chunks[index].cost;
    let forward: Vec<Call> = calls.list.iter().copied().filter(|c| c.pass == Pass::Forward).collect();
    for call in forward {
        let d = call.dimension as usize;
        let (whole, again) = (cost.forward.communication[d], cost.recompute.communication[d]);
        if again > Seconds::ZERO && whole > Seconds::ZERO {
            calls.push(Call { pass: Pass::Recompute, count: call.count * (again / whole), ..call });
        }
    }
    calls.list
}
