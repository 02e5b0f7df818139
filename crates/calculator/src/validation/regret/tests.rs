//! Tests of the table of regrets, on sweeps small enough to evaluate by hand.

use super::*;
use crate::memory::SURE_TO_FIT;

/// Rows of one sweep: predicted and measured seconds, and memory as a mark of the layout. No measured time is
/// out of memory.
fn rows(pairs: &[(f64, Option<f64>, bool)]) -> Vec<RowResult> {
    pairs
        .iter()
        .enumerate()
        .map(|(i, &(predicted, measured, fits))| RowResult {
            id: format!("run {i}"),
            predicted_step_time_s: Some(predicted),
            measured_step_time_s: measured,
            measured_out_of_memory: measured.is_none(),
            probability_of_fitting: Some(if fits { SURE_TO_FIT } else { SURE_TO_FIT - 0.01 }),
            predicted_peak_memory_bytes: Some(1.0),
            software: Some("some".to_owned()),
            ..RowResult::default()
        })
        .collect()
}

fn judged(pairs: &[(f64, Option<f64>, bool)]) -> Regret {
    regret(&Validation {
        file: "table".to_owned(),
        rows: rows(pairs),
        summary: super::super::report::Summary::default(),
        calibration: None,
    })
}

#[test]
fn the_regret_is_what_the_pick_loses() {
    let answer = judged(&[(2.0, Some(2.2), true), (1.0, Some(1.08), true), (1.2, Some(1.0), true)]);
    let sweep = &answer.sweeps[0];
    assert_eq!((sweep.pick.as_str(), sweep.best.as_str()), ("run 1", "run 2"));
    assert!((sweep.regret - 0.08).abs() < 1e-12, "{sweep:?}");
    assert_eq!((sweep.pairs, sweep.pairs_right), (3, 2));
    assert!((sweep.random - 0.08).abs() < 1e-12 && (sweep.spread - 1.2).abs() < 1e-12);
    // 8% in the only sweep: above the median's target, within the tail's.
    assert_eq!((answer.met, answer.overall.within_tail), (Some(false), 1.0));
}

#[test]
fn two_layouts_or_times_within_the_noise_are_no_choice() {
    assert!(judged(&[(1.0, Some(1.0), true), (2.0, Some(2.0), true)]).sweeps.is_empty());
    let close = judged(&[(1.0, Some(1.0), true), (2.0, Some(1.01), true), (3.0, Some(1.04), true)]);
    assert!(close.sweeps.is_empty() && close.met.is_none());
}

#[test]
fn indistinguishable_rows_are_one_layout_with_their_median() {
    let answer = judged(&[
        (1.0, Some(1.0), true),
        (1.0, Some(3.0), true),
        (1.0, Some(1.2), true),
        (2.0, Some(1.5), true),
        (3.0, Some(2.0), true),
    ]);
    assert_eq!(answer.sweeps[0].layouts, 3);
    assert_eq!(answer.sweeps[0].pick_measured_s, 1.2);
    assert_eq!(answer.sweeps[0].regret, 0.0);
}

#[test]
fn with_memory_the_pick_must_fit_and_run() {
    // The fastest does not fit; the next is predicted to fit and does not; the third runs, and is not the
    // best of those that ran.
    let answer = judged(&[
        (1.0, None, false),
        (2.0, None, true),
        (3.0, Some(4.4), true),
        (4.0, Some(4.0), true),
        (5.0, Some(5.0), false),
    ]);
    let pick = &answer.with_memory[0];
    assert_eq!((pick.out_of_memory, pick.found, pick.false_alarms), (2, 1, 1));
    assert_eq!((pick.pick.as_deref(), pick.pick_out_of_memory, pick.tries), (Some("run 1"), true, Some(2)));
    assert!((pick.regret.unwrap_or_default() - 0.1).abs() < 1e-12);
    assert_eq!((answer.memory.picks_out_of_memory, answer.memory.most_tries), (1, 2));
}

#[test]
fn nothing_predicted_to_fit_is_a_sweep_lost() {
    let answer = judged(&[(1.0, Some(1.0), false), (2.0, Some(2.0), false), (3.0, Some(3.0), false)]);
    assert_eq!(answer.memory.nothing_fits, 1);
    assert_eq!((answer.with_memory[0].tries, answer.with_memory[0].regret), (None, None));
    assert_eq!(answer.memory.within_tail, 0.0);
}

/// The bundled evidence: enough sweeps to evaluate, and no larger regret than documented.
#[test]
fn the_bundled_sweeps_are_chosen_well() {
    let text = include_str!("../../../../../catalog/evidence/measured_runs.csv");
    let validation = super::super::validate(text, "measured_runs.csv").expect("the bundled table");
    let answer = regret(&validation);
    assert!(answer.overall.sweeps > 80, "{:?}", answer.overall);
    assert!(answer.overall.median <= TARGETS.median, "{:?}", answer.overall);
    assert!(answer.overall.pairs_right.is_some_and(|p| p > 0.9), "{:?}", answer.overall);
    assert!(answer.overall.within_median > 0.6, "{:?}", answer.overall);
}
