//! First blocks of objects, kept for a while.
//!
//! Responsible for: one request where format detection, grouping into jobs and reading look at the same beginning. Holds a bounded amount.

use crate::reader::Meta;
use bytes::Bytes;
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// Length of a block: what format detection reads.
pub(crate) const BLOCK: u64 = 1 << 16;
/// Blocks that are kept: 32 MiB.
const KEPT: usize = 512;

static BLOCKS: Mutex<VecDeque<(String, Meta, Bytes)>> = Mutex::new(VecDeque::new());

/// The first block of a version of an object, if it was read lately.
pub(crate) fn kept(address: &str, meta: &Meta) -> Option<Bytes> {
    let blocks = BLOCKS.lock().unwrap_or_else(PoisonError::into_inner);
    let (_, _, bytes) = blocks.iter().find(|(known, of, _)| known == address && of == meta)?;
    Some(bytes.clone())
}

/// Keeps a block in the place of the oldest.
pub(crate) fn keep(address: &str, meta: &Meta, bytes: &Bytes) {
    let mut blocks = BLOCKS.lock().unwrap_or_else(PoisonError::into_inner);
    blocks.retain(|(known, ..)| known != address);
    if blocks.len() >= KEPT {
        blocks.pop_front();
    }
    blocks.push_back((address.to_owned(), meta.clone(), bytes.clone()));
}
