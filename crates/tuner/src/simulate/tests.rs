//! Simulated steps compared with the closed form where both must agree, and with the known cost of effects.

use super::*;
use crate::flows::{self, wiring};
use railwright_calculator::collectives::Collective;
use railwright_calculator::exchanges::of_step;
use railwright_network::simulate::Part;
use railwright_network::topology::{DesignSpec, Kind, Routing};
use railwright_spec::cluster::by_name as cluster_by_name;
use railwright_spec::model::by_name;
use railwright_spec::plan::{PlanSpec, Schedule, Sharding};
use railwright_step::{Dimension, Phase};

mod on_files;
mod placed;
mod published;

fn run(name: &str, devices: u64, change: impl Fn(&mut PlanSpec)) -> (Model, Cluster, Plan) {
    run_on("dgx-h100", name, devices, change)
}

fn run_on(machine: &str, name: &str, devices: u64, change: impl Fn(&mut PlanSpec)) -> (Model, Cluster, Plan) {
    let model = by_name(name).expect("in the catalogue");
    let cluster = cluster_by_name(machine, devices).expect("a preset");
    let mut spec = PlanSpec::default();
    change(&mut spec);
    let plan = spec.resolve(&model, &cluster).expect("resolves");
    (model, cluster, plan)
}

fn spec_of(kind: Kind) -> DesignSpec {
    DesignSpec { kind: Some(kind), routing: Some(Routing::Spray), ..DesignSpec::default() }
}

fn simulated(
    run: &(Model, Cluster, Plan),
    spec_of: &DesignSpec,
    failed: &[&str],
    background: Option<Background>,
) -> Simulation {
    let failed: Vec<Part> = failed.iter().map(|part| Part::parse(part).expect("a part")).collect();
    let wiring = wiring(&run.1, spec_of, &failed).expect("it is built");
    simulate(&run.0, &run.1, &run.2, &Setting { background, ..Setting::on(&wiring) })
        .unwrap_or_else(|p| panic!("{p}"))
}

fn change(simulation: &Simulation, what: &str) -> f64 {
    simulation.changes.iter().find(|change| change.what == what).map_or(0.0, |change| change.cost.get())
}

/// Compute and waits of every stage add up to the same end of the step. Slower messages are waits for
/// messages.
#[test]
fn waits_of_every_stage_add_up_to_the_step() {
    let dense = run("llama-3-70b", 256, |p| {
        (p.tensor_parallel, p.pipeline_parallel) = (Some(8), Some(4));
        p.global_batch = Some(512);
    });
    let experts = run("mixtral-8x7b", 64, |p| {
        (p.pipeline_parallel, p.expert_parallel) = (Some(2), Some(8));
        p.global_batch = Some(256);
    });
    let tree = |over| DesignSpec { leaf_oversubscription: Some(over), ..spec_of(Kind::Clos) };
    let mut of_messages = Vec::new();
    for (run, over) in [(&dense, 1.0), (&dense, 4.0), (&experts, 1.0)] {
        let found = simulated(run, &tree(over), &[], None);
        let ends: Vec<f64> = found.waits.iter().map(|one| (one.compute + one.waiting).get()).collect();
        assert_eq!(ends.len(), run.2.pipeline_parallel as usize);
        for (stage, end) in found.waits.iter().zip(&ends) {
            let sum: f64 = stage.waits.iter().map(|wait| wait.time.get()).sum();
            assert!((sum / stage.waiting.get() - 1.0).abs() < 1e-9, "{over} {stage:?}");
            assert!((end / ends[0] - 1.0).abs() < 1e-9, "{over} {ends:?}");
            // The rest is the jitter allowance.
            let rest = found.step_time.get() / end - 1.0;
            assert!((0.0..0.1).contains(&rest), "{over} {rest}");
        }
        let messages = found.waits.iter().flat_map(|one| &one.waits);
        of_messages.push(
            messages.filter(|wait| wait.waits_for == "pipeline").map(|wait| wait.time.get()).sum::<f64>(),
        );
    }
    assert!(of_messages[1] > 2.0 * of_messages[0], "{of_messages:?}");
}

/// The time-only variant for comparing networks equals the time of the whole report, with and without failed
/// parts.
#[test]
fn the_time_alone_is_that_of_the_report() {
    let run = run("llama-3.1-8b", 64, |p| (p.tensor_parallel, p.pipeline_parallel) = (Some(2), Some(4)));
    let tree = DesignSpec { leaf_oversubscription: Some(8.0), ..spec_of(Kind::Clos) };
    for (spec_of, failed) in
        [(spec_of(Kind::RailOnly), vec![]), (tree, vec![]), (spec_of(Kind::Clos), vec!["nic:0"])]
    {
        let parts: Vec<Part> = failed.iter().map(|part| Part::parse(part).expect("a part")).collect();
        let wiring = wiring(&run.1, &spec_of, &parts).expect("it is built");
        let report = simulated(&run, &spec_of, &failed, None);
        let mut watch = |_: usize, _: usize| ControlFlow::Continue(());
        let run = (&run.0, &run.1, &run.2);
        let alone = step_time_watched(run, &wiring, &mut watch).expect("simulated");
        assert_eq!(alone, report.step_time, "{spec_of:?} {failed:?}");
        // A limit does not change a step that ends before it, and stops one that does not.
        let mut within = |share| {
            let extent = Extent { limit: report.step_time * share, ..Extent::WHOLE };
            step_time_within(run, &Setting::on(&wiring), extent, &mut watch)
                .expect("simulated")
                .map(|timed| timed.step_time)
        };
        assert_eq!(
            (within(1.000_001), within(0.999_999)),
            (Some(report.step_time), None),
            "{spec_of:?} {failed:?}"
        );
    }
}

/// Tasks without contention equal the calculator's step, for every kind of overlap, schedule and dimension.
#[test]
fn without_contention_the_step_is_the_closed_form() {
    let runs = [
        run("llama-3.1-8b", 64, |p| (p.tensor_parallel, p.pipeline_parallel) = (Some(2), Some(4))),
        run("llama-3.1-8b", 64, |p| {
            (p.tensor_parallel, p.pipeline_parallel, p.virtual_stages) = (Some(4), Some(4), Some(2));
            (p.micro_batch, p.global_batch) = (Some(1), Some(128));
        }),
        run("llama-3.1-70b", 128, |p| {
            (p.tensor_parallel, p.pipeline_parallel, p.context_parallel) = (Some(8), Some(4), Some(2));
            (p.micro_batch, p.global_batch) = (Some(1), Some(64));
        }),
        run("llama-3.1-8b", 64, |p| {
            (p.tensor_parallel, p.pipeline_parallel, p.schedule) = (Some(2), Some(4), Some(Schedule::ZbH1));
        }),
        run("llama-3.1-8b", 64, |p| {
            p.sharding = Some(Sharding { zero_stage: 3, group: None, reshard_after_forward: true });
        }),
        run("mixtral-8x7b", 64, |p| {
            (p.tensor_parallel, p.pipeline_parallel, p.expert_parallel) = (Some(2), Some(2), Some(8));
        }),
        run("deepseek-v3", 512, |p| {
            (p.pipeline_parallel, p.expert_parallel) = (Some(8), Some(64));
            p.schedule = Some(Schedule::DualPipe);
            p.layers_per_stage = Some(vec![8, 8, 8, 8, 8, 8, 8, 5]);
            p.global_batch = Some(2048);
        }),
    ];
    for run in &runs {
        let plan = &run.2;
        let simulation = simulated(run, &spec_of(Kind::RailOptimized), &[], None);
        let at = simulation
            .changes
            .iter()
            .position(|c| c.what.starts_with("communication starts"))
            .expect("there");
        let free = &simulation.changes[at];
        let error = free.cost / simulation.closed_form;
        // Fused pairs start with their first input in this simulation, and with both in the calculator. If
        // backward passes are split, gradients are ready in their second half in this simulation, and
        // anywhere in the calculator.
        let tolerance = match plan.schedule {
            Schedule::DualPipe => 5e-3,
            Schedule::ZbH1 => 2e-3,
            _ => 1e-9,
        };
        assert!(error.abs() < tolerance, "{} {:?}: {error}", run.0.name, plan.schedule);
    }
}

/// Interleaved chunks and gradients that every micro-batch reduces: the step is still the calculator's, and
/// all bytes use links.
#[test]
fn sharded_gradients_cross_links_in_every_micro_batch() {
    let with = |name: &str, devices, pp, vp, zero_stage, batch, layers: Option<Vec<u64>>| {
        run(name, devices, |p| {
            (p.tensor_parallel, p.pipeline_parallel, p.virtual_stages) = (Some(8), Some(pp), Some(vp));
            (p.micro_batch, p.global_batch) = (Some(1), Some(batch));
            p.sharding = Some(Sharding { zero_stage, group: None, reshard_after_forward: true });
            p.layers_per_stage.clone_from(&layers);
        })
    };
    let uneven = || Some([vec![0], vec![1; 126], vec![0]].concat());
    let runs = [
        with("llama-3.1-70b", 256, 4, 1, 1, 128, None),
        with("llama-3.1-70b", 256, 4, 1, 2, 128, None),
        with("llama-3.1-70b", 256, 4, 2, 1, 128, None),
        with("llama-3.1-70b", 256, 4, 5, 1, 128, None),
        with("llama-3.1-70b", 256, 4, 5, 2, 128, None),
        with("llama-3.1-405b", 16_384, 16, 8, 1, 2048, uneven()),
        with("llama-3.1-405b", 16_384, 16, 8, 2, 2048, uneven()),
    ];
    let mut wrong = Vec::new();
    for run in &runs {
        let simulation = simulated(run, &spec_of(Kind::RailOptimized), &[], None);
        let at =
            simulation.changes.iter().find(|c| c.what.starts_with("communication starts")).expect("there");
        let machine = Machine::new(&run.1);
        let costing = Costing::new(&run.0, &run.1, &run.2, &machine).expect("known software");
        let evaluation = evaluate(&costing).expect("possible");
        let error = at.cost / simulation.closed_form;
        let longest = evaluation.updates.iter().map(|u| u.gradient_reduce + u.parameter_gather);
        let moved = row(&simulation, "data").closed_form / longest.fold(Seconds::ZERO, Seconds::max);
        if error.abs() > 1e-9 || (moved - 1.0).abs() > 1e-5 {
            let plan = &run.2;
            wrong.push(format!(
                "{} vp{} zero{}: {error} {moved}",
                run.0.name, plan.virtual_stages, plan.sharding.zero_stage
            ));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Loss of one dimension, with the time of its exchanges alone.
/// Gradients that every micro-batch reduces share the links of a domain with tensor-parallel traffic, for
/// most of the step. The closed form prices each alone. Without tensor parallelism, nothing shares the links.
#[test]
fn sharded_gradients_contend_with_tensor_parallel_traffic_alone() {
    let with = |tensor, zero_stage| {
        let run = run("llama-3-8b", 16, |p| {
            (p.tensor_parallel, p.pipeline_parallel, p.sequence_length) = (Some(tensor), Some(1), Some(1024));
            (p.micro_batch, p.global_batch) = (Some(1), Some(128));
            p.sharding = Some(Sharding { zero_stage, group: None, reshard_after_forward: true });
            // With graphs: a device that waits for its host has time for any contention.
            p.software = Some("megatron-core-2025+cuda-graphs".into());
        });
        let simulation = simulated(&run, &spec_of(Kind::RailOptimized), &[], None);
        let of = |what: &str| change(&simulation, what) / simulation.closed_form.get();
        (of("communication starts after its dependencies"), of("contention and oversubscription"))
    };
    for (tensor, zero_stage) in [(1, 1), (1, 2), (4, 1), (4, 2)] {
        let (dependencies, contention) = with(tensor, zero_stage);
        assert!(dependencies.abs() < 1e-9, "TP{tensor} ZeRO-{zero_stage}: {dependencies}");
        let is_shared = (tensor, zero_stage) == (4, 2);
        let expected = if is_shared { 0.01..0.03 } else { -1e-9..0.005 };
        assert!(expected.contains(&contention), "TP{tensor} ZeRO-{zero_stage}: {contention}");
    }
}

fn row<'a>(simulation: &'a Simulation, dimension: &str) -> &'a DimensionRow {
    simulation.dimensions.iter().find(|row| row.dimension == dimension).expect("it exchanges")
}

fn eight_b() -> (Model, Cluster, Plan) {
    run("llama-3.1-8b", 256, |p| {
        (p.tensor_parallel, p.pipeline_parallel) = (Some(8), Some(2));
        (p.micro_batch, p.global_batch) = (Some(1), Some(64));
    })
}

#[test]
fn oversubscription_broken_parts_and_other_jobs_cost_what_they_must() {
    let run = eight_b();
    let whole = simulated(&run, &spec_of(Kind::RailOnly), &[], None);
    assert!(whole.is_exact, "{:?}", whole.flows);
    // A rail-only tree without oversubscription is no worse than one that connects rails.
    let joined = simulated(&run, &spec_of(Kind::RailOptimized), &[], None);
    assert!((whole.step_time / joined.step_time - 1.0).abs() < 1e-9);

    let nic = simulated(&run, &spec_of(Kind::RailOnly), &["nic:3"], None);
    assert!((row(&nic, "data").alone / row(&nic, "data").closed_form - 1.0) > 0.05);
    assert!(change(&nic, "failed parts") > 0.0);
    assert!(nic.step_time > whole.step_time);
    // Changes sum to the difference between the closed form and the step.
    let sum: f64 = nic.changes.iter().map(|change| change.cost.get()).sum();
    assert!((nic.closed_form.get() + sum - nic.step_time.get()).abs() < 1e-9);

    let busy =
        simulated(&run, &spec_of(Kind::RailOnly), &[], Some(Background { load: 0.5, spare_only: false }));
    assert!(change(&busy, "other jobs") > 0.0);
    let both = simulated(
        &run,
        &spec_of(Kind::RailOnly),
        &["nic:3"],
        Some(Background { load: 0.5, spare_only: false }),
    );
    assert!(both.step_time > busy.step_time && both.step_time > nic.step_time);
    assert_eq!(both.changes.len(), 4);

    let thin = DesignSpec { leaf_oversubscription: Some(8.0), ..spec_of(Kind::Clos) };
    let thin = simulated(&run, &thin, &[], None);
    assert!(row(&thin, "pipeline").slowdown > 1.5, "{:?}", thin.dimensions);
    // Tensor groups never leave their domain.
    assert!((row(&thin, "tensor").slowdown - 1.0).abs() < 1e-9);
}

/// Hashes collide where sprayed packets do not; static routes on rails have no collisions.
#[test]
fn collisions_show_and_are_marked_approximate() {
    let run = eight_b();
    let hashed = DesignSpec { routing: Some(Routing::Ecmp), radix: Some(32), ..spec_of(Kind::RailOptimized) };
    let hashed = simulated(&run, &hashed, &[], None);
    let sprayed = simulated(&run, &DesignSpec { radix: Some(32), ..spec_of(Kind::RailOptimized) }, &[], None);
    assert!(hashed.step_time > sprayed.step_time);
    assert!(sprayed.is_exact && !hashed.is_exact);
    assert!(
        row(&hashed, "pipeline").alone > row(&sprayed, "pipeline").alone * 1.2,
        "{:?}",
        hashed.dimensions
    );
}

#[test]
fn a_run_that_cannot_finish_is_reported() {
    let run = eight_b();
    let wiring = wiring(&run.1, &spec_of(Kind::Clos), &[]).expect("whole");
    let cut = Wiring::new(&wiring.topology.design, &[Part::Switch(1, 2)]).expect("there");
    let problem = simulate(&run.0, &run.1, &run.2, &Setting::on(&cut)).expect_err("cut off");
    assert!(problem.message.contains("(64-95) are disconnected"), "{}", problem.message);
    assert!(problem.message.contains("the step cannot finish"), "{}", problem.message);
    let spare = Background { load: 0.5, spare_only: true };
    let problem =
        simulate(&run.0, &run.1, &run.2, &Setting { background: Some(spare), ..Setting::on(&wiring) })
            .expect_err("full");
    assert!(
        problem.message.contains("there are no unused devices for background load"),
        "{}",
        problem.message
    );
}

/// 405B on 32,768 devices has one flow per stage and kind of communication, on any fabric.
#[test]
fn symmetry_makes_the_largest_step_small() {
    let run = run("llama-3.1-405b", 32_768, |p| {
        (p.tensor_parallel, p.pipeline_parallel) = (Some(8), Some(16));
        (p.micro_batch, p.global_batch) = (Some(1), Some(2048));
        p.layers_per_stage = Some([vec![7], vec![8; 14], vec![7]].concat());
    });
    for kind in [Kind::RailOnly, Kind::Clos] {
        let simulation = simulated(&run, &spec_of(kind), &[], None);
        assert!(simulation.is_exact);
        // Tensor, data, and a message each way, for each of sixteen stages.
        assert_eq!(simulation.flows, 64);
        assert!(
            change(&simulation, "contention and oversubscription").abs() < 0.01 * simulation.step_time.get()
        );
    }
}

/// All devices in one domain is the ideal: no network is faster, and no exchange is blocked.
#[test]
fn one_domain_of_all_devices_is_no_slower_than_rails() {
    let run = run("llama-3-70b", 256, |p| {
        (p.tensor_parallel, p.pipeline_parallel) = (Some(8), Some(4));
    });
    let rails = simulated(&run, &spec_of(Kind::RailOptimized), &[], None);
    let spec_of = DesignSpec { kind: Some(Kind::ScaleUp), ..DesignSpec::default() };
    let ideal = simulated(&run, &spec_of, &[], None);
    assert!(ideal.step_time < rails.step_time, "{:?} {:?}", ideal.step_time, rails.step_time);
    for row in &ideal.dimensions {
        // Alone there is no blocking; together, dimensions share the one port of each device.
        assert!((row.alone / row.closed_form - 1.0).abs() < 1e-9, "{row:?}");
    }
    assert!(change(&ideal, "domains and speeds of the topology, non-blocking") < 0.0);
}

/// Expected time of a dimension's communication of one purpose on a topology: bytes of each group scaled by a
/// simulation of these groups alone, summed over a step of the stage.
fn alone_by_groups(
    run: &(Model, Cluster, Plan),
    spec_of: &DesignSpec,
    stage: u32,
    dimension: Dim,
) -> [f64; 3] {
    let wiring = wiring(&run.1, spec_of, &[]).expect("it is built");
    let timer = flows::FlowTimer::new(&run.1, wiring.clone()).expect("whole");
    let free = flows::unblocked(&run.1, &wiring);
    let machine = Machine::new(&free);
    let costing = Costing::new(&run.0, &free, &run.2, &machine).expect("known software");
    let evaluation = evaluate(&costing).expect("possible");
    let (mut closed, mut alone, mut kinds) = (0.0, 0.0, std::collections::BTreeSet::new());
    for exchange in of_step(&costing, &evaluation).iter().filter(|e| e.stages.contains(&stage)) {
        let is_meant = match dimension {
            Dim::Shard => exchange.dimension == Dimension::Data && exchange.phase != Phase::Optimizer,
            Dim::Data => exchange.dimension == Dimension::Data && exchange.phase == Phase::Optimizer,
            Dim::Tensor => exchange.dimension == Dimension::Tensor,
            _ => false,
        };
        if is_meant {
            let group = exchange.process_group.group(&costing.layout);
            let cost = machine.fabric.time(exchange.operation, exchange.bytes, &group, 1.0);
            let slowdown = timer.slowdown(exchange.operation, &group).expect("joined");
            let growing = (cost.time - cost.latency).get();
            closed += cost.time.get() * exchange.count;
            alone += (cost.latency.get() + growing * slowdown) * exchange.count;
            kinds.insert(exchange.process_group);
        }
    }
    [closed, alone, kinds.len() as f64]
}

/// Gathers inside domains and reductions between replicas, dense weights and experts, tensor and
/// expert-tensor groups: each is simulated in its own groups.
#[test]
fn dimensions_that_exchange_in_several_groups_meet_the_links_of_each() {
    // One leaf per domain: all traffic that leaves it uses the spines.
    let thin =
        DesignSpec { leaf_oversubscription: Some(4.0), hosts_per_leaf: Some(8), ..spec_of(Kind::Clos) };
    let hybrid = run("llama-3.1-8b", 256, |p| {
        p.sharding = Some(Sharding { zero_stage: 3, group: Some(8), reshard_after_forward: true });
        p.global_batch = Some(256);
    });
    let experts = run("mixtral-8x7b", 256, |p| {
        (p.tensor_parallel, p.pipeline_parallel) = (Some(4), Some(2));
        (p.expert_parallel, p.expert_tensor_parallel) = (Some(8), Some(2));
        (p.micro_batch, p.global_batch) = (Some(1), Some(64));
    });
    let mut seen = 0;
    for (run, dimension) in [(&hybrid, Dim::Shard), (&experts, Dim::Data), (&experts, Dim::Tensor)] {
        let simulation = simulated(run, &thin, &[], None);
        assert!(simulation.is_exact, "{}", run.0.name);
        let row = row(&simulation, dimension.name());
        let [closed, alone, kinds] = alone_by_groups(run, &thin, row.stage, dimension);
        assert!(kinds > 1.5, "{dimension:?} exchanges in one kind of groups: nothing is tested");
        let (here, there) = (row.alone / row.closed_form, alone / closed);
        // Data parallelism prices buckets, which have more latency.
        assert!((here / there - 1.0).abs() < 0.01, "{dimension:?}: {here} {there}");
        seen += usize::from(there > 1.02);
    }
    assert!(seen >= 2, "the thin network must stretch something: {seen}");
}

/// 24 replicas of 8 devices over racks of 72: groups begin and end inside racks, with as few as three members
/// in one. Traffic, the closed form and the simulation agree, also on unconnected rails.
#[test]
fn groups_that_lie_unevenly_on_domains_cost_what_their_smallest_part_carries() {
    let run = run_on("gb200-nvl72", "llama-3.1-405b", 1152, |p| {
        (p.tensor_parallel, p.pipeline_parallel) = (Some(8), Some(6));
        (p.micro_batch, p.global_batch) = (Some(1), Some(24 * 24));
    });
    let machine = Machine::new(&run.1);
    let costing = Costing::new(&run.0, &run.1, &run.2, &machine).expect("known software");
    assert_eq!((costing.layout.data.per_domain, costing.layout.data.least), (9, 3));
    let evaluation = evaluate(&costing).expect("possible");
    let traffic = crate::exchanges::traffic(&costing, &evaluation);
    // The worst of all stages is priced: in some stages groups begin where racks do.
    let mut shares = Vec::new();
    for gather in traffic.exchanges.iter().filter(|e| e.purpose == "parameters") {
        let mut sent = vec![0.0; 1152];
        let mut members = Vec::new();
        for group in 0..gather.groups.count() {
            gather.groups.members(&traffic.numbering, group, &mut members);
            gather.flows(&members, 72, &mut |from, to, bytes| {
                if from / 72 != to / 72 {
                    assert_eq!(from % 72, to % 72, "rings keep to their rails");
                    sent[from as usize] += bytes;
                }
            });
        }
        let most = sent.into_iter().fold(0.0, f64::max);
        let priced = machine.fabric.time(Collective::AllGather, gather.bytes, &costing.layout.data, 1.0);
        shares.push(most / priced.wire_bytes_network.get());
    }
    let worst = shares.iter().copied().fold(0.0, f64::max);
    assert!((worst - 1.0).abs() < 1e-9, "{shares:?}");
    for kind in [Kind::RailOnly, Kind::RailOptimized] {
        let simulation = simulated(&run, &spec_of(kind), &[], None);
        let data = row(&simulation, "data");
        assert!((data.alone / data.closed_form - 1.0).abs() < 1e-9, "{kind:?} {data:?}");
    }
}

#[test]
fn spares_of_one_domain_have_no_traffic_and_are_refused() {
    let run = eight_b();
    let spare = Some(Background { load: 0.5, spare_only: true });
    let design = DesignSpec { devices: Some(264), ..spec_of(Kind::Clos) };
    let wiring = wiring(&run.1, &design, &[]).expect("it is built");
    let problem = simulate(&run.0, &run.1, &run.2, &Setting { background: spare, ..Setting::on(&wiring) })
        .expect_err("one domain is left");
    assert!(problem.message.contains("no network traffic"), "{}", problem.message);
}

/// By default a dragonfly routes adaptively: hardly slower than minimal routes only, with the share of
/// non-minimal traffic reported.
#[test]
fn dragonflies_route_adaptively_and_report_detours() {
    let run = run("llama-3.1-8b", 128, |p| {
        // Replicas far apart: rings from group to group, with many over the same link.
        (p.tensor_parallel, p.pipeline_parallel) = (Some(8), Some(4));
    });
    let on = |routing| {
        // Groups of 8 routers with 4 devices each: one link between two routers, eight between two groups.
        let spec_of = DesignSpec { routing, radix: Some(15), ..DesignSpec::default() };
        simulated(&run, &DesignSpec { kind: Some(Kind::Dragonfly), ..spec_of }, &[], None)
    };
    let (usual, minimal) = (on(None), on(Some(Routing::Spray)));
    assert_eq!((usual.routing, minimal.routing), ("adaptive", "spray"));
    // Each kind is routed as if alone; the loss by meeting on detours is small.
    assert!(usual.step_time <= minimal.step_time * 1.05, "{usual:?} {minimal:?}");
    assert!(minimal.detours.is_empty());
    // Without detours both have the same routes.
    assert!(!usual.detours.is_empty() || usual.step_time == minimal.step_time, "{usual:?} {minimal:?}");
}
