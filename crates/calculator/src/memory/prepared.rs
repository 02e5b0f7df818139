//! Fast path of memory for a search: layers are sized once, and many pipelines, recompute depths and
//! shardings are summed from them.
//!
//! Responsible for: a bit-identical [`Peak`] to [`super::peak`], from parts that are reused over plans.
//! Excludes plans whose stages differ in recompute.

use super::held::RankParameters;
use super::moment::Moment;
use super::parameters::{PerParameter, Shares, per_parameter};
use super::stages::{StageLayers, layout};
use super::sum::{Prepared, StageSum, finish, prepare_layers, worse};
use super::{MemoryInput, MemorySoftware, Peak, activations, in_flight};
use crate::partition;
use railwright_spec::cluster::Cluster;
use railwright_spec::model::Model;
use railwright_spec::plan::Plan;

/// Stages of a pipeline that can have the largest peak, with their layers and micro-batches in flight.
#[derive(Clone, Debug)]
pub struct StageLayout(Vec<OnStage>);

#[derive(Clone, Debug)]
struct OnStage {
    stage: usize,
    chunks: Vec<StageLayers>,
    alive: Vec<f64>,
}

impl StageLayout {
    /// Stages of a plan. Depends on parallel sizes, schedule, split and micro-batches.
    ///
    /// A stage with the layers of a previous one and no more micro-batches in flight needs no more, so it is
    /// excluded.
    pub fn new(model: &Model, cluster: &Cluster, plan: &Plan, software: &MemorySoftware) -> Self {
        let mut stages: Vec<OnStage> = Vec::new();
        for (stage, chunks) in layout(model, plan, software.stage_split).into_iter().enumerate() {
            let alive = (0..chunks.len()).map(|c| in_flight(plan, stage, c)).collect();
            let next = OnStage { stage, chunks, alive };
            // Stages on other devices have other memory.
            let is_mixed = !cluster.pools.is_empty();
            if is_mixed || stages.last().is_none_or(|known| !next.is_no_more(known, model)) {
                stages.push(next);
            }
        }
        Self(stages)
    }

    /// The stages by number, with their chunks.
    pub(super) fn stages(&self) -> impl Iterator<Item = (usize, &[StageLayers])> {
        self.0.iter().map(|on| (on.stage, on.chunks.as_slice()))
    }
}

impl OnStage {
    /// Tests whether a stage has the same layers as another and no more micro-batches in flight on any chunk.
    fn is_no_more(&self, known: &Self, model: &Model) -> bool {
        let layers = |c: &StageLayers| &model.layers[c.start..c.start + c.count];
        known.chunks.len() == self.chunks.len()
            && known
                .chunks
                .iter()
                .zip(&self.chunks)
                .all(|(a, b)| a.embedding == b.embedding && a.head == b.head && layers(a) == layers(b))
            && known.alive.iter().zip(&self.alive).all(|(a, b)| b <= a)
    }
}

/// Bytes per parameter under a sharding.
#[derive(Clone, Copy, Debug)]
pub struct ParameterBytes(PerParameter);

impl ParameterBytes {
    /// Bytes for a plan. Depends on sharding, precision and optimizer, and on two copies in the schedule.
    pub fn new(plan: &Plan, software: &MemorySoftware) -> Self {
        Self(per_parameter(plan, software))
    }

    pub(super) fn per(&self) -> &PerParameter {
        &self.0
    }

    /// Lower bound over several shardings: the minimum of each kind.
    #[must_use]
    pub fn least(self, other: Self) -> Self {
        let shares = |a: Shares, b: Shares| Shares {
            parameters: a.parameters.min(b.parameters),
            frozen: a.frozen.min(b.frozen),
            nf4: a.nf4.min(b.nf4),
            gradients: a.gradients.min(b.gradients),
            master: a.master.min(b.master),
            moments: a.moments.min(b.moments),
            bucket: a.bucket.min(b.bucket),
            casts: (a.parameters.min(b.parameters) - (a.parameters - a.casts).min(b.parameters - b.casts))
                .max(0.0),
            stepping: a.stepping.min(b.stepping),
        };
        let (a, b) = (self.0, other.0);
        Self(PerParameter {
            dense: shares(a.dense, b.dense),
            routed: shares(a.routed, b.routed),
            narrow: a.narrow.min(b.narrow),
            narrower: a.narrower.max(b.narrower),
        })
    }
}

/// Layers, head and embedding sized for one micro-batch and one recompute policy.
#[derive(Clone)]
pub struct PeakParts(Prepared);

impl PeakParts {
    /// Sizes the parts under the plan's policy. The stages are added per layout.
    pub fn new(input: &MemoryInput<'_>, held: &RankParameters) -> Self {
        Self(prepare_layers(input, held.clone(), Vec::new()))
    }

    /// The same parts under a different policy of the plan.
    #[must_use]
    pub fn recomputing(&self, input: &MemoryInput<'_>) -> Self {
        let mut parts = self.clone();
        for (kind, layer) in parts.0.kinds.iter_mut().zip(&input.model.layer_kinds) {
            kind.recomputed = activations::layer_bytes(&input.saving(&self.0.sizes), layer, true);
        }
        parts.0.recomputed_layers = partition::recomputed_layers(input.plan);
        parts
    }

    /// Lowers the parts to those under the plan's policy where these are less. Parts without recompute,
    /// lowered for several policies, give a lower bound on the peak under each of them on any number of
    /// layers.
    ///
    /// The peak only grows with the kept and the working memory of each layer. The plan of that peak must
    /// have full recompute, under which casts of weights end first.
    pub fn lower(&mut self, input: &MemoryInput<'_>) {
        let Prepared { kinds, sizes, .. } = &mut self.0;
        for (kind, layer) in kinds.iter_mut().zip(&input.model.layer_kinds) {
            let under = activations::layer_bytes(&input.saving(sizes), layer, true);
            for bytes in [&mut kind.plain, &mut kind.recomputed] {
                bytes.saved = bytes.saved.min(under.saved);
                bytes.working = bytes.working.min(under.working);
            }
        }
    }

    /// Sets the number of recomputed layers from the plan.
    pub fn set_layers(&mut self, plan: &Plan) {
        self.0.recomputed_layers = partition::recomputed_layers(plan);
    }

    /// The stages of a pipeline before sharding. `held` is of the same layout.
    pub fn unsharded(
        &self,
        input: &MemoryInput<'_>,
        layout: &StageLayout,
        held: &StageParameters,
    ) -> UnshardedStages {
        let stages = layout.0.iter().zip(&held.0).map(|(on, held)| {
            let mut sum = *held;
            sum.compute(input, &self.0, &on.chunks, &on.alive);
            (on.stage, sum)
        });
        UnshardedStages(stages.collect())
    }
}

/// Parameters of each stage of a layout before sharding: common to all micro-batches, recompute and
/// shardings.
#[derive(Clone, Debug)]
pub struct StageParameters(Vec<StageSum>);

/// Stages with their activations under one recompute and one micro-batch, before sharding: common to all
/// shardings.
#[derive(Clone, Debug)]
pub struct UnshardedStages(Vec<(usize, StageSum)>);

impl UnshardedStages {
    /// The worst stage's peak under a sharding.
    pub fn peak(&self, input: &MemoryInput<'_>, bytes: ParameterBytes) -> Peak {
        let mut worst = (0, (0.0, Moment::Backward));
        for (stage, unsharded) in &self.0 {
            let mut sum = *unsharded;
            sum.shard(input, bytes.per());
            worst = worse(input, worst, (*stage, sum.peak()));
        }
        finish(input, worst)
    }
}

impl RankParameters {
    /// Parameters on the stages of a layout.
    pub fn on(&self, model: &Model, software: &MemorySoftware, layout: &StageLayout) -> StageParameters {
        let of = |(_, chunks): (usize, &[StageLayers])| {
            let mut sum = StageSum::empty(software);
            sum.hold(self, model, chunks);
            sum
        };
        StageParameters(layout.stages().map(of).collect())
    }
}

/// Lower bound on a stage's memory, independent of its activations.
impl StageParameters {
    /// Need of the largest stage during the optimizer step: a lower bound on [`Peak`] under any recompute and
    /// micro-batch.
    pub fn step(&self, input: &MemoryInput<'_>, bytes: ParameterBytes, layout: &StageLayout) -> Peak {
        let mut worst = (0, (0.0, Moment::OptimizerStep));
        for ((stage, _), held) in layout.stages().zip(&self.0) {
            let mut sum = *held;
            sum.states(bytes.per());
            let moment = Moment::OptimizerStep;
            worst = worse(input, worst, (stage, (sum.at(moment), moment)));
        }
        finish(input, worst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{RankParameters, SoftwareCatalogue, peak, testing};
    use railwright_spec::plan::{Recompute, RecomputeModule, Schedule};
    use railwright_spec::quantity::Bytes;

    #[test]
    fn parts_add_up_to_the_peak_to_the_last_bit_and_their_least_is_below_every_policy() {
        let catalogue = SoftwareCatalogue::shared().expect("reads");
        let cluster = testing::cluster(80.0);
        let models = ["llama-3-8b", "deepseek-v3", "qwen3-30b-a3b", "gpt2", "gemma-2-9b"];
        let (mut checked, mut tight) = (0, 0);
        for (name, software) in models.iter().zip(
            ["megatron-core-2025", "megatron-lm-2022", "torchtitan-2024-eager", "nanotron-2024"]
                .iter()
                .cycle(),
        ) {
            let Ok(model) = railwright_spec::model::by_name(name) else { continue };
            let software = catalogue.get(software);
            for schedule in [
                Schedule::Gpipe,
                Schedule::OneForwardOneBackward,
                Schedule::ZbH2,
                Schedule::ZbV,
                Schedule::DualPipe,
            ] {
                for (pp, vp, zero) in [(1, 1, 1), (4, 1, 0), (4, 2, 3), (8, 1, 2)] {
                    let mut plan = testing::plan();
                    (plan.schedule, plan.pipeline_parallel, plan.virtual_stages) = (schedule, pp, vp);
                    plan.global_batch = 32;
                    (plan.sharding.zero_stage, plan.data_parallel) = (zero, 4);
                    let whole = MemoryInput {
                        model: &model,
                        cluster: &cluster,
                        plan: &plan.clone(),
                        software,
                        in_flight: None,
                    };
                    let parameters = RankParameters::new(&model, &plan);
                    let base = PeakParts::new(&whole, &parameters);
                    let stages = StageLayout::new(&model, &cluster, &plan, software);
                    let held = parameters.on(&model, software, &stages);
                    let modules = [
                        RecomputeModule::CoreAttention,
                        RecomputeModule::Activation,
                        RecomputeModule::Norm,
                        RecomputeModule::Mlp,
                    ];
                    let some = |modules: &[RecomputeModule]| Recompute::Selective {
                        modules: modules.iter().copied().collect(),
                        layers: None,
                    };
                    let policies = [
                        Recompute::None,
                        some(&modules[..1]),
                        some(&modules[..3]),
                        some(&modules[2..]),
                        Recompute::Full { layers: Some(2) },
                        Recompute::Full { layers: None },
                    ];
                    plan.recompute = Recompute::None;
                    let mut least = PeakParts::new(&MemoryInput { plan: &plan, ..whole }, &parameters);
                    for recompute in &policies {
                        plan.recompute = recompute.clone();
                        least.lower(&MemoryInput { plan: &plan, ..whole });
                    }
                    let input = MemoryInput { plan: &plan, ..whole };
                    let bytes = ParameterBytes::new(&plan, software);
                    let least = least.unsharded(&input, &stages, &held).peak(&input, bytes).allocated;
                    for recompute in policies {
                        plan.recompute = recompute;
                        let bound = peak(&MemoryInput { plan: &plan, ..whole }).allocated;
                        assert!(least <= bound * (1.0 + 1e-12), "{least:?} {bound:?} {name} {plan:?}");
                        tight += usize::from(least >= bound * 0.9);
                    }
                    for recompute in [
                        Recompute::None,
                        Recompute::Full { layers: Some(2) },
                        Recompute::Full { layers: None },
                    ] {
                        plan.recompute = recompute;
                        let whole = MemoryInput { plan: &plan, ..whole };
                        let mut parts = base.recomputing(&whole);
                        parts.set_layers(&plan);
                        let bytes = ParameterBytes::new(&plan, software);
                        let fast = parts.unsharded(&whole, &stages, &held).peak(&whole, bytes);
                        let slow = peak(&whole);
                        let least = held.step(&whole, bytes, &stages);
                        assert!(
                            least.allocated > Bytes::new(0.0) && least.allocated <= fast.allocated,
                            "{least:?} {fast:?}"
                        );
                        assert_eq!(
                            (fast.stage, fast.allocated),
                            (slow.stage, slow.allocated),
                            "{name} {plan:?}"
                        );
                        checked += 1;
                    }
                }
            }
        }
        assert!(checked > 100 && tight > 100, "{checked} {tight}");
    }
}
