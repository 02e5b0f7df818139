//! The content of a dump.
//!
//! Responsible for: every version from 2.4 on, with any fields; JSON has 0 for `None` of a pickle, and group
//! numbers as strings. Rejects only files that are not dumps; unreadable entries are counted.

use super::{Content, Entries};
use crate::trace::{DamageKind, ReadReport};
use railwright_spec::problem::Problem;
use serde::Serialize;
use serde_json::Value;

/// A line of a stack.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Frame {
    /// The function.
    pub name: String,
    /// The file.
    pub file: String,
    /// The line.
    pub line: u64,
}

/// A process group as a dump lists it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Group {
    /// Its name, a counter.
    pub name: String,
    /// Purpose.
    pub description: String,
    /// Its ranks, if they are listed.
    pub ranks: Vec<u32>,
}

/// Progress of a group on the rank that wrote the dump.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Status {
    /// Number of the group on this rank.
    pub group: u64,
    /// The last collective that was enqueued.
    pub last_enqueued: Option<u64>,
    /// The last collective that is known to have started.
    pub last_started: Option<u64>,
    /// The last collective that is known to have ended.
    pub last_completed: Option<u64>,
}

/// One collective or message in the ring buffer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Entry {
    /// Number in the order of recording.
    pub record: u64,
    /// The number of its group on this rank.
    pub group: u64,
    /// The group's name.
    pub group_name: String,
    /// Purpose of the group.
    pub group_description: String,
    /// Number among the collectives of the group; for a message, among the messages.
    pub sequence: u64,
    /// Operation (`nccl:all_reduce`, `nccl:send 1->2`).
    pub operation: String,
    /// True for a message between two ranks.
    pub is_message: bool,
    /// Shapes and types of its inputs.
    pub inputs: String,
    /// Shapes and types of its outputs.
    pub outputs: String,
    /// Enqueue time in nanoseconds since the epoch, by the clock of its host.
    #[serde(rename = "created_ns")]
    pub created: i64,
    /// Observed start time in nanoseconds since the epoch; `None` if not observed.
    #[serde(rename = "started_ns")]
    pub started: Option<i64>,
    /// Observed end time in nanoseconds since the epoch; `None` if not observed.
    #[serde(rename = "completed_ns")]
    pub completed: Option<i64>,
    /// The recorder's word for its state.
    pub state: String,
    /// True if the recorder has retired the entry.
    pub retired: bool,
    /// Timeout in milliseconds.
    pub timeout_ms: Option<u64>,
    /// Stack of the call, innermost first.
    pub frames: Vec<Frame>,
}

/// Dump of one rank.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FlightRecord {
    /// File name as given by the user.
    pub label: String,
    /// The rank, from the name of the file.
    pub rank: Option<u32>,
    /// The version of the format.
    pub version: String,
    /// The host, if recorded.
    pub host: Option<String>,
    /// The groups that the dump lists.
    pub groups: Vec<Group>,
    /// Progress of the groups.
    pub statuses: Vec<Status>,
    /// The ring buffer, oldest first.
    pub entries: Vec<Entry>,
    /// Number of entries in the file, number of entries read, and places of the lost ones.
    pub report: ReadReport,
}

impl FlightRecord {
    /// Tests whether the dump was read completely. Otherwise the rank may have entered or left more
    /// collectives than are known.
    pub fn is_whole(&self) -> bool {
        self.unreadable() == 0 && self.cut_at().is_none()
    }

    /// Entries and other parts that could not be read.
    pub fn unreadable(&self) -> u64 {
        self.report.count(DamageKind::UnreadableEvent)
    }

    /// Position in bytes from which the rest of the file is lost; `None` if the file is complete.
    pub fn cut_at(&self) -> Option<u64> {
        let cut = self.report.damages.iter().find(|damage| damage.kind == DamageKind::Truncated)?;
        cut.places.first().map(|(offset, _)| *offset)
    }
}

/// The last integer in a file's name.
fn rank_of(label: &str) -> Option<u32> {
    let name = label.rsplit(['/', '\\']).next().unwrap_or(label);
    let digits: Vec<&str> =
        name.split(|c: char| !c.is_ascii_digit()).filter(|part| !part.is_empty()).collect();
    digits.last()?.parse().ok()
}

fn number(value: &Value) -> Option<i64> {
    match value {
        Value::Number(n) => n.as_i64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

fn count(value: &Value) -> Option<u64> {
    number(value).and_then(|n| u64::try_from(n).ok())
}

/// A time in nanoseconds; `None` for both `None` and 0.
fn time(value: &Value) -> Option<i64> {
    number(value).filter(|&n| n > 0)
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(String::new, str::to_owned)
}

/// `[0, 1, 2]`, or a list.
fn ranks(value: &Value) -> Vec<u32> {
    match value {
        Value::Array(list) => list.iter().filter_map(|v| count(v)?.try_into().ok()).collect(),
        Value::String(text) if !text.contains("...") => {
            text.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse().ok()).collect()
        }
        _ => Vec::new(),
    }
}

/// Shapes and types as one comparable text.
fn signature(sizes: &Value, types: &Value) -> String {
    let shown = |value: &Value| if value.is_null() { String::new() } else { value.to_string() };
    format!("{} {}", shown(sizes), shown(types)).replace('"', "").trim().to_owned()
}

/// Converts a value to an entry; `None` if that is impossible.
pub(super) fn entry(value: &Value) -> Option<Entry> {
    value.as_object()?;
    let group = &value["process_group"];
    let is_message = value["is_p2p"].as_bool().unwrap_or(false);
    let operation = text(&value["profiling_name"]);
    let sequence = if is_message { count(&value["p2p_seq_id"]) } else { count(&value["collective_seq_id"]) };
    let frames = value["frames"].as_array().map_or_else(Vec::new, |frames| {
        let frame = |f: &Value| Frame {
            name: text(&f["name"]),
            file: text(&f["filename"]),
            line: count(&f["line"]).unwrap_or_default(),
        };
        frames.iter().map(frame).collect()
    });
    Some(Entry {
        record: count(&value["record_id"])?,
        group: count(&value["pg_id"]).unwrap_or_default(),
        group_name: text(&group[0]),
        group_description: text(&group[1]),
        sequence: sequence.or_else(|| count(&value["seq_id"]))?,
        operation,
        is_message,
        inputs: signature(&value["input_sizes"], &value["input_dtypes"]),
        outputs: signature(&value["output_sizes"], &value["output_dtypes"]),
        created: time(&value["time_created_ns"]).unwrap_or_default(),
        started: time(&value["time_discovered_started_ns"]),
        completed: time(&value["time_discovered_completed_ns"]),
        state: text(&value["state"]),
        retired: value["retired"].as_bool().unwrap_or(false),
        timeout_ms: count(&value["timeout_ms"]).filter(|&ms| ms > 0),
        frames,
    })
}

/// Tests whether a value can be read as an entry.
pub(super) fn is_entry(value: &Value) -> bool {
    entry(value).is_some()
}

/// A dump of `bytes` bytes with this content.
pub(super) fn record(label: &str, content: Content, bytes: usize) -> Result<FlightRecord, Problem> {
    let Content { value, entries, mut report } = content;
    let value = &value;
    let damage = report.damages.first().and_then(|damage| damage.places.first());
    let entries = match entries {
        Some(entries) => entries,
        // Content before the entries is useful even if the entries are lost.
        None if damage.is_some() && ["pg_config", "pg_status"].iter().any(|key| value.get(key).is_some()) => {
            Entries::default()
        }
        None => {
            let why = damage.map_or_else(String::new, |(at, why)| format!(" ({why}; byte {at})"));
            let problem =
                Problem::new(format!("not a flight-recorder dump: `entries` is missing{why}")).in_file(label);
            let is_snapshot = ["segments", "device_traces"].iter().all(|key| value.get(key).is_some());
            return Err(problem.hint(if is_snapshot {
                "it is a snapshot of device memory: use `railwright memory-snapshot`"
            } else {
                "a flight-recorder dump contains `version`, `pg_config` and `entries`"
            }));
        }
    };
    let Entries { read, seen } = entries;
    report.note_many(DamageKind::UnreadableEvent, seen - read.len() as u64);
    report.bytes = bytes as u64;
    report.events = report.events.max(seen);
    report.kept = read.len() as u64;
    let group = |(name, value): (&String, &Value)| Group {
        name: Some(text(&value["name"])).filter(|n| !n.is_empty()).unwrap_or_else(|| name.clone()),
        description: text(&value["desc"]),
        ranks: ranks(&value["ranks"]),
    };
    let status = |(id, value): (&String, &Value)| {
        Some(Status {
            group: id.parse().ok()?,
            last_enqueued: count(&value["last_enqueued_collective"]),
            last_started: count(&value["last_started_collective"]),
            last_completed: count(&value["last_completed_collective"]),
        })
    };
    let object = |key: &str| value.get(key).and_then(Value::as_object);
    let mut entries = read;
    entries.sort_by_key(|e| e.record);
    Ok(FlightRecord {
        label: label.to_owned(),
        rank: count(&value["rank"]).and_then(|r| r.try_into().ok()).or_else(|| rank_of(label)),
        version: text(&value["version"]),
        host: Some(text(&value["host_name"])).filter(|h| !h.is_empty()),
        groups: object("pg_config").map_or_else(Vec::new, |all| all.iter().map(group).collect()),
        statuses: object("pg_status").map_or_else(Vec::new, |all| all.iter().filter_map(status).collect()),
        entries,
        report,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rank_is_the_last_number_of_a_files_name() {
        for (label, rank) in [
            ("dumps/nccl_trace_rank_13", Some(13)),
            ("/tmp/run7/fr_trace_rank_3.pickle", Some(3)),
            ("trace.json", None),
            ("99999999999", None),
        ] {
            assert_eq!(rank_of(label), rank, "{label}");
        }
    }

    #[test]
    fn ranks_come_as_text_or_as_a_list_and_never_cut() {
        assert_eq!(ranks(&serde_json::json!("[0, 2, 4]")), [0, 2, 4]);
        assert_eq!(ranks(&serde_json::json!([1, 3])), [1, 3]);
        assert_eq!(ranks(&serde_json::json!("[0, 1, ..., 9]")), [] as [u32; 0]);
    }
}
