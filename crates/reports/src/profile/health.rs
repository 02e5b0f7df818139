//! The section of a profile on counters of devices and network cards.

use crate::profile::Shown;
use railwright_report::document::{Block, Cell, Document};

/// Maximum number of named ranks.
const MOST: usize = 16;

impl Shown {
    pub(super) fn health(&self, document: &mut Document) {
        let Some(health) = &self.report.health else { return };
        let readings: usize = health.ranks.iter().map(|rank| rank.samples).sum();
        document.heading_with(
            "device counters",
            format!("unusual values in {readings} readings of {} ranks", health.ranks.len()),
        );
        let remarks: Vec<Cell> = health
            .ranks
            .iter()
            .flat_map(|rank| health.remarks(rank.rank))
            .take(MOST)
            .map(Cell::from)
            .collect();
        if remarks.is_empty() {
            document.paragraph("clocks, throttle reasons, XID errors and error counters are normal");
        } else {
            document.blocks.push(Block::Bullets(remarks));
        }
    }
}
