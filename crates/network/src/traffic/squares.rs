//! The matrix as a square of cells, whole and for each parallel dimension: what a heat map is drawn from.
//!
//! Responsible for: the cells that are not empty, by row. Refuses to draw and to choose colours.

use super::{Cells, Matrix, Traffic};
use railwright_spec::quantity::Bytes;
use railwright_step::Dimension;
use serde::Serialize;

/// Squares of equal cells over the same ranks.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Squares {
    /// Ranks of the run.
    pub ranks: u32,
    /// Ranks along a cell's side; the last cell may have fewer.
    pub per_cell: u32,
    /// Cells along a square's side.
    pub side: u32,
    /// All bytes first, then those of each dimension that has any.
    pub squares: Vec<Square>,
}

/// Who sends how much to whom for one dimension.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Square {
    /// Which; none is all together.
    pub dimension: Option<Dimension>,
    /// What all ranks send.
    pub bytes: Bytes,
    /// Sending cell, receiving cell, bytes from a rank of the one to a rank of the other on average over their pairs; cells without
    /// bytes are left out.
    pub cells: Vec<(u32, u32, f64)>,
}

impl Traffic {
    /// Squares of at most `side` cells along a side, on domains of `domain` devices. O(dimensions x (partners + cells)).
    pub fn squares(&self, domain: u64, side: u32) -> Squares {
        let all = Cells::new(&Matrix::new(self, domain), side);
        let mut squares = vec![square(None, &all)];
        for dimension in Dimension::ALL {
            let exchanges: Vec<_> =
                self.exchanges.iter().filter(|exchange| exchange.dimension == dimension).cloned().collect();
            if !exchanges.is_empty() {
                let part = Self { numbering: self.numbering, exchanges };
                let square = square(Some(dimension), &Cells::new(&Matrix::new(&part, domain), side));
                squares.extend((!square.cells.is_empty()).then_some(square));
            }
        }
        Squares { ranks: all.ranks, per_cell: all.per_cell, side: all.side, squares }
    }
}

fn square(dimension: Option<Dimension>, cells: &Cells) -> Square {
    let places = || (0..cells.side).flat_map(|i| (0..cells.side).map(move |j| (i, j)));
    Square {
        dimension,
        bytes: Bytes::new(places().map(|(i, j)| cells.sum(i, j)).sum()),
        cells: places().map(|(i, j)| (i, j, cells.mean(i, j))).filter(|(_, _, mean)| *mean > 0.0).collect(),
    }
}
