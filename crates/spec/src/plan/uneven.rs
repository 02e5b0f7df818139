//! Layer assignment if the number of stages does not divide the layers.
//!
//! Responsible for: the assignments of frameworks and of manual layouts. Does not search for the best: see
//! `balance`.

use crate::model::{FeedForward, Layer, Model, Usage};
use serde::{Deserialize, Serialize};

/// Default assignment of layers to pipeline stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum StageSplit {
    /// Even; if layers do not divide, as in manual layouts ([`uneven_layers`]).
    Even,
    /// By cumulative compute cost with the head included. A layer that crosses the end of a stage's share
    /// belongs to the stage.
    Compute,
}

/// Layers of each virtual stage if they do not divide by the number of stages. One fewer at both ends if that
/// divides, as for Llama 3 405B (Megatron's `--account-for-embedding-in-pipeline-split` and the flag for the
/// loss); else fewer in the last stage.
pub fn uneven_layers(model: &Model, parts: u64, split: StageSplit) -> Vec<u64> {
    let layers = model.num_layers();
    match split {
        StageSplit::Compute => by_compute(model, parts.clamp(1, 100_000) as usize),
        StageSplit::Even if (layers + 2).is_multiple_of(parts.max(1)) => balanced_layers(layers, parts),
        StageSplit::Even => end_balanced_layers(model, parts),
    }
}

/// Layers that do not divide are usually assigned manually, with the ends counted: head and multi-token
/// prediction count as layers by their GEMM FLOPs, and the last virtual stage gets fewer layers.
pub fn end_balanced_layers(model: &Model, parts: u64) -> Vec<u64> {
    let parts = parts.clamp(1, 100_000) as usize;
    let layers = model.num_layers();
    let all: f64 = model.layers.iter().map(|&kind| model.layer_kinds[kind].active_parameters() as f64).sum();
    let layer = (all / layers.max(1) as f64).max(1.0);
    let head = (model.vocabulary * model.hidden_size) as f64 / layer;
    let depth = model.multi_token_prediction.as_ref().map_or(0.0, |m| m.depth as f64);
    let ends = head * (1.0 + depth) + depth;
    let each = (layers as f64 + ends) / parts as f64;
    let last = (each - ends).round().max(0.0).min(layers as f64) as u64;
    let others = parts - 1;
    let rest = layers - if others == 0 { layers } else { last };
    let (base, extra) = (rest / others.max(1) as u64, (rest % others.max(1) as u64) as usize);
    // Remaining layers go to middle stages, away from the embedding.
    let first = (others - extra.min(others)).div_ceil(2);
    let mut split: Vec<u64> =
        (0..others).map(|i| base + u64::from(i >= first && i < first + extra)).collect();
    split.push(if others == 0 { layers } else { last });
    split
}

/// Splits by cumulative weights of GEMMs, head included. A layer across the end of a share belongs to it.
pub fn by_compute(model: &Model, parts: usize) -> Vec<u64> {
    let costs: Vec<f64> = model.layers.iter().map(|&kind| matmul_weights(&model.layer_kinds[kind])).collect();
    let head = (model.vocabulary * model.hidden_size) as f64;
    let total = costs.iter().sum::<f64>() + head;
    let mut result = vec![0; parts];
    let (mut part, mut sum) = (0, 0.0);
    for cost in costs {
        sum += cost;
        result[part] += 1;
        if sum > total * (part + 1) as f64 / parts as f64 && part + 1 < parts {
            part += 1;
        }
    }
    result
}

fn matmul_weights(layer: &Layer) -> f64 {
    let share = match &layer.feed_forward {
        FeedForward::MixtureOfExperts(moe) => moe.top_k as f64 / moe.experts.max(1) as f64,
        _ => 1.0,
    };
    // What runs on positions other than the sequence's costs little.
    let matmuls = layer.weights.iter().filter(|w| matches!(w.usage, Usage::Matmul { positions: None, .. }));
    matmuls.map(|w| w.parameters() as f64 * if w.is_routed() { share } else { 1.0 }).sum()
}

/// Layers per virtual stage if they do not divide: as even as possible, with fewer at the two ends, because
/// embedding and head cost about as much as a layer. The sum is `layers`.
pub fn balanced_layers(layers: u64, stages: u64) -> Vec<u64> {
    let stages = stages.clamp(1, 100_000);
    let (each, extra) = (layers / stages, layers % stages);
    let first = (stages - extra) / 2;
    (0..stages).map(|stage| each + u64::from(stage >= first && stage < first + extra)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::by_name;

    /// Meta's 405B (The Llama 3 herd of models, section 3.3.2): one layer fewer on the first and the last of
    /// 16 stages. If that does not divide, the end with the head and multi-token prediction has fewer, as
    /// in Megatron-Bridge's recipe of DeepSeek-V3 (one layer on the last of 16 chunks, four on the
    /// others).
    #[test]
    fn published_layouts_come_out() {
        let of = |name: &str, parts| uneven_layers(&by_name(name).expect("known"), parts, StageSplit::Even);
        let llama = of("llama-3.1-405b", 16);
        assert_eq!((llama[0], llama[1], llama[15]), (7, 8, 7));
        let deepseek = of("deepseek-v3-671b", 16);
        assert!(deepseek[..15].iter().all(|n| (4..=5).contains(n)) && deepseek[15] <= 1, "{deepseek:?}");
    }

    #[test]
    fn no_layer_is_lost() {
        let model = by_name("deepseek-v3-671b").expect("known");
        for parts in [1, 2, 7, 16, 60, 64, 100] {
            for split in [StageSplit::Even, StageSplit::Compute] {
                let list = uneven_layers(&model, parts, split);
                assert_eq!((list.len() as u64, list.iter().sum::<u64>()), (parts, 61), "{parts} {split:?}");
            }
        }
    }
}
