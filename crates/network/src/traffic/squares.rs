//! The matrix as a square of cells, whole and for each parallel dimension: the data of a heat map.
//!
//! Responsible for: the cells that are not empty, by row. Excludes drawing and colours.

use super::places::rail_to_rail;
use super::{Cells, Matrix, Place, Traffic};
use railwright_spec::problem::Wanted;
use railwright_spec::quantity::Bytes;
use railwright_step::Dimension;
use serde::Serialize;

/// Matrix of equal cells over the same ranks.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TrafficMatrix {
    /// Ranks of the run.
    pub ranks: u32,
    /// Ranks along a cell's side; the last cell may have fewer.
    pub per_cell: u32,
    /// Cells along a square's side.
    pub side: u32,
    /// All bytes first, then those of each dimension that has any.
    pub squares: Vec<Square>,
}

/// Senders, receivers and bytes of one dimension.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Square {
    /// Parallel dimension; `None` for all together.
    pub dimension: Option<Dimension>,
    /// Bytes sent by all ranks.
    pub bytes: Bytes,
    /// Sending cell, receiving cell, bytes: of [`Traffic::squares`] from a rank to a rank on average over
    /// the pairs of a cell, of [`Traffic::rail_squares`] of all pairs together. Cells without bytes are
    /// left out.
    pub cells: Vec<(u32, u32, f64)>,
}

impl Traffic {
    /// Matrix of at most `side` cells along a side, on the domains of a placement. O(dimensions x
    /// (partners + cells)). `wanted` is called periodically and may stop it.
    pub fn squares<E>(&self, place: &Place, side: u32, wanted: Wanted<'_, E>) -> Result<TrafficMatrix, E> {
        let all = Cells::new(&Matrix::watched(self, place, wanted)?, side);
        let mut squares = vec![square(None, &all)];
        for (dimension, part) in self.parts() {
            let square = square(Some(dimension), &Cells::new(&Matrix::watched(&part, place, wanted)?, side));
            if !square.cells.is_empty() {
                squares.push(square);
            }
        }
        Ok(TrafficMatrix { ranks: all.ranks, per_cell: all.per_cell, side: all.side, squares })
    }

    /// Bytes between rails that leave domains: the total first, then those of each dimension with any.
    /// `wanted` is called periodically and may stop it.
    pub fn rail_squares<E>(&self, place: &Place, wanted: Wanted<'_, E>) -> Result<Vec<Square>, E> {
        let square = |dimension, part: &Self| -> Result<Square, E> {
            let matrix = Matrix::watched(part, place, wanted)?;
            wanted()?;
            let cells = rail_to_rail(&matrix, place);
            Ok(Square { dimension, bytes: Bytes::new(cells.iter().map(|cell| cell.2).sum()), cells })
        };
        let mut squares = vec![square(None, self)?];
        for (dimension, part) in self.parts() {
            let square = square(Some(dimension), &part)?;
            if !square.cells.is_empty() {
                squares.push(square);
            }
        }
        Ok(squares)
    }

    /// Traffic by dimension, for dimensions with any.
    fn parts(&self) -> Vec<(Dimension, Self)> {
        let part = |dimension| {
            let exchanges: Vec<_> =
                self.exchanges.iter().filter(|exchange| exchange.dimension == dimension).cloned().collect();
            (!exchanges.is_empty()).then_some((dimension, Self { numbering: self.numbering, exchanges }))
        };
        Dimension::ALL.into_iter().filter_map(part).collect()
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
