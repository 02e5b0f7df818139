//! Forward work of a layer that runs again before its backward pass.

use crate::work::{Dimension, Family, Work};
use railwright_spec::model::{FeedForward, Layer, Mixer};
use railwright_spec::plan::{Recompute, RecomputeModule};
use railwright_spec::quantity::Seconds;

/// Forward operators that recompute leaves out.
#[derive(Clone, Copy, Debug, Default)]
pub struct Kept {
    /// True if full recompute leaves out the layer's last GEMM
    /// ([`railwright_spec::software::Software::skips_last_gemm`]).
    pub last_gemm: bool,
    /// True if recompute leaves out all that follows the last tensor that the backward pass needs
    /// ([`railwright_spec::software::Software::stops_recompute_early`]).
    pub rest: bool,
    /// True if recompute by operators leaves out no GEMM
    /// ([`railwright_spec::plan::Plan::recomputes_products`]).
    pub no_gemm: bool,
    /// True if recompute by operators leaves out no all-to-all of experts
    /// ([`railwright_spec::software::Software::recomputes_exchange`]).
    pub no_exchange: bool,
}

/// Kernel launches of a forward pass.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Launches {
    /// Of compute, by family of operators.
    pub families: [f64; Family::ALL.len()],
    /// Of collectives, by dimension.
    pub dimensions: [f64; Dimension::ALL.len()],
}

/// The forward pass of a layer, and its launches.
type Forward<'a> = (&'a Work, &'a Launches);

/// Tests whether recompute sends tokens to their experts again: of whole layers or of the experts' module.
pub(super) fn sends_again(policy: &Recompute) -> bool {
    match policy {
        Recompute::None => false,
        Recompute::Full { .. } => true,
        Recompute::Selective { modules, .. } => modules.contains(&RecomputeModule::Moe),
    }
}

/// The recomputed work of a layer under a policy that covers it.
pub(super) fn of(policy: &Recompute, layer: &Layer, forward: Forward<'_>, kept: Kept) -> Work {
    match policy {
        Recompute::None => Work::default(),
        Recompute::Full { .. } => {
            let mut work = *forward.0;
            work -= &unneeded(layer, forward, kept);
            work
        }
        Recompute::Selective { modules, .. } => {
            let mut work = Work::default();
            for &module in modules {
                work += &selected(layer, forward, module, kept);
            }
            work
        }
    }
}

/// The end of a layer's forward pass that full recompute leaves out: its last GEMM, whose output enters only
/// sums. Routed experts are the last matrices of a layer without shared ones, and neither their down
/// projection nor the exchange that combines its outputs has a tensor that the backward pass needs.
fn unneeded(layer: &Layer, forward: Forward<'_>, kept: Kept) -> Work {
    let share = |gated: bool| if gated { 1.0 / 3.0 } else { 0.5 };
    let work = match &layer.feed_forward {
        _ if layer.parallel_residual => return Work::default(),
        FeedForward::Dense(mlp) if kept.last_gemm || kept.rest => {
            part(forward, &[(Family::Mlp, share(mlp.gated))], &[])
        }
        FeedForward::MixtureOfExperts(moe) if kept.rest && moe.shared_intermediate_size > 0 => {
            part(forward, &[(Family::Mlp, share(moe.expert.gated))], &[])
        }
        FeedForward::MixtureOfExperts(moe) if kept.rest => {
            part(forward, &[(Family::Experts, share(moe.expert.gated))], &[(Dimension::Expert, COMBINE)])
        }
        _ => return Work::default(),
    };
    // Host time belongs to the router and to loops over experts, which run up to the last GEMM.
    Work { host: Seconds::ZERO, looped: Seconds::ZERO, ..work }
}

/// Share of the exchanges of experts that returns their outputs.
const COMBINE: f64 = 0.5;

fn selected(layer: &Layer, forward: Forward<'_>, module: RecomputeModule, kept: Kept) -> Work {
    let routed = matches!(layer.feed_forward, FeedForward::MixtureOfExperts(_));
    let (experts, exchange) = match &layer.feed_forward {
        FeedForward::MixtureOfExperts(moe) if kept.rest && moe.shared_intermediate_size == 0 => {
            (if moe.expert.gated { 2.0 / 3.0 } else { 0.5 }, 1.0 - COMBINE)
        }
        _ => (1.0, 1.0),
    };
    let gemms = if kept.no_gemm { 1.0 } else { 0.5 };
    let again = [(Dimension::Expert, exchange)];
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
        // Every second GEMM is kept, and so are attention and communication, except for all-to-alls in some
        // software. Grouped GEMMs and all inexpensive operators run again.
        RecomputeModule::Operators => part(
            forward,
            &[
                (Family::AttentionInput, gemms),
                (Family::AttentionOutput, gemms),
                (Family::Mlp, gemms),
                (Family::Experts, experts),
                (Family::Router, 1.0),
                (Family::Norm, 1.0),
                (Family::Activation, 1.0),
                (Family::Residual, 1.0),
            ],
            if kept.no_exchange { &again } else { &[] },
        ),
    }
}

/// The given shares of a forward pass, each with its share of the launches.
fn part(
    (forward, launches): Forward<'_>,
    families: &[(Family, f64)],
    dimensions: &[(Dimension, f64)],
) -> Work {
    let mut work = Work::default();
    for &(family, share) in families {
        work.compute[family as usize] = forward.compute[family as usize] * share;
        work.launches += launches.families[family as usize] * share;
    }
    for &(dimension, share) in dimensions {
        work.launches += launches.dimensions[dimension as usize] * share;
        work.exposed[dimension as usize] = forward.exposed[dimension as usize] * share;
        work.communication[dimension as usize] = forward.communication[dimension as usize] * share;
    }
    let whole = forward.compute_time();
    let share = if whole > Seconds::ZERO { work.compute_time() / whole } else { 0.0 };
    let repeats = |family| families.iter().any(|f| f.0 == family);
    work.host = if repeats(Family::Router) { forward.host } else { Seconds::ZERO };
    work.looped = if repeats(Family::Experts) { forward.looped } else { Seconds::ZERO };
    work.tensor_collectives =
        if dimensions.iter().any(|d| d.0 == Dimension::Tensor) { forward.tensor_collectives } else { 0.0 };
    work.founded = forward.founded.map(|time| time * share);
    work.flop = forward.flop * share;
    work.bytes = forward.bytes * share;
    work
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::testing;
    use railwright_spec::quantity::Flop;

    /// XLA: the down projection's output enters only the residual sum, so recompute of a gated MLP has two of
    /// its three GEMMs.
    #[test]
    fn a_compiler_removes_the_last_gemm_of_a_recomputed_layer() {
        let model = testing::llama(4096, 14336, 32, 8, 2, 32_000);
        let mut forward = Work::default();
        forward.compute[Family::Mlp as usize] = Seconds::new(3.0);
        forward.compute[Family::AttentionCore as usize] = Seconds::new(1.0);
        (forward.flop, forward.launches) = (Flop::new(400.0), 8.0);
        let mut launches = Launches::default();
        launches.families[Family::Mlp as usize] = 6.0;
        launches.families[Family::AttentionCore as usize] = 2.0;
        let of = |last_gemm| {
            let kept = Kept { last_gemm, ..Kept::default() };
            super::of(&Recompute::Full { layers: None }, &model.layer_kinds[0], (&forward, &launches), kept)
        };
        let (whole, shorter) = (of(false), of(true));
        assert_eq!(whole, forward);
        assert_eq!(shorter.compute_time().get(), 3.0);
        assert_eq!((shorter.flop.get(), shorter.launches), (300.0, 6.0));
    }

    #[test]
    fn recompute_by_operator_repeats_the_exchange_only_where_it_is_not_kept() {
        let model = testing::mixture(1024, 2048, 8, 2);
        let mut forward = Work::default();
        forward.communication[Dimension::Expert as usize] = Seconds::new(2.0);
        forward.exposed[Dimension::Expert as usize] = Seconds::new(1.0);
        let policy = Recompute::Selective { modules: [RecomputeModule::Operators].into(), layers: None };
        let of = |no_exchange| {
            let work = super::of(
                &policy,
                &model.layer_kinds[0],
                (&forward, &Launches::default()),
                Kept { no_exchange, ..Kept::default() },
            );
            let expert = Dimension::Expert as usize;
            (work.communication[expert].get(), work.exposed[expert].get())
        };
        assert_eq!(of(false), (0.0, 0.0));
        assert_eq!(of(true), (2.0, 1.0));
    }

    /// PyTorch's checkpoints stop before the last GEMM: of the experts, whose combine then does not run
    /// either, or of shared experts, which run after them.
    #[test]
    fn recompute_that_stops_early_leaves_out_the_combine_of_experts() {
        let mut model = testing::mixture(1024, 2048, 8, 2);
        let mut forward = Work::default();
        for (family, time) in [(Family::AttentionCore, 5.0), (Family::Mlp, 3.0), (Family::Experts, 6.0)] {
            forward.compute[family as usize] = Seconds::new(time);
        }
        forward.communication[Dimension::Expert as usize] = Seconds::new(2.0);
        forward.exposed[Dimension::Expert as usize] = Seconds::new(1.0);
        forward.host = Seconds::new(0.5);
        let of = |model: &railwright_spec::model::Model, policy: &Recompute, rest: bool| {
            let kept = Kept { rest, no_exchange: true, ..Kept::default() };
            let work = super::of(policy, &model.layer_kinds[0], (&forward, &Launches::default()), kept);
            let expert = Dimension::Expert as usize;
            (
                work.compute_time().get(),
                work.communication[expert].get(),
                work.exposed[expert].get(),
                work.host,
            )
        };
        let full = Recompute::Full { layers: None };
        let operators = Recompute::Selective { modules: [RecomputeModule::Operators].into(), layers: None };
        assert_eq!(of(&model, &full, false), (14.0, 2.0, 1.0, forward.host));
        assert_eq!(of(&model, &full, true), (12.0, 1.0, 0.5, forward.host));
        // All of the experts' GEMMs, or two of three, and half of the shared ones.
        assert_eq!(of(&model, &operators, false).0, 7.5);
        assert_eq!((of(&model, &operators, true).0, of(&model, &operators, true).1), (5.5, 1.0));
        let FeedForward::MixtureOfExperts(moe) = &mut model.layer_kinds[0].feed_forward else {
            panic!("experts")
        };
        moe.shared_intermediate_size = 512;
        assert_eq!(of(&model, &full, true), (13.0, 2.0, 1.0, forward.host));
        assert_eq!(of(&model, &operators, true), of(&model, &operators, false));
    }
}
