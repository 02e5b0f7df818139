//! Each warning appears in its case and not in others.

use super::super::tests::estimate_of;
use railwright_spec::plan::{PlanSpec, Recompute, Sharding};

fn ids(name: &str, preset: &str, devices: u64, change: impl FnOnce(&mut PlanSpec)) -> Vec<String> {
    estimate_of(name, preset, devices, change).warnings.into_iter().map(|w| w.id).collect()
}

#[track_caller]
fn has(ids: &[String], id: &str) {
    assert!(ids.iter().any(|i| i == id), "no {id} in {ids:?}");
}

#[test]
fn a_plan_that_does_not_fit_is_reported_once() {
    let found = ids("llama-3-70b", "dgx-h100", 8, |p| p.tensor_parallel = Some(8));
    has(&found, "memory-does-not-fit");
    assert!(!found.iter().any(|i| i == "memory-margin-small"), "{found:?}");
}

/// A remedy that the plan has already used up is not advised.
#[test]
fn remedies_of_a_plan_that_does_not_fit_are_open() {
    let advice = |change: &dyn Fn(&mut PlanSpec)| {
        let found = estimate_of("llama-3.1-405b", "dgx-h100", 64, |p| {
            (p.tensor_parallel, p.pipeline_parallel, p.uneven_stages) = (Some(8), Some(8), Some(true));
            change(p);
        });
        let warning = found.warnings.iter().find(|w| w.id == "memory-does-not-fit").expect("it does not fit");
        warning.message.split("; ").last().unwrap_or_default().to_owned()
    };
    let full = Some(Recompute::Full { layers: None });
    assert_eq!(advice(&|p| p.recompute = Some(Recompute::None)), "use more recompute");
    assert_eq!(advice(&|p| p.recompute.clone_from(&full)), "use more devices, or offload to the host");
    let two = |p: &mut PlanSpec| {
        (p.pipeline_parallel, p.micro_batch) = (Some(4), Some(2));
        p.recompute.clone_from(&full);
    };
    assert_eq!(advice(&two), "use more sharding or stages, or smaller micro-batches");
}

/// Where logits are the largest item, the advice begins with the loss. Sharding and stages leave logits as
/// they are, so they are not advised where the logits alone exceed the device.
#[test]
fn large_logits_are_reduced_by_a_fused_loss() {
    let advice = |length: u64| {
        let found = estimate_of("qwen3-4b", "dgx-h100", 8, |p| {
            (p.sequence_length, p.micro_batch) = (Some(length), Some(1));
            p.sharding = Some(Sharding { zero_stage: 3, group: None, reshard_after_forward: true });
            p.recompute = Some(Recompute::Full { layers: None });
        });
        let warning = found.warnings.iter().find(|w| w.id == "memory-does-not-fit").expect("it does not fit");
        warning.message.split("; ").last().unwrap_or_default().to_owned()
    };
    let long = advice(131_072);
    assert!(long.starts_with("use a fused loss, since logits are the largest item (`--software "), "{long}");
    assert!(long.contains("+fused-loss`)") && !long.contains("stages"), "{long}");
}

/// FSDP has two ways to accumulate gradients. The second one is a feature, which adds a copy of all
/// gradients.
#[test]
fn accumulation_under_full_sharding_is_open() {
    let of = |software: &str, micro_batches: u64| {
        estimate_of("llama-3-8b", "dgx-h100", 64, |p| {
            p.software = Some(software.into());
            p.sharding = Some(railwright_spec::plan::Sharding {
                zero_stage: 3,
                group: None,
                reshard_after_forward: true,
            });
            p.micro_batches = Some(micro_batches);
        })
    };
    let warns = |software: &str, micro_batches: u64| {
        of(software, micro_batches).warnings.iter().any(|w| w.id == "gradients-may-accumulate-whole")
    };
    assert!(warns("torchtitan-2025", 8) && !warns("torchtitan-2025", 1));
    assert!(!warns("torchtitan-2025+unsharded-accumulation", 8));
    // DeepSpeed refuses `no_sync` with sharded gradients.
    assert!(!warns("deepspeed-2024", 8));
    let peak = |software: &str, micro_batches: u64| of(software, micro_batches).memory.peak.get();
    let added = peak("torchtitan-2025+unsharded-accumulation", 8) - peak("torchtitan-2025", 8);
    let gradients = 8.03e9 * 4.0 * 63.0 / 64.0;
    assert!((added / gradients - 1.0).abs() < 0.15, "{added} {gradients}");
    let one = [of("torchtitan-2025+unsharded-accumulation", 1), of("torchtitan-2025", 1)];
    assert_eq!(one[0].memory.peak, one[1].memory.peak);
}

#[test]
fn a_starved_pipeline_is_reported() {
    let found = ids("llama-3-8b", "dgx-h100", 8, |p| {
        p.tensor_parallel = Some(1);
        p.pipeline_parallel = Some(8);
        p.micro_batches = Some(4);
    });
    has(&found, "few-micro-batches");
    has(&found, "bubble-large");
}

#[test]
fn an_uneven_split_is_reported() {
    let found = ids("llama-3-8b", "dgx-h100", 4, |p| {
        p.tensor_parallel = Some(1);
        p.pipeline_parallel = Some(4);
        p.layers_per_stage = Some(vec![12, 8, 6, 6]);
    });
    has(&found, "stages-uneven");
}

#[test]
fn tensor_parallelism_across_domains_is_reported() {
    let found = ids("llama-3-70b", "dgx-h100", 64, |p| p.tensor_parallel = Some(16));
    has(&found, "tensor-parallel-across-domains");
    has(&found, "network-uncalibrated");
}

#[test]
fn tiny_micro_batches_are_reported() {
    let found = ids("llama-3.2-1b", "dgx-h100", 8, |p| {
        p.tensor_parallel = Some(8);
        p.sequence_length = Some(256);
    });
    has(&found, "host-bound");
    has(&found, "tokens-outside-measurements");
}

#[test]
fn an_accelerator_without_measurements_is_reported() {
    has(&ids("llama-3-8b", "h800", 8, |_| ()), "operators-derived");
}

#[test]
fn a_comfortable_run_has_no_warning() {
    let found = ids("llama-3-8b", "dgx-h100", 8, |p| {
        p.tensor_parallel = Some(2);
        p.recompute = Some(Recompute::Full { layers: None });
        p.sequence_length = Some(4096);
    });
    assert_eq!(found, Vec::<String>::new());
}

/// The cost of experts in several domains was fitted to runs with and without the overlap, so that the
/// setting changes no time there. Within a domain it does.
#[test]
fn an_overlap_of_experts_without_effect_is_reported() {
    let of = |experts: u64, expert: bool| {
        estimate_of("qwen3-30b-a3b", "dgx-h100", 64, |p| {
            p.tensor_parallel = Some(1);
            p.expert_parallel = Some(experts);
            p.software = Some("megatron-core-2025".into());
            p.overlap_expert = Some(expert);
        })
    };
    for (experts, has_effect) in [(8, true), (32, false)] {
        let [with, without] = [true, false].map(|overlap| of(experts, overlap));
        let warns = |id: &str| with.warnings.iter().any(|warning| warning.id == id);
        assert_eq!(warns("expert-overlap-without-effect"), !has_effect, "{experts}");
        assert_eq!(with.step_time != without.step_time, has_effect, "{experts}");
    }
}
