//! One rank of a saved profile.
//!
//! Responsible for: a rank's columns in five parts, and a sixth if host rows name streams, written and read
//! back exactly. The reader checks all indices, because analyses rely on them.

use super::sealed::json;
use super::{Part, Store};
use crate::parquet::{Field, Table, Values, text_of, write};
use railwright_profiler::job::Member;
use railwright_profiler::trace::{
    CollectiveCall, GpuActivities, GpuKind, HostActivities, HostKind, Identity, NONE, NamedStream, RankGroup,
    ReadReport, Times,
};
use railwright_profiler::{NameId, Names, RankTrace};
use railwright_spec::problem::Problem;
use railwright_step::CollectiveKind;
use serde::{Deserialize, Serialize};

/// Kinds in the order of their numbers in the file; new ones are added at the end.
const GPU_KINDS: [GpuKind; 5] =
    [GpuKind::Kernel, GpuKind::Copy, GpuKind::Set, GpuKind::Annotation, GpuKind::Sync];
const HOST_KINDS: [HostKind; 6] = [
    HostKind::Operator,
    HostKind::Runtime,
    HostKind::Annotation,
    HostKind::Collective,
    HostKind::Overhead,
    HostKind::Python,
];
const COLLECTIVE_KINDS: [CollectiveKind; 16] = [
    CollectiveKind::AllReduce,
    CollectiveKind::AllGather,
    CollectiveKind::ReduceScatter,
    CollectiveKind::AllToAll,
    CollectiveKind::Broadcast,
    CollectiveKind::Reduce,
    CollectiveKind::Send,
    CollectiveKind::Receive,
    CollectiveKind::Barrier,
    CollectiveKind::Dispatch,
    CollectiveKind::Combine,
    CollectiveKind::Notify,
    CollectiveKind::Gather,
    CollectiveKind::Scatter,
    CollectiveKind::SendReceive,
    CollectiveKind::Copy,
];

/// Data outside columns.
#[derive(Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
struct About {
    identity: Identity,
    groups: Vec<RankGroup>,
    report: ReadReport,
}

/// Part of ranks whose host rows name streams.
const NAMED_STREAMS: &str = "host_streams.parquet";

fn name(rank: u32, part: &str) -> String {
    format!("rank-{rank:05}/{part}")
}

fn code<K: PartialEq>(known: &[K], kind: &K) -> u32 {
    known.iter().position(|k| k == kind).map_or(NONE, |at| at as u32)
}

/// The parts of one rank.
pub fn rank_parts(member: &Member) -> Result<Vec<Part>, Problem> {
    let RankTrace { identity, names, gpu, host, collectives, groups, report } = &member.trace;
    let about = About { identity: identity.clone(), groups: groups.clone(), report: report.clone() };
    let ids = |names: &[NameId]| Values::Repeating(names.iter().map(|id| id.0).collect());
    let durations = |starts: &[i64], ends: &[i64]| {
        Values::Signed(starts.iter().zip(ends).map(|(start, end)| end.wrapping_sub(*start)).collect())
    };
    let gpu = [
        Field { name: "start_ns", values: Values::Signed(gpu.starts().to_vec()) },
        Field { name: "duration_ns", values: durations(gpu.starts(), gpu.ends()) },
        Field { name: "name", values: ids(gpu.names()) },
        Field {
            name: "kind",
            values: Values::Repeating(gpu.kinds().iter().map(|k| code(&GPU_KINDS, k)).collect()),
        },
        Field { name: "stream", values: Values::RepeatingOrNone(gpu.streams()) },
        Field { name: "correlation", values: Values::VaryingOrNone(gpu.correlations()) },
        Field { name: "collective", values: Values::VaryingOrNone(gpu.collectives()) },
        Field { name: "bytes", values: Values::Sizes(gpu.bytes()) },
    ];
    let named = host.named_streams();
    let host = [
        Field { name: "start_ns", values: Values::Signed(host.starts().to_vec()) },
        Field { name: "duration_ns", values: durations(host.starts(), host.ends()) },
        Field { name: "name", values: ids(host.names()) },
        Field {
            name: "kind",
            values: Values::Repeating(host.kinds().iter().map(|k| code(&HOST_KINDS, k)).collect()),
        },
        Field { name: "thread", values: Values::RepeatingOrNone(host.threads()) },
        Field { name: "correlation", values: Values::VaryingOrNone(host.correlations()) },
        Field { name: "collective", values: Values::VaryingOrNone(host.collectives()) },
        Field { name: "shapes", values: Values::RepeatingOrNone(host.shapes()) },
    ];
    let kinds: Vec<u32> =
        collectives.iter().map(|c| c.kind.as_ref().map_or(NONE, |k| code(&COLLECTIVE_KINDS, k))).collect();
    let numbers = |of: fn(&CollectiveCall) -> Option<u32>| -> Vec<Option<u64>> {
        collectives.iter().map(|c| of(c).map(u64::from)).collect()
    };
    let sizes =
        |of: fn(&CollectiveCall) -> Option<u64>| Values::SizesOrNone(collectives.iter().map(of).collect());
    let calls = [
        Field { name: "kind", values: Values::RepeatingOrNone(&kinds) },
        Field {
            name: "label",
            values: Values::Texts(collectives.iter().map(|c| c.label.as_str()).collect()),
        },
        Field { name: "elements_in", values: sizes(|c| c.elements_in) },
        Field { name: "elements_out", values: sizes(|c| c.elements_out) },
        Field {
            name: "element",
            values: Values::TextsOrNone(collectives.iter().map(|c| c.element.as_deref()).collect()),
        },
        Field { name: "element_bytes", values: Values::SizesOrNone(numbers(|c| c.element_bytes)) },
        Field { name: "group", values: Values::SizesOrNone(numbers(|c| c.group)) },
        Field { name: "sequence", values: sizes(|c| c.sequence) },
        Field { name: "peer", values: Values::SizesOrNone(numbers(|c| c.peer)) },
    ];
    let texts = [Field { name: "name", values: Values::Texts(names.iter().collect()) }];
    let part = |file: &str, fields: &[Field<'_>]| {
        let bytes = write(fields).map_err(|error| Problem::new(text_of(&error)).in_file(file))?;
        Ok(Part { name: name(member.rank, file), bytes })
    };
    let mut parts = vec![
        Part { name: name(member.rank, "about.json"), bytes: json(&about)? },
        part("names.parquet", &texts)?,
        part("gpu.parquet", &gpu)?,
        part("host.parquet", &host)?,
        part("collectives.parquet", &calls)?,
    ];
    // Older programs ignore this part, and files without it are complete, so the version is unchanged.
    if !named.is_empty() {
        let rows: Vec<u32> = named.iter().map(|one| one.row).collect();
        let streams = named.iter().map(|one| one.stream).collect();
        let correlations: Vec<u32> = named.iter().map(|one| one.correlation.unwrap_or(NONE)).collect();
        let named = [
            Field { name: "row", values: Values::VaryingOrNone(&rows) },
            Field { name: "stream", values: Values::Repeating(streams) },
            Field { name: "correlation", values: Values::VaryingOrNone(&correlations) },
        ];
        parts.push(part(NAMED_STREAMS, &named)?);
    }
    Ok(parts)
}

/// Reads a rank.
pub(super) fn read(rank: u32, store: &Store) -> Result<Member, Problem> {
    let table = |part: &str| {
        let part = name(rank, part);
        Table::open(store.within(&part), &store.part(&part)?)
    };
    let part = name(rank, "about.json");
    let about: About = serde_json::from_slice(&store.part(&part)?)
        .map_err(|error| Problem::new(format!("damaged: {error}")).in_file(store.within(&part)))?;
    let mut names = Names::default();
    let words = table("names.parquet")?;
    for (at, text) in words.texts("name")?.iter().enumerate() {
        let id = names.intern(&String::from_utf8_lossy(text.data()));
        if id.0 as usize != at {
            return Err(
                Problem::new(format!("name {at} occurs twice")).in_file(store.within("names.parquet"))
            );
        }
    }
    let collectives = calls(&table("collectives.parquet")?, about.groups.len())?;
    let host = host(&table("host.parquet")?, &names, collectives.len())?;
    let named = store.has(&name(rank, NAMED_STREAMS)).then(|| table(NAMED_STREAMS)).transpose()?;
    let trace = RankTrace {
        gpu: gpu(&table("gpu.parquet")?, &names, collectives.len())?,
        host: with_named_streams(host, named.as_ref())?,
        identity: about.identity,
        groups: about.groups,
        report: about.report,
        names,
        collectives,
    };
    Ok(Member { rank, trace })
}

/// Fails if an index is out of range.
fn within(column: &str, cells: &[u32], length: usize) -> Result<(), Problem> {
    let wrong = cells.iter().find(|&&cell| cell != NONE && cell as usize >= length);
    wrong.map_or(Ok(()), |cell| Err(Problem::new(format!("column `{column}` refers to {cell} of {length}"))))
}

fn kinds<K: Copy>(table: &Table, known: &[K]) -> Result<Vec<K>, Problem> {
    let first = known[0];
    let mut bad = None;
    let kinds = table.numbers("kind", |n| n)?;
    let kinds = kinds.into_iter().map(|n| {
        known.get(n as usize).copied().unwrap_or_else(|| {
            bad = Some(n);
            first
        })
    });
    let kinds = kinds.collect();
    bad.map_or(Ok(kinds), |n| Err(Problem::new(format!("unknown kind number {n}"))))
}

/// End times of rows in order of start; fails for impossible times.
fn ends(part: &str, starts: &[i64], table: &Table) -> Result<Vec<i64>, Problem> {
    let mut durations = table.signed("duration_ns")?;
    for (duration, start) in durations.iter_mut().zip(starts) {
        // An overflowing end saturates beyond the limit, and is rejected below.
        *duration = start.saturating_add(*duration);
    }
    match Times::first_impossible(starts, &durations) {
        Some((row, why)) => Err(Problem::new(format!("row {row} of `{part}` {}", why.words()))
            .hint("the saved profile is damaged: read the traces again")),
        None => Ok(durations),
    }
}

/// Sizes whose sum does not overflow.
fn bytes(table: &Table) -> Result<Vec<u64>, Problem> {
    let bytes = table.sizes("bytes")?;
    let sum = bytes.iter().try_fold(0_u64, |sum, &size| sum.checked_add(size));
    match sum.filter(|&sum| i64::try_from(sum).is_ok()) {
        Some(_) => Ok(bytes),
        None => Err(Problem::new("column `bytes` contains more than 9 exabytes")
            .hint("the saved profile is damaged: read the traces again")),
    }
}

fn ids(table: &Table, names: &Names) -> Result<Vec<NameId>, Problem> {
    let ids = table.numbers("name", NameId)?;
    match ids.iter().find(|id| id.0 as usize >= names.len()) {
        Some(id) => Err(Problem::new(format!("column `name` refers to {} of {}", id.0, names.len()))),
        None => Ok(ids),
    }
}

fn uneven() -> Problem {
    Problem::new("the columns differ in length")
}

fn gpu(table: &Table, names: &Names, calls: usize) -> Result<GpuActivities, Problem> {
    let start = table.signed("start_ns")?;
    let end = ends("gpu.parquet", &start, table)?;
    let collective = table.numbers("collective", |n| n)?;
    within("collective", &collective, calls)?;
    GpuActivities::from_columns(
        start,
        end,
        ids(table, names)?,
        kinds(table, &GPU_KINDS)?,
        table.numbers("stream", |n| n)?,
        table.numbers("correlation", |n| n)?,
        collective,
        bytes(table)?,
    )
    .ok_or_else(uneven)
}

fn host(table: &Table, names: &Names, calls: usize) -> Result<HostActivities, Problem> {
    let start = table.signed("start_ns")?;
    let end = ends("host.parquet", &start, table)?;
    let collective = table.numbers("collective", |n| n)?;
    within("collective", &collective, calls)?;
    let shapes = table.numbers("shapes", |n| n)?;
    within("shapes", &shapes, names.len())?;
    HostActivities::from_columns(
        start,
        end,
        ids(table, names)?,
        kinds(table, &HOST_KINDS)?,
        table.numbers("thread", |n| n)?,
        table.numbers("correlation", |n| n)?,
        collective,
        shapes,
    )
    .ok_or_else(uneven)
}

fn with_named_streams(host: HostActivities, table: Option<&Table>) -> Result<HostActivities, Problem> {
    let Some(table) = table else { return Ok(host) };
    let rows = table.numbers("row", |n| n)?;
    let (streams, correlations) = (table.numbers("stream", |n| n)?, table.numbers("correlation", |n| n)?);
    if streams.len() != rows.len() || correlations.len() != rows.len() {
        return Err(uneven());
    }
    let named = rows.into_iter().zip(streams).zip(correlations).map(|((row, stream), correlation)| {
        NamedStream { row, stream, correlation: (correlation != NONE).then_some(correlation) }
    });
    host.with_named_streams(named.collect())
        .ok_or_else(|| Problem::new("column `row` refers past the host rows, or is out of order"))
}

fn calls(table: &Table, groups: usize) -> Result<Vec<CollectiveCall>, Problem> {
    let kinds = table.numbers("kind", |n| COLLECTIVE_KINDS.get(n as usize).copied())?;
    let (labels, elements) = (table.texts("label")?, table.texts_or_none("element")?);
    let (sent, got) = (table.sizes_or_none("elements_in")?, table.sizes_or_none("elements_out")?);
    let small = |name: &str| -> Result<Vec<Option<u32>>, Problem> {
        Ok(table.sizes_or_none(name)?.into_iter().map(|n| n.and_then(|n| u32::try_from(n).ok())).collect())
    };
    let (element_bytes, group, peer) = (small("element_bytes")?, small("group")?, small("peer")?);
    let sequence = table.sizes_or_none("sequence")?;
    if let Some(bad) = group.iter().flatten().find(|&&group| group as usize >= groups) {
        return Err(Problem::new(format!("column `group` refers to {bad} of {groups}")));
    }
    let text = |bytes: &parquet::data_type::ByteArray| String::from_utf8_lossy(bytes.data()).into_owned();
    Ok((0..table.rows())
        .map(|at| CollectiveCall {
            kind: kinds[at],
            label: text(&labels[at]),
            elements_in: sent[at],
            elements_out: got[at],
            element: elements[at].as_ref().map(text),
            element_bytes: element_bytes[at],
            group: group[at],
            sequence: sequence[at],
            peer: peer[at],
        })
        .collect())
}
