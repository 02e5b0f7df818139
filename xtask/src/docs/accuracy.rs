//! Accuracy as the README states it: on publications excluded from the fit, then on those that it includes.
//!
//! Responsible for: the table by group of sources and the page of all publications, both from
//! `catalog/evidence/left_out.csv`. Does not predict: a row of the table of measured runs without a left-out
//! prediction is an error.

use super::validation::{percent, signed};
use crate::left_out::LeftOut;
use crate::own_runs::{Remaining, Scope};
use crate::residuals::coverage;
use railwright_calculator::validation::Validation;
use railwright_calculator::validation::statistics::{ErrorSummary, summarize};
use railwright_spec::human;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// Minimum number of runs of a publication for its own line: the median of fewer means little.
const FEWEST: usize = 4;
/// Publications that the README names as the worst.
const WORST: usize = 4;

fn left_out(rows: &[&LeftOut]) -> ErrorSummary {
    summarize(&rows.iter().map(|row| row.error()).collect::<Vec<_>>()).unwrap_or_default()
}

fn fitted(rows: &[&LeftOut]) -> ErrorSummary {
    summarize(&rows.iter().map(|row| row.fitted_error()).collect::<Vec<_>>()).unwrap_or_default()
}

fn publications<'r>(rows: &[&'r LeftOut]) -> usize {
    rows.iter().map(|row| row.publication.as_str()).collect::<BTreeSet<&'r str>>().len()
}

fn line(out: &mut String, name: &str, all: &[LeftOut], rows: &[&LeftOut]) {
    let (held, seen) = (left_out(rows), fitted(rows));
    let inside = coverage(all, rows.iter().copied()).map_or_else(|| "n/a".to_owned(), percent);
    let _ = writeln!(
        out,
        "| {} | {} | {} | {} | {} | {} | {inside} | {} | {} |",
        name.replace('|', "\\|"),
        publications(rows),
        rows.len(),
        percent(held.median_absolute),
        percent(held.p90_absolute),
        signed(held.bias),
        percent(seen.median_absolute),
        percent(seen.p90_absolute),
    );
}

/// The table of the README: errors with the publication left out of the fit, then errors of the fit, by group
/// of sources.
pub(super) fn table(all: &[LeftOut], answer: &Validation) -> Result<String, String> {
    let known: BTreeMap<&str, &LeftOut> = all.iter().map(|row| (row.id.as_str(), row)).collect();
    let mut groups: BTreeMap<&str, Vec<&LeftOut>> = BTreeMap::new();
    let timed = answer.rows.iter().filter(|row| row.step_time_error.is_some());
    for row in timed {
        let found = known
            .get(row.id.as_str())
            .ok_or_else(|| format!("{} has no left-out prediction; run `xtask loso` again", row.id))?;
        groups.entry(row.group.as_deref().unwrap_or("other")).or_default().push(found);
    }
    let mut out = String::from(
        "| source of the runs | publications | runs | held-out: median error | 90% within | bias | in 90% interval | fitted: median error | 90% within |\n\
         | --- | --: | --: | --: | --: | --: | --: | --: | --: |\n",
    );
    for (name, rows) in &groups {
        line(&mut out, name, all, rows);
    }
    let rows: Vec<&LeftOut> = groups.values().flatten().copied().collect();
    line(&mut out, "**all**", all, &rows);
    let skipped = answer.rows.len() - answer.rows.iter().filter(|row| row.skipped.is_none()).count();
    let worst = worst(&rows).into_iter().map(|(name, rows)| {
        format!("* {name}: {}, {} runs\n", percent(left_out(&rows).median_absolute), rows.len())
    });
    let _ = writeln!(
        out,
        "\nA publication can be in several groups. Held-out median errors of the worst publications:\n\n{}\n{} of {} rows are contradictory or \
         lack data for a prediction; [Validation](VALIDATION) lists them. {} predicted rows have no measured step time. Neither is \
         counted above.",
        worst.collect::<String>(),
        human::whole(skipped as u64),
        human::whole(answer.rows.len() as u64),
        human::whole((answer.rows.len() - skipped - rows.len()) as u64)
    );
    Ok(out)
}

/// Publications by generation, those of at least [`FEWEST`] runs.
fn by_publication<'r>(rows: &[&'r LeftOut]) -> BTreeMap<(&'r str, &'r str), Vec<&'r LeftOut>> {
    let mut found: BTreeMap<(&str, &str), Vec<&LeftOut>> = BTreeMap::new();
    for row in rows {
        found.entry((&row.generation, &row.publication)).or_default().push(row);
    }
    found
}

fn worst<'r>(rows: &[&'r LeftOut]) -> Vec<(&'r str, Vec<&'r LeftOut>)> {
    let mut list: Vec<(&str, Vec<&LeftOut>)> = by_publication(rows)
        .into_iter()
        .filter(|(_, rows)| rows.len() >= FEWEST)
        .map(|((_, publication), rows)| (publication, rows))
        .collect();
    list.sort_by(|a, b| {
        left_out(&b.1).median_absolute.total_cmp(&left_out(&a.1).median_absolute).then(a.0.cmp(b.0))
    });
    list.truncate(WORST);
    list
}

/// Remaining errors after fitting step times of some of the user's own runs.
fn after_logs(remaining: &[Remaining]) -> String {
    let mut out = String::from(
        "Errors after measuring step times of other layouts, as [`calibrate --step`](../guides/calibrate.md) fits them. A stack is the scope\n\
         of one calibration: runs of one publication, generation, kind of model and accelerator, of the table of measured runs and of the draws. The\n\
         constants, the prior and the width of the interval are fitted without the publication. All stacks (or models and formats of them) of four runs and more have equal weight, so these\n\
         errors differ from those over all runs above. \"Width\" is the median of the interval's upper over its lower end; without measured\n\
         runs it is that of the prior. Made by `cargo run --release -p xtask -- logs > catalog/evidence/after_logs.csv`.\n\n\
         | other runs | sets of runs | measured layouts | median error | 90% within | in 90% interval | width |\n\
         | --- | --: | --: | --: | --: | --: | --: |\n",
    );
    for left in remaining {
        let of = match left.scope {
            Scope::Stack => "of the stack",
            Scope::Model => "of the stack, same model and format",
            Scope::Other => "of the stack, other models and formats",
            Scope::Experts => "of the stack, mixtures of experts",
        };
        let _ = writeln!(
            out,
            "| {of} | {} | {} | {} | {} | {} | {:.2} |",
            left.parts,
            left.logs,
            percent(left.median),
            percent(left.ninth),
            percent(left.inside),
            left.width
        );
    }
    out.push('\n');
    out
}

/// The page of all publications. `remaining` has the errors after measured runs; `mechanisms` is the table of
/// errors by mechanism.
pub(super) fn page(all: &[LeftOut], remaining: &[Remaining], mechanisms: &str) -> String {
    let rows: Vec<&LeftOut> = all.iter().collect();
    let total = left_out(&rows);
    let mut out = format!(
        "# Errors with a publication left out\n\n\
         The constants of a software generation are fitted to measured runs, so errors over these runs are too small. Here, each publication is\n\
         predicted with constants fitted without it. They start from the centre of the other generations and are fitted to the other publications\n\
         of the generation. Properties of a generation such as its attention kernel are kept. Without another publication, the centre itself is\n\
         evaluated. The generation of a run is known here; expect larger errors for an unknown framework.\n\n\
         Over {} runs of {} publications: median error {}, nine of ten within {}, {} inside their 90% interval. The interval of a run is made\n\
         without its publication.\n\n\
         Made by `cargo run --release -p xtask -- loso catalog/evidence/measured_runs.csv > {}` (some minutes) and `xtask docs`.\n\n",
        rows.len(),
        publications(&rows),
        percent(total.median_absolute),
        percent(total.p90_absolute),
        coverage(all, all.iter()).map_or_else(|| "n/a".to_owned(), percent),
        crate::left_out::TABLE
    );
    out.push_str(&after_logs(remaining));
    out.push_str(mechanisms);
    out.push_str(
        "| publication | generation | runs | fitted: median error | held-out: median error | 90% within | bias | fitted to |\n\
         | --- | --- | --: | --: | --: | --: | --: | --- |\n",
    );
    for ((generation, publication), rows) in by_publication(&rows) {
        let held = left_out(&rows);
        let fitted_to = match rows.first().map_or(0, |row| row.fitted_to) {
            0 => "no other run (centre)".to_owned(),
            n => format!("{n} other runs"),
        };
        let _ = writeln!(
            out,
            "| {} | {generation} | {} | {} | {} | {} | {} | {fitted_to} |",
            publication.replace('|', "\\|"),
            rows.len(),
            percent(fitted(&rows).median_absolute),
            percent(held.median_absolute),
            percent(held.p90_absolute),
            signed(held.bias),
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(publication: &str, left_out_s: f64) -> LeftOut {
        LeftOut {
            id: format!("{publication}-{left_out_s}"),
            publication: publication.to_owned(),
            generation: "g".to_owned(),
            mixture_of_experts: false,
            fitted_to: 0,
            measured_s: 1.0,
            fitted_s: 1.0,
            left_out_s,
            products: 1.0,
            streams: 0.0,
            host: 0.0,
            communication: 0.0,
        }
    }

    #[test]
    fn the_worst_publications_have_enough_runs() {
        let all: Vec<LeftOut> =
            [1.1, 1.2, 1.3, 1.4].map(|t| row("four", t)).into_iter().chain([row("one", 9.0)]).collect();
        let rows: Vec<&LeftOut> = all.iter().collect();
        let names: Vec<&str> = worst(&rows).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["four"]);
        let page = page(&all, &[], "");
        assert!(
            page.contains("| four | g | 4 | 0.0% | 25.0% | 37.0% | +25.0% | no other run (centre) |"),
            "{page}"
        );
    }

    #[test]
    fn a_run_without_a_left_out_prediction_is_an_error() {
        let runs = include_str!("../../../catalog/evidence/measured_runs.csv");
        let header = runs.lines().next().expect("a header");
        let mut answer = railwright_calculator::validation::validate(header, "empty").expect("a header");
        let mut added = railwright_calculator::validation::report::RowResult::default();
        (added.id, added.step_time_error) = ("new".to_owned(), Some(0.1));
        answer.rows.push(added);
        assert!(table(&[row("p", 1.0)], &answer).unwrap_err().contains("new"));
    }
}
