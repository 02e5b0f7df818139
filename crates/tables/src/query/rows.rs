//! Interface between a virtual table and its columns.
//!
//! Responsible for: the trait, and an index that is built on first use. Independent of SQLite.

use super::TableAbout;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;

/// A cell, borrowed if possible.
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
        // Sizes above 2^63 do not exist.
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

/// Rows of a table in blocks, one per rank if there are ranks.
pub(super) trait Rows: Send + Sync {
    /// Description of the table.
    fn about(&self) -> &'static TableAbout;

    /// Number of blocks.
    fn blocks(&self) -> usize;

    /// Rank of all rows of a block, if blocks are ranks; it is then the first column.
    fn rank(&self, block: usize) -> Option<u32>;

    /// Number of rows of a block.
    fn rows(&self, block: usize) -> usize;

    /// Cell of a row. Row and column must exist.
    fn cell(&self, block: usize, row: usize, column: usize) -> Value<'_>;

    /// Index of the rows of a block by a column; `None` without one.
    fn index(&self, _block: usize, _column: &str) -> Option<&Index> {
        None
    }

    /// Start times of a block's rows, if they are in order.
    fn starts(&self, _block: usize) -> Option<&[i64]> {
        None
    }
}

/// Index of the rows of a block by a number.
#[derive(Debug, Default)]
pub(super) struct Index(Vec<(u32, u32)>);

/// An index that is built on first use.
pub(super) type Lazy = OnceLock<Index>;

impl Index {
    /// Builds the index of a column; cells equal to `none` are missing.
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

    /// Positions in [`Self::row`] of the rows with a number.
    pub(super) fn find(&self, number: u32) -> Range<usize> {
        let start = self.0.partition_point(|pair| pair.0 < number);
        let end = self.0.partition_point(|pair| pair.0 <= number);
        start..end
    }

    /// Row at a position.
    pub(super) fn row(&self, place: usize) -> Option<usize> {
        self.0.get(place).map(|pair| pair.1 as usize)
    }
}

/// Name of a kind, as in JSON.
pub(super) fn word(kind: impl serde::Serialize) -> String {
    serde_json::to_value(kind).ok().and_then(|word| word.as_str().map(str::to_owned)).unwrap_or_default()
}
