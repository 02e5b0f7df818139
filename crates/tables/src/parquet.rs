//! Parquet files: our own, written and read column by column, and those of other writers.
//!
//! Responsible for: the format only. Independent of the meaning of columns.

mod foreign;
mod pages;
mod read;
mod write;

pub(crate) use foreign::{Columns, names};
pub(crate) use read::Table;
pub(crate) use write::{Field, Values, write, write_with};

use parquet::errors::ParquetError;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

/// Magic bytes at the start and the end of a Parquet file.
pub(crate) const MAGIC: &[u8] = b"PAR1";

/// Parquet's error without the name of its kind.
pub(crate) fn text_of(error: &ParquetError) -> String {
    let text = error.to_string();
    let text = text.split_once(": ").map_or(text.as_str(), |(_, rest)| rest);
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

thread_local! {
    /// True if this thread is inside [`guarded`].
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Calls the library and converts its panics to errors, without printing their message. It panics on some
/// damaged pages, such as an index beyond its dictionary.
pub(crate) fn guarded<T>(work: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, ParquetError> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let others = take_hook();
        set_hook(Box::new(move |panic| {
            if !GUARDED.get() {
                others(panic);
            }
        }));
    });
    let before = GUARDED.replace(true);
    let ended = catch_unwind(AssertUnwindSafe(work));
    GUARDED.set(before);
    ended.unwrap_or_else(|_| Err(ParquetError::General("a page is damaged".to_owned())))
}
