//! Questions without the program: equal results on any number of threads, cancellation, and filled-in runs.

use railwright_answers::{
    ClosedForm, Effort, Filled, MapCell, MapOutcome, Named, NoTexts, Prepared, Progress, Question as _,
    SearchOptions, Settings, Stage, Unmonitored, Watch, changes, cluster, estimate, fill, memory, resolve,
    search, whatif,
};
use railwright_spec::run::RunSpec;
use railwright_tuner::why_not::WhyNot;
use std::sync::atomic::{AtomicUsize, Ordering};

fn spec(settings: &[&str]) -> RunSpec {
    let mut spec = RunSpec::default();
    for setting in ["cluster.preset=dgx-h100"].iter().chain(settings) {
        spec.set(setting).expect("a setting");
    }
    spec
}

fn wanted(threads: usize) -> SearchOptions {
    let effort = Effort { threads: Some(threads), ..Effort::default() };
    SearchOptions { top: 5, effort, ..SearchOptions::default() }
}

#[test]
fn the_number_of_threads_does_not_show() {
    let spec = spec(&["model.name=llama-3-8b", "cluster.devices=64"]);
    let asked = Settings::new(&[spec], &[], &NoTexts).expect("settings");
    let rows = |threads| {
        let found = search(&asked, &wanted(threads), &ClosedForm, &Unmonitored).expect("layouts");
        assert!(found.is_complete && !found.is_interrupted());
        let rows = found.shown.iter().map(|shown| (shown.run_file.clone(), shown.command.clone()));
        rows.collect::<Vec<_>>()
    };
    assert_eq!(rows(1).len(), 5);
    assert_eq!(rows(1), rows(3));
}

#[test]
fn the_map_has_the_best_of_each_pair_of_degrees_or_what_it_lacks() {
    let spec = spec(&["model.name=llama-3-70b", "cluster.devices=32", "plan.global_batch=64"]);
    let asked = Settings::new(&[spec], &[], &NoTexts).expect("settings");
    let narrow = |threads| {
        let space = vec!["virtual_stages=1".to_owned(), "context_parallel=1".to_owned()];
        let effort = Effort { threads: Some(threads), space, ..Effort::default() };
        SearchOptions { effort, ..wanted(threads) }
    };
    let mapped = |threads| {
        let wanted = SearchOptions { map: true, top: 1, all: true, ..narrow(threads) };
        search(&asked, &wanted, &ClosedForm, &Unmonitored).expect("layouts")
    };
    let found = mapped(1);
    assert_eq!(found.map, mapped(3).map, "the number of threads shows");
    // The best of all cells equals the best of the search.
    let fits = |cell: &MapCell| match &cell.outcome {
        MapOutcome::Fits { step_time, .. } => Some(step_time.get()),
        _ => None,
    };
    let best = found.map.iter().filter_map(fits).fold(f64::INFINITY, f64::min);
    let first = &found.shown[0].ranked.candidate;
    assert_eq!(best, first.expected_time.get());
    // A cell out of memory agrees with `--why-not`.
    let (cell, lacks, of) = found
        .map
        .iter()
        .find_map(|cell| match &cell.outcome {
            MapOutcome::OutOfMemory { lacks, layout, .. } => Some((cell, *lacks, layout.clone())),
            _ => None,
        })
        .expect("70B does not fit on 32 devices in every way");
    let named = Named::parse(&format!("tp={},pp={}", cell.tensor, cell.pipeline)).expect("degrees");
    let wanted = SearchOptions { why_not: vec![named], ..narrow(2) };
    let why = search(&asked, &wanted, &ClosedForm, &Unmonitored).expect("an answer").why_not;
    let WhyNot::TooLarge(large) = &why[0].verdict else { panic!("{:?}", why[0].verdict) };
    assert_eq!(large.lacks, lacks);
    assert!(lacks.get() > 0.0 && of.contains("--"));
    assert!(!found.map.iter().any(|cell| cell.outcome == MapOutcome::Unsearched));
}

/// Cancels after a number of checks.
struct Impatient(AtomicUsize);

impl Watch for Impatient {
    fn is_stopped(&self) -> bool {
        self.0.fetch_add(1, Ordering::Relaxed) > 20
    }

    fn begin(&self, _: Stage, _: u64) -> Box<dyn Progress + '_> {
        Box::new(Unmonitored)
    }
}

#[test]
fn a_stopped_search_is_marked() {
    let spec = spec(&["model.name=llama-3.1-405b", "cluster.devices=4096"]);
    let asked = Settings::new(&[spec], &[], &NoTexts).expect("settings");
    let found = search(&asked, &wanted(2), &ClosedForm, &Impatient(AtomicUsize::new(0))).expect("an answer");
    assert!(!found.is_complete && found.is_interrupted());
}

#[test]
fn open_devices_become_as_many_as_fit() {
    let first = resolve(spec(&["model.name=llama-3-70b"]), &NoTexts).expect("a run");
    let before = first.run.cluster.devices_per_node;
    let Ok(Filled::Run(filled)) = fill(first, &NoTexts, &ClosedForm, &Unmonitored) else {
        panic!("nothing fits")
    };
    assert!(filled.run.cluster.devices > before, "{before}");
    assert!(filled.chosen[0].contains("the smallest power of two that fits"), "{:?}", filled.chosen);
    let report = memory(&filled, None).expect("a report").report;
    let estimate = estimate(*filled, &ClosedForm).expect("an estimate").estimate;
    assert_eq!(report.fit, estimate.memory.fit);
}

#[test]
fn the_fast_path_is_the_estimate() {
    for degrees in [
        ["plan.tensor_parallel=8", "plan.pipeline_parallel=4"],
        ["plan.tensor_parallel=4", "plan.pipeline_parallel=8"],
    ] {
        let mut specified = vec!["model.name=llama-3-70b", "cluster.devices=256"];
        specified.extend(degrees);
        let resolved = resolve(spec(&specified), &NoTexts).expect("a run");
        let prepared = Prepared::new(resolved.clone());
        let fast = prepared.evaluate(&resolved.run.plan).expect("a time");
        let whole = estimate(resolved, &ClosedForm).expect("an estimate").estimate;
        assert_eq!(fast.step_time, whole.step_time);
        assert!((fast.memory / whole.memory.peak - 1.0).abs() < 1e-9);
        assert_eq!(fast.fit, whole.memory.fit);
        assert!((fast.probability_of_fitting - whole.memory.probability_of_fitting).abs() < 1e-9);
    }
}

#[test]
fn all_problems_of_changes_are_reported() {
    let refused = changes(&["nothing=1".to_owned(), "alsonothing=2".to_owned(), "nic=x2".to_owned()]);
    // Names depend on the run; texts without a value are always invalid.
    match refused {
        Ok(changes) => {
            let resolved = resolve(spec(&["model.name=llama-3-8b", "cluster.devices=8"]), &NoTexts);
            let answer = whatif(resolved.expect("a run"), &changes, &NoTexts, None);
            assert_eq!(answer.expect_err("two wrong names").0.len(), 2);
        }
        Err(refused) => assert_eq!(refused.0.len(), 2),
    }
}

#[test]
fn files_are_refused_where_there_are_none() {
    assert!(cluster("./mine.toml", &NoTexts).is_err());
    let asked = Settings::new(&[], &[], &NoTexts);
    assert!(asked.is_err());
    let two = spec(&["model.name=llama-3-8b"]);
    let asked = Settings::new(&[two], &[16, 8, 8], &NoTexts).expect("settings");
    let devices: Vec<u64> = asked.settings().iter().map(|setting| setting.run.cluster.devices).collect();
    assert_eq!(devices, [8, 16]);
}
