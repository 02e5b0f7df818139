//! Memory independent of the batch: parameters, gradients, optimizer states, and the buffers that gather
//! them.
//!
//! Responsible for: bytes per parameter under every kind of sharding. Excludes activations.

use super::software::MemorySoftware;
use crate::partition::padded_vocabulary;
use railwright_spec::model::{Cut, Layer, Model, Module, Usage, Weight};
use railwright_spec::plan::{NF4_BYTES, Optimizer, Plan};

/// Parameters of a part of the model on one rank before data-parallel sharding.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Held {
    /// Trained parameters that are sharded over data-parallel ranks.
    pub dense: f64,
    /// Trained parameters of routed experts, sharded over replicas of the expert.
    pub routed: f64,
    /// Frozen parameters that correspond to `dense`.
    pub frozen_dense: f64,
    /// Frozen parameters that correspond to `routed`.
    pub frozen_routed: f64,
    /// Frozen parameters in four bits that correspond to `dense`, not part of `frozen_dense`.
    pub nf4_dense: f64,
    /// Frozen parameters in four bits that correspond to `routed`.
    pub nf4_routed: f64,
    /// Weights of the model's own GEMMs.
    pub matmul: f64,
}

impl Held {
    pub(crate) fn total(self) -> f64 {
        self.trained() + self.frozen_dense + self.frozen_routed + self.nf4_dense + self.nf4_routed
    }

    pub(crate) fn trained(self) -> f64 {
        self.dense + self.routed
    }

    pub(crate) fn add(&mut self, other: Self, times: f64) {
        self.dense += other.dense * times;
        self.routed += other.routed * times;
        self.frozen_dense += other.frozen_dense * times;
        self.frozen_routed += other.frozen_routed * times;
        self.nf4_dense += other.nf4_dense * times;
        self.nf4_routed += other.nf4_routed * times;
        self.matmul += other.matmul * times;
    }
}

/// Rows of the vocabulary on one rank.
fn vocabulary_rows(model: &Model, plan: &Plan) -> f64 {
    padded_vocabulary(model.vocabulary, plan) / plan.tensor_parallel.max(1) as f64
}

/// Parameters of a weight on one rank.
pub(crate) fn held(weight: &Weight, model: &Model, plan: &Plan) -> f64 {
    let tp = plan.tensor_parallel.max(1) as f64;
    let (rows, columns, copies) = (weight.rows as f64, weight.columns as f64, weight.copies as f64);
    if weight.is_routed() {
        let cut = plan.expert_parallel.max(1) as f64 * plan.expert_tensor_parallel.max(1) as f64;
        return rows * columns * copies / cut;
    }
    match weight.cut {
        Cut::Replicated => rows * columns * copies,
        Cut::Column | Cut::Row => rows * columns * copies / tp,
        Cut::Heads(parts) => rows * columns * copies / tp.min(parts.max(1) as f64),
        Cut::Vocabulary => {
            let padded =
                if weight.rows == model.vocabulary { vocabulary_rows(model, plan) } else { rows / tp };
            padded * columns * copies
        }
    }
}

fn collect<'a>(weights: impl IntoIterator<Item = &'a Weight>, model: &Model, plan: &Plan) -> Held {
    let mut sum = Held::default();
    let is_frozen = plan.optimizer == Optimizer::Lora;
    for weight in weights {
        let n = held(weight, model, plan);
        let in_nf4 = plan.holds_in_nf4(weight);
        let slot = match (weight.is_routed(), is_frozen) {
            (false, false) => &mut sum.dense,
            (true, false) => &mut sum.routed,
            (false, true) if in_nf4 => &mut sum.nf4_dense,
            (true, true) if in_nf4 => &mut sum.nf4_routed,
            (false, true) => &mut sum.frozen_dense,
            (true, true) => &mut sum.frozen_routed,
        };
        *slot += n;
        if !in_nf4 && matches!(weight.usage, Usage::Matmul { .. }) {
            sum.matmul += n;
        }
    }
    sum
}

/// One layer's parameters on one rank, adapters included.
pub(crate) fn layer(layer: &Layer, model: &Model, plan: &Plan) -> Held {
    let mut sum = collect(&layer.weights, model, plan);
    adapters(layer, |_| true, model, plan, &mut sum);
    sum
}

/// One layer's parameters of one module, adapters included.
pub(crate) fn module(layer: &Layer, module: Module, model: &Model, plan: &Plan) -> Held {
    let mut sum = collect(layer.weights.iter().filter(|w| w.module == module), model, plan);
    adapters(layer, |of| of == module, model, plan, &mut sum);
    sum
}

/// Adds the adapters of some modules of a layer. They are trained, and never kept in a narrow format.
fn adapters(layer: &Layer, is_of: impl Fn(Module) -> bool, model: &Model, plan: &Plan, sum: &mut Held) {
    let Some(lora) = plan.adapters() else { return };
    for adapter in lora.adapters(layer).iter().filter(|adapter| is_of(adapter.a.module)) {
        let slot = if adapter.a.is_routed() { &mut sum.routed } else { &mut sum.dense };
        *slot += held(&adapter.a, model, plan) + held(&adapter.b, model, plan);
    }
}

/// Embedding weights on one rank.
pub(crate) fn embedding(model: &Model, plan: &Plan) -> Held {
    collect(&model.embedding, model, plan)
}

/// Head and final norm on one rank. A tied head repeats the word embedding unless the embedding is on the
/// same stage.
pub(crate) fn head(model: &Model, plan: &Plan, with_embedding: bool) -> Held {
    let mut sum = collect(model.final_norm.iter().chain(&model.head), model, plan);
    if model.tied_embeddings && !with_embedding {
        let word = model.embedding.iter().filter(|w| matches!(w.cut, Cut::Vocabulary));
        sum.add(collect(word, model, plan), 1.0);
    }
    if let Some(mtp) = &model.multi_token_prediction {
        sum.add(collect(&mtp.weights, model, plan), mtp.depth as f64);
        if let Some(kind) = model.layer_kinds.get(mtp.layer_kind) {
            sum.add(layer(kind, model, plan), mtp.depth as f64);
        }
    }
    sum
}

/// Bytes per parameter of every kind, for dense and routed ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PerParameter {
    /// Bytes per dense parameter.
    pub dense: Shares,
    /// Bytes per parameter of routed experts.
    pub routed: Shares,
    /// Bytes of narrow copies per GEMM weight.
    pub narrow: f64,
    /// Bytes saved per GEMM weight if only the narrow format is kept.
    pub narrower: f64,
}

impl PerParameter {
    /// Bytes of the weights that the forward pass reads.
    pub(crate) fn parameters(&self, held: Held) -> f64 {
        let wide = held.dense * self.dense.parameters + held.routed * self.routed.parameters;
        wide + self.frozen(held) - held.matmul * self.narrower
    }

    /// Bytes of frozen weights.
    pub(crate) fn frozen(&self, held: Held) -> f64 {
        held.frozen_dense * self.dense.frozen
            + held.frozen_routed * self.routed.frozen
            + held.nf4_dense * self.dense.nf4
            + held.nf4_routed * self.routed.nf4
    }
}

/// Bytes per parameter by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Shares {
    pub parameters: f64,
    /// A frozen parameter.
    pub frozen: f64,
    /// A frozen parameter in four bits.
    pub nf4: f64,
    pub gradients: f64,
    pub master: f64,
    pub moments: f64,
    pub bucket: f64,
    /// Part of `parameters` that exists only from the forward to the backward pass: casts of fp32 weights.
    pub casts: f64,
    /// Only during the optimizer step.
    pub stepping: f64,
}

/// Bytes per parameter under a plan (ZeRO, Rajbhandari 2020: 2 + 2 + 12 bytes, of which stage 1 shards the
/// 12, stage 2 also the gradients, stage 3 all).
///
/// On one rank nothing is shared, and stages 1 and 2 need what stage 0 does, with one exception.
/// `optimizer_extra` belongs to the optimizer that a stage selects, not to the sharding: DeepSpeed's ZeRO-1
/// keeps fp32 gradients on one rank too. Six published runs at data-parallel size 1 are predicted 1 to 4% too
/// low with them and 19 to 21% without. Stage 3 differs as well: layers are still gathered one at a time,
/// in the compute format.
pub(crate) fn per_parameter(plan: &Plan, software: &MemorySoftware) -> PerParameter {
    let copies = copies_in_pipeline(plan);
    let dense = shares(plan, software, plan.shard_group() as f64, copies);
    let routed = shares(plan, software, routed_shard_group(plan), copies);
    let precision = &plan.precision;
    let narrow = if precision.compute.is_narrow() { software.narrow_weight_bytes } else { 0.0 };
    // A frozen weight has no optimizer step and needs no wide copy.
    let frozen = plan.optimizer == Optimizer::Lora && plan.sharding.zero_stage < 3;
    let narrower = if frozen && precision.compute.is_narrow() {
        let device = 1.0 - plan.offload.parameters.clamp(0.0, 1.0);
        (precision.parameters.bytes() - precision.compute.bytes()).max(0.0) * device
    } else {
        0.0
    };
    PerParameter { dense, routed, narrow, narrower }
}

/// Copies of every parameter along one pipeline. If micro-batches enter at both ends, each parameter is on a
/// stage and on its mirror image (DeepSeek-V3 report, table 2). ZeRO then shards over both.
fn copies_in_pipeline(plan: &Plan) -> f64 {
    plan.schedule.copies(plan.pipeline_parallel) as f64
}

/// Ranks that share one copy of an expert: all its replicas, limited by hybrid sharding.
pub(crate) fn routed_shard_group(plan: &Plan) -> f64 {
    if plan.sharding.zero_stage == 0 {
        return 1.0;
    }
    let replicas = plan.expert_data_parallel();
    let all = (plan.data_parallel * plan.context_parallel).max(1);
    let hybrid = (all / plan.shard_group().max(1)).max(1);
    (replicas / hybrid).max(1) as f64
}

/// Bytes of the optimizer's moments per trained parameter.
pub(crate) fn moment_bytes(plan: &Plan) -> f64 {
    let moment = plan.precision.moments.bytes();
    match plan.optimizer {
        Optimizer::Adam | Optimizer::Lora => 2.0 * moment,
        Optimizer::Sgd | Optimizer::Lion | Optimizer::Muon => moment,
        // Row and column sums: negligible relative to the matrix.
        Optimizer::Adafactor => 0.0,
    }
}

fn shares(plan: &Plan, software: &MemorySoftware, group: f64, copies: f64) -> Shares {
    let stage = plan.sharding.zero_stage;
    let cut = |from: u8| if stage >= from { group.max(1.0) * copies } else { 1.0 };
    let precision = &plan.precision;
    let master = precision.master.map_or(0.0, railwright_spec::precision::DataType::bytes);
    let moments = moment_bytes(plan);
    let device = 1.0 - plan.offload.optimizer.clamp(0.0, 1.0);
    let keeps_shard = stage < 3 || master == 0.0 || software.keeps_low_precision_shard;
    let replicated = plan.data_parallel * plan.context_parallel > 1 && stage < 3;
    let copied = if stage == 0 && software.copies_gradients { precision.gradients.bytes() } else { 0.0 };
    let kept = 1.0 - plan.offload.parameters.clamp(0.0, 1.0);
    let accumulates_whole =
        !plan.holds_gradient_shards() || (software.whole_gradients && plan.micro_batches() > 1);
    let is_shared = stage > 0 && group > 1.0;
    let is_cast = software.casts_weights && stage < 3 && !is_shared && master > 0.0;
    let parameters = if keeps_shard { precision.parameters.bytes() / cut(3) * kept } else { 0.0 };
    Shares {
        parameters,
        // If the master weights are the shard, a frozen weight has only them, unless it keeps the format of
        // its file.
        frozen: match (keeps_shard, software.shards_frozen_as_loaded) {
            (true, _) => parameters,
            (false, true) => precision.parameters.bytes() / cut(3) * kept,
            (false, false) => master / cut(1) * kept,
        },
        nf4: NF4_BYTES / cut(3) * kept,
        gradients: precision.gradients.bytes() / if accumulates_whole { 1.0 } else { cut(2) },
        master: device * master / cut(1),
        moments: device * (moments + if stage >= 1 { software.optimizer_extra } else { 0.0 }) / cut(1),
        bucket: if replicated { software.gradient_bucket + copied } else { 0.0 },
        casts: if is_cast { parameters } else { 0.0 },
        stepping: device * software.optimizer_temporary / cut(1),
    }
}

impl Shares {
    /// Bytes that exist throughout the step.
    pub(crate) fn resident(&self) -> f64 {
        self.parameters + self.gradients + self.master + self.moments + self.bucket
    }
}

/// Numbers of parameters of a stage on one rank.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Extent {
    /// Parameters of its largest layer.
    pub largest: f64,
    /// Parameters of all layers.
    pub layers: f64,
    /// Parameters of embedding and head.
    pub ends: f64,
}

/// Bytes of ZeRO-3's gathered parameters and full gradients at the busiest moment: for all parameters of a
/// stage, and for the trained ones.
pub(crate) fn gathered(plan: &Plan, software: &MemorySoftware, all: Extent, trained: Extent) -> (f64, f64) {
    if plan.sharding.zero_stage < 3 {
        return (0.0, 0.0);
    }
    let bytes = plan.precision.parameters.bytes();
    let layers_gathered = if plan.sharding.reshard_after_forward {
        (software.gathered_layers * all.largest).min(all.layers)
    } else {
        all.layers
    };
    let live = software.live_parameters.min(all.layers + all.ends);
    let root = if software.gathers_root { all.ends } else { 0.0 };
    let wire = plan.precision.gradient_reduce.bytes();
    // The full gradient in the compute format, and its copy in the wire format if that is wider.
    let gradient = bytes + if wire > bytes { wire } else { 0.0 };
    (
        (layers_gathered + root).max(live) * bytes,
        (software.gradient_layers * trained.largest).min(trained.layers.max(trained.ends)) * gradient,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::testing;
    use railwright_spec::plan::Schedule;
    use railwright_spec::precision::DataType;

    fn bytes_at(stage: u8, dp: u64) -> f64 {
        let mut plan = testing::plan();
        plan.data_parallel = dp;
        plan.sharding.zero_stage = stage;
        plan.precision.gradients = DataType::Bf16;
        per_parameter(&plan, &testing::neutral()).dense.resident()
    }

    #[test]
    fn zero_paper_table() {
        // Rajbhandari 2020, figure 1: 7.5 billion parameters on 64 devices, 120 / 31.4 / 16.6 / 1.9 GB.
        for (stage, published) in [(0, 120.0), (1, 31.4), (2, 16.6), (3, 1.9)] {
            let gb = 7.5 * bytes_at(stage, 64);
            assert!((gb - published).abs() < 0.06, "stage {stage}: {gb}");
        }
    }

    #[test]
    fn fp32_gradients_make_six_and_twelve_over_dp() {
        let mut plan = testing::plan();
        plan.data_parallel = 8;
        plan.sharding.zero_stage = 1;
        plan.precision.gradients = DataType::Fp32;
        assert_eq!(per_parameter(&plan, &testing::neutral()).dense.resident(), 6.0 + 12.0 / 8.0);
    }

    #[test]
    fn experts_shard_over_their_own_replicas() {
        let mut plan = testing::plan();
        plan.data_parallel = 64;
        plan.expert_parallel = 8;
        plan.sharding.zero_stage = 1;
        let per = per_parameter(&plan, &testing::neutral());
        assert_eq!(per.dense.master, 4.0 / 64.0);
        assert_eq!(per.routed.master, 4.0 / 8.0);
    }

    #[test]
    fn both_ends_of_dualpipe_share_optimizer_states() {
        let mut plan = testing::plan();
        plan.data_parallel = 128;
        plan.expert_parallel = 64;
        plan.pipeline_parallel = 16;
        plan.sharding.zero_stage = 1;
        plan.schedule = Schedule::DualPipe;
        let per = per_parameter(&plan, &testing::neutral());
        // Two replicas of an expert in each direction, four in all; gradients are whole.
        assert_eq!((per.routed.master, per.routed.gradients), (4.0 / 4.0, 4.0));
        assert_eq!(per.dense.master, 4.0 / 256.0);
    }

    /// A frozen model of 7.6 billion parameters in bf16 takes 7.6 GB on each of two devices that shard it, as
    /// one half of its file. Trained ones are sharded in fp32.
    #[test]
    fn frozen_weights_are_sharded_as_they_were_loaded() {
        let mut plan = testing::plan();
        (plan.data_parallel, plan.sharding.zero_stage) = (2, 3);
        let mut software = testing::neutral();
        software.keeps_low_precision_shard = false;
        let held = Held { frozen_dense: 7.6e9, ..Held::default() };
        let bytes = |software: &MemorySoftware| per_parameter(&plan, software).frozen(held);
        assert_eq!(bytes(&software), 2.0 * 7.6e9);
        software.shards_frozen_as_loaded = true;
        assert_eq!(bytes(&software), 7.6e9);
    }

    /// DeepSpeed keeps up to 1e9 parameters gathered (`stage3_max_live_parameters`): 2 GB in bf16, or all of
    /// a small model.
    #[test]
    fn parameters_that_are_used_again_soon_stay_gathered() {
        let mut plan = testing::plan();
        plan.sharding.zero_stage = 3;
        plan.sharding.reshard_after_forward = true;
        let mut software = testing::neutral();
        let all = |largest: f64| Extent { largest, layers: 32.0 * largest, ends: 1.05e9 };
        let bytes =
            |software: &MemorySoftware, largest| gathered(&plan, software, all(largest), Extent::default()).0;
        assert_eq!(bytes(&software, 2.18e8), 2.0 * 2.0 * 2.18e8);
        software.live_parameters = 1e9;
        assert_eq!(bytes(&software, 2.18e8), 2e9);
        assert_eq!(bytes(&software, 8.55e8), 2.0 * 2.0 * 8.55e8);
        software.live_parameters = 1e12;
        assert_eq!(bytes(&software, 2.18e8), 2.0 * (32.0 * 2.18e8 + 1.05e9));
    }

    #[test]
    fn frozen_weights_live_in_the_narrow_format() {
        let mut plan = testing::plan();
        plan.precision.compute = DataType::Fp8;
        let held = Held { dense: 10.0, matmul: 8.0, ..Held::default() };
        assert_eq!(per_parameter(&plan, &testing::neutral()).parameters(held), 20.0);
        plan.optimizer = Optimizer::Lora;
        let per = per_parameter(&plan, &testing::neutral());
        let frozen = Held { dense: 1.0, frozen_dense: 10.0, matmul: 8.0, ..Held::default() };
        // The adapter, two wide parameters and eight narrow ones.
        assert_eq!(per.parameters(frozen), 2.0 + 2.0 * 2.0 + 8.0);
    }

    #[test]
    fn the_padded_vocabulary_is_divided() {
        // Megatron pads GPT-2's 50,257 words to 50,304 at tensor parallel 1 and to 51,200 at 8.
        let model = testing::llama(1024, 4096, 8, 8, 2, 50257);
        let mut plan = testing::plan();
        plan.vocabulary_multiple = 128;
        assert_eq!(vocabulary_rows(&model, &plan), 50304.0);
        plan.tensor_parallel = 8;
        assert_eq!(vocabulary_rows(&model, &plan) * 8.0, 51200.0);
    }
}
