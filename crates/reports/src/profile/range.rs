//! `profile --aggregate`: the spans of a range of one step by name, with a tree for a flame graph.

use crate::profile::time;
use railwright_profiler::timeline::{RowKind, Rows, Summed};
use railwright_report::document::{Cell, Column, Document, Table, Tone};
use railwright_report::{Answer, Terminal};
use railwright_spec::human;
use railwright_spec::problem::{Problem, did_you_mean};
use serde::Serialize;

/// Rows by the words of `--rows`.
const KINDS: [(&str, RowKind); 4] = [
    ("passes", RowKind::Passes),
    ("device", RowKind::Device),
    ("streams", RowKind::Streams),
    ("threads", RowKind::Threads),
];

/// The sums, and the number of listed names.
pub struct Shown {
    /// Paths.
    pub title: String,
    /// Sums of the range.
    pub summed: Summed,
    /// Number of rows in a table.
    pub top: usize,
}

/// The rows that a text names.
pub fn rows(text: &str) -> Result<Rows, Problem> {
    let (mut kinds, mut numbers) = (Vec::new(), Vec::new());
    for word in text.split(',').map(str::trim) {
        if let Some((_, kind)) = KINDS.iter().find(|(name, _)| *name == word) {
            kinds.push(*kind);
        } else if let Ok(number) = word.parse::<usize>() {
            numbers.push(number);
        } else {
            let known = KINDS.map(|(name, _)| name);
            return Err(Problem::new(format!("`{word}` is not a row")).in_file("--rows").hint(did_you_mean(
                word,
                known,
                &format!("use {} or track numbers", known.join(", ")),
            )));
        }
    }
    Ok(Rows::Some(kinds, numbers))
}

/// Fields in JSON.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RangeFields<'a> {
    title: &'a str,
    #[serde(flatten)]
    summed: &'a Summed,
}

impl Answer for Shown {
    const KIND: &'static str = "profile_range";

    type Json<'a> = RangeFields<'a>;

    fn json(&self) -> RangeFields<'_> {
        RangeFields { title: &self.title, summed: &self.summed }
    }

    fn document(&self, _: Terminal) -> Document {
        let sums = &self.summed.sums;
        let mut document = Document::default();
        document.spans(vec![
            Cell::new(self.title.clone(), Tone::Strong),
            format!(
                ", {}: {} to {}, {} rows of {} ranks, {} spans",
                self.summed.label,
                time(sums.range.from as f64),
                time(sums.range.to as f64),
                sums.rows,
                self.summed.ranks,
                human::whole(sums.count)
            )
            .into(),
        ]);
        document.heading_with(
            "Names",
            "share: of the length of the range times the number of rows that can be busy",
        );
        let columns = vec![
            Column::words("name"),
            Column::words("class"),
            Column::numbers("count"),
            Column::numbers("total"),
            Column::numbers("self"),
            Column::numbers("mean"),
            Column::numbers("longest"),
            Column::numbers("share"),
        ];
        let nanos = |value: f64| Cell::number(time(value), value);
        let rows = sums.names.iter().take(self.top).map(|name| {
            vec![
                name.name.as_str().into(),
                name.class.name().replace('_', " ").into(),
                Cell::whole(name.count),
                nanos(name.total_ns as f64),
                nanos(name.self_ns as f64),
                nanos(name.mean_ns),
                nanos(name.longest_ns as f64),
                Cell::percent(name.share),
            ]
        });
        document.table(Table { columns, rows: rows.collect() });
        document
    }

    fn csv(&self) -> String {
        let header = ["name", "class", "count", "total_ns", "self_ns", "mean_ns", "longest_ns", "share"]
            .map(str::to_owned);
        let rows = self.summed.sums.names.iter().map(|name| {
            vec![
                name.name.clone(),
                name.class.name().to_owned(),
                name.count.to_string(),
                name.total_ns.to_string(),
                name.self_ns.to_string(),
                format!("{}", name.mean_ns),
                name.longest_ns.to_string(),
                format!("{}", name.share),
            ]
        });
        railwright_report::csv_lines(&header, rows.collect())
    }
}
