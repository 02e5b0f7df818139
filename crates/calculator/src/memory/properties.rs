//! Properties of any plan.

use super::parameters::per_parameter;
use super::sum::prepare;
use super::{Kind, MemoryInput, Moment, SoftwareCatalogue, peak, report, testing};
use crate::program::saved;
use proptest::prelude::*;
use railwright_spec::model::Module;
use railwright_spec::plan::{Plan, Recompute, Schedule};
use railwright_spec::precision::DataType;

fn any_plan() -> impl Strategy<Value = Plan> {
    let degrees = (0..4_u32, 0..4_u32, 0..5_u32, 0..3_u32, 0..3_u32);
    let rest = (0..4_u32, 1..64_u64, 0..4_u8, 0..5_usize, any::<bool>(), any::<bool>());
    (degrees, rest).prop_map(|((tp, pp, dp, cp, vp), (micro, batches, zero, schedule, sp, narrow))| {
        let mut plan = testing::plan();
        plan.tensor_parallel = 1 << tp;
        plan.pipeline_parallel = 1 << pp;
        plan.data_parallel = 1 << dp;
        plan.context_parallel = 1 << cp;
        plan.virtual_stages = 1 << vp;
        plan.micro_batch = 1 << micro;
        plan.global_batch = plan.micro_batch * plan.data_parallel * batches;
        plan.sharding.zero_stage = zero;
        plan.sequence_parallel = sp;
        plan.sequence_length = 2048;
        plan.schedule = [
            Schedule::OneForwardOneBackward,
            Schedule::Gpipe,
            Schedule::ZbH2,
            Schedule::ZbV,
            Schedule::DualPipe,
        ][schedule];
        if narrow {
            plan.precision.compute = DataType::Fp8;
        }
        plan
    })
}

fn gib(plan: &Plan, software: &str) -> f64 {
    let model = testing::llama(2048, 8192, 16, 8, 32, 32000);
    let cluster = testing::cluster(80.0);
    let catalogue = SoftwareCatalogue::shared().expect("reads");
    let software = catalogue.get(software);
    peak(&MemoryInput { model: &model, cluster: &cluster, plan, software, in_flight: None }).device.gib()
}

/// Activations of one layer of [`gib`]'s model on one rank: `s·b·h·(34 + 5·a·s/h)` bytes, not sharded by
/// tensor parallelism (Korthikanti et al. 2022, equation 1). A fragmented allocator reserves up to a quarter
/// more.
fn layer_gib(plan: &Plan) -> f64 {
    let [s, b, h, a] =
        [plan.sequence_length / plan.context_parallel, plan.micro_batch, 2048, 16].map(|count| count as f64);
    s * b * h * (34.0 + 5.0 * a * s / h) / f64::from(1_u32 << 30)
}

proptest! {
    /// Without a second rank of the same weights nothing is sharded. Only an optimizer that keeps more under ZeRO needs more.
    #[test]
    fn sharding_on_one_rank_changes_nothing(plan in any_plan(), which in 0..5_usize) {
        let software = ["megatron-core-2025", "megatron-deepspeed-2022", "torchtitan-2024-eager", "nanotron-2024", "torchtune-2024"][which];
        // Both ends of a pipeline with two directions hold the same weights.
        prop_assume!(plan.schedule.copies(plan.pipeline_parallel) == 1);
        let catalogue = SoftwareCatalogue::shared().expect("reads");
        let software = catalogue.get(software);
        let at = |zero_stage: u8| {
            let mut plan = plan.clone();
            (plan.data_parallel, plan.context_parallel, plan.sharding.zero_stage) = (1, 1, zero_stage);
            // Otherwise the tensor ranks of a stage hold copies of an expert, which are sharded.
            plan.expert_tensor_parallel = plan.tensor_parallel;
            per_parameter(&plan, software)
        };
        let mut none = at(0);
        let device = 1.0 - plan.offload.optimizer;
        none.dense.moments += software.optimizer_extra * device;
        none.routed.moments += software.optimizer_extra * device;
        prop_assert_eq!(at(1), none);
        prop_assert_eq!(at(2), none);
    }

    #[test]
    fn less_work_or_more_sharding_never_needs_more(plan in any_plan(), which in 0..5_usize) {
        let software = ["megatron-core-2025", "megatron-lm-2022", "torchtitan-2024-eager", "nanotron-2024", "torchtune-2024"][which];
        let before = gib(&plan, software);
        prop_assert!(before.is_finite() && before > 0.0);
        let mut smaller = plan.clone();
        smaller.micro_batch = (plan.micro_batch / 2).max(1);
        smaller.global_batch = plan.global_batch / plan.micro_batch * smaller.micro_batch;
        prop_assert!(gib(&smaller, software) <= before, "half the micro-batch");
        let mut recomputed = plan.clone();
        recomputed.recompute = Recompute::Full { layers: None };
        // The recomputed layer is held together with its input: with few layers alive this exceeds the saving.
        let most = before + 1.25 * layer_gib(&plan);
        prop_assert!(gib(&recomputed, software) <= most, "full recompute");
        if (1..3).contains(&plan.sharding.zero_stage) {
            let mut none = plan.clone();
            none.sharding.zero_stage = 0;
            none.optimizer = plan.optimizer;
            let extra = SoftwareCatalogue::shared().expect("reads").get(software).optimizer_extra;
            prop_assert!(extra > 0.0 || before <= gib(&none, software), "sharding");
        }
    }

    /// Without recompute, the activations of a stage are the program's saved tensors of its layers and ends,
    /// for each micro-batch in flight.
    #[test]
    fn activations_are_the_saved_tensors_of_the_program(plan in any_plan(), which in 0..3_usize) {
        let name = ["llama-3-8b", "mixtral-8x7b", "deepseek-v2-lite"][which];
        let model = railwright_spec::model::by_name(name).expect("in the catalogue");
        let software = SoftwareCatalogue::shared().expect("reads").get("megatron-lm-2022");
        let cluster = testing::cluster(80.0);
        let input = MemoryInput { model: &model, cluster: &cluster, plan: &plan, software, in_flight: None };
        let prepared = prepare(&input);
        let saving = input.saving(&prepared.sizes);
        for stage in report(&input).stages.iter().filter(|s| matches!(s.moment, Moment::Loss | Moment::Backward)) {
            let mut expected = 0.0;
            for (chunk, alive) in prepared.stages[stage.stage].iter().zip(&stage.in_flight) {
                let mut one = saved::stage_output(&saving, chunk.head);
                let mut add = |tensor: saved::Saved| one += tensor.bytes;
                for index in chunk.start..chunk.start + chunk.count {
                    saved::layer(&saving, model.layer(index), &mut |tensor| {
                        if !tensor.origin.is_of_recompute() {
                            add(tensor);
                        }
                    });
                }
                if chunk.embedding {
                    add(saved::embedding(&prepared.sizes));
                }
                if chunk.head {
                    saved::head(&model, &saving, &mut add);
                }
                expected += one * alive;
            }
            let is_head = |item: &super::Item| item.kind == Kind::Logits && item.module == Some(Module::Head);
            let kept = stage.items.iter().filter(|item| item.kind == Kind::Activations || is_head(item));
            let got: f64 = kept.map(|item| item.bytes.get()).sum();
            // Logits contain what the loss needs in addition, and lack what it has freed.
            let head = prepared.head;
            let with_head = prepared.stages[stage.stage].iter().any(|chunk| chunk.head);
            let loss = if with_head { head.peak - head.saved } else { 0.0 };
            let loss = match stage.moment {
                Moment::Loss => loss,
                _ if with_head && super::sum::gives_head_back(plan.schedule) => {
                    let alive = prepared.stages[stage.stage].iter().zip(&stage.in_flight);
                    -alive.filter(|(chunk, _)| chunk.head).map(|(_, n)| head.saved * n.min(1.0)).sum::<f64>()
                }
                _ => 0.0,
            };
            prop_assert!((got - expected - loss).abs() <= 1e-9 * expected, "{name} {got} {expected} {loss}");
        }
    }
}
