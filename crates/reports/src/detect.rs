//! `detect`: the settings of a launch file or log, line by line.

use railwright_launch::{Launch, Measured, Open, Origin, Remark, RemarkKind, Sighting};
use railwright_report::document::{Block, Cell, Column, Document, Table, Tone};
use railwright_report::{Answer, Terminal};
use railwright_spec::human;
use railwright_spec::quantity::{Bytes, Seconds};
use serde::Serialize;

/// Name of a log among the records. A log may also be a launch file.
pub const LOG: &str = "training log";

/// The detected format of a file and its content.
pub struct Detected {
    /// Path.
    pub file: String,
    /// Formats that the content resembles.
    pub sightings: Vec<Sighting>,
    /// Settings, if it is a launch file.
    pub launch: Option<Launch>,
    /// The matching reader of traces and other records.
    pub records: Option<&'static str>,
}

/// Fields in JSON.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DetectedFields<'a> {
    file: &'a str,
    /// Formats that the file may have.
    seen: &'a [Sighting],
    /// The reader of traces and other records; `None` if none reads the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    records: Option<&'static str>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    launch: Option<LaunchFields<'a>>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct LaunchFields<'a> {
    format: &'static str,
    /// Every value with its line.
    values: &'a [Origin],
    remarks: &'a [Remark],
    /// Reason why the file shows only a part of the run.
    partial: Option<&'a str>,
    /// Values that the file sets but that cannot be read from it.
    open: &'a [Open],
    /// Step time of a log.
    measured: Option<&'a Measured>,
    /// The same run as a run file.
    run_file: String,
}

impl Answer for Detected {
    const KIND: &'static str = "detect";

    type Json<'a> = DetectedFields<'a>;

    fn json(&self) -> DetectedFields<'_> {
        DetectedFields {
            file: &self.file,
            seen: &self.sightings,
            records: self.records,
            launch: self.launch.as_ref().map(|launch| LaunchFields {
                format: launch.format.name(),
                values: &launch.origins,
                remarks: &launch.remarks,
                partial: launch.partial.as_deref(),
                open: &launch.open,
                measured: launch.measured.as_ref(),
                run_file: launch.spec.to_toml(),
            }),
        }
    }

    fn document(&self, _: Terminal) -> Document {
        let mut document = Document::default();
        if let Some(launch) = &self.launch {
            let count = |kind| launch.remarks_of(kind).count();
            let read = launch.origins.iter().filter(|origin| origin.line.is_some()).count();
            let (open, unknown) = (count(RemarkKind::Unresolved), count(RemarkKind::Unknown));
            document.verdict(format!("{read} settings read, {open} not resolved, {unknown} unknown"));
        }
        match self.sightings.split_first() {
            None if self.records.is_some() => document.spans(vec![
                Cell::new(self.file.as_str(), Tone::Strong),
                ": ".into(),
                Cell::new(self.records.unwrap_or_default(), Tone::Name),
                if self.records == Some(LOG) {
                    "; `railwright log` reads its steps, `railwright compare LOG --launch FILE` compares them with a run".into()
                } else {
                    "; use `railwright profile`, `pipeline` or `hang`".into()
                },
            ]),
            None => document.spans(vec![
                Cell::new(self.file.as_str(), Tone::Strong),
                " has an unknown format: neither a launch file, a log nor a model's config.json".into(),
            ]),
            Some((first, others)) => {
                document.spans(vec![
                    Cell::new(self.file.as_str(), Tone::Strong),
                    format!(" is {}: ", first.format.title()).into(),
                    Cell::new(first.evidence.why.as_str(), Tone::Faint),
                ]);
                for other in others {
                    document.paragraph(Cell::new(
                        format!("less likely {}: {}", other.format.title(), other.evidence.why),
                        Tone::Faint,
                    ));
                }
            }
        }
        if self.launch.is_none() && self.records == Some(LOG) && !self.sightings.is_empty() {
            document.paragraph(
                "it does not contain the configuration of the run; `railwright log` reads its steps, \
                `railwright compare LOG --launch FILE` compares them with a run",
            );
        }
        if let Some(launch) = &self.launch {
            if let Some(why) = &launch.partial {
                document.spans(vec![
                    Cell::new("The file contains only part of the run: ", Tone::Doubtful),
                    format!("{why}. Settings that the file omits get no default.").into(),
                ]);
            }
            values(&mut document, launch);
            open(&mut document, launch);
            remarks(&mut document, launch);
            if let Some(measured) = &launch.measured {
                report(&mut document, measured);
            }
            let next = if launch.measured.is_some() { "compare" } else { "estimate" };
            document.next_step(format!("`railwright {next} {}`; flags add missing settings", self.file));
        }
        document
    }
}

fn line(line: Option<usize>) -> Cell {
    line.map_or_else(|| Cell::new("", Tone::Plain), |line| Cell::number(line.to_string(), line as f64))
}

/// A line, with its file if that is another one.
fn place(file: Option<&str>, number: Option<usize>) -> Cell {
    match (file, number) {
        (Some(file), Some(number)) => {
            let name = file.rsplit('/').next().unwrap_or(file);
            Cell::new(format!("{name}:{number}"), Tone::Plain)
        }
        _ => line(number),
    }
}

/// Open settings, with the reason; settings that a partial file omits are one line.
fn open(document: &mut Document, launch: &Launch) {
    if launch.open.is_empty() {
        return;
    }
    document.heading_with("not set", "keys without a known value or a default");
    let (source, silent): (Vec<_>, Vec<_>) = launch.open.iter().partition(|open| !open.source.is_empty());
    let rows: Vec<Vec<Cell>> = source
        .into_iter()
        .map(|open| {
            vec![
                Cell::new(open.key.as_str(), Tone::Name),
                place(open.file.as_deref(), open.line),
                Cell::new(open.source.as_str(), Tone::Doubtful),
                open.why.as_str().into(),
            ]
        })
        .collect();
    if !rows.is_empty() {
        let columns = vec![
            Column::words("key"),
            Column::numbers("line"),
            Column::prose("source"),
            Column::prose("why"),
        ];
        document.table(Table { columns, rows });
    }
    if !silent.is_empty() {
        let keys: Vec<&str> = silent.iter().map(|open| open.key.as_str()).collect();
        document.paragraph(Cell::new(format!("missing in this file: {}", keys.join(", ")), Tone::Faint));
    }
}

/// Keys of a run file in the order of the documentation, set ones first.
fn values(document: &mut Document, launch: &Launch) {
    let about = match launch.partial {
        Some(_) => "run-file keys",
        None => "as run-file keys; without a line number: framework default",
    };
    document.heading_with("settings", about);
    let order: Vec<String> =
        railwright_spec::run::keys().iter().map(railwright_spec::run::Key::path).collect();
    let mut origins: Vec<_> = launch.origins.iter().collect();
    origins.sort_by_key(|origin| order.iter().position(|key| *key == origin.key));
    let rows = origins.into_iter().map(|origin| {
        let tone = if origin.line.is_some() { Tone::Plain } else { Tone::Faint };
        vec![
            Cell::new(origin.key.as_str(), Tone::Name),
            Cell::new(human::shorten(origin.value.trim_matches('"')), tone),
            place(origin.file.as_deref(), origin.line),
            Cell::new(origin.source.as_str(), tone),
        ]
    });
    let columns =
        vec![Column::words("key"), Column::words("value"), Column::numbers("line"), Column::prose("source")];
    document.table(Table { columns, rows: rows.collect() });
}

fn remarks(document: &mut Document, launch: &Launch) {
    for (kind, title) in [
        (RemarkKind::Conflict, "contradictions"),
        (RemarkKind::Invalid, "invalid values"),
        (RemarkKind::Unresolved, "not resolved"),
        (RemarkKind::Unknown, "unknown"),
        (RemarkKind::NotModelled, "recognized, not modelled"),
        (RemarkKind::Assumed, "inferred"),
        (RemarkKind::Ignored, "without effect on time and memory"),
    ] {
        let found: Vec<&Remark> = launch.remarks_of(kind).collect();
        if found.is_empty() {
            continue;
        }
        document.heading(title);
        if kind == RemarkKind::Ignored {
            let source: Vec<&str> = found.iter().map(|remark| remark.source.as_str()).collect();
            document.paragraph(Cell::new(source.join("; "), Tone::Faint));
            continue;
        }
        let tone = if kind == RemarkKind::Assumed { Tone::Plain } else { Tone::Doubtful };
        let rows = found.into_iter().map(|remark| {
            let line = place(remark.file.as_deref(), remark.line);
            vec![Cell::new(remark.source.as_str(), tone), line, remark.message.as_str().into()]
        });
        let columns = vec![Column::prose("item"), Column::numbers("line"), Column::prose("remark")];
        document.table(Table { columns, rows: rows.collect() });
    }
}

/// Measurements of the log.
fn report(document: &mut Document, measured: &Measured) {
    let starts = if measured.starts == 1 { String::new() } else { format!(" in {} starts", measured.starts) };
    document.heading("measured");
    let seconds = |seconds: f64| human::seconds(Seconds::new(seconds));
    let (low, high) = measured.step_time_range;
    let other_batch = match measured.other_batch {
        0 => String::new(),
        n => format!(" and {} with another batch size", human::whole(n)),
    };
    let mut pairs = vec![(
        "step time".to_owned(),
        vec![
            Cell::new(seconds(measured.step_time), Tone::Strong),
            format!(
                "  median; {} to {} for 80%; {} iterations{starts}, {} excluded as warm-up{other_batch}",
                seconds(low),
                seconds(high),
                human::whole(measured.reported),
                human::whole(measured.left_out)
            )
            .into(),
        ],
    )];
    if let Some(tokens) = measured.tokens_per_step {
        pairs.push(("tokens per step".to_owned(), vec![human::count(tokens).into()]));
    }
    if let Some(rate) = measured.tflops_per_device {
        pairs.push(("model TFLOP/s/GPU".to_owned(), vec![format!("{rate:.1}").into()]));
    }
    let pair = |name: &str, bytes: f64| (name.to_owned(), vec![human::bytes(Bytes::new(bytes)).into()]);
    pairs.extend(measured.allocated.map(|bytes| pair("allocated", bytes)));
    pairs.extend(measured.reserved.map(|bytes| pair("reserved", bytes)));
    document.blocks.push(Block::Pairs(pairs));
}
