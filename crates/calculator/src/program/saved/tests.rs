//! Saved tensors compared with the operations of the same program.

use super::*;
use crate::costing::{Costing, Machine};
use crate::memory::testing;
use crate::program::widths::is_indexed;
use crate::program::{Kernel, operations};
use crate::work::Family;
use proptest::prelude::*;
use railwright_spec::cluster;
use railwright_spec::model::{FeedForward, Mixer, by_name, catalogue};
use railwright_spec::plan::{Plan, PlanSpec};
use railwright_step::Phase;

/// Imbalance of independent layers averages out over the layers that a rank stores; experts of one rank have
/// none.
#[test]
fn stored_activations_have_the_mean_load_of_their_layers() {
    let model = testing::mixture(1024, 2048, 8, 2);
    let layers = model.num_layers() as f64;
    let of = |expert_parallel: u64| {
        let plan = Plan { expert_parallel, expert_imbalance: 1.5, pipeline_parallel: 1, ..testing::plan() };
        SavedSizes::new(&model, &testing::cluster(80.0), &plan, &testing::neutral()).stored_load
    };
    assert!((of(8) - (1.0 + 0.5 / layers.sqrt())).abs() < 1e-12);
    assert!((of(1) - 1.0).abs() < 1e-12);
}

/// Elements read and written by the GEMMs of a family in the forward pass: input of the first, output of the
/// first, input of the last.
fn operands(costing: &Costing<'_>, layer: &Layer, family: Family) -> [f64; 3] {
    let mut found: Option<[f64; 3]> = None;
    operations(costing, layer, &mut |operation| {
        let (rows, n, k) = match operation.kernel {
            Kernel::Product { m, n, k, .. } => (m, n, k),
            Kernel::GroupedProduct { groups, m, n, k, .. } => (groups * m, n, k),
            _ => return,
        };
        // Projections to and from a latent width surround the MLP.
        if operation.family == family
            && operation.phase == Phase::Forward
            && !operation.name.starts_with("latent")
        {
            let all = found.get_or_insert([rows * k, rows * n, 0.0]);
            if operation.name.ends_with("down") {
                all[2] = rows * k;
            }
        }
    });
    found.unwrap_or_default()
}

proptest! {
    /// Widths of saved tensors come from the mixer and the MLP, those of GEMMs from the weights: both are the
    /// same tensors, in every model of the catalogue and on every rank.
    #[test]
    fn saved_tensors_are_the_operands_of_the_products(
        which in any::<prop::sample::Index>(), tp in 0..4_u32, micro_batch in 1..4_u64, sequence_parallel in any::<bool>(),
    ) {
        let name = &which.get(catalogue()).name;
        let model = by_name(name).expect("in the catalogue");
        let cluster = cluster::by_name("dgx-h100", 64).expect("a preset");
        let spec = PlanSpec {
            tensor_parallel: Some(1 << tp),
            sequence_parallel: Some(sequence_parallel && tp > 0),
            micro_batch: Some(micro_batch),
            sequence_length: Some(1024),
            expert_imbalance: Some(1.0),
            software: Some("megatron-core-2025".to_owned()),
            ..PlanSpec::default()
        };
        let Ok(plan) = spec.resolve(&model, &cluster) else { return Ok(()) };
        let machine = Machine::new(&cluster);
        let costing = Costing::new(&model, &cluster, &plan, &machine).expect("known software");
        let mut software = testing::neutral();
        (software.expert_output, software.narrow_attention_output) = (0.0, false);
        let sizes = SavedSizes::new(&model, &cluster, &plan, &software);
        let saving = Saving { plan: &plan, software: &software, sizes: &sizes };
        let a = sizes.micro.activation_bytes;
        for kind in &model.layer_kinds {
            let sum = |chosen: &dyn Fn(&Saved) -> bool| {
                let mut bytes = 0.0;
                layer(&saving, kind, &mut |tensor| bytes += if chosen(&tensor) { tensor.bytes } else { 0.0 });
                bytes / a
            };
            let near = |got: f64, expected: f64, what: &str| {
                prop_assert!((got - expected).abs() <= 1e-9 * expected, "{name} {what}: {got} {expected}");
                Ok(())
            };
            if matches!(kind.mixer, Mixer::Attention(_) | Mixer::Latent(_)) {
                let mut output = 0.0_f64;
                layer(&saving, kind, &mut |tensor| {
                    // With a learned index, the latents' up-projection is between attention and output.
                    let is_operand = if is_indexed(&kind.mixer) {
                        tensor.module == Module::AttentionOutput
                    } else {
                        tensor.origin == Origin::Attention
                    };
                    if is_operand { output = output.max(tensor.bytes / a) }
                });
                // Groups of heads with matrices of their own are one GEMM with the width of a group.
                let operand = operands(&costing, kind, Family::AttentionOutput)[0];
                let groups = (output / operand).round().max(1.0);
                prop_assert!(groups == 1.0 || model.family == "deepseek_v4", "{name}: {groups} groups");
                near(output, groups * operand, "output")?;
            }
            let is_kept = |tensor: &Saved| !tensor.origin.is_of_recompute();
            let [input, inner, down] = operands(&costing, kind, Family::Mlp);
            let own = sum(&|t| is_kept(t) && matches!(t.module, Module::Mlp | Module::SharedExpert));
            match &kind.feed_forward {
                FeedForward::Dense(_) if kind.parallel_residual => near(own, inner + down, "mlp")?,
                FeedForward::Dense(_) => {
                    let shard = sizes.micro.sequence_shard_tokens / sizes.micro.tokens;
                    near(own, input * shard + inner + down, "mlp")?;
                }
                FeedForward::MixtureOfExperts(_) => {
                    near(own, inner + down, "shared expert")?;
                    let routed = sum(&|t| is_kept(t) && t.module == Module::Experts);
                    near(routed, operands(&costing, kind, Family::Experts).iter().sum(), "experts")?;
                }
                FeedForward::None => {}
            }
        }
    }
}
