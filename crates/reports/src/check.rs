//! The report of `check`: a table of files, then the errors, doubts and unmodelled settings of each file.

use railwright_launch::{Remark, RemarkKind};
use railwright_report::document::{Cell, Column, Document, Table, Tone};
use railwright_report::{Answer, Terminal};
use railwright_spec::human;
use railwright_spec::problem::{Problem, Warning};
use railwright_spec::quantity::{Bytes, Dollars, Seconds};
use serde::Serialize;

/// The result of one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The plan is valid and fits.
    Fits,
    /// May not fit.
    AtRisk,
    /// Does not fit.
    DoesNotFit,
    /// The file cannot be read, or its plan is impossible.
    Invalid,
}

/// The results of one version of a file.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Figures {
    /// `llama-3-70b, 70.6B parameters`.
    pub model: String,
    /// Devices of the job.
    pub gpus: u64,
    /// Their kind.
    pub accelerator: String,
    /// The plan in one line.
    pub plan: String,
    /// The software generation whose constants apply.
    pub software: String,
    /// Predicted step time.
    pub step_time_s: f64,
    /// Its 90% interval.
    pub step_time_interval_s: [f64; 2],
    /// Model FLOPs utilization in the reported convention, as a share.
    pub mfu: Option<f64>,
    /// Peak memory of the stage that needs the most.
    pub memory_peak_bytes: f64,
    /// Memory of a device.
    pub memory_capacity_bytes: f64,
    /// Probability that the peak fits.
    pub probability_of_fitting: f64,
    /// Rent for the token budget, if one is set.
    pub rent_usd: Option<f64>,
    /// Days for the token budget, if one is set.
    pub days: Option<f64>,
}

/// One file.
pub struct Checked {
    /// Path.
    pub file: String,
    /// Result.
    pub verdict: Verdict,
    /// Reasons of an invalid file.
    pub problems: Vec<Problem>,
    /// Doubts about the estimate.
    pub warnings: Vec<Warning>,
    /// Remarks of the reader: contradictions, invalid and unresolved values, unknown flags, choices without
    /// a model.
    pub remarks: Vec<Remark>,
    /// Its figures, unless it is invalid.
    pub figures: Option<Figures>,
    /// The earlier version: its results, or the reason why there are none.
    pub against: Option<Result<Figures, Vec<Problem>>>,
}

/// All files.
pub struct Answered {
    /// One result each.
    pub files: Vec<Checked>,
}

/// Fields in JSON.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CheckFields<'a> {
    files: Vec<crate::check::CheckedFields<'a>>,
}

impl Answer for Answered {
    const KIND: &'static str = "check";

    type Json<'a> = CheckFields<'a>;

    fn json(&self) -> CheckFields<'_> {
        CheckFields { files: self.files.iter().map(crate::check::CheckedFields::of).collect() }
    }

    fn document(&self, _: Terminal) -> Document {
        crate::check::document(&self.files)
    }
}

/// One file in JSON.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct CheckedFields<'a> {
    file: &'a str,
    verdict: Verdict,
    problems: Vec<ProblemFields<'a>>,
    warnings: &'a [Warning],
    remarks: &'a [Remark],
    figures: Option<&'a Figures>,
    /// The file before its change; `None` without an earlier version.
    against: Option<AgainstFields<'a>>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct AgainstFields<'a> {
    figures: Option<&'a Figures>,
    problems: Vec<ProblemFields<'a>>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct ProblemFields<'a> {
    message: String,
    hint: Option<&'a str>,
}

impl<'a> CheckedFields<'a> {
    pub(super) fn of(checked: &'a Checked) -> Self {
        let of = |problem: &'a Problem| ProblemFields {
            message: problem.to_string(),
            hint: problem.hint.as_deref(),
        };
        Self {
            file: &checked.file,
            verdict: checked.verdict,
            problems: checked.problems.iter().map(of).collect(),
            warnings: &checked.warnings,
            remarks: &checked.remarks,
            figures: checked.figures.as_ref(),
            against: checked.against.as_ref().map(|against| match against {
                Ok(figures) => AgainstFields { figures: Some(figures), problems: Vec::new() },
                Err(problems) => AgainstFields { figures: None, problems: problems.iter().map(of).collect() },
            }),
        }
    }
}

/// The report as a document.
fn document(files: &[Checked]) -> Document {
    let mut document = Document::default();
    if let [one] = files
        && one.against.is_none()
    {
        document.spans(vec![verdict(one), format!(": {}", one.file).into()]);
    } else if files.len() > 1 {
        let fitting = files.iter().filter(|checked| checked.verdict == Verdict::Fits).count();
        document.verdict(format!("{fitting} of {} files fit", files.len()));
    }
    match files {
        [one] if one.against.is_some() => change(&mut document, one),
        _ => table(&mut document, files),
    }
    for checked in files {
        details(&mut document, checked);
    }
    if let Some(checked) = files.iter().find(|c| matches!(c.verdict, Verdict::AtRisk | Verdict::DoesNotFit)) {
        document.next_step(format!("`railwright tune {}` finds layouts that fit", checked.file));
    } else if let Some(checked) = files.iter().find(|c| c.verdict == Verdict::Fits) {
        document.next_step(format!("`railwright tune {}` finds faster layouts", checked.file));
    } else if let Some(checked) = files.first() {
        document.next_step(format!("`railwright detect {}` shows the settings of each line", checked.file));
    }
    document
}

fn verdict(checked: &Checked) -> Cell {
    match checked.verdict {
        Verdict::Fits => Cell::new("fits", Tone::Good),
        Verdict::AtRisk => Cell::new("at risk", Tone::Doubtful),
        Verdict::DoesNotFit => Cell::new("does not fit", Tone::Bad),
        Verdict::Invalid => Cell::new("invalid", Tone::Bad),
    }
}

fn table(document: &mut Document, files: &[Checked]) {
    let rows = files.iter().map(|checked| {
        let mut row = vec![Cell::new(checked.file.as_str(), Tone::Name), verdict(checked)];
        match &checked.figures {
            Some(figures) => row.extend(rows_of(figures).into_iter().map(|(_, cell)| cell)),
            None => row.extend((0..TITLES.len()).map(|_| Cell::default())),
        }
        row
    });
    let mut columns = vec![Column::prose("file").below(), Column::words("verdict")];
    columns.extend(TITLES.iter().enumerate().map(|(i, name)| {
        let column = Column::numbers(name);
        // On a narrow terminal, the utilization is dropped first, then the budget's columns from the right.
        match *name {
            "step time" | "peak memory" => column,
            "MFU" => column.expendable(9),
            _ => column.expendable(i as u8),
        }
    }));
    let rows: Vec<Vec<Cell>> = rows.collect();
    let has_budget = files.iter().any(|c| c.figures.as_ref().is_some_and(|figures| figures.days.is_some()));
    let shown = if has_budget { columns.len() } else { columns.len() - 2 };
    columns.truncate(shown);
    let rows = rows.into_iter().map(|mut row| {
        row.truncate(shown);
        row
    });
    document.table(Table { columns, rows: rows.collect() });
}

/// Names of the results, in the order of [`rows_of`].
const TITLES: [&str; 6] = ["step time", "MFU", "peak memory", "GPUs", "days", "rent"];

/// The compared results, with their names.
fn rows_of(figures: &Figures) -> [(&'static str, Cell); 6] {
    let bytes = |bytes: f64| human::bytes(Bytes::new(bytes));
    let optional = |value: Option<f64>, text: &dyn Fn(f64) -> String| {
        value.map_or_else(Cell::default, |value| Cell::number(text(value), value))
    };
    let memory = format!("{} of {}", bytes(figures.memory_peak_bytes), bytes(figures.memory_capacity_bytes));
    let cells = [
        Cell::seconds(Seconds::new(figures.step_time_s)),
        optional(figures.mfu, &human::percent),
        Cell::number(memory, figures.memory_peak_bytes),
        Cell::whole(figures.gpus),
        optional(figures.days, &|days| format!("{days:.1}")),
        optional(figures.rent_usd, &|rent| human::dollars(Dollars::new(rent))),
    ];
    let mut cells = cells.into_iter();
    TITLES.map(|title| (title, cells.next().unwrap_or_default()))
}

/// Before, after and the change, result by result.
fn change(document: &mut Document, checked: &Checked) {
    document.spans(vec![Cell::new(checked.file.as_str(), Tone::Name), ": ".into(), verdict(checked)]);
    let before = checked.against.as_ref().and_then(|against| against.as_ref().ok());
    let Some(after) = &checked.figures else { return };
    let pairs = rows_of(after);
    let earlier = before.map(rows_of);
    let mut rows = vec![vec![
        "plan".into(),
        before.map_or_else(|| "none".into(), |b| Cell::from(b.plan.as_str())),
        after.plan.as_str().into(),
        Cell::default(),
    ]];
    for (i, (title, now)) in pairs.into_iter().enumerate() {
        if now.text.is_empty() {
            continue;
        }
        let then = earlier.as_ref().map(|all| all[i].1.clone()).unwrap_or_default();
        let value = |cell: &Cell| cell.raw.as_ref().and_then(|raw| raw.parse::<f64>().ok());
        let change = match (value(&then), value(&now)) {
            (Some(then), Some(now)) if then > 0.0 => {
                Cell::number(format!("{:+.1}%", 100.0 * (now / then - 1.0)), now / then - 1.0)
            }
            _ => Cell::default(),
        };
        rows.push(vec![title.into(), then, now, change]);
    }
    let columns =
        vec![Column::words(""), Column::prose("before"), Column::prose("after"), Column::numbers("change")];
    document.table(Table { columns, rows });
    if let Some(before) = before {
        let [low, high] = after.step_time_interval_s;
        if (low..=high).contains(&before.step_time_s) {
            document.paragraph(Cell::new(
                format!(
                    "The earlier step time is within the 90% interval of the new one ({} to {}). Both predictions share most of their error, so the interval of the difference is narrower: see `railwright whatif`.",
                    human::seconds(Seconds::new(low)),
                    human::seconds(Seconds::new(high))
                ),
                Tone::Faint,
            ));
        }
    }
    if let Some(Err(problems)) = &checked.against {
        document.heading("earlier version: not estimated");
        document.blocks.push(bullets(problems.iter().map(ToString::to_string)));
    }
}

fn bullets(lines: impl Iterator<Item = String>) -> railwright_report::document::Block {
    railwright_report::document::Block::Bullets(lines.map(Cell::from).collect())
}

fn details(document: &mut Document, checked: &Checked) {
    let file = &checked.file;
    if !checked.problems.is_empty() {
        document.heading(format!("{file}: problems"));
        document.blocks.push(bullets(checked.problems.iter().map(|problem| match &problem.hint {
            Some(hint) => format!("{problem} (hint: {hint})"),
            None => problem.to_string(),
        })));
    }
    if !checked.warnings.is_empty() {
        document.heading(format!("{file}: warnings"));
        document.blocks.push(bullets(checked.warnings.iter().map(|w| format!("{} [{}]", w.message, w.id))));
    }
    for (kind, title, about) in [
        (RemarkKind::Invalid, "invalid values", "ignored in the figures above"),
        (RemarkKind::Conflict, "contradictions", ""),
        (RemarkKind::Unresolved, "not resolved", "the figures above use the known settings only"),
        (RemarkKind::Unknown, "unknown flags", "ignored in the figures above"),
        (RemarkKind::NotModelled, "not modelled", "ignored in the figures above"),
    ] {
        let found: Vec<&Remark> = checked.remarks.iter().filter(|remark| remark.kind == kind).collect();
        if found.is_empty() {
            continue;
        }
        document.heading_with(format!("{file}: {title}"), about);
        document.blocks.push(bullets(found.into_iter().map(|remark| {
            let of = remark.file.as_ref().map_or_else(String::new, |file| format!(" of {file}"));
            let line = remark.line.map_or_else(String::new, |line| format!("line {line}{of}: "));
            format!("{line}`{}`: {}", remark.source, remark.message)
        })));
    }
}
