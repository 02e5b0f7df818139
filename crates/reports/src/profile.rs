//! `profile`: breakdown of a job's time, from its traces.

mod causes;
mod health;
mod origins;
pub mod range;
mod roofline;
mod serving;
pub mod tables;

use railwright_profiler::page::page;
use railwright_profiler::profile::{Repair, Report};
use railwright_profiler::trace::DamageKind;
use railwright_report::document::{Cell, Document, Tone};
use railwright_report::{Answer, Terminal};
use railwright_spec::human;
use railwright_spec::quantity::Seconds;
use serde::Serialize;
pub(crate) use tables::cut;

/// A report and the number of rows shown.
pub struct Shown {
    /// Paths.
    pub title: String,
    /// The profile.
    pub report: Report,
    /// Depth of the module tree.
    pub depth: u8,
    /// Number of rows in a table.
    pub top: usize,
}

/// Nanoseconds in readable form.
pub(super) fn time(nanoseconds: f64) -> String {
    human::seconds(Seconds::new(nanoseconds * 1e-9))
}

/// Fields in JSON.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProfileFields<'a> {
    #[serde(flatten)]
    report: &'a Report,
    title: &'a str,
}

impl Answer for Shown {
    const KIND: &'static str = "profile";

    type Json<'a> = ProfileFields<'a>;

    fn json(&self) -> ProfileFields<'_> {
        ProfileFields { report: &self.report, title: &self.title }
    }

    fn document(&self, terminal: Terminal) -> Document {
        let mut document = Document::default();
        self.head(&mut document);
        self.serving(&mut document);
        self.lines(&mut document);
        document.details(|details| self.causes(details, terminal));
        self.findings(&mut document, terminal);
        document.details(|details| {
            self.steps(details);
            self.ranks(details);
            self.tree(details, terminal);
            self.kernels(details, terminal);
            self.origins(details, terminal);
            self.roofline(details, terminal);
            self.health(details);
            self.recorded(details);
        });
        self.doubts(&mut document);
        if let Some(finding) = self.report.findings.first() {
            document.next_step(&finding.advice);
        }
        document
    }

    fn page(&self) -> Option<String> {
        Some(page(&self.title, &self.report))
    }

    /// Every label of the waterfall, exact.
    fn csv(&self) -> String {
        let header = ["group", "part", "time_ns", "mean_ns", "share"].map(str::to_owned);
        let rows = self.report.lines.iter().flat_map(|line| {
            let all = std::slice::from_ref(&line.part);
            let parts = if line.parts.is_empty() { all } else { &line.parts };
            parts.iter().map(|part| {
                vec![
                    line.part.name.clone(),
                    part.name.clone(),
                    part.time.to_string(),
                    format!("{}", part.mean),
                    format!("{}", part.share),
                ]
            })
        });
        railwright_report::csv_lines(&header, rows.collect())
    }
}

impl Shown {
    fn head(&self, document: &mut Document) {
        let report = &self.report;
        let ranks = report.extent();
        let device = report.device.as_deref().map(|device| format!(", {device}")).unwrap_or_default();
        let steps = match report.steps.as_slice() {
            [one]
                if one.step.parse::<u64>().is_ok()
                    && report.cut_by != Some(railwright_profiler::windows::CutBy::Nothing) =>
            {
                format!("step {}: {}", one.step, time(report.step_time))
            }
            [_] => format!("one window of {}", time(report.step_time)),
            _ if (report.step_time - report.median_step_ns).abs() > 0.05 * report.median_step_ns => {
                format!(
                    "{}, {} on average, median {}",
                    report.steps_covered,
                    time(report.step_time),
                    time(report.median_step_ns)
                )
            }
            _ => format!("{}, {} on average", report.steps_covered, time(report.step_time)),
        };
        let mut verdict = Vec::new();
        if let Some(utilisation) = report.utilisation {
            verdict.push(Cell::new(format!("MFU {}", human::percent(utilisation)), Tone::Strong));
        } else if report.warnings.iter().any(|warning| warning.id == "flop-exceed-compute") {
            verdict.push(Cell::new("no MFU: the run does not fit", Tone::Strong));
        }
        // The first finding is the report's first recommendation, so it is the headline. Without findings, it
        // is the largest part of the step that is not arithmetic.
        let top = report.findings.first().filter(|finding| finding.cost.is_some());
        let most = match top {
            Some(finding) => {
                let cost = finding.cost.unwrap_or_default() / self.report.step_time.max(1.0);
                let shown = finding.certainty.unwrap_or_default().worded(&human::percent(cost));
                Some(format!("top finding: {} ({shown})", finding.message))
            }
            None => self.largest().map(|(name, share)| match share {
                share if share < 0.01 => "no loss above 1% of the step".to_owned(),
                share => format!("largest loss: {name}, {} of the step", human::percent(share)),
            }),
        };
        if let Some(most) = most {
            if !verdict.is_empty() {
                verdict.push("; ".into());
            }
            verdict.push(most.into());
        }
        if !verdict.is_empty() {
            document.spans(verdict);
        }
        document.spans(vec![
            Cell::new(self.title.clone(), Tone::Strong),
            format!(": {ranks}{device}, {steps}").into(),
        ]);
        if let Some(layout) = &report.layout {
            document.details(|details| details.paragraph(format!("layout: {}", layout.words())));
        }
        if let Some(cut) = self.truncated() {
            document.paragraph(Cell::new(cut, Tone::Doubtful));
        }
    }

    /// Files of which the report below lacks the end, or everything.
    fn truncated(&self) -> Option<String> {
        if let Some(skipped) = self.report.warnings.iter().find(|warning| warning.id == "trace-no-device") {
            return Some(skipped.message.clone());
        }
        let is_cut = |repair: &&Repair| repair.kind == DamageKind::Truncated;
        let mut files: Vec<&str> =
            self.report.repairs.iter().filter(is_cut).map(|repair| repair.file.as_str()).collect();
        files.dedup();
        let first = files.first()?.rsplit('/').next().unwrap_or_default();
        Some(match files.len() - 1 {
            0 => format!("{first} is truncated; the report covers the part before"),
            more => format!(
                "{first} and {} are truncated; the report covers the parts before",
                human::several(more as u64, "other file")
            ),
        })
    }

    /// The largest part that is not the model's own arithmetic.
    fn largest(&self) -> Option<(String, f64)> {
        use railwright_profiler::waterfall::Group;
        let known = self.report.utilisation.is_some();
        let lost = self.report.lines.iter().filter(|line| match line.group {
            Group::Ideal => false,
            // Without model FLOPs, the loss within compute is unknown.
            Group::Compute => known,
            _ => true,
        });
        let parts =
            lost.flat_map(
                |line| {
                    if line.parts.is_empty() { std::slice::from_ref(&line.part) } else { &line.parts }
                },
            );
        let most = parts.max_by(|a, b| a.share.total_cmp(&b.share))?;
        Some((human::part(&most.name), most.share))
    }
}
