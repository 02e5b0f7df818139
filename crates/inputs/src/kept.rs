//! Values made from files, cached for a server: several views request the same files one after another.
//!
//! Responsible for: one computation for concurrent requests, and a cached value until one of its files
//! changes. Evicts the longest unused values to stay within a share of the memory limit. Without a server
//! nothing is cached.

use super::access::{self, Seen};
use crate::limits;
use railwright_spec::problem::Problem;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Interval at which a waiting request checks for cancellation.
const LOOK: Duration = Duration::from_millis(50);

/// Values by input.
pub struct Kept<K, V> {
    entries: Mutex<Entries<K, V>>,
    made: Condvar,
    /// Values that are kept, at most.
    most: usize,
    /// Their share of the memory limit, as its divisor.
    share: u64,
}

struct Entries<K, V> {
    /// The last used first.
    values: Vec<One<K, V>>,
    /// Values that are being made.
    making: Vec<K>,
}

struct One<K, V> {
    key: K,
    files: Vec<Seen>,
    value: Arc<V>,
    bytes: u64,
}

impl<K: Clone + PartialEq, V> Kept<K, V> {
    /// An empty cache of at most `most` values, limited to one `share`-th of the memory limit.
    pub const fn new(most: usize, share: u64) -> Self {
        let entries = Entries { values: Vec::new(), making: Vec::new() };
        Self { entries: Mutex::new(entries), made: Condvar::new(), most, share }
    }

    fn entries(&self) -> MutexGuard<'_, Entries<K, V>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A matching cached value, else a new one. `make` also estimates its bytes in memory; without an
    /// estimate it is not cached. A request for a value that another one is making waits for it, until it
    /// is cancelled.
    pub fn or_make<E: From<Problem>>(
        &self,
        key: &K,
        serves: impl Fn(&K, &V) -> bool,
        wanted: impl Fn() -> Result<(), Problem>,
        make: impl FnOnce() -> Result<(V, Option<u64>), E>,
    ) -> Result<Arc<V>, E> {
        if !access::is_restricted() {
            return make().map(|(value, _)| Arc::new(value));
        }
        // A cached value is returned without a turn. It is searched again after the turn, because a
        // concurrent request may have made it.
        if let Some(found) = self.find(&serves) {
            return Ok(found);
        }
        let _turn = self.turn(key, wanted)?;
        if let Some(found) = self.find(&serves) {
            return Ok(found);
        }
        // Adds files read now to the record of the whole result.
        let before = access::noted();
        access::note();
        let done = make();
        let files = access::noted();
        access::note_all(before, files.as_deref());
        let (value, bytes) = done?;
        let value = Arc::new(value);
        if let (Some(files), Some(bytes)) = (files, bytes) {
            self.keep(One { key: key.clone(), files, value: Arc::clone(&value), bytes });
        }
        Ok(value)
    }

    /// Waits until no other request makes the value.
    fn turn<'a, E>(&'a self, key: &'a K, wanted: impl Fn() -> Result<(), E>) -> Result<Turn<'a, K, V>, E> {
        loop {
            let mut entries = self.entries();
            if !entries.making.contains(key) {
                entries.making.push(key.clone());
                return Ok(Turn { kept: self, key });
            }
            drop(self.made.wait_timeout(entries, LOOK));
            wanted()?;
        }
    }

    /// Keeps a value, the longest unused going for it.
    fn keep(&self, one: One<K, V>) {
        let room = limits::memory() / self.share.max(1);
        if one.bytes > room {
            return;
        }
        let mut entries = self.entries();
        entries.values.insert(0, one);
        let mut left = room;
        let mut count = 0;
        for one in entries.values.iter().take(self.most) {
            let Some(rest) = left.checked_sub(one.bytes) else { break };
            (left, count) = (rest, count + 1);
        }
        entries.values.truncate(count);
    }

    /// A matching value with unchanged files.
    fn find(&self, serves: impl Fn(&K, &V) -> bool) -> Option<Arc<V>> {
        let (files, value) = {
            let mut entries = self.entries();
            let at = entries.values.iter().position(|one| serves(&one.key, &one.value))?;
            let one = entries.values.remove(at);
            let found = (one.files.clone(), Arc::clone(&one.value));
            entries.values.insert(0, one);
            found
        };
        // The disk is read without holding the lock.
        if files.iter().all(Seen::is_still_so) {
            access::note_more(&files);
            return Some(value);
        }
        self.entries().values.retain(|one| !Arc::ptr_eq(&one.value, &value));
        None
    }
}

/// The right to make a value, which is released at the end, also after a panic.
struct Turn<'a, K: PartialEq, V> {
    kept: &'a Kept<K, V>,
    key: &'a K,
}

impl<K: PartialEq, V> Drop for Turn<'_, K, V> {
    fn drop(&mut self) {
        let mut entries = self.kept.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.making.retain(|key| key != self.key);
        drop(entries);
        self.kept.made.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(key: u32, bytes: u64) -> One<u32, u32> {
        One { key, files: Vec::new(), value: Arc::new(key), bytes }
    }

    fn keys(kept: &Kept<u32, u32>) -> Vec<u32> {
        kept.entries().values.iter().map(|one| one.key).collect()
    }

    #[test]
    fn the_longest_unused_go_first_and_nothing_exceeds_its_share() {
        let kept: Kept<u32, u32> = Kept::new(3, 4);
        let room = limits::memory() / 4;
        for key in 1..=4 {
            kept.keep(one(key, room / 8));
        }
        assert_eq!(keys(&kept), [4, 3, 2]);
        assert_eq!(kept.find(|key, _| *key == 2).as_deref(), Some(&2));
        assert_eq!(keys(&kept), [2, 4, 3]);
        kept.keep(one(5, room - room / 8));
        assert_eq!(keys(&kept), [5, 2]);
        kept.keep(one(6, room + 1));
        assert_eq!(keys(&kept), [5, 2], "too large for any room");
    }

    #[test]
    fn a_turn_ends_with_its_making() {
        let kept: Kept<u32, u32> = Kept::new(1, 4);
        kept.entries().making.push(7);
        drop(Turn { kept: &kept, key: &7 });
        assert!(kept.entries().making.is_empty());
    }
}
