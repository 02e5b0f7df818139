//! Explanations: equations recalculated by hand from their printed inputs.

use super::super::tests::{experts, large};
use super::Explanation;

fn input(e: &Explanation, name: &str) -> f64 {
    e.inputs.iter().find(|i| i.name == name).unwrap_or_else(|| panic!("{} has no `{name}`", e.id)).value
}

#[track_caller]
fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-9 * expected.abs().max(1e-6), "{found} {expected}");
}

#[test]
fn the_arithmetic_can_be_redone_by_hand() {
    let estimate = large();
    let get = |id: &str| estimate.explain(id).expect(id);
    let sum = |id: &str| get(id).inputs.iter().map(|i| i.value).sum::<f64>();
    near(get("step_time").value, sum("step_time"));
    near(get("pipeline").value, sum("pipeline"));
    near(get("compute").value, sum("compute"));
    near(get("memory.peak").value, sum("memory.peak"));
    let busy = get("stage.busy");
    near(busy.value, input(busy, "micro_batches") * (input(busy, "forward") + input(busy, "backward")));
    let exposed = get("exposed.tensor");
    let times: f64 = exposed.inputs.iter().filter(|i| i.unit == "s").map(|i| i.value).sum();
    near(exposed.value, input(exposed, "exposed_share") * times);
    let jitter = get("jitter");
    near(jitter.value, input(jitter, "body") * input(jitter, "per_doubling") * input(jitter, "doublings"));
    let mfu = get("mfu.full_attention");
    near(
        mfu.value,
        100.0 * input(mfu, "flop_per_token") * input(mfu, "tokens")
            / (input(mfu, "step") * input(mfu, "devices") * input(mfu, "peak")),
    );
    for family in &estimate.time.find("compute").expect("compute").children {
        let e = get(&family.id);
        let passes: f64 = e.inputs[1..].iter().map(|i| i.value).sum();
        near(e.value, input(e, "runs") * passes);
    }
    let operators: Vec<_> = estimate.why().iter().filter(|e| e.id.starts_with("operator.")).collect();
    assert!(operators.len() >= 4);
    for e in operators {
        let flop = 2.0 * input(e, "tokens") * input(e, "outputs") * input(e, "inputs");
        near(e.value, flop / input(e, "burst_rate") / input(e, "sustained"));
    }
}

#[test]
fn every_part_of_the_breakdown_is_explained_and_an_unknown_one_is_reported() {
    let estimate = large();
    for part in &estimate.time.children {
        for id in part.children.iter().map(|c| &c.id).chain((part.id != "exposed").then_some(&part.id)) {
            assert!(estimate.explain(id).is_ok() || part.time.get() == 0.0, "{id} is not explained");
        }
    }
    let problem = estimate.explain("exposed.tensr").expect_err("unknown");
    assert!(problem.hint.expect("a hint").contains("exposed.tensor"));
}

#[test]
fn what_is_sharded_can_be_redone_by_hand_with_and_without_experts() {
    for (estimate, has_experts) in [(large(), false), (experts(), true)] {
        let get = |id: &str| estimate.explain(id).expect(id);
        let each = |e: &Explanation| {
            let routed = if has_experts { input(e, "routed") / input(e, "expert_shards") } else { 0.0 };
            input(e, "dense") / input(e, "shards") + routed
        };
        let optimizer = get("optimizer");
        near(
            optimizer.value,
            each(optimizer) * input(optimizer, "bytes_per_parameter") / input(optimizer, "rate"),
        );
        // The memory bandwidth of the data sheet is not achievable.
        assert!((0.5..1.0).contains(&(input(optimizer, "rate") / 3.35e12)), "{optimizer:?}");
        let (weights, gradients) = (get("memory.parameters"), get("memory.gradients"));
        near(weights.value, each(weights) * input(weights, "bytes per parameter"));
        near(gradients.value, each(gradients) * input(gradients, "bytes per gradient"));
        near(input(get("memory.master_weights"), "bytes per master weight"), 4.0);
        near(input(get("memory.optimizer_moments"), "moments"), 2.0);
    }
}

/// Two V100 without a link between them are two domains of one node, whose bus was measured. Every row over
/// it has this evidence and the cost of the model, including the small softmax reductions.
#[test]
fn collectives_over_a_nodes_bus_are_the_calibrations() {
    use railwright_spec::Collective;
    use railwright_spec::calibration::{Calibration, CollectiveLaw, CollectiveRate, Evidence, Regime};
    let model = railwright_spec::model::by_name("llama-3-8b").expect("known");
    let mut cluster = railwright_spec::cluster::by_name("v100-pcie-32gb", 2).expect("known");
    cluster.devices_per_node = 2;
    let spec = railwright_spec::plan::PlanSpec {
        tensor_parallel: Some(2),
        sequence_parallel: Some(false),
        ..railwright_spec::plan::PlanSpec::default()
    };
    let plan = spec.resolve(&model, &cluster).expect("resolves");
    let law = CollectiveLaw {
        operation: Collective::AllReduce,
        ranks: 2,
        regime: Regime::Sustained,
        base_us: 20.0,
        bandwidth_gb: 10.0,
        ramp_ns: 0.0,
        from_bytes: 512.0,
        to_bytes: 1e9,
        evidence: Evidence { samples: 13, ..Evidence::default() },
    };
    let calibration = Calibration {
        software: plan.software.clone(),
        link: cluster.scale_up.link.clone(),
        file: "bus.toml".into(),
        collectives: vec![law],
        collective_rate: Some(CollectiveRate { rate: 0.73, evidence: Evidence::default() }),
        ..Calibration::empty(&cluster.accelerator.id)
    };
    let cluster =
        railwright_spec::cluster::Cluster { calibration: Some(std::sync::Arc::new(calibration)), ..cluster };
    let estimate =
        crate::estimate::estimate(&model, &cluster, &plan, &crate::estimate::EstimateOptions::default())
            .expect("priced");
    let rows: Vec<_> = estimate.communication.iter().filter(|row| row.dimension == "tensor").collect();
    assert!(rows.len() >= 2 && rows.iter().all(|row| row.domains == 2), "{rows:?}");
    for row in rows {
        // base + bytes over the bandwidth of the bus, where the bus bytes of two ranks are those of the
        // buffer.
        let by_hand = 20e-6 + row.bytes.get() / 10e9;
        assert!((row.time_each.get() / by_hand - 1.0).abs() < 1e-6, "{row:?} {by_hand}");
    }
    let exposed = estimate.explain("exposed.tensor").expect("explained");
    assert!(exposed.inputs[1..].iter().all(|i| i.source.contains("bus.toml`: all_reduce x2")), "{exposed:?}");
}
