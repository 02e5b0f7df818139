//! The header of a trace: its identity.
//!
//! Responsible for: `distributedInfo`, `deviceProperties`, `baseTimeNanoseconds`, `host_name`, wherever they
//! are in the file. Unreadable values are reported and skipped.

use super::collective::{self, Groups};
use super::numbers;
use crate::job::FileIdentity;
use crate::readers::reader::number_after;
use crate::trace::{Device, Identity, RankGroup};
use serde::Deserialize;
use serde_json::Value;

/// Content of the header.
#[derive(Clone, Debug, Default)]
pub(super) struct Head {
    /// Origin of the events' times, in nanoseconds.
    pub(super) base: i64,
    /// True if any part is specific to PyTorch.
    pub(super) kineto: bool,
    /// True if the file is a timeline written by Railwright.
    pub(super) own: bool,
}

#[derive(Deserialize)]
#[serde(default)]
#[derive(Default)]
struct Distributed {
    backend: Option<String>,
    rank: Option<i64>,
    world_size: Option<i64>,
    pg_config: Value,
    nccl_version: Option<String>,
}

impl Head {
    /// Reads a member of the outermost object; the error is the reason why it is unreadable.
    pub(super) fn take(
        &mut self,
        key: &[u8],
        value: &[u8],
        identity: &mut Identity,
        groups: &mut Groups,
    ) -> Result<(), String> {
        match key {
            b"schemaVersion" | b"traceName" | b"trace_id" => self.kineto = true,
            b"baseTimeNanoseconds" | b"baseTimeNanos" => {
                self.kineto = true;
                let quoted = value.strip_prefix(b"\"").and_then(|v| v.strip_suffix(b"\""));
                self.base = numbers::whole(quoted.unwrap_or(value))
                    .and_then(|v| i64::try_from(v).ok())
                    .ok_or_else(|| "the time base is not a whole number".to_owned())?;
            }
            b"otherData" => {
                let about: Value = serde_json::from_slice(value).map_err(|e| e.to_string())?;
                self.own = about["producer"] == "railwright";
            }
            b"host_name" | b"hostname" => {
                identity.host = serde_json::from_slice::<String>(value).ok().filter(|h| !h.is_empty());
            }
            b"deviceProperties" => {
                self.kineto = true;
                let devices: Vec<Value> = serde_json::from_slice(value).map_err(|e| e.to_string())?;
                identity.devices = devices.iter().enumerate().map(device).collect();
            }
            b"distributedInfo" => {
                self.kineto = true;
                let stated: Distributed = serde_json::from_slice(value).map_err(|e| e.to_string())?;
                identity.rank = stated.rank.and_then(|r| u32::try_from(r).ok());
                identity.world_size =
                    stated.world_size.and_then(|w| u32::try_from(w).ok()).filter(|&w| w > 0);
                identity.backend = stated.backend.filter(|b| !b.is_empty() && b != "undefined");
                identity.communication_library = stated.nccl_version.filter(|v| !v.is_empty());
                for group in stated.pg_config.as_array().into_iter().flatten() {
                    groups.list(listed(group));
                }
            }
            _ => {}
        }
        Ok(())
    }
}

/// Identity of a file from its first bytes, which may be truncated.
pub(super) fn clue(head: &[u8]) -> FileIdentity {
    let mut clue = FileIdentity::default();
    if let Some(at) = memchr::memmem::find(head, b"\"distributedInfo\"") {
        // Rank and size precede the list of groups, which may be long.
        let info = &head[at..];
        let end = memchr::memmem::find(info, b"\"traceEvents\"").unwrap_or(info.len());
        let number = |key| number_after(&info[..end], key).and_then(|number| u32::try_from(number).ok());
        clue.rank = number(b"\"rank\"");
        clue.world_size = number(b"\"world_size\"").filter(|&size| size > 0);
    }
    let base = number_after(head, b"\"baseTimeNanoseconds\"").unwrap_or(0) / 1_000;
    let first = number_after(head, b"\"ts\"").and_then(|ts| ts.checked_add(base));
    // Times since the start of a machine are not dates.
    clue.start = first.filter(|&time| time > 1_000_000_000_000_000);
    clue
}

fn text(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| if value.is_null() { String::new() } else { value.to_string() }, str::to_owned)
}

fn number(value: &Value) -> Option<u32> {
    value.as_u64().and_then(|v| u32::try_from(v).ok())
}

fn device((at, value): (usize, &Value)) -> Device {
    Device {
        id: number(&value["id"]).unwrap_or(at as u32),
        name: text(&value["name"]),
        memory_bytes: value["totalGlobalMem"].as_u64(),
        multiprocessors: number(&value["numSms"]),
    }
}

fn listed(group: &Value) -> RankGroup {
    let ranks = match &group["ranks"] {
        Value::Array(ranks) => ranks.iter().map(number).collect(),
        Value::String(ranks) => collective::ranks(ranks.as_bytes()),
        _ => None,
    };
    RankGroup {
        name: text(&group["pg_name"]),
        description: collective::description(&text(&group["pg_desc"])),
        size: number(&group["pg_size"]).or(ranks.as_ref().map(|r: &Vec<u32>| r.len() as u32)),
        ranks,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identity_and_groups_are_read() {
        let (mut head, mut identity, mut groups) = (Head::default(), Identity::default(), Groups::default());
        let info = br#"{"backend": "nccl", "rank": 3, "world_size": 8, "pg_config": [
            {"pg_name": "0", "pg_desc": "default_pg", "pg_size": 2, "ranks": [0, 1]},
            {"pg_name": "1", "pg_desc": "undefined", "pg_size": 1, "ranks": "[3]"}]}"#;
        head.take(b"distributedInfo", info, &mut identity, &mut groups).unwrap_or_default();
        head.take(b"baseTimeNanoseconds", b"1719853884000000000", &mut identity, &mut groups)
            .unwrap_or_default();
        let devices = br#"[{"id": 0, "name": "Tesla V100", "totalGlobalMem": 34079637504, "numSms": 80}]"#;
        head.take(b"deviceProperties", devices, &mut identity, &mut groups).unwrap_or_default();
        assert_eq!(
            (identity.rank, identity.world_size, head.base),
            (Some(3), Some(8), 1_719_853_884_000_000_000)
        );
        assert_eq!(identity.devices[0].multiprocessors, Some(80));
        let groups = groups.into_list();
        assert_eq!(
            (groups[0].description.as_deref(), groups[1].ranks.clone()),
            (Some("default_pg"), Some(vec![3]))
        );
        let start = br#"{"distributedInfo": {"backend": "nccl", "rank": 3, "world_size": 8, "pg_config": [{"ranks": [0, 1"#;
        let clue = clue(start);
        assert_eq!((clue.rank, clue.world_size, clue.start), (Some(3), Some(8), None));
        assert!(head.take(b"distributedInfo", b"[1", &mut identity, &mut Groups::default()).is_err());
    }
}
