//! Evidence of a phase.

use serde::Serialize;

/// Number of a rank's rows by method of phase detection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FoundBy {
    /// From operators and annotations around the launch.
    pub launch: u64,
    /// From the device annotation around them.
    pub annotation: u64,
    /// From their own name.
    pub name: u64,
    /// From rows of the same kernel with a known launch.
    pub same_kernel: u64,
    /// From agreeing rows before and after them on their stream.
    pub neighbours: u64,
    /// Forward or backward, from their distance to kernels with the backward pass in their names.
    pub apart: u64,
    /// Unknown.
    pub unknown: u64,
}
