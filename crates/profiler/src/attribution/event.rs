//! Events of ranks between their communications.

use super::launches::Launch;

/// Kind of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// The steps begin.
    Begin,
    /// The rank issues a collective, which starts once its stream is free.
    Start,
    /// The rank resumes after a collective: no other work of the rank runs when the collective ends.
    Gate,
    /// The rank issues a communication with unrecorded ranks only.
    Alone,
    /// The steps end, or the rank's work in them.
    End,
}

/// An event of a rank.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Event {
    pub what: What,
    /// Index of the collective; [`NONE`] at the start and end of the steps.
    pub collective: u32,
    /// Measured time, in nanoseconds.
    pub time: i64,
    /// The rank's own time since its previous event, in nanoseconds.
    pub own: i64,
    /// Exposed time since its previous event in communication with unrecorded ranks only, in nanoseconds:
    /// wait or transfer.
    pub unknown: i64,
    /// Part of `unknown` that is not a wait, in nanoseconds: as long as the shortest communications of the
    /// same kind.
    pub least: i64,
    /// Time from the last start of the collective to its end on the rank, in nanoseconds.
    pub transfer: i64,
    /// For a start: the previous communication of its stream.
    pub behind: Option<Behind>,
    /// For a start, and for a communication with unrecorded ranks: its index among the rank's parts.
    pub part: Option<u32>,
}

/// A communication that a later one of the same stream cannot overtake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Behind {
    /// Index of its start among the rank's events.
    pub place: u32,
    /// Time between its end and the next start, in nanoseconds.
    pub gap: i64,
}

/// The events of all members.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Chains {
    /// By member, in order of time.
    pub events: Vec<Vec<Event>>,
    /// Collectives of the steps in the order of their last start: a valid order for a replay.
    pub order: Vec<u32>,
    /// By collective: measured last start within the steps, in nanoseconds.
    pub last_start: Vec<i64>,
    /// By collective: the member that started last.
    pub last_member: Vec<u32>,
    /// By member: launches of all its parts, including those outside the steps. `None` if a matched part has
    /// no launch within a step.
    pub launches: Vec<Option<Vec<Launch>>>,
    /// By member and part: launch time in nanoseconds, whether or not other launches were recorded.
    pub calls: Vec<Vec<Option<i64>>>,
    /// Start and end of the steps, in nanoseconds: all times are limited to this range.
    pub span: (i64, i64),
}
