//! Clusters of designs compared with known figures, and fronts compared with their definition.

use super::fabric::{cluster_on, network_share, slowdown, step_time};
use super::*;
use crate::search::Space;
use crate::simulate::{Extent, Setting, step_time_within};
use railwright_network::bill::prices::Prices;
use railwright_network::bill::share::Cluster as Site;
use railwright_network::failures::Outages;
use railwright_network::failures::rates::Rates;
use railwright_network::simulate::Wiring;
use railwright_network::topology::{DesignSpec, Kind, Routing};
use railwright_spec::cluster::{self, Cluster};
use railwright_spec::model::{Model, by_name};
use railwright_spec::plan::{ContextKind, Plan, PlanSpec};
use railwright_spec::quantity::{BytesPerSecond, Dollars, Seconds, Watts};
use std::collections::BTreeMap;

fn machine(devices: u64) -> Cluster {
    cluster::by_name("dgx-h100", devices).expect("known")
}

fn on(kind: Kind, devices: u64, more: impl Fn(&mut DesignSpec)) -> Cluster {
    let mut spec =
        DesignSpec { kind: Some(kind), devices: Some(devices), domain: Some(8), ..DesignSpec::default() };
    more(&mut spec);
    cluster_on(&spec.resolve().expect("built"), &machine(devices)).expect("it has a step")
}

fn plan(model: &Model, cluster: &Cluster, tensor: u64, batch: u64) -> Plan {
    let spec = PlanSpec { tensor_parallel: Some(tensor), global_batch: Some(batch), ..PlanSpec::default() };
    spec.resolve(model, cluster).expect("possible")
}

#[test]
fn a_rail_optimized_design_is_the_catalogues_superpod() {
    // The preset has 256 devices below a rail's leaves and a spine above: the SuperPOD of four units.
    let cluster = on(Kind::RailOptimized, 1024, |_| {});
    let tiers: Vec<(u64, f64)> =
        cluster.network.tiers.iter().map(|t| (t.devices, t.oversubscription)).collect();
    assert_eq!(tiers, [(256, 1.0), (1024, 1.0)]);
    assert_eq!(cluster.network.bandwidth, machine(1024).network.bandwidth);
    assert_eq!(cluster.network.tiers[0].devices, machine(1024).network.tiers[0].devices);
    // A tree over all devices in their order has 4 servers below a leaf.
    assert_eq!(on(Kind::Clos, 1024, |_| {}).network.tiers[0].devices, 32);
}

#[test]
fn oversubscription_counts_all_tiers_below() {
    let cluster = on(Kind::Clos, 24_576, |spec| {
        spec.leaf_oversubscription = Some(3.0);
        spec.spine_oversubscription = Some(3.0);
    });
    let over: Vec<f64> = cluster.network.tiers.iter().map(|t| t.oversubscription).collect();
    assert_eq!(over.len(), 3);
    assert!((over[0] - 3.0).abs() < 1e-12 && (over[1] - 9.0).abs() < 0.6, "{over:?}");
}

#[test]
fn forwarding_between_rails_slows_what_goes_to_all_peers_and_nothing_else() {
    let rails = on(Kind::RailOnly, 1024, |_| {});
    // Equation 16 at K = 8, 50 and 450 GB/s.
    assert!((rails.network.rail_forwarding - (1.0 + 50.0 / 450.0 * 7.0 / 8.0)).abs() < 1e-12);
    let tree = on(Kind::RailOptimized, 1024, |_| {});
    let dense = by_name("llama-3-70b").expect("known");
    let dense_plan = plan(&dense, &tree, 8, 1024);
    let time = |model: &Model, cluster: &Cluster, plan: &Plan| {
        step_time(model, cluster, plan).expect("possible").get()
    };
    assert_eq!(time(&dense, &rails, &dense_plan), time(&dense, &tree, &dense_plan));
    // Experts over 16 domains: their exchange takes longer, or uses kernels aware of rails.
    let experts = by_name("mixtral-8x22b").expect("known");
    let spec = PlanSpec {
        tensor_parallel: Some(4),
        expert_parallel: Some(8),
        pipeline_parallel: Some(4),
        global_batch: Some(1024),
        ..PlanSpec::default()
    };
    let spread = spec.resolve(&experts, &tree).expect("possible");
    let ratio = time(&experts, &rails, &spread) / time(&experts, &tree, &spread);
    assert!((1.0..1.1).contains(&ratio), "{ratio}");
}

#[test]
fn less_bandwidth_slows_a_step_by_no_more_than_its_share() {
    let cluster = on(Kind::RailOptimized, 1024, |_| {});
    let model = by_name("llama-3-70b").expect("known");
    let plan = plan(&model, &cluster, 8, 1024);
    let share = network_share(&model, &cluster, &plan).expect("possible");
    assert!((0.0..0.5).contains(&share), "{share}");
    let half = slowdown(&model, &cluster, &plan, 0.5).expect("possible").expect("it goes on");
    let quarter = slowdown(&model, &cluster, &plan, 0.25).expect("possible").expect("it goes on");
    assert!(1.0 <= half && half <= quarter, "{half} {quarter}");
    assert_eq!(slowdown(&model, &cluster, &plan, 0.0), Ok(None));
    assert_eq!(slowdown(&model, &cluster, &plan, 1.0), Ok(Some(1.0)));
}

fn axes(kinds: &[Kind]) -> Axes {
    Axes {
        domains: vec![8, 64],
        kinds: kinds.to_vec(),
        oversubscriptions: vec![1.0, 2.0],
        speeds: vec![BytesPerSecond::from_gbit(200.0), BytesPerSecond::from_gbit(400.0)],
        base: DesignSpec { devices: Some(1024), radix: Some(64), ..DesignSpec::default() },
    }
}

fn site() -> Site {
    Site {
        accelerator: "H100".to_owned(),
        device_price: Some(Dollars::new(30_000.0)),
        device_price_source: String::new(),
        device_power: Some(Watts::new(700.0)),
        host_power: Watts::new(300.0),
        years: 4.0,
        electricity_price: Dollars::new(0.1),
        power_usage_effectiveness: 1.25,
        tokens_per_second: None,
        tokens: None,
        availability: 1.0,
    }
}

#[test]
fn a_grid_has_each_design_once_and_each_class_of_steps_once() {
    let model = by_name("llama-3-70b").expect("known");
    let kinds = [Kind::RailOptimized, Kind::RailOnly, Kind::Dragonfly, Kind::Torus];
    let grid = grid(&kinds, &model, &PlanSpec { context_parallel: Some(1), ..PlanSpec::default() });
    // Two domains and two speeds: two oversubscriptions of rail-optimized and of rail-only (whose rails of 16
    // at domain 64 fit one switch), one dragonfly.
    assert_eq!(grid.points.len(), 2 * 2 * 2 + 2 * 2 + 2 + 2 * 2, "{:?}", grid.points.len());
    assert!(grid.refused.iter().any(|r| r.kind == Kind::Torus));
    // Separate rails have no effect on a dense model without context parallelism, or with rings only.
    assert!(is_same_on_rails(&grid));
    assert!(grid.classes.len() < grid.points.len());
    let many = Axes { oversubscriptions: vec![1.0; 30_000], ..axes(&kinds) };
    let prices = Prices::catalogue().expect("well formed");
    assert!(Grid::new(&many, &machine(1024), false, &prices).is_err());
}

fn grid(kinds: &[Kind], model: &Model, specified: &PlanSpec) -> Grid {
    let specified = PlanSpec { global_batch: Some(1024), ..specified.clone() };
    let space = Space::unlimited(&specified, model, &machine(1024)).expect("possible");
    let prices = Prices::catalogue().expect("well formed");
    Grid::new(&axes(kinds), &machine(1024), space.sends_to_all(model), &prices).expect("some can be built")
}

/// Tests whether steps are equal with connected and separate rails.
fn is_same_on_rails(grid: &Grid) -> bool {
    let class = |kind: Kind| {
        let of = |p: &&Point| p.design.kind == kind && p.design.domain.size == 8 && p.oversubscription == 1.0;
        grid.points.iter().find(of).expect("built").class
    };
    class(Kind::RailOptimized) == class(Kind::RailOnly)
}

#[test]
fn heads_that_go_to_all_peers_distinguish_rails() {
    let kinds = [Kind::RailOptimized, Kind::RailOnly];
    let dense = by_name("llama-3-70b").expect("known");
    let is_same = |model: &Model, context: Option<u64>, kind: Option<ContextKind>| {
        let specified = PlanSpec { context_parallel: context, context_kind: kind, ..PlanSpec::default() };
        is_same_on_rails(&grid(&kinds, model, &specified))
    };
    assert!(!is_same(&dense, None, None), "the search tries all-to-alls of heads");
    assert!(!is_same(&dense, Some(16), Some(ContextKind::Ulysses)));
    assert!(is_same(&dense, None, Some(ContextKind::Ring)));
    assert!(is_same(&dense, Some(1), Some(ContextKind::Ulysses)));
    assert!(!is_same(&by_name("mixtral-8x22b").expect("known"), Some(1), None));
}

#[test]
fn a_rail_larger_than_a_pod_meets_the_cores() {
    // 48 rails of 1,100 places on pods of 32 leaves of 32: no rail stays in its pod, and some cross after
    // their first leaf.
    let blocked = on(Kind::RailOptimized, 52_800, |spec| {
        (spec.domain, spec.radix) = (Some(48), Some(64));
        spec.spine_oversubscription = Some(3.0);
    });
    let spine = &blocked.network.tiers[1];
    assert!(spine.devices < 52_800 && spine.oversubscription > 2.0, "{spine:?}");
    assert!(spine.devices >= blocked.network.tiers[0].devices, "{:?}", blocked.network.tiers);
    assert_eq!(blocked.network.tiers[2].devices, 52_800);
}

#[test]
fn nothing_on_a_front_is_beaten_and_everything_else_is() {
    let model = by_name("llama-3-70b").expect("known");
    let kinds: Vec<Kind> = Kind::ALL.into_iter().filter(|kind| *kind != Kind::ScaleUp).collect();
    let grid = grid(&kinds, &model, &PlanSpec::default());
    let found: Vec<Result<Found, NoPlan>> = grid
        .classes
        .iter()
        .enumerate()
        .map(|(index, cluster)| {
            if index == 1 {
                return Err(NoPlan::NothingFits("too large".to_owned()));
            }
            let plan = plan(&model, cluster, 8, 1024);
            let step_time = step_time(&model, cluster, &plan).expect("possible");
            Ok(Found {
                plan,
                step_time,
                fresh_step_time: step_time,
                tokens_per_second: 1e6 / step_time.get(),
                network_share: 0.1,
            })
        })
        .collect();
    let layouts = vec![<[String; 2]>::default(); found.len()];
    let prices = BTreeMap::from([(64, Dollars::new(1000.0))]);
    let answered = answer(grid, &found, layouts, (&site(), None), prices, 8);
    // The power of switches and NICs of 200 Gbit/s is unpublished: it is not reported as 0, and fronts
    // exclude watts.
    assert!(!answered.compares_power);
    assert!(answered.warnings.iter().all(|warning| warning.id == "network-power-unknown"));
    assert!(!answered.warnings.is_empty());
    assert!(answered.rows.iter().all(|r| r.watts.is_some() == (r.speed == BytesPerSecond::from_gbit(400.0))));
    let timed = || answered.rows.iter().filter_map(|r| r.step_time.map(|t| (r, t.get())));
    for (row, time) in timed() {
        // Slower by at most a tie, not more expensive, and better in one.
        let is_beaten_by = |(other, t): (&Row, f64)| {
            !std::ptr::eq(other, row)
                && other.domain == row.domain
                && t <= time * (1.0 + 1e-4)
                && other.dollars <= row.dollars
        };
        let is_beaten = timed().filter(|(other, _)| other.on_front).any(is_beaten_by);
        let is_equal = |(other, t): (&Row, f64)| t == time && other.dollars == row.dollars;
        if row.on_front {
            assert!(!timed().any(|of| is_beaten_by(of) && of.1 <= time && !is_equal(of)), "{row:?}");
        }
        assert_eq!(row.on_front, !is_beaten, "{row:?}");
        assert!(row.on_front || !row.on_whole_front);
        if row.domain == 64 {
            assert!(row.dollars_per_device.get() > 1000.0);
        }
    }
    for domain in [8, 64] {
        let fastest =
            timed().filter(|(r, _)| r.domain == domain).min_by(|a, b| a.1.total_cmp(&b.1)).expect("some");
        let on_front = timed().filter(|(r, _)| r.domain == domain && r.on_front);
        assert!(on_front.clone().any(|(_, t)| t <= fastest.1 * (1.0 + 1e-4)), "{domain}");
        assert!(on_front.count() >= 2, "{domain}");
    }
    let cheapest: Vec<&Row> = answered.rows.iter().filter(|row| row.cheapest_token).collect();
    assert_eq!(cheapest.len(), 1);
    assert!(answered.rows.iter().any(|row| row.step_time.is_none() && !row.on_front));
    // Without a price of larger domains, sizes are not compared.
    let grid = self::grid(&[Kind::Clos], &model, &PlanSpec::default());
    let found = vec![Err(NoPlan::NotSearched); grid.classes.len()];
    let layouts = vec![<[String; 2]>::default(); found.len()];
    let unpriced = answer(grid, &found, layouts, (&site(), None), BTreeMap::new(), 8);
    assert_eq!((unpriced.unpriced_domains, answered.unpriced_domains), (vec![64], vec![]));
    // A given power of larger domains is in their rows alone.
    let grid = self::grid(&[Kind::Clos], &model, &PlanSpec::default());
    let watts = BTreeMap::from([(64, Watts::new(90.0))]);
    let scale_up = ScaleUp { prices: BTreeMap::from([(64, Dollars::ZERO)]), watts };
    let layouts = vec![<[String; 2]>::default(); found.len()];
    let powered = answer(grid, &found, layouts, (&site(), None), scale_up, 8);
    for (with, without) in powered.rows.iter().zip(&unpriced.rows) {
        let more = if with.domain == 64 { 90.0 * with.design.devices as f64 } else { 0.0 };
        let sum = without.watts.map(|watts| watts.get() + more);
        assert!(with.watts.map(Watts::get) == sum, "{:?} {sum:?}", with.watts);
    }
    // With known power, a lower one puts a design on the front.
    let known =
        Axes { speeds: vec![BytesPerSecond::from_gbit(400.0)], ..axes(&[Kind::Clos, Kind::RailOnly]) };
    let prices = Prices::catalogue().expect("well formed");
    let grid = Grid::new(&known, &machine(1024), false, &prices).expect("built");
    let found = vec![Err(NoPlan::NotSearched); grid.classes.len()];
    let layouts = vec![<[String; 2]>::default(); found.len()];
    let known = answer(grid, &found, layouts, (&site(), None), BTreeMap::from([(64, Dollars::ZERO)]), 8);
    assert!(known.compares_power && known.warnings.is_empty(), "{:?}", known.warnings);
}

/// A network that the closed form has as equal to a more expensive one is slower in simulation: both are then
/// on the front.
#[test]
fn fronts_are_those_of_simulated_steps() {
    let model = by_name("llama-3-70b").expect("known");
    let grid = grid(&[Kind::Clos], &model, &PlanSpec::default());
    let found: Vec<Result<Found, NoPlan>> = grid
        .classes
        .iter()
        .map(|cluster| {
            let plan = plan(&model, cluster, 8, 1024);
            let time = Seconds::new(10.0);
            let (step_time, fresh_step_time) = (time, time);
            Ok(Found { plan, step_time, fresh_step_time, tokens_per_second: 1e5, network_share: 0.1 })
        })
        .collect();
    let layouts = vec![<[String; 2]>::default(); found.len()];
    let mut answered =
        answer(grid, &found, layouts, (&site(), None), BTreeMap::from([(64, Dollars::ZERO)]), 8);
    let front = |answered: &Codesign, domain: u64| -> Vec<(f64, f64)> {
        let of = answered.rows.iter().filter(|row| row.on_front && row.domain == domain);
        of.map(|row| (row.oversubscription, row.speed.get() * 8e-9)).collect()
    };
    // Equal steps: the cheapest alone.
    assert_eq!(front(&answered, 8), [(2.0, 200.0)]);
    super::front::mark_simulated(&mut answered);
    assert_eq!(front(&answered, 8), [(2.0, 200.0)], "without a simulated network nothing changes");
    for row in answered.rows.iter_mut().filter(|row| row.domain == 8 && row.speed.get() > 3e10) {
        let step_time = Seconds::new(10.0 + row.oversubscription);
        let [step_low, step_high] = [step_time; 2];
        row.simulated = Some(Simulated {
            routing: "spray",
            step_time,
            is_merged: false,
            step_low,
            step_high,
            fastest: step_time,
            network_share: 0.1,
            cost: None,
        });
    }
    super::front::mark_simulated(&mut answered);
    assert_eq!(
        front(&answered, 8),
        [(1.0, 400.0), (2.0, 400.0)],
        "networks without simulation are on no front"
    );
    assert_eq!(front(&answered, 64), [(2.0, 200.0)], "in closed form, without a simulated one of this size");
    assert!(answered.rows.iter().all(|row| !row.on_whole_front || row.simulated.is_some()));
}

#[test]
fn a_budget_leaves_out_dearer_networks() {
    let model = by_name("llama-3-70b").expect("known");
    let whole = grid(&[Kind::Clos, Kind::RailOnly], &model, &PlanSpec::default());
    let none = BTreeMap::new();
    let mut prices: Vec<f64> = whole.points.iter().map(|point| point.price(&none).get()).collect();
    prices.sort_by(f64::total_cmp);
    let (least, most) = (prices[0], prices[prices.len() - 1]);
    let mut cheap = whole.clone();
    let half = least.midpoint(most);
    let above = cheap.within(Dollars::new(half), &none).expect("some remain");
    assert!(!above.is_empty() && above.len() + cheap.points.len() == whole.points.len());
    assert!(cheap.points.iter().all(|point| point.price(&none).get() <= half));
    assert!(above.iter().all(|point| point.price(&none).get() > half));
    // Every point has the cluster of before, and every class has a point.
    for point in &cheap.points {
        let before = whole.points.iter().find(|other| other.design == point.design).expect("the same");
        assert_eq!(cheap.classes[point.class], whole.classes[before.class]);
    }
    assert!((0..cheap.classes.len()).all(|class| cheap.points.iter().any(|point| point.class == class)));
    // The part of larger domains counts.
    let dear = BTreeMap::from([(64, Dollars::new(most))]);
    assert!(
        whole.clone().within(Dollars::new(most), &dear).expect("domains of 8").iter().all(|point| point
            .design
            .domain
            .size
            == 64)
    );
    let refused = whole.clone().within(Dollars::new(least / 2.0), &none).expect_err("none");
    assert!(refused.message.starts_with("every network costs more than"), "{refused:?}");
}

/// The simulation of an oversubscribed tree decides, not its closed form; within the intervals there is no
/// winner.
#[test]
fn simulation_decides_between_networks() {
    let model = by_name("llama-3-8b").expect("known");
    let machine = machine(256);
    let axes = Axes {
        domains: vec![8],
        kinds: vec![Kind::Clos, Kind::RailOptimized],
        oversubscriptions: vec![1.0, 4.0],
        speeds: vec![BytesPerSecond::from_gbit(400.0)],
        base: DesignSpec { devices: Some(256), ..DesignSpec::default() },
    };
    let grid = Grid::new(&axes, &machine, true, &Prices::catalogue().expect("prices")).expect("a grid");
    let found: Vec<Result<Found, NoPlan>> = grid
        .classes
        .iter()
        .map(|cluster| {
            let plan = plan(&model, cluster, 8, 256);
            let time =
                step_time(&model, cluster, &plan).map_err(|problem| NoPlan::NothingFits(problem.message))?;
            let network_share = network_share(&model, cluster, &plan)
                .map_err(|problem| NoPlan::NothingFits(problem.message))?;
            let tokens_per_second = plan.tokens_per_step() as f64 / time.get();
            Ok(Found { plan, step_time: time, fresh_step_time: time, tokens_per_second, network_share })
        })
        .collect();
    let layouts = vec![<[String; 2]>::default(); found.len()];
    let free = Site { device_price: None, ..site() };
    let mut unpriced = answer(grid.clone(), &found, layouts.clone(), (&free, None), BTreeMap::new(), 8);
    let mut answered = answer(grid, &found, layouts, (&site(), None), BTreeMap::new(), 8);
    let mut hashed = answered.clone();
    let judging =
        SecondRound { model: &model, machine: &machine, found: &found, routing: None, every_network: false };
    // Without a price of the devices, the reference and the front are simulated, their cost is unknown, and
    // there is no winner.
    assert!(
        judge(&mut unpriced, &judging, &InTurn, &|_, _| std::ops::ControlFlow::Continue(())).is_continue()
    );
    for row in unpriced.rows.iter().filter(|row| row.is_reference || row.on_front) {
        let simulated = row.simulated.as_ref().expect("simulated");
        assert!(simulated.step_low <= simulated.step_high && simulated.cost.is_none());
    }
    assert!(unpriced.contenders.is_empty() && unpriced.rows.iter().all(|row| !row.cheapest_token));
    let why = |row: &Row| (row.simulated.is_none(), row.unsimulated);
    let is_explained = |why| why == (false, None) || why == (true, Some(Unsimulated::NoDevicePrice));
    assert!(unpriced.rows.iter().map(why).all(is_explained));
    let drawn = SecondRound { routing: Some(Routing::Ecmp), ..judging };
    assert!(judge(&mut hashed, &drawn, &InTurn, &|_, _| std::ops::ControlFlow::Continue(())).is_continue());
    // Hash seeds differ: the interval of an oversubscribed tree is wider than that of its median alone.
    let is_wider = hashed.rows.iter().filter_map(|row| row.simulated.as_ref()).any(|one| {
        let (below, above) = (one.step_time - one.step_low, one.step_high - one.step_time);
        (below / above - 1.0).abs() > 1e-3
    });
    assert!(is_wider, "{:?}", hashed.rows.iter().map(|row| &row.simulated).collect::<Vec<_>>());
    assert!(
        judge(&mut answered, &judging, &InTurn, &|_, _| std::ops::ControlFlow::Continue(())).is_continue()
    );
    let rows = &answered.rows;
    let reference = rows.iter().find(|row| row.is_reference).expect("a reference");
    assert!(reference.simulated.is_some() && reference.oversubscription == 1.0);
    // One step to each side of the best is also simulated.
    let cheapest = answered.contenders.first().map(|&at| &rows[at]).expect("a contender");
    let beside = rows.iter().filter(|row| row.topology == cheapest.topology);
    assert!(beside.clone().count() == 2 && beside.clone().all(|row| row.simulated.is_some()));
    let best = answered.contenders.first().and_then(|&at| rows[at].simulated.as_ref()).expect("simulated");
    for (at, row) in rows.iter().enumerate() {
        let Some(simulated) = &row.simulated else {
            // Networks without simulation cost more in closed form than the upper bound on the best.
            let closed = row.share.cluster.and_then(|all| all.dollars_per_million_tokens).expect("a price");
            assert!(closed > best.cost.expect("a price").dollars_high);
            assert_eq!(row.unsimulated, Some(Unsimulated::CostsMore));
            continue;
        };
        assert_eq!(row.unsimulated, None);
        assert!(simulated.step_low <= simulated.step_time && simulated.step_time <= simulated.step_high);
        let cost = |one: &Simulated| one.cost.expect("a price");
        let near = cost(simulated).dollars_low <= cost(best).dollars_high;
        assert_eq!(answered.contenders.contains(&at), near);
        assert_eq!(row.cheapest_token, near && answered.contenders.len() == 1);
    }
}

/// One flow for all groups of a kind, at the rate of the slowest, compared with separate flows.
#[test]
fn merged_groups_miss_less_of_the_step_than_their_interval_covers() {
    let model = by_name("llama-3-70b").expect("known");
    let specified = [(8, 4, 4, 1), (8, 8, 1, 2), (4, 4, 2, 4), (2, 8, 1, 2)];
    let (mut merged, mut most) = (0, 0.0_f64);
    for kind in [Kind::Clos, Kind::RailOptimized, Kind::RailOnly, Kind::DualPlane, Kind::Dragonfly] {
        for (over, gigabits) in [(1.0, 400.0), (2.0, 200.0), (4.0, 200.0), (4.0, 400.0)] {
            let spec = DesignSpec {
                kind: Some(kind),
                devices: Some(512),
                domain: Some(8),
                radix: Some(32),
                speed: Some(BytesPerSecond::from_gbit(gigabits)),
                leaf_oversubscription: Some(over),
                routing: kind.usual_routing(),
                ..DesignSpec::default()
            };
            let Ok(design) = spec.resolve() else { continue };
            let cluster = cluster_on(&design, &machine(512)).expect("it has a step");
            let wiring = Wiring::new(&design, &[]).expect("wired");
            for (tensor, stages, chunks, context) in specified {
                let spec = PlanSpec {
                    tensor_parallel: Some(tensor),
                    pipeline_parallel: Some(stages),
                    virtual_stages: Some(chunks),
                    context_parallel: Some(context),
                    micro_batch: Some(1),
                    global_batch: Some(128),
                    ..PlanSpec::default()
                };
                let plan = spec.resolve(&model, &cluster).expect("possible");
                let run = (&model, &cluster, &plan);
                let timed = |most| {
                    let watch = &mut |_, _| std::ops::ControlFlow::Continue(());
                    let extent = Extent { most_flows: most, ..Extent::WHOLE };
                    step_time_within(run, &Setting::on(&wiring), extent, watch)
                        .expect("simulated")
                        .expect("it ends")
                };
                let (one, own) = (timed(0), timed(usize::MAX));
                let rest = step_time(&model, &cluster, &plan).expect("possible").get()
                    * (1.0 - network_share(&model, &cluster, &plan).expect("possible"));
                let part = own.step_time.get() - rest;
                let missed = (one.step_time.get() - own.step_time.get()).abs() / part;
                merged += usize::from(one.is_merged && missed > 1e-9);
                most = most.max(missed);
            }
        }
    }
    assert!(merged > 8 && most < MISSED_BY_MERGING, "{merged} {most}");
}

/// A class that a stop skipped differs from one without a fitting layout.
#[test]
fn classes_without_a_plan_have_a_reason_or_were_not_searched() {
    let model = by_name("llama-3-70b").expect("known");
    let grid = grid(&[Kind::Clos, Kind::RailOnly], &model, &PlanSpec::default());
    let mut found = vec![Err(NoPlan::NotSearched); grid.classes.len()];
    found[0] = Err(NoPlan::NothingFits("too large".to_owned()));
    let layouts = vec![<[String; 2]>::default(); found.len()];
    let answered = answer(grid, &found, layouts, (&site(), None), BTreeMap::new(), 8);
    for (index, class) in answered.classes.iter().enumerate() {
        let expected =
            if index == 0 { (Searched::NothingFits, "too large") } else { (Searched::NotSearched, "") };
        assert_eq!((class.searched, class.reason.as_str()), expected);
    }
}

#[test]
fn the_default_axes_have_the_machines_own_values_and_list_the_rest() {
    let own = |name: &str, devices: u64| {
        let machine = cluster::by_name(name, devices).expect("known");
        (usual_domains(&machine), usual_speeds(&machine))
    };
    let gbit = |speeds: &[BytesPerSecond]| speeds.iter().map(|s| (s.gb() * 8.0).round()).collect::<Vec<_>>();
    let (domains, speeds) = own("dgx-h100", 1024);
    assert_eq!(domains.values, [8, 16, 32, 64, 128, 256]);
    assert_eq!(domains.left_out, [72, 144, 288, 576]);
    assert_eq!((gbit(&speeds.values), gbit(&speeds.left_out)), (vec![200.0, 400.0], vec![800.0]));
    assert!(own("gb200-nvl72", 1024).0.left_out.contains(&72));
    assert!(own("a100-pcie-80gb", 64).0.values.contains(&2));
    assert!(own("l40s-48gb", 64).0.values.contains(&1));
    assert_eq!(gbit(&own("dgx-a100", 64).1.values), [200.0]);
    assert_eq!(gbit(&own("dgx-b300", 64).1.values), [200.0, 400.0, 800.0]);
    assert_eq!(gbit(&own("v100-pcie-32gb", 64).1.values), [100.0]);
}

/// NICs that a device cannot feed are no faster than its link in the step.
#[test]
fn the_cluster_of_a_design_has_no_more_than_the_link_of_a_device() {
    let of = |gbit: f64| {
        on(Kind::RailOptimized, 1024, |spec| spec.speed = Some(BytesPerSecond::from_gbit(gbit)))
            .network
            .bandwidth
    };
    assert_eq!(of(400.0).gb(), 50.0);
    assert!((of(800.0).gb() - 63.0).abs() < 0.1 && of(1600.0) == of(800.0));
}

/// Failures of each network change the cost of its tokens alone: two planes lose the least, and a factor on
/// the availability is one on the cost.
#[test]
fn failures_of_a_network_are_in_the_cost_of_its_tokens() {
    let model = by_name("llama-3-70b").expect("known");
    let own = grid(&[Kind::RailOptimized, Kind::DualPlane], &model, &PlanSpec::default());
    let of = |cluster: &Cluster| {
        let plan = plan(&model, cluster, 8, 1024);
        let step_time = step_time(&model, cluster, &plan).expect("possible");
        Found { plan, step_time, fresh_step_time: step_time, tokens_per_second: 1e6, network_share: 0.1 }
    };
    let found: Vec<Result<Found, NoPlan>> = own.classes.iter().map(|cluster| Ok(of(cluster))).collect();
    let layouts = vec![<[String; 2]>::default(); found.len()];
    let outages =
        Outages::new(Rates::catalogue().expect("well formed"), &machine(1024), false).expect("built");
    let rows = |outages| answer(own.clone(), &found, layouts.clone(), (&site(), outages), BTreeMap::new(), 8);
    let (with, without) = (rows(Some(&outages)), rows(None));
    let cost =
        |row: &Row| row.share.cluster.and_then(|whole| whole.dollars_per_million_tokens).map(Dollars::get);
    let mut kept = BTreeMap::new();
    for (row, free) in with.rows.iter().zip(&without.rows) {
        let (own, factor) = (cost(row).expect("priced"), row.kept.expect("a step"));
        assert!((own * factor / cost(free).expect("priced") - 1.0).abs() < 1e-12 && free.kept.is_none());
        assert_eq!(factor, outages.kept(&row.design, 0.1).expect("known"));
        if row.domain == 8 && row.oversubscription == 1.0 {
            kept.insert(row.topology.name(), factor);
        }
    }
    assert!(kept["rail-optimized"] < kept["dual-plane"] && kept["dual-plane"] < 1.0, "{kept:?}");
    let [least, most] = with.lost().expect("without a goodput");
    assert!(least > 0.0 && most < 0.02 && without.lost().is_none(), "{least} {most}");
}
