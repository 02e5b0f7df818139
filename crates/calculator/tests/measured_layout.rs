//! Predictions of a layout whose own step time was measured.
//!
//! Responsible for: the interval of that layout, its narrowness, and the scatter of repeated runs behind it.

use railwright_calculator::calibration::step_times::{self, REPEATED, Timed};
use railwright_calculator::estimate::{Estimate, EstimateOptions, estimate};
use railwright_spec::calibration::Calibration;
use railwright_spec::cluster::{Cluster, by_name};
use railwright_spec::model::{self, Model};
use railwright_spec::plan::PlanSpec;
use railwright_spec::quantity::Seconds;
use railwright_spec::run::SoftwareOrigin;
use std::collections::BTreeMap;
use std::sync::Arc;

const RUNS: &str = include_str!("../../../catalog/evidence/measured_runs.csv");

fn predicted(model: &Model, cluster: &Cluster, tensor: u64) -> Estimate {
    let spec = PlanSpec { tensor_parallel: Some(tensor), ..PlanSpec::default() };
    let plan = spec.resolve(model, cluster).expect("possible");
    let options =
        EstimateOptions { software_origin: SoftwareOrigin::Specified, ..EstimateOptions::default() };
    estimate(model, cluster, &plan, &options).expect("an estimate")
}

#[test]
fn a_measured_layout_has_a_narrow_interval_and_no_other_has() {
    let model = model::by_name("llama-3-8b").expect("known");
    let bare = by_name("dgx-h100", 64).expect("known");
    let before = predicted(&model, &bare, 2);
    let plan = PlanSpec { tensor_parallel: Some(2), ..PlanSpec::default() };
    let plan = plan.resolve(&model, &bare).expect("possible");
    let width = |estimate: &Estimate| {
        let interval = &estimate.step_time_interval;
        interval.high / interval.low
    };
    for factor in [0.8, 1.0, 1.1, 1.2] {
        let seconds = before.step_time * factor;
        let run = Timed { model: &model, cluster: &bare, plan: &plan, seconds };
        let empty = Calibration::empty(&bare.accelerator.id);
        let steps = step_times::fit(&[run], &empty, "a test").expect("sound").expect("one run");
        let own = Calibration { steps: Some(steps), software: plan.software.clone(), ..empty };
        let with = Cluster { calibration: Some(Arc::new(own)), ..bare.clone() };
        let (same, other) = (predicted(&model, &with, 2), predicted(&model, &with, 4));
        let interval = &same.step_time_interval;
        assert!(interval.low < seconds && seconds < interval.high, "{factor}: {interval:?}");
        assert!(interval.low < same.step_time && same.step_time < interval.high, "{factor}: {interval:?}");
        assert!(width(&same) < width(&before), "{factor}: {} after {}", width(&same), width(&before));
        assert!(interval.source.contains("this layout"), "{}", interval.source);
        assert!(width(&other) > width(&same) && !other.step_time_interval.source.contains("this layout"));
    }
}

/// A measurement that no plausible rates explain is named, and one within the range is not.
#[test]
fn a_measurement_far_from_the_model_is_named() {
    let model = model::by_name("llama-3-8b").expect("known");
    let bare = by_name("dgx-h100", 64).expect("known");
    let before = predicted(&model, &bare, 2);
    let plan = PlanSpec { tensor_parallel: Some(2), ..PlanSpec::default() };
    let plan = plan.resolve(&model, &bare).expect("possible");
    for (factor, is_outlier) in [(1.1, false), (4.0, true), (0.25, true)] {
        let seconds = before.step_time * factor;
        let run = Timed { model: &model, cluster: &bare, plan: &plan, seconds };
        let empty = Calibration::empty(&bare.accelerator.id);
        let steps = step_times::fit(&[run], &empty, "a test").expect("sound").expect("one run");
        let own = Calibration { steps: Some(steps), software: plan.software.clone(), ..empty };
        let with = Cluster { calibration: Some(Arc::new(own)), ..bare.clone() };
        let estimate = predicted(&model, &with, 2);
        let is_named = estimate.warnings.iter().any(|warning| warning.id == "calibration-outlier");
        let ratio = seconds / estimate.step_time;
        assert_eq!(is_named, is_outlier, "{factor}: measured over calibrated {ratio}");
        let interval = &estimate.step_time_interval;
        assert!(interval.low < seconds && seconds < interval.high, "{factor}: {interval:?}");
    }
}

/// Sets of rows that agree in every published setting, and the deviation of nine of ten rows from the
/// geometric mean of their set.
#[test]
fn the_scatter_of_repeated_runs_is_that_of_the_table() {
    const SETTINGS: [&str; 24] = [
        "model_name",
        "params_b",
        "n_layers",
        "hidden",
        "seq_len",
        "gpu",
        "gpus_per_node",
        "n_gpus",
        "inter_node_bw_gbps",
        "framework",
        "dtype",
        "dp",
        "tp",
        "pp",
        "cp",
        "ep",
        "vpp",
        "sequence_parallel",
        "zero_stage",
        "recompute",
        "optimizer_offload",
        "micro_batch",
        "global_batch_seqs",
        "notes",
    ];
    let mut reader = csv::Reader::from_reader(RUNS.as_bytes());
    let names = reader.headers().expect("a header").clone();
    let place = |name: &str| names.iter().position(|column| column == name).expect("a known column");
    let settings = SETTINGS.map(place);
    let [measured, derived] = ["measured_step_time_s", "derived_step_time_s"].map(place);
    let mut sets: BTreeMap<Vec<String>, Vec<f64>> = BTreeMap::new();
    for row in reader.records() {
        let row = row.expect("a row");
        let step = [measured, derived].iter().find_map(|&at| row[at].parse::<f64>().ok());
        let Some(step) = step else { continue };
        let key = settings.iter().map(|&at| row[at].to_owned()).collect();
        sets.entry(key).or_default().push(Seconds::new(step).get().ln());
    }
    let repeated: Vec<&Vec<f64>> = sets.values().filter(|set| set.len() > 1).collect();
    let mut deviations: Vec<f64> = Vec::new();
    for set in &repeated {
        let mean = set.iter().sum::<f64>() / set.len() as f64;
        deviations.extend(set.iter().map(|log| (log - mean).abs()));
    }
    deviations.sort_by(f64::total_cmp);
    let at = |share: f64| deviations[(share * deviations.len() as f64) as usize];
    assert!(repeated.len() >= 20, "{} sets", repeated.len());
    assert!((at(0.9) - REPEATED).abs() < 0.01, "{} of {}", at(0.9), deviations.len());
    assert!(at(0.5) <= 0.0151, "{}", at(0.5));
}
