//! Published differences between networks of whole steps: sign, and size within five points.

use super::*;

/// Largest distance from a published difference.
const POINTS: f64 = 0.05;

/// HPN against the Clos that it replaced (10.1145/3651890.3672265: 3 segments of 1,024 devices on two planes
/// against 18 of 128 in 5 pods of three tiers, more than 2,300 devices, +14.9% end to end). The paper's batch
/// is not stated: the sign holds at two of them.
#[test]
fn two_planes_gain_what_was_published_over_a_clos_of_three_tiers() {
    let hpn = DesignSpec {
        routing: Some(Routing::Ecmp),
        radix: Some(128),
        hosts_per_leaf: Some(128),
        backup_ports: Some(8),
        ..spec_of(Kind::DualPlane)
    };
    let clos = DesignSpec {
        routing: Some(Routing::Ecmp),
        radix: Some(64),
        tiers: Some(3),
        pods: Some(5),
        ..spec_of(Kind::Clos)
    };
    let gain = |batch: u64| {
        let run = run("gpt3-175b", 2304, |p| {
            (p.tensor_parallel, p.pipeline_parallel) = (Some(8), Some(8));
            (p.micro_batch, p.global_batch) = (Some(1), Some(batch));
        });
        let median = |spec: &DesignSpec| {
            let wiring = wiring(&run.1, spec, &[]).expect("it is built");
            let setting = Setting::on(&wiring);
            let mut own = simulate(&run.0, &run.1, &run.2, &setting).expect("it runs");
            let mut watch = |_: usize, _: usize| ControlFlow::Continue(());
            over_seeds((&run.0, &run.1, &run.2), (&setting, &mut own), 3, &mut watch).expect("it runs");
            own.over_seeds.expect("several seeds").median
        };
        median(&clos) / median(&hpn) - 1.0
    };
    let (small, large) = (gain(576), gain(1152));
    assert!((large - 0.149).abs() < POINTS && small > large && small < 0.3, "{small} {large}");
}

/// Rail-only, version 5 (arXiv 2307.12169v5, abstract): "maintaining the same training performance" as the
/// network that joins rails. Dense models exchange nothing between rails.
#[test]
fn rail_only_trains_dense_models_as_fast_as_rail_optimized() {
    for (name, devices, tensor, pipeline) in [("llama-3-70b", 1024, 8, 4), ("gpt3-175b", 2048, 8, 8)] {
        let run = run(name, devices, |p| {
            (p.tensor_parallel, p.pipeline_parallel) = (Some(tensor), Some(pipeline));
            p.global_batch = Some(1024);
        });
        let [rails, joined] = [Kind::RailOnly, Kind::RailOptimized]
            .map(|kind| simulated(&run, &spec_of(kind), &[], None).step_time);
        assert!((rails / joined - 1.0).abs() < POINTS, "{name}: {rails:?} {joined:?}");
    }
}

/// DeepSeek-V3 on 2,048 H800 (arXiv 2505.09343, table 4): a step takes 19.926 s on networks of one plane for
/// each NIC, and 19.946 s on one that joins rails; its table 3 has three tiers for as many planes. The same
/// step on three tiers is held to the same difference. The layout is that of the report (arXiv 2412.19437).
#[test]
fn a_plane_for_each_nic_trains_experts_as_fast_as_three_tiers() {
    let run = run_on("h800", "deepseek-v3", 2048, |p| {
        (p.pipeline_parallel, p.expert_parallel) = (Some(16), Some(64));
        p.schedule = Some(Schedule::DualPipe);
        p.layers_per_stage = Some([vec![3], vec![4; 13], vec![3; 2]].concat());
        (p.sequence_length, p.global_batch) = (Some(4096), Some(4096));
    });
    let step = |spec_of: &DesignSpec| simulated(&run, spec_of, &[], None).step_time;
    let planes = step(&spec_of(Kind::RailOnly));
    let three = DesignSpec { radix: Some(32), tiers: Some(3), ..spec_of(Kind::Clos) };
    for (other, what) in
        [(step(&spec_of(Kind::RailOptimized)), "rails joined"), (step(&three), "three tiers")]
    {
        let published = 19.926 / 19.946 - 1.0;
        let here = planes / other - 1.0;
        assert!((here - published).abs() < POINTS, "{what}: {here} {published}");
    }
}
