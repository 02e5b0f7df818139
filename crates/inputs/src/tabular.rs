//! Databases and columnar files among traces: the readers of `railwright-tables`.
//!
//! Responsible for: naming such a file if its libraries are missing (in a browser, and without the feature
//! `tables`), so that it is not reported as an unknown format.

#[cfg(all(feature = "tables", not(target_family = "wasm")))]
pub use railwright_tables::{
    describe, describes, detect, nsight::read_file, parquet_kind, readers, store::is_store,
};

#[cfg(not(all(feature = "tables", not(target_family = "wasm"))))]
pub use refusal::{detect, readers};

use railwright_spec::problem::Problem;

/// Hint for a missing feature.
pub const WITH_TABLES: &str =
    "released programs have them; from source, omit `--no-default-features` (they need a C compiler)";

/// Error for a file that begins with `head`, if this build lacks its reader; else `None`.
pub fn refused(head: &[u8]) -> Option<Problem> {
    let is_table = head.starts_with(b"PAR1") || head.starts_with(b"SQLite format 3\0");
    let (message, hint) = if cfg!(target_family = "wasm") {
        (
            "Parquet and SQLite files are not read in the browser",
            "the installed program reads them: `railwright serve PATH`",
        )
    } else if cfg!(feature = "tables") {
        return None;
    } else {
        ("this program was built without Parquet and SQLite", WITH_TABLES)
    };
    is_table.then(|| Problem::new(message).hint(hint))
}

/// A build without the libraries has no reader.
#[cfg(not(all(feature = "tables", not(target_family = "wasm"))))]
mod refusal {
    use railwright_profiler::readers::Reader;

    /// Readers of this build: none.
    pub fn readers() -> &'static [&'static dyn Reader] {
        &[]
    }

    /// Detection without readers: always `None`.
    pub fn detect(_: &[u8]) -> Option<&'static dyn Reader> {
        None
    }
}
