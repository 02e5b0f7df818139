//! The tables that can be asked, documented.
//!
//! Responsible for: names, types and meanings of tables and columns, once, for the engine and for people. Refuses to hold a row.

use serde::Serialize;

/// A table.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TableAbout {
    /// Its name.
    pub name: &'static str,
    /// What a row is.
    pub about: &'static str,
    /// Its columns.
    pub columns: &'static [ColumnAbout],
}

/// A column.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ColumnAbout {
    /// Its name.
    pub name: &'static str,
    /// Its type: `INTEGER`, `REAL` or `TEXT`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// What it says.
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
const START_US: ColumnAbout = real("start_us", "from when, in microseconds since the job's first activity");
const DURATION_US: ColumnAbout = real("duration_us", "how long, in microseconds");
const START_NS: ColumnAbout = whole("start_ns", "from when, in nanoseconds, as recorded");
const END_NS: ColumnAbout = whole("end_ns", "until when, in nanoseconds, as recorded");
const DURATION_NS: ColumnAbout = whole("duration_ns", "how long, in nanoseconds");
const CORRELATION: ColumnAbout =
    whole("correlation", "what ties a call on the host to what it started on the device");
const COLLECTIVE: ColumnAbout = whole("collective", "the row of `collectives` of the same rank, by `id`");

pub(super) const GPU: TableAbout = TableAbout {
    name: "gpu",
    about: "an activity of a device: a kernel, a copy, ...",
    columns: &[
        RANK,
        whole("id", "its place in the rank, by start"),
        text("name", "its name"),
        text("kind", "kernel, copy, set, annotation or sync"),
        START_US,
        DURATION_US,
        whole("stream", "the stream it ran on"),
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
        whole("id", "its place in the rank, by start"),
        text("name", "its name"),
        text("kind", "operator, runtime, annotation, collective, overhead or python"),
        START_US,
        DURATION_US,
        whole("thread", "the thread, numbered in the order of appearance"),
        CORRELATION,
        COLLECTIVE,
        text("shapes", "shapes of its inputs, where they were kept"),
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
        whole("id", "its place in the rank"),
        text(
            "kind",
            "all_reduce, all_gather, reduce_scatter, all_to_all, broadcast, reduce, send, receive or barrier",
        ),
        text("label", "its name as the recorder writes it"),
        whole("elements_in", "elements that one rank puts in"),
        whole("elements_out", "elements that one rank gets out"),
        text("element", "the type of an element"),
        whole("bytes_in", "bytes that one rank puts in"),
        whole("bytes_out", "bytes that one rank gets out"),
        whole("group_id", "the row of `groups` of the same rank, by `id`"),
        text(
            "group_name",
            "the group's name on this rank (a local counter: compare `ranks` of `groups` between ranks)",
        ),
        whole("group_size", "how many ranks take part"),
        whole("sequence", "its number within its group"),
        whole("peer", "the other rank of a message"),
        whole("gpu_id", "the first row of `gpu` of the same rank that belongs to it, by `id`"),
        whole("host_id", "the first row of `host` of the same rank that belongs to it, by `id`"),
    ],
};

pub(super) const GROUPS: TableAbout = TableAbout {
    name: "groups",
    about: "a process group as one rank knows it",
    columns: &[
        RANK,
        whole("id", "its place in the rank"),
        text("name", "its name on this rank"),
        text("description", "what it is for, if the trace says"),
        whole("size", "how many ranks it has"),
        text("ranks", "its ranks, with commas, if they are listed in full"),
    ],
};

pub(super) const RANKS: TableAbout = TableAbout {
    name: "ranks",
    about: "a rank that was recorded",
    columns: &[
        RANK,
        text("label", "where its trace comes from"),
        text("source", "what recorded it: kineto, nsight_systems, chrome_trace"),
        text("host", "its host"),
        text("backend", "its communication backend"),
        whole("device", "the number of its device on its host"),
        text("device_name", "the device's name"),
        whole("device_memory_bytes", "the device's memory"),
        whole("world_size", "how many ranks the job has, as this trace says"),
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
    about: "what reading a rank's file left out or found damaged",
    columns: &[
        RANK,
        text("what", "left_out (on purpose) or damage"),
        text("kind", "the kind of event or of damage"),
        whole("count", "how many"),
        text("places", "the first places of a damage: bytes into the file, and what was there"),
    ],
};

pub(super) const PASSES: TableAbout = TableAbout {
    name: "passes",
    about: "a pass of a pipeline from an operator table: a forward, a backward, a send, ...",
    columns: &[
        text("source", "the table it comes from"),
        whole("step", "the training step, as the recorder counts"),
        RANK,
        whole("stage", "the pipeline stage"),
        whole("replica", "the data parallel replica"),
        whole("shard", "which of the ranks that share stage and replica"),
        text("kind", "forward, backward, send_forward, receive_forward, gradient_reduce, ..."),
        whole("micro_batch", "the micro batch, counted from 0"),
        whole("chunk", "the virtual stage of the rank, counted from 0"),
        real("start_us", "from when, in microseconds, on the table's clock"),
        DURATION_US,
        START_NS,
        END_NS,
        DURATION_NS,
    ],
};

pub(super) const STEP_TIMES: TableAbout = TableAbout {
    name: "step_times",
    about: "what an operator table says that a step took on a rank",
    columns: &[
        text("source", "the table it comes from"),
        whole("step", "the training step, as the recorder counts"),
        RANK,
        DURATION_US,
        whole("memory_bytes", "the memory that the rank held"),
        DURATION_NS,
    ],
};

pub(super) const STEPS: TableAbout = TableAbout {
    name: "steps",
    about: "a step of the job, the same for all ranks, on the device's clock",
    columns: &[
        whole("step", "its number, as the recorder counts or by its place"),
        START_US,
        DURATION_US,
        START_NS,
        END_NS,
        DURATION_NS,
    ],
};

pub(super) const CLOCKS: TableAbout = TableAbout {
    name: "clocks",
    about: "the clock of a rank against that of the first rank which it shares collectives with",
    columns: &[
        RANK,
        whole("offset_ns", "what it showed more than the other"),
        real("drift_ppm", "how that grows, in parts per million; 0 when the recording is too short to tell"),
        whole("residual_ns", "the median distance of its collectives' ends from the common ends"),
        whole("collectives", "how many collectives say so"),
        whole("against", "the rank that it is compared with"),
        whole("applied", "1 when the times in the other tables were moved by it"),
    ],
};

pub(super) const MATCHES: TableAbout = TableAbout {
    name: "matches",
    about: "one rank's part in a collective that was matched between ranks",
    columns: &[
        whole("id", "the collective; the parts of all its ranks have the same"),
        whole("communicator", "the communicator, numbered for the whole job"),
        whole("number", "its number within the communicator, from 0"),
        RANK,
        text("operation", "all_reduce, all_gather, reduce_scatter, send_receive, ..."),
        whole("bytes", "its size by nccl-tests' convention"),
        whole("ranks", "how many ranks were matched"),
        whole("gpu_id", "the row of `gpu` of the same rank, by `id`, if it ran on a device"),
        whole("host_id", "the row of `host` of the same rank, by `id`, if it ran on the host"),
        START_US,
        DURATION_US,
        real("wait_us", "until the last rank came, in microseconds"),
        real("transfer_us", "the rest, in microseconds"),
        whole("last_rank", "the rank that came last"),
    ],
};

/// All tables.
pub fn schema() -> &'static [TableAbout] {
    &[GPU, HOST, COLLECTIVES, GROUPS, RANKS, REPORTS, MATCHES, STEPS, CLOCKS, PASSES, STEP_TIMES]
}
