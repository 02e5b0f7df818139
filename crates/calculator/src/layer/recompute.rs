//! What of a layer's forward pass runs again before its backward pass.

use crate::work::{Dimension, Family, Work};
use railwright_spec::model::{FeedForward, Layer, Mixer};
use railwright_spec::plan::{Recompute, RecomputeModule};
use railwright_spec::quantity::Seconds;

/// The recomputed work of a layer under a policy, for a layer that the policy covers.
pub(super) fn of(policy: &Recompute, layer: &Layer, forward: &Work) -> Work {
    match policy {
        Recompute::None => Work::default(),
        Recompute::Full { .. } => *forward,
        Recompute::Selective { modules, .. } => {
            let mut work = Work::default();
            for &module in modules {
                work += &selected(layer, forward, module);
            }
            work
        }
    }
}

fn selected(layer: &Layer, forward: &Work, module: RecomputeModule) -> Work {
    let routed = matches!(layer.feed_forward, FeedForward::MixtureOfExperts(_));
    match module {
        RecomputeModule::CoreAttention => {
            part(forward, &[(Family::AttentionCore, 1.0)], &[(Dimension::Context, 1.0)])
        }
        RecomputeModule::Norm => part(forward, &[(Family::Norm, 1.0)], &[]),
        RecomputeModule::Activation => part(forward, &[(Family::Activation, 1.0)], &[]),
        // The half of tensor communication that belongs to the MLP.
        RecomputeModule::Mlp if !routed => {
            part(forward, &[(Family::Mlp, 1.0), (Family::Activation, 1.0)], &[(Dimension::Tensor, 0.5)])
        }
        RecomputeModule::Moe if routed => part(
            forward,
            &[(Family::Mlp, 1.0), (Family::Activation, 1.0), (Family::Router, 1.0), (Family::Experts, 1.0)],
            &[(Dimension::Expert, 1.0)],
        ),
        RecomputeModule::Mlp | RecomputeModule::Moe => Work::default(),
        // Up-projections are the larger part of latent attention's input projections.
        RecomputeModule::LatentUpProjection if !matches!(layer.mixer, Mixer::Latent(_)) => Work::default(),
        RecomputeModule::LatentUpProjection => part(forward, &[(Family::AttentionInput, 0.6)], &[]),
        // Every second product is kept, and so are attention and communication; everything cheap runs again.
        RecomputeModule::Operators => part(
            forward,
            &[
                (Family::AttentionInput, 0.5),
                (Family::AttentionOutput, 0.5),
                (Family::Mlp, 0.5),
                (Family::Experts, 0.5),
                (Family::Router, 1.0),
                (Family::Norm, 1.0),
                (Family::Activation, 1.0),
                (Family::Residual, 1.0),
            ],
            &[],
        ),
    }
}

/// The shares of a forward pass that are named; launches go with the share of compute time.
fn part(forward: &Work, families: &[(Family, f64)], dimensions: &[(Dimension, f64)]) -> Work {
    let mut work = Work::default();
    for &(family, share) in families {
        work.compute[family as usize] = forward.compute[family as usize] * share;
    }
    for &(dimension, share) in dimensions {
        work.exposed[dimension as usize] = forward.exposed[dimension as usize] * share;
        work.communication[dimension as usize] = forward.communication[dimension as usize] * share;
    }
    let whole = forward.compute_time();
    let share = if whole > Seconds::ZERO { work.compute_time() / whole } else { 0.0 };
    work.launches = forward.launches * share;
    work.host = if families.iter().any(|f| f.0 == Family::Router) { forward.host } else { Seconds::ZERO };
    work.tensor_collectives =
        if dimensions.iter().any(|d| d.0 == Dimension::Tensor) { forward.tensor_collectives } else { 0.0 };
    work.founded = forward.founded.map(|time| time * share);
    work.flop = forward.flop * share;
    work.bytes = forward.bytes * share;
    work
}
