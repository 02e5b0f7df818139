//! Databases and columnar files among traces: the readers of `railwright-tables`.
//!
//! Responsible for: naming such a file where its libraries are missing (in a browser), so that it is not reported as an unknown format.

#[cfg(not(target_family = "wasm"))]
pub(crate) use railwright_tables::{
    describe, describes, detect, nsight::read_file, parquet_kind, readers, store::is_store,
};

#[cfg(target_family = "wasm")]
pub(crate) use refusal::{detect, readers};

use railwright_spec::problem::Problem;

/// Why a file that begins with `head` is not read by this build, if that is the reason.
pub(crate) fn refused(head: &[u8]) -> Option<Problem> {
    let is_table = head.starts_with(b"PAR1") || head.starts_with(b"SQLite format 3\0");
    (cfg!(target_family = "wasm") && is_table).then(|| {
        Problem::new("Parquet and SQLite files are not read in the browser")
            .hint("the installed program reads them: `railwright serve PATH`")
    })
}

/// A build without the libraries has no reader.
#[cfg(target_family = "wasm")]
mod refusal {
    use railwright_profiler::readers::Reader;

    /// No reader.
    pub(crate) fn readers() -> &'static [&'static dyn Reader] {
        &[]
    }

    /// None of no readers.
    pub(crate) fn detect(_: &[u8]) -> Option<&'static dyn Reader> {
        None
    }
}
