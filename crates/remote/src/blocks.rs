//! Cache of first blocks of objects.
//!
//! Responsible for: a single request for format detection, grouping into jobs and reading, which need the
//! same bytes. Bounded in size.

use crate::reader::Meta;
use bytes::Bytes;
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// Length of a block in bytes, as required by format detection.
pub(crate) const BLOCK: u64 = 1 << 16;
/// Number of cached blocks: 32 MiB.
const KEPT: usize = 512;

static BLOCKS: Mutex<VecDeque<(String, Meta, Bytes)>> = Mutex::new(VecDeque::new());

/// Cached first block of a version of an object; `None` if it is not cached.
pub(crate) fn kept(address: &str, meta: &Meta) -> Option<Bytes> {
    let blocks = BLOCKS.lock().unwrap_or_else(PoisonError::into_inner);
    let (_, _, bytes) = blocks.iter().find(|(known, of, _)| known == address && of == meta)?;
    Some(bytes.clone())
}

/// Caches a block in the place of the oldest.
pub(crate) fn keep(address: &str, meta: &Meta, bytes: &Bytes) {
    let mut blocks = BLOCKS.lock().unwrap_or_else(PoisonError::into_inner);
    blocks.retain(|(known, ..)| known != address);
    if blocks.len() >= KEPT {
        blocks.pop_front();
    }
    blocks.push_back((address.to_owned(), meta.clone(), bytes.clone()));
}
