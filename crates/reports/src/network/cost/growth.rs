//! Growth of the compared designs: the table below their bills.

use railwright_network::bill::compare::{Comparison, Refused};
use railwright_network::bill::growth::{Growth, Purchase, growth};
use railwright_network::bill::prices::Prices;
use railwright_network::topology::DesignSpec;
use railwright_report::document::{Cell, Column, Table, Tone};

/// Designs that grow, and those that cannot.
#[derive(Default)]
pub struct Grown {
    pub(super) designs: Vec<Growth>,
    pub(super) refused: Vec<Refused>,
}

impl Grown {
    /// Every design of a comparison at a larger number of devices.
    pub fn of(comparison: &Comparison, specs: &[DesignSpec], devices: u64, prices: &Prices) -> Self {
        let mut grown = Self::default();
        for entry in &comparison.entries {
            let Some(spec) = specs.iter().find(|spec| spec.title() == entry.name) else { continue };
            match growth(spec, devices, prices) {
                Ok(found) => grown.designs.push(found),
                Err(problem) => grown.refused.push(Refused { name: entry.name.clone(), problem }),
            }
        }
        grown
    }

    /// Two rows for each design: as needed, and prepared.
    pub(super) fn table(&self) -> Table {
        let row = |name: &str, built: &'static str, way: &Purchase| {
            vec![
                Cell::new(name, Tone::Name),
                built.into(),
                Cell::dollars(way.now),
                Cell::dollars(way.later),
                Cell::dollars(way.total()),
                Cell::dollars(way.discarded),
                way.moved_links.map_or_else(|| Cell::new("unknown", Tone::Doubtful), Cell::whole),
            ]
        };
        let rows = self.designs.iter().flat_map(|design| {
            let prepared = design.prepared.as_ref().map(|way| row(&design.name, "prepared", way));
            std::iter::once(row(&design.name, "step by step", &design.as_needed)).chain(prepared)
        });
        Table {
            columns: vec![
                Column::words("design"),
                Column::words("construction"),
                Column::numbers("initial").unit("usd"),
                Column::numbers("growth").unit("usd").expendable(2),
                Column::numbers("total").unit("usd"),
                Column::numbers("discarded").unit("usd"),
                Column::numbers("moved links").expendable(1),
            ],
            rows: rows.collect(),
        }
    }
}
