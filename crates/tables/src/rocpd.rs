//! Databases of rocprofv3 (rocpd): a rank's trace for every process and GPU in it.
//!
//! Responsible for: the tables of the published schema, versions 3 (times in the rows) and 4 (times and
//! tracks in tables of their own), one set of tables per recorded process. Excludes views, counters and
//! samples of program counters. Ranks are not guessed: the job numbers them.
//!
//! Source: ROCm/rocm-systems, rocprofiler-sdk `rocpd_tables.sql` and `generateRocpd.cpp`. Tables are named
//! `rocpd_<what>_<guid>`. `pid` and `tid` are rows of `rocpd_info_process` and `rocpd_info_thread`. An
//! event's `stack_id` links a call to its launches. Times are nanoseconds of `CLOCK_BOOTTIME` or a monotonic
//! clock.

use crate::nsight::database::Export;
use railwright_profiler::RankTrace;
use railwright_profiler::readers::Recording;
use railwright_profiler::trace::{
    DamageKind, Device, GpuActivity, GpuKind, HostActivity, HostKind, Identity, Source,
};
use railwright_spec::problem::Problem;
use rusqlite::Result;
use std::collections::{BTreeMap, BTreeSet};

/// Table of every such database.
const EVENT: &str = "rocpd_event";

/// Recorded processes, by the suffix of their tables.
fn guids(export: &Export<'_>) -> BTreeSet<String> {
    let of = |name: &str| {
        let rest = name.strip_prefix(EVENT)?;
        (rest.is_empty() || rest.starts_with('_')).then(|| rest.to_owned())
    };
    export.names().filter_map(of).collect()
}

/// True for a database of rocprofv3.
pub(crate) fn is(export: &Export<'_>) -> bool {
    !guids(export).is_empty()
}

/// Reads all processes.
pub(crate) fn read(
    label: &str,
    export: &Export<'_>,
    bytes: u64,
) -> std::result::Result<Vec<Recording>, Problem> {
    let mut traces = Vec::new();
    for guid in guids(export) {
        let process = Process::read(export, &guid).map_err(|error| {
            Problem::new(format!("the database of rocprofv3 cannot be read: {error}"))
                .in_file(label)
                .hint("it may be truncated or damaged: record again with `rocprofv3 --output-format rocpd`")
        })?;
        traces.extend(process.traces(label));
    }
    let several = traces.len() > 1;
    let Some(first) = traces.first_mut() else {
        return Err(Problem::new("the database of rocprofv3 contains no kernel, copy or call")
            .in_file(label)
            .hint("record with `rocprofv3 --sys-trace --output-format rocpd`"));
    };
    first.report.bytes = bytes;
    if !several {
        label.clone_into(&mut first.identity.label);
    }
    Ok(traces.into_iter().map(|trace| Recording::Rank(Box::new(trace))).collect())
}

/// A device activity with its agent and the link to its call.
struct Row {
    agent: i64,
    stack: Option<i64>,
    name: String,
    activity: GpuActivity,
}

/// A call or range of the host.
struct Call {
    thread: i64,
    stack: Option<i64>,
    category: String,
    name: String,
    start: i64,
    end: i64,
}

/// One recorded process.
#[derive(Default)]
struct Process {
    devices: BTreeMap<i64, Device>,
    host: Option<String>,
    number: Option<i64>,
    rows: Vec<Row>,
    calls: Vec<Call>,
    /// Number of rows with invalid times.
    bad: u64,
}

/// Times and tracks of version 4, for rows that refer to them.
struct Places {
    times: BTreeMap<i64, i64>,
    /// Thread, agent, queue, stream by track.
    tracks: BTreeMap<i64, [Option<i64>; 4]>,
}

impl Process {
    fn read(export: &Export<'_>, guid: &str) -> Result<Self> {
        let table = |name: &str| format!("{name}{guid}");
        let mut process = Self::default();
        let mut strings: BTreeMap<i64, String> = BTreeMap::new();
        export.each(&table("rocpd_string"), &["id", "string"], |cells| {
            if let Some((id, text)) = cells.whole(0).zip(cells.text(1)) {
                strings.insert(id, text.to_owned());
            }
        })?;
        export.each(&table("rocpd_info_node"), &["hostname"], |cells| {
            process.host = process.host.take().or_else(|| cells.text(0).map(str::to_owned));
        })?;
        export.each(&table("rocpd_info_process"), &["pid"], |cells| {
            process.number = process.number.or(cells.whole(0));
        })?;
        let agents = ["id", "type", "product_name", "model_name", "name", "absolute_index"];
        export.each(&table("rocpd_info_agent"), &agents, |cells| {
            if let Some(id) = cells.whole(0)
                && cells.text(1).is_none_or(|kind| kind.eq_ignore_ascii_case("gpu"))
            {
                let name = cells.text(2).or(cells.text(3)).or(cells.text(4)).unwrap_or_default();
                let number = u32::try_from(id).unwrap_or(0);
                process.devices.insert(id, Device { id: number, name: name.to_owned(), ..Device::default() });
            }
        })?;
        let mut kernels: BTreeMap<i64, String> = BTreeMap::new();
        let symbols = ["id", "display_name", "kernel_name"];
        export.each(&table("rocpd_info_kernel_symbol"), &symbols, |cells| {
            if let Some((id, name)) = cells.whole(0).zip(cells.text(1).or(cells.text(2))) {
                kernels.insert(id, name.trim_end_matches(".kd").to_owned());
            }
        })?;
        let mut events: BTreeMap<i64, (Option<i64>, Option<i64>)> = BTreeMap::new();
        export.each(&table(EVENT), &["id", "stack_id", "category_id"], |cells| {
            if let Some(id) = cells.whole(0) {
                events.insert(id, (cells.whole(1).filter(|stack| *stack != 0), cells.whole(2)));
            }
        })?;
        let places = Places::read(export, guid)?;
        let stack = |event: Option<i64>| event.and_then(|event| events.get(&event)).and_then(|found| found.0);
        let text = |id: Option<i64>| id.and_then(|id| strings.get(&id)).map(String::as_str);

        let common = [
            "start",
            "end",
            "start_id",
            "end_id",
            "track_id",
            "tid",
            "agent_id",
            "queue_id",
            "stream_id",
            "event_id",
        ];
        let with = |more: &[&'static str]| -> Vec<&'static str> {
            common.iter().copied().chain(more.iter().copied()).collect()
        };
        export.each(&table("rocpd_kernel_dispatch"), &with(&["kernel_id"]), |cells| {
            let own = |at: usize| cells.whole(at);
            let name = own(10).and_then(|id| kernels.get(&id)).cloned();
            let name = name.unwrap_or_else(|| format!("kernel {}", own(10).unwrap_or(0)));
            process.row(&places, own, (name, GpuKind::Kernel, 0), stack(own(9)));
        })?;
        let copies = with(&["name_id", "size", "dst_agent_id", "src_agent_id"]);
        export.each(&table("rocpd_memory_copy"), &copies, |cells| {
            let devices = &process.devices;
            let on_gpu = |agent: &i64| devices.contains_key(agent);
            let agent = cells.whole(12).filter(on_gpu).or_else(|| cells.whole(13).filter(on_gpu));
            let own = |at: usize| if at == 6 { agent } else { cells.whole(at) };
            let bytes = cells.whole(11).and_then(|bytes| u64::try_from(bytes).ok()).unwrap_or(0);
            let name = copy_name(text(cells.whole(10)).unwrap_or("copy"));
            process.row(&places, own, (name, GpuKind::Copy, bytes), stack(cells.whole(9)));
        })?;
        export.each(&table("rocpd_region"), &with(&["name_id"]), |cells| {
            let own = |at: usize| cells.whole(at);
            let Some((start, end)) = places.times(&own) else {
                process.bad += 1;
                return;
            };
            let category = own(9).and_then(|event| events.get(&event)).and_then(|found| text(found.1));
            process.calls.push(Call {
                thread: places.place(&own, 5, 0).unwrap_or(0),
                stack: stack(own(9)),
                category: category.unwrap_or_default().to_owned(),
                name: text(own(10)).unwrap_or("call").to_owned(),
                start,
                end,
            });
        })?;
        Ok(process)
    }

    /// Adds a device activity.
    fn row(
        &mut self,
        places: &Places,
        own: impl Fn(usize) -> Option<i64>,
        (name, kind, bytes): (String, GpuKind, u64),
        stack: Option<i64>,
    ) {
        let Some((start, end)) = places.times(&own) else {
            self.bad += 1;
            return;
        };
        // The stream of HIP, else the queue of the device, numbered after all streams.
        let whole = |number: Option<i64>| number.and_then(|number| u32::try_from(number).ok());
        let queue = whole(places.place(&own, 7, 2)).map(|queue| queue.saturating_add(1 << 16));
        let stream = whole(places.place(&own, 8, 3)).filter(|stream| *stream != 0).or(queue).unwrap_or(0);
        let agent = places.place(&own, 6, 1).unwrap_or(0);
        let activity = GpuActivity { start, end, kind, stream, bytes, ..GpuActivity::default() };
        self.rows.push(Row { agent, stack, name, activity });
    }

    /// A trace for each device.
    fn traces(&self, label: &str) -> Vec<RankTrace> {
        let agents: BTreeSet<i64> = self.rows.iter().map(|row| row.agent).collect();
        if agents.is_empty() && self.calls.is_empty() {
            return Vec::new();
        }
        let one = BTreeSet::from([0]);
        let agents = if agents.is_empty() { &one } else { &agents };
        // Correlations have 32 bits, so stacks are renumbered.
        let stacks: BTreeSet<i64> = self.rows.iter().filter_map(|row| row.stack).collect();
        let numbers: BTreeMap<i64, u32> = stacks.into_iter().zip(1..).collect();
        let mut of_agent: BTreeMap<u32, BTreeSet<i64>> = BTreeMap::new();
        for row in &self.rows {
            if let Some(number) = row.stack.and_then(|stack| numbers.get(&stack)) {
                of_agent.entry(*number).or_default().insert(row.agent);
            }
        }
        agents.iter().map(|agent| self.trace(label, *agent, &numbers, &of_agent)).collect()
    }

    fn trace(
        &self,
        label: &str,
        agent: i64,
        numbers: &BTreeMap<i64, u32>,
        of_agent: &BTreeMap<u32, BTreeSet<i64>>,
    ) -> RankTrace {
        let identity = Identity {
            label: format!("{label} (process {}, agent {agent})", self.number.unwrap_or(0)),
            source: Source::Rocpd,
            host: self.host.clone(),
            devices: self.devices.values().cloned().collect(),
            device: u32::try_from(agent).ok(),
            ..Identity::default()
        };
        let mut trace = RankTrace { identity, ..RankTrace::default() };
        for row in self.rows.iter().filter(|row| row.agent == agent) {
            let name = trace.names.intern(&row.name);
            let correlation = row.stack.and_then(|stack| numbers.get(&stack)).copied();
            trace.gpu.push(GpuActivity { name, correlation, ..row.activity });
        }
        let mut threads: BTreeMap<i64, u32> = BTreeMap::new();
        for call in &self.calls {
            let correlation = call.stack.and_then(|stack| numbers.get(&stack)).copied();
            let elsewhere = correlation.and_then(|number| of_agent.get(&number));
            if elsewhere.is_some_and(|agents| !agents.contains(&agent)) {
                continue;
            }
            let next = u32::try_from(threads.len()).unwrap_or(u32::MAX);
            let thread = *threads.entry(call.thread).or_insert(next);
            let kind = host_kind(&call.category, &call.name);
            let name = trace.names.intern(&call.name);
            let correlation = correlation.filter(|_| kind == HostKind::Runtime);
            let (start, end) = (call.start, call.end);
            trace.host.push(HostActivity {
                start,
                end,
                name,
                kind,
                thread,
                correlation,
                ..HostActivity::default()
            });
        }
        trace.gpu.sort();
        trace.host.sort();
        let impossible = trace.gpu.drop_impossible() + trace.host.drop_impossible();
        trace.report.note_many(DamageKind::BadTime, impossible + self.bad);
        trace.report.kept = (trace.gpu.len() + trace.host.len()) as u64;
        trace.report.events = trace.report.kept + impossible + self.bad;
        trace
    }
}

impl Places {
    fn read(export: &Export<'_>, guid: &str) -> Result<Self> {
        let mut places = Self { times: BTreeMap::new(), tracks: BTreeMap::new() };
        export.each(&format!("rocpd_timestamp{guid}"), &["id", "value"], |cells| {
            if let Some((id, time)) = cells.whole(0).zip(cells.whole(1)) {
                places.times.insert(id, time);
            }
        })?;
        let columns = ["id", "tid", "agent_id", "queue_id", "stream_id"];
        export.each(&format!("rocpd_track{guid}"), &columns, |cells| {
            if let Some(id) = cells.whole(0) {
                places.tracks.insert(id, [cells.whole(1), cells.whole(2), cells.whole(3), cells.whole(4)]);
            }
        })?;
        Ok(places)
    }

    /// Start and end: cells of the row, else the times that it refers to.
    fn times(&self, own: &impl Fn(usize) -> Option<i64>) -> Option<(i64, i64)> {
        let named = |at: usize| own(at).and_then(|id| self.times.get(&id)).copied();
        let (start, end) = (own(0).or_else(|| named(2))?, own(1).or_else(|| named(3))?);
        (end >= start).then_some((start, end))
    }

    /// Cell of the row, else of its track.
    fn place(&self, own: &impl Fn(usize) -> Option<i64>, at: usize, in_track: usize) -> Option<i64> {
        own(at).or_else(|| self.tracks.get(&own(4)?)?.get(in_track).copied().flatten())
    }
}

/// Name of a copy as in PyTorch's profiler, so that one table of names serves both.
fn copy_name(name: &str) -> String {
    let upper = name.to_ascii_uppercase();
    let way = [
        ("HOST_TO_DEVICE", "HtoD"),
        ("DEVICE_TO_HOST", "DtoH"),
        ("DEVICE_TO_DEVICE", "DtoD"),
        ("HOST_TO_HOST", "HtoH"),
    ];
    let found = way.iter().find(|(word, _)| upper.contains(word));
    found.map_or_else(|| name.to_owned(), |(_, short)| format!("Memcpy {short}"))
}

/// Kind of a region's activity, by its category and name.
fn host_kind(category: &str, name: &str) -> HostKind {
    let category = category.to_ascii_uppercase();
    if category.contains("MARKER") {
        HostKind::Annotation
    } else if category.contains("RCCL") || name.starts_with("nccl") {
        HostKind::Collective
    } else if category.contains("HIP") || category.contains("HSA") || name.starts_with("hip") {
        HostKind::Runtime
    } else {
        HostKind::Operator
    }
}

#[cfg(test)]
mod tests;
