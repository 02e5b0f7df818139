//! Access to files: on the disk, or in memory if the program runs in a browser.
//!
//! Responsible for: one set of names for both, so that readers are the same for both. Does not restrict
//! reading: see [`super::access`].

use std::path::Path;

#[cfg(not(target_family = "wasm"))]
pub use std::fs::{File, canonicalize, metadata, read_dir};

#[cfg(target_family = "wasm")]
pub use super::memory::{File, canonicalize, metadata, put, read_dir, whole};

/// Tests whether a path exists.
pub fn exists(path: &Path) -> bool {
    metadata(path).is_ok()
}

/// Tests whether a path is a folder.
pub fn is_dir(path: &Path) -> bool {
    metadata(path).is_ok_and(|about| about.is_dir())
}

/// Tests whether a path is a file.
pub fn is_file(path: &Path) -> bool {
    metadata(path).is_ok_and(|about| about.is_file())
}
