//! The matrix in a few cells: averages over blocks of neighbouring ranks, for charts of thousands.
//!
//! Responsible for: sums by cell without visiting ranks x ranks. Does not draw.

use super::Matrix;

/// A square of cells.
#[derive(Clone, Debug, PartialEq)]
pub struct Cells {
    /// Ranks of the run.
    pub ranks: u32,
    /// Ranks along a cell's side; the last cell may have fewer.
    pub per_cell: u32,
    /// Cells along the square's side.
    pub side: u32,
    sums: Vec<f64>,
}

impl Cells {
    /// Aggregates a matrix to at most `side` cells along a side. O(partners + cells).
    pub fn new(matrix: &Matrix, side: u32) -> Self {
        let ranks = matrix.ranks();
        let per_cell = ranks.div_ceil(side.max(1)).max(1);
        let side = ranks.div_ceil(per_cell);
        let mut cells = Self { ranks, per_cell, side, sums: vec![0.0; (side * side) as usize] };
        for from in 0..ranks {
            for (to, bytes) in matrix.written_out(from) {
                cells.add(from / per_cell, to / per_cell, *bytes);
            }
        }
        matrix.for_each_block(|members, bytes| {
            let in_cells = || members.chunk_by(|a, b| a / per_cell == b / per_cell);
            for from in in_cells() {
                for to in in_cells() {
                    let (i, j) = (from[0] / per_cell, to[0] / per_cell);
                    // Ranks do not send to themselves.
                    let pairs = if i == j { from.len() * (from.len() - 1) } else { from.len() * to.len() };
                    cells.add(i, j, bytes * pairs as f64);
                }
            }
        });
        cells
    }

    fn add(&mut self, i: u32, j: u32, bytes: f64) {
        self.sums[(i * self.side + j) as usize] += bytes;
    }

    /// Bytes that all ranks of one cell send to all ranks of another.
    pub fn sum(&self, i: u32, j: u32) -> f64 {
        if i < self.side && j < self.side { self.sums[(i * self.side + j) as usize] } else { 0.0 }
    }

    /// The first rank of a cell, and the one after its last.
    pub fn span(&self, cell: u32) -> (u32, u32) {
        (cell * self.per_cell, ((cell + 1) * self.per_cell).min(self.ranks))
    }

    /// Bytes that a rank of one cell sends to a rank of another, averaged over their pairs.
    pub fn mean(&self, i: u32, j: u32) -> f64 {
        let size = |cell: u32| {
            let (first, end) = self.span(cell);
            f64::from(end - first)
        };
        let pairs = size(i) * if i == j { size(j) - 1.0 } else { size(j) };
        if pairs > 0.0 { self.sum(i, j) / pairs } else { 0.0 }
    }
}
