//! Surveyed networks against a search of each.

use super::*;
use crate::codesign::fabric::step_time;
use crate::search::Options;
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

/// From the best to the worst.
fn networks() -> Vec<Cluster> {
    let all = [800.0, 400.0, 200.0, 100.0].map(|speed| [1.0, 2.0, 4.0].map(|over| network(speed, over)));
    all.concat()
}

fn search<'a>(model: &'a Model, cluster: &'a Cluster, keep: usize, every_detail: bool) -> Search<'a> {
    let said = PlanSpec {
        global_batch: Some(128),
        segment: Some(Segment::Whole),
        software: Some("megatron-core-2025".to_owned()),
        ..PlanSpec::default()
    };
    let space = Space::new(&said, model, cluster).expect("a space");
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
            assert!(least <= best.time * (1.0 + 1e-12), "{name}: {least} is no bound of {}", best.time);
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

/// Slower messages delay the first pass of a late stage, and with it shorten the cycle of a zero-bubble schedule: by more than rounding, and by
/// less than half of what bounds allow for. No other schedule has a shorter step on a worse network.
#[test]
fn only_zero_bubble_steps_are_shorter_on_a_worse_network() {
    let networks = networks();
    let mut shortest: BTreeMap<bool, f64> = BTreeMap::new();
    for (name, batch) in [("llama-3-8b", 64), ("llama-3-8b", 256), ("llama-2-13b", 128)] {
        let model = model::by_name(name).expect("known");
        for schedule in Schedule::ALL {
            for (stages, tensor, overlap) in
                [(2, 1, true), (4, 2, false), (8, 1, true), (8, 2, false), (8, 8, true)]
            {
                let said = PlanSpec {
                    schedule: Some(schedule),
                    pipeline_parallel: Some(stages),
                    tensor_parallel: Some(tensor),
                    global_batch: Some(batch),
                    micro_batch: Some(1),
                    overlap_pipeline: Some(overlap),
                    ..PlanSpec::default()
                };
                let Ok(plan) = said.resolve(&model, &networks[0]) else { continue };
                let time = |cluster: &Cluster| step_time(&model, cluster, &plan).map(Seconds::get);
                let Ok(times) = networks.iter().map(time).collect::<Result<Vec<f64>, _>>() else { continue };
                for (at, better) in networks.iter().enumerate() {
                    for (to, worse) in networks.iter().enumerate() {
                        if is_at_least_as_good(better, worse) {
                            let kept = shortest.entry(schedule.validates_afterwards()).or_insert(1.0);
                            *kept = kept.min(times[to] / times[at]);
                        }
                    }
                }
            }
        }
    }
    assert!(shortest[&false] >= 1.0 - 1e-12, "{shortest:?}");
    assert!(shortest[&true] < 1.0 - 1e-6 && shortest[&true] > 1.0 - LATE_START / 2.0, "{shortest:?}");
}

/// Where a zero-bubble schedule may be used, a list proves less on another network, and as much on its own.
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
