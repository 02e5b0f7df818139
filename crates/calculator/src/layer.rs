//! Cost of one layer on one rank for one micro-batch: forward, both halves of backward, and recompute.
//!
//! Responsible for: summing the prices of the operations of `program`, by phase. Independent of the contents
//! of a layer and of its place in the pipeline. Start at [`LayerCost::new`].

mod price;
mod recompute;

pub(crate) use price::spread;
pub use recompute::Kept;
pub(crate) use recompute::Launches;

use crate::costing::Costing;
use crate::program::{self, Exchange, Operation};
use crate::work::{Dimension, Family, Work};
use railwright_spec::model::Layer;
use railwright_spec::plan::Recompute;
use railwright_spec::quantity::Seconds;
use railwright_step::Phase;

/// The costs of a layer.
#[derive(Clone, Copy, Debug, Default)]
pub struct LayerCost {
    /// Forward.
    pub forward: Work,
    /// Backward pass: gradients of inputs.
    pub backward_input: Work,
    /// Backward pass: gradients of weights.
    pub backward_weight: Work,
    /// Recompute before the backward pass.
    pub recompute: Work,
    /// Forward operators that the framework's recompute leaves out.
    pub kept: Kept,
    /// Kernel launches of the forward pass, which recompute of a part repeats.
    pub(crate) launches: Launches,
}

impl LayerCost {
    /// Prices a layer under the plan's recompute.
    pub fn new(costing: &Costing<'_>, layer: &Layer) -> Self {
        Self::kept(costing, layer).recomputing(&costing.plan.recompute, layer)
    }

    /// The same layer under a different policy.
    ///
    /// Exchanges of experts hide under passes of another micro-batch, which Megatron-Core excludes for layers
    /// that send their tokens again in recompute (transformer_config.py, `overlap_moe_expert_parallel_comm`).
    #[must_use]
    pub fn recomputing(mut self, policy: &Recompute, layer: &Layer) -> Self {
        if recompute::sends_again(policy) {
            for work in [&mut self.forward, &mut self.backward_input] {
                work.expose(Dimension::Expert);
            }
        }
        self.recompute = recompute::of(policy, layer, (&self.forward, &self.launches), self.kept);
        self
    }

    /// Prices a layer without recompute.
    pub fn kept(costing: &Costing<'_>, layer: &Layer) -> Self {
        let kept = Kept {
            last_gemm: costing.software.skips_last_gemm,
            rest: costing.software.stops_recompute_early,
            no_gemm: costing.plan.recomputes_products(),
            no_exchange: costing.software.recomputes_exchange,
        };
        let mut cost = Self { kept, ..Self::default() };
        program::operations(costing, layer, &mut |operation| cost.add_operation(costing, &operation));
        program::exchanges(costing, layer, &mut |exchange| cost.add_exchange(costing, &exchange));
        // Modules run once forward and once backward.
        let modules = Seconds::from_micros(costing.software.host_us_per_layer);
        cost.forward.host += modules;
        cost.backward_input.host += modules;
        cost
    }

    /// Time of one operation on the device, at the sustained rate.
    pub(crate) fn time_of(costing: &Costing<'_>, operation: &Operation<'_>) -> Seconds {
        let (cost, rate) = price::operation(costing, operation);
        cost.time / rate
    }

    /// The work of a phase of the step. For an undivided backward pass, that of the gradients of inputs.
    pub(crate) const fn phase(&self, phase: Phase) -> &Work {
        match phase {
            Phase::Backward | Phase::BackwardInput => &self.backward_input,
            Phase::BackwardWeight => &self.backward_weight,
            Phase::Recompute => &self.recompute,
            _ => &self.forward,
        }
    }

    /// Adds the cost of an operation.
    pub(crate) fn add_operation(&mut self, costing: &Costing<'_>, operation: &Operation<'_>) {
        let (cost, rate) = price::operation(costing, operation);
        let work = self.phase_mut(operation.phase);
        work.add_compute(operation.family, cost, rate, operation.launches);
        if operation.host_us > 0.0 {
            work.host += Seconds::from_micros(operation.host_us);
            if operation.family == Family::Experts {
                work.looped += Seconds::from_micros(operation.host_us);
            }
        }
        if operation.phase == Phase::Forward {
            self.launches.families[operation.family as usize] += operation.launches;
        }
    }

    /// Adds the cost of an exchange, after the operations that may hide it.
    pub(crate) fn add_exchange(&mut self, costing: &Costing<'_>, exchange: &Exchange) {
        let each = price::time(costing, exchange);
        for turn in exchange.turns() {
            let work = self.phase_mut(turn.phase);
            let time = each * turn.count;
            let share = price::exposed(exchange, work, time, costing.software.overlap_slowdown);
            work.add_communication(exchange.dimension, time, share);
            work.tensor_collectives += turn.stalls;
            work.launches += turn.launches - 1.0;
            if turn.phase == Phase::Forward {
                self.launches.dimensions[exchange.dimension as usize] += turn.launches;
            }
        }
    }

    /// The work of a phase.
    const fn phase_mut(&mut self, phase: Phase) -> &mut Work {
        match phase {
            Phase::BackwardInput => &mut self.backward_input,
            Phase::BackwardWeight => &mut self.backward_weight,
            Phase::Recompute => &mut self.recompute,
            _ => &mut self.forward,
        }
    }

    /// Adds another layer's costs, multiplied by `times`.
    pub fn add(&mut self, other: &Self, times: f64) {
        self.forward += &other.forward.scaled(times);
        self.backward_input += &other.backward_input.scaled(times);
        self.backward_weight += &other.backward_weight.scaled(times);
        self.recompute += &other.recompute.scaled(times);
    }
}
