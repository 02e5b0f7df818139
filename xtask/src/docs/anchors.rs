//! Well-known runs as anchors: what was published, what is predicted, and whether it lies inside the interval.
//!
//! Responsible for: the page made of `catalog/evidence/anchors.csv`. Refuses to predict, and to leave out what is predicted badly.

use super::validation::{percent, signed};
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
    let told: Vec<&str> =
        parts.filter(|part| part.starts_with("assumed") || part.starts_with("step time from")).collect();
    told.join("; ")
}

fn line(out: &mut String, row: &RowResult, cells: &Cells) -> Option<(f64, bool)> {
    let text = |column: &str| cells.text(column).unwrap_or_default().replace('|', "\\|");
    let (name, devices) = (text("model_name"), text("n_gpus"));
    let measured = row.measured_step_time_s?;
    let Some(predicted) = row.predicted_step_time_s else {
        let reason = row.skipped.as_deref().unwrap_or_default();
        let _ = writeln!(
            out,
            "| {name} | {devices} x {} | {measured:.2} s | not predicted: {reason} | | | | {} |",
            text("gpu"),
            text("source")
        );
        return None;
    };
    let (low, high) = (row.predicted_step_time_low_s?, row.predicted_step_time_high_s?);
    let is_inside = (low..=high).contains(&measured);
    let error = predicted / measured - 1.0;
    let _ = writeln!(
        out,
        "| {name} | {devices} x {} | {measured:.2} s | {predicted:.2} s | {} | {low:.2} to {high:.2} s{} | {} | {}{} |",
        text("gpu"),
        signed(error),
        if is_inside { "" } else { ", outside" },
        row.probability_of_fitting.map_or_else(String::new, percent),
        text("source"),
        match assumed(cells) {
            told if told.is_empty() => told,
            told => format!(" ({told})"),
        }
    );
    Some((error, is_inside))
}

/// The page.
pub(super) fn page(table: &str) -> Result<String, String> {
    let answer = validate(table, TABLE).map_err(|problem| problem.to_string())?;
    let cells = read(table, TABLE).map_err(|problem| problem.to_string())?;
    let mut lines = String::from(
        "| model | devices | published | predicted | error | 90% interval | fits | source |\n\
         | --- | --- | --: | --: | --: | --- | --: | --- |\n",
    );
    let found: Vec<(f64, bool)> =
        answer.rows.iter().zip(&cells).filter_map(|(row, cells)| line(&mut lines, row, cells)).collect();
    let errors: Vec<f64> = found.iter().map(|(error, _)| *error).collect();
    let summary = summarize(&errors).unwrap_or_default();
    let inside = found.iter().filter(|(_, is_inside)| *is_inside).count();
    Ok(format!(
        "# Well-known runs\n\n\
         Published step times of large runs and the prediction of the shipped constants. Some of them are among the runs that the constants\n\
         were fitted to ([validation](../validation.md)); runs that leave something out are predicted under the assumption in brackets. \"Fits\" is\n\
         the probability that the layout fits into memory; all of these runs did.\n\n\
         {} runs: median error {}, nine of ten within {}, bias {}, {inside} inside their 90% interval.\n\n{lines}\n\
         Made by `cargo run -p xtask -- docs` from `{TABLE}`.\n",
        found.len(),
        percent(summary.median_absolute),
        percent(summary.p90_absolute),
        signed(summary.bias),
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
}
