//! One kind of communication of a step: operation, process groups, bytes, calls.
//!
//! Responsible for: the description. Independent of the algorithm ([`super::flows`]).

use super::Groups;
use railwright_spec::quantity::Bytes;
use railwright_step::{CollectiveKind, Dimension, Phase};
use serde::Serialize;

/// Communication of one kind, of all groups with equal calls.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Exchange {
    /// Parallel dimension.
    pub dimension: Dimension,
    /// Exchanged tensors: `activations`, `gradients`, ...
    pub purpose: &'static str,
    /// Part of the step.
    pub phase: Phase,
    /// Kind.
    pub kind: CollectiveKind,
    /// Implementation.
    pub algorithm: Algorithm,
    /// Bytes of one call by nccl-tests' convention: the whole buffer of an all-reduce; the gathered buffer
    /// of an all-gather; the input of a reduce-scatter; the buffer of one rank before an all-to-all; the
    /// message of a send.
    pub bytes: Bytes,
    /// Calls of each group in a step; halves are half of an exchange.
    pub count: f64,
    /// Ranks.
    pub groups: Groups,
}

/// Algorithm of a collective.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Algorithm {
    /// Around a ring. A group that spans domains runs as many rings as it has members in a domain. Each
    /// leaves the domain by a different member, along its own rail.
    #[default]
    Ring,
    /// All pairs, directly.
    Direct,
    /// Inside domains first, then across domains among members of the same position; an all-to-all in two
    /// such steps.
    Hierarchical,
    /// From the first member to the second.
    Message,
    /// Tokens to experts: once over the network to each domain with any of their experts, and from there once
    /// to each rank with one. Bytes are counted as for an all-to-all.
    Dispatch {
        /// Number of experts per token.
        copies: u32,
        /// Domains that a token may visit at most; 0 is no limit.
        most_domains: u32,
    },
}

impl Exchange {
    /// Bytes by nccl-tests' convention of all calls of all groups: the sum of a report's rows.
    pub fn called(&self) -> Bytes {
        self.bytes * (self.count * self.groups.count() as f64)
    }
}
