//! A link while it is filled.

/// A link while filling.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Level {
    /// Capacity that is not given away yet.
    pub(super) left: f64,
    /// Sum of the shares of flows without a rate yet.
    pub(super) shares: f64,
    /// Number of open flows on the link.
    pub(super) open: u32,
    /// The filling that these are of.
    pub(super) filling: u32,
    /// The solution that last visited the link.
    pub(super) seen: u32,
}

impl Level {
    /// No flow crosses the link.
    pub(super) fn clear(&mut self, capacity: f64, filling: u32) {
        *self = Self { left: capacity, shares: 0.0, open: 0, filling, seen: self.seen };
    }

    /// Subtracts a flow with this rate and share from the link.
    pub(super) fn freeze(&mut self, rate: f64, share: f64) {
        self.left -= rate * share;
        self.shares -= share;
        self.open -= 1;
    }
}
