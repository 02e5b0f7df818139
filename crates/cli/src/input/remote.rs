//! Traces behind addresses: `s3://`, `gs://`, `az://`, `http://` and `https://`.
//!
//! Responsible for: the objects of an address in the order that a folder of files has, and naming an address where this build cannot read it.
//! A server reads none, because its clients are not who pays for the transfer.

#[cfg(all(feature = "remote", not(target_family = "wasm")))]
pub(crate) use railwright_remote::{Failure, Object, Reader, is_address};

#[cfg(not(all(feature = "remote", not(target_family = "wasm"))))]
pub(crate) use refusal::{Failure, Object, Reader, is_address};

use super::access;
use railwright_spec::problem::Problem;

/// Refuses addresses where they cannot be read.
pub(crate) fn refused(path: &str) -> Option<Problem> {
    let (message, hint) = if !is_address(path) {
        return None;
    } else if cfg!(target_family = "wasm") {
        ("addresses are not read in the browser", "download the file, and drop it on the web UI")
    } else if access::is_restricted() {
        ("the server reads local paths only", "copy the files to a local folder, or use the command line")
    } else if cfg!(feature = "remote") {
        return None;
    } else {
        (
            "this program was built without remote addresses",
            "released programs have them; from source, leave out `--no-default-features`",
        )
    };
    Some(Problem::new(message).in_file(path).hint(hint))
}

/// A path as reports have it: an address without its query, which may be a signature.
pub(crate) fn shown(path: &str) -> &str {
    if is_address(path) { path.split(['?', '#']).next().unwrap_or(path) } else { path }
}

/// Whether a path is the address of one object, rather than of a prefix: as far as the address shows.
pub(crate) fn names_one(path: &str) -> bool {
    is_address(path) && !path.ends_with('/')
}

/// Writes an object.
#[cfg(all(feature = "remote", not(target_family = "wasm")))]
pub(crate) fn write(path: &str, bytes: Vec<u8>) -> Result<(), Problem> {
    railwright_remote::write(path, bytes)
}

/// Writes an object: nowhere.
#[cfg(not(all(feature = "remote", not(target_family = "wasm"))))]
pub(crate) fn write(path: &str, _: Vec<u8>) -> Result<(), Problem> {
    Err(refused(path).unwrap_or_else(|| Problem::new("this is not an address").in_file(path)))
}

/// The objects of an address, and whether it is the address of exactly one.
#[cfg(all(feature = "remote", not(target_family = "wasm")))]
pub(crate) fn find(path: &str) -> Result<(Vec<Object>, bool), Problem> {
    use super::traces::globs;
    use railwright_remote::Found;

    if let Some(problem) = refused(path) {
        return Err(problem);
    }
    let pattern = if path.starts_with("http") { path.contains(['*', '[']) } else { globs::is_pattern(path) };
    let (found, matches) = if pattern {
        let fixed = path.find(['*', '?', '[']).unwrap_or(path.len());
        let folder = path[..fixed].rfind('/').map_or(path, |at| &path[..=at]);
        (railwright_remote::find(folder, MOST)?, Some(globs::Like::new(path)?))
    } else {
        (railwright_remote::find(path, MOST)?, None)
    };
    let all = match found {
        Found::One(object) => return Ok((vec![object], true)),
        Found::Below(all) => all,
    };
    let keep = |(place, object): &(String, Object)| match &matches {
        // As on a disk, a folder that matches stands for the files in it.
        Some(like) => like.matches_above(object.address()),
        None => {
            place.split('/').count() <= DEEPEST + 1 && !place.split('/').any(|part| part.starts_with('.'))
        }
    };
    let mut kept: Vec<(String, Object)> = all.into_iter().filter(keep).collect();
    kept.sort_by_cached_key(|(place, _)| order(place));
    if kept.is_empty() {
        let what = if pattern { "no object matches this pattern" } else { "no object at this address" };
        return Err(Problem::new(what).in_file(path).hint("check the bucket and the prefix"));
    }
    Ok((kept.into_iter().map(|(_, object)| object).collect(), false))
}

#[cfg(not(all(feature = "remote", not(target_family = "wasm"))))]
pub(crate) fn find(path: &str) -> Result<(Vec<Object>, bool), Problem> {
    Err(refused(path).unwrap_or_else(|| Problem::new("this is not an address").in_file(path)))
}

/// The most objects that one address may stand for.
#[cfg(all(feature = "remote", not(target_family = "wasm")))]
const MOST: usize = super::traces::extent::MOST;
/// How far down prefixes are looked into.
#[cfg(all(feature = "remote", not(target_family = "wasm")))]
const DEEPEST: usize = super::traces::extent::DEEPEST as usize;

/// As folders are read: the files of a folder before the folders in it, numbers by their value.
#[cfg(all(feature = "remote", not(target_family = "wasm")))]
fn order(place: &str) -> Vec<(bool, Vec<(u128, String)>)> {
    let parts: Vec<&str> = place.split('/').collect();
    let last = parts.len() - 1;
    parts.iter().enumerate().map(|(at, part)| (at < last, super::traces::extent::natural(part))).collect()
}

/// A build without network connections has no objects.
#[cfg(not(all(feature = "remote", not(target_family = "wasm"))))]
mod refusal {
    use railwright_spec::problem::Problem;
    use std::convert::Infallible;
    use std::io::{Read, Result, Seek, SeekFrom};

    /// Whether a path is an address.
    pub(crate) fn is_address(path: &str) -> bool {
        ["s3://", "gs://", "az://", "http://", "https://"].iter().any(|prefix| path.starts_with(prefix))
    }

    /// No object.
    #[derive(Clone, Debug)]
    pub(crate) struct Object(Infallible);

    impl Object {
        pub(crate) fn address(&self) -> &str {
            match self.0 {}
        }

        pub(crate) fn shown(&self) -> String {
            match self.0 {}
        }

        pub(crate) fn size(&self) -> u64 {
            match self.0 {}
        }

        pub(crate) fn open(&self) -> std::result::Result<Reader, Problem> {
            match self.0 {}
        }
    }

    /// No failure.
    #[derive(Clone, Debug)]
    pub(crate) struct Failure(Infallible);

    impl Failure {
        pub(crate) fn problem(&self) -> Option<&Problem> {
            match self.0 {}
        }
    }

    /// No stream.
    #[derive(Debug)]
    pub(crate) struct Reader(Infallible);

    impl Reader {
        pub(crate) fn failure(&self) -> Failure {
            match self.0 {}
        }
    }

    impl Read for Reader {
        fn read(&mut self, _: &mut [u8]) -> Result<usize> {
            match self.0 {}
        }
    }

    impl Seek for Reader {
        fn seek(&mut self, _: SeekFrom) -> Result<u64> {
            match self.0 {}
        }
    }
}
