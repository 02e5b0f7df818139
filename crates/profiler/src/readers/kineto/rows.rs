//! Rows of a trace: threads, processes, and begun events without an end.
//!
//! Responsible for: numbering every (process, thread), and joining begins with ends. Identities are text, not
//! numbers: some writers quote process ids, others do not, and both mean the same row.

use super::event::Event;
use crate::NameId;
use crate::readers::scan;
use crate::trace::GpuKind;
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use std::collections::BTreeMap;

/// Rows in the order of first occurrence.
#[derive(Clone, Debug, Default)]
pub(super) struct Threads {
    places: IndexMap<Box<[u8]>, usize, FxBuildHasher>,
    key: Vec<u8>,
    /// Length of the process within `key`, in bytes.
    process: usize,
    last: u32,
}

impl Threads {
    /// Index of a row.
    pub(super) fn place(&mut self, process: &[u8], thread: &[u8]) -> u32 {
        let same =
            self.key.get(..self.process) == Some(process) && self.key.get(self.process + 1..) == Some(thread);
        if same {
            return self.last;
        }
        self.key.clear();
        self.key.extend_from_slice(process);
        self.key.push(0);
        self.key.extend_from_slice(thread);
        self.process = process.len();
        self.last = match self.places.get_index_of(self.key.as_slice()) {
            Some(at) => at,
            None => self.places.insert_full(self.key.as_slice().into(), self.process).0,
        } as u32;
        self.last
    }

    /// Process of a row, as written.
    pub(super) fn process(&self, place: u32) -> &[u8] {
        self.places.get_index(place as usize).map_or(&[], |(key, &length)| &key[..length.min(key.len())])
    }
}

/// Default kind of rows of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProcessRole {
    /// Rows of the device.
    Device(GpuKind),
    /// Calls of the runtime.
    Runtime,
    /// Rows derived from others (sums, overlaps, parts of collectives).
    Derived,
    /// Operators of the host.
    Host,
    /// Time of the device by operator of the host, nested as on the host (PyTorch's profiler of 2020).
    Operators,
}

/// Names of processes.
#[derive(Clone, Debug, Default)]
pub(super) struct Processes {
    names: BTreeMap<Vec<u8>, String>,
}

impl Processes {
    /// Reads a metadata event.
    pub(super) fn learn(&mut self, event: &Event<'_>) {
        let named = event.name.bytes == b"process_name";
        if !named && event.name.bytes != b"process_labels" {
            return;
        }
        let Some(stated) = first_string(event.arguments) else { return };
        let name = self.names.entry(event.process.to_vec()).or_default();
        if named || name.is_empty() {
            *name = stated;
        }
    }

    /// Content of a process's rows.
    pub(super) fn role(&self, process: &[u8]) -> ProcessRole {
        let name = self.names.get(process).map_or("", String::as_str).to_ascii_lowercase();
        if process == b"CUDA functions" {
            return ProcessRole::Operators;
        }
        match name.as_str() {
            "overlap analysis" | "communication" | "hccl" | "ai core freq" | "hbm" | "llc" => {
                ProcessRole::Derived
            }
            "cann" => ProcessRole::Runtime,
            name if name.contains("hardware")
                || name.contains("gpu")
                || name.contains("npu")
                || name.contains("device:") =>
            {
                ProcessRole::Device(GpuKind::Kernel)
            }
            _ => ProcessRole::Host,
        }
    }
}

fn first_string(object: &[u8]) -> Option<String> {
    let (text, after) = scan::text(object, memchr::memchr(b'"', object)? + 1).ok()?;
    if text.bytes != b"name" && text.bytes != b"labels" {
        return None;
    }
    let (at, _) = scan::next(object, after).ok().filter(|&(_, b)| b == b':')?;
    let (at, _) = scan::next(object, at + 1).ok().filter(|&(_, b)| b == b'"')?;
    Some(scan::decode(scan::text(object, at + 1).ok()?.0).0)
}

/// An event that has begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Open {
    pub(super) name: NameId,
    pub(super) start: i64,
    pub(super) offset: u64,
}

/// Begun events without an end, by row.
#[derive(Clone, Debug, Default)]
pub(super) struct Begun {
    rows: BTreeMap<u32, Vec<Open>>,
}

impl Begun {
    /// Adds a begin.
    pub(super) fn push(&mut self, thread: u32, open: Open) {
        self.rows.entry(thread).or_default().push(open);
    }

    /// Removes the begin of an end: the last one with its name, or the last one if the end has no name.
    pub(super) fn pop(&mut self, thread: u32, name: Option<NameId>) -> Option<Open> {
        let open = self.rows.get_mut(&thread)?;
        let at = match name {
            Some(name) => open.iter().rposition(|o| o.name == name)?,
            None => open.len().checked_sub(1)?,
        };
        Some(open.remove(at))
    }

    /// Events that were never ended.
    pub(super) fn left(&self) -> impl Iterator<Item = &Open> {
        self.rows.values().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_places_in_the_order_of_their_first_event() {
        let mut threads = Threads::default();
        let places = [
            threads.place(b"1", b"2"),
            threads.place(b"1", b"2"),
            threads.place(b"1", b"3"),
            threads.place(b"", b"3"),
            threads.place(b"1", b"2"),
        ];
        assert_eq!(places, [0, 0, 1, 2, 0]);
        assert_eq!((threads.process(1), threads.process(2)), (&b"1"[..], &b""[..]));
    }

    #[test]
    fn ends_find_their_begins_by_name() {
        let mut begun = Begun::default();
        let open = |name, start| Open { name: NameId(name), start, offset: 0 };
        for one in [open(1, 10), open(2, 11), open(1, 12)] {
            begun.push(0, one);
        }
        assert_eq!(begun.pop(0, Some(NameId(2))), Some(open(2, 11)));
        assert_eq!(begun.pop(0, None), Some(open(1, 12)));
        assert_eq!((begun.pop(0, Some(NameId(3))), begun.pop(1, None)), (None, None));
        assert_eq!(begun.left().count(), 1);
    }
}
