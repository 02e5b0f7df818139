//! Tables of a job: its columns as rows.
//!
//! Responsible for: the field of each column of each table. Copies no columns.

use super::asked::{Asked, Profile, Side};
use super::rows::{Index, Rows, Value, word};
use super::schema::{
    CLOCKS, COLLECTIVES, GPU, GROUPS, HOST, MATCHES, PASSES, RANKS, REPORTS, STEP_TIMES, STEPS,
};
use super::{ColumnAbout, TableAbout, joined_tables};
use railwright_profiler::RankTrace;
use railwright_profiler::passes::Passes;
use railwright_profiler::trace::{NONE, Source, some};
use std::borrow::Cow;
use std::sync::Arc;

/// Kind of table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Which {
    Gpu,
    Host,
    Collectives,
    Groups,
    Ranks,
    Reports,
    Passes,
    StepTimes,
    Steps,
    Clocks,
    Matches,
}

/// A table of a profile.
struct JobTable {
    asked: Arc<Asked>,
    which: Which,
}

/// All tables of a profile.
pub(super) fn tables(profile: Profile) -> Vec<Arc<dyn Rows>> {
    use Which::{Clocks, Collectives, Gpu, Groups, Host, Matches, Passes, Ranks, Reports, StepTimes, Steps};
    let members = &profile.job.members;
    let starts = members.iter().flat_map(|m| [m.trace.gpu.starts(), m.trace.host.starts()]);
    let first = starts.filter_map(|starts| starts.iter().min()).min().copied().unwrap_or(0);
    let side = |starts: &[i64]| Side { sorted: starts.is_sorted(), ..Side::default() };
    let asked = Arc::new(Asked {
        gpu: members.iter().map(|m| side(m.trace.gpu.starts())).collect(),
        host: members.iter().map(|m| side(m.trace.host.starts())).collect(),
        first,
        parts: profile.joined.as_ref().map(joined_tables::parts).unwrap_or_default(),
        profile,
    });
    let table = |which| Arc::new(JobTable { asked: Arc::clone(&asked), which }) as Arc<dyn Rows>;
    [Gpu, Host, Collectives, Groups, Ranks, Reports, Matches, Steps, Clocks, Passes, StepTimes]
        .into_iter()
        .map(table)
        .collect()
}

impl JobTable {
    fn trace(&self, block: usize) -> &RankTrace {
        &self.asked.profile.job.members[block].trace
    }

    fn passes(&self, block: usize) -> &Passes {
        &self.asked.profile.passes[block]
    }

    /// True if each block is a rank.
    fn by_rank(&self) -> bool {
        use Which::{Clocks, Matches, Passes, StepTimes, Steps};
        !matches!(self.which, Passes | StepTimes | Steps | Clocks | Matches)
    }

    fn sides(&self) -> &[Side] {
        if self.which == Which::Gpu { &self.asked.gpu } else { &self.asked.host }
    }

    /// Index of the calls of one side.
    fn calls(&self, side: Which, block: usize) -> &Index {
        let trace = self.trace(block);
        let (sides, cells) = match side {
            Which::Gpu => (&self.asked.gpu, trace.gpu.collectives()),
            _ => (&self.asked.host, trace.host.collectives()),
        };
        sides[block].collective.get_or_init(|| Index::new(cells, NONE))
    }

    /// Cells of the columns common to activities of both sides.
    fn times(&self, column: &ColumnAbout, start: i64, end: i64) -> Value<'static> {
        let micro = |ns: i64| Value::Real(ns as f64 / 1e3);
        match column.name {
            "start_us" => micro(start.wrapping_sub(self.asked.first)),
            "duration_us" => micro(end.wrapping_sub(start)),
            "start_ns" => Value::Whole(start),
            "end_ns" => Value::Whole(end),
            "duration_ns" => Value::Whole(end.wrapping_sub(start)),
            _ => Value::None,
        }
    }

    fn gpu(&self, block: usize, row: usize, column: usize) -> Value<'_> {
        let trace = self.trace(block);
        let gpu = &trace.gpu;
        match column {
            1 => Value::count(row),
            2 => Value::text(trace.names.get(gpu.names()[row])),
            3 => Value::text(gpu.kinds()[row].name()),
            6 => Value::or_none(some(gpu.streams()[row])),
            7 => Value::or_none(some(gpu.correlations()[row])),
            8 => Value::or_none(some(gpu.collectives()[row])),
            9 => Value::size(gpu.bytes()[row]),
            _ => self.times(&GPU.columns[column], gpu.starts()[row], gpu.ends()[row]),
        }
    }

    fn host(&self, block: usize, row: usize, column: usize) -> Value<'_> {
        let trace = self.trace(block);
        let host = &trace.host;
        match column {
            1 => Value::count(row),
            2 => Value::text(trace.names.get(host.names()[row])),
            3 => Value::text(host.kinds()[row].name()),
            6 => Value::or_none(some(host.threads()[row])),
            7 => Value::or_none(some(host.correlations()[row])),
            8 => Value::or_none(some(host.collectives()[row])),
            9 => {
                let inputs = some(host.shapes()[row]);
                let inputs = inputs.map(|id| trace.names.get(railwright_profiler::NameId(id)));
                Value::text_or_none(inputs.map(railwright_profiler::input_shapes))
            }
            _ => self.times(&HOST.columns[column], host.starts()[row], host.ends()[row]),
        }
    }

    fn collective(&self, block: usize, row: usize, column: usize) -> Value<'_> {
        let trace = self.trace(block);
        let call = &trace.collectives[row];
        let group = call.group.and_then(|at| trace.groups.get(at as usize));
        let bytes = |elements: Option<u64>| {
            let bytes = elements.zip(call.element_bytes);
            Value::size_or_none(bytes.map(|(elements, each)| elements.saturating_mul(u64::from(each))))
        };
        let first = |side: Which| {
            let index = self.calls(side, block);
            Value::or_none(index.find(row as u32).next().and_then(|at| index.row(at)).map(|row| row as u32))
        };
        match COLLECTIVES.columns[column].name {
            "id" => Value::count(row),
            "kind" => call.kind.map_or(Value::None, |kind| Value::Text(Cow::Owned(word(kind)))),
            "label" => Value::text(&call.label),
            "elements_in" => Value::size_or_none(call.elements_in),
            "elements_out" => Value::size_or_none(call.elements_out),
            "element" => Value::text_or_none(call.element.as_deref()),
            "bytes_in" => bytes(call.elements_in),
            "bytes_out" => bytes(call.elements_out),
            "group_id" => Value::or_none(call.group),
            "group_name" => Value::text_or_none(group.map(|group| group.name.as_str())),
            "group_size" => Value::or_none(group.and_then(|group| group.size)),
            "sequence" => Value::size_or_none(call.sequence),
            "peer" => Value::or_none(call.peer),
            "gpu_id" => first(Which::Gpu),
            "host_id" => first(Which::Host),
            _ => Value::None,
        }
    }

    fn group(&self, block: usize, row: usize, column: usize) -> Value<'_> {
        let group = &self.trace(block).groups[row];
        match GROUPS.columns[column].name {
            "id" => Value::count(row),
            "name" => Value::text(&group.name),
            "description" => Value::text_or_none(group.description.as_deref()),
            "size" => Value::or_none(group.size),
            "ranks" => group.ranks.as_ref().map_or(Value::None, |ranks| {
                Value::Text(Cow::Owned(ranks.iter().map(u32::to_string).collect::<Vec<_>>().join(",")))
            }),
            _ => Value::None,
        }
    }

    fn about_rank(&self, block: usize, column: usize) -> Value<'_> {
        let trace = self.trace(block);
        let identity = &trace.identity;
        let device = identity.device.and_then(|id| identity.devices.iter().find(|device| device.id == id));
        let sides = [(trace.gpu.starts(), trace.gpu.ends()), (trace.host.starts(), trace.host.ends())];
        match RANKS.columns[column].name {
            "label" => Value::text(&identity.label),
            "source" => Value::text(match identity.source {
                Source::Kineto => "kineto",
                Source::NsightSystems => "nsight_systems",
                Source::ChromeTrace => "chrome_trace",
                Source::XPlane => "xplane",
                Source::Rocpd => "rocpd",
                Source::Chakra => "chakra",
            }),
            "host" => Value::text_or_none(identity.host.as_deref()),
            "backend" => Value::text_or_none(identity.backend.as_deref()),
            "device" => Value::or_none(identity.device),
            "device_name" => Value::text_or_none(device.map(|device| device.name.as_str())),
            "device_memory_bytes" => Value::size_or_none(device.and_then(|device| device.memory_bytes)),
            "world_size" => Value::or_none(identity.world_size),
            "gpu_rows" => Value::count(trace.gpu.len()),
            "host_rows" => Value::count(trace.host.len()),
            "first_ns" => Value::or_none(sides.iter().flat_map(|side| side.0).min().copied()),
            "last_ns" => Value::or_none(sides.iter().flat_map(|side| side.1).max().copied()),
            "events" => Value::size(trace.report.events),
            "kept" => Value::size(trace.report.kept),
            "damaged" => Value::size(trace.report.damages.iter().map(|damage| damage.count).sum()),
            _ => Value::None,
        }
    }

    fn report(&self, block: usize, row: usize, column: usize) -> Value<'_> {
        let report = &self.trace(block).report;
        let name = REPORTS.columns[column].name;
        if let Some((kind, count)) = report.left_out.get(row) {
            return match name {
                "what" => Value::text("left_out"),
                "kind" => Value::text(kind),
                "count" => Value::size(*count),
                _ => Value::None,
            };
        }
        let damage = &report.damages[row - report.left_out.len()];
        match name {
            "what" => Value::text("damage"),
            "kind" => Value::Text(Cow::Owned(word(damage.kind))),
            "count" => Value::size(damage.count),
            "places" => {
                let places = damage.places.iter().map(|(offset, what)| format!("{offset}: {what}"));
                Value::Text(Cow::Owned(places.collect::<Vec<_>>().join("; ")))
            }
            _ => Value::None,
        }
    }

    fn pass(&self, block: usize, row: usize, column: usize) -> Value<'_> {
        let passes = self.passes(block);
        let pass = &passes.passes[row];
        match PASSES.columns[column].name {
            "source" => Value::text(&passes.label),
            "step" => Value::Whole(pass.step.into()),
            "rank" => Value::Whole(pass.rank.into()),
            "stage" => Value::Whole(pass.stage.into()),
            "replica" => Value::Whole(pass.replica.into()),
            "shard" => Value::Whole(pass.shard.into()),
            "kind" => Value::Text(Cow::Owned(word(pass.kind))),
            "micro_batch" => Value::or_none(pass.micro_batch),
            "chunk" => Value::Whole(pass.chunk.into()),
            "start_us" => Value::Real(pass.start as f64 / 1e3),
            _ => self.times(&PASSES.columns[column], pass.start, pass.end),
        }
    }

    fn step_time(&self, block: usize, row: usize, column: usize) -> Value<'_> {
        let passes = self.passes(block);
        let time = &passes.steps[row];
        match STEP_TIMES.columns[column].name {
            "source" => Value::text(&passes.label),
            "step" => Value::Whole(time.step.into()),
            "rank" => Value::Whole(time.rank.into()),
            "memory_bytes" => Value::size_or_none(time.memory_bytes),
            _ => self.times(&STEP_TIMES.columns[column], 0, time.duration),
        }
    }
}

impl JobTable {
    fn step(&self, row: usize, column: usize) -> Value<'_> {
        let Some(step) = self.asked.profile.windows.as_ref().and_then(|windows| windows.steps.get(row))
        else {
            return Value::None;
        };
        match STEPS.columns[column].name {
            "step" => Value::size(step.number.unwrap_or(row as u64)),
            _ => self.times(&STEPS.columns[column], step.start, step.end),
        }
    }
}

impl Rows for JobTable {
    fn about(&self) -> &'static TableAbout {
        match self.which {
            Which::Gpu => &GPU,
            Which::Host => &HOST,
            Which::Collectives => &COLLECTIVES,
            Which::Groups => &GROUPS,
            Which::Ranks => &RANKS,
            Which::Reports => &REPORTS,
            Which::Passes => &PASSES,
            Which::StepTimes => &STEP_TIMES,
            Which::Steps => &STEPS,
            Which::Clocks => &CLOCKS,
            Which::Matches => &MATCHES,
        }
    }

    fn blocks(&self) -> usize {
        match self.which {
            Which::Passes | Which::StepTimes => self.asked.profile.passes.len(),
            Which::Steps | Which::Clocks | Which::Matches => 1,
            _ => self.asked.profile.job.members.len(),
        }
    }

    fn rank(&self, block: usize) -> Option<u32> {
        if self.by_rank() { self.asked.profile.job.members.get(block).map(|m| m.rank) } else { None }
    }

    fn rows(&self, block: usize) -> usize {
        match self.which {
            Which::Gpu => self.trace(block).gpu.len(),
            Which::Host => self.trace(block).host.len(),
            Which::Collectives => self.trace(block).collectives.len(),
            Which::Groups => self.trace(block).groups.len(),
            Which::Ranks => 1,
            Which::Reports => {
                self.trace(block).report.left_out.len() + self.trace(block).report.damages.len()
            }
            Which::Passes => self.passes(block).passes.len(),
            Which::StepTimes => self.passes(block).steps.len(),
            Which::Steps => self.asked.profile.windows.as_ref().map_or(0, |windows| windows.steps.len()),
            Which::Clocks => {
                self.asked.profile.joined.as_ref().map_or(0, |joined| joined.clocks.clocks.len())
            }
            Which::Matches => self.asked.parts.len(),
        }
    }

    fn cell(&self, block: usize, row: usize, column: usize) -> Value<'_> {
        if column == 0 && self.by_rank() {
            return Value::or_none(self.rank(block));
        }
        match self.which {
            Which::Gpu => self.gpu(block, row, column),
            Which::Host => self.host(block, row, column),
            Which::Collectives => self.collective(block, row, column),
            Which::Groups => self.group(block, row, column),
            Which::Ranks => self.about_rank(block, column),
            Which::Reports => self.report(block, row, column),
            Which::Passes => self.pass(block, row, column),
            Which::StepTimes => self.step_time(block, row, column),
            Which::Steps => self.step(row, column),
            Which::Clocks => joined_tables::clock(&self.asked, row, CLOCKS.columns[column].name),
            Which::Matches => joined_tables::matched(&self.asked, row, MATCHES.columns[column].name),
        }
    }

    fn index(&self, block: usize, column: &str) -> Option<&Index> {
        if !matches!(self.which, Which::Gpu | Which::Host) {
            return None;
        }
        let trace = self.trace(block);
        match column {
            "correlation" => Some(self.sides()[block].correlation.get_or_init(|| {
                let gpu = self.which == Which::Gpu;
                Index::new(if gpu { trace.gpu.correlations() } else { trace.host.correlations() }, NONE)
            })),
            "collective" => Some(self.calls(self.which, block)),
            _ => None,
        }
    }

    fn starts(&self, block: usize) -> Option<&[i64]> {
        let starts = match self.which {
            Which::Gpu => self.trace(block).gpu.starts(),
            Which::Host => self.trace(block).host.starts(),
            _ => return None,
        };
        self.sides().get(block).filter(|side| side.sorted).map(|_| starts)
    }
}
