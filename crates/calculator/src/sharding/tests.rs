//! Gathers, reductions and offload of sharded layers.

use super::*;
use crate::costing::Machine;
use crate::evaluate::evaluate;
use crate::work::Family;
use railwright_spec::cluster;
use railwright_spec::model::by_name;
use railwright_spec::plan::PlanSpec;

/// The evaluated step of an 8B model on 64 H100 without pipeline, with changes, in seconds.
fn step(change: impl Fn(&mut Plan)) -> f64 {
    let model = by_name("llama-3-8b").expect("in the catalogue");
    let cluster = cluster::by_name("dgx-h100", 64).expect("a preset");
    let mut plan = Plan::default_for(&model, &cluster).expect("possible");
    plan.data_parallel = 64;
    plan.tensor_parallel = 1;
    plan.pipeline_parallel = 1;
    plan.sequence_parallel = false;
    plan.micro_batch = 1;
    plan.global_batch = 256;
    plan.sequence_length = 8192;
    change(&mut plan);
    let machine = Machine::new(&cluster);
    let costing = Costing::new(&model, &cluster, &plan, &machine).expect("known software");
    evaluate(&costing).expect("possible").time.total.get()
}

/// FSDP2 copies gathered parameters out of a buffer in both passes, and gradients into one: a read and a
/// write of each.
#[test]
fn gathered_parameters_are_copied_once_in_each_pass() {
    let model = by_name("llama-3-8b").expect("in the catalogue");
    let cluster = cluster::by_name("dgx-h100", 64).expect("a preset");
    for (software, copies) in [("torchtitan-2024-eager", 1.0), ("fsdp1-2023", 0.0)] {
        let spec = PlanSpec {
            software: Some(software.to_owned()),
            tensor_parallel: Some(1),
            pipeline_parallel: Some(1),
            ..PlanSpec::default()
        };
        let plan = spec.resolve(&model, &cluster).expect("resolves");
        assert_eq!((plan.sharding.zero_stage, plan.sharding.reshard_after_forward), (3, true), "{software}");
        let machine = Machine::new(&cluster);
        let costing = Costing::new(&model, &cluster, &plan, &machine).expect("known software");
        let local = layer_parameters(model.layer(0), &plan);
        let mut cost = LayerCost::default();
        gather(&costing, local, &mut cost);
        let copy = |bytes: f64| machine.device.memory_bound(Bytes::new(2.0 * bytes)).time * copies;
        let bytes = local.trained() * plan.precision.parameters.bytes();
        let reduced = local.trained() * plan.precision.gradient_reduce.bytes();
        let shard = Dimension::Shard as usize;
        let of = |purpose: Purpose| -> Seconds {
            let all = update::inside_passes(&costing, local).filter(|one| one.purpose == purpose);
            all.map(|one| one.time(&costing)).sum()
        };
        let gathers = of(Purpose::Parameters);
        let forward = gathers + copy(bytes);
        let backward = forward + of(Purpose::Gradients) + copy(reduced);
        for (made, expected) in [(&cost.forward, forward), (&cost.backward_input, backward)] {
            let ratio = made.communication[shard] / expected;
            assert!((ratio - 1.0).abs() < 1e-9, "{software}: {ratio}");
        }
    }
}

/// In PyTorch's pipelines, a stage without resharding gathers its parameters and reduces its gradients once a
/// step, and the update has the volumes of one pass. torchtitan resolves to it with stages, and to resharding
/// without.
#[test]
fn a_pipeline_stage_without_resharding_communicates_once_a_step() {
    let model = by_name("llama-3-8b").expect("in the catalogue");
    let cluster = cluster::by_name("dgx-h100", 64).expect("a preset");
    let resolved = |pipeline: u64| {
        let spec = PlanSpec {
            software: Some("torchtitan-2025".to_owned()),
            tensor_parallel: Some(1),
            pipeline_parallel: Some(pipeline),
            global_batch: Some(1024),
            ..PlanSpec::default()
        };
        spec.resolve(&model, &cluster).expect("resolves")
    };
    assert!(resolved(1).sharding.reshard_after_forward && !resolved(1).gathers_once());
    let plan = resolved(4);
    assert!(plan.gathers_once() && !plan.holds_gradient_shards() && plan.micro_batches() > 1);
    let machine = Machine::new(&cluster);
    let mut resharding = plan.clone();
    resharding.sharding.reshard_after_forward = true;
    let [once, each] = [&plan, &resharding]
        .map(|plan| Costing::new(&model, &cluster, plan, &machine).expect("known software"));
    let local = layer_parameters(model.layer(0), &plan);
    let micro_batches = plan.micro_batches();
    assert_eq!(update::inside_passes(&once, local).count(), 0);
    assert_eq!(update::around_optimizer(&each, local, micro_batches).count(), 0);
    let volumes = |all: Vec<update::UpdateCollective>| -> Vec<_> {
        let mut volumes: Vec<_> = all
            .iter()
            .map(|one| (format!("{:?}", one.operation), one.bytes.get() as u64, one.count as u64))
            .collect();
        volumes.sort_unstable();
        volumes
    };
    let around = volumes(update::around_optimizer(&once, local, micro_batches).collect());
    assert_eq!(around, volumes(update::inside_passes(&each, local).collect()));
    assert!(!around.is_empty());
}

#[test]
fn sharded_gradients_are_reduced_by_every_micro_batch() {
    let once = step(|p| p.sharding.zero_stage = 1);
    let each = step(|p| p.sharding.zero_stage = 2);
    assert!(each > once * 1.0005, "{each} {once}");
}

/// Llama 3.1 405B on 16,384 H100 (arXiv 2407.21783, table 4): 400 TFLOP/s per GPU at 16M tokens per step,
/// 6.1 to 6.6 s depending on the attention convention, with sharded gradients over 16 interleaved
/// stages. A reduction for every micro-batch takes 8 s.
#[test]
fn sharded_gradients_of_interleaved_stages_are_reduced_once_a_round() {
    let model = by_name("llama-3.1-405b").expect("in the catalogue");
    let cluster = cluster::by_name("dgx-h100", 16_384).expect("a preset");
    let mut plan = Plan::default_for(&model, &cluster).expect("possible");
    (plan.tensor_parallel, plan.pipeline_parallel, plan.data_parallel) = (8, 16, 128);
    (plan.virtual_stages, plan.micro_batch, plan.global_batch, plan.sequence_length) = (8, 1, 2048, 8192);
    plan.layers_per_stage = Some([vec![0], vec![1; 126], vec![0]].concat());
    (plan.sequence_parallel, plan.sharding.zero_stage) = (true, 2);
    plan.software = "megatron-core-2024".to_owned();
    let machine = Machine::new(&cluster);
    let time = |plan: &Plan| {
        let costing = Costing::new(&model, &cluster, plan, &machine).expect("known software");
        evaluate(&costing).expect("possible").time.total.get()
    };
    let sharded = time(&plan);
    plan.sharding.zero_stage = 1;
    let whole = time(&plan);
    assert!((5.6..7.1).contains(&sharded), "{sharded}");
    assert!((whole / sharded - 1.0).abs() < 0.05, "{whole} {sharded}");
}

#[test]
fn offload_costs_what_the_host_link_does_not_hide() {
    let none = step(|_| {});
    let activations = step(|p| p.offload.activations = 1.0);
    let parameters = step(|p| p.offload.parameters = 1.0);
    let optimizer = step(|p| p.offload.optimizer = 1.0);
    // 8k tokens keep some 30 GB in 32 layers: 0.5 s per direction at 63 GB/s, compared with 0.25 s of
    // forward pass.
    assert!(activations > none * 1.2, "{activations} {none}");
    assert!(parameters > none && optimizer > none, "{parameters} {optimizer} {none}");
    // 8.03e9 parameters on 64 ranks. DeepSpeed's CPU optimizer takes 0.7 to 20 ns per parameter of a rank
    // (software.toml).
    let deepspeed = |share: f64| {
        step(|p| {
            p.offload.optimizer = share;
            "deepspeed-2024".clone_into(&mut p.software);
        })
    };
    let each = (deepspeed(1.0) - deepspeed(0.0)) / (8.03e9 / 64.0) * 1e9;
    assert!((1.5..7.0).contains(&each), "{each} ns");
}

/// Layers beyond the number that a policy covers are those of a plan without recompute, with their own
/// gathers and offload.
#[test]
fn recompute_of_a_layer_costs_at_most_that_layer() {
    for (stage, offload) in [(1, 1.0), (3, 0.0), (3, 1.0)] {
        let with = |recompute: Recompute| {
            step(|p| {
                // The corner between device and host is not linear in the layers.
                "megatron-core-2025+cuda-graphs".clone_into(&mut p.software);
                p.recompute = recompute.clone();
                p.offload.activations = offload;
                p.sharding.zero_stage = stage;
            })
        };
        let (none, all) = (with(Recompute::None), with(Recompute::Full { layers: None }));
        let one = with(Recompute::Full { layers: Some(1) });
        let share = (one - none) / (all - none);
        assert!((share - 1.0 / 32.0).abs() < 1e-6, "ZeRO-{stage}, offload {offload}: {none} {one} {all}");
    }
}

/// Copies to the host and gathers use different links at the same time, so neither waits for the other.
#[test]
fn faster_compute_is_never_slower_with_two_transfers() {
    let model = by_name("llama-3-8b").expect("in the catalogue");
    let mut before = f64::INFINITY;
    for factor in [1.0, 2.0, 4.0, 8.0] {
        let mut cluster = cluster::by_name("dgx-a100", 64).expect("a preset");
        let mut plan = Plan::default_for(&model, &cluster).expect("possible");
        (plan.data_parallel, plan.tensor_parallel, plan.pipeline_parallel) = (64, 1, 1);
        (plan.sequence_parallel, plan.sharding.zero_stage) = (false, 3);
        (plan.sequence_length, plan.global_batch, plan.offload.activations) = (2048, 64, 1.0);
        for rate in cluster.accelerator.peak.values_mut() {
            *rate = *rate * factor;
        }
        let machine = Machine::new(&cluster);
        let costing = Costing::new(&model, &cluster, &plan, &machine).expect("known software");
        let time = evaluate(&costing).expect("possible").time.total.get();
        assert!(time <= before, "{factor}: {time} after {before}");
        before = time;
    }
}

/// Qwen3 30B with all parameters on 8 H200 (a published benchmark of a reinforcement-learning trainer):
/// 44.1 s from the throughput, 7.4 s by the step's own timer, which excludes the copies of moments.
/// The same for 4B: 9.6 s and 4.4 s.
#[test]
fn moments_that_wait_in_host_memory_take_the_published_time() {
    let cluster = cluster::by_name("dgx-h200", 8).expect("a preset");
    let machine = Machine::new(&cluster);
    for (name, published) in [("qwen3-30b-a3b", 44.1 - 7.4), ("qwen3-4b", 9.55 - 4.42)] {
        let model = by_name(name).expect("in the catalogue");
        let mut plan = Plan::default_for(&model, &cluster).expect("possible");
        (plan.data_parallel, plan.tensor_parallel, plan.pipeline_parallel) = (8, 1, 1);
        (plan.expert_parallel, plan.sequence_parallel, plan.sharding.zero_stage) = (1, false, 3);
        let time = |software: &str| {
            let software = crate::software::by_id(software).expect("bundled");
            let costing = Costing::with_software(&model, &cluster, &plan, &machine, software);
            evaluate(&costing).expect("possible").time.optimizer.get()
        };
        let copies = time("torchtitan-2025+parked-moments") - time("torchtitan-2025");
        assert!((copies / published - 1.0).abs() < 0.15, "{name}: {copies}");
    }
}

/// 7B on 1,024 A100 with 8,192 sequences of 2,048 tokens (InternEvo's published runs): 7.21 s with
/// optimizer states sharded over all ranks, and 4.52 s sharded over the 8 of a node. In the former,
/// 1,024 owners broadcast their tensors in sequence. The runs have a larger vocabulary.
#[test]
fn broadcasts_of_a_thousand_owners_take_longer_than_those_of_a_node() {
    let model = by_name("llama-2-7b").expect("in the catalogue");
    let cluster = cluster::by_name("dgx-a100", 1024).expect("a preset");
    let mut plan = Plan::default_for(&model, &cluster).expect("possible");
    (plan.data_parallel, plan.tensor_parallel, plan.pipeline_parallel) = (1024, 1, 1);
    (plan.micro_batch, plan.global_batch, plan.sequence_length) = (2, 8192, 2048);
    plan.sequence_parallel = false;
    plan.sharding.zero_stage = 1;
    let machine = Machine::new(&cluster);
    let mut time = |group: Option<u64>, software: &str| {
        plan.sharding.group = group;
        let software = crate::software::by_id(software).expect("bundled");
        let costing = Costing::with_software(&model, &cluster, &plan, &machine, software);
        evaluate(&costing).expect("possible").time.total.get()
    };
    let owners = "flash-attention-2023+owner-broadcast";
    let (all, node) = (time(None, owners), time(Some(8), owners));
    assert!((4.52 * 0.75..4.52 * 1.25).contains(&node), "{node}");
    let more = (7.21 - 4.52) / (all - node);
    assert!((0.75..1.25).contains(&more), "{all} {node}");
    // One gather of all shards has no such latency.
    assert!(time(None, "flash-attention-2023") < node * 1.2);
}

#[test]
fn smaller_buckets_take_longer_over_many_ranks() {
    let model = by_name("llama-3-8b").expect("in the catalogue");
    let cluster = cluster::by_name("dgx-h100", 512).expect("a preset");
    let plan = Plan::default_for(&model, &cluster).expect("possible");
    let machine = Machine::new(&cluster);
    let mut software = crate::software::by_id("megatron-core-2025").expect("bundled").clone();
    let mut time = |elements: f64| {
        software.gradient_bucket_elements = elements;
        software.gradient_bucket_elements_per_rank = 0.0;
        let costing = Costing::with_software(&model, &cluster, &plan, &machine, &software);
        let local = LocalParameters { dense: 1e9, ..LocalParameters::default() };
        stage_update(&costing, local, &StagePasses::default(), 1).gradient_reduce
    };
    assert!(time(1e6) > time(1e8) * 1.5);
}

/// A ring whose transfers attention covers in part, and gathers that all compute covers in part: less
/// attention must not make the layer longer. With one cover for both it became longer by half of the
/// difference.
#[test]
fn attention_covers_the_ring_or_the_gathers() {
    let total = |attention: f64| {
        let mut work = Work::default();
        work.compute[Family::AttentionCore as usize] = Seconds::new(attention);
        work.compute[Family::Mlp as usize] = Seconds::new(1.0);
        // Half of attention covers a ring of 2 seconds.
        work.add_communication(Dimension::Context, Seconds::new(2.0), (2.0 - 0.5 * attention) / 2.0);
        let cover = uncovering(&work);
        hide(0.13, Dimension::Shard, &mut work, cover, Seconds::new(4.0));
        work.time().get()
    };
    assert!(total(1.0) < total(2.0), "{} and {}", total(1.0), total(2.0));
    assert!((total(1.0) - (2.0 + 1.5 + 4.0 - 0.87 * 1.5)).abs() < 1e-12);
}
