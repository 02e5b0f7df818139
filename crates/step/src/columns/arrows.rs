//! Arrows between spans of a timeline in columns.
//!
//! Responsible for: the columns, and the kinds of arrows. Independent of the spans.

use serde::Serialize;

/// Reason for an arrow from one span to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ArrowKind {
    /// The receiver needs the sent data.
    Message,
    /// A host call launched the span.
    Launch,
    /// From the last rank that entered a collective to its parts on other ranks.
    Collective,
    /// End or start of the span that ended a bubble or a wait.
    Awaited,
}

impl ArrowKind {
    /// All kinds; an arrow contains an index into this list.
    pub const ALL: [Self; 4] = [Self::Message, Self::Launch, Self::Collective, Self::Awaited];
}

/// Arrows between spans, one array per column.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Arrows {
    /// Track of each source, an index into [`super::Columns::tracks`].
    pub from_track: Vec<u32>,
    /// Span of each source, an index into its track.
    pub from_span: Vec<u32>,
    /// Track of each target.
    pub to_track: Vec<u32>,
    /// Span of each target.
    pub to_span: Vec<u32>,
    /// Kind of each arrow, an index into [`super::Columns::arrow_kinds`].
    pub kind: Vec<u8>,
}

impl Arrows {
    /// Adds an arrow. Both ends are a track and a span on it.
    pub fn push(&mut self, kind: ArrowKind, from: (u32, u32), to: (u32, u32)) {
        self.kind.push(kind as u8);
        self.from_track.push(from.0);
        self.from_span.push(from.1);
        self.to_track.push(to.0);
        self.to_span.push(to.1);
    }
}
