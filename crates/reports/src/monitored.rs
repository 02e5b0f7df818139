//! Communication of a job as recorded by monitors: `comm` and `stragglers` on NCCL Inspector's lines and
//! XPUTimer's metrics.
//!
//! Responsible for: the views of both. The verdicts come from the profiler's monitors.

use crate::cells::time;
use railwright_profiler::attribution::Verdict;
use railwright_profiler::monitors::inspector::{self, Inspected};
use railwright_profiler::monitors::xpu_timer::{self, Metrics, RankSpeed};
use railwright_profiler::readers::Recording;
use railwright_report::document::{Cell, Column, Document, Table, Tone};
use railwright_report::{Answer, Terminal};
use railwright_spec::human;
use railwright_spec::quantity::{Bytes, BytesPerSecond};
use serde::Serialize;
use std::collections::BTreeMap;

/// Communicators and ranks that are shown; `--json` has all.
const SHOWN: usize = 16;

/// Records of monitors.
pub struct Monitored {
    /// Evaluated records of NCCL Inspector.
    pub inspected: Option<Inspected>,
    metrics: Option<Metrics>,
}

impl Monitored {
    /// Evaluates the records of monitors among recordings; `None` without any.
    pub fn of(recordings: &[Recording]) -> Option<Self> {
        let (mut records, mut lost, mut gauges, mut unread) = (Vec::new(), 0, Vec::new(), 0);
        for recording in recordings {
            match recording {
                Recording::Inspector { records: more, damaged } => {
                    records.extend_from_slice(more);
                    lost += damaged;
                }
                Recording::Metrics { gauges: more, damaged } => {
                    gauges.extend_from_slice(more);
                    unread += damaged;
                }
                _ => {}
            }
        }
        let found = Self {
            inspected: (!records.is_empty()).then(|| inspector::inspect(&records, lost)),
            metrics: (!gauges.is_empty()).then(|| xpu_timer::judge(&gauges, unread)),
        };
        (found.inspected.is_some() || found.metrics.is_some()).then_some(found)
    }

    /// Verdict with the reasons for missing evidence. Late ranks are visible in durations of collectives, but
    /// only if all of their ranks were recorded. Speeds of kernels reveal slow chips, but no late host.
    pub fn verdict(&self) -> (Verdict, Vec<String>) {
        if self.has_straggler() {
            return (Verdict::Straggler, Vec::new());
        }
        if self.slow_links().next().is_some() {
            return (Verdict::SlowLink, Vec::new());
        }
        let mut reasons = Vec::new();
        match &self.inspected {
            Some(seen) => {
                reasons.extend(seen.warnings.iter().map(|warning| warning.message.clone()));
                if seen.late.is_empty() {
                    reasons.push("no collective has records of all its ranks".to_owned());
                }
            }
            None => reasons.push(
                "XPUTimer metrics contain no wait times: slow hosts and slow links are not visible"
                    .to_owned(),
            ),
        }
        (if reasons.is_empty() { Verdict::None } else { Verdict::CannotTell }, reasons)
    }

    /// Communicators with slow transfers of any size, with their number of ranks.
    fn slow_links(&self) -> impl Iterator<Item = (&str, u32)> {
        let rows = self.inspected.iter().flat_map(|seen| seen.rows.iter().filter(|row| row.is_slow()));
        let slow: BTreeMap<&str, u32> = rows.map(|row| (row.communicator.as_str(), row.ranks)).collect();
        slow.into_iter()
    }

    /// Stragglers and slow links named by the report. These records have no steps, so no cost per step is
    /// given. Ranks of NCCL Inspector are those of the communicator.
    fn culprits(&self) -> Vec<Named<'_>> {
        let named = |kind: &'static str, ranks: Vec<u32>, cause: &'static str, communicator| Named {
            kind,
            ranks,
            stage: None,
            cause,
            cost_s: None,
            certainty: None,
            communicator,
        };
        let late = self.inspected.iter().flat_map(|seen| seen.late.iter().filter(|late| late.is_straggler));
        let late = late.map(|late| named("rank", vec![late.rank], "unknown", Some(&late.communicator)));
        let chips =
            self.metrics.iter().flat_map(|metrics| metrics.ranks.iter().filter(|rank| rank.slow_chip()));
        let chips = chips.map(|rank| named("rank", vec![rank.rank], "slow chip", None));
        let links = self.slow_links();
        let links = links.map(|(name, ranks)| named("group", (0..ranks).collect(), "slow link", Some(name)));
        late.chain(chips).chain(links).collect()
    }

    fn has_straggler(&self) -> bool {
        self.inspected.as_ref().is_some_and(|seen| seen.late.iter().any(|late| late.is_straggler))
            || self.metrics.as_ref().is_some_and(|metrics| metrics.ranks.iter().any(RankSpeed::slow_chip))
    }

    fn fields(&self) -> MonitoredFields<'_> {
        MonitoredFields {
            has_straggler: self.has_straggler(),
            nccl_inspector: self.inspected.as_ref(),
            xpu_timer: self.metrics.as_ref(),
        }
    }
}

/// Answer of `comm`.
pub struct Communication(pub Monitored);

/// Answer of `stragglers`.
pub struct Stragglers(pub Monitored);

fn micro(value: f64) -> Cell {
    time(value * 1e3)
}

fn rate(gigabytes: f64) -> Cell {
    if gigabytes > 0.0 {
        Cell::number(human::bandwidth(BytesPerSecond::new(gigabytes * 1e9)), gigabytes * 1e9)
    } else {
        Cell::default()
    }
}

fn shown(all: usize) -> String {
    if all > SHOWN { format!(", the first {SHOWN} of {}", human::whole(all as u64)) } else { String::new() }
}

/// Fields in JSON.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MonitoredFields<'a> {
    has_straggler: bool,
    /// Records of NCCL Inspector.
    nccl_inspector: Option<&'a Inspected>,
    /// Metrics of xpu_timer.
    xpu_timer: Option<&'a Metrics>,
}

/// A straggler. These records have no steps, so the cost per step is unknown.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct Named<'a> {
    kind: &'static str,
    ranks: Vec<u32>,
    stage: Option<u32>,
    cause: &'static str,
    cost_s: Option<f64>,
    certainty: Option<f64>,
    communicator: Option<&'a str>,
}

impl Answer for Communication {
    const KIND: &'static str = "communication";

    type Json<'a> = MonitoredFields<'a>;

    fn json(&self) -> MonitoredFields<'_> {
        self.0.fields()
    }

    fn document(&self, _: Terminal) -> Document {
        let mut document = Document::default();
        if let Some(seen) = &self.0.inspected {
            document.spans(vec![
                Cell::new("communication", Tone::Strong),
                format!(", {} records of NCCL Inspector", human::whole(seen.records)).into(),
            ]);
            communicators(&mut document, seen);
            late(&mut document, seen);
        }
        if let Some(metrics) = &self.0.metrics {
            speeds(&mut document, metrics);
        }
        document
    }
}

/// Fields in JSON.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StragglersFields<'a> {
    verdict: Verdict,
    reasons: Vec<String>,
    culprits: Vec<Named<'a>>,
    /// No replay.
    replay_error: Option<f64>,
    #[serde(flatten)]
    fields: MonitoredFields<'a>,
}

impl Answer for Stragglers {
    const KIND: &'static str = "stragglers";

    type Json<'a> = StragglersFields<'a>;

    fn json(&self) -> StragglersFields<'_> {
        let (verdict, reasons) = self.0.verdict();
        let (culprits, fields) = (self.0.culprits(), self.0.fields());
        StragglersFields { verdict, reasons, culprits, replay_error: None, fields }
    }

    fn document(&self, _: Terminal) -> Document {
        let mut document = Document::default();
        if let Some(seen) = &self.0.inspected {
            let guilty: Vec<String> = seen
                .late
                .iter()
                .filter(|late| late.is_straggler)
                .map(|late| format!("rank {} of communicator {}", late.rank, late.communicator))
                .collect();
            let verdict = match (guilty.is_empty(), self.0.verdict().0) {
                (false, _) => Cell::new(format!("{} is a straggler", guilty.join(", ")), Tone::Bad),
                (true, Verdict::SlowLink) => {
                    let slow: Vec<&str> = self.0.slow_links().map(|link| link.0).collect();
                    Cell::new(format!("slow transfers in communicator {}", slow.join(", ")), Tone::Bad)
                }
                (true, Verdict::CannotTell) => {
                    Cell::new("inconclusive: the delaying rank is unknown", Tone::Bad)
                }
                (true, _) => Cell::new("no straggler", Tone::Good),
            };
            document.spans(vec![
                verdict,
                format!(", from {} records of NCCL Inspector", human::whole(seen.records)).into(),
            ]);
            late(&mut document, seen);
        }
        for reason in self.0.verdict().1 {
            document.paragraph(Cell::new(format!("reason: {reason}"), Tone::Plain));
        }
        if let Some(metrics) = &self.0.metrics {
            let slow: Vec<u32> = metrics.ranks.iter().filter(|r| r.slow_chip()).map(|r| r.rank).collect();
            let verdict = if slow.is_empty() {
                Cell::new("no rank has GEMMs more than 10% slower than the median", Tone::Plain)
            } else {
                Cell::new(format!("slow chip: GEMMs of ranks {} are slow", human::ranges(&slow)), Tone::Bad)
            };
            document.spans(vec![verdict, ", from metrics of XPUTimer".into()]);
            speeds(&mut document, metrics);
        }
        document
    }
}

fn communicators(document: &mut Document, seen: &Inspected) {
    let remark = format!(
        "longest total time first{}; wait: excess over the rank with the shortest time",
        shown(seen.rows.len())
    );
    document.heading_with("by communicator, operation and size", remark);
    let columns = vec![
        Column::words("communicator"),
        Column::numbers("ranks"),
        Column::numbers("nodes").expendable(2),
        Column::words("operation"),
        Column::numbers("bytes"),
        Column::numbers("count"),
        Column::numbers("wait"),
        Column::numbers("transfer"),
        Column::numbers("bus bandwidth"),
        Column::numbers("vs. peers").expendable(1),
    ];
    let rows = seen.rows.iter().take(SHOWN).map(|row| {
        let of_peers = row.of_peers.map_or_else(Cell::default, |peers| {
            Cell::percent(row.bus_bandwidth / peers).toned(if row.is_slow() {
                Tone::Bad
            } else {
                Tone::Plain
            })
        });
        vec![
            row.communicator.as_str().into(),
            Cell::whole(u64::from(row.ranks)),
            Cell::whole(u64::from(row.nodes)),
            row.kind.as_str().into(),
            Cell::number(human::bytes_decimal(Bytes::new(row.bytes as f64)), row.bytes as f64),
            Cell::whole(row.count),
            micro(row.wait),
            micro(row.transfer),
            rate(row.bus_bandwidth),
            of_peers,
        ]
    });
    document.table(Table { columns, rows: rows.collect() });
}

fn late(document: &mut Document, seen: &Inspected) {
    if seen.late.is_empty() {
        return;
    }
    let remark = format!("the rank with the shortest time in a collective{}", shown(seen.late.len()));
    document.heading_with("last rank to enter", remark);
    let columns = vec![
        Column::words("communicator"),
        Column::numbers("rank"),
        Column::words("host").expendable(2),
        Column::numbers("times last"),
        Column::numbers("collectives"),
        Column::numbers("waits caused"),
        Column::numbers("share of time"),
        Column::words("verdict"),
    ];
    let rows = seen.late.iter().take(SHOWN).map(|late| {
        let tone = if late.is_straggler { Tone::Bad } else { Tone::Faint };
        vec![
            late.communicator.as_str().into(),
            Cell::whole(u64::from(late.rank)),
            late.host.as_str().into(),
            Cell::whole(late.last),
            Cell::whole(late.of),
            micro(late.waited),
            Cell::percent(late.share),
            Cell::new(if late.is_straggler { "straggler" } else { "within the noise" }, tone),
        ]
    });
    document.table(Table { columns, rows: rows.collect() });
}

fn speeds(document: &mut Document, metrics: &Metrics) {
    document
        .heading_with("speeds", "relative to the median rank for the same operation and size, from XPUTimer");
    let speed = |value: Option<f64>, slow: bool| {
        let tone = if slow { Tone::Bad } else { Tone::Plain };
        value.map_or_else(Cell::default, |v| Cell::number(format!("{v:.3}"), v).toned(tone))
    };
    let columns = vec![
        Column::numbers("rank"),
        Column::numbers("GEMMs"),
        Column::numbers("communication"),
        Column::words("verdict"),
    ];
    let rows = metrics.ranks.iter().map(|rank| {
        let verdict = match (rank.hangs, rank.slow_chip(), rank.slow_link()) {
            (true, ..) => "hangs",
            (_, true, _) => "slow chip",
            (.., true) => "slow link or longer waits",
            _ => "",
        };
        vec![
            Cell::whole(u64::from(rank.rank)),
            speed(rank.matrix_product_speed, rank.slow_chip()),
            speed(rank.communication_speed, rank.slow_link()),
            verdict.into(),
        ]
    });
    document.table(Table { columns, rows: rows.collect() });
}
