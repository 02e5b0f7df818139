//! The ranks of a job as a trace for Perfetto: one merged trace, or a file for each rank with a manifest.
//!
//! Responsible for: Chrome's JSON as PyTorch's profiler writes it, readable by other tools and by Railwright.
//! Each rank is a process with a descriptive name. Times are aligned over the job, and results of the
//! analyses are slices on separate tracks. Times are microseconds with three decimals, without rounding. The
//! same job gives the same bytes. Output is streamed.

mod marks;
#[cfg(test)]
mod tests;

pub use marks::{Mark, stalls, steps, stragglers, waits};

use crate::Job;
use crate::job::Member;
use crate::trace::{CollectiveCall, GpuKind, HostKind, NONE, RankTrace};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Write};

/// Name of the manifest within an archive; Perfetto reads it before all other files.
pub const MANIFEST: &str = "perfetto_manifest.json";
/// First track number of host threads, stream annotations and analysis results: above those of streams.
const THREADS: u64 = 1_000_000;
const ANNOTATIONS: u64 = 2_000_000;
const MARKS: u64 = 3_000_000;

/// Output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Arrows from launches to their device rows.
    pub flows: bool,
    /// True to exclude the host.
    pub device_only: bool,
}

/// The file of a member within an archive.
pub fn file_name(member: &Member) -> String {
    format!("rank-{:05}.json", member.rank)
}

/// Manifest of an archive. Every rank is a machine of its own, because numbers of processes and devices
/// collide between hosts. Times are aligned in the files, so no clock is shifted.
pub fn manifest(job: &Job, with_marks: bool) -> String {
    let rank = |member: &Member| json!({ "path": file_name(member), "machine": { "name": title(member) } });
    let mut files: Vec<Value> = job.members.iter().map(rank).collect();
    if with_marks {
        files.push(json!({ "path": MARKS_FILE, "machine": { "name": "railwright" } }));
    }
    let manifest = json!({ "perfetto_manifest": { "version": 1, "files": files } });
    format!("{manifest:#}\n")
}

/// File in an archive with the marks of the whole job.
pub const MARKS_FILE: &str = "railwright.json";

/// Marker of files with results instead of a rank: as a member of the head, and as written.
const MARKS_MEMBER: (&str, Value) = ("railwrightMarks", Value::Bool(true));
pub(crate) const MARKS_SIGN: &str = "\"railwrightMarks\":true";

/// Writes all ranks and marks as one trace.
pub fn write_merged(job: &Job, marks: &[Mark], options: Options, out: &mut impl Write) -> fmt::Result {
    let mut writer = Writer::start(job, &[], out)?;
    for (index, member) in job.members.iter().enumerate() {
        writer.rank(index, member, marks, options)?;
    }
    writer.marks_of_the_job(job, marks)?;
    writer.end()
}

/// Writes one rank as a trace, on the time of the whole job.
pub fn write_rank(
    job: &Job,
    member: &Member,
    marks: &[Mark],
    options: Options,
    out: &mut impl Write,
) -> fmt::Result {
    let mut writer = Writer::start(job, &header(job, member), out)?;
    writer.rank(member.rank as usize, member, marks, options)?;
    writer.end()
}

/// Writes the marks of the whole job as a trace.
pub fn write_marks(job: &Job, marks: &[Mark], out: &mut impl Write) -> fmt::Result {
    let mut writer = Writer::start(job, &[MARKS_MEMBER], out)?;
    writer.marks_of_the_job(job, marks)?;
    writer.end()
}

fn title(member: &Member) -> String {
    let identity = &member.trace.identity;
    let device = identity.device.and_then(|id| identity.devices.iter().find(|device| device.id == id));
    let mut title = format!("rank {}", member.rank);
    for part in [identity.host.as_deref(), device.map(|device| device.name.as_str())].into_iter().flatten() {
        title.push_str(", ");
        title.push_str(part);
    }
    title
}

/// Header of the file of one rank, as in PyTorch's profiler.
fn header(job: &Job, member: &Member) -> Vec<(&'static str, Value)> {
    let identity = &member.trace.identity;
    let group = |group: &crate::trace::RankGroup| {
        json!({
            "pg_name": group.name,
            "pg_desc": group.description.as_deref().unwrap_or("undefined"),
            "pg_size": group.size,
            "ranks": group.ranks,
        })
    };
    let devices = identity.devices.iter().map(|device| {
        json!({
            "id": device.id,
            "name": device.name,
            "totalGlobalMem": device.memory_bytes,
            "numSms": device.multiprocessors,
        })
    });
    let distributed = json!({
        "backend": identity.backend,
        "rank": member.rank,
        // An inferred value must not be read back as a recorded one.
        "world_size": job.world_size_known.then_some(job.world_size),
        "pg_config": member.trace.groups.iter().map(group).collect::<Vec<_>>(),
        "nccl_version": identity.communication_library,
    });
    vec![
        ("schemaVersion", json!(1)),
        ("deviceProperties", Value::Array(devices.collect())),
        ("distributedInfo", distributed),
    ]
}

struct Writer<'a, W: Write> {
    out: &'a mut W,
    line: String,
    /// Time in nanoseconds that is 0 in the trace.
    base: i64,
    first: bool,
}

impl<'a, W: Write> Writer<'a, W> {
    fn start(job: &Job, header: &[(&str, Value)], out: &'a mut W) -> Result<Self, fmt::Error> {
        let starts = job.members.iter().flat_map(|m| [m.trace.gpu.starts(), m.trace.host.starts()]);
        let base = starts.filter_map(|starts| starts.iter().min()).min().copied().unwrap_or(0);
        out.write_char('{')?;
        for (key, value) in header {
            writeln!(out, "\"{key}\":{value},")?;
        }
        writeln!(out, "\"displayTimeUnit\":\"ms\",\"baseTimeNanoseconds\":{base},\"traceEvents\":[")?;
        Ok(Self { out, line: String::with_capacity(512), base, first: true })
    }

    fn end(self) -> fmt::Result {
        self.out.write_str("\n]}\n")
    }

    /// Writes the current line and starts the next one.
    fn flush(&mut self) -> fmt::Result {
        if !self.first {
            self.out.write_str(",\n")?;
        }
        self.first = false;
        self.out.write_str(&self.line)?;
        self.line.clear();
        Ok(())
    }

    fn meta(&mut self, what: &str, pid: u64, tid: Option<u64>, arguments: &Value) -> fmt::Result {
        write!(self.line, "{{\"ph\":\"M\",\"name\":\"{what}\",\"pid\":{pid}")?;
        if let Some(tid) = tid {
            write!(self.line, ",\"tid\":{tid}")?;
        }
        write!(self.line, ",\"args\":{arguments}}}")?;
        self.flush()
    }

    fn track(&mut self, pid: u64, tid: u64, name: &str) -> fmt::Result {
        self.meta("thread_name", pid, Some(tid), &json!({ "name": name }))?;
        self.meta("thread_sort_index", pid, Some(tid), &json!({ "sort_index": tid }))
    }

    /// Writes the beginning of a slice, up to its arguments.
    fn slice(&mut self, place: (u64, u64), category: &str, name: &str, start: i64, end: i64) -> fmt::Result {
        let (pid, tid) = place;
        write!(
            self.line,
            "{{\"ph\":\"X\",\"cat\":\"{category}\",\"name\":{name},\"pid\":{pid},\"tid\":{tid},\"ts\":"
        )?;
        self.time(start.wrapping_sub(self.base))?;
        self.line.push_str(",\"dur\":");
        self.time(end.wrapping_sub(start))
    }

    /// Writes nanoseconds as microseconds with all digits.
    fn time(&mut self, nanoseconds: i64) -> fmt::Result {
        let (sign, size) = (if nanoseconds < 0 { "-" } else { "" }, nanoseconds.unsigned_abs());
        write!(self.line, "{sign}{}.{:03}", size / 1000, size % 1000)
    }

    fn rank(&mut self, index: usize, member: &Member, marks: &[Mark], options: Options) -> fmt::Result {
        let (pid, trace) = (u64::from(member.rank), &member.trace);
        self.meta("process_name", pid, None, &json!({ "name": title(member) }))?;
        self.meta("process_sort_index", pid, None, &json!({ "sort_index": index }))?;
        let names: Vec<String> = trace.names.iter().map(quoted).collect();
        self.device(pid, trace, &names)?;
        if !options.device_only {
            self.host(pid, trace, &names)?;
            if options.flows {
                self.flows(pid, trace)?;
            }
        }
        let own: Vec<&Mark> = marks.iter().filter(|mark| mark.rank == Some(member.rank)).collect();
        self.marks(pid, &own)
    }

    fn device(&mut self, pid: u64, trace: &RankTrace, names: &[String]) -> fmt::Result {
        let mut tracks = BTreeSet::new();
        for row in trace.gpu.iter() {
            // Activities without a stream share a track after those of streams.
            let stream = if row.stream == NONE { THREADS - 1 } else { u64::from(row.stream) };
            let annotation = row.kind == GpuKind::Annotation;
            let tid = if annotation { ANNOTATIONS + stream } else { stream };
            if tracks.insert(tid) {
                let stream =
                    if row.stream == NONE { "no stream".to_owned() } else { format!("stream {stream}") };
                self.track(pid, tid, &if annotation { format!("{stream}, annotations") } else { stream })?;
            }
            let category = match row.kind {
                GpuKind::Kernel => "kernel",
                GpuKind::Copy => "gpu_memcpy",
                GpuKind::Set => "gpu_memset",
                GpuKind::Annotation => "gpu_user_annotation",
                GpuKind::Sync => "cuda_sync",
            };
            self.slice((pid, tid), category, name_of(names, row.name.0), row.start, row.end)?;
            let stream = if row.stream == NONE { -1 } else { i64::from(row.stream) };
            write!(
                self.line,
                ",\"args\":{{\"device\":{},\"stream\":{stream}",
                trace.identity.device.unwrap_or(0)
            )?;
            if let Some(correlation) = row.correlation {
                write!(self.line, ",\"correlation\":{correlation}")?;
            }
            if row.bytes > 0 {
                write!(self.line, ",\"bytes\":{}", row.bytes)?;
            }
            if let Some(call) = row.collective.and_then(|at| trace.collectives.get(at as usize)) {
                self.call(call, trace)?;
            }
            self.line.push_str("}}");
            self.flush()?;
        }
        Ok(())
    }

    fn host(&mut self, pid: u64, trace: &RankTrace, names: &[String]) -> fmt::Result {
        let mut tracks = BTreeSet::new();
        for row in trace.host.iter() {
            let tid = THREADS + u64::from(row.thread);
            if tracks.insert(tid) {
                self.track(pid, tid, &format!("host thread {}", row.thread))?;
            }
            let category = match row.kind {
                HostKind::Operator | HostKind::Collective => "cpu_op",
                HostKind::Runtime => "cuda_runtime",
                HostKind::Annotation => "user_annotation",
                HostKind::Overhead => "overhead",
                HostKind::Python => "python_function",
            };
            self.slice((pid, tid), category, name_of(names, row.name.0), row.start, row.end)?;
            self.line.push_str(",\"args\":{\"thread\":");
            write!(self.line, "{}", row.thread)?;
            if let Some(correlation) = row.correlation {
                write!(self.line, ",\"correlation\":{correlation}")?;
            }
            if let Some(shapes) = row.shapes {
                write!(self.line, ",\"Input Dims\":{}", name_of(names, shapes.0))?;
            }
            if let Some(call) = row.collective.and_then(|at| trace.collectives.get(at as usize)) {
                self.call(call, trace)?;
            }
            self.line.push_str("}}");
            self.flush()?;
        }
        Ok(())
    }

    /// Arguments of a collective, as in PyTorch's profiler.
    fn call(&mut self, call: &CollectiveCall, trace: &RankTrace) -> fmt::Result {
        let mut fields = Map::new();
        let mut say = |key: &str, value: Option<Value>| {
            if let Some(value) = value {
                fields.insert(key.to_owned(), value);
            }
        };
        say("Collective name", Some(json!(call.label)).filter(|_| !call.label.is_empty()));
        say("In msg nelems", call.elements_in.map(|n| json!(n)));
        say("Out msg nelems", call.elements_out.map(|n| json!(n)));
        say("dtype", call.element.as_ref().map(|name| json!(name)));
        say("Seq", call.sequence.map(|n| json!(n)));
        if let Some(group) = call.group.and_then(|at| trace.groups.get(at as usize)) {
            say("Process Group Name", Some(json!(group.name)));
            say("Process Group Description", group.description.as_ref().map(|text| json!(text)));
            say("Group size", group.size.map(|n| json!(n)));
            // A list as text, as in the recorder's format.
            say("Process Group Ranks", group.ranks.as_ref().map(|ranks| json!(format!("{ranks:?}"))));
        }
        for (key, value) in &fields {
            write!(self.line, ",\"{key}\":{value}")?;
        }
        Ok(())
    }

    fn flows(&mut self, pid: u64, trace: &RankTrace) -> fmt::Result {
        let mut launches = BTreeMap::new();
        for row in trace.host.iter().filter(|row| row.kind == HostKind::Runtime) {
            if let Some(correlation) = row.correlation {
                launches.entry(correlation).or_insert((row.start, row.thread));
            }
        }
        for row in trace.gpu.iter().filter(|row| row.stream != NONE && row.kind != GpuKind::Annotation) {
            let launch = row.correlation.and_then(|id| launches.remove(&id).map(|launch| (id, launch)));
            let Some((correlation, (when, thread))) = launch else { continue };
            let id = (pid << 32) | u64::from(correlation);
            for (phase, tid, time) in
                [("s", THREADS + u64::from(thread), when), ("f", u64::from(row.stream), row.start)]
            {
                let bound = if phase == "f" { ",\"bp\":\"e\"" } else { "" };
                write!(
                    self.line,
                    "{{\"ph\":\"{phase}\",\"cat\":\"ac2g\",\"name\":\"ac2g\",\"id\":{id},\"pid\":{pid},\"tid\":{tid}{bound},\"ts\":"
                )?;
                self.time(time.wrapping_sub(self.base))?;
                self.line.push('}');
                self.flush()?;
            }
        }
        Ok(())
    }

    /// Writes the marks of one process, with a track for each kind.
    fn marks(&mut self, pid: u64, marks: &[&Mark]) -> fmt::Result {
        let mut tracks: Vec<&str> = Vec::new();
        for mark in marks {
            let at = tracks.iter().position(|track| *track == mark.track);
            let tid = MARKS + at.unwrap_or(tracks.len()) as u64;
            if at.is_none() {
                tracks.push(&mark.track);
                self.track(pid, tid, &format!("railwright: {}", mark.track))?;
            }
            self.slice((pid, tid), "railwright", &quoted(&mark.name), mark.start, mark.end)?;
            let details: Map<String, Value> =
                mark.details.iter().map(|(key, value)| (key.clone(), json!(value))).collect();
            write!(self.line, ",\"args\":{}}}", Value::Object(details))?;
            self.flush()?;
        }
        Ok(())
    }

    fn marks_of_the_job(&mut self, job: &Job, marks: &[Mark]) -> fmt::Result {
        let own: Vec<&Mark> = marks.iter().filter(|mark| mark.rank.is_none()).collect();
        if own.is_empty() {
            return Ok(());
        }
        let pid = u64::from(job.members.last().map_or(0, |member| member.rank)) + 1;
        self.meta("process_name", pid, None, &json!({ "name": "railwright" }))?;
        self.meta("process_sort_index", pid, None, &json!({ "sort_index": -1 }))?;
        self.marks(pid, &own)
    }
}

fn quoted(text: &str) -> String {
    Value::String(text.to_owned()).to_string()
}

fn name_of(names: &[String], id: u32) -> &str {
    names.get(id as usize).map_or("\"\"", String::as_str)
}
