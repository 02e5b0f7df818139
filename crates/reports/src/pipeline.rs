//! The pipeline view as a report: verdicts, the step as a timeline of characters, tables of stalls, stages,
//! steps and shares.

use railwright_profiler::passes::PassKind;
use railwright_profiler::pipeline::strip::{self, strip};
use railwright_profiler::pipeline::{Cause, Certainty, PipelinePage, Row, Stall};
use railwright_profiler::replay::Share;
use railwright_report::document::{Bar, Block, Cell, Column, Document, Table, Tone};
use railwright_report::{Answer, Terminal};
use railwright_spec::human;
use railwright_spec::quantity::{Bytes, Seconds};
use serde::Serialize;
use std::fmt::Write as _;

/// Number of spans of a stage in columns above which small neighbours are merged.
pub const MOST_SPANS: usize = 50_000;

/// The pipeline view, and the number of table rows shown.
pub struct Page {
    /// Passes of the step.
    pub page: PipelinePage,
    /// Maximum number of listed passes.
    pub limit: usize,
}

/// Fields in JSON.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PipelineField<'a> {
    pipeline: &'a PipelinePage,
}

impl Answer for Page {
    const KIND: &'static str = "pipeline";

    type Json<'a> = PipelineField<'a>;

    fn json(&self) -> PipelineField<'_> {
        PipelineField { pipeline: &self.page }
    }

    fn document(&self, terminal: Terminal) -> Document {
        crate::pipeline::document(&self.page, self.limit, terminal)
    }
}

fn seconds(nanoseconds: i64) -> Seconds {
    Seconds::new(nanoseconds as f64 / 1e9)
}

fn time(nanoseconds: i64) -> String {
    human::seconds(seconds(nanoseconds))
}

fn cell(nanoseconds: i64) -> Cell {
    Cell::seconds(seconds(nanoseconds))
}

/// Maximum stages on a terminal; the SVG has all.
const MOST_ROWS: usize = 32;

/// The report.
fn document(page: &PipelinePage, limit: usize, terminal: Terminal) -> Document {
    let mut document = Document::default();
    head(page, &mut document);
    timeline(page, &mut document, terminal);
    if !page.shown.critical.words.is_empty() {
        document.pairs(vec![("critical path", page.shown.critical.words.as_str().into())]);
    }
    stalls(page, limit, &mut document);
    asked(page, &mut document);
    parts(page, &mut document);
    stages(page, &mut document);
    document.details(|details| {
        steps(page, limit, details);
        shares(page, details);
    });
    document.next_step(page.next_step());
    document
}

fn head(page: &PipelinePage, document: &mut Document) {
    let shape = &page.shape;
    let mut summary = page.extent();
    if shape.virtual_pipeline > 1 {
        let _ = write!(summary, " of {} chunks", shape.virtual_pipeline);
    }
    if shape.micro_batches > 0 {
        let _ = write!(summary, ", {} micro-batches", shape.micro_batches);
    }
    if shape.data_parallel > 1 {
        let _ = write!(summary, ", {} replicas", shape.data_parallel);
    }
    let _ = write!(summary, ", {} step{}", page.steps.len(), if page.steps.len() == 1 { "" } else { "s" });
    if let Some(first) = page.headline() {
        let share = first.cost as f64 / page.median_step.max(1) as f64;
        document.verdict(match first.cost {
            0 => first.message.clone(),
            cost => format!(
                "largest loss: {}, {} per step ({})",
                first.id.trim_start_matches("pipeline-").replace('-', " "),
                first.certainty.worded(&time(cost)),
                human::percent(share)
            ),
        });
    }
    document.spans(vec![Cell::new(page.label.as_str(), Tone::Strong), format!(": {summary}").into()]);
    let slow = &page.what_if.slowdown;
    let off = page.replay_error as f64 / page.median_step.max(1) as f64;
    document.pairs(vec![
        ("mean step", Cell::seconds(Seconds::new(page.mean_step * 1e-9))),
        ("median step", cell(page.median_step)),
        (
            "ideal bubble",
            page.ideal_bubble.map_or_else(Cell::default, |share| {
                Cell::number(format!("{} of the step, with balanced stages", human::percent(share)), share)
            }),
        ),
        (
            "slowdown",
            if let Some(reason) = &page.bounds_only {
                Cell::new(format!("unknown: {reason}"), Tone::Plain)
            } else {
                Cell::number(
                    if slow.slowdown < 1.0005 {
                        "none: passes of a kind take equal time, or their differences cancel out".to_owned()
                    } else {
                        format!(
                            "{:.3}: the mean step would take {} with equal passes of each kind ({} less)",
                            slow.slowdown,
                            time(slow.ideal),
                            human::percent(slow.wasted)
                        )
                    },
                    slow.slowdown,
                )
            },
        ),
        (
            "replay error",
            if page.replay_error == 0 {
                "0%".into()
            } else {
                let text = format!("{} of a step ({}), median", time(page.replay_error), human::percent(off));
                Cell::number(text, off)
            },
        ),
        (
            "between passes",
            match (page.gaps.hop, page.gaps.turn) {
                (0, 0) => Cell::default(),
                (hop, turn) => {
                    format!("{} between stages, {} between passes of a stage", time(hop), time(turn)).into()
                }
            },
        ),
    ]);
    let verdicts = page.verdicts.iter().map(|v| {
        let tone = if v.cost > page.median_step / 100 { Tone::Doubtful } else { Tone::Plain };
        Cell::new(v.message.as_str(), tone)
    });
    document.blocks.push(Block::Bullets(verdicts.collect()));
}

/// A column of a row as a character: forward passes by the last digit of a micro-batch, backward by letters.
fn glyph(column: strip::Column, terminal: Terminal) -> char {
    let letter = |base: u8, batch: Option<u32>, of: u32| {
        batch.map_or('?', |batch| char::from(base + (batch % of) as u8))
    };
    match column {
        strip::Column::Nothing => ' ',
        strip::Column::Pass(_, _, true) => '#',
        strip::Column::Pass(PassKind::Forward, batch, _) => letter(b'0', batch, 10),
        strip::Column::Pass(PassKind::BackwardWeight, batch, _) => letter(b'A', batch, 10),
        strip::Column::Pass(_, batch, _) => letter(b'a', batch, 10),
        strip::Column::Bubble(cause) => match cause {
            Cause::Schedule => terminal.either("\u{b7}", ".").chars().next().unwrap_or('.'),
            Cause::Imbalance => '~',
            Cause::Message => '>',
            Cause::Stall => '!',
            Cause::Jitter => '\'',
            Cause::Launch => '_',
            Cause::Outside => ' ',
        },
    }
}

fn timeline(page: &PipelinePage, document: &mut Document, terminal: Terminal) {
    let shown = &page.shown;
    let replica =
        if page.shape.data_parallel > 1 { format!(", replica {}", shown.replica) } else { String::new() };
    let lost = if shown.stalls.is_empty() {
        "no stall".to_owned()
    } else {
        format!("stalls cost {}", shown.certainty.worded(&time(shown.stall_cost)))
    };
    document.heading_with(
        format!("step {}{replica}", shown.step),
        format!("{}; {lost}; expected {}", time(shown.measured), time(shown.expected_duration)),
    );
    let width = terminal.prose().saturating_sub(22).max(40);
    let longest = shown.measured.max(shown.expected_duration);
    let lines = |rows: &[Row], total: i64| {
        let line = |row: &Row| {
            let drawn: String = strip(row, longest, width).into_iter().map(|c| glyph(c, terminal)).collect();
            let share = row.causes.total() as f64 / total.max(1) as f64;
            format!("  {:>3} |{drawn}| {:>6}\n", row.stage, human::percent(share))
        };
        rows.iter().take(MOST_ROWS).map(line).collect::<String>()
    };
    document.blocks.push(Block::Verbatim(lines(&shown.rows, shown.measured)));
    document.details(|details| {
        details
            .heading_with("expected step", "balanced stages without latency or stalls, same order of passes");
        details.blocks.push(Block::Verbatim(lines(&shown.expected, shown.expected_duration)));
    });
    let wait = terminal.either("\u{b7}", ".");
    let mut key = format!(
        "0-9: forward, a-j: backward, by micro-batch; #: stall; idle because of {wait} schedule, ~ imbalance, > P2P, \
         ! stall, ' jitter, _ launch; right: bubble share"
    );
    if shown.rows.len() > MOST_ROWS {
        let _ = write!(key, "; {} more stages are in the SVG (--svg)", shown.rows.len() - MOST_ROWS);
    }
    document.paragraph(Cell::new(key, Tone::Faint));
}

fn stalls(page: &PipelinePage, limit: usize, document: &mut Document) {
    if page.stall_count == 0 {
        return;
    }
    let free = page.stalls.iter().filter(|s| s.cost == 0).count();
    let count = human::whole(page.stall_count as u64);
    let about = match &page.bounds_only {
        None => match free {
            0 => format!("{count}; cost by replay"),
            _ => format!("{count}, of which {} cost nothing; cost by replay", human::whole(free as u64)),
        },
        Some(reason) => format!("{count}; cost is an upper bound, because {reason}"),
    };
    document.heading_with("stalls", about);
    let mut table = Table {
        columns: vec![
            Column::numbers("step"),
            Column::numbers("stage"),
            Column::numbers("ranks").expendable(2),
            Column::words("pass"),
            Column::numbers("micro-batch"),
            Column::numbers("start").expendable(3),
            Column::numbers("duration"),
            Column::numbers("median"),
            Column::numbers("excess"),
            Column::numbers("cost"),
        ],
        rows: Vec::new(),
    };
    let bounds = page.bounds_only.is_some();
    table.columns.extend(sort_of_cost(page));
    let (dear, free): (Vec<&Stall>, Vec<&Stall>) = page.stalls.iter().partition(|s| s.cost > 0 || bounds);
    // Stalls without cost are also useful.
    let kept = limit.saturating_sub(free.len().min(limit / 3));
    let rows = dear.iter().take(kept).chain(&free).take(limit);
    table.rows = rows
        .map(|s| {
            let cost = match s.cost {
                0 => Cell::number("none", 0.0),
                cost => cost_cell(cost, s.certainty).toned(if bounds { Tone::Plain } else { Tone::Bad }),
            };
            let mut row = vec![
                Cell::whole(s.step.into()),
                Cell::whole(s.stage.into()),
                match s.ranks.as_slice() {
                    [] | [_] => Cell::whole(s.rank.into()),
                    ranks => human::ranges(ranks).into(),
                },
                s.kind.name().into(),
                s.micro_batch.map_or_else(Cell::default, |m| Cell::whole(m.into())),
                cell(s.start),
                cell(s.duration),
                cell(s.normal),
                cell(s.excess),
                cost,
            ];
            row.extend(bounds.then(|| s.certainty.name().into()));
            row
        })
        .collect();
    let left = page.stall_count.saturating_sub(table.rows.len());
    document.table(table);
    if left > 0 {
        document.paragraph(Cell::new(format!("{left} more: --limit N or --json shows them"), Tone::Faint));
    }
}

/// A column that marks costs that are bounds, because numbers for spreadsheets have no prefix.
fn sort_of_cost(page: &PipelinePage) -> Option<Column> {
    page.bounds_only.is_some().then(|| Column::words("certainty").expendable(4))
}

/// Cost, with a sign if it is a bound.
fn cost_cell(nanoseconds: i64, certainty: Certainty) -> Cell {
    let cost = cell(nanoseconds);
    Cell { text: certainty.signed(&cost.text), ..cost }
}

/// Saving of a share: an upper bound if only that is known, and no value within the replay error.
fn saved(page: &PipelinePage, share: &Share) -> Vec<Cell> {
    if page.bounds_only.is_some() {
        let certainty = share.certainty.name().into();
        return vec![cost_cell(share.saved, share.certainty), Cell::default(), Cell::default(), certainty];
    }
    if share.saved.abs() < page.replay_error {
        let within = Cell::new(format!("within {}", time(page.replay_error)), Tone::Faint);
        return vec![within, Cell::default(), Cell::default()];
    }
    vec![
        cell(share.saved),
        Cell::percent(share.recovered),
        Cell::number(format!("{:.3}", share.alone), share.alone),
    ]
}

fn asked(page: &PipelinePage, document: &mut Document) {
    if page.asked.is_empty() {
        return;
    }
    document.heading_with(
        "savings",
        "step time saved if these passes took the mean time of their kind, or at most their own median",
    );
    let mut columns = vec![
        Column::words("passes"),
        Column::numbers("count").expendable(2),
        Column::numbers("saved per step"),
        Column::numbers("saved / total loss"),
        Column::numbers("slowdown alone"),
    ];
    columns.extend(sort_of_cost(page));
    columns.extend([Column::numbers("excess cost, all steps"), Column::numbers("largest in step")]);
    let rows = page.asked.iter().map(|a| {
        let mut row = vec![a.passes.as_str().into(), Cell::whole(a.count as u64)];
        row.extend(saved(page, &a.ideal));
        if page.bounds_only.is_some() {
            row.extend([Cell::default(), Cell::default()]);
            return row;
        }
        row.extend([
            cell(a.excess_cost),
            if a.most.1 > 0 { format!("{} ({})", a.most.0, time(a.most.1)).into() } else { Cell::default() },
        ]);
        row
    });
    document.table(Table { columns, rows: rows.collect() });
}

fn parts(page: &PipelinePage, document: &mut Document) {
    document.heading_with(
        "step breakdown",
        "median of each part over steps; each part is the difference of two simulations, while `railwright profile` \
         breaks down the bubble of the mean rank and step",
    );
    let total = page.typical.total.max(1) as f64;
    // Only hosts that carry messages themselves show their activity in between.
    let known = |part: &(&str, i64)| *part != ("host time between passes", 0);
    let bars = page.typical.parts().into_iter().filter(known).map(|(name, part)| Bar {
        depth: 1,
        label: name.to_owned(),
        value: time(part),
        share: part as f64 / total,
        tone: Tone::Plain,
    });
    document.blocks.push(Block::Bars(bars.collect()));
}

fn stages(page: &PipelinePage, document: &mut Document) {
    document.heading_with(
        "stages",
        format!(
            "bubble: share of the job's steps without a pass; own: share of the rank's own recorded steps; causes: of step {}",
            page.shown.step
        ),
    );
    let several = page.stages.iter().any(|s| s.ranks > 1);
    let has_own = page.stages.iter().any(|s| (s.bubble - s.bubble_of_step).abs() > 0.0005);
    let memory = page.stages.iter().any(|s| s.memory_bytes.is_some());
    let mut columns = vec![
        Column::numbers("stage"),
        Column::numbers("forward"),
        Column::numbers("backward"),
        Column::numbers("bubble"),
    ];
    if several {
        columns.extend([
            Column::numbers("ranks").expendable(3),
            Column::numbers("minimum"),
            Column::numbers("maximum"),
        ]);
    }
    let causes: Vec<Cause> =
        Cause::ALL.into_iter().filter(|&c| page.shown.rows.iter().any(|r| r.causes.get(c) > 0)).collect();
    columns.extend(causes.iter().map(|c| Column::numbers(c.name()).expendable(1)));
    if has_own {
        columns.push(Column::numbers("own").expendable(2));
    }
    if memory {
        columns.push(Column::numbers("memory").expendable(2));
    }
    let row =
        |s: &railwright_profiler::pipeline::StageRow| {
            let mut row = vec![
                Cell::whole(s.stage.into()),
                cell(s.forward),
                cell(s.backward),
                Cell::percent(s.bubble_of_step),
            ];
            if several {
                row.extend([
                    Cell::whole(s.ranks as u64),
                    Cell::percent(s.least_of_step),
                    Cell::percent(s.most_of_step),
                ]);
            }
            let shown = page.shown.rows.iter().find(|r| r.stage == s.stage);
            row.extend(causes.iter().map(|&c| shown.map_or_else(Cell::default, |r| cell(r.causes.get(c)))));
            if has_own {
                row.push(Cell::percent(s.bubble));
            }
            if memory {
                row.push(s.memory_bytes.map_or_else(Cell::default, |b| {
                    Cell::number(human::bytes(Bytes::new(b as f64)), b as f64)
                }));
            }
            row
        };
    document.table(Table { columns, rows: page.stages.iter().map(row).collect() });
}

fn steps(page: &PipelinePage, limit: usize, document: &mut Document) {
    if page.steps.len() < 2 {
        return;
    }
    document.heading_with(
        "steps",
        "by stall cost, then step time; passes: time from the first to the last pass; replayed: the same by replay",
    );
    let mut rows: Vec<_> = page.steps.iter().collect();
    rows.sort_by_key(|s| (std::cmp::Reverse((s.stall_cost, s.excess)), s.step));
    let mut columns = vec![
        Column::numbers("step"),
        Column::numbers("step time"),
        Column::numbers("vs. median"),
        Column::numbers("stalls"),
        Column::numbers("stall cost"),
        Column::numbers("passes").expendable(3),
        Column::numbers("replayed").expendable(1),
        Column::numbers("replay error").expendable(2),
    ];
    columns.extend(sort_of_cost(page));
    let rows = rows.into_iter().take(limit).map(|s| {
        let mut row = vec![
            Cell::whole(s.step.into()),
            cell(s.step_time),
            cell(s.excess),
            Cell::whole(s.stalls as u64),
            if s.stalls > 0 { cost_cell(s.stall_cost, s.certainty) } else { cell(0) },
            cell(s.measured),
            cell(s.replayed),
            Cell::number(format!("{:+.2}%", s.error * 100.0), s.error),
        ];
        row.extend(page.bounds_only.as_ref().map(|_| s.certainty.name().into()));
        row
    });
    document.table(Table { columns, rows: rows.collect() });
}

fn shares(page: &PipelinePage, document: &mut Document) {
    let what_if = &page.what_if;
    document.heading_with(
        "slowdown by passes",
        match &page.bounds_only {
            None => {
                "saved: mean time saved per step with these passes ideal; slowdown alone: with all other passes ideal"
                    .to_owned()
            }
            Some(reason) => format!(
                "saved: mean time saved per step with these passes ideal, an upper bound because {reason}"
            ),
        },
    );
    let mut columns = vec![
        Column::words("passes"),
        Column::numbers("saved"),
        Column::numbers("saved / total loss"),
        Column::numbers("slowdown alone"),
    ];
    columns.extend(sort_of_cost(page));
    let row = |share: &Share| {
        let mut row = vec![share.subset.describe().into()];
        row.extend(saved(page, share));
        row
    };
    // Changes without effect have no row.
    let has_effect = |share: &&Share| (share.alone - 1.0).abs() >= 0.0005 || share.recovered.abs() >= 0.005;
    let mut rows: Vec<Vec<Cell>> = what_if.kinds.iter().filter(has_effect).map(row).collect();
    rows.extend(what_if.stages.iter().map(row));
    rows.extend(what_if.replicas.iter().take(16).map(row));
    if !what_if.replicas.is_empty() {
        rows.push(row(&what_if.worst_ranks));
    }
    document.table(Table { columns, rows });
    if let Some(correlation) = what_if.micro_batch_correlation {
        document.paragraph(Cell::new(
            format!(
                "micro-batches {} in work: forward and backward times have a correlation of {correlation:.2} and a spread of {} of a pass",
                if correlation > 0.5 { "differ" } else { "do not differ" },
                human::percent(what_if.micro_batch_spread)
            ),
            Tone::Faint,
        ));
    }
}
