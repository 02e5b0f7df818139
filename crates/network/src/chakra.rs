//! Chakra execution traces: a step of every rank as nodes that wait for each other, the exchange format of
//! network simulators.
//!
//! Responsible for: the nodes, their binary form in both directions ([`write()`], [`read`]), and traces of
//! all ranks as a program of flows ([`Program`]). Independent of a trace's origin and of the computation in
//! its nodes.
//!
//! A file contains one rank: `GlobalMetadata` and then `Node` messages of the protobuf schema
//! `ChakraProtoMsg`, each after its length as a varint (MLCommons Chakra, schema/protobuf/et_def.proto,
//! version 1.0.0). Durations are whole microseconds.

mod folder;
mod program;
mod read;
#[cfg(test)]
mod tests;
mod wire;
mod write;

pub use folder::by_rank;
pub use program::Program;
pub use read::read;
pub use write::{SCHEMA, write};

use railwright_spec::quantity::{Bytes, Seconds};
use railwright_step::CollectiveKind;
use std::collections::BTreeMap;

/// One rank's trace.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// Version of the schema.
    pub version: String,
    /// Nodes in the order of the file.
    pub nodes: Vec<Node>,
    /// Process groups that the file itself defines, by name.
    pub groups: BTreeMap<String, Vec<u32>>,
}

/// A node.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Its number.
    pub id: u64,
    /// Its name.
    pub name: String,
    /// Numbers of the nodes that end before it begins.
    pub after: Vec<u64>,
    /// Its work.
    pub work: Work,
}

/// The work of a node.
#[derive(Clone, Debug, PartialEq)]
pub enum Work {
    /// Compute, or host work.
    Compute(Seconds),
    /// A message to another rank.
    Send {
        /// The receiver.
        to: u32,
        /// Message size.
        bytes: Bytes,
        /// Distinguishes messages between the same two ranks.
        tag: u32,
    },
    /// The other end of a message.
    Receive {
        /// The sender.
        from: u32,
        /// Message size.
        bytes: Bytes,
        /// The tag of the sender.
        tag: u32,
    },
    /// A collective.
    Collective {
        /// Kind.
        kind: CollectiveKind,
        /// Bytes of a rank's input: its part before an all-gather, the whole buffer for all other kinds.
        input: Bytes,
        /// Name of the process group; empty for all ranks.
        group: String,
    },
    /// Takes no time: metadata, or access to memory of unknown speed.
    Nothing(&'static str),
}

/// Kinds of collectives by their number in the schema; `None` for those that no run here has.
const KINDS: [(u64, Option<CollectiveKind>); 10] = [
    (0, Some(CollectiveKind::AllReduce)),
    (1, Some(CollectiveKind::Reduce)),
    (2, Some(CollectiveKind::AllGather)),
    (3, None),
    (4, None),
    (5, Some(CollectiveKind::Broadcast)),
    (6, Some(CollectiveKind::AllToAll)),
    (7, Some(CollectiveKind::ReduceScatter)),
    (8, Some(CollectiveKind::ReduceScatter)),
    (9, Some(CollectiveKind::Barrier)),
];

/// Types of nodes by their number in the schema.
mod node_type {
    pub(super) const METADATA: u64 = 1;
    pub(super) const MEMORY_LOAD: u64 = 2;
    pub(super) const MEMORY_STORE: u64 = 3;
    pub(super) const COMPUTE: u64 = 4;
    pub(super) const SEND: u64 = 5;
    pub(super) const RECEIVE: u64 = 6;
    pub(super) const COLLECTIVE: u64 = 7;
}

/// Factor from a rank's input to the size by nccl-tests' convention: the gathered buffer of an all-gather
/// over `members` ranks, the input of others.
fn of_convention(kind: CollectiveKind, members: usize) -> f64 {
    if kind == CollectiveKind::AllGather { members as f64 } else { 1.0 }
}

impl Work {
    /// A collective from its size by nccl-tests' convention.
    pub fn collective(kind: CollectiveKind, bytes: Bytes, group: String, members: usize) -> Self {
        Self::Collective { kind, input: bytes / of_convention(kind, members), group }
    }
}
