//! Tables of an export as they are read, with their damages.

use railwright_profiler::trace::{GpuActivity, HostActivity, ReadReport};
use railwright_profiler::{NameId, Names};

/// Data of all processes together, with one table of names until ranks are separated.
#[derive(Default)]
pub(super) struct Read {
    pub(super) names: Names,
    pub(super) gpu: Vec<GpuRow>,
    pub(super) host: Vec<HostRow>,
    pub(super) report: ReadReport,
}

impl Read {
    pub(super) fn name(&self, id: NameId) -> &str {
        self.names.get(id)
    }
}

/// An activity with its owner.
#[derive(Clone, Copy, Debug)]
pub(super) struct GpuRow {
    /// Process; 0 if not recorded.
    pub(super) process: i64,
    /// Device number within the process.
    pub(super) device: Option<i64>,
    pub(super) context: Option<i64>,
    /// Activity; its name is in [`Read::names`].
    pub(super) activity: GpuActivity,
}

/// An activity with its owner.
#[derive(Clone, Copy, Debug)]
pub(super) struct HostRow {
    /// Process; 0 if not recorded.
    pub(super) process: i64,
    /// Serialized thread identifier, which includes the process.
    pub(super) thread: i64,
    /// Activity; its names are in [`Read::names`].
    pub(super) activity: HostActivity,
    /// Payload of the range of a communication; empty for others.
    pub(super) payload: Payload,
}

/// Payload of a range of NCCL. NCCL writes it with names of its fields (`nvtx_payload_schemas.h`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Payload {
    /// Message size in bytes; `None` if not recorded.
    pub(super) bytes: Option<u64>,
    /// Identifier of the communicator: equal on its ranks, and different from other communicators of the
    /// job.
    pub(super) communicator: Option<u64>,
    /// Number of ranks of the communicator, recorded when it is created.
    pub(super) ranks: Option<u32>,
}

impl Payload {
    /// Reads a payload: `{"NCCL communicator ID": 81985529216486895, "Message size [bytes]": 8192}` and
    /// variants.
    pub(super) fn read(json: &str) -> Option<Self> {
        let value: serde_json::Value = serde_json::from_str(json).ok()?;
        let fields = value.as_object()?;
        let number = |words: &[&str]| {
            let field = fields.iter().find(|(key, _)| {
                let key = key.to_ascii_lowercase();
                words.iter().any(|word| key.contains(word))
            })?;
            field.1.as_u64().or_else(|| whole(field.1.as_str()?.trim()))
        };
        Some(Self {
            bytes: number(&["bytes", "size"]),
            communicator: number(&["communicator"]),
            ranks: number(&["no. of ranks", "nranks"]).and_then(|ranks| u32::try_from(ranks).ok()),
        })
    }
}

/// A whole number, decimal or hexadecimal with its prefix.
pub(super) fn whole(text: &str) -> Option<u64> {
    text.strip_prefix("0x").map_or_else(|| text.parse().ok(), |digits| u64::from_str_radix(digits, 16).ok())
}
