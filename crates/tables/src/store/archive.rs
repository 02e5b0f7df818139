//! The tar archive of a saved profile.
//!
//! Responsible for: named parts in one file and back, without copies. Equal parts give equal bytes. Rejects
//! links and folders.

use bytes::Bytes;
use railwright_spec::problem::Problem;
use std::collections::BTreeMap;
use std::io::Cursor;

/// A member of the archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Name.
    pub name: String,
    /// Content.
    pub bytes: Vec<u8>,
}

/// Puts parts into one file, in their order.
pub(super) fn pack(parts: impl IntoIterator<Item = Part>) -> Result<Vec<u8>, Problem> {
    let mut out = tar::Builder::new(Vec::new());
    for part in parts {
        let mut header = tar::Header::new_ustar();
        header.set_size(part.bytes.len() as u64);
        header.set_mode(0o644);
        header.set_mtime(0);
        out.append_data(&mut header, &part.name, &*part.bytes)
            .map_err(|error| Problem::new(format!("cannot add `{}` to the file: {error}", part.name)))?;
    }
    out.into_inner().map_err(|error| Problem::new(format!("cannot finish the file: {error}")))
}

/// An opened archive.
#[derive(Debug)]
pub(super) struct Archive {
    bytes: Bytes,
    /// Start and end of each member, as byte offsets.
    members: BTreeMap<String, (usize, usize)>,
}

impl Archive {
    /// Finds the members, without one that the end of the file cuts off.
    pub(super) fn open(label: &str, bytes: Bytes) -> Result<Self, Problem> {
        let damaged = |error: std::io::Error| {
            Problem::new(format!("the saved profile is damaged: {error}"))
                .in_file(label)
                .hint("copy the file again, or read the traces again")
        };
        let mut members = BTreeMap::new();
        let mut archive = tar::Archive::new(Cursor::new(&*bytes));
        for entry in archive.entries().map_err(damaged)? {
            let Ok(entry) = entry else { break };
            if entry.header().entry_type() != tar::EntryType::Regular {
                continue;
            }
            let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
            let start = usize::try_from(entry.raw_file_position()).unwrap_or(usize::MAX);
            let end = start.saturating_add(usize::try_from(entry.size()).unwrap_or(usize::MAX));
            if end <= bytes.len() {
                members.entry(name).or_insert((start, end));
            }
        }
        Ok(Self { bytes, members })
    }

    /// Bytes of a member; `None` if it does not exist.
    pub(super) fn get(&self, name: &str) -> Option<Bytes> {
        let &(start, end) = self.members.get(name)?;
        Some(self.bytes.slice(start..end))
    }
}
