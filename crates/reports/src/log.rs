//! `log`: a run from its training log only.

mod metrics;

use railwright_profiler::log::{Framework, Judged, MeasureCurve, Point, Straggler, TimesFrom, TrainingLog};
use railwright_report::document::{Block, Cell, Column, Document, Table, Tone};
use railwright_report::{Answer, Metric, Terminal, chart};
use railwright_spec::human;
use railwright_spec::quantity::{Bytes, Seconds};
use serde::Serialize;

/// Slow steps and timers that are shown; `--json` has all.
const SHOWN: usize = 10;

/// Points of the curve.
pub const POINTS: usize = 2000;

/// Lines of the chart.
const HEIGHT: usize = 6;

/// A run from its log.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Read {
    /// Path.
    pub file: String,
    /// Framework that wrote the reports.
    pub framework: Option<Framework>,
    /// Source of its step times.
    pub times_from: TimesFrom,
    /// The evaluated log.
    pub log: Judged,
    /// The last line of straggler detectors for each measure.
    pub stragglers: Vec<Straggler>,
    /// Every report, or the extremes of stretches: iteration, its seconds, MFU (0 to 1) if known.
    pub curve: Vec<Point>,
    /// Loss, gradient norm and learning rate over the iterations, if reported.
    pub measures: Vec<MeasureCurve>,
}

/// Last report of each straggler.
pub fn last_of_each(log: &TrainingLog) -> Vec<Straggler> {
    let mut last: Vec<Straggler> = Vec::new();
    for line in log.stragglers.iter().rev() {
        if last.iter().all(|known| known.measure != line.measure) {
            last.push(line.clone());
        }
    }
    last.sort_by(|a, b| a.measure.cmp(&b.measure));
    last
}

impl Answer for Read {
    const KIND: &'static str = "log";

    fn metrics(&self) -> Option<Vec<Metric>> {
        Some(metrics::metrics(&self.file, self.framework, &self.log))
    }

    type Json<'a> = &'a Self;

    fn json(&self) -> &Self {
        self
    }

    fn document(&self, terminal: Terminal) -> Document {
        let log = &self.log;
        let mut document = Document::default();
        let pauses = if log.slow_share < 5e-4 {
            "no slow steps".to_owned()
        } else {
            format!("slow steps add {} to the time", human::percent(log.slow_share))
        };
        document.verdict(format!("{} per step; {pauses}", human::seconds(Seconds::new(log.step_time))));
        let starts = if log.starts == 1 { String::new() } else { format!(", {} starts", log.starts) };
        let iterations = format!(
            "{} in {}{starts}",
            human::several(log.iterations, "iteration"),
            human::several(log.reports, "report")
        );
        let by = self.framework.map_or_else(String::new, |framework| format!(" of {}", framework.name()));
        document
            .spans(vec![Cell::new(self.file.as_str(), Tone::Strong), format!(": {iterations}{by}").into()]);
        let mut pairs = vec![(
            "typical step",
            Cell::new(
                if log.reports > 1 {
                    format!(
                        "{} +/- {}",
                        human::seconds(Seconds::new(log.step_time)),
                        human::percent(log.noise)
                    )
                } else {
                    format!("{}, spread unknown", human::seconds(Seconds::new(log.step_time)))
                },
                Tone::Strong,
            ),
        )];
        if let Some(mfu) = log.segments.last().and_then(|s| s.mfu) {
            pairs.push(("MFU", Cell::percent(mfu).toned(Tone::Strong)));
        }
        if let Some(drift) = log.drift {
            let level = if drift.abs() > 0.02 { Tone::Doubtful } else { Tone::Plain };
            pairs.push(("drift", Cell::new(format!("{} within the last level", signed(drift)), level)));
        }
        let share = format!(
            "{} of the time, {}",
            human::percent(log.slow_share),
            human::several(log.slow.len() as u64, "report")
        );
        pairs.push(("slow steps", share.into()));
        if let Some(pause) = log.pause {
            pairs.push(("pause", Cell::new(pause.words(), Tone::Doubtful)));
        }
        if log.skipped + log.not_a_number > 0 {
            let text = format!("{} skipped, {} not a number", log.skipped, log.not_a_number);
            pairs.push(("updates", Cell::new(text, Tone::Doubtful)));
        }
        if let Some(reserved) = log.reserved {
            pairs.push(("memory", human::bytes(Bytes::new(reserved)).into()));
        }
        document.pairs(pairs);
        let seconds: Vec<(f64, f64)> = self.curve.iter().map(|point| (point.0 as f64, point.1)).collect();
        if let (Some(first), Some(last)) = (seconds.first(), seconds.last()) {
            document.heading("iteration time, s");
            let width = terminal.width.clamp(40, 100) - 12;
            // The last point is as wide as the one before it.
            let before = seconds.len().checked_sub(2).map_or(last.0 - 1.0, |at| seconds[at].0);
            let columns = chart::columns(&seconds, first.0, last.0 + (last.0 - before).max(1.0), width);
            let top = columns.iter().copied().fold(0.0, f64::max);
            let label = |value: f64| human::seconds(Seconds::new(value));
            document.blocks.push(Block::Verbatim(chart::area(&columns, top, HEIGHT, label, terminal)));
        }
        segments(log, &mut document);
        slow(log, &mut document);
        restarts(log, &mut document);
        timers(log, &mut document);
        stragglers(&self.stragglers, &mut document);
        document.next_step("`railwright compare LOG` compares the log with the prediction of its run; add `--launch FILE` if the log does not contain its configuration");
        document
    }
}

fn signed(share: f64) -> String {
    format!("{}{}", if share < 0.0 { "-" } else { "+" }, human::percent(share.abs()))
}

fn segments(log: &Judged, document: &mut Document) {
    document.heading_with("levels", "periods of constant step time");
    let columns = vec![
        Column::numbers("first iteration"),
        Column::numbers("last iteration"),
        Column::numbers("step time"),
        Column::numbers("batch"),
        Column::numbers("TFLOP/s"),
        Column::numbers("MFU"),
    ];
    let rows = log.segments.iter().map(|segment| {
        vec![
            Cell::whole(segment.from),
            Cell::whole(segment.to),
            Cell::seconds(Seconds::new(segment.seconds)),
            segment.batch.map_or_else(Cell::default, Cell::whole),
            segment.tflops.map_or_else(Cell::default, |rate| Cell::number(format!("{rate:.1}"), rate)),
            segment.mfu.map_or_else(Cell::default, Cell::percent),
        ]
    });
    document.table(Table { columns, rows: rows.collect() });
}

fn slow(log: &Judged, document: &mut Document) {
    if log.slow.is_empty() {
        return;
    }
    let remark = if log.slow.len() > SHOWN {
        format!("the slowest {SHOWN} of {}", log.slow.len())
    } else {
        String::new()
    };
    document.heading_with("slow reports", remark);
    let columns = vec![
        Column::numbers("iteration"),
        Column::numbers("line"),
        Column::numbers("step time"),
        Column::numbers("lost time"),
    ];
    let rows = log.slow.iter().take(SHOWN).map(|step| {
        vec![
            Cell::whole(step.iteration),
            Cell::whole(step.line),
            Cell::seconds(Seconds::new(step.seconds)),
            Cell::seconds(Seconds::new(step.lost)),
        ]
    });
    document.table(Table { columns, rows: rows.collect() });
}

fn restarts(log: &Judged, document: &mut Document) {
    if log.restarts.is_empty() {
        return;
    }
    document.heading("restarts");
    let columns = vec![
        Column::numbers("line"),
        Column::numbers("iteration before"),
        Column::numbers("iteration after"),
        Column::numbers("repeated iterations"),
        Column::numbers("lost time"),
    ];
    let rows = log.restarts.iter().map(|restart| {
        vec![
            Cell::whole(restart.line),
            Cell::whole(restart.before),
            Cell::whole(restart.from),
            Cell::whole(restart.repeated),
            Cell::seconds(Seconds::new(restart.lost)),
        ]
    });
    document.table(Table { columns, rows: rows.collect() });
}

fn timers(log: &Judged, document: &mut Document) {
    if log.timers.is_empty() {
        return;
    }
    document.heading_with("timers", "medians");
    // With one number per timer, the log does not distinguish ranks.
    let is_of_ranks = log.timers.iter().any(|(_, high, low)| high != low);
    let times: &[&str] = if is_of_ranks { &["slowest rank", "fastest rank"] } else { &["time"] };
    let names = times.iter().chain(&["share of step"]).map(|name| Column::numbers(name));
    let columns = std::iter::once(Column::words("timer")).chain(names).collect();
    let rows = log.timers.iter().take(SHOWN).map(|(name, high, low)| {
        let cells = [high, low].into_iter().take(times.len()).map(|time| Cell::seconds(Seconds::new(*time)));
        std::iter::once(Cell::from(name.as_str()))
            .chain(cells)
            .chain([Cell::percent(high / log.step_time)])
            .collect()
    });
    document.table(Table { columns, rows: rows.collect() });
}

fn stragglers(lines: &[Straggler], document: &mut Document) {
    if lines.is_empty() {
        return;
    }
    document.heading_with("straggler detector", "last report in the log");
    let columns = vec![
        Column::words("measure"),
        Column::numbers("lowest"),
        Column::numbers("rank"),
        Column::numbers("highest"),
        Column::numbers("rank"),
    ];
    let number = |value: f64| Cell::number(human::count(value), value);
    let rows = lines.iter().map(|line| {
        vec![
            line.measure.as_str().into(),
            number(line.lowest.0),
            Cell::whole(u64::from(line.lowest.1)),
            number(line.highest.0),
            Cell::whole(u64::from(line.highest.1)),
        ]
    });
    document.table(Table { columns, rows: rows.collect() });
}
