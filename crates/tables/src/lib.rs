//! Profiles as tables.
//!
//! Responsible for: everything that requires a database engine or a columnar format: reading and writing
//! Parquet files, reading SQLite exports of other profilers, and SQL over a profile. It is a separate crate
//! because these libraries are large. Analyses are in `railwright-profiler`.
//!
//! ```
//! // Files are recognized by their first bytes.
//! assert!(railwright_tables::detect(b"PAR1").is_some());
//! assert!(railwright_tables::detect(b"{\"traceEvents\": []}").is_none());
//! ```

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

/// Readers of this crate, to be tried before [`railwright_profiler::readers::all`], because their files have
/// unambiguous magic bytes.
pub fn readers() -> &'static [&'static dyn Reader] {
    &[&SavedProfile, &NsightExport, &ParquetTable]
}

/// Reader of this crate for a file that starts with `head`; `None` without one.
pub fn detect(head: &[u8]) -> Option<&'static dyn Reader> {
    readers().iter().copied().find(|reader| reader.matches(head))
}

/// True if a Parquet file has metadata of a trace in the same folder: devices, the system. [`describe`]
/// applies it.
pub fn describes(bytes: &[u8]) -> bool {
    bytes.starts_with(parquet::MAGIC)
        && parquet::names(bytes).is_some_and(|names| projection::describes(&names))
}
