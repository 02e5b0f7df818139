//! Profiles as tables.
//!
//! Responsible for: what needs a database engine or a columnar format: Parquet files read and written, SQLite exports of other profilers read, SQL over a profile.
//! It is a crate of its own because these libraries are large. Refuses to analyse; `railwright-profiler` does.

mod bytedance;
mod parquet;
pub mod query;
pub mod store;

pub use bytedance::OperatorTable;
use railwright_profiler::readers::Reader;
use store::SavedProfile;

/// The readers of this crate, to be asked beside [`railwright_profiler::readers::all`].
pub fn readers() -> &'static [&'static dyn Reader] {
    &[&SavedProfile, &OperatorTable]
}
