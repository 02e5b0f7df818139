//! A program of messages, and the links that carry them.

use super::remembered::Sender;

/// One message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flow {
    /// The sender, by its number in the network.
    pub from: u32,
    /// The receiver.
    pub to: u32,
    /// Size in bytes; infinite for background traffic, which has no dependents.
    pub bytes: f64,
    /// Identifier set by the program.
    pub tag: u64,
}

/// Messages that start now.
pub type Start = Vec<Flow>;

/// The links of a network, and the route of a message on them.
pub trait Wires {
    /// Capacity of every link, in bytes per second.
    fn capacities(&self) -> Vec<f64>;

    /// Writes the links of a message to `route` (which is empty), each with its share of the message (1, or
    /// 1/n if packets are sprayed), and returns the latency of the route in seconds. Without links, the
    /// message stays on its device and takes the latency alone.
    fn route(&self, flow: &Flow, route: &mut Vec<(u32, f64)>) -> f64;

    /// All senders by their number, if each has a single route: then sets of active flows may repeat. Empty
    /// if routes also depend on receivers.
    fn senders(&self) -> Vec<Sender<'_>> {
        Vec::new()
    }
}

/// A program of messages.
pub trait Traffic {
    /// The first messages.
    fn begin(&mut self, start: &mut Start);

    /// Time of the next arrival, in seconds since the start.
    fn clock(&mut self, _now: f64) {}

    /// Handles the arrival of a message; `start` receives the messages that it enables.
    fn arrived(&mut self, tag: u64, start: &mut Start);

    /// Tests whether the simulation continues. Checked once at every time at which messages begin or end.
    fn goes_on(&mut self) -> bool {
        true
    }

    /// Progress of a program that repeats in laps. `None` without laps, or between two of them.
    fn lap(&self) -> Option<ProgramProgress> {
        None
    }

    /// State of the program within its lap. Two times with equal states and equal active messages have the
    /// same future except for its length.
    fn state(&self, _state: &mut Vec<u64>) {}

    /// Tag of an active message relative to the lap.
    fn relative(&self, tag: u64) -> u64 {
        tag
    }

    /// Skips a number of laps without sending.
    fn skip(&mut self, _laps: u64) {}

    /// Identifier of an active message after skipped laps.
    fn renamed(&self, tag: u64, _laps: u64) -> u64 {
        tag
    }
}

/// Progress of a repeating program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramProgress {
    /// Laps begun.
    pub number: u64,
    /// Laps that may still be skipped safely.
    pub left: u64,
}
