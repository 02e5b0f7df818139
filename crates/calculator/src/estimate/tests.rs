//! Estimates of known runs: sums that must agree and parts that must exist.

use super::*;
use railwright_spec::plan::{PlanSpec, Recompute};
use railwright_spec::run::Training;
use railwright_spec::{cluster, model};

pub(super) fn estimate_of(
    name: &str,
    preset: &str,
    devices: u64,
    change: impl FnOnce(&mut PlanSpec),
) -> Estimate {
    let model = model::by_name(name).expect("in the catalogue");
    let cluster = cluster::by_name(preset, devices).expect("a preset");
    let mut spec = PlanSpec::default();
    change(&mut spec);
    let plan = spec.resolve(&model, &cluster).expect("resolves");
    let options = EstimateOptions { open_settings: spec.open_settings(), ..EstimateOptions::default() };
    estimate(&model, &cluster, &plan, &options).expect("priced")
}

fn check_sums(part: &Part) {
    if part.children.is_empty() {
        return;
    }
    let sum: Seconds = part.children.iter().map(|c| c.time).sum();
    let error = (sum - part.time).get().abs();
    assert!(error <= 1e-9 * part.time.get().abs().max(1e-3), "{}: {sum:?} against {:?}", part.id, part.time);
    part.children.iter().for_each(check_sums);
}

pub(super) fn experts() -> Estimate {
    estimate_of("deepseek-v3", "dgx-h100", 256, |p| {
        p.pipeline_parallel = Some(4);
        p.expert_parallel = Some(8);
        p.layers_per_stage = Some(vec![15, 16, 15, 15]);
    })
}

pub(super) fn large() -> Estimate {
    estimate_of("llama-3.1-405b", "dgx-h100", 1024, |p| {
        p.tensor_parallel = Some(8);
        p.pipeline_parallel = Some(16);
        p.layers_per_stage = Some([vec![7], vec![8; 14], vec![7]].concat());
        p.global_batch = Some(512);
        p.sequence_length = Some(8192);
    })
}

#[test]
fn the_parts_of_a_step_sum_to_it_at_every_level() {
    check_sums(&large().time);
    check_sums(&experts().time);
    check_sums(&estimate_of("llama-3-8b", "dgx-h100", 8, |_| ()).time);
}

#[test]
fn a_405b_run_is_believable() {
    let estimate = large();
    let mfu = estimate.efficiency.mfu(crate::model_flop::Convention::FullAttention).expect("a peak");
    // Executed arithmetic counts attention under a causal mask: only the full convention may be above it.
    let causal = estimate.efficiency.mfu(crate::model_flop::Convention::CausalAttention).expect("a peak");
    assert!(estimate.efficiency.hardware[0].share >= causal * (1.0 - 1e-9), "{:?}", estimate.efficiency);
    assert!((0.3..0.55).contains(&mfu), "{mfu}");
    let memory: f64 = estimate.memory.stages[0].kinds.iter().map(|k| k.bytes.get()).sum();
    assert!((memory / estimate.memory.stages[0].device.get() - 1.0).abs() < 1e-9);
    assert_eq!(estimate.stages.iter().map(|s| s.layers).sum::<u64>(), 126);
    for stage in &estimate.stages {
        assert!(stage.busy.get() > 0.0 && stage.bubble.get() >= 0.0, "{stage:?}");
    }
    let json = serde_json::to_string(&estimate).expect("serialises");
    assert!(json.len() < 200_000, "{}", json.len());
}

/// Full recompute repeats the forward pass: a quarter of the work (Korthikanti et al., arXiv 2205.05198,
/// section 5: 30 to 40% overhead).
#[test]
fn recompute_is_a_loss_as_large_as_it_is() {
    let of = |recompute| {
        estimate_of("llama-3-8b", "dgx-h100", 8, |p| {
            // Without graphs, waiting for the host is the larger loss.
            p.software = Some("megatron-core-2025+cuda-graphs".into());
            p.tensor_parallel = Some(8);
            p.recompute = Some(recompute);
        })
    };
    let full = of(Recompute::Full { layers: None });
    let (title, share) = full.time.largest_loss().expect("a loss");
    assert_eq!(title, "recompute");
    let longer = full.step_time.get() / of(Recompute::None).step_time.get() - 1.0;
    assert!((0.15..0.30).contains(&share) && (0.2..0.4).contains(&longer), "{share} {longer}");
    let without = of(Recompute::None);
    assert_ne!(without.time.largest_loss().expect("a loss").0, "recompute");
}

#[test]
fn a_token_budget_has_a_bill() {
    let model = model::by_name("llama-3.1-405b").expect("in the catalogue");
    let cluster = cluster::by_name("dgx-h100", 1024).expect("a preset");
    let spec = PlanSpec {
        tensor_parallel: Some(8),
        pipeline_parallel: Some(8),
        layers_per_stage: Some([vec![15], vec![16; 6], vec![15]].concat()),
        ..PlanSpec::default()
    };
    let plan = spec.resolve(&model, &cluster).expect("resolves");
    let training =
        Training { tokens: Some(15.6e12), availability: 0.9, checkpoints: None, disruptions: None };
    let options = EstimateOptions { training, ..EstimateOptions::default() };
    let estimate = estimate(&model, &cluster, &plan, &options).expect("priced");
    let bill = estimate.money.expect("a bill");
    let hours = 15.6e12 / estimate.throughput.tokens_per_second_per_device / 3600.0 / 0.9;
    assert!((bill.device_hours.0 / hours - 1.0).abs() < 1e-3, "{} {hours}", bill.device_hours.0);
}

/// The calls in tables and timelines take the total time of the fast path.
fn check_calls(name: &str, devices: u64, change: impl FnOnce(&mut PlanSpec)) {
    let model = model::by_name(name).expect("in the catalogue");
    let cluster = cluster::by_name("dgx-h100", devices).expect("a preset");
    let mut spec = PlanSpec::default();
    change(&mut spec);
    let plan = spec.resolve(&model, &cluster).expect("resolves");
    let machine = Machine::new(&cluster);
    let costing = Costing::new(&model, &cluster, &plan, &machine).expect("known software");
    let evaluation = evaluate(&costing).expect("priced");
    for (index, chunk) in evaluation.chunks.iter().enumerate() {
        let calls = calls::of_chunk(&costing, &evaluation.chunks, index);
        let cost = &chunk.cost;
        for (pass, work) in [
            (railwright_step::Phase::Forward, &cost.forward),
            (railwright_step::Phase::BackwardInput, &cost.backward_input),
            (railwright_step::Phase::BackwardWeight, &cost.backward_weight),
            (railwright_step::Phase::Recompute, &cost.recompute),
        ] {
            for dimension in crate::work::Dimension::ALL {
                let named: Seconds = calls
                    .iter()
                    .filter(|c| c.phase == pass && c.dimension == dimension)
                    .map(|c| c.time(&costing))
                    .sum();
                let priced = work.communication[dimension as usize];
                let error = (named - priced).get().abs();
                assert!(
                    error <= 1e-9 * priced.get(),
                    "{name} {index} {pass:?} {dimension:?}: {named:?} {priced:?}"
                );
            }
        }
    }
}

#[test]
fn named_collectives_take_the_priced_time() {
    use railwright_spec::plan::{ContextKind, Recompute, Sharding};
    check_calls("llama-3.1-405b", 1024, |p| {
        p.tensor_parallel = Some(8);
        p.pipeline_parallel = Some(16);
        p.layers_per_stage = Some([vec![7], vec![8; 14], vec![7]].concat());
    });
    for kind in [ContextKind::Ring, ContextKind::AllGather, ContextKind::Ulysses] {
        check_calls("llama-3-70b", 256, |p| {
            p.tensor_parallel = Some(4);
            p.sequence_parallel = Some(false);
            p.context_parallel = Some(2);
            p.pipeline_parallel = Some(4);
            p.context_kind = Some(kind);
            p.recompute = Some(Recompute::Full { layers: Some(3) });
        });
    }
    check_calls("deepseek-v3", 512, |p| {
        p.pipeline_parallel = Some(8);
        p.expert_parallel = Some(64);
        p.layers_per_stage = Some(vec![7, 8, 8, 8, 8, 8, 7, 7]);
        p.recompute = Some(Recompute::core_attention());
    });
    check_calls("mixtral-8x7b", 64, |p| {
        p.sharding = Some(Sharding { zero_stage: 3, group: Some(16), reshard_after_forward: true });
        p.tensor_parallel = Some(2);
        p.expert_parallel = Some(4);
        p.expert_tensor_parallel = Some(2);
    });
}

#[test]
fn foundations_and_rows_sum_to_the_step() {
    let estimate = large();
    let sum: f64 = estimate.provenance.iter().map(|f| f.share).sum();
    assert!((sum - 1.0).abs() < 1e-9, "{sum}");
    let exposed: Seconds =
        estimate.communication.iter().filter(|r| r.dimension == "tensor").filter_map(|r| r.exposed).sum();
    let part = estimate.time.find("exposed.tensor").expect("tensor parallel").time;
    assert!((exposed / part - 1.0).abs() < 1e-9);
    assert!(estimate.communication.iter().any(|r| r.dimension == "data"));
}

/// Fused passes of two directions hide each other's communication: in the table of stages as in the
/// breakdown.
#[test]
fn stages_and_breakdown_have_one_exposed_time() {
    let dual = estimate_of("deepseek-v3", "h800", 2048, |p| {
        p.pipeline_parallel = Some(16);
        p.expert_parallel = Some(64);
        p.uneven_stages = Some(true);
        p.schedule = Some(railwright_spec::plan::Schedule::DualPipe);
        p.global_batch = Some(15_360);
        p.sequence_length = Some(4096);
    });
    for estimate in [dual, large(), experts()] {
        let exposed = estimate.time.find("exposed").expect("communication").time;
        let critical = estimate.stages.iter().find(|stage| stage.critical).expect("one");
        assert!((critical.exposed / exposed - 1.0).abs() < 1e-9, "{critical:?} {exposed:?}");
        let hidden = estimate.communication.iter().filter(|row| row.dimension == "expert");
        let (all, shown) = hidden.fold((Seconds::ZERO, Seconds::ZERO), |(all, shown), row| {
            (all + row.time, shown + row.exposed.unwrap_or(row.time))
        });
        assert!(shown <= all && critical.exposed <= critical.busy, "{critical:?}");
    }
}

#[test]
fn the_recompute_of_a_step_is_that_of_its_largest_loss() {
    let estimate =
        estimate_of("llama-3-8b", "dgx-h100", 8, |p| p.recompute = Some(Recompute::Full { layers: None }));
    let recompute = estimate.time.recompute();
    assert!(recompute.time > Seconds::ZERO && recompute.share > 0.1, "{recompute:?}");
    assert_eq!(estimate.time.largest_loss(), Some(("recompute", recompute.share)));
    assert_eq!(large().time.recompute().time, Seconds::ZERO);
}

/// The step waits for the slowest update. A title without a remark is the time of the critical stage, as in
/// the table of communication.
#[test]
fn exposed_data_parallel_time_names_another_stage() {
    let estimate = large();
    let part = estimate.time.find("data_parallel").expect("gradients").clone();
    let rows = estimate.communication.iter().filter(|row| row.dimension == "data");
    let own: Seconds = rows.filter_map(|row| row.exposed).sum();
    let is_own = (own / part.time - 1.0).abs() < 0.02;
    assert_eq!(is_own, !part.title.contains("slowest stage"), "{own:?} {part:?}");
}

/// Every number of a plan replaced by an absurd one: an error or a price, never a panic or a step time that
/// is NaN.
#[test]
fn absurd_plans_are_refused_or_priced() {
    let model = model::by_name("mixtral-8x7b").expect("in the catalogue");
    let cluster = cluster::by_name("dgx-h100", 64).expect("a preset");
    let spec = PlanSpec {
        tensor_parallel: Some(2),
        pipeline_parallel: Some(4),
        expert_parallel: Some(4),
        micro_batches: Some(8),
        ..PlanSpec::default()
    };
    let plan = spec.resolve(&model, &cluster).expect("resolves");
    let fields: [fn(&mut Plan) -> &mut u64; 11] = [
        |p| &mut p.tensor_parallel,
        |p| &mut p.pipeline_parallel,
        |p| &mut p.virtual_stages,
        |p| &mut p.context_parallel,
        |p| &mut p.data_parallel,
        |p| &mut p.expert_parallel,
        |p| &mut p.expert_tensor_parallel,
        |p| &mut p.micro_batch,
        |p| &mut p.global_batch,
        |p| &mut p.sequence_length,
        |p| &mut p.vocabulary_multiple,
    ];
    let mut refused = 0;
    for field in fields {
        for value in [0, 3, 1 << 20, 1 << 40, u64::MAX] {
            let mut absurd = plan.clone();
            *field(&mut absurd) = value;
            match estimate(&model, &cluster, &absurd, &EstimateOptions::default()) {
                Ok(estimate) => assert!(estimate.step_time.is_finite(), "{absurd:?}"),
                Err(_) => refused += 1,
            }
        }
    }
    for value in [f64::NAN, f64::INFINITY, -1.0, 0.0, 1e300] {
        for field in [
            (|p| &mut p.expert_imbalance) as fn(&mut Plan) -> &mut f64,
            |p| &mut p.offload.optimizer,
            |p| &mut p.offload.activations,
        ] {
            let mut absurd = plan.clone();
            *field(&mut absurd) = value;
            match estimate(&model, &cluster, &absurd, &EstimateOptions::default()) {
                Ok(estimate) => assert!(estimate.step_time.is_finite(), "{value}"),
                Err(_) => refused += 1,
            }
        }
    }
    assert!(refused > 40, "{refused} refused");
}
