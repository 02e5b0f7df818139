//! The order in which the last filling froze all flows.

use super::level::Level;
use super::routes::Hop;

/// The order of the last filling.
#[derive(Clone, Debug, Default)]
pub(super) struct Order {
    /// True if the last solution filled all flows in order.
    pub(super) is_kept: bool,
    /// Flows from the slowest to the fastest.
    pub(super) frozen: Vec<u32>,
    /// For each link of each of them, the capacity that was left before it froze.
    pub(super) left: Vec<f64>,
}

impl Order {
    /// Records that a flow freezes at a rate on its links.
    pub(super) fn freeze(&mut self, slot: u32, rate: f64, route: &[Hop], levels: &mut [Level]) {
        if self.is_kept {
            self.frozen.push(slot);
            self.left.extend(route.iter().map(|hop| {
                let level = &mut levels[hop.link as usize];
                let left = level.left;
                level.freeze(rate, hop.share);
                left
            }));
        } else {
            for hop in route {
                levels[hop.link as usize].freeze(rate, hop.share);
            }
        }
    }
}
