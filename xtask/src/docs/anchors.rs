//! Well-known runs as anchors: published value, prediction, and whether it is inside the interval.
//!
//! Responsible for: the page made of `catalog/evidence/anchors.csv`. Does not predict, and never omits bad
//! predictions.

use super::validation::{percent, signed};
use crate::left_out::LeftOut;
use railwright_calculator::validation::report::RowResult;
use railwright_calculator::validation::statistics::summarize;
use railwright_calculator::validation::table::{Cells, read};
use railwright_calculator::validation::validate;
use std::fmt::Write as _;

/// The table of anchors, from the root.
pub(super) const TABLE: &str = "catalog/evidence/anchors.csv";

fn assumed(cells: &Cells) -> String {
    let notes = cells.text("notes").unwrap_or_default();
    let parts = notes.split(';').map(str::trim);
    let texts: Vec<&str> =
        parts.filter(|part| part.starts_with("assumed") || part.starts_with("step time from")).collect();
    texts.join("; ")
}

/// An anchor's error, its error without its publication if constants were fitted to it, and true if it is
/// inside its interval.
struct Found {
    error: f64,
    left_out: Option<f64>,
    is_inside: bool,
}

/// The left-out prediction of an anchor among the measured runs; `None` if no constant was fitted to it.
fn left_out<'r>(all: &'r [LeftOut], id: &str) -> Option<&'r LeftOut> {
    let id = id.strip_prefix("anchor-")?;
    all.iter().find(|row| row.id == id)
}

fn line(out: &mut String, row: &RowResult, cells: &Cells, all: &[LeftOut]) -> Option<Found> {
    let text = |column: &str| cells.text(column).unwrap_or_default().replace('|', "\\|");
    let (name, devices) = (text("model_name"), text("n_gpus"));
    let measured = row.measured_step_time_s?;
    let Some(predicted) = row.predicted_step_time_s else {
        let reason = row.skipped.as_deref().unwrap_or_default();
        let _ = writeln!(
            out,
            "| {name} | {devices} x {} | {measured:.2} s | not predicted: {reason} | | | | | {} |",
            text("gpu"),
            text("source")
        );
        return None;
    };
    let (low, high) = (row.predicted_step_time_low_s?, row.predicted_step_time_high_s?);
    let is_inside = (low..=high).contains(&measured);
    let error = predicted / measured - 1.0;
    let left_out = left_out(all, &row.id).map(LeftOut::error);
    let _ = writeln!(
        out,
        "| {name} | {devices} x {} | {measured:.2} s | {predicted:.2} s | {} | {} | {low:.2} to {high:.2} s{} | {} | {}{} |",
        text("gpu"),
        signed(error),
        left_out.map_or_else(|| "not fitted".to_owned(), signed),
        if is_inside { "" } else { ", outside" },
        row.probability_of_fitting.map_or_else(String::new, percent),
        text("source"),
        match assumed(cells) {
            texts if texts.is_empty() => texts,
            texts => format!(" ({texts})"),
        }
    );
    Some(Found { error, left_out, is_inside })
}

/// Text of the page.
pub(super) fn page(table: &str, left_out: &[LeftOut]) -> Result<String, String> {
    let answer = validate(table, TABLE).map_err(|problem| problem.to_string())?;
    let cells = read(table, TABLE).map_err(|problem| problem.to_string())?;
    let mut lines = String::from(
        "| model | devices | published | predicted | error | left out | 90% interval | fits | source |\n\
         | --- | --- | --: | --: | --: | --: | --- | --: | --- |\n",
    );
    let found: Vec<Found> = answer
        .rows
        .iter()
        .zip(&cells)
        .filter_map(|(row, cells)| line(&mut lines, row, cells, left_out))
        .collect();
    let summary = summarize(&found.iter().map(|run| run.error).collect::<Vec<_>>()).unwrap_or_default();
    let unseen: Vec<f64> = found.iter().map(|run| run.left_out.unwrap_or(run.error)).collect();
    let unseen = summarize(&unseen).unwrap_or_default();
    let fitted = found.iter().filter(|run| run.left_out.is_some()).count();
    let inside = found.iter().filter(|run| run.is_inside).count();
    Ok(format!(
        "# Well-known runs\n\n\
         Published step times of large runs and the prediction of the shipped constants. {fitted} of them are among the runs that the constants were\n\
         fitted to; \"left out\" is their error with constants fitted without the publication ([leave-one-out](leave-one-out.md)). Runs with\n\
         unpublished settings are predicted under the assumption in brackets. \"Fits\" is the probability that the layout fits into memory; all of these\n\
         runs did.\n\n\
         {} runs: median error {}, nine of ten within {}, bias {}, {inside} inside their 90% interval. With the fitted ones left out: median error {},\n\
         nine of ten within {}, bias {}.\n\n{lines}\n\
         Made by `cargo run -p xtask -- docs` from `{TABLE}`.\n",
        found.len(),
        percent(summary.median_absolute),
        percent(summary.p90_absolute),
        signed(summary.bias),
        percent(unseen.median_absolute),
        percent(unseen.p90_absolute),
        signed(unseen.bias),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Twenty runs and more are predicted, most of them within a fifth.
    #[test]
    fn anchors_hold() {
        let table = include_str!("../../../catalog/evidence/anchors.csv");
        let answer = validate(table, TABLE).expect("a table");
        let errors: Vec<f64> = answer.rows.iter().filter_map(|row| row.step_time_error).collect();
        assert!(errors.len() >= 20, "{}", errors.len());
        let close = errors.iter().filter(|error| error.abs() < 0.2).count();
        assert!(close * 10 >= errors.len() * 7, "{errors:?}");
    }

    /// An anchor that constants were fitted to shows its left-out error, and one that they were not is marked
    /// so.
    #[test]
    fn fitted_anchors_are_marked() {
        let table = include_str!("../../../catalog/evidence/anchors.csv");
        let all =
            crate::left_out::read(include_str!("../../../catalog/evidence/left_out.csv")).expect("reads");
        let page = page(table, &all).expect("a page");
        let lines: Vec<&str> = page.lines().filter(|line| line.contains(" x ")).collect();
        let ids = table.lines().skip(1).filter_map(|line| line.split(',').next());
        let fitted: Vec<&LeftOut> = ids.filter_map(|id| left_out(&all, id)).collect();
        let marked = lines.iter().filter(|line| !line.contains("| not fitted |")).count();
        assert!(!fitted.is_empty() && marked == fitted.len(), "{marked} of {}", fitted.len());
        for row in fitted {
            assert!(page.contains(&format!("| {} |", signed(row.error()))), "{}", row.id);
        }
    }
}
