//! The digest of a rank as one Parquet file, readable by any Parquet engine.
//!
//! Responsible for: the columns of the file, its version, and its metadata ([`KEY`]). A row is an activity of
//! the device or of the host, or an idle interval of the device. A digest is read back exactly. The reader
//! checks indices, times, kinds and the checksum, and rejects files of newer versions.
//!
//! Columns: `rank`, `lane` (`device`, `host`, `idle`), `kind` (of an activity; the cause of an idle stretch),
//! `name`, `start_ns`, `duration_ns`, `stream`, `thread`, `correlation`, `bytes`, `shapes`, `phase`,
//! `family`. Communication also has `call`, `operation`, `label`, `elements_in`, `elements_out`, `element`,
//! `element_bytes`, `group`, `group_name`, `sequence`, `peer`. `phase`, `family`, `group_name` and the rows
//! of `idle` are derived; a join computes them again.

mod groups;
mod read;
#[cfg(test)]
mod tests;
mod texts;
mod write;

pub use read::read_digest;
pub use write::write_digest;

use railwright_profiler::trace::{Identity, ReadReport};
use serde::{Deserialize, Serialize};

/// Key of the metadata.
pub const KEY: &str = "railwright.digest";
/// Version of the file. It increases when older programs could not read it, or would read it wrongly.
pub const VERSION: u32 = 1;

const DEVICE: &str = "device";
const HOST: &str = "host";
const IDLE: &str = "idle";

/// Metadata: all data outside rows.
#[derive(Debug, Serialize, Deserialize)]
struct About {
    version: u32,
    written_by: String,
    /// CRC-32 of the file's bytes before its footer, and of this text with 0 as this value.
    crc32: u32,
    /// True if host rows were omitted.
    reduced: bool,
    identity: Identity,
    groups: Vec<groups::Packed>,
    report: ReadReport,
    /// Interned names without a row.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    also_named: Vec<String>,
}

/// True for the columns of a digest.
pub(crate) fn matches(names: &[String]) -> bool {
    ["lane", "kind", "start_ns", "duration_ns", "correlation", "call"]
        .iter()
        .all(|wanted| names.iter().any(|name| name == wanted))
}

/// Checksum of rows and metadata. `text` is the metadata, which contains `crc32`.
fn checksum(data: &[u8], text: &str, crc32: u32) -> u32 {
    let text = text.replacen(&format!("\"crc32\":{crc32},"), "\"crc32\":0,", 1);
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(data);
    hasher.update(text.as_bytes());
    hasher.finalize()
}

/// Byte offset of the footer of a Parquet file; its length is before the last four bytes.
fn footer(bytes: &[u8]) -> Option<usize> {
    let end = bytes.len().checked_sub(8)?;
    let length: [u8; 4] = bytes.get(end..end + 4)?.try_into().ok()?;
    end.checked_sub(usize::try_from(u32::from_le_bytes(length)).ok()?)
}
