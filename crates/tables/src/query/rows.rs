//! What a virtual table asks of the columns behind it.
//!
//! Responsible for: the trait, and an index that is made when a question first needs it. Refuses to know SQLite.

use super::TableAbout;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;

/// A cell, borrowed where it can be.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value<'a> {
    None,
    Whole(i64),
    Real(f64),
    Text(Cow<'a, str>),
}

impl<'a> Value<'a> {
    pub(super) fn text(text: &'a str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }

    pub(super) fn count(count: usize) -> Self {
        Self::size(count as u64)
    }

    pub(super) fn size(size: u64) -> Self {
        // Sizes beyond 2^63 are not of this world.
        Self::Whole(i64::try_from(size).unwrap_or(i64::MAX))
    }

    pub(super) fn or_none(value: Option<impl Into<i64>>) -> Self {
        value.map_or(Self::None, |value| Self::Whole(value.into()))
    }

    pub(super) fn text_or_none(text: Option<&'a str>) -> Self {
        text.map_or(Self::None, Self::text)
    }

    pub(super) fn size_or_none(size: Option<u64>) -> Self {
        size.map_or(Self::None, Self::size)
    }
}

/// Rows of a table in blocks, a block for each rank where there are ranks.
pub(super) trait Rows: Send + Sync {
    /// The table.
    fn about(&self) -> &'static TableAbout;

    /// Number of blocks.
    fn blocks(&self) -> usize;

    /// The rank that all rows of a block have, if the blocks are ranks in their order; it is the first column then.
    fn rank(&self, block: usize) -> Option<u32>;

    /// Rows of a block.
    fn rows(&self, block: usize) -> usize;

    /// A cell. Rows and columns must exist.
    fn cell(&self, block: usize, row: usize, column: usize) -> Value<'_>;

    /// The rows of a block by the cells of a column, if there is an index of it.
    fn index(&self, _block: usize, _column: &str) -> Option<&Index> {
        None
    }

    /// The starts of a block's rows, if they are in order.
    fn starts(&self, _block: usize) -> Option<&[i64]> {
        None
    }
}

/// The rows of a block by a number in them.
#[derive(Debug, Default)]
pub(super) struct Index(Vec<(u32, u32)>);

/// An index that is made when it is first needed.
pub(super) type Lazy = OnceLock<Index>;

impl Index {
    /// The index of a column in which `none` stands for nothing.
    pub(super) fn new(cells: &[u32], none: u32) -> Self {
        let mut pairs: Vec<(u32, u32)> = cells
            .iter()
            .zip(0..)
            .filter(|(cell, _)| **cell != none)
            .map(|(cell, row)| (*cell, row))
            .collect();
        pairs.sort_unstable();
        Self(pairs)
    }

    /// Places in [`Self::row`] of the rows with a number.
    pub(super) fn find(&self, number: u32) -> Range<usize> {
        let start = self.0.partition_point(|pair| pair.0 < number);
        let end = self.0.partition_point(|pair| pair.0 <= number);
        start..end
    }

    /// The row at a place.
    pub(super) fn row(&self, place: usize) -> Option<usize> {
        self.0.get(place).map(|pair| pair.1 as usize)
    }
}
