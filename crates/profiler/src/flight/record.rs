//! The content of a dump. Rejects only files that are not dumps; unreadable entries are counted.

use super::entries::{Content, Entries};
use super::entry::{Entry, Group, Status, count, ranks, text};
use crate::trace::{DamageKind, ReadReport};
use railwright_spec::problem::Problem;
use serde::Serialize;
use serde_json::Value;

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
pub(super) fn rank_of(label: &str) -> Option<u32> {
    let name = label.rsplit(['/', '\\']).next().unwrap_or(label);
    let digits: Vec<&str> =
        name.split(|c: char| !c.is_ascii_digit()).filter(|part| !part.is_empty()).collect();
    digits.last()?.parse().ok()
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
