//! Reads a digest's trace from the bytes of a Parquet file.
//!
//! Responsible for: checking everything that an analysis relies on: version, checksum, order of lanes, kinds,
//! times, indices of calls and groups, the sum of bytes. Repairs nothing.

use super::groups::unpack;
use super::texts::Coded;
use super::{About, DEVICE, HOST, IDLE, KEY, VERSION, checksum, footer};
use crate::parquet::Table;
use bytes::Bytes;
use railwright_profiler::RankTrace;
use railwright_profiler::trace::{CollectiveCall, GpuActivity, GpuKind, HostActivity, HostKind, NONE, Times};
use railwright_spec::problem::Problem;
use railwright_step::CollectiveKind;

/// Hint for a damaged digest.
const AGAIN: &str = "the digest is damaged: copy it again, or create it again from the trace";

/// Opens a digest.
pub fn read_digest(label: &str, bytes: &Bytes) -> Result<RankTrace, Problem> {
    let table = Table::open(label.to_owned(), bytes)?;
    let about = about(label, &table, bytes)?;
    let rows = Rows::new(&table)?;
    rows.trace(about).map_err(|problem| problem.in_file(label))
}

fn about(label: &str, table: &Table, bytes: &[u8]) -> Result<About, Problem> {
    let wrong = |message: String, hint: &str| Problem::new(message).in_file(label).hint(hint);
    let text = table.metadata(KEY).ok_or_else(|| wrong("the digest has no metadata".to_owned(), AGAIN))?;
    let version: Version = serde_json::from_str(&text)
        .map_err(|error| wrong(format!("the metadata of the digest is damaged: {error}"), AGAIN))?;
    if version.version > VERSION {
        let message = format!(
            "the digest has version {}, written by {}; this program reads up to version {VERSION}",
            version.version, version.written_by
        );
        return Err(wrong(message, "read it with that program, or create it again from the trace"));
    }
    let mut about: About = serde_json::from_str(&text)
        .map_err(|error| wrong(format!("the metadata of the digest is damaged: {error}"), AGAIN))?;
    let data = footer(bytes).and_then(|end| bytes.get(..end)).unwrap_or_default();
    if checksum(data, &text, about.crc32) != about.crc32 {
        return Err(wrong("the checksum of the digest is wrong".to_owned(), AGAIN));
    }
    about.identity.digest = true;
    label.clone_into(&mut about.identity.label);
    Ok(about)
}

/// Fields common to all versions.
#[derive(serde::Deserialize)]
struct Version {
    version: u32,
    #[serde(default)]
    written_by: String,
}

/// Columns of a digest.
struct Rows {
    lanes: Coded,
    kinds: Coded,
    names: Coded,
    shapes: Coded,
    start: Vec<i64>,
    duration: Vec<i64>,
    stream: Vec<u32>,
    thread: Vec<u32>,
    correlation: Vec<u32>,
    bytes: Vec<Option<u64>>,
    call: Vec<u32>,
    calls: Calls,
}

/// Columns of communication calls.
struct Calls {
    operations: Coded,
    labels: Coded,
    elements: Coded,
    elements_in: Vec<Option<u64>>,
    elements_out: Vec<Option<u64>>,
    element_bytes: Vec<Option<u64>>,
    group: Vec<Option<u64>>,
    sequence: Vec<Option<u64>>,
    peer: Vec<Option<u64>>,
}

impl Rows {
    fn new(table: &Table) -> Result<Self, Problem> {
        let coded = |name: &str| table.texts_or_none(name).map(|cells| Coded::new(&cells));
        let numbers = |name: &str| table.numbers(name, |n| n);
        let calls = Calls {
            operations: coded("operation")?,
            labels: coded("label")?,
            elements: coded("element")?,
            elements_in: table.sizes_or_none("elements_in")?,
            elements_out: table.sizes_or_none("elements_out")?,
            element_bytes: table.sizes_or_none("element_bytes")?,
            group: table.sizes_or_none("group")?,
            sequence: table.sizes_or_none("sequence")?,
            peer: table.sizes_or_none("peer")?,
        };
        Ok(Self {
            lanes: Coded::new(&table.texts("lane")?.into_iter().map(Some).collect::<Vec<_>>()),
            kinds: Coded::new(&table.texts("kind")?.into_iter().map(Some).collect::<Vec<_>>()),
            names: coded("name")?,
            shapes: coded("shapes")?,
            start: table.signed("start_ns")?,
            duration: table.signed("duration_ns")?,
            stream: numbers("stream")?,
            thread: numbers("thread")?,
            correlation: numbers("correlation")?,
            bytes: table.sizes_or_none("bytes")?,
            call: numbers("call")?,
            calls,
        })
    }

    fn trace(&self, about: About) -> Result<RankTrace, Problem> {
        let groups = unpack(about.groups)
            .ok_or_else(|| Problem::new("its process groups list more ranks than any job has").hint(AGAIN))?;
        let mut trace =
            RankTrace { identity: about.identity, groups, report: about.report, ..RankTrace::default() };
        let lanes = self.lanes.map(|lane| [DEVICE, HOST, IDLE].iter().position(|own| *own == lane));
        let gpu_kinds = self.kinds.map(|kind| GpuKind::ALL.into_iter().find(|own| own.name() == kind));
        let host_kinds = self.kinds.map(|kind| HostKind::ALL.into_iter().find(|own| own.name() == kind));
        let (mut last, mut moved) = (0, 0_u64);
        for at in 0..self.start.len() {
            let lane = cell(&lanes, &self.lanes.codes, at).flatten();
            let lane = lane.ok_or_else(|| wrong(at, "has an unknown lane"))?;
            if lane < last {
                return Err(wrong(at, "comes after rows of a later lane"));
            }
            last = lane;
            if lane == 2 {
                break;
            }
            let (start, correlation) = (self.start[at], number(&self.correlation, at));
            let end = start.saturating_add(self.duration[at]);
            let name = trace.names.intern(self.names.get(at).ok_or_else(|| wrong(at, "has no name"))?);
            let collective = self.call(at, &mut trace)?;
            let no_kind = || wrong(at, "has an unknown kind");
            if lane == 0 {
                let kind = cell(&gpu_kinds, &self.kinds.codes, at).flatten().ok_or_else(no_kind)?;
                let stream = number(&self.stream, at).unwrap_or(NONE);
                let bytes = self.bytes.get(at).copied().flatten().unwrap_or(0);
                moved = moved.saturating_add(bytes);
                trace.gpu.push(GpuActivity {
                    start,
                    end,
                    name,
                    kind,
                    stream,
                    correlation,
                    collective,
                    bytes,
                });
            } else {
                let kind = cell(&host_kinds, &self.kinds.codes, at).flatten().ok_or_else(no_kind)?;
                let thread = number(&self.thread, at).unwrap_or(NONE);
                let shapes = self.shapes.get(at).map(|shapes| trace.names.intern(shapes));
                let row = HostActivity { start, end, name, kind, thread, correlation, collective, shapes };
                trace.host.push(row);
            }
        }
        for (lane, starts, ends) in
            [(DEVICE, trace.gpu.starts(), trace.gpu.ends()), (HOST, trace.host.starts(), trace.host.ends())]
        {
            if let Some((row, why)) = Times::first_impossible(starts, ends) {
                return Err(Problem::new(format!("row {row} of `{lane}` {}", why.words())).hint(AGAIN));
            }
        }
        if i64::try_from(moved).is_err() {
            return Err(Problem::new("column `bytes` contains more than 9 exabytes").hint(AGAIN));
        }
        about.also_named.iter().for_each(|name| {
            trace.names.intern(name);
        });
        Ok(trace)
    }

    /// Index of a row's call, which is added at its first row.
    fn call(&self, at: usize, trace: &mut RankTrace) -> Result<Option<u32>, Problem> {
        let Some(call) = number(&self.call, at) else { return Ok(None) };
        let known = trace.collectives.len() as u32;
        if call > known {
            return Err(wrong(at, "refers to a call without an earlier row"));
        }
        if call == known {
            let described = self.calls.get(at);
            if described.group.is_some_and(|group| group as usize >= trace.groups.len()) {
                return Err(wrong(at, "refers to a missing group"));
            }
            trace.collectives.push(described);
        }
        Ok(Some(call))
    }
}

impl Calls {
    fn get(&self, at: usize) -> CollectiveCall {
        let size = |column: &[Option<u64>]| column.get(at).copied().flatten();
        let small = |column: &[Option<u64>]| size(column).and_then(|n| u32::try_from(n).ok());
        CollectiveCall {
            kind: self
                .operations
                .get(at)
                .and_then(|name| CollectiveKind::ALL.into_iter().find(|own| own.name() == name)),
            label: self.labels.get(at).unwrap_or_default().to_owned(),
            elements_in: size(&self.elements_in),
            elements_out: size(&self.elements_out),
            element: self.elements.get(at).map(str::to_owned),
            element_bytes: small(&self.element_bytes),
            group: small(&self.group),
            sequence: size(&self.sequence),
            peer: small(&self.peer),
        }
    }
}

fn wrong(row: usize, what: &str) -> Problem {
    Problem::new(format!("row {row} {what}")).hint(AGAIN)
}

fn number(column: &[u32], at: usize) -> Option<u32> {
    column.get(at).copied().filter(|&n| n != NONE)
}

/// Value for the text of a row, from the values `of` all texts.
fn cell<T: Copy>(of: &[T], codes: &[u32], at: usize) -> Option<T> {
    of.get(*codes.get(at)? as usize).copied()
}
