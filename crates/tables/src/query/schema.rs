//! Tables for queries, with their documentation.
//!
//! Responsible for: names, types and descriptions of tables and columns, for the engine and for users.
//! Contains no rows.

use serde::Serialize;

/// A table.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TableAbout {
    /// Name.
    pub name: &'static str,
    /// Meaning of a row.
    pub about: &'static str,
    /// Columns.
    pub columns: &'static [ColumnAbout],
}

/// A column.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ColumnAbout {
    /// Name.
    pub name: &'static str,
    /// Type: `INTEGER`, `REAL` or `TEXT`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// Meaning, with the unit.
    pub about: &'static str,
}

const fn whole(name: &'static str, about: &'static str) -> ColumnAbout {
    ColumnAbout { name, kind: "INTEGER", about }
}

const fn real(name: &'static str, about: &'static str) -> ColumnAbout {
    ColumnAbout { name, kind: "REAL", about }
}

const fn text(name: &'static str, about: &'static str) -> ColumnAbout {
    ColumnAbout { name, kind: "TEXT", about }
}

const RANK: ColumnAbout = whole("rank", "the rank");
const START_US: ColumnAbout = real("start_us", "start, in microseconds since the job's first activity");
const DURATION_US: ColumnAbout = real("duration_us", "duration, in microseconds");
const START_NS: ColumnAbout = whole("start_ns", "start, in nanoseconds, as recorded");
const END_NS: ColumnAbout = whole("end_ns", "end, in nanoseconds, as recorded");
const DURATION_NS: ColumnAbout = whole("duration_ns", "duration, in nanoseconds");
const CORRELATION: ColumnAbout =
    whole("correlation", "correlation ID of a host call and its device activity");
const COLLECTIVE: ColumnAbout = whole("collective", "the row of `collectives` of the same rank, by `id`");

pub(super) const GPU: TableAbout = TableAbout {
    name: "gpu",
    about: "an activity of a device: a kernel, a copy, ...",
    columns: &[
        RANK,
        whole("id", "index within the rank, by start"),
        text("name", "its name"),
        text("kind", "kernel, copy, set, annotation or sync"),
        START_US,
        DURATION_US,
        whole("stream", "stream"),
        CORRELATION,
        COLLECTIVE,
        whole("bytes", "bytes of a copy or a set"),
        START_NS,
        END_NS,
        DURATION_NS,
    ],
};

pub(super) const HOST: TableAbout = TableAbout {
    name: "host",
    about: "an activity of a host thread: an operator, a call of the runtime, an annotation, ...",
    columns: &[
        RANK,
        whole("id", "index within the rank, by start"),
        text("name", "its name"),
        text("kind", "operator, runtime, annotation, collective, overhead or python"),
        START_US,
        DURATION_US,
        whole("thread", "thread, numbered in order of appearance"),
        CORRELATION,
        COLLECTIVE,
        text("shapes", "shapes of its inputs, if recorded"),
        START_NS,
        END_NS,
        DURATION_NS,
    ],
};

pub(super) const COLLECTIVES: TableAbout = TableAbout {
    name: "collectives",
    about: "a collective or a message as the recorder describes it",
    columns: &[
        RANK,
        whole("id", "index within the rank"),
        text(
            "kind",
            "all_reduce, all_gather, reduce_scatter, all_to_all, broadcast, reduce, send, receive or barrier",
        ),
        text("label", "name, as recorded"),
        whole("elements_in", "input elements per rank"),
        whole("elements_out", "output elements per rank"),
        text("element", "element type"),
        whole("bytes_in", "input bytes per rank"),
        whole("bytes_out", "output bytes per rank"),
        whole("group_id", "the row of `groups` of the same rank, by `id`"),
        text(
            "group_name",
            "the group's name on this rank (a local counter: compare `ranks` of `groups` between ranks)",
        ),
        whole("group_size", "number of participating ranks"),
        whole("sequence", "sequence number within its group"),
        whole("peer", "the other rank of a message"),
        whole("gpu_id", "its first row in `gpu` of the same rank, by `id`"),
        whole("host_id", "its first row in `host` of the same rank, by `id`"),
    ],
};

pub(super) const GROUPS: TableAbout = TableAbout {
    name: "groups",
    about: "a process group, as recorded by one rank",
    columns: &[
        RANK,
        whole("id", "index within the rank"),
        text("name", "name on this rank"),
        text("description", "purpose, if recorded"),
        whole("size", "number of ranks"),
        text("ranks", "its ranks, comma-separated, if the list is complete"),
    ],
};

pub(super) const RANKS: TableAbout = TableAbout {
    name: "ranks",
    about: "a rank that was recorded",
    columns: &[
        RANK,
        text("label", "path of its trace"),
        text("source", "recorder: kineto, nsight_systems, chrome_trace"),
        text("host", "its host"),
        text("backend", "its communication backend"),
        whole("device", "index of its device on its host"),
        text("device_name", "the device's name"),
        whole("device_memory_bytes", "the device's memory"),
        whole("world_size", "number of ranks of the job, as recorded in this trace"),
        whole("gpu_rows", "its rows in `gpu`"),
        whole("host_rows", "its rows in `host`"),
        whole("first_ns", "the start of its first activity, in nanoseconds, as recorded"),
        whole("last_ns", "the end of its last activity, in nanoseconds, as recorded"),
        whole("events", "events in its file"),
        whole("kept", "events that were kept"),
        whole("damaged", "events that were repaired or dropped (see `reports`)"),
    ],
};

pub(super) const REPORTS: TableAbout = TableAbout {
    name: "reports",
    about: "events of a rank's file that were skipped or damaged",
    columns: &[
        RANK,
        text("what", "left_out (on purpose) or damage"),
        text("kind", "kind of event or damage"),
        whole("count", "number of them"),
        text("places", "first damaged places: byte offset and content"),
    ],
};

pub(super) const PASSES: TableAbout = TableAbout {
    name: "passes",
    about: "a pass of a pipeline from an operator table: a forward, a backward, a send, ...",
    columns: &[
        text("source", "its operator table"),
        whole("step", "training step, as numbered by the recorder"),
        RANK,
        whole("stage", "the pipeline stage"),
        whole("replica", "the data-parallel replica"),
        whole("shard", "index among the ranks of the same stage and replica"),
        text("kind", "forward, backward, send_forward, receive_forward, gradient_reduce, ..."),
        whole("micro_batch", "the micro-batch, counted from 0"),
        whole("chunk", "the virtual stage of the rank, counted from 0"),
        real("start_us", "start, in microseconds, on the table's clock"),
        DURATION_US,
        START_NS,
        END_NS,
        DURATION_NS,
    ],
};

pub(super) const STEP_TIMES: TableAbout = TableAbout {
    name: "step_times",
    about: "duration of a step on a rank, from an operator table",
    columns: &[
        text("source", "its operator table"),
        whole("step", "training step, as numbered by the recorder"),
        RANK,
        DURATION_US,
        whole("memory_bytes", "memory of the rank"),
        DURATION_NS,
    ],
};

pub(super) const STEPS: TableAbout = TableAbout {
    name: "steps",
    about: "a step of the job, the same for all ranks, on the device's clock",
    columns: &[
        whole("step", "step number, as recorded or by position"),
        START_US,
        DURATION_US,
        START_NS,
        END_NS,
        DURATION_NS,
    ],
};

pub(super) const CLOCKS: TableAbout = TableAbout {
    name: "clocks",
    about: "clock of a rank relative to the first rank with common collectives",
    columns: &[
        RANK,
        whole("offset_ns", "offset from the other clock"),
        real("drift_ppm", "drift, in parts per million; 0 if the recording is too short"),
        whole("residual_ns", "median distance of its collective ends from the common ends"),
        whole("collectives", "number of collectives used"),
        whole("against", "reference rank"),
        whole("applied", "1 if the times in the other tables include this offset"),
    ],
};

pub(super) const MATCHES: TableAbout = TableAbout {
    name: "matches",
    about: "one rank's part of a collective matched between ranks",
    columns: &[
        whole("id", "collective ID, equal for all its ranks"),
        whole("communicator", "the communicator, numbered for the whole job"),
        whole("number", "sequence number within the communicator, from 0"),
        RANK,
        text("operation", "all_reduce, all_gather, reduce_scatter, send_receive, ..."),
        whole("bytes", "size, as in nccl-tests"),
        whole("ranks", "number of matched ranks"),
        whole("gpu_id", "the row of `gpu` of the same rank, by `id`, if it ran on a device"),
        whole("host_id", "the row of `host` of the same rank, by `id`, if it ran on the host"),
        START_US,
        DURATION_US,
        real("wait_us", "time until the last rank entered, in microseconds"),
        real("transfer_us", "time after that, in microseconds"),
        whole("last_rank", "the rank that entered last"),
    ],
};

/// All tables.
pub fn schema() -> &'static [TableAbout] {
    &[GPU, HOST, COLLECTIVES, GROUPS, RANKS, REPORTS, MATCHES, STEPS, CLOCKS, PASSES, STEP_TIMES]
}
