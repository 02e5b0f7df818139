//! Report on reading a trace: repaired and dropped parts, with positions.
//!
//! Responsible for: counting all damages and keeping the first positions of each kind. Its size does not grow
//! with the damage.

use serde::{Deserialize, Serialize};

/// A kind of damage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum DamageKind {
    /// A name contained a raw control character or an invalid byte and was repaired.
    RepairedName,
    /// An event could not be read and was dropped.
    UnreadableEvent,
    /// An event had no usable time or duration and was dropped.
    BadTime,
    /// An event ended before it began and was dropped.
    NegativeDuration,
    /// A time far from all others was dropped.
    OutlyingTime,
    /// A duplicate key; the last one counts.
    DuplicateKey,
    /// The file is truncated; everything before was read.
    Truncated,
    /// Data after the end of the trace was not read.
    TrailingData,
    /// Two events of one row overlap partially; both were kept.
    PartialOverlap,
    /// A begin without an end or an end without a begin was dropped.
    UnmatchedBegin,
}

/// One kind of damage in one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Damage {
    /// Kind.
    pub kind: DamageKind,
    /// Number of occurrences.
    pub count: u64,
    /// First positions, at most [`Damage::PLACES`]: byte offsets into the (inflated) file, each with a short
    /// description.
    pub places: Vec<(u64, String)>,
}

impl Damage {
    /// Maximum number of positions per kind.
    pub const PLACES: usize = 3;
}

/// Report on reading a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct ReadReport {
    /// Size of the (inflated) file in bytes.
    pub bytes: u64,
    /// Number of events in the file.
    pub events: u64,
    /// Number of kept events.
    pub kept: u64,
    /// Kinds of events that were excluded on purpose, with their numbers.
    pub left_out: Vec<(String, u64)>,
    /// Damages by kind.
    pub damages: Vec<Damage>,
}

impl ReadReport {
    /// Notes one damage.
    pub fn note(&mut self, kind: DamageKind, offset: u64, what: impl FnOnce() -> String) {
        let at = self.damages.iter().position(|d| d.kind == kind).unwrap_or_else(|| {
            self.damages.push(Damage { kind, count: 0, places: Vec::new() });
            self.damages.len() - 1
        });
        let damage = &mut self.damages[at];
        damage.count += 1;
        if damage.places.len() < Damage::PLACES {
            damage.places.push((offset, what()));
        }
    }

    /// Notes many damages of a kind without positions.
    pub fn note_many(&mut self, kind: DamageKind, count: u64) {
        if count == 0 {
            return;
        }
        match self.damages.iter_mut().find(|d| d.kind == kind) {
            Some(damage) => damage.count += count,
            None => self.damages.push(Damage { kind, count, places: Vec::new() }),
        }
    }

    /// Counts an excluded event.
    pub fn leave_out(&mut self, what: &'static str) {
        match self.left_out.iter_mut().find(|(name, _)| name == what) {
            Some((_, count)) => *count += 1,
            None => self.left_out.push((what.to_owned(), 1)),
        }
    }

    /// Number of damages of a kind.
    pub fn count(&self, kind: DamageKind) -> u64 {
        self.damages.iter().find(|d| d.kind == kind).map_or(0, |d| d.count)
    }
}
