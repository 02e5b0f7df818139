//! Errors over published collectives of clusters as Markdown tables.

use super::validation::{percent, signed};
use railwright_calculator::validation::statistics::ErrorSummary;
use railwright_spec::human;
use railwright_tuner::collective::{Errors, NetworkValidation, Prediction, Predictor, validate_network};
use std::fmt::Write as _;
use std::ops::ControlFlow;

/// The table of published collectives.
pub(super) const TABLE: &str = "catalog/evidence/collectives_at_scale.csv";

/// The tables of docs/validation-network.md.
pub(super) fn tables(text: &str) -> Result<String, String> {
    let watch = &mut |_, _| ControlFlow::Continue(());
    let found =
        validate_network(text, TABLE, Predictor::Flow, watch).map_err(|problem| problem.to_string())?;
    let predicted = found.rows.iter().filter(|row| row.skipped.is_none()).count();
    let mut out = format!(
        "{} rows: {predicted} predicted, {} skipped.\n\n",
        found.rows.len(),
        found.rows.len() - predicted
    );
    out.push_str("### By fabric and collective\n\n");
    let names = found.groups.iter().map(|group| format!("{}, {}", group.name(), group.fabric));
    errors(&mut out, "fabric", names.zip(found.groups.iter().map(|group| &group.errors)));
    errors_line(&mut out, "**all**", &found.overall);
    out.push_str("\n### By source\n\n");
    errors(&mut out, "source", found.sources.iter().map(|(source, errors)| (source.clone(), errors)));
    out.push_str("\n### By size\n\n");
    sizes(&mut out, &found);
    out.push_str("\n### Rows that are not predicted, and why\n\n| row | source | fabric | reason |\n| --: | --- | --- | --- |\n");
    for row in &found.rows {
        if let Some(reason) = &row.skipped {
            let _ = writeln!(out, "| {} | {} | {} | {reason} |", row.line, row.source, row.fabric);
        }
    }
    Ok(out)
}

fn errors<'a>(out: &mut String, first: &str, sets: impl Iterator<Item = (String, &'a Errors)>) {
    let _ = writeln!(
        out,
        "| {first} | rows | closed form: median error | bias | flows: median error | bias | flows with ECMP: median error | bias |\n\
         | --- | --: | --: | --: | --: | --: | --: | --: |"
    );
    for (name, errors) in sets {
        errors_line(out, &name, errors);
    }
}

fn errors_line(out: &mut String, name: &str, errors: &Errors) {
    let cells = |summary: Option<&ErrorSummary>| {
        summary.map_or_else(
            || "n/a | n/a".to_owned(),
            |s| format!("{} | {}", percent(s.median_absolute), signed(s.bias)),
        )
    };
    let Errors { rows, closed_form, flow, hashed } = errors;
    let (closed_form, flow, hashed) =
        (cells(closed_form.as_ref()), cells(flow.as_ref()), cells(hashed.as_ref()));
    let _ = writeln!(out, "| {name} | {rows} | {closed_form} | {flow} | {hashed} |");
}

fn sizes(out: &mut String, found: &NetworkValidation) {
    out.push_str(
        "| ranks | size | algorithm | measured GB/s | closed form | error | flows | error | flows with ECMP | error |\n\
         | --- | --: | --- | --: | --: | --: | --: | --: | --: | --: |\n",
    );
    let both = |prediction: Option<Prediction>| {
        prediction
            .map_or_else(|| "| ".to_owned(), |p| format!("{:.1} | {}", p.bus_bandwidth.gb(), signed(p.error)))
    };
    for row in found.groups.iter().flat_map(|group| &group.rows).filter_map(|&row| found.rows.get(row)) {
        let (Some(ranks), Some(gpu), Some(bytes), Some(measured)) =
            (row.ranks, &row.gpu, row.bytes, row.measured)
        else {
            continue;
        };
        let algorithm = row.closed_form.map_or("", |prediction| prediction.algorithm);
        let _ = writeln!(
            out,
            "| {} x {gpu} | {} | {algorithm} | {:.1} | {} | {} | {} |",
            human::whole(ranks),
            human::bytes(bytes),
            measured.gb(),
            both(row.closed_form),
            both(row.flow),
            both(row.hashed)
        );
    }
}
