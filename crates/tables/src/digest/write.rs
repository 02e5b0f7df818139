//! Writes a digest as the bytes of a Parquet file.
//!
//! Responsible for: rows of device, host and idle intervals in one table, in this order. Equal digests give
//! equal bytes. Writes every row.

use super::groups::Packed;
use super::{About, DEVICE, HOST, IDLE, KEY, VERSION, checksum, footer};
use crate::parquet::{Field, Values, text_of, write, write_with};
use railwright_profiler::RankTrace;
use railwright_profiler::digest::Digest;
use railwright_profiler::trace::{CollectiveCall, GpuActivity, HostActivity, Identity, NONE};
use railwright_spec::problem::Problem;
use railwright_step::CollectiveKind;
use std::collections::BTreeSet;

/// Columns under construction.
#[derive(Default)]
struct Columns<'a> {
    lane: Vec<&'a str>,
    kind: Vec<&'a str>,
    name: Vec<Option<&'a str>>,
    start: Vec<i64>,
    duration: Vec<i64>,
    stream: Vec<u32>,
    thread: Vec<u32>,
    correlation: Vec<u32>,
    bytes: Vec<Option<u64>>,
    shapes: Vec<Option<&'a str>>,
    phase: Vec<Option<&'a str>>,
    family: Vec<Option<&'a str>>,
    call: Vec<u32>,
    calls: Vec<Option<&'a CollectiveCall>>,
}

/// Optional fields of a row.
#[derive(Clone, Copy, Default)]
struct Cells<'a> {
    name: Option<&'a str>,
    stream: Option<u32>,
    thread: Option<u32>,
    correlation: Option<u32>,
    bytes: Option<u64>,
    shapes: Option<&'a str>,
    phase: Option<&'a str>,
    family: Option<&'a str>,
    call: Option<u32>,
}

impl<'a> Columns<'a> {
    fn push(
        &mut self,
        trace: &'a RankTrace,
        (lane, kind): (&'a str, &'a str),
        (start, end): (i64, i64),
        row: Cells<'a>,
    ) {
        self.lane.push(lane);
        self.kind.push(kind);
        self.name.push(row.name);
        self.start.push(start);
        self.duration.push(end.wrapping_sub(start));
        self.stream.push(row.stream.unwrap_or(NONE));
        self.thread.push(row.thread.unwrap_or(NONE));
        self.correlation.push(row.correlation.unwrap_or(NONE));
        self.bytes.push(row.bytes);
        self.shapes.push(row.shapes);
        self.phase.push(row.phase);
        self.family.push(row.family);
        self.call.push(row.call.unwrap_or(NONE));
        self.calls.push(row.call.and_then(|call| trace.collectives.get(call as usize)));
    }

    fn of(digest: &'a Digest) -> Self {
        let trace = &digest.trace;
        let mut all = Self::default();
        for (at, row) in trace.gpu.iter().enumerate() {
            let GpuActivity { start, end, name, kind, stream, correlation, collective, bytes } = row;
            let cells = Cells {
                name: Some(trace.names.get(name)),
                stream: Some(stream),
                correlation,
                bytes: Some(bytes),
                phase: digest.phases.get(at).map(|phase| phase.name()),
                family: digest.families.get(at).map(|family| family.name()),
                call: collective,
                ..Cells::default()
            };
            all.push(trace, (DEVICE, kind.name()), (start, end), cells);
        }
        for row in trace.host.iter() {
            let HostActivity { start, end, name, kind, thread, correlation, collective, shapes } = row;
            let cells = Cells {
                name: Some(trace.names.get(name)),
                thread: Some(thread),
                correlation,
                shapes: shapes.map(|shapes| trace.names.get(shapes)),
                call: collective,
                ..Cells::default()
            };
            all.push(trace, (HOST, kind.name()), (start, end), cells);
        }
        for row in &digest.idle {
            let cells = Cells { name: row.frame.as_deref(), ..Cells::default() };
            all.push(trace, (IDLE, row.cause.name()), (row.start, row.end), cells);
        }
        all
    }

    fn fields<'b>(&'b self, trace: &'b RankTrace) -> Vec<Field<'b>> {
        let rank = vec![trace.identity.rank.unwrap_or(NONE); self.start.len()];
        let calls = || self.calls.iter().copied();
        let texts = |of: fn(&CollectiveCall) -> Option<&str>| {
            Values::TextsOrNone(calls().map(|call| call.and_then(of)).collect())
        };
        let sizes = |of: fn(&CollectiveCall) -> Option<u64>| {
            Values::SizesOrNone(calls().map(|call| call.and_then(of)).collect())
        };
        let group_name = |call: Option<&CollectiveCall>| {
            let group = trace.groups.get(call?.group? as usize)?;
            Some(group.description.as_deref().unwrap_or(&group.name))
        };
        let field = |name, values| Field { name, values };
        vec![
            field(
                "rank",
                Values::SizesOrNone(rank.iter().map(|&own| (own != NONE).then_some(own.into())).collect()),
            ),
            field("lane", Values::Texts(self.lane.clone())),
            field("kind", Values::Texts(self.kind.clone())),
            field("name", Values::TextsOrNone(self.name.clone())),
            field("start_ns", Values::Signed(self.start.clone())),
            field("duration_ns", Values::Signed(self.duration.clone())),
            field("stream", Values::RepeatingOrNone(&self.stream)),
            field("thread", Values::RepeatingOrNone(&self.thread)),
            field("correlation", Values::VaryingOrNone(&self.correlation)),
            field("bytes", Values::SizesOrNone(self.bytes.clone())),
            field("shapes", Values::TextsOrNone(self.shapes.clone())),
            field("phase", Values::TextsOrNone(self.phase.clone())),
            field("family", Values::TextsOrNone(self.family.clone())),
            field("call", Values::VaryingOrNone(&self.call)),
            field("operation", texts(|call| call.kind.map(CollectiveKind::name))),
            field("label", texts(|call| Some(&call.label))),
            field("elements_in", sizes(|call| call.elements_in)),
            field("elements_out", sizes(|call| call.elements_out)),
            field("element", texts(|call| call.element.as_deref())),
            field("element_bytes", sizes(|call| call.element_bytes.map(u64::from))),
            field("group", sizes(|call| call.group.map(u64::from))),
            field("group_name", Values::TextsOrNone(calls().map(group_name).collect())),
            field("sequence", sizes(|call| call.sequence)),
            field("peer", sizes(|call| call.peer.map(u64::from))),
        ]
    }
}

/// Writes a digest.
pub fn write_digest(digest: &Digest) -> Result<Vec<u8>, Problem> {
    let trace = &digest.trace;
    let columns = Columns::of(digest);
    let fields = columns.fields(trace);
    let failed =
        |error: &parquet::errors::ParquetError| Problem::new(text_of(error)).in_file(&trace.identity.label);
    let plain = write(&fields).map_err(|error| failed(&error))?;
    let data = footer(&plain).and_then(|end| plain.get(..end)).unwrap_or_default();
    let used: BTreeSet<&str> = columns.name.iter().chain(&columns.shapes).copied().flatten().collect();
    let mut about = About {
        version: VERSION,
        written_by: format!("railwright {}", env!("CARGO_PKG_VERSION")),
        crc32: 0,
        reduced: digest.reduced,
        // The digest of a trace is independent of its path.
        identity: Identity { label: String::new(), ..trace.identity.clone() },
        groups: trace.groups.iter().map(Packed::new).collect(),
        report: trace.report.clone(),
        also_named: trace.names.iter().filter(|name| !used.contains(name)).map(str::to_owned).collect(),
    };
    let text = |about: &About| {
        serde_json::to_string(about)
            .map_err(|error| Problem::new(format!("cannot write the metadata of the digest: {error}")))
    };
    about.crc32 = checksum(data, &text(&about)?, 0);
    write_with(&fields, &[(KEY, text(&about)?)]).map_err(|error| failed(&error))
}
