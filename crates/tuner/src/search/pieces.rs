//! Division of a search into pieces: the combinations of parallel sizes whose product is the cluster.
//!
//! Responsible for: valid combinations of sizes, and the best order of pieces. Independent of the contents of
//! a piece.

use super::counts::divisors;
use super::space::Space;
use railwright_spec::cluster::Cluster;
use railwright_spec::greatest_common_divisor;
use railwright_spec::model::{FeedForward, Mixer, Model};

/// Parallel sizes whose product is the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Degrees {
    /// Tensor parallel.
    pub tensor: u64,
    /// Pipeline stages.
    pub pipeline: u64,
    /// Context parallel.
    pub context: u64,
    /// Expert parallel.
    pub expert: u64,
    /// Expert tensor parallel.
    pub expert_tensor: u64,
    /// Data parallel.
    pub data: u64,
}

/// Default minimum tokens of a sequence per rank.
const FEWEST_TOKENS: u64 = 256;

/// All combinations, with the number of rejected ones.
pub(super) fn all(space: &Space, model: &Model, cluster: &Cluster) -> (Vec<Degrees>, u64) {
    let devices = cluster.devices;
    let mut found = Vec::new();
    let mut refused = 0;
    let experts = experts(model);
    for tensor in space.tensor.of(tensors(model, cluster)) {
        for context in space.context.of(contexts(space, devices)) {
            for pipeline in space.pipeline.of(pipelines(space, model, devices)) {
                let Some(inner) = tensor.checked_mul(context).and_then(|n| n.checked_mul(pipeline)) else {
                    refused += 1;
                    continue;
                };
                if inner == 0 || !devices.is_multiple_of(inner) || !space.data.allows(devices / inner) {
                    refused += 1;
                    continue;
                }
                let data = devices / inner;
                let ranks = devices / pipeline;
                for expert in space.expert.of(experts.clone()) {
                    let tensors = divisors(tensor).into_iter();
                    let routes = model.is_mixture_of_experts();
                    let suggested = tensors.filter(|&n| n == tensor || n == 1 && routes);
                    for expert_tensor in space.expert_tensor.of(suggested) {
                        let spread = expert.saturating_mul(expert_tensor);
                        if expert > 1 && (spread == 0 || !ranks.is_multiple_of(spread)) {
                            refused += 1;
                            continue;
                        }
                        found.push(Degrees { tensor, pipeline, context, expert, expert_tensor, data });
                    }
                }
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    (found, refused)
}

/// Divisors of the heads, up to the reach of the fast links.
fn tensors(model: &Model, cluster: &Cluster) -> Vec<u64> {
    let most = cluster.scale_up.domain_size.max(cluster.devices_per_node).max(1);
    let heads =
        model.layer_kinds.iter().flat_map(|layer| layer.mixer.each()).filter_map(|mixer| match mixer {
            Mixer::Attention(a) => Some(a.heads),
            Mixer::Latent(a) => Some(a.heads),
            Mixer::Linear(a) => Some(a.value_heads),
            Mixer::StateSpace(s) => Some(s.heads),
            Mixer::Selective(s) => Some(s.inner),
            Mixer::Convolution(c) => Some(c.width),
            Mixer::Several { .. } | Mixer::Unpriced { .. } | Mixer::None => None,
        });
    let common = heads.fold(0, greatest_common_divisor);
    let common = if common == 0 { model.hidden_size.max(1) } else { common };
    divisors(common).into_iter().filter(|&n| n <= most && cluster.devices.is_multiple_of(n)).collect()
}

/// Divisors of the devices that leave each rank enough tokens.
fn contexts(space: &Space, devices: u64) -> Vec<u64> {
    let length = space.base.sequence_length;
    let most = (length / FEWEST_TOKENS).max(1);
    divisors(devices).into_iter().filter(|&n| n <= most && length.is_multiple_of(n)).collect()
}

/// Divisors of the devices, at most the number of layers with embedding and head. If stages must be even,
/// only those that divide the layers.
fn pipelines(space: &Space, model: &Model, devices: u64) -> Vec<u64> {
    let layers = model.num_layers();
    let uneven = space.allows_uneven();
    divisors(devices)
        .into_iter()
        .filter(|&n| if uneven { n <= layers + 2 } else { n <= layers && layers.is_multiple_of(n) })
        .collect()
}

/// Divisors of the number of experts.
fn experts(model: &Model) -> Vec<u64> {
    let count = |layer: &railwright_spec::model::Layer| match &layer.feed_forward {
        FeedForward::MixtureOfExperts(moe) => Some(moe.experts),
        _ => None,
    };
    let common = model.layer_kinds.iter().filter_map(count).fold(0, greatest_common_divisor);
    if common == 0 { vec![1] } else { divisors(common) }
}
