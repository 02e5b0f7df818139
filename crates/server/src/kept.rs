//! Cached replies: the same request has the same reply until a file that it read changes.
//!
//! Responsible for: bounds in bytes, eviction of the longest unused, and validity: a reply is never returned
//! if its files have changed. Caches only complete results.

use crate::desk::{Outcome, Reply};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Bytes of all replies, at most.
const ROOM: usize = 64 << 20;
/// Bytes of one reply, at most.
const LARGEST: usize = ROOM / 4;

/// Replies by request; `F` is the state of a file that was read.
#[derive(Debug)]
pub struct Kept<F> {
    table: Mutex<Table<F>>,
}

#[derive(Debug)]
struct Table<F> {
    replies: BTreeMap<String, One<F>>,
    clock: u64,
    bytes: usize,
}

#[derive(Debug)]
struct One<F> {
    reply: Reply,
    files: Vec<F>,
    used: u64,
    bytes: usize,
}

impl<F> Default for Kept<F> {
    fn default() -> Self {
        Self { table: Mutex::new(Table { replies: BTreeMap::new(), clock: 0, bytes: 0 }) }
    }
}

impl<F: Clone> Kept<F> {
    fn table(&self) -> MutexGuard<'_, Table<F>> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The reply to the same question, if `is_still_so` holds for all its files.
    pub fn find(&self, question: &str, is_still_so: impl Fn(&F) -> bool) -> Option<Reply> {
        let (reply, files) = {
            let mut table = self.table();
            table.clock += 1;
            let now = table.clock;
            let one = table.replies.get_mut(question)?;
            one.used = now;
            (one.reply.clone(), one.files.clone())
        };
        // The disk is read without holding the lock.
        if files.iter().all(is_still_so) {
            return Some(reply);
        }
        let mut table = self.table();
        if let Some(one) = table.replies.remove(question) {
            table.bytes -= one.bytes;
        }
        None
    }

    /// Stores a reply. `files` are the files read for it, if they are known and unchanging.
    pub fn keep(&self, question: String, reply: &Reply, files: Option<Vec<F>>) {
        let (Reply::Answer { body, outcome, .. }, Some(files)) = (reply, files) else { return };
        let bytes = body.len() + question.len() + files.len() * 256 + 512;
        if *outcome == Outcome::Interrupted || bytes > LARGEST {
            return;
        }
        let mut table = self.table();
        table.clock += 1;
        let one = One { reply: reply.clone(), files, used: table.clock, bytes };
        table.bytes += bytes;
        if let Some(old) = table.replies.insert(question, one) {
            table.bytes -= old.bytes;
        }
        while table.bytes > ROOM {
            let Some(oldest) =
                table.replies.iter().min_by_key(|(_, one)| one.used).map(|(question, _)| question.clone())
            else {
                return;
            };
            if let Some(old) = table.replies.remove(&oldest) {
                table.bytes -= old.bytes;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;

    fn answer(bytes: usize, outcome: Outcome) -> Reply {
        let body = Bytes::from(vec![b'x'; bytes]);
        Reply::Answer { outcome, media: "application/json", body, command: String::new(), notes: Vec::new() }
    }

    fn question(name: usize) -> String {
        format!("estimate {name}")
    }

    #[test]
    fn the_longest_unused_go_first() {
        let kept = Kept::<bool>::default();
        let whole = 8 << 20;
        for name in 0..7 {
            kept.keep(question(name), &answer(whole, Outcome::Yes), Some(Vec::new()));
        }
        assert!(kept.find(&question(0), |is_so| *is_so).is_some());
        kept.keep(question(7), &answer(whole, Outcome::Yes), Some(Vec::new()));
        assert!(kept.find(&question(0), |is_so| *is_so).is_some(), "it was used last");
        assert!(kept.find(&question(1), |is_so| *is_so).is_none(), "it was unused longest");
        assert!(kept.find(&question(7), |is_so| *is_so).is_some());
        assert!(kept.table().bytes <= ROOM);
        for _ in 0..100 {
            kept.keep(question(9), &answer(whole, Outcome::Yes), Some(Vec::new()));
        }
        let table = kept.table();
        assert_eq!(table.bytes, table.replies.values().map(|one| one.bytes).sum::<usize>());
    }

    #[test]
    fn a_changed_file_ends_a_reply() {
        let kept = Kept::<bool>::default();
        kept.keep(question(0), &answer(1, Outcome::Yes), Some(vec![true]));
        kept.keep(question(1), &answer(1, Outcome::Yes), Some(vec![true, false]));
        assert!(kept.find(&question(0), |is_so| *is_so).is_some());
        assert!(kept.find(&question(1), |is_so| *is_so).is_none());
        assert!(kept.find(&question(1), |_| true).is_none(), "it is forgotten");
    }

    #[test]
    fn only_whole_answers_are_kept() {
        let kept = Kept::<bool>::default();
        kept.keep(question(0), &answer(1, Outcome::Interrupted), Some(Vec::new()));
        kept.keep(question(1), &answer(1, Outcome::Yes), None);
        kept.keep(question(2), &answer(LARGEST, Outcome::Yes), Some(Vec::new()));
        kept.keep(
            question(3),
            &Reply::Problems { problems: Vec::new(), command: String::new() },
            Some(Vec::new()),
        );
        kept.keep(question(4), &answer(1, Outcome::No), Some(Vec::new()));
        let found: Vec<bool> =
            (0..5).map(|name| kept.find(&question(name), |is_so| *is_so).is_some()).collect();
        assert_eq!(found, [false, false, false, false, true]);
    }
}
