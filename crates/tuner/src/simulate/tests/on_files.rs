//! Steps on fabrics from files compared with the designs that wrote these files.

use super::*;
use railwright_network::cabling::{Floor, cables, netbox};
use railwright_network::imported::{Imported, RouteSetting, Surroundings, parse};
use railwright_spec::quantity::Seconds;

fn written(wiring: &Wiring, routing: Routing) -> Imported {
    let design = &wiring.topology.design;
    let list = cables(design, &Floor::default()).expect("cabled");
    let surroundings = Surroundings {
        domain: design.domain.size,
        domain_bandwidth: design.domain.bandwidth,
        latency: Seconds::new(1e-6),
    };
    let setting = RouteSetting { routing, seed: 0, paths: 2 };
    let drawing = parse(&netbox(&list), "cables.csv").expect("a list of cables");
    Imported::new(&drawing, "cables.csv", &surroundings, setting).expect("a fabric")
}

/// The step on a list of cables is that on the design of the list: contention, oversubscription, rails that
/// only domains join, and the load of every layer. Routes and links of both are computed by independent code.
#[test]
fn a_step_on_a_list_of_cables_is_that_on_its_design() {
    let dense = run("llama-3-70b", 128, |p| {
        (p.tensor_parallel, p.pipeline_parallel) = (Some(4), Some(4));
        (p.context_parallel, p.global_batch) = (Some(2), Some(32));
    });
    let experts = run("mixtral-8x7b", 64, |p| {
        (p.pipeline_parallel, p.expert_parallel, p.global_batch) = (Some(2), Some(8), Some(64));
    });
    let blocking = DesignSpec { leaf_oversubscription: Some(3.0), radix: Some(32), ..spec_of(Kind::Clos) };
    for (run, spec) in [(&dense, blocking), (&experts, spec_of(Kind::RailOnly))] {
        let wiring = wiring(&run.1, &spec, &[]).expect("it is built");
        let on_design = simulated(run, &spec, &[], None);
        let fabric = written(&wiring, Routing::Spray);
        let setting = Setting { network: Network::Imported(&fabric), background: None, seats: None };
        let on_file = simulate(&run.0, &run.1, &run.2, &setting).expect("simulated");
        let near = |a: f64, b: f64| assert!((a - b).abs() <= 1e-9 * b.abs(), "{a} {b} {spec:?}");
        near(on_file.step_time.get(), on_design.step_time.get());
        assert!(on_file.step_time > on_file.closed_form, "{spec:?}");
        for (own, other) in on_file.dimensions.iter().zip(&on_design.dimensions) {
            assert_eq!(own.dimension, other.dimension);
            near(own.in_step.get(), other.in_step.get());
        }
        for (own, name) in
            [("scale-up", "scale-up"), ("access", "access"), ("switch to switch", "leaf-spine")]
        {
            let mean = |simulation: &Simulation, name: &str| {
                simulation.layers.iter().find(|layer| layer.layer == name).map(|layer| layer.mean)
            };
            if let (Some(own), Some(other)) = (mean(&on_file, own), mean(&on_design, name)) {
                near(own, other);
            }
        }
    }
}

/// Hashes of a list of cables are drawn by keys other than those of its design: both have collisions, of
/// equal size within a few percent.
#[test]
fn hash_seeds_of_a_file_give_the_collisions_of_its_design() {
    let run = run("llama-3-70b", 128, |p| {
        (p.tensor_parallel, p.pipeline_parallel, p.global_batch) = (Some(4), Some(4), Some(32));
    });
    let spec = DesignSpec {
        routing: Some(Routing::Ecmp),
        leaf_oversubscription: Some(3.0),
        radix: Some(32),
        ..spec_of(Kind::Clos)
    };
    let wiring = wiring(&run.1, &spec, &[]).expect("it is built");
    let fabric = written(&wiring, Routing::Ecmp);
    let median = |setting: &Setting<'_>| {
        let mut own = simulate(&run.0, &run.1, &run.2, setting).expect("it runs");
        let mut watch = |_: usize, _: usize| ControlFlow::Continue(());
        over_seeds((&run.0, &run.1, &run.2), (setting, &mut own), 8, &mut watch).expect("it runs");
        own.over_seeds.expect("several seeds")
    };
    let on_file = median(&Setting { network: Network::Imported(&fabric), background: None, seats: None });
    let on_design = median(&Setting::on(&wiring));
    assert!(on_file.least < on_file.most, "{on_file:?}");
    assert!((on_file.median / on_design.median - 1.0).abs() < 0.05, "{on_file:?} {on_design:?}");
    // More ranks than devices.
    let large =
        super::run("llama-3-70b", 256, |p| (p.tensor_parallel, p.pipeline_parallel) = (Some(4), Some(4)));
    let setting = Setting { network: Network::Imported(&fabric), background: None, seats: None };
    let problem = simulate(&large.0, &large.1, &large.2, &setting).expect_err("too many ranks");
    assert_eq!(problem.message, "the run has 256 ranks, but the fabric 128 devices");
}
