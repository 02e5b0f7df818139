//! Surveyed networks compared with a search of each.

use super::*;
use crate::search::Options;
use railwright_calculator::schedule::{ChunkCost, Pipeline, summarize};
use railwright_spec::cluster::{Tier, by_name};
use railwright_spec::model;
use railwright_spec::plan::{PlanSpec, Schedule, Segment};
use railwright_spec::quantity::BytesPerSecond;
use std::collections::BTreeMap;

fn network(gigabits: f64, oversubscription: f64) -> Cluster {
    let mut cluster = by_name("dgx-h100", 64).expect("known");
    cluster.network.bandwidth = BytesPerSecond::from_gbit(gigabits);
    let tier = |devices: u64, oversubscription: f64| Tier {
        name: String::new(),
        devices,
        oversubscription,
        latency: Seconds::from_micros(1.0),
    };
    cluster.network.tiers = vec![tier(16, oversubscription), tier(64, 1.0)];
    cluster
}

/// Networks from the best to the worst.
fn networks() -> Vec<Cluster> {
    let all = [800.0, 400.0, 200.0, 100.0].map(|speed| [1.0, 2.0, 4.0].map(|over| network(speed, over)));
    all.concat()
}

fn search<'a>(model: &'a Model, cluster: &'a Cluster, keep: usize, every_detail: bool) -> Search<'a> {
    let specified = PlanSpec {
        global_batch: Some(128),
        segment: Some(Segment::Whole),
        software: Some("megatron-core-2025".to_owned()),
        ..PlanSpec::default()
    };
    let space = Space::new(&specified, model, cluster).expect("a space");
    Search::new(model, cluster, space, Options { keep, every_detail, ..Options::default() })
        .expect("a search")
        .ordered()
}

#[test]
fn surveyed_networks_have_the_step_that_a_search_of_each_finds() {
    for name in ["llama-3-8b", "mixtral-8x7b"] {
        let model = model::by_name(name).expect("known");
        let networks = networks();
        let (mut survey, mut memo) = (Survey::default(), Memo::default());
        for cluster in &networks {
            let known = survey.fastest(&model, cluster, &mut memo).expect("prices");
            if known.is_some_and(|known| known.is_enough()) {
                continue;
            }
            let list = search(&model, cluster, LISTED, true);
            let results = list.run();
            survey.add(&list, &results, f64::INFINITY);
        }
        assert!(survey.len() < networks.len(), "{name}: every network was searched");
        for cluster in &networks {
            let fastest = survey.fastest(&model, cluster, &mut memo).expect("prices").expect("surveyed");
            let alone = search(&model, cluster, 1, false);
            let results = alone.run();
            let best = results.best.entries().first().expect("something fits");
            let (least, found) = (fastest.least.get(), fastest.step_time.get());
            assert!(least <= best.time * (1.0 + 1e-12), "{name}: {least} is not a bound of {}", best.time);
            assert!(
                found >= best.time * (1.0 - 1e-12),
                "{name}: {found} was missed by the search: {}",
                best.time
            );
            assert!(found <= best.time * (1.0 + SLACK), "{name}: {found} against {}", best.time);
            if fastest.gap() == 0.0 {
                assert_eq!(fastest.plan, best.strategy.plan(&alone.space, &model), "{name}");
            }
        }
    }
}

/// The search of the parallel sizes that bounds leave has the same list as the whole one, with fewer of them.
#[test]
fn bounds_of_better_networks_exclude_parallel_sizes_without_an_effect() {
    for name in ["llama-3-8b", "mixtral-8x7b"] {
        let model = model::by_name(name).expect("known");
        let (fast, slow) = (network(800.0, 1.0), network(400.0, 2.0));
        let mut survey = Survey::default();
        let first = search(&model, &fast, 1, false);
        survey.add(&first, &first.run(), f64::INFINITY);
        let whole = search(&model, &slow, 50, true);
        let expected = whole.run();
        let limit = expected.best.entries().last().expect("something fits").time;
        let mut least = BTreeMap::new();
        survey.raise(&mut least, &slow);
        let mut some = search(&model, &slow, 50, true);
        some.only_within(limit, |degrees| least.get(degrees).copied().unwrap_or(0.0));
        assert!(some.pieces().len() < whole.pieces().len(), "{name}: nothing was excluded");
        assert_eq!(some.run().best.entries(), expected.best.entries(), "{name}");
        // A worse network proves nothing about a better one.
        let (mut reverse, mut none) = (Survey::default(), BTreeMap::new());
        reverse.add(&whole, &expected, f64::INFINITY);
        reverse.raise(&mut none, &fast);
        assert!(none.is_empty());
    }
}

#[test]
fn nothing_is_proved_without_a_better_network() {
    let model = model::by_name("llama-3-8b").expect("known");
    let (slow, fast) = (network(100.0, 1.0), network(800.0, 1.0));
    let list = search(&model, &slow, 50, true);
    let (mut survey, mut memo) = (Survey::default(), Memo::default());
    assert!(survey.is_empty() && survey.fastest(&model, &fast, &mut memo).expect("prices").is_none());
    survey.add(&list, &list.run(), f64::INFINITY);
    let known = survey.fastest(&model, &fast, &mut memo).expect("prices").expect("surveyed");
    assert!(!known.is_enough() && known.gap().is_infinite());
    let own = survey.fastest(&model, &slow, &mut memo).expect("prices").expect("surveyed");
    assert!(own.is_enough() && own.gap() == 0.0);
}

/// No pipeline is shorter with slower messages and longer passes, including the cycle of a zero-bubble
/// schedule: each path to a stage's last pass contains the delay of its first one. Passes differ by up to a
/// fifth; those of the last stage take up to half more for the head.
#[test]
fn no_pipeline_is_shorter_with_slower_messages() {
    let mut shortest: BTreeMap<bool, f64> = BTreeMap::new();
    // A linear congruential generator, numbers from 0 to 1.
    let mut state = 1_u64;
    let mut random = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / f64::from(1_u32 << 31)
    };
    for turn in 0..12_000_u64 {
        let schedule = Schedule::ALL[(turn % Schedule::ALL.len() as u64) as usize];
        let stages = 2 * (1 + (random() * 8.0) as u64);
        let micro_batches = stages * 2 * (1 + (random() * 4.0) as u64);
        let virtual_stages = if schedule == Schedule::ZbV { 2 } else { 1 };
        let count = schedule.chunk_count(stages, virtual_stages) as usize;
        let mut chunks: Vec<ChunkCost> = (0..count)
            .map(|_| {
                let mut cost = |mean: f64| Seconds::new(mean * (0.9 + 0.2 * random()));
                ChunkCost {
                    forward: cost(1.0),
                    backward_input: cost(1.1),
                    backward_weight: cost(0.9),
                    ..ChunkCost::default()
                }
            })
            .collect();
        if let Some(last) = chunks.last_mut() {
            let head = 1.0 + 0.5 * random();
            last.forward = last.forward * head;
            last.backward_input = last.backward_input * head;
            last.backward_weight = last.backward_weight * head;
        }
        let transfer = 0.3 * random();
        let slower = transfer * (1.0 + 3.0 * random());
        let overlap_transfer = random() < 0.5;
        let longer = chunks.iter().map(|chunk| ChunkCost {
            forward: chunk.forward * (1.0 + 0.1 * random()),
            backward_input: chunk.backward_input * (1.0 + 0.1 * random()),
            ..*chunk
        });
        let longer: Vec<ChunkCost> = longer.collect();
        let time = |transfer: f64, chunks: &[ChunkCost]| {
            let transfer = Seconds::new(transfer);
            let pipeline = Pipeline {
                schedule,
                stages,
                virtual_stages,
                micro_batches,
                chunks,
                transfer,
                overlap_transfer,
            };
            let summary = summarize(&pipeline).ok()?;
            Some(if schedule.validates_afterwards() { summary.cycle } else { summary.duration })
        };
        let (Some(fast), Some(slow)) = (time(transfer, &chunks), time(slower, &longer)) else { continue };
        let kept = shortest.entry(schedule.validates_afterwards()).or_insert(1.0);
        *kept = kept.min(slow / fast);
    }
    assert!(shortest.len() == 2 && shortest.values().all(|kept| *kept >= 1.0 - 1e-12), "{shortest:?}");
}

/// With zero-bubble schedules, a list proves less on other networks, and the same on its own.
#[test]
fn lists_with_zero_bubble_schedules_prove_less_on_other_networks() {
    let model = model::by_name("llama-3-8b").expect("known");
    let (fast, slow) = (network(800.0, 1.0), network(800.0, 2.0));
    let mut memo = Memo::default();
    let mut least = |schedules: &[Schedule], cluster: &Cluster| {
        let mut list = search(&model, &fast, 1, true);
        list.space.schedules = schedules.to_vec();
        let mut survey = Survey::default();
        survey.add(&list, &list.run(), f64::INFINITY);
        let own = survey.fastest(&model, &fast, &mut memo).expect("prices").expect("surveyed");
        let there = survey.fastest(&model, cluster, &mut memo).expect("prices").expect("surveyed");
        assert_eq!(own.gap(), 0.0);
        there.least.get() / own.step_time.get()
    };
    let plain = least(&[Schedule::OneForwardOneBackward], &slow);
    let late = least(&[Schedule::OneForwardOneBackward, Schedule::ZbH1], &slow);
    assert!((plain - 1.0).abs() < 1e-12, "{plain}");
    assert!((late - (1.0 - LATE_START)).abs() < 1e-12, "{late}");
}
