//! Parquet files: our own, written and read column by column, and other people's.
//!
//! Responsible for: the format alone. Refuses to know what a column means.

mod foreign;
mod pages;
mod read;
mod write;

pub(crate) use foreign::{Columns, names};
pub(crate) use read::Table;
pub(crate) use write::{Field, Values, write};

use parquet::errors::ParquetError;

/// How a Parquet file begins and ends.
pub(crate) const MAGIC: &[u8] = b"PAR1";

/// Parquet's error without the name of its kind.
pub(crate) fn told(error: &ParquetError) -> String {
    let text = error.to_string();
    let text = text.split_once(": ").map_or(text.as_str(), |(_, rest)| rest);
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}
