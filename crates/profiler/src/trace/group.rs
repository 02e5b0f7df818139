//! Process groups and recorded collectives.
//!
//! Responsible for: the recorder's fields, without interpretation. Does not join groups across ranks: a
//! group's name is a local counter, only its set of ranks means the same on all ranks.

use railwright_step::CollectiveKind;
use serde::{Deserialize, Serialize};

/// A process group in one rank's trace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct RankGroup {
    /// Its name on this rank.
    pub name: String,
    /// Its purpose, if recorded; `undefined` counts as none.
    pub description: Option<String>,
    /// Its ranks in order, if listed completely.
    pub ranks: Option<Vec<u32>>,
    /// Number of its ranks.
    pub size: Option<u32>,
}

/// A collective or a message as recorded.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CollectiveCall {
    /// Its kind, if part of its label.
    pub kind: Option<CollectiveKind>,
    /// Its name as written (`_allgather_base`, `allreduce`, ...); empty if missing.
    pub label: String,
    /// Input elements of one rank.
    pub elements_in: Option<u64>,
    /// Output elements of one rank.
    pub elements_out: Option<u64>,
    /// Type of an element, as written.
    pub element: Option<String>,
    /// Bytes of an element.
    pub element_bytes: Option<u32>,
    /// Its process group: an index into [`super::RankTrace::groups`].
    pub group: Option<u32>,
    /// Its number within its group.
    pub sequence: Option<u64>,
    /// The other rank of a message.
    pub peer: Option<u32>,
}
