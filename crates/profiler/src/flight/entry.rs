//! An entry of a dump.
//!
//! Responsible for: every version from 2.4 on, with any fields; JSON has 0 for `None` of a pickle, and group
//! numbers as strings.

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

fn number(value: &Value) -> Option<i64> {
    match value {
        Value::Number(n) => n.as_i64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

pub(super) fn count(value: &Value) -> Option<u64> {
    number(value).and_then(|n| u64::try_from(n).ok())
}

/// A time in nanoseconds; `None` for both `None` and 0.
fn time(value: &Value) -> Option<i64> {
    number(value).filter(|&n| n > 0)
}

pub(super) fn text(value: &Value) -> String {
    value.as_str().map_or_else(String::new, str::to_owned)
}

/// `[0, 1, 2]`, or a list.
pub(super) fn ranks(value: &Value) -> Vec<u32> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flight::record::rank_of;

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
