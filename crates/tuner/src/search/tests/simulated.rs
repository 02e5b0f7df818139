//! A search with candidates priced by flows, compared with pricing all strategies by flows.

use super::*;

/// A search priced by flows has the result of pricing every strategy by flows, although it prices only a few:
/// on a tapered tree the order differs from the closed form's.
#[test]
fn front_runners_by_flows_are_the_best_of_all_by_flows() {
    use crate::flows;
    use railwright_network::topology::{DesignSpec, Kind};
    let model = model::by_name("llama-3-8b").expect("known");
    let cluster = cluster::by_name("dgx-h100", 64).expect("known");
    let specified = PlanSpec { global_batch: Some(64), ..PlanSpec::default() };
    let thin = DesignSpec {
        kind: Some(Kind::Clos),
        leaf_oversubscription: Some(2.0),
        hosts_per_leaf: Some(8),
        ..DesignSpec::default()
    };
    let space = || {
        let mut space = Space::new(&specified, &model, &cluster).expect("a space");
        space.restrict("pipeline_parallel", "1..2").expect("a range");
        space
    };
    let machines = || {
        let wiring = flows::wiring(&cluster, &thin, &[]).expect("built");
        flows::quick_and_simulated(&cluster, wiring).expect("whole")
    };
    let (quick, slow) = machines();
    let options = Options { keep: 3, ..Options::default() };
    let search = Search::new(&model, &cluster, space(), options).expect("a space").simulated(quick, slow);
    let results = search.run();
    let mut asked = 0;
    let runners = search
        .runners(&results, 1, |entries| {
            asked += entries.len();
            Some(entries.iter().map(|entry| Candidate::new(&search, &entry.strategy)).collect())
        })
        .expect("priced");
    // All strategies: the closed form keeps every layout, and flows price all of them.
    let (quick, slow) = machines();
    let all = Search::new(&model, &cluster, space(), Options { keep: 10_000, ..options })
        .expect("a space")
        .simulated(quick, slow);
    let entries = all.run();
    let mut times: Vec<f64> = entries
        .best
        .entries()
        .iter()
        .map(|entry| Candidate::new(&all, &entry.strategy).expect("priced").expected_time.get())
        .collect();
    times.sort_by(f64::total_cmp);
    let here: Vec<f64> = runners.candidates.iter().take(1).map(|c| c.expected_time.get()).collect();
    assert_eq!(asked, runners.priced);
    if runners.is_proven {
        for (a, b) in here.iter().zip(&times) {
            assert!((a / b - 1.0).abs() < 1e-9, "{here:?} {:?}", &times[..1]);
        }
    }
    assert!(runners.is_proven && times.len() > 10, "{} {}", times.len(), runners.priced);
    // Strategies that cannot win are not priced.
    assert!(runners.priced < times.len(), "{} of {}", runners.priced, times.len());
    // The tapered tree has an effect.
    let quick = results.best.entries()[0].time;
    assert!(here[0] > quick * 1.0001, "{} {quick}", here[0]);
}
