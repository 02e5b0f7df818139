//! Arrows between spans of a timeline in columns.
//!
//! Responsible for: the columns, and what each kind of arrow means. Refuses to know the spans.

use serde::Serialize;

/// Reason why an arrow goes from one span to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ArrowKind {
    /// What was sent is needed.
    Message,
    /// A call of the host launched it.
    Launch,
    /// The last rank to enter a collective, to the parts of the other ranks.
    Collective,
    /// A bubble or a wait ended when this had ended or begun.
    Awaited,
}

impl ArrowKind {
    /// All kinds; an arrow holds a place in this list.
    pub const ALL: [Self; 4] = [Self::Message, Self::Launch, Self::Collective, Self::Awaited];
}

/// What waits for what: places of spans, one array for each column.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Arrows {
    /// Tracks of what is sent.
    pub from_track: Vec<u32>,
    /// Spans of what is sent.
    pub from_span: Vec<u32>,
    /// Tracks of what receives.
    pub to_track: Vec<u32>,
    /// Spans of what receives.
    pub to_span: Vec<u32>,
    /// Why: places in [`super::Columns::arrow_kinds`].
    pub kind: Vec<u8>,
}

impl Arrows {
    /// Adds one; places are a track and a span on it.
    pub fn push(&mut self, kind: ArrowKind, from: (u32, u32), to: (u32, u32)) {
        self.kind.push(kind as u8);
        self.from_track.push(from.0);
        self.from_span.push(from.1);
        self.to_track.push(to.0);
        self.to_span.push(to.1);
    }
}
