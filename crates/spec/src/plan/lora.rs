//! Low-rank adapters (LoRA, Hu 2021): rank and target modules.
//!
//! Responsible for: the names of target modules, and a layer's adapters as ordinary weights. Independent of
//! bytes and times.
//!
//! A weight `W` of `out x in` stays frozen; `A` of `rank x in` and `B` of `out x rank` are trained: `W x + B
//! A x`, so an adapter has `rank (in + out)` parameters (Hu 2021, section 4.1).

use super::{Optimizer, Plan};
use crate::model::{Cut, Layer, Model, Module, Usage, Weight};
use crate::problem::Problem;
use crate::run::field::{choice, wrong};
use crate::run::{Field, Kind, Value};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Default rank: that of MLPerf's Llama 2 70B fine-tuning benchmark. PEFT's own default is 8,
/// Megatron-Bridge's 32.
const DEFAULT_RANK: u64 = 16;

/// Adapters of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Lora {
    /// Inner width of an adapter.
    pub rank: u64,
    /// Target modules.
    pub targets: BTreeSet<LoraTarget>,
}

impl Default for Lora {
    /// Rank 16 on every linear layer, as PEFT's `all-linear`. Dettmers 2023 (QLoRA), section 4, needs all of
    /// them to match full fine-tuning.
    fn default() -> Self {
        Self { rank: DEFAULT_RANK, targets: BTreeSet::from([LoraTarget::AllLinear]) }
    }
}

/// Number format of the frozen weights under adapters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FrozenWeights {
    /// That of the parameters.
    #[default]
    Parameters,
    /// Matrices of layers in four bits (QLoRA): each GEMM restores its matrix first.
    Nf4,
}

choice!(FrozenWeights {
    "parameters" => Self::Parameters,
    "nf4" | "fp4" => Self::Nf4,
});

/// Bytes of a weight in blocks of 64 with an fp32 scale each: `0.5 + 4 / 64` (Dettmers 2023, QLoRA, section
/// 3). Double quantization, which quantizes the scales too, has 0.516.
pub const NF4_BYTES: f64 = 0.5 + 4.0 / 64.0;

/// A target module, by PEFT's or Megatron's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum LoraTarget {
    /// Every matrix of every layer except the router, without embedding and head.
    #[serde(rename = "all-linear")]
    AllLinear,
    /// Queries, keys and values as one matrix with a shared `A`.
    #[serde(rename = "linear_qkv")]
    FusedQkv,
    /// Up and gate matrix of an MLP as one matrix with a shared `A`.
    #[serde(rename = "linear_fc1")]
    FusedGateUp,
    /// Queries.
    #[serde(rename = "q_proj")]
    Query,
    /// Keys.
    #[serde(rename = "k_proj")]
    Key,
    /// Values.
    #[serde(rename = "v_proj")]
    Value,
    /// The projection out of attention.
    #[serde(rename = "o_proj")]
    Output,
    /// The gate matrix of an MLP.
    #[serde(rename = "gate_proj")]
    Gate,
    /// The up matrix of an MLP.
    #[serde(rename = "up_proj")]
    Up,
    /// The down matrix of an MLP.
    #[serde(rename = "down_proj")]
    Down,
    /// All matrices of routed experts.
    #[serde(rename = "experts")]
    Experts,
    /// Latent attention: down-projection to the query latent.
    #[serde(rename = "q_a_proj")]
    QueryDown,
    /// Latent attention: up-projection from the query latent.
    #[serde(rename = "q_b_proj")]
    QueryUp,
    /// Latent attention: down-projection to the key-value latent.
    #[serde(rename = "kv_a_proj_with_mqa")]
    KeyValueDown,
    /// Latent attention: up-projection from the key-value latent.
    #[serde(rename = "kv_b_proj")]
    KeyValueUp,
    /// The projection into a recurrent mixer.
    #[serde(rename = "in_proj")]
    MixerIn,
    /// The projection out of a recurrent mixer.
    #[serde(rename = "out_proj")]
    MixerOut,
}

choice!(LoraTarget {
    "all-linear" | "all_linear" | "all" => Self::AllLinear,
    "linear_qkv" | "qkv_proj" | "query_key_value" | "Wqkv" | "W_pack" | "c_attn" | "wqkv" => Self::FusedQkv,
    "linear_fc1" | "gate_up_proj" => Self::FusedGateUp,
    "q_proj" | "linear_q" => Self::Query,
    "k_proj" | "linear_k" => Self::Key,
    "v_proj" | "linear_v" => Self::Value,
    "o_proj" | "linear_proj" | "output_proj" => Self::Output,
    "gate_proj" | "linear_fc1_gate" => Self::Gate,
    "up_proj" | "linear_fc1_up" => Self::Up,
    "down_proj" | "linear_fc2" => Self::Down,
    "experts" => Self::Experts,
    "q_a_proj" | "linear_q_down_proj" => Self::QueryDown,
    "q_b_proj" | "linear_q_up_proj" => Self::QueryUp,
    "kv_a_proj_with_mqa" | "linear_kv_down_proj" => Self::KeyValueDown,
    "kv_b_proj" | "linear_kv_up_proj" => Self::KeyValueUp,
    "in_proj" => Self::MixerIn,
    "out_proj" => Self::MixerOut,
});

impl LoraTarget {
    /// Name in run files.
    pub fn name(self) -> String {
        self.write().to_plain()
    }

    /// Target by PEFT's or Megatron's name.
    pub fn by_name(name: &str) -> Result<Self, Problem> {
        Self::read(&Value::Text(name.to_owned()))
    }

    /// True if the target includes a weight. Only the last part of a name counts: `experts.up_proj` is an
    /// `up_proj`.
    fn adapts(self, weight: &Weight) -> bool {
        let Usage::Matmul { fused, .. } = &weight.usage else { return false };
        match self {
            Self::AllLinear => weight.module != Module::Router,
            Self::FusedQkv => fused == "qkv",
            Self::FusedGateUp => {
                is_mlp(weight.module) && (is_named(weight, "gate_proj") || is_named(weight, "up_proj"))
            }
            Self::Experts => weight.is_routed(),
            named => is_named(weight, &named.name()),
        }
    }

    /// True if weights of one GEMM share one `A`.
    const fn is_fused(self) -> bool {
        matches!(self, Self::FusedQkv | Self::FusedGateUp)
    }
}

fn is_named(weight: &Weight, name: &str) -> bool {
    weight.name.rsplit('.').next() == Some(name)
}

fn is_mlp(module: Module) -> bool {
    matches!(module, Module::Mlp | Module::Experts | Module::SharedExpert)
}

/// Adapter of one weight, or of several weights of one GEMM: two ordinary weights.
///
/// Tensor parallelism shards both, as Megatron-Bridge's `ParallelLinearAdapter` does: for a column-parallel
/// weight, `A` is sharded by rank and `B` by output; for a row-parallel weight, `A` by input and `B` by
/// output. The adapter of a replicated weight is replicated.
#[derive(Clone, Debug, PartialEq)]
pub struct Adapter {
    /// Down-projection to the rank.
    pub a: Weight,
    /// Up-projection from the rank.
    pub b: Weight,
}

impl Adapter {
    fn new(weight: &Weight, rank: u64) -> Self {
        let part = |letter: &str, rows, columns, cut| Weight {
            name: format!("{}.lora_{letter}", weight.name),
            rows,
            columns,
            cut,
            usage: Usage::Matmul {
                fused: format!("{}.lora_{letter}", weight.name),
                positions: weight.positions(),
            },
            ..weight.clone()
        };
        let (inner, outer) = match weight.cut {
            Cut::Replicated => (Cut::Replicated, Cut::Replicated),
            Cut::Row => (Cut::Row, Cut::Column),
            Cut::Column | Cut::Heads(_) | Cut::Vocabulary => (Cut::Column, weight.cut),
        };
        Self { a: part("A", rank, weight.columns, inner), b: part("B", weight.rows, rank, outer) }
    }

    /// Adds another weight of the same GEMM.
    fn join(&mut self, weight: &Weight) {
        self.b.rows = self.b.rows.saturating_add(weight.rows);
        // Keys and values have at most as many shards as heads; together with queries, the whole is sharded
        // like the queries.
        if self.b.cut != weight.cut {
            self.b.cut = Cut::Column;
        }
    }

    /// Parameters of both weights, over all copies and shards.
    pub fn parameters(&self) -> u64 {
        self.a.parameters().saturating_add(self.b.parameters())
    }
}

impl Lora {
    /// Adapters of a layer.
    pub fn adapters(&self, layer: &Layer) -> Vec<Adapter> {
        let mut list: Vec<(Option<&str>, Adapter)> = Vec::new();
        for weight in &layer.weights {
            let Some(target) = self.target(weight) else { continue };
            let label = match &weight.usage {
                Usage::Matmul { fused, .. } if target.is_fused() => Some(fused.as_str()),
                _ => None,
            };
            match list.iter_mut().find(|(known, _)| label.is_some() && *known == label) {
                Some((_, adapter)) => adapter.join(weight),
                None => list.push((label, Adapter::new(weight, self.rank))),
            }
        }
        list.into_iter().map(|(_, adapter)| adapter).collect()
    }

    /// Target that includes a weight; fused targets precede single ones.
    pub fn target(&self, weight: &Weight) -> Option<LoraTarget> {
        let found = |fused: bool| {
            self.targets.iter().copied().find(|target| target.is_fused() == fused && target.adapts(weight))
        };
        found(true).or_else(|| found(false))
    }

    /// Parameters of all adapters of a model, as printed by PEFT as trainable.
    pub fn parameters(&self, model: &Model) -> u64 {
        let of =
            |layer: &Layer| self.adapters(layer).iter().map(Adapter::parameters).fold(0, u64::saturating_add);
        let kinds: Vec<u64> = model.layer_kinds.iter().map(of).collect();
        model.layers.iter().filter_map(|&kind| kinds.get(kind)).fold(0, |sum, n| sum.saturating_add(*n))
    }

    /// Targets without any weight in a model.
    pub fn unmatched(&self, model: &Model) -> Vec<LoraTarget> {
        let has = |target: LoraTarget| {
            model.layer_kinds.iter().any(|layer| layer.weights.iter().any(|weight| target.adapts(weight)))
        };
        self.targets.iter().copied().filter(|&target| !has(target)).collect()
    }
}

impl Plan {
    /// Trained adapters; `None` unless the optimizer is LoRA.
    pub fn adapters(&self) -> Option<Lora> {
        (self.optimizer == Optimizer::Lora).then(|| self.lora.clone().unwrap_or_default())
    }

    /// True if frozen weights are held in four bits.
    pub fn has_nf4_weights(&self) -> bool {
        self.optimizer == Optimizer::Lora && self.frozen_weights == FrozenWeights::Nf4
    }

    /// True if a weight is frozen and held in four bits: matrices of layers, including those without an
    /// adapter. bitsandbytes excludes the head.
    pub fn holds_in_nf4(&self, weight: &Weight) -> bool {
        self.has_nf4_weights()
            && matches!(weight.usage, Usage::Matmul { .. })
            && !matches!(weight.module, Module::Head | Module::Embedding | Module::Router)
    }
}

/// Value of `lora_targets`: one or more names.
#[derive(Clone, Debug, PartialEq)]
pub struct LoraTargets(pub BTreeSet<LoraTarget>);

impl Field for LoraTargets {
    const KIND: Kind = Kind::Texts;

    fn read(value: &Value) -> Result<Self, Problem> {
        let Value::List(list) = value else { return Err(wrong(Self::KIND, value)) };
        let targets = list.iter().map(LoraTarget::read).collect::<Result<BTreeSet<_>, _>>()?;
        if targets.is_empty() {
            return Err(Problem::new("the list of modules is empty")
                .hint("use `[\"all-linear\"]` for every linear layer"));
        }
        Ok(Self(targets))
    }

    fn write(&self) -> Value {
        Value::List(self.0.iter().map(Field::write).collect())
    }
}

#[cfg(test)]
mod tests;
