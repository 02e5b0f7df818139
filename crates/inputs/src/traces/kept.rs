//! Recently found files and recently read traces, for a server.
//!
//! Responsible for: selection of cached data. A large job of ranks is cached once, joined, by its user
//! ([`crate::opened`]).

use super::Loaded;
use crate::jobs::Parted;
use crate::kept::Kept;
use crate::{Caller, remote};
use railwright_profiler::readers::{Keep, Recording};
use railwright_profiler::trace::HostKind;
use railwright_spec::problem::Problem;
use std::sync::Arc;

/// Bytes on the disk of recordings that are kept, at most.
const LARGEST: u64 = 2 << 30;
/// Maximum size of cached traces of ranks, in bytes; they are copied for every result.
const LARGEST_COPY: u64 = 32 << 20;

/// Streams of paths, grouped into jobs.
pub(super) struct Found {
    pub(super) streams: Vec<super::sources::Stream>,
    pub(super) problems: Vec<Problem>,
    pub(super) parted: Parted,
}

/// Bytes of a stream and its sighting, about.
const FOUND_BYTES: u64 = 1024;

static FOUND: Kept<Vec<String>, Found> = Kept::new(8, 64);

/// Cached files of these paths, or a new search.
pub(super) fn or_find(
    paths: &[String],
    printer: &dyn Caller,
    find: impl FnOnce() -> Found,
) -> Result<Arc<Found>, Problem> {
    // A prefix of a store has no time of change.
    let keep = !paths.iter().any(|path| remote::is_address(path));
    let make = || {
        let found = find();
        let bytes = keep.then_some(found.streams.len() as u64 * FOUND_BYTES);
        Ok((found, bytes))
    };
    FOUND.or_make(&paths.to_vec(), |of, _| of == paths, || printer.wanted(), make)
}

#[derive(Clone, PartialEq)]
struct Key {
    labels: Vec<String>,
    python: bool,
}

struct Read {
    loaded: Loaded,
    /// True if reading without Python functions omits some rows.
    has_python: bool,
}

static READ: Kept<Key, Read> = Kept::new(3, 8);

/// Cached recordings of these streams, or a new read.
pub(super) fn or_read(
    labels: &[String],
    keep: Keep,
    printer: &dyn Caller,
    read: impl FnOnce() -> Result<(Loaded, u64), Problem>,
) -> Result<Loaded, Problem> {
    let key = Key { labels: labels.to_vec(), python: keep.python };
    let serves =
        |of: &Key, read: &Read| of.labels == labels && serves_python(of.python, keep.python, read.has_python);
    let make = || {
        let (loaded, bytes) = read()?;
        let has_ranks = loaded.has_ranks();
        let most = if has_ranks { LARGEST_COPY } else { LARGEST };
        let has_python = keep.python && has_python(&loaded);
        // Records other than traces of a rank are about as large as their text.
        let size = if has_ranks { bytes_of(&loaded) } else { bytes };
        Ok((Read { loaded, has_python }, (bytes <= most).then_some(size)))
    };
    let read: Arc<Read> = READ.or_make(&key, serves, || printer.wanted(), make)?;
    Ok(Arc::try_unwrap(read).map_or_else(|read| read.loaded.clone(), |read| read.loaded))
}

/// Tests whether cached data serves a request with or without Python functions. Without such functions in the
/// trace, both are the same.
pub const fn serves_python(kept: bool, wanted: bool, has_python: bool) -> bool {
    kept == wanted || (kept && !has_python)
}

/// Tests whether a trace of a rank has functions of Python.
pub fn has_python(loaded: &Loaded) -> bool {
    let of = |recording: &Recording| match recording {
        Recording::Rank(trace) => trace.host.kinds().contains(&HostKind::Python),
        _ => false,
    };
    loaded.recordings.iter().any(of)
}

/// Approximate bytes of one row of a trace in memory, with the additions of analyses.
const ROW: u64 = 160;

/// Approximate bytes of the traces of ranks in memory.
pub fn bytes_of(loaded: &Loaded) -> u64 {
    let of = |recording: &Recording| match recording {
        Recording::Rank(trace) => (trace.gpu.len() + trace.host.len() + trace.names.len()) as u64 * ROW,
        _ => 0,
    };
    loaded.recordings.iter().map(of).sum()
}
