//! Exports of Nsight Systems (`nsys export --type sqlite`): a rank's trace for every process and device in
//! it.
//!
//! Responsible for: the documented tables, in the forms of all versions. A table exists only if something was
//! recorded, and columns differ by version, so missing ones are missing in the trace. Times become
//! nanoseconds since 1970 if the file has the session's start. Does not write, run views or guess ranks: they
//! are those of `MPI_RANKS`, else the job numbers them.

pub(crate) mod database;
mod gpu;
mod host;
mod projection;
mod ranks;
mod read;
mod session;
#[cfg(test)]
mod tests;

use crate::rocpd;
use database::Export;
use railwright_profiler::readers::{Keep, Reader, Recording};
use railwright_spec::problem::Problem;
use read::Read;
use rusqlite::Connection;
use std::path::Path;

/// Reader of these exports.
#[derive(Clone, Copy, Debug)]
pub struct NsightExport;

impl Reader for NsightExport {
    fn name(&self) -> &'static str {
        "SQLite export (Nsight Systems, rocprofv3)"
    }

    fn matches(&self, head: &[u8]) -> bool {
        head.starts_with(database::MAGIC)
    }

    fn read(&self, label: &str, bytes: &[u8], _: Keep) -> Result<Vec<Recording>, Problem> {
        read(
            label,
            &database::from_bytes(bytes).map_err(|error| database::text_of(label, &error))?,
            bytes.len() as u64,
        )
    }
}

/// Reads an export from disk, without loading the file into memory.
pub fn read_file(label: &str, path: &Path) -> Result<Vec<Recording>, Problem> {
    let bytes = std::fs::metadata(path).map_or(0, |about| about.len());
    read(label, &database::from_file(path).map_err(|error| database::text_of(label, &error))?, bytes)
}

fn read(label: &str, connection: &Connection, bytes: u64) -> Result<Vec<Recording>, Problem> {
    let export = Export::new(connection).map_err(|error| database::text_of(label, &error))?;
    if rocpd::is(&export) {
        return rocpd::read(label, &export, bytes);
    }
    if !export.has_any(&[gpu::KERNELS, gpu::COPIES, gpu::GRAPHS, host::RUNTIME, host::NVTX, "StringIds"]) {
        return Err(Problem::new(
            "an SQLite database without the tables of Nsight Systems or rocprofv3",
        )
        .in_file(label)
        .hint("export with `nsys export --type sqlite report.nsys-rep`, or record with `rocprofv3 --output-format rocpd`"));
    }
    let gather = || -> rusqlite::Result<_> {
        let session = session::read(&export)?;
        let mut read = Read::default();
        read.report.bytes = bytes;
        gpu::read(&export, session.epoch, &mut read)?;
        host::read(&export, session.epoch, &mut read)?;
        Ok((session, read))
    };
    let (session, read) = gather().map_err(|error| database::text_of(label, &error))?;
    if read.gpu.is_empty() && read.host.is_empty() {
        return Err(Problem::new("the export contains no kernels, runtime calls or NVTX ranges")
            .in_file(label)
            .hint("profile with `nsys profile --trace=cuda,nvtx`"));
    }
    Ok(ranks::part(label, &session, &read)
        .into_iter()
        .map(|trace| Recording::Rank(Box::new(trace)))
        .collect())
}
