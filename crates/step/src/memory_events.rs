//! Allocations and frees over a step.

use crate::Time;
use serde::Serialize;

/// Kind of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum MemoryKind {
    /// Parameters.
    Parameters,
    /// Gradients.
    Gradients,
    /// Optimizer states and master weights.
    Optimizer,
    /// Activations kept for the backward pass.
    Activations,
    /// Logits and the loss.
    Logits,
    /// Communication buffers.
    Communication,
    /// Temporary buffers of running operators.
    Workspace,
    /// Driver, framework, and memory that the allocator cannot use.
    Overhead,
    /// Anything else, or unknown.
    Other,
}

impl MemoryKind {
    /// All kinds.
    pub const ALL: [Self; 9] = [
        Self::Parameters,
        Self::Gradients,
        Self::Optimizer,
        Self::Activations,
        Self::Logits,
        Self::Communication,
        Self::Workspace,
        Self::Overhead,
        Self::Other,
    ];

    /// Usual name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Parameters => "parameters",
            Self::Gradients => "gradients",
            Self::Optimizer => "optimizer",
            Self::Activations => "activations",
            Self::Logits => "logits",
            Self::Communication => "communication",
            Self::Workspace => "workspace",
            Self::Overhead => "overhead",
            Self::Other => "other",
        }
    }
}

/// Allocations (positive) and frees (negative) in bytes, by time. Permanent memory is allocated at the start
/// of the step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryEvents {
    time: Vec<Time>,
    kind: Vec<MemoryKind>,
    bytes: Vec<i64>,
}

impl MemoryEvents {
    /// Adds an event at the end.
    pub fn push(&mut self, time: Time, kind: MemoryKind, bytes: i64) {
        self.time.push(time);
        self.kind.push(kind);
        self.bytes.push(bytes);
    }

    /// Sorts events; at one moment, frees come first.
    pub fn sort(&mut self) {
        let mut rows: Vec<(Time, i64, MemoryKind)> =
            self.iter().map(|(time, kind, bytes)| (time, bytes, kind)).collect();
        rows.sort_unstable();
        *self = Self::default();
        for (time, bytes, kind) in rows {
            self.push(time, kind, bytes);
        }
    }

    /// All events.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (Time, MemoryKind, i64)> {
        (0..self.time.len()).map(|n| (self.time[n], self.kind[n], self.bytes[n]))
    }

    /// True if there are no events.
    pub fn is_empty(&self) -> bool {
        self.time.is_empty()
    }

    pub(crate) fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        if self.time.windows(2).any(|pair| pair[0] > pair[1]) {
            problems.push("events are not in order of time".to_owned());
        }
        let mut held = [0i64; MemoryKind::ALL.len()];
        for (time, kind, bytes) in self.iter() {
            let held = &mut held[kind as usize];
            *held = held.saturating_add(bytes);
            if *held < 0 {
                problems.push(format!("more {} freed than allocated at {} ps", kind.name(), time.0));
                break;
            }
        }
        problems
    }
}
