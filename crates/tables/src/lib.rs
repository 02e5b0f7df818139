//! Profiles as tables.
//!
//! Responsible for: what needs a database engine or a columnar format: Parquet files read and written, SQLite exports of other profilers read, SQL over a profile.
//! It is a crate of its own because these libraries are large. Refuses to analyse; `railwright-profiler` does.

mod bytedance;
pub mod digest;
pub mod nsight;
mod parquet;
mod parquet_table;
mod projection;
pub mod query;
mod rocpd;
pub mod store;

pub use parquet_table::{ParquetTable, parquet_kind};
pub use projection::describe;

use nsight::NsightExport;
use railwright_profiler::readers::Reader;
use store::SavedProfile;

/// The readers of this crate, to be asked before [`railwright_profiler::readers::all`]: their files begin with unmistakable bytes.
pub fn readers() -> &'static [&'static dyn Reader] {
    &[&SavedProfile, &NsightExport, &ParquetTable]
}

/// The reader of this crate for a file that begins with `head`, if there is one.
pub fn detect(head: &[u8]) -> Option<&'static dyn Reader> {
    readers().iter().copied().find(|reader| reader.matches(head))
}

/// Whether a Parquet file has metadata of a trace in the same folder: devices, the system. [`describe`]
/// applies it.
pub fn describes(bytes: &[u8]) -> bool {
    bytes.starts_with(parquet::MAGIC)
        && parquet::names(bytes).is_some_and(|names| projection::describes(&names))
}
