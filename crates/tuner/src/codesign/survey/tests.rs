//! Surveyed networks against a search of each.

use super::*;
use crate::search::Options;
use railwright_spec::cluster::{Tier, by_name};
use railwright_spec::model;
use railwright_spec::plan::{PlanSpec, Segment};
use railwright_spec::quantity::BytesPerSecond;

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
        let mut survey = Survey::default();
        for cluster in &networks {
            let known = survey.fastest(&model, cluster).expect("prices");
            if known.is_some_and(|known| known.is_enough()) {
                continue;
            }
            let list = search(&model, cluster, LISTED, true);
            let results = list.run();
            survey.add(&list, &results, f64::INFINITY);
        }
        assert!(survey.len() < networks.len(), "{name}: every network was searched");
        for cluster in &networks {
            let fastest = survey.fastest(&model, cluster).expect("prices").expect("surveyed");
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
    let mut survey = Survey::default();
    assert!(survey.is_empty() && survey.fastest(&model, &fast).expect("prices").is_none());
    survey.add(&list, &list.run(), f64::INFINITY);
    let known = survey.fastest(&model, &fast).expect("prices").expect("surveyed");
    assert!(!known.is_enough() && known.gap().is_infinite());
    let own = survey.fastest(&model, &slow).expect("prices").expect("surveyed");
    assert!(own.is_enough() && own.gap() == 0.0);
}
