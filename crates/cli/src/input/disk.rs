//! Where files lie: on the disk, or in memory where the program runs in a browser.
//!
//! Responsible for: one set of names for both, so that readers are the same for both. Refuses to judge what may be read: [`super::access`] does.

use std::path::Path;

#[cfg(not(target_family = "wasm"))]
pub(crate) use std::fs::{File, canonicalize, metadata, read_dir};

#[cfg(target_family = "wasm")]
pub(crate) use super::memory::{File, canonicalize, metadata, put, read_dir, whole};

/// Whether there is anything at a path.
pub(crate) fn exists(path: &Path) -> bool {
    metadata(path).is_ok()
}

/// Whether there is a folder at a path.
pub(crate) fn is_dir(path: &Path) -> bool {
    metadata(path).is_ok_and(|about| about.is_dir())
}

/// Whether there is a file at a path.
pub(crate) fn is_file(path: &Path) -> bool {
    metadata(path).is_ok_and(|about| about.is_file())
}
