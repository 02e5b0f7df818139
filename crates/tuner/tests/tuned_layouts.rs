//! The search compared with layouts that a vendor tuned and published: `catalog/evidence/tuned_layouts.csv`.
//!
//! Each layout is resolved like a user's command and predicted. It is compared with the best layout of the
//! search for the same model, machines, batch and precision. Aims: predicted within 25% of the measured time,
//! and no slower than the best by more than the tie band. `tests/data/tuned_misses.csv` lists the misses with
//! their figures. Neither its length nor its figures may grow.

use railwright_calculator::costing::{Costing, Machine};
use railwright_calculator::evaluate::evaluate;
use railwright_spec::plan::{FORCED_IMBALANCE, Plan, PlanSpec};
use railwright_spec::problem::Problem;
use railwright_spec::run::{Run, RunSpec};
use railwright_tuner::search::{Options, Search, Space, difference_band};
use std::collections::BTreeMap;

const LAYOUTS: &str = include_str!("../../../catalog/evidence/tuned_layouts.csv");
const MISSES: &str = include_str!("data/tuned_misses.csv");

/// Maximum error of predicted over measured time, in both directions.
const PREDICTED_WITHIN: f64 = 0.25;
/// Rounding of the figures in the list of misses.
const ROUNDING: f64 = 0.005;

struct Tuned {
    id: String,
    run: Run,
    /// Settings that the user fixes while a layout is searched.
    fixed: PlanSpec,
    measured: f64,
}

fn tuned() -> Vec<Tuned> {
    let mut reader = csv::Reader::from_reader(LAYOUTS.as_bytes());
    let rows: Vec<BTreeMap<String, String>> =
        reader.deserialize().collect::<Result<_, _>>().expect("a table");
    rows.iter()
        .map(|row| {
            let mut spec = RunSpec::default();
            for (key, column) in [
                ("model.name", "model"),
                ("cluster.preset", "cluster"),
                ("cluster.devices", "gpus"),
                ("plan.precision.preset", "precision"),
                ("plan.sequence_length", "seq"),
                ("plan.global_batch", "gbs"),
            ] {
                spec.set_flag(column, key, &row[column]).expect(key);
            }
            // The vendor's benchmarks force balanced routing.
            spec.plan.expert_imbalance = Some(FORCED_IMBALANCE);
            let fixed = spec.plan.clone();
            for (key, column) in [
                ("plan.micro_batch", "mbs"),
                ("plan.tensor_parallel", "tp"),
                ("plan.pipeline_parallel", "pp"),
                ("plan.virtual_stages", "vp"),
                ("plan.context_parallel", "cp"),
                ("plan.expert_parallel", "ep"),
                ("plan.recompute", "recompute"),
            ] {
                spec.set_flag(column, key, &row[column]).expect(key);
            }
            spec.plan.uneven_stages = Some(true);
            let (run, _) = spec
                .resolve_valid(|path| Err(Problem::new("no file is read here").in_file(path)))
                .unwrap_or_else(|problems| panic!("{}: {problems:?}", row["id"]));
            let measured = row["step_time_s"].parse().expect("seconds");
            Tuned { id: row["id"].clone(), run, fixed, measured }
        })
        .collect()
}

/// Figures of the list by identifier: predicted over measured, and tuned over best.
fn misses(column: &str) -> BTreeMap<String, f64> {
    let mut reader = csv::Reader::from_reader(MISSES.as_bytes());
    let rows: Vec<BTreeMap<String, String>> =
        reader.deserialize().collect::<Result<_, _>>().expect("a table");
    rows.iter().filter_map(|row| Some((row["id"].clone(), row[column].parse().ok()?))).collect()
}

fn step(run: &Run, plan: &Plan) -> f64 {
    let machine = Machine::new(&run.cluster);
    let costing = Costing::new(&run.model, &run.cluster, plan, &machine).expect("known software");
    evaluate(&costing).expect("priced").time.total.get()
}

/// Fails for figures worse than the listed ones, and for entries that are no longer needed.
fn hold(what: &str, known: &BTreeMap<String, f64>, found: &[(String, f64, bool)]) {
    let mut wrong = Vec::new();
    for (id, figure, is_reached) in found {
        match (known.get(id), is_reached) {
            (None, false) => wrong.push(format!("{id}: {what} {figure:.3} misses the aim")),
            (Some(_), true) => {
                wrong.push(format!("{id}: {what} {figure:.3} reaches the aim; take it off the list"));
            }
            (Some(limit), false) if figure.ln().abs() > limit.ln().abs() + ROUNDING => {
                wrong.push(format!("{id}: {what} {figure:.3} is worse than the listed {limit:.3}"));
            }
            _ => {}
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn tuned_layouts_are_predicted() {
    let found: Vec<(String, f64, bool)> = tuned()
        .iter()
        .map(|tuned| {
            let ratio = step(&tuned.run, &tuned.run.plan) / tuned.measured;
            (
                tuned.id.clone(),
                ratio,
                (1.0 / (1.0 + PREDICTED_WITHIN)..=1.0 + PREDICTED_WITHIN).contains(&ratio),
            )
        })
        .collect();
    assert!(found.len() >= 15, "{} layouts", found.len());
    hold("predicted over measured", &misses("predicted_over_measured"), &found);
}

#[test]
fn tuned_layouts_lie_within_the_tie_band_of_the_best() {
    let mut found = Vec::new();
    for tuned in tuned() {
        let Run { model, cluster, plan, .. } = &tuned.run;
        let space = Space::new(&tuned.fixed, model, cluster).expect("a space");
        let options = Options { keep: 1, ..Options::default() };
        let search = Search::new(model, cluster, space, options).expect("layouts");
        let outcome = search.outcome(&search.run());
        let best = outcome.candidates.first().expect("something fits");
        // Layouts are compared on the stack of the search: the tuned run had its own dispatcher.
        let own = Plan { software: search.space.base.software.clone(), ..plan.clone() };
        let ratio = step(&tuned.run, &own) / best.step_time.get();
        found.push((tuned.id.clone(), ratio, ratio <= 1.0 + difference_band(&plan.software)));
    }
    hold("tuned over best", &misses("tuned_over_best"), &found);
}
