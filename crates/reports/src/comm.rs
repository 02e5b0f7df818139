//! `comm`: communication time, split into transfer and waiting.

use crate::cells::{from_ranks, time};
use railwright_profiler::collectives::{
    CollectiveRow, CommunicationReport, GroupCommunication, InSteps, RankCommunication,
};
use railwright_report::document::{Cell, Column, Document, Table, Tone};
use railwright_report::{Answer, Terminal, words};
use railwright_spec::human;
use railwright_spec::problem::Problem;
use railwright_spec::quantity::{Bytes, BytesPerSecond};
use serde::Serialize;

/// Communication of a job.
pub struct Communication {
    /// Without its collectives, which are listed separately.
    pub report: CommunicationReport,
    /// All collectives.
    pub collectives: Vec<CollectiveRow>,
    /// Number of collectives in the table.
    pub listed: usize,
    /// True to list all collectives in JSON.
    pub all: bool,
    /// True if only the groups of a label are reported.
    pub of_group: bool,
}

/// Maximum number of parts of ranks in collectives in JSON by default: for a job of thousands of ranks all
/// are hundreds of megabytes.
const PARTS: usize = 40_000;

/// Ranks that are shown in full; of more, the ones that wait longest.
const RANKS: usize = 16;

/// Keeps the groups of a label.
pub fn keep(report: &mut CommunicationReport, wanted: &str) -> Result<(), Problem> {
    let lower = wanted.to_lowercase();
    let mut labels: Vec<String> = report.groups.iter().map(|group| group.label.clone()).collect();
    labels.sort();
    labels.dedup();
    if !labels.iter().any(|label| label.to_lowercase().contains(&lower)) {
        let hint = format!("groups in these traces: {}", labels.join(", "));
        return Err(Problem::new(format!("unknown group `{wanted}`")).in_file("--group").hint(hint));
    }
    let is_wanted = |group: &GroupCommunication| group.label.to_lowercase().contains(&lower);
    report.groups.retain(is_wanted);
    report.in_steps.groups.retain(is_wanted);
    report.collectives.retain(|row| row.label.to_lowercase().contains(&lower));
    Ok(())
}

/// Fields in JSON.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CommunicationFields<'a> {
    #[serde(flatten)]
    report: &'a CommunicationReport,
    /// Collectives by time, or those with the longest waits if there are very many; `--all` lists all.
    collectives: Vec<&'a CollectiveRow>,
    /// Collectives, listed or not.
    collectives_total: usize,
}

impl Communication {
    /// The collectives listed in JSON: the requested number, else all, else those with the longest waits.
    pub fn rows(&self) -> Vec<&CollectiveRow> {
        if self.listed > 0 {
            return longest(&self.collectives, self.listed);
        }
        let rows = &self.collectives;
        if self.all || rows.iter().map(|row| row.parts.len()).sum::<usize>() <= PARTS {
            return rows.iter().collect();
        }
        let mut left = PARTS;
        let fits = |row: &&CollectiveRow| {
            let fits = row.parts.len() <= left;
            left -= row.parts.len().min(left);
            fits
        };
        longest(rows, rows.len()).into_iter().take_while(fits).collect()
    }
}

impl Answer for Communication {
    const KIND: &'static str = "communication";

    type Json<'a> = CommunicationFields<'a>;

    fn json(&self) -> CommunicationFields<'_> {
        let (collectives, collectives_total) = (self.rows(), self.collectives.len());
        CommunicationFields { report: &self.report, collectives, collectives_total }
    }

    fn document(&self, _: Terminal) -> Document {
        let report = &self.report;
        let mut document = Document::default();
        let groups_in_steps = &report.in_steps.groups;
        if let Some(largest) = groups_in_steps.iter().max_by(|a, b| a.time.total_cmp(&b.time)) {
            document.verdict(result(report, largest, self.of_group));
            document.paragraph(format!("{}, mean over ranks", report.in_steps.scope()));
        }
        let on = report.accelerator.as_ref().map_or(String::new(), |name| format!(" on {name}"));
        document.spans(vec![
            Cell::new("communication", Tone::Strong),
            format!(
                ", {}{on}; {}",
                from_ranks(report.ranks_traced, report.world_size, report.world_size_known),
                report.clocks.reason
            )
            .into(),
        ]);
        groups(&mut document, &report.in_steps);
        ranks(&mut document, report);
        clocks(&mut document, report);
        if self.listed > 0 && !self.collectives.is_empty() {
            collectives(&mut document, &longest(&self.collectives, self.listed));
        }
        if !report.groups.is_empty() {
            document.next_step(
                if sum(groups_in_steps, |group| group.wait) > sum(groups_in_steps, |group| group.transfer) {
                    "`railwright stragglers` finds the ranks that cause the waits"
                } else {
                    "`railwright profile` shows which transfers are exposed"
                },
            );
        }
        document
    }
}

fn sum(groups: &[GroupCommunication], of: impl Fn(&GroupCommunication) -> f64) -> f64 {
    groups.iter().map(of).sum()
}

/// Wait and transfer time per step of all groups, and the group with most of it. Concurrent operations count
/// once, except for `of_group`.
fn result(report: &CommunicationReport, largest: &GroupCommunication, of_group: bool) -> String {
    let (groups, ranks) = (&report.in_steps.groups, &report.in_steps.ranks);
    let mean = |of_groups: f64, of: fn(&RankCommunication) -> i64| {
        let of_ranks = ranks.iter().map(of).sum::<i64>() as f64 / ranks.len().max(1) as f64;
        time(if of_group { of_groups } else { of_ranks } / f64::from(report.in_steps.steps)).text
    };
    let of = format!(
        "{} ({})",
        largest
            .operation
            .map_or_else(|| "communication".to_owned(), |operation| operation.name().replace('_', "-")),
        largest.label
    );
    // The entry of an unrecorded rank separates wait from transfer.
    if report.ranks_traced < report.world_size && groups.iter().any(|group| group.estimate) {
        return format!(
            "communication {} per step, wait and transfer not separable; largest: {of}",
            mean(sum(groups, |group| group.time), |rank| rank.communication),
        );
    }
    let estimated = about(groups.iter().any(|group| group.estimate));
    format!(
        "wait {estimated}{}, transfer {estimated}{} per step; largest: {of}",
        mean(sum(groups, |group| group.wait), |rank| rank.waiting_once),
        mean(sum(groups, |group| group.transfer), |rank| rank.transfer_once),
    )
}

fn rate(value: Option<f64>) -> Cell {
    value.map_or_else(Cell::default, |rate| Cell::number(human::bandwidth(BytesPerSecond::new(rate)), rate))
}

fn amount(bytes: Option<u64>) -> Cell {
    bytes.map_or_else(Cell::default, |bytes| {
        Cell::number(human::bytes_decimal(Bytes::new(bytes as f64)), bytes as f64)
    })
}

fn groups(document: &mut Document, of: &InSteps) {
    let (groups, steps) = (&of.groups, f64::from(of.steps));
    if groups.is_empty() {
        return;
    }
    document.heading_with(
        "by group and operation",
        format!(
            "{}, mean over ranks; concurrent operations each count in full; bandwidth: transfer without wait",
            of.scope()
        ),
    );
    let time = |sum: f64| time(sum / steps);
    // Slow links are the main use of this report, if they can be determined.
    let of_link = Column::numbers("share of link");
    let is_reported = groups.iter().any(|group| group.bus_bandwidth.is_some() && group.link.is_some());
    let of_link = if is_reported { of_link } else { of_link.expendable(8) };
    let columns = vec![
        Column::words("group"),
        Column::words("operation"),
        Column::words("ranks").expendable(4),
        Column::numbers("groups").expendable(5),
        Column::numbers("count").expendable(5),
        Column::numbers("bytes").expendable(2),
        Column::numbers("time").expendable(3),
        Column::numbers("wait"),
        Column::numbers("transfer"),
        Column::numbers("exposed").expendable(1),
        Column::numbers("bus bandwidth"),
        of_link,
        Column::numbers("bandwidth to hide").expendable(6),
        Column::words("group source").expendable(7),
    ];
    let rows = groups.iter().map(|group| {
        let wait = time(group.wait);
        let moved = time(group.transfer);
        let of_link = group.bus_bandwidth.zip(group.link.as_ref());
        vec![
            Cell::new(group.label.as_str(), Tone::Strong),
            group
                .operation
                .map_or_else(|| "unknown".to_owned(), |operation| operation.name().replace('_', "-"))
                .into(),
            group.ranks.as_str().into(),
            Cell::whole(u64::from(group.groups)),
            Cell::number(human::count(f64::from(group.count) / steps), f64::from(group.count) / steps),
            amount(group.bytes.map(|bytes| (bytes as f64 / steps).round() as u64)),
            time(group.time),
            Cell { text: format!("{}{}", about(group.estimate), wait.text), ..wait },
            Cell { text: format!("{}{}", about(group.estimate), moved.text), ..moved },
            time(group.exposed_wait + group.exposed_transfer),
            rate(group.bus_bandwidth),
            of_link.map_or_else(Cell::default, |(rate, link)| Cell::percent(rate / link.bytes_per_second)),
            rate(group.required_bandwidth),
            words(group.evidence).into(),
        ]
    });
    document.table(Table { columns, rows: rows.collect() });
    if let Some(assumed) = groups.iter().find_map(|group| group.assumed.as_deref()) {
        document.paragraph(Cell::new(format!("group inferred: {assumed}"), Tone::Faint));
    }
}

/// Sign of an estimate: the shortest call represents the transfer of all, if other ranks of the group were
/// not recorded.
fn about(is: bool) -> &'static str {
    if is { "\u{2248} " } else { "" }
}

fn ranks(document: &mut Document, report: &CommunicationReport) {
    let mut ranks: Vec<_> = report.in_steps.ranks.iter().collect();
    let steps = f64::from(report.in_steps.steps);
    let time = |sum: i64| time(sum as f64 / steps);
    let remark = if ranks.len() > RANKS {
        ranks.sort_by_key(|rank| (std::cmp::Reverse(rank.waiting_once), rank.rank));
        ranks.truncate(RANKS);
        format!(
            "{}; the {RANKS} ranks with the longest waits, of {}",
            report.in_steps.scope(),
            report.ranks.len()
        )
    } else {
        format!("{}; concurrent operations count once", report.in_steps.scope())
    };
    document.heading_with("by rank", remark);
    let columns = vec![
        Column::numbers("rank"),
        Column::numbers("window"),
        Column::numbers("compute"),
        Column::numbers("communication"),
        Column::numbers("hidden"),
        Column::numbers("collectives").expendable(5),
        Column::numbers("wait"),
        Column::numbers("transfer"),
        Column::numbers("last entries").expendable(1),
        Column::numbers("unmatched").expendable(2),
        Column::numbers("wait bounds").expendable(4),
    ];
    let share = |part: i64, whole: i64| {
        if whole > 0 { Cell::percent(part as f64 / whole as f64) } else { Cell::default() }
    };
    let rows = ranks.into_iter().map(|rank| {
        let (waits, moved) = (time(rank.waiting_once), time(rank.transfer_once));
        vec![
            Cell::whole(u64::from(rank.rank)),
            time(rank.window),
            time(rank.compute),
            time(rank.communication),
            share(rank.overlap, rank.communication),
            Cell::whole(u64::from(rank.collectives)),
            Cell { text: format!("{}{}", about(rank.estimated_wait > 0), waits.text), ..waits },
            Cell { text: format!("{}{}", about(rank.estimated_transfer > 0), moved.text), ..moved },
            Cell::whole(u64::from(rank.last)),
            Cell::whole(u64::from(rank.lost)),
            Cell::whole(u64::from(rank.estimates)),
        ]
    });
    document.table(Table { columns, rows: rows.collect() });
}

fn clocks(document: &mut Document, report: &CommunicationReport) {
    let mut clocks: Vec<_> = report.clocks.clocks.iter().filter(|clock| clock.collectives > 0).collect();
    if clocks.len() < 2 {
        return;
    }
    let remark = if clocks.len() > RANKS {
        clocks.sort_by_key(|clock| (std::cmp::Reverse(clock.offset.abs()), clock.rank));
        clocks.truncate(RANKS);
        format!("the {RANKS} ranks with the largest offset")
    } else if report.clocks.applied {
        "measured and corrected".to_owned()
    } else {
        "measured, not corrected".to_owned()
    };
    document.heading_with("clock offsets", remark);
    let columns = vec![
        Column::numbers("rank"),
        Column::numbers("offset"),
        Column::numbers("reference rank").expendable(1),
        Column::numbers("drift, ppm").expendable(2),
        Column::numbers("residual"),
        Column::numbers("collectives"),
    ];
    let rows = clocks.into_iter().map(|clock| {
        vec![
            Cell::whole(u64::from(clock.rank)),
            time(clock.offset as f64),
            Cell::whole(u64::from(clock.against)),
            Cell::number(format!("{:.1}", clock.drift_ppm), clock.drift_ppm),
            time(clock.residual as f64),
            Cell::whole(u64::from(clock.collectives)),
        ]
    });
    document.table(Table { columns, rows: rows.collect() });
}

/// The collectives with the longest waits.
fn longest(collectives: &[CollectiveRow], count: usize) -> Vec<&CollectiveRow> {
    let mut rows: Vec<&CollectiveRow> = collectives.iter().collect();
    let waits = |row: &CollectiveRow| row.parts.iter().map(|part| part.wait).sum::<i64>();
    rows.sort_by_cached_key(|row| std::cmp::Reverse(waits(row)));
    rows.truncate(count);
    rows
}

fn collectives(document: &mut Document, rows: &[&CollectiveRow]) {
    document.heading_with("collectives", "of the whole recording, by total wait of all ranks");
    let columns = vec![
        Column::words("group"),
        Column::numbers("number"),
        Column::words("operation"),
        Column::numbers("bytes"),
        Column::numbers("ranks").expendable(1),
        Column::numbers("last to enter"),
        Column::numbers("waits"),
        Column::numbers("transfer"),
        Column::numbers("end spread").expendable(2),
    ];
    let rows = rows.iter().map(|row| {
        vec![
            row.label.as_str().into(),
            Cell::whole(u64::from(row.index)),
            row.operation
                .map_or_else(|| "unknown".to_owned(), |operation| operation.name().replace('_', "-"))
                .into(),
            amount(row.bytes),
            Cell::whole(row.parts.len() as u64),
            row.last_rank.map_or_else(Cell::default, |rank| Cell::whole(u64::from(rank))),
            time(row.parts.iter().map(|part| part.wait).sum::<i64>() as f64),
            time(row.shortest as f64),
            time(row.end_spread as f64),
        ]
    });
    document.table(Table { columns, rows: rows.collect() });
}
