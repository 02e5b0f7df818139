//! Elasticities compared with the sum rule, signs, and parameters without an effect.

use super::*;
use proptest::prelude::*;
use railwright_calculator::memory::Fit;
use railwright_spec::run::RunSpec;

fn run(settings: &[&str]) -> Run {
    let mut spec = RunSpec::default();
    for setting in settings {
        spec.set(setting).expect(setting);
    }
    let model = spec.model.resolve(|_| Err(Problem::new("not read"))).expect("known");
    let cluster = spec.cluster.resolve().expect("known");
    let plan = spec.plan.resolve(&model, &cluster).expect("possible");
    let (training, cost) = (spec.training.resolve().expect("sound"), spec.cost.resolve().expect("sound"));
    Run {
        model,
        cluster,
        plan,
        training,
        cost,
        software_origin: spec.software_origin(),
        open_settings: spec.plan.open_settings(),
    }
}

fn of(settings: &[&str]) -> Sensitivity {
    sensitivity(&run(settings)).expect("priced")
}

fn find<'a>(answer: &'a Sensitivity, id: &str) -> &'a Figure {
    answer.figures.iter().find(|figure| figure.id == id).unwrap_or_else(|| panic!("no {id}"))
}

const RUNS: &[&[&str]] = &[
    &[
        "model.name=llama-3.1-405b",
        "cluster.preset=dgx-h100",
        "cluster.devices=16384",
        "plan.tensor_parallel=8",
        "plan.pipeline_parallel=16",
        "plan.uneven_stages=true",
        "plan.global_batch=2048",
    ],
    &[
        "model.name=deepseek-v3-671b",
        "cluster.preset=h800",
        "cluster.devices=2048",
        "plan.pipeline_parallel=16",
        "plan.expert_parallel=64",
        "plan.uneven_stages=true",
        "plan.precision=fp8",
        "plan.global_batch=15360",
        "plan.sequence_length=4096",
    ],
    &["model.name=llama-3-8b", "cluster.preset=dgx-h100", "plan.sharding=fsdp", "plan.micro_batch=2"],
    &[
        "model.name=gpt2",
        "cluster.preset=dgx-b200",
        "plan.software=megatron-core-2025",
        "plan.sequence_length=256",
    ],
];

#[test]
fn rates_and_times_sum_to_one() {
    for settings in RUNS {
        let answer = of(settings);
        assert!(answer.sum.rest.abs() < 0.02, "{settings:?}: {:?}", answer.sum);
        assert!(answer.sum.rates <= 0.0 && answer.sum.times >= 0.0);
    }
}

#[test]
fn signs_are_those_of_physics() {
    for figure in RUNS.iter().flat_map(|settings| of(settings).figures) {
        let sign = if figure.greater_is_faster { -1.0 } else { 1.0 };
        for (what, x) in [("elasticity", figure.elasticity), ("more", figure.more), ("less", -figure.less)] {
            assert!(x * sign >= -1e-3, "{}: {what} {x}", figure.id);
        }
        assert!(figure.best <= 1e-9 && figure.best > -1.0, "{}: {}", figure.id, figure.best);
    }
}

#[test]
fn the_order_is_that_of_the_swing() {
    for settings in RUNS {
        let swings: Vec<f64> = of(settings).figures.iter().map(|f| f.less.abs().max(f.more.abs())).collect();
        assert!(swings.windows(2).all(|pair| pair[0] >= pair[1]), "{swings:?}");
    }
}

#[test]
fn on_one_node_the_network_cannot_matter_and_the_peak_must() {
    let answer = of(RUNS[2]);
    for id in ["cluster.network.bandwidth", "cluster.network.latency", "jitter_per_doubling"] {
        let figure = find(&answer, id);
        assert_eq!((figure.elasticity, figure.best), (0.0, 0.0), "{id}");
        assert_eq!(figure.through, None);
    }
    let peak = find(&answer, "cluster.peak.bf16");
    assert!((-0.95..-0.6).contains(&peak.elasticity), "{}", peak.elasticity);
    assert_eq!(peak.through.as_deref(), Some("MLP matrices"));
    assert_eq!(answer.figures[0].id, "cluster.peak.bf16");
}

#[test]
fn a_small_model_hangs_on_its_host() {
    let answer = of(RUNS[3]);
    let host = find(&answer, "host_us_per_kernel");
    assert!(host.elasticity > 0.3, "{host:?}");
    assert_eq!(host.through.as_deref(), Some("waiting for the host"));
}

#[test]
fn memory_changes_nothing_until_it_does_not_fit() {
    let settings = RUNS[2];
    let answer = of(settings);
    let with = |gib: f64| {
        let memory = format!("cluster.memory={gib} GiB");
        of(&[settings, &[memory.as_str()]].concat())
    };
    let least = answer.capacity.least.gib();
    let (enough, short) = (with(least + 0.01), with(least - 0.01));
    assert!(
        enough.capacity.fit == Fit::AtRisk
            && enough.capacity.least <= enough.capacity.device
            && short.capacity.least > short.capacity.device,
        "{least}: {:?} {:?}",
        enough.capacity,
        short.capacity
    );
    assert_eq!((enough.step_time, short.step_time), (answer.step_time, answer.step_time));
}

#[test]
fn half_the_power_slows_products_by_its_cube_root_and_more_of_it_does_nothing() {
    let answer = of(RUNS[2]);
    let power = find(&answer, "cluster.power");
    assert_eq!((power.more, power.best), (0.0, 0.0));
    let products = -find(&answer, "matmul").elasticity - find(&answer, "attention_rate").elasticity;
    let expected = products * (0.9_f64.cbrt().recip() - 1.0);
    assert!((power.less / expected - 1.0).abs() < 0.05, "{} {expected}", power.less);
}

proptest! {
    #![proptest_config(railwright_cases::cases(12))]

    /// For any plan, all parts of the time sum to the whole.
    #[test]
    fn the_sum_rule_holds_for_any_plan(
        tensor in 0_u32..4,
        pipeline in 0_u32..3,
        micro_batch in 1_u64..4,
        sequence in 11_u32..14,
        is_narrow in any::<bool>(),
        is_split in any::<bool>(),
    ) {
        let (tensor, pipeline) = (1_u64 << tensor, 1_u64 << pipeline);
        let settings = [
            "model.name=llama-3-8b".to_owned(),
            "cluster.preset=dgx-h100".to_owned(),
            "cluster.devices=128".to_owned(),
            format!("plan.tensor_parallel={tensor}"),
            format!("plan.pipeline_parallel={pipeline}"),
            format!("plan.micro_batch={micro_batch}"),
            "plan.micro_batches=16".to_owned(),
            format!("plan.sequence_length={}", 1_u64 << sequence),
            format!("plan.precision={}", if is_narrow { "fp8" } else { "bf16" }),
            format!("plan.schedule={}", if is_split && pipeline > 1 { "zb-h1" } else { "1f1b" }),
        ];
        let answer = of(&settings.iter().map(String::as_str).collect::<Vec<_>>());
        prop_assert!(answer.sum.rest.abs() < 0.03, "{settings:?}: {:?}", answer.sum);
    }
}
