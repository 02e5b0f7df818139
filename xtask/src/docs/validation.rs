//! Errors over measured runs as Markdown tables.

use railwright_calculator::validation::report::{Errors, Summary};
use railwright_calculator::validation::statistics::ErrorSummary;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// A share in per cent.
pub(super) fn percent(share: f64) -> String {
    format!("{:.1}%", share * 100.0)
}

/// The same with its sign; a value rounded to zero has none.
pub(super) fn signed(share: f64) -> String {
    let text = format!("{:+.1}%", share * 100.0);
    if text == "-0.0%" || text == "+0.0%" { "0.0%".to_owned() } else { text }
}

fn maybe(share: Option<f64>, show: impl Fn(f64) -> String) -> String {
    share.map_or_else(|| "n/a".to_owned(), show)
}

fn of(summary: Option<&ErrorSummary>, part: impl Fn(&ErrorSummary) -> String) -> String {
    summary.map_or_else(|| "n/a".to_owned(), part)
}

fn line(out: &mut String, name: &str, errors: &Errors) {
    let (time, memory) = (errors.step_time.as_ref(), errors.peak_memory.as_ref());
    let cells = [
        name.replace('|', "\\|"),
        of(time, |s| s.n.to_string()),
        of(time, |s| percent(s.median_absolute)),
        of(time, |s| percent(s.p90_absolute)),
        of(time, |s| signed(s.bias)),
        maybe(errors.interval_coverage, percent),
        maybe(errors.rank_correlation, |r| format!("{r:.2}")),
        of(memory, |s| s.n.to_string()),
        of(memory, |s| percent(s.median_absolute)),
        of(memory, |s| percent(s.p90_absolute)),
    ];
    let _ = writeln!(out, "| {} |", cells.join(" | "));
}

fn head(first: &str) -> String {
    format!(
        "| {first} | runs timed | median error | 90% within | bias | inside interval | order | peaks | median error | 90% within |\n\
         | --- | --: | --: | --: | --: | --: | --: | --: | --: | --: |\n"
    )
}

fn lines(out: &mut String, sets: &BTreeMap<String, Errors>) {
    for (name, errors) in sets.iter().filter(|(_, e)| e.step_time.is_some() || e.peak_memory.is_some()) {
        line(out, name, errors);
    }
}

/// Table by group of sources, and of all.
fn table(summary: &Summary) -> String {
    let mut out = head("source of the runs");
    lines(&mut out, &summary.groups);
    line(&mut out, "**all**", &summary.overall);
    let all = &summary.overall;
    let _ = writeln!(
        out,
        "\n{} rows: {} predicted, {} skipped. {} rows publish every input; {} of these are predicted.",
        all.rows, all.predicted, all.skipped, all.complete, all.complete_predicted
    );
    out
}

/// Groups, coverage, verdicts and reasons for skipping.
pub(super) fn groups(summary: &Summary) -> String {
    let mut out = String::from("### On the runs that the constants were fitted to, by group of sources\n\n");
    out.push_str(&table(summary));
    if let Some(v) = &summary.out_of_memory {
        let recall = v.recall.map_or_else(
            || "n/a (no row is labelled out of memory)".to_owned(),
            |recall| format!("{} ({} of {})", percent(recall), v.found, v.out_of_memory),
        );
        let _ = writeln!(
            out,
            "\nOut-of-memory recall: {recall}. False alarms: {} of {} runs that ran are predicted not to fit.",
            v.false_alarms, v.ran
        );
    }
    if !summary.skipped.is_empty() {
        out.push_str("\n### Rows that are not predicted, and why\n\n| reason | rows |\n| --- | --: |\n");
        for (reason, count) in &summary.skipped {
            let _ = writeln!(out, "| {} | {count} |", reason.replace('|', "\\|"));
        }
    }
    out
}

/// Every source.
pub(super) fn sources(summary: &Summary) -> String {
    let mut out = String::from("### By source\n\n");
    out.push_str(&head("source"));
    lines(&mut out, &summary.sources);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_shows_what_is_known_and_marks_the_rest() {
        let time = ErrorSummary {
            n: 3,
            median_absolute: 0.0512,
            mean_absolute: 0.1,
            p90_absolute: 0.2,
            bias: -0.0001,
        };
        let errors = Errors { rows: 3, predicted: 3, step_time: Some(time), ..Errors::default() };
        let summary = Summary {
            overall: errors.clone(),
            groups: BTreeMap::from([("a|b".to_owned(), errors)]),
            ..Summary::default()
        };
        let text = table(&summary);
        assert!(text.contains("| a\\|b | 3 | 5.1% | 20.0% | 0.0% | n/a | n/a | n/a | n/a | n/a |"), "{text}");
    }
}
