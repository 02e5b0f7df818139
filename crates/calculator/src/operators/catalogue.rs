//! The operator tables in `/catalog/operators`, embedded.
//!
//! Responsible for: finding the row of an accelerator. Rows are found by text and only the found row is
//! parsed, so that a cold start takes microseconds.

use super::cost::Source;
use railwright_spec::cluster::Accelerator;

/// Constants of GEMMs; regenerate with `catalog/operators/distill.py`.
pub(super) const GEMM: &str = railwright_catalog::GEMM_RATES;
/// Constants of fused attention.
pub(super) const ATTENTION: &str = railwright_catalog::ATTENTION_RATES;

/// A row of a table: accelerator, architecture, variant (number format or kernel), then numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    line: &'static str,
}

impl Row {
    /// Identifier of the measured accelerator.
    pub(super) fn accelerator(self) -> &'static str {
        self.line.split(',').next().unwrap_or_default()
    }

    /// The number in column `index`; `missing` if the cell is not a number.
    pub(super) fn number(self, index: usize, missing: f64) -> f64 {
        self.line.split(',').nth(index).and_then(|cell| cell.parse().ok()).unwrap_or(missing)
    }
}

fn cells(line: &'static str) -> Option<[&'static str; 3]> {
    let mut cells = line.split(',');
    Some([cells.next()?, cells.next()?, cells.next()?])
}

/// Architectures are grouped by their first word: `Hopper+Grace` is Hopper, `Blackwell Ultra` is Blackwell.
fn family(architecture: &str) -> &str {
    architecture.split([' ', '+']).next().unwrap_or(architecture)
}

/// Cards for PCIe slots run at lower power than modules, so a card is replaced only by a card.
fn is_card(id: &str) -> bool {
    id.contains("pcie")
}

/// The row for `accelerator` and `variant`: its own, otherwise of the same architecture and form, otherwise
/// of the same architecture, otherwise of the same family. The first of equal ones.
pub(super) fn find(table: &'static str, accelerator: &Accelerator, variant: &str) -> Option<(Row, Source)> {
    let mut best: Option<(Row, u8)> = None;
    for line in table.lines().skip(1) {
        let Some([id, architecture, kind]) = cells(line) else { continue };
        if kind != variant || family(architecture) != family(&accelerator.architecture) {
            continue;
        }
        let rank = if id == accelerator.id {
            0
        } else if architecture != accelerator.architecture {
            3
        } else if is_card(id) != is_card(&accelerator.id) {
            2
        } else {
            1
        };
        if best.is_none_or(|(_, found)| rank < found) {
            best = Some((Row { line }, rank));
        }
    }
    best.map(|(row, rank)| (row, if rank == 0 { Source::Fitted } else { Source::Derived }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use railwright_spec::cluster::accelerator_by_name;

    #[test]
    fn the_nearest_relative_stands_in() {
        let stand_in = |name: &str| {
            let accelerator = accelerator_by_name(name).unwrap();
            find(GEMM, &accelerator, "bf16")
                .map(|(row, source)| (row.line.split(',').next().unwrap(), source))
        };
        assert_eq!(stand_in("h100-sxm5-80gb"), Some(("h100-sxm5-80gb", Source::Fitted)));
        assert_eq!(stand_in("a100-pcie-40gb"), Some(("a100-pcie-80gb", Source::Derived)));
        assert_eq!(stand_in("a100-sxm4-40gb"), Some(("a100-sxm4-80gb", Source::Derived)));
        assert_eq!(stand_in("gh200-144gb"), Some(("h100-sxm5-80gb", Source::Derived)));
        assert_eq!(stand_in("mi300x"), None);
    }

    #[test]
    fn every_row_is_whole() {
        for (table, columns) in [(GEMM, 3..=16), (ATTENTION, 3..=13)] {
            for line in table.lines().skip(1) {
                for column in columns.clone() {
                    let value = Row { line }.number(column, f64::NAN);
                    assert!(value.is_finite() && value >= 0.0, "column {column} of {line}");
                }
            }
        }
    }
}
