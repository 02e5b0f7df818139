//! Replays of recorded jobs, compared with derived answers
//! (`fixtures/traces/reference/pipeline/primus_whatif.csv`, `reference/truth/CASES.csv`).

use crate::support;
use railwright_profiler::passes::{PassKind, Passes};
use railwright_profiler::replay::{Replay, Subset};

/// Cost of a forward pass's stall for its step, in milliseconds.
fn cost(passes: &Passes, step: u32, stage: u32, micro_batch: u32) -> f64 {
    let replay = Replay::new(passes).expect("a replay");
    let stall = Subset {
        kinds: vec![PassKind::Forward],
        stages: vec![stage],
        steps: vec![step],
        micro_batches: vec![micro_batch],
        ..Subset::default()
    };
    let costs = replay.cost_of_excess(&stall);
    assert!(costs.iter().all(|&(of, cost)| of == step || cost == 0), "other steps do not change");
    costs.iter().find(|c| c.0 == step).map_or(f64::NAN, |c| c.1 as f64 / 1e6)
}

#[test]
fn every_step_is_reproduced_within_one_percent() {
    let primus = support::primus();
    let replay = Replay::new(&primus).unwrap();
    let steps = replay.replayed();
    for row in support::reference("pipeline/primus_whatif.csv").iter().filter(|row| row[0] == "pp8") {
        let measured: f64 = row[2].parse().unwrap();
        let step = steps.iter().find(|s| s.step.to_string() == row[1]).expect("the step");
        assert!((step.measured as f64 / 1e6 - measured).abs() < 0.001, "{row:?}");
        // The reference replay, with a single latency of 2 ms, is within 0.36%.
        assert!(step.error().abs() < 0.002, "{row:?}: {}", step.error());
    }
    // A message takes 0.78 ms, and so does the transition from a backward to a forward pass of a rank.
    assert!((700_000..900_000).contains(&replay.gaps().hop), "{:?}", replay.gaps());
    assert_eq!(replay.circular(), 0);

    let megatron = support::megatron_app();
    let steps = Replay::new(&megatron).unwrap().replayed();
    assert_eq!(steps.len(), 20);
    // The first step includes warm-up: two thirds of it contain no pass.
    assert!(steps[1..].iter().all(|s| s.error().abs() < 0.01), "{steps:?}");
}

/// Rows primus_pp8_step11, 15, 16 and 18.
#[test]
fn a_stall_costs_what_the_step_lost_and_nothing_where_slack_absorbed_it() {
    let primus = support::primus();
    for (step, stage, micro_batch, truth) in
        [(11, 0, 7, 0.0), (15, 1, 4, 3.0), (16, 2, 8, 218.0), (18, 3, 10, 248.0)]
    {
        let cost = cost(&primus, step, stage, micro_batch);
        assert!((cost - truth).abs() <= 15.0, "step {step}: {cost} ms, not {truth}");
    }
    // The other passes of that step cost nothing significant.
    assert!(cost(&primus, 16, 3, 8).abs() < 1.0);
}

#[test]
fn removing_more_saves_more_and_removing_nothing_saves_nothing() {
    let primus = support::primus();
    let replay = Replay::new(&primus).unwrap();
    let nothing = Subset { ranks: vec![99], ..Subset::default() };
    assert!(replay.cost_of_excess(&nothing).iter().all(|c| c.1 == 0));
    let mut before = vec![0; replay.len()];
    for stages in [vec![2], vec![2, 3], (0..8).collect()] {
        let costs = replay.cost_of_excess(&Subset { stages, ..Subset::default() });
        for (now, before) in costs.iter().zip(&mut before) {
            assert!(now.1 >= *before, "{now:?}");
            *before = now.1;
        }
    }
    assert_eq!(replay.what_if_ideal(nothing, &[1, 2]).1.saved, 0);
    let all = replay.what_if_ideal(Subset::default(), &[1, 2]).1;
    assert!((all.recovered - 1.0).abs() < 1e-9 && all.saved > 0, "{all:?}");
}

/// A job whose hosts carry the messages: each rank's activity between its passes and the awaited rank are
/// recorded.
#[test]
fn steps_of_hosts_are_rebuilt_from_their_own_messages() {
    use railwright_profiler::joined::{JoinOptions, join};
    use railwright_profiler::pipeline::from_job;
    let files: Vec<String> =
        (0..4).map(|r| format!("generated_torch215_gloo_pp2dp2/rank{r}_step5.pt.trace.json.gz")).collect();
    let mut job = support::job(&files);
    let joined = join(&mut job, &JoinOptions::default());
    let mut passes = from_job::passes(&job, &joined).expect("passes");
    assert!(passes.host_order);
    let replay = Replay::new(&passes).unwrap();
    assert_eq!(replay.circular(), 0);
    let steps = replay.replayed();
    assert_eq!(steps.len(), 3);
    assert!(steps.iter().all(|s| s.error().abs() < 0.01), "{steps:?}");
    // Without their excess, two micro-batches of rank 2 save that excess. The order is the schedule's, so the
    // replay differs from the recorded times.
    let stall =
        Subset { ranks: vec![2], steps: vec![3], kinds: vec![PassKind::Forward], ..Subset::default() };
    let saved: i64 = replay.cost_of_excess(&stall).iter().map(|c| c.1).sum();
    assert!((saved as f64 / 1e6 - 200.0).abs() <= 20.0, "{saved}");
    // Without messages the time between passes is fitted, and a step limited by hosts is not reproduced.
    passes.host_order = false;
    passes.passes.retain(|p| !p.kind.is_message());
    let fitted = Replay::new(&passes).unwrap().replayed();
    assert!(fitted.iter().all(|s| s.error() < -0.05), "{fitted:?}");
}
