//! Fits a generation's memory constants to published peaks, robustly.
//!
//! The loss is the mean over publications of the mean of `ln(1 + (e / 0.1)^2)`, with e the logarithm of
//! predicted over published peak. Runs that behave otherwise (freed or fragmented blocks) count little.
//! Constants of `catalog/memory.toml` are read from the working tree.

use crate::descent::{Steps, descend};
use crate::fit::is_of;
use railwright_calculator::memory::SoftwareCatalogue;
use railwright_calculator::validation::report::{assume_recompute, peak_memory};
use railwright_calculator::validation::statistics::quantile;
use railwright_calculator::validation::{Case, cases};
use std::collections::BTreeMap;

/// Error at which the loss of a run begins to flatten.
const FLAT: f64 = 0.1;
/// Constants in the working tree: one can be tried without a build.
const CONSTANTS: &str = "catalog/memory.toml";

/// `memory TABLE GENERATION [CONSTANT=START...]`.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let [table, generation, constants @ ..] = arguments else {
        return Err("memory needs a table and a generation".to_owned());
    };
    let text = std::fs::read_to_string(CONSTANTS).map_err(|e| format!("{CONSTANTS}: {e}"))?;
    let (mut names, mut at) = (Vec::new(), Vec::new());
    for constant in constants {
        let (name, start) = constant.split_once('=').ok_or_else(|| format!("`{constant}` has no start"))?;
        let start: f64 = start.parse().map_err(|_| format!("`{start}` is not a number"))?;
        names.push(name);
        at.push(start);
    }
    let runs = load(table, generation)?;
    let errors = |at: &[f64]| errors(&runs, &with(&text, generation, &names, at)?);
    let steps = Steps { first: 0.5, finest: 0.02, gain: 1e-6 };
    let bounds = vec![(0.0, f64::INFINITY); at.len()];
    descend(&mut at, &bounds, steps, |at| Ok::<_, String>(loss(&errors(at)?)))?;
    for (name, value) in names.iter().zip(&at) {
        println!("{name} = {value:.3}");
    }
    let mut by_source: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for (source, error) in errors(&at)? {
        by_source.entry("all".to_owned()).or_default().push(error.exp_m1());
        by_source.entry(source).or_default().push(error.exp_m1());
    }
    println!("runs  median     p90    bias  publication");
    for (source, errors) in by_source {
        let absolute: Vec<f64> = errors.iter().map(|error| error.abs()).collect();
        let percent = |value: f64| 100.0 * value;
        println!(
            "{:>4}  {:>5.1}%  {:>5.1}%  {:>+5.1}%  {source}",
            errors.len(),
            percent(quantile(&absolute, 0.5)),
            percent(quantile(&absolute, 0.9)),
            percent(quantile(&errors, 0.5)),
        );
    }
    Ok(())
}

/// Runs of a generation with a published peak.
fn load(path: &str, generation: &str) -> Result<Vec<Case>, String> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("{path}: {e}"))?;
    let memory = SoftwareCatalogue::shared().map_err(|p| p.to_string())?;
    let all = cases(&text, path).map_err(|p| p.to_string())?;
    let mut runs: Vec<Case> = all.into_iter().filter_map(|(_, case)| case.ok()).collect();
    runs.retain(|case| case.peak_memory.is_some() && is_of(case, generation));
    for case in &mut runs {
        let constants = memory.get(&case.plan.software);
        assume_recompute(case, constants);
    }
    Ok(runs)
}

/// Publication and logarithmic error of each run, with the constants of a catalogue.
fn errors(runs: &[Case], text: &str) -> Result<Vec<(String, f64)>, String> {
    let catalogue = SoftwareCatalogue::parse(text).map_err(|p| p.to_string())?;
    Ok(runs
        .iter()
        .filter_map(|case| {
            let predicted = peak_memory(case, catalogue.get(&case.plan.software)).get();
            Some((case.source.clone(), (predicted / case.peak_memory?).ln()))
        })
        .filter(|(_, error)| error.is_finite())
        .collect())
}

fn loss(errors: &[(String, f64)]) -> f64 {
    let mut by_source: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
    for (source, error) in errors {
        let (sum, count) = by_source.entry(source).or_default();
        *sum += (error / FLAT).powi(2).ln_1p();
        *count += 1.0;
    }
    by_source.values().map(|(sum, count)| sum / count).sum::<f64>() / by_source.len().max(1) as f64
}

/// The catalogue with some constants of a generation.
fn with(text: &str, generation: &str, names: &[&str], at: &[f64]) -> Result<String, String> {
    let mut file: toml::Table = toml::from_str(text).map_err(|e| e.to_string())?;
    let own = file
        .get_mut("software")
        .and_then(toml::Value::as_array_mut)
        .and_then(|list| {
            list.iter_mut().find(|one| one.get("id").and_then(toml::Value::as_str) == Some(generation))
        })
        .and_then(toml::Value::as_table_mut)
        .ok_or_else(|| format!("{generation} is not in the catalogue"))?;
    for (name, value) in names.iter().zip(at) {
        own.insert((*name).to_owned(), toml::Value::Float(*value));
    }
    toml::to_string(&file).map_err(|e| e.to_string())
}
