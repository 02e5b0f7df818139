//! `compare`: two traces or two training logs compared, or a run's prediction with its trace or its log.

pub mod logs;
pub mod modelled;

use crate::profile::time;
use railwright_profiler::compare::{Comparison, Difference, Verdict};
use railwright_profiler::noise::Shift;
use railwright_report::document::{Block, Cell, Column, Document, Table, Tone};
use railwright_report::{Answer, Terminal};
use railwright_spec::human;
use serde::Serialize;

/// Two profiles side by side.
pub struct Compared {
    /// Names of both sides.
    pub titles: [String; 2],
    /// Differences.
    pub comparison: Comparison,
    /// The shift of steps from A to B, in nanoseconds; `None` unless each has several.
    pub shift: Option<Shift>,
    /// Exceeded limits.
    pub verdicts: Vec<Verdict>,
    /// Number of rows in a table.
    pub top: usize,
}

/// Significance of a change, in words.
fn verdict_of(shift: &Shift) -> (String, Tone) {
    let percent = |share: f64| format!("{:+.2}%", share * 100.0);
    let (first, second) = (shift.first.steps, shift.second.steps);
    match shift.interval.map(|(low, high)| (low / shift.first.median, high / shift.first.median)) {
        None => (
            format!("significance unknown: {first} and {second} steps are too few for an interval"),
            Tone::Doubtful,
        ),
        Some((low, high)) => {
            let interval =
                format!("95% interval {} to {}, {first} and {second} steps", percent(low), percent(high));
            if low > 0.0 || high < 0.0 {
                (format!("significant change: {interval}"), Tone::Plain)
            } else {
                (format!("no significant change: {interval}"), Tone::Doubtful)
            }
        }
    }
}

/// A change with its sign, red for an increase of cost.
fn change(difference: &Difference) -> Cell {
    let sign = if difference.change < 0.0 { "-" } else { "+" };
    let text = if difference.change == 0.0 {
        "0".to_owned()
    } else {
        format!("{sign}{}", time(difference.change.abs()))
    };
    Cell::number(text, difference.change * 1e-9)
}

fn relative(difference: &Difference) -> Cell {
    match difference.relative {
        Some(share) => Cell::number(format!("{:+.1}%", share * 100.0), share),
        None => Cell::from("new"),
    }
}

pub(crate) fn value(nanoseconds: f64) -> Cell {
    Cell::number(time(nanoseconds), nanoseconds * 1e-9)
}

/// A table of differences, the larger ones first. Rows missing on both sides are omitted.
fn differences<'a>(name: &str, rows: impl Iterator<Item = &'a Difference>) -> Table {
    let columns = vec![
        Column::words(name),
        Column::numbers("A"),
        Column::numbers("B"),
        Column::numbers("change"),
        Column::numbers("share of A"),
    ];
    let row = |d: &Difference| {
        vec![Cell::from(human::part(&d.name)), value(d.first), value(d.second), change(d), relative(d)]
    };
    let is_there = |d: &&Difference| d.first != 0.0 || d.second != 0.0;
    Table { columns, rows: rows.filter(is_there).map(row).collect() }
}

/// Results of conditions.
pub(crate) fn verdicts(document: &mut Document, verdicts: &[Verdict]) {
    if verdicts.is_empty() {
        return;
    }
    document.heading("conditions");
    let line = |verdict: &Verdict| {
        let found = match verdict.difference.relative {
            Some(share) => format!("{:+.2}%", share * 100.0),
            None => time(verdict.difference.change),
        };
        let (word, tone) = match (verdict.met, verdict.significant) {
            (true, _) => ("met: exit code 1", Tone::Bad),
            (false, Some(false)) => ("not met, no significant change", Tone::Good),
            (false, _) => ("not met", Tone::Good),
        };
        Cell::new(format!("{}: {word} ({found})", verdict.condition.text), tone)
    };
    document.blocks.push(Block::Bullets(verdicts.iter().map(line).collect()));
}

/// Fields in JSON.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComparedFields<'a> {
    #[serde(flatten)]
    comparison: &'a Comparison,
    titles: &'a [String; 2],
    verdicts: &'a [Verdict],
    #[serde(rename = "shift_ns")]
    shift: Option<&'a Shift>,
    /// True if the change is larger than the noise; `None` if unknown.
    significant: Option<bool>,
}

impl Answer for Compared {
    const KIND: &'static str = "compare";

    type Json<'a> = ComparedFields<'a>;

    fn json(&self) -> ComparedFields<'_> {
        ComparedFields {
            comparison: &self.comparison,
            titles: &self.titles,
            verdicts: &self.verdicts,
            shift: self.shift.as_ref(),
            significant: self.shift.as_ref().and_then(Shift::is_significant),
        }
    }

    fn document(&self, terminal: Terminal) -> Document {
        let Self { comparison, titles, .. } = self;
        let mut document = Document::default();
        let step = &comparison.step_time;
        document.spans(vec![
            Cell::new(format!("step time {} (A), {} (B)", time(step.first), time(step.second)), Tone::Strong),
            format!(
                ": {}",
                step.relative.map_or_else(String::new, |share| format!("{:+.2}%", share * 100.0))
            )
            .into(),
        ]);
        if let Some(shift) = &self.shift {
            let (words, tone) = verdict_of(shift);
            document.paragraph(Cell::new(words, tone));
        }
        document.pairs(vec![("A", Cell::from(titles[0].as_str())), ("B", Cell::from(titles[1].as_str()))]);
        verdicts(&mut document, &self.verdicts);
        document.heading_with("step breakdown", "mean over ranks and steps, largest change first");
        let most = step.first.max(step.second);
        let shown = comparison.labels.iter().filter(|d| d.first.max(d.second) >= 0.0005 * most);
        document.table(differences("part", shown));
        document.details(|details| {
            details.heading_with(
                "common recording",
                "time in which all ranks have device activity; mean over ranks",
            );
            details.table(differences("part", comparison.recorded.iter()));
        });
        document.heading_with("operator families", "time per rank and step");
        let shown = comparison.families.iter().filter(|d| d.change.abs() >= 0.0005 * most);
        document.table(differences("family, phase", shown));
        self.kernels(&mut document, terminal);
        if !comparison.warnings.is_empty() {
            document.heading("warnings");
            document.warnings(&comparison.warnings);
        }
        document.next_step("`railwright profile` lists causes and remedies for one job");
        document
    }
}

impl Compared {
    fn kernels(&self, document: &mut Document, terminal: Terminal) {
        let shown: Vec<_> =
            self.comparison.kernels.iter().filter(|row| row.time.change != 0.0).take(self.top).collect();
        if shown.is_empty() {
            return;
        }
        document.heading_with("kernels", "largest changes of the time per rank and step");
        let columns = vec![
            Column::numbers("change"),
            Column::numbers("A"),
            Column::numbers("B"),
            Column::numbers("calls").expendable(2),
            Column::words("phase").expendable(1),
            Column::words("kernel"),
        ];
        let room = terminal.width.saturating_sub(52).clamp(20, 90);
        let count = |n: f64| if n.fract() == 0.0 { human::whole(n as u64) } else { format!("{n:.1}") };
        let rows = shown.into_iter().map(|row| {
            let calls = if row.first_count.to_bits() == row.second_count.to_bits() {
                count(row.first_count)
            } else {
                format!("{} to {}", count(row.first_count), count(row.second_count))
            };
            vec![
                change(&row.time),
                value(row.time.first),
                value(row.time.second),
                Cell::from(calls),
                Cell::from(row.phase.name().replace('_', " ")),
                Cell {
                    text: crate::profile::cut(&human::part(&row.time.name), room, terminal),
                    tone: Tone::Plain,
                    raw: Some(row.time.name.clone()),
                },
            ]
        });
        document.table(Table { columns, rows: rows.collect() });
    }
}
