//! Rows of a track before conversion to columns, with names as text.
//!
//! Responsible for: separating rows (a track never has two at once); overlapping rows get tracks of their
//! own. Does not interpret rows.

use railwright_step::Names;
use railwright_step::columns::{Class, Row, TrackHead};

/// Maximum number of tracks for overlapping rows of one stream or nested rows of one thread.
const MOST_LANES: usize = 8;

/// A row with its name.
#[derive(Clone, Debug)]
pub(super) struct Named<'a> {
    pub(super) row: Row,
    pub(super) name: Name<'a>,
    /// Source of the row in the trace.
    pub(super) of: Of,
}

/// A row of a trace: of its device, or of its host without a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Source {
    pub(super) on_host: bool,
    pub(super) row: u32,
}

/// Source of a row in the trace: the end of an arrow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Of {
    /// Not recorded: an idle interval, a pass.
    #[default]
    Nothing,
    /// A device row, and the host row that launched it ([`crate::trace::NONE`] if unknown).
    Device(Source, u32),
    /// The beginning of a device row, in which it waits for other ranks.
    Wait(Source),
    /// A row of the host.
    Host(u32),
    /// A pass of the pipeline.
    Pass,
    /// A bubble between passes.
    Bubble,
}

/// A name from the trace or from the analyses.
#[derive(Clone, Debug)]
pub(super) enum Name<'a> {
    Known(&'a str),
    Made(String),
}

impl Name<'_> {
    fn text(&self) -> &str {
        match self {
            Self::Known(text) => text,
            Self::Made(text) => text,
        }
    }
}

/// Content of a track.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Shows {
    /// Passes of the pipeline.
    Passes,
    /// Every moment of the device, once.
    Device,
    /// A stream.
    #[default]
    Stream,
    /// The spans of a thread at one depth.
    Thread(u32),
}

/// A track before conversion to columns.
#[derive(Clone, Debug)]
pub(super) struct Drawn {
    pub(super) name: String,
    pub(super) shows: Shows,
    /// Number of hidden spans, which others on the track cover.
    pub(super) covered: u64,
    pub(super) rows: Vec<Row>,
    names: Vec<String>,
    of: Vec<u32>,
    shown: Vec<Of>,
}

impl Drawn {
    /// Creates a track from rows sorted by start; a row that begins before the previous one has ended is
    /// shortened.
    pub(super) fn of<'a>(name: impl Into<String>, rows: impl IntoIterator<Item = Named<'a>>) -> Self {
        let mut drawn = Self {
            name: name.into(),
            shows: Shows::default(),
            covered: 0,
            rows: Vec::new(),
            names: Vec::new(),
            of: Vec::new(),
            shown: Vec::new(),
        };
        let mut known = std::collections::BTreeMap::new();
        let mut until = i64::MIN;
        for named in rows {
            let start = named.row.start.max(until);
            if start >= named.row.end {
                drawn.covered += 1;
                continue;
            }
            until = named.row.end;
            let text = named.name.text();
            let place = known.get(text).copied().unwrap_or_else(|| {
                drawn.names.push(text.to_owned());
                known.insert(text.to_owned(), drawn.names.len() as u32 - 1);
                drawn.names.len() as u32 - 1
            });
            drawn.rows.push(Row { start, ..named.row });
            drawn.of.push(place);
            drawn.shown.push(named.of);
        }
        drawn
    }

    /// Sets the content of the track.
    pub(super) fn showing(self, shows: Shows) -> Self {
        Self { shows, ..self }
    }

    /// Rows with indices into the names of the whole answer.
    pub(super) fn named(&self, names: &mut Names) -> Vec<Row> {
        let places: Vec<u32> = self.names.iter().map(|name| names.intern(name).0).collect();
        let name = |of: &u32| places.get(*of as usize).copied().unwrap_or_default();
        self.rows.iter().zip(&self.of).map(|(row, of)| Row { name: name(of), ..*row }).collect()
    }

    /// Name of a row; empty if out of range.
    pub(super) fn text(&self, row: usize) -> &str {
        self.of.get(row).and_then(|name| self.names.get(*name as usize)).map_or("", String::as_str)
    }

    pub(super) fn head(&self, group: &str, rank: u32, stage: u32) -> TrackHead {
        TrackHead { group: group.to_owned(), name: self.name.clone(), rank, stage }
    }

    /// Sources of the rows in the trace.
    pub(super) fn shown(&self) -> &[Of] {
        &self.shown
    }

    /// Total time of a class, in nanoseconds.
    pub(super) fn time(&self, class: Class) -> i64 {
        self.rows.iter().filter(|row| row.class == class).map(|row| row.end - row.start).sum()
    }
}

/// Splits rows into tracks without overlap. Each row goes to the first free track, so nested rows are below
/// the enclosing one.
pub(super) fn lanes<'a>(name: &str, rows: Vec<Named<'a>>) -> Vec<Drawn> {
    let mut lanes: Vec<(i64, Vec<Named<'a>>)> = Vec::new();
    for row in rows {
        let free = lanes.iter().position(|(until, _)| *until <= row.row.start);
        let at = free.unwrap_or_else(|| {
            if lanes.len() < MOST_LANES {
                lanes.push((i64::MIN, Vec::new()));
            }
            lanes.len() - 1
        });
        let lane = &mut lanes[at];
        lane.0 = lane.0.max(row.row.end);
        lane.1.push(row);
    }
    let numbered = |at: usize| if at == 0 { name.to_owned() } else { format!("{name} ({})", at + 1) };
    lanes.into_iter().enumerate().map(|(at, (_, rows))| Drawn::of(numbered(at), rows)).collect()
}
