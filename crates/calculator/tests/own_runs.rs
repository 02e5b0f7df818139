//! Runs measured for this repository on one H100 and one H200: `catalog/evidence/own_runs.csv`, made by `catalog/operators/measure`.
//!
//! Responsible for: time inside the stated interval and memory within 15%, with every exception named. Excludes experts in a loop, which no
//! generation has. One constant, the host's time per kernel, comes from the step time of one of these rows.

use railwright_calculator::validation::report::RowResult;
use railwright_calculator::validation::validate;

const RUNS: &str = include_str!("../../../catalog/evidence/own_runs.csv");

fn predicted() -> Vec<RowResult> {
    let rows = validate(RUNS, "own_runs.csv").expect("readable").rows;
    assert!(rows.iter().all(|row| row.skipped.is_none()), "a row is not predicted");
    rows.into_iter().filter(|row| !row.id.ends_with("-loop")).collect()
}

fn median(mut errors: Vec<f64>) -> f64 {
    for error in &mut errors {
        *error = error.abs();
    }
    errors.sort_by(f64::total_cmp);
    errors[errors.len() / 2]
}

/// The rows that break a bound are those that are named, no more and no fewer: a mended cause takes its names off the list.
#[track_caller]
fn exceptions(broken: &[String], named: &[&str]) {
    assert_eq!(broken, named, "runs outside the bound");
}

#[test]
fn step_times_are_inside_the_interval() {
    let rows = predicted();
    let is_inside = |row: &RowResult| {
        let measured = row.measured_step_time_s?;
        Some(row.predicted_step_time_low_s? <= measured && measured <= row.predicted_step_time_high_s?)
    };
    let outside: Vec<String> =
        rows.iter().filter(|row| is_inside(row) != Some(true)).map(|row| row.id.clone()).collect();
    exceptions(&outside, &[]);
    let error = median(rows.iter().filter_map(|row| row.step_time_error).collect());
    assert!(error < 0.09, "median error {error:.3}");
}

/// GPT-2 in Transformers composes its GELU of eight operators. With one kernel the steps are predicted a third too short.
#[test]
fn steps_of_a_composed_gelu_are_predicted() {
    let rows = predicted();
    let gelu: Vec<f64> =
        rows.iter().filter(|row| row.id.contains("gpt2")).filter_map(|row| row.step_time_error).collect();
    assert_eq!(gelu.len(), 7);
    let error = median(gelu);
    assert!(error < 0.15, "median error {error:.3}");
}

#[test]
fn peaks_are_within_fifteen_per_cent() {
    let rows = predicted();
    let is_off = |row: &&RowResult| row.peak_memory_error.is_none_or(|error| error.abs() > 0.15);
    let off: Vec<String> = rows.iter().filter(is_off).map(|row| row.id.clone()).collect();
    exceptions(
        &off,
        &[
            "own-h100-hf-gpt2-b16-s1024",
            "own-h100-hf-gpt2m-b8-s1024",
            "own-h100-hf-gpt2xl-b4-s1024",
            "own-h100-titan-compile-8b8l-b2-s4096-gc",
            "own-h100-hf-gpt2-padded-b16-s1024",
            "own-h200-hf-gpt2-b16-s1024",
        ],
    );
    let error = median(rows.iter().filter_map(|row| row.peak_memory_error).collect());
    assert!(error < 0.04, "median error {error:.3}");
}
