//! `stragglers`: who the others wait for, why, and what it costs.

use super::joining::{self, Input, from_ranks, time};
use super::monitored::Question;
use crate::args;
use crate::exit::{Failure, Outcome};
use crate::printer::document::{Cell, Column, Document, Table, Tone};
use crate::printer::{Answer, Printer, Terminal, fields};
use railwright_profiler::culprits::{Culprit, Evidence, StragglerReport, straggler_report};
use railwright_spec::human;
use railwright_spec::quantity::Bytes;
use serde_json::{Map, Value, json};

struct Stragglers {
    report: StragglerReport,
    shown: usize,
}

/// Finds stragglers. The answer is no when there is one.
pub(crate) fn run(arguments: &args::joining::Stragglers, printer: &Printer) -> Result<Outcome, Failure> {
    let options = joining::options(&arguments.joining)?;
    let mut job = match joining::input(&arguments.joining, "stragglers", printer)? {
        Input::Job(job) => job,
        Input::Monitored(seen) => return seen.answer(Question::Stragglers, &arguments.output, printer),
    };
    let report = straggler_report(&mut job, &options);
    printer.warnings(&report.warnings);
    let found = report.stragglers().next().is_some();
    printer.answer(&Stragglers { report, shown: arguments.ranks }, &arguments.output)?;
    Ok(if found { Outcome::No } else { Outcome::Yes })
}

impl Answer for Stragglers {
    const KIND: &'static str = "stragglers";

    fn json(&self) -> Map<String, Value> {
        let mut fields = fields(&self.report);
        fields.insert("has_straggler".to_owned(), json!(self.report.stragglers().next().is_some()));
        fields
    }

    fn document(&self, _: Terminal) -> Document {
        let report = &self.report;
        let mut document = Document::default();
        let stragglers: Vec<&Culprit> = report.stragglers().collect();
        let from = from_ranks(report.ranks_traced, report.world_size, report.world_size_known);
        let verdict = match stragglers.as_slice() {
            [] if report.ranks_traced < 2 => Cell::new("one rank alone has nobody to wait for", Tone::Plain),
            [] => Cell::new("no straggler", Tone::Good),
            [one] => {
                Cell::new(format!("rank {} holds the others up: {}", one.rank, one.cause_name), Tone::Bad)
            }
            many => {
                Cell::new(format!("ranks {} hold the others up", human::ranges(&sorted(many))), Tone::Bad)
            }
        };
        document.spans(vec![verdict, format!(", {from}").into()]);
        if report.host_bound {
            document.paragraph(Cell::new(
                "every device is idle for longer than it computes, waits for others left out: the hosts hold the job up, look there before the network",
                Tone::Strong,
            ));
        }
        let steps = if report.steps == 1 { String::new() } else { format!(" (mean of {})", report.steps) };
        if report.ranks_traced < 2 {
            let idle = if report.from_host { "outside of operators" } else { "device idle" };
            document.pairs(vec![(idle, Cell::percent(report.idle))]);
            return document;
        }
        let step = time(report.step_time);
        document.pairs(vec![
            ("step", Cell { text: format!("{}{steps}", step.text), ..step }),
            (
                "with all ranks like their peers",
                report.bounds_only.as_ref().map_or_else(
                    || time(report.step_time_without),
                    |reason| Cell::new(format!("not known: {reason}"), Tone::Plain),
                ),
            ),
            ("waits, all ranks", time(report.waits)),
            (
                if report.from_host { "outside of operators" } else { "devices idle" },
                Cell::percent(report.idle),
            ),
            ("noise of a step", time(report.noise)),
            ("replay off by", replay_error(report)),
            ("clocks", report.clocks.reason.as_str().into()),
        ]);
        costs(&mut document, report, self.shown);
        for culprit in report.culprits.iter().take(self.shown).filter(|culprit| culprit.is_straggler) {
            of_culprit(&mut document, culprit);
        }
        slow_groups(&mut document, report);
        document
    }
}

fn sorted(culprits: &[&Culprit]) -> Vec<u32> {
    let mut ranks: Vec<u32> = culprits.iter().map(|culprit| culprit.rank).collect();
    ranks.sort_unstable();
    ranks
}

/// How far the replay is off, which its costs cannot be finer than.
fn replay_error(report: &StragglerReport) -> Cell {
    let off = report.replay_error * report.step_time;
    let exact = Cell::new("nothing: it gives the measured times", Tone::Plain);
    if off.abs() < 1.0 {
        return exact;
    }
    Cell::number(
        format!("{} of a step ({:+.2}%)", time(off.abs()).text, report.replay_error * 100.0),
        report.replay_error,
    )
}

fn costs(document: &mut Document, report: &StragglerReport, shown: usize) {
    if report.culprits.len() < 2 {
        return;
    }
    let about = match &report.bounds_only {
        None => "cost of a step by replay; waits charged to their root".to_owned(),
        Some(reason) => {
            format!("the most that each can cost a step, since {reason}; waits charged to their root")
        }
    };
    document.heading_with("By rank", about);
    let mut columns = vec![
        Column::numbers("rank"),
        Column::words("host").expendable(1),
        Column::numbers("cost"),
        Column::numbers("of the step"),
        Column::numbers("waits caused"),
        Column::numbers("of all waits"),
        Column::numbers("last in").expendable(2),
        Column::words("cause"),
    ];
    // Numbers for spreadsheets have no sign before them.
    let bounds = report.bounds_only.is_some();
    if bounds {
        columns.push(Column::words("cost is").expendable(3));
    }
    let rows = report.culprits.iter().take(shown).map(|culprit| {
        let tone = if culprit.is_straggler { Tone::Bad } else { Tone::Faint };
        let signed = |cell: Cell| Cell { text: culprit.certainty.signed(&cell.text), ..cell };
        let mut row = vec![
            Cell::whole(u64::from(culprit.rank)).toned(if culprit.is_straggler {
                Tone::Strong
            } else {
                Tone::Plain
            }),
            culprit.host.as_deref().unwrap_or_default().into(),
            signed(time(culprit.cost)),
            signed(Cell::percent(culprit.share)),
            time(culprit.waits),
            Cell::percent(culprit.waits_share),
            Cell::whole(u64::from(culprit.last)),
            Cell::new(if culprit.is_straggler { culprit.cause_name } else { "within the noise" }, tone),
        ];
        if bounds {
            row.push(culprit.certainty.name().into());
        }
        row
    });
    document.table(Table { columns, rows: rows.collect() });
}

fn value(evidence: &Evidence, value: f64) -> Cell {
    if evidence.unit == "ns" { time(value) } else { Cell::number(human::count(value), value) }
}

fn of_culprit(document: &mut Document, culprit: &Culprit) {
    document.heading_with(format!("Rank {}", culprit.rank), culprit.cause_name);
    let columns = vec![Column::words("in a step"), Column::numbers("rank"), Column::numbers("its peers")];
    let rows = culprit.evidence.iter().map(|evidence| {
        vec![evidence.name.as_str().into(), value(evidence, evidence.own), value(evidence, evidence.peers)]
    });
    document.table(Table { columns, rows: rows.collect() });
    let columns = vec![
        Column::numbers("step"),
        Column::numbers("at"),
        Column::numbers("took"),
        Column::numbers("longer by"),
        Column::numbers("waits caused"),
        Column::words("before"),
        Column::words("during").expendable(1),
    ];
    let rows = culprit.moments.iter().map(|moment| {
        vec![
            moment.step.map_or_else(Cell::default, |step| Cell::whole(u64::from(step))),
            time(moment.start as f64),
            time(moment.own as f64),
            time(moment.excess as f64),
            time(moment.waits),
            moment.before.map_or("unknown", |operation| operation.name()).into(),
            moment.annotation.as_deref().unwrap_or_default().into(),
        ]
    });
    document.table(Table { columns, rows: rows.collect() });
}

fn slow_groups(document: &mut Document, report: &StragglerReport) {
    if report.slow_groups.is_empty() {
        return;
    }
    document.heading_with("Slow links", "transfers of the same bytes take longer than in other groups");
    let columns = vec![
        Column::words("group"),
        Column::words("ranks"),
        Column::words("operation"),
        Column::numbers("bytes"),
        Column::numbers("transfer"),
        Column::numbers("others"),
    ];
    let rows = report.slow_groups.iter().map(|group| {
        let bytes = group.bytes as f64;
        vec![
            group.label.as_str().into(),
            group.ranks.as_str().into(),
            group.operation.map_or("unknown", |operation| operation.name()).into(),
            Cell::number(human::bytes_decimal(Bytes::new(bytes)), bytes),
            time(group.transfer as f64),
            time(group.peers as f64),
        ]
    });
    document.table(Table { columns, rows: rows.collect() });
}
