//! The report of `calibrate`.

pub mod shown;

use railwright_calculator::calibration::{Line, StepLine};
use railwright_report::document::{Cell, Column, Document, Table, Tone};
use railwright_report::{Answer, Terminal, words};
use railwright_spec::calibration::Calibration;
use railwright_spec::human;
use railwright_spec::quantity::{Bytes, Flop};
use serde::Serialize;

/// Effect of a calibration on predictions.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Calibrated {
    /// Label of the measurements.
    pub title: String,
    /// The cluster's name.
    pub cluster: String,
    /// True if this run fitted the calibration, false if it was read from a file.
    pub fitted: bool,
    /// Fitted constants.
    pub calibration: Calibration,
    /// Lines for the measurements of the fit, or of its evaluation.
    pub lines: Vec<Line>,
    /// Measured and predicted steps.
    pub steps: Vec<StepLine>,
    /// Lines for held-out measurements.
    pub held_out: Vec<Line>,
    /// Skipped and corrected measurements.
    pub remarks: Vec<String>,
    /// Doubts about the fit.
    pub warnings: Vec<railwright_spec::problem::Warning>,
}

impl Answer for Calibrated {
    const KIND: &'static str = "calibration";

    type Json<'a> = &'a Self;

    fn json(&self) -> &Self {
        self
    }

    fn document(&self, _: Terminal) -> Document {
        let mut document = Document::default();
        let (subject, done) = if self.fitted {
            (
                format!("calibration of {}", self.calibration.accelerator),
                format!(" for {} from {}", self.cluster, self.title),
            )
        } else {
            let caption = format!(
                " ({}) compared with {} in {}",
                self.calibration.accelerator, self.title, self.cluster
            );
            (self.calibration.file.clone(), caption)
        };
        let time: f64 = self.lines.iter().map(|line| line.measured.get()).sum();
        if time > 0.0 {
            let sum = |of: fn(&Line) -> f64| self.lines.iter().map(|l| of(l) * l.measured.get()).sum::<f64>();
            let [before, after] =
                [sum(|l| l.error_before), sum(|l| l.error_after)].map(|sum| human::percent(sum / time));
            document.verdict(format!("mean error {after} with the calibration, {before} without it"));
        }
        document.spans(vec![Cell::new(subject, Tone::Strong), done.into()]);
        let against = if self.fitted {
            "errors weighted by time, on the fitted data".to_owned()
        } else {
            format!("time-weighted; \"after\" uses {}, fitted to {}", self.calibration.file, self.sources())
        };
        lines(&mut document, "operators and collectives", &against, &self.lines);
        lines(&mut document, "held out", "on measurements that were not fitted", &self.held_out);
        steps(&mut document, &self.steps);
        crate::calibrate::shown::figures(&mut document, &self.calibration);
        let bullets: Vec<Cell> = self
            .warnings
            .iter()
            .map(|w| Cell::new(w.message.clone(), Tone::Doubtful))
            .chain(self.remarks.iter().map(|r| Cell::new(r.clone(), Tone::Faint)))
            .collect();
        if !bullets.is_empty() {
            document.heading("remarks");
            document.blocks.push(railwright_report::document::Block::Bullets(bullets));
        }
        document.next_step("`railwright estimate --calibration FILE` applies a calibration to a run");
        document
    }

    /// All lines, held out or not.
    fn csv(&self) -> String {
        let header = [
            "set",
            "name",
            "regime",
            "shapes",
            "samples",
            "from",
            "to",
            "spread",
            "measured_s",
            "before_s",
            "after_s",
            "error_before",
            "error_after",
            "error_left_out",
            "is_bound",
        ];
        let row = |set: &str, l: &Line| {
            vec![
                set.to_owned(),
                l.name.clone(),
                words(l.regime),
                l.shapes.to_string(),
                l.samples.to_string(),
                l.from.to_string(),
                l.to.to_string(),
                l.spread.to_string(),
                l.measured.get().to_string(),
                l.before.get().to_string(),
                l.after.get().to_string(),
                l.error_before.to_string(),
                l.error_after.to_string(),
                l.error_left_out.map_or_else(String::new, |error| error.to_string()),
                l.is_bound.to_string(),
            ]
        };
        let of_step = |s: &StepLine| {
            let off = |predicted: f64| {
                ((predicted - s.measured.get()) / s.measured.get().max(1e-12)).abs().to_string()
            };
            let mut cells = vec!["step".to_owned(), s.name.clone(), "sustained".to_owned()];
            cells.extend(std::iter::repeat_n(String::new(), 5));
            cells.extend([s.measured, s.before, s.after].map(|t| t.get().to_string()));
            cells.extend([off(s.before.get()), off(s.after.get()), String::new(), false.to_string()]);
            cells
        };
        let rows = self.lines.iter().map(|l| row("fitted", l));
        let rows = rows.chain(self.held_out.iter().map(|l| row("held out", l)));
        railwright_report::csv_lines(
            &header.map(str::to_owned),
            rows.chain(self.steps.iter().map(of_step)).collect(),
        )
    }
}

impl Calibrated {
    /// Sources of the calibration, without duplicates.
    fn sources(&self) -> String {
        let mut names: Vec<&str> = Vec::new();
        for (_, _, evidence) in self.calibration.evidence() {
            if !evidence.from.is_empty() && !names.contains(&evidence.from.as_str()) {
                names.push(&evidence.from);
            }
        }
        if names.is_empty() {
            "measurements without a matching constant".to_owned()
        } else {
            names.join(", ")
        }
    }
}

fn work(name: &str, value: f64) -> String {
    let is_flop = name.starts_with("products") || name.starts_with("attention");
    if is_flop { human::flop(Flop::new(value)) } else { human::bytes_decimal(Bytes::new(value)) }
}

fn lines(document: &mut Document, title: &str, remark: &str, lines: &[Line]) {
    if lines.is_empty() {
        return;
    }
    document.heading_with(title, remark);
    let columns = vec![
        Column::words("kind"),
        Column::words("measured"),
        Column::numbers("shapes").expendable(3),
        Column::numbers("samples"),
        Column::words("sizes").expendable(2),
        Column::numbers("spread").expendable(4),
        Column::numbers("time").expendable(5),
        Column::numbers("error before"),
        Column::numbers("error after"),
        Column::numbers("held-out error"),
    ];
    let rows = lines.iter().map(|line| {
        let sizes = if line.from < line.to {
            format!("{} to {}", work(&line.name, line.from), work(&line.name, line.to))
        } else {
            work(&line.name, line.from)
        };
        let regime = match line.regime {
            railwright_spec::calibration::Regime::Burst => "alone",
            railwright_spec::calibration::Regime::Sustained => "in the run",
        };
        vec![
            Cell::new(line.name.clone(), Tone::Strong),
            if line.is_bound { format!("{regime}, upper bound").into() } else { regime.into() },
            Cell::whole(line.shapes),
            Cell::whole(line.samples),
            sizes.into(),
            Cell::percent(line.spread),
            Cell::seconds(line.measured),
            Cell::percent(line.error_before),
            Cell::percent(line.error_after),
            line.error_left_out.map_or_else(Cell::default, Cell::percent),
        ]
    });
    document.table(Table { columns, rows: rows.collect() });
}

fn steps(document: &mut Document, steps: &[StepLine]) {
    if steps.is_empty() {
        return;
    }
    document.heading_with("step", "mean over ranks and steps, relative to the predicted run");
    let columns = vec![
        Column::words("part"),
        Column::numbers("measured"),
        Column::numbers("before"),
        Column::numbers("error before"),
        Column::numbers("after"),
        Column::numbers("error after"),
    ];
    let off = |predicted: f64, took: f64| {
        if took > 0.0 {
            Cell::number(format!("{:+.1}%", 100.0 * (predicted / took - 1.0)), predicted / took - 1.0)
        } else {
            Cell::default()
        }
    };
    let rows = steps.iter().filter(|s| s.measured.get() > 0.0 || s.before.get() > 0.0).map(|step| {
        vec![
            Cell::new(step.title.clone(), if step.name == "step" { Tone::Strong } else { Tone::Plain }),
            Cell::seconds(step.measured),
            Cell::seconds(step.before),
            off(step.before.get(), step.measured.get()),
            Cell::seconds(step.after),
            off(step.after.get(), step.measured.get()),
        ]
    });
    document.table(Table { columns, rows: rows.collect() });
}
