//! `stragglers`: the ranks, links and stages that delay a job, their causes and their costs.

use crate::cells::{from_ranks, time};
use railwright_profiler::attribution::{
    CauseClass, Culprit, Evidence, Kind, Named, SlowGroup, StragglerReport, Verdict,
};
use railwright_profiler::groups::RankSet;
use railwright_report::document::{Block, Cell, Column, Document, Table, Tone};
use railwright_report::{Answer, Terminal};
use railwright_spec::human;
use railwright_spec::quantity::Bytes;
use serde::Serialize;

/// Stragglers of a job.
pub struct Stragglers {
    /// Stragglers and their causes.
    pub report: StragglerReport,
    /// Number of ranks in the table.
    pub shown: usize,
}

/// Fields in JSON.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StragglersFields<'a> {
    #[serde(flatten)]
    report: &'a StragglerReport,
    has_straggler: bool,
}

impl Answer for Stragglers {
    const KIND: &'static str = "stragglers";

    type Json<'a> = StragglersFields<'a>;

    fn json(&self) -> StragglersFields<'_> {
        StragglersFields { report: &self.report, has_straggler: self.report.stragglers().next().is_some() }
    }

    fn document(&self, _: Terminal) -> Document {
        let report = &self.report;
        let mut document = Document::default();
        let from = from_ranks(report.ranks_traced, report.world_size, report.world_size_known);
        document.spans(vec![verdict(report), format!(", {from}").into()]);
        for reason in &report.reasons {
            document.paragraph(Cell::new(format!("reason: {reason}"), Tone::Plain));
        }
        // Late starts of launched work are idle time of the device, and not of the host.
        let is_late = report.culprits.iter().any(|named| named.cause == CauseClass::LaunchLatency.name());
        if report.host_bound && !is_late {
            document.paragraph(Cell::new(
                "the job is host-bound: every device is idle longer than it computes, excluding waits for other ranks; reduce host time before tuning the network",
                Tone::Strong,
            ));
        }
        let steps = match report.steps {
            1 => " (only one is recorded)".to_owned(),
            _ => format!(" (mean of {})", report.steps_covered),
        };
        let idle = if report.from_host { "time outside operators" } else { "idle time of devices" };
        if report.ranks_traced < 2 {
            document.pairs(vec![(idle, Cell::percent(report.idle))]);
            return document;
        }
        let step = time(report.step_time);
        document.pairs(vec![
            ("step", Cell { text: format!("{}{steps}", step.text), ..step }),
            (
                without(report),
                report.bounds_only.as_ref().map_or_else(
                    || time(report.step_time_without),
                    |reason| Cell::new(format!("unknown: {reason}"), Tone::Plain),
                ),
            ),
            ("waits of all ranks", time(report.waits)),
            (idle, Cell::percent(report.idle)),
            ("reporting threshold", time(report.noise)),
            ("replay error", replay_error(report)),
            ("clocks", report.clocks.reason.trim_start_matches("clocks ").into()),
        ]);
        named(&mut document, report);
        if report.unexplained > 0.0 {
            document.paragraph(Cell::new(
                format!(
                    "further delays of other ranks or stages cost {} per step ({}): no single rank, link or stage causes them",
                    time(report.unexplained).text,
                    human::percent(report.unexplained / report.step_time.max(1.0))
                ),
                Tone::Strong,
            ));
        }
        if let Some(small) = report.below_threshold().map(|small| time(small).text) {
            document.paragraph(format!("delays below the reporting threshold: {small} per step"));
        }
        costs(&mut document, report, self.shown);
        for culprit in report.stragglers().take(self.shown) {
            of_culprit(&mut document, culprit);
            let remarks = report.health.iter().flat_map(|health| health.remarks(culprit.rank));
            let remarks: Vec<Cell> = remarks.map(Cell::from).collect();
            if !remarks.is_empty() {
                document.heading_with("device counters", "during the recording");
                document.blocks.push(Block::Bullets(remarks));
            }
        }
        slow_groups(&mut document, report);
        document.next_step(if !report.culprits.is_empty() {
            "`railwright profile` with the same traces lists causes and remedies"
        } else if report.verdict == Verdict::None {
            "`railwright comm` shows bandwidth and waits by process group"
        } else {
            report.lacking.action()
        });
        document
    }
}

/// The headline.
fn verdict(report: &StragglerReport) -> Cell {
    let Some(first) = report.culprits.iter().max_by(|a, b| a.cost_s.total_cmp(&b.cost_s)) else {
        return match report.verdict {
            Verdict::None => Cell::new("no straggler", Tone::Good),
            _ => Cell::new(report.inconclusive(), Tone::Bad),
        };
    };
    let several = match report.culprits.len() {
        1 => String::new(),
        more => format!("; {} more {} of delay", more - 1, if more == 2 { "cause" } else { "causes" }),
    };
    let cost = first.certainty.worded(&time(first.cost_s * 1e9).text);
    let what = match first.kind {
        Kind::Rank if first.stage.is_some() => {
            format!("{} waits for its hosts longer than the other stages ({})", what(first), first.cause)
        }
        Kind::Rank if first.ranks.len() > 1 => {
            format!("{} are joint stragglers ({})", what(first), first.cause)
        }
        Kind::Rank => format!("{} is a straggler ({})", what(first), first.cause),
        Kind::Group if first.work().is_some() => first.unequal_work(),
        Kind::Group => format!("slow link in the group of {}", what(first)),
        Kind::Stage => {
            let why = if first.is_unclear() { format!(" ({})", first.cause) } else { String::new() };
            format!("{} takes longer to compute than the other stages{why}", what(first))
        }
    };
    let share = human::percent(first.cost_s * 1e9 / report.step_time.max(1.0));
    Cell::new(format!("{what}: {cost} per step, {share}{several}"), Tone::Bad)
}

/// A short description of a straggler.
fn what(named: &Named) -> String {
    let ranks = RankSet::new(&named.ranks).words();
    named.stage.map_or_else(|| ranks.clone(), |stage| format!("stage {stage} ({ranks})"))
}

/// All named ranks, links and stages, if there are several.
fn named(document: &mut Document, report: &StragglerReport) {
    if report.culprits.len() < 2 {
        return;
    }
    document.heading_with("causes of delay", "cost: further saving after the rows above, so costs add up");
    let columns = vec![
        Column::words("item"),
        Column::words("cause"),
        Column::numbers("cost per step"),
        Column::numbers("share of step"),
    ];
    let row = |what: String, cause: &str, nanoseconds: f64| {
        vec![
            what.into(),
            cause.into(),
            time(nanoseconds),
            Cell::percent(nanoseconds / report.step_time.max(1.0)),
        ]
    };
    let mut rows: Vec<Vec<Cell>> =
        report.culprits.iter().map(|named| row(what(named), named.cause, named.cost_s * 1e9)).collect();
    rows.push(row("total".to_owned(), "", report.joint()));
    document.table(Table { columns, rows });
}

/// Row of the step time without delays: of ranks, and of links and stages if one is slow.
fn without(report: &StragglerReport) -> &'static str {
    if report.culprits.iter().all(|named| named.kind == Kind::Rank) {
        "with all ranks at the speed of their peers"
    } else {
        "with ranks, links and stages at the speed of their peers"
    }
}

/// Replay error: the resolution of its costs.
fn replay_error(report: &StragglerReport) -> Cell {
    let off = report.replay_error * report.step_time;
    let exact = Cell::new("0%", Tone::Plain);
    if report.replay_error.abs() < 1e-5 {
        return exact;
    }
    Cell::number(
        format!("{} of a step ({:+.2}%)", time(off.abs()).text, report.replay_error * 100.0),
        report.replay_error,
    )
}

fn costs(document: &mut Document, report: &StragglerReport, shown: usize) {
    if report.ranks.len() < 2 {
        return;
    }
    let doubted = report.verdict == Verdict::CannotTell;
    let about = match &report.bounds_only {
        _ if doubted => "waits attributed to each rank; the cause of the delay is unknown".to_owned(),
        None => format!(
            "cost: saving per step if only this rank is fixed, by replay; {}",
            if passes_on(report) {
                "passed on: no delay of its own, late because of others, as behind the slow link or stage"
            } else {
                "waits are attributed to the rank that causes them"
            }
        ),
        Some(reason) => {
            format!(
                "upper bounds on the cost per step ({reason}); waits are attributed to the rank that causes them"
            )
        }
    };
    document.heading_with("by rank", about);
    if doubted {
        waits(document, report, shown);
        return;
    }
    let mut columns = vec![
        Column::numbers("rank"),
        Column::words("host").expendable(3),
        Column::numbers("cost"),
        Column::numbers("share of step"),
        Column::numbers("waits caused"),
        Column::numbers("share of waits").expendable(2),
        Column::numbers("last to enter").expendable(1),
        Column::words("cause"),
    ];
    // Numbers for spreadsheets have no sign before them.
    let bounds = report.bounds_only.is_some();
    if bounds {
        columns.push(Column::words("certainty").expendable(3));
    }
    let rows = report.ranks.iter().take(shown).map(|culprit| {
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
            Cell::new(cause(report, culprit), tone),
        ];
        if bounds {
            row.push(culprit.certainty.name().into());
        }
        row
    });
    document.table(with_values(Table { columns, rows: rows.collect() }));
}

/// A table without its columns that have no value in any row, such as hosts that are not recorded.
fn with_values(mut table: Table) -> Table {
    let columns = if table.rows.is_empty() { 0 } else { table.columns.len() };
    for at in (0..columns).rev() {
        if table.rows.iter().all(|row| row.get(at).is_none_or(|cell| cell.text.is_empty())) {
            table.columns.remove(at);
            table.rows.iter_mut().for_each(|row| drop(row.splice(at..(at + 1).min(row.len()), [])));
        }
    }
    table
}

/// Tests whether a link or a stage is slow: ranks behind it are late, too.
fn passes_on(report: &StragglerReport) -> bool {
    report.culprits.iter().any(|one| one.kind != Kind::Rank && one.work().is_none())
}

/// The cause of a rank's delay, or the reason why it is not reported.
fn cause(report: &StragglerReport, culprit: &Culprit) -> &'static str {
    match culprit.cost {
        _ if culprit.is_straggler => culprit.cause_name,
        cost if cost <= 0.0 && passes_on(report) => "passed on",
        cost if cost <= 0.0 => "no delay",
        cost if cost <= report.noise => "below threshold",
        // Its cost alone is also part of the cost of reported ranks.
        _ => "not reported",
    }
}

/// Waits by rank if no cost is known.
fn waits(document: &mut Document, report: &StragglerReport, shown: usize) {
    let columns = vec![
        Column::numbers("rank"),
        Column::words("host").expendable(3),
        Column::numbers("waits caused"),
        Column::numbers("share of waits"),
        Column::numbers("last to enter").expendable(1),
    ];
    let mut ranks: Vec<&Culprit> = report.ranks.iter().collect();
    ranks.sort_by(|a, b| b.waits.total_cmp(&a.waits).then(a.rank.cmp(&b.rank)));
    let rows = ranks.into_iter().take(shown).map(|rank| {
        vec![
            Cell::whole(u64::from(rank.rank)),
            rank.host.as_deref().unwrap_or_default().into(),
            time(rank.waits),
            Cell::percent(rank.waits_share),
            Cell::whole(u64::from(rank.last)),
        ]
    });
    document.table(with_values(Table { columns, rows: rows.collect() }));
}

fn value(evidence: &Evidence, value: f64) -> Cell {
    if evidence.unit == "ns" { time(value) } else { Cell::number(human::count(value), value) }
}

fn of_culprit(document: &mut Document, culprit: &Culprit) {
    document.heading_with(format!("rank {}", culprit.rank), culprit.cause_name);
    let columns =
        vec![Column::words("quantity in delays"), Column::numbers("rank"), Column::numbers("median peer")];
    let rows = culprit.evidence.iter().map(|evidence| {
        vec![evidence.name.as_str().into(), value(evidence, evidence.own), value(evidence, evidence.peers)]
    });
    document.table(with_values(Table { columns, rows: rows.collect() }));
    let columns = vec![
        Column::numbers("step"),
        Column::numbers("start").expendable(2),
        Column::numbers("duration").expendable(1),
        Column::numbers("excess"),
        Column::numbers("waits caused"),
        Column::words("next operation").expendable(3),
        Column::words("annotation"),
    ];
    let rows = culprit.moments.iter().map(|moment| {
        vec![
            moment.step.map_or_else(Cell::default, |step| Cell::whole(u64::from(step))),
            time(moment.start as f64),
            time(moment.own as f64),
            time(moment.excess as f64),
            time(moment.waits),
            moment
                .before
                .map_or_else(|| "unknown".to_owned(), |operation| operation.name().replace('_', "-"))
                .into(),
            moment.annotation.as_deref().unwrap_or_default().into(),
        ]
    });
    document.table(with_values(Table { columns, rows: rows.collect() }));
}

/// Steps in which a link is slow.
fn steps_of(group: &SlowGroup) -> String {
    if group.steps.is_empty() { "all".to_owned() } else { human::ranges(&group.steps) }
}

fn slow_groups(document: &mut Document, report: &StragglerReport) {
    if report.slow_groups.is_empty() {
        return;
    }
    document.heading_with(
        "slow links",
        "slower than transfers of the same size in other groups; cost: saving if only this link is fixed",
    );
    let columns = vec![
        Column::words("group"),
        Column::words("ranks"),
        Column::words("steps"),
        Column::words("operation"),
        Column::numbers("bytes"),
        Column::numbers("transfer"),
        Column::numbers("other groups"),
        Column::numbers("cost per step"),
    ];
    let rows = report.slow_groups.iter().map(|group| {
        let bytes = group.bytes as f64;
        vec![
            group.label.as_str().into(),
            group.ranks.as_str().into(),
            steps_of(group).into(),
            group
                .operation
                .map_or_else(|| "unknown".to_owned(), |operation| operation.name().replace('_', "-"))
                .into(),
            Cell::number(human::bytes_decimal(Bytes::new(bytes)), bytes),
            time(group.transfer as f64),
            time(group.peers as f64),
            if report.verdict == Verdict::CannotTell { "unknown".into() } else { time(group.cost) },
        ]
    });
    document.table(with_values(Table { columns, rows: rows.collect() }));
}
