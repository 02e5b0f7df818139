//! `estimate`: step time, memory and cost of one run.

mod compared;
mod measured;
mod open;
mod page;
pub(super) mod picture;
mod report;
mod why;

use crate::args;
use crate::exit::{Failure, Outcome};
use crate::printer::document::Document;
use crate::printer::{self, Answer, Printer, Terminal};
use crate::run;
use railwright_answers::{OpenFeature, search_command};
use railwright_calculator::estimate::Estimate;
use railwright_launch::{Comparison, Measured};
use railwright_spec::problem::Problem;
use serde::Serialize;
use serde_json::Value;

/// An estimate with the defaults chosen for it.
pub(crate) struct Estimated {
    pub(crate) estimate: Estimate,
    pub(crate) chosen: Vec<String>,
    /// True if the software generation is inferred.
    pub(crate) software_is_inferred: bool,
    /// Features of the software that were assumed.
    pub(crate) open_features: Vec<OpenFeature>,
    /// Requested explanations, instead of a report.
    why: Option<Vec<why::Item>>,
    /// The command that searches layouts of this run.
    search: String,
    /// Measurements of the log, with predictions.
    pub(crate) measured: Option<(Measured, Vec<Comparison>)>,
}

/// Estimates a run. The outcome is `No` if the plan does not fit, and has its own code if that is at risk.
pub(crate) fn run(arguments: &args::Estimate, printer: &Printer) -> Result<Outcome, Failure> {
    if !arguments.compare.is_empty() && !printer::is_page(&arguments.output) {
        let problem = Problem::new("two scenarios are compared only in an HTML report");
        let hint = "add `--format html`; at the terminal `railwright whatif --change` compares plans";
        return Err(problem.in_file("--compare").hint(hint).into());
    }
    let launch = run::launch::find(&arguments.run)?;
    // A report in HTML runs other commands with the same arguments, so it uses the values that they resolve to.
    let resolved = if printer::is_page(&arguments.output) {
        run::resolve(&arguments.run)?
    } else {
        match open::resolve(arguments, printer)? {
            open::Opened::Run(resolved) => *resolved,
            open::Opened::Answered(outcome) => return Ok(outcome),
        }
    };
    let mut resolved = resolved;
    if !arguments.pricing.network.is_empty() {
        resolved.run = resolved.run.as_used();
    }
    if let Some(launch) = &launch {
        run::launch::print_remarks(launch, printer);
    }
    let search = search_command(&resolved.spec, &resolved.run);
    let mut answer = railwright_answers::estimate(resolved, &arguments.pricing)?;
    if arguments.run.run.is_none() {
        for warning in &mut answer.estimate.warnings {
            warning.message = run::flags::translate(&warning.message);
        }
    }
    let railwright_answers::Estimated { estimate, chosen, software_is_inferred, open_features } = answer;
    let fit = estimate.memory.fit;
    let why = arguments.why.as_deref().map(|wanted| why::items(&estimate, wanted)).transpose()?;
    let measured = launch.and_then(|launch| launch.measured);
    let measured =
        measured.map(|log| (measured::compare(&log, &estimate), log)).map(|(rows, log)| (log, rows));
    let estimated =
        Estimated { estimate, chosen, software_is_inferred, open_features, why, search, measured };
    if let Some(file) = &arguments.svg {
        printer.data(&picture::breakdown(&estimated.estimate), Some(file))?;
        if file == "-" && !printer.takes_values() {
            return Ok(fit.into());
        }
    }
    if printer::is_page(&arguments.output) {
        printer.data(&page::page(&estimated, arguments)?, arguments.output.output.as_deref())?;
    } else {
        printer.answer(&estimated, &arguments.output)?;
    }
    Ok(fit.into())
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct EstimateFields<'a> {
    #[serde(flatten)]
    estimate: &'a Estimate,
    /// Settings that were not specified.
    chosen: &'a [String],
    software_is_inferred: bool,
    /// Features of the software that were assumed, those that change the step most.
    open_features: &'a [OpenFeature],
    /// Measurements of the run's log; absent without a log.
    #[serde(skip_serializing_if = "Option::is_none")]
    measured: Option<&'a Measured>,
    #[serde(skip_serializing_if = "Option::is_none")]
    comparisons: Option<&'a [Comparison]>,
    /// Terms of the report, with `--explain`.
    #[serde(skip_serializing_if = "Option::is_none")]
    explained: Option<&'a [why::Item]>,
}

impl Answer for Estimated {
    const KIND: &'static str = "estimate";

    type Json<'a> = EstimateFields<'a>;

    fn json(&self) -> EstimateFields<'_> {
        EstimateFields {
            estimate: &self.estimate,
            chosen: &self.chosen,
            software_is_inferred: self.software_is_inferred,
            open_features: &self.open_features,
            measured: self.measured.as_ref().map(|(measured, _)| measured),
            comparisons: self.measured.as_ref().map(|(_, comparisons)| comparisons.as_slice()),
            explained: self.why.as_deref(),
        }
    }

    fn document(&self, _: Terminal) -> Document {
        report::document(self)
    }

    /// Every number of the JSON, one a line: `path,value`.
    fn csv(&self) -> String {
        let mut rows = Vec::new();
        // Structures with text keys always serialize.
        let fields = serde_json::to_value(self.json()).unwrap_or_default();
        for (key, value) in fields.as_object().into_iter().flatten() {
            flatten(key, value, &mut rows);
        }
        printer::csv_lines(&["path".to_owned(), "value".to_owned()], rows)
    }
}

fn flatten(path: &str, value: &Value, rows: &mut Vec<Vec<String>>) {
    match value {
        Value::Object(map) => {
            for (key, inner) in map {
                flatten(&format!("{path}.{key}"), inner, rows);
            }
        }
        Value::Array(list) => {
            list.iter().enumerate().for_each(|(i, inner)| flatten(&format!("{path}.{i}"), inner, rows));
        }
        Value::Null => {}
        Value::String(text) => rows.push(vec![path.to_owned(), text.clone()]),
        other => rows.push(vec![path.to_owned(), other.to_string()]),
    }
}
