//! The sealed parts of a saved profile, with their manifest.

use super::archive::Archive;
use bytes::Bytes;
use railwright_profiler::trace::NONE;
use railwright_spec::problem::Problem;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Name of the first member.
pub const MANIFEST: &str = "railwright-profile.json";

/// Version of the file. It increases when older programs could not read it, or would read it wrongly.
pub const VERSION: u32 = 1;

/// Format name in the manifest.
pub(super) const FORMAT: &str = "railwright profile";

/// First member of the archive.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct Manifest {
    pub(super) format: String,
    pub(super) version: u32,
    pub(super) written_by: String,
    pub(super) world_size: u32,
    /// Absent in files of the first writers of this version. All other keys are required, so that a damaged
    /// key is not read as an empty profile.
    #[serde(default)]
    pub(super) world_size_known: bool,
    pub(super) ranks: Vec<u32>,
    pub(super) passes: u32,
    pub(super) warnings: Vec<StoredWarning>,
    pub(super) parts: Vec<Sealed>,
}

/// A warning, readable.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct StoredWarning {
    pub(super) id: String,
    pub(super) message: String,
}

/// A member with its checksum (CRC-32).
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct Sealed {
    pub(super) name: String,
    pub(super) bytes: u64,
    pub(super) crc32: u32,
}

/// Checks that a manifest lists each rank and part once, as the writer does. Otherwise a rank listed a
/// hundred times would be read a hundred times.
pub(super) fn check(manifest: &Manifest) -> Result<(), Problem> {
    if manifest.ranks.contains(&NONE) {
        return Err(Problem::new(format!("the manifest lists the invalid rank {NONE}")));
    }
    let mut ranks = BTreeSet::new();
    if let Some(rank) = manifest.ranks.iter().find(|rank| !ranks.insert(**rank)) {
        return Err(Problem::new(format!("the manifest lists rank {rank} twice")));
    }
    let mut parts = BTreeSet::new();
    if let Some(part) = manifest.parts.iter().find(|part| !parts.insert(part.name.as_str())) {
        return Err(Problem::new(format!("the manifest lists `{}` twice", part.name)));
    }
    if manifest.passes as usize > manifest.parts.len() {
        let message = format!("the manifest lists {} tables of passes without parts", manifest.passes);
        return Err(Problem::new(message));
    }
    Ok(())
}

pub(super) fn json(value: &impl Serialize) -> Result<Vec<u8>, Problem> {
    serde_json::to_vec(value).map_err(|error| Problem::new(format!("cannot write JSON: {error}")))
}

/// True if bytes start like a saved profile.
pub fn is_store(head: &[u8]) -> bool {
    head.strip_prefix(MANIFEST.as_bytes()).is_some_and(|rest| rest.first() == Some(&0))
}

/// An opened saved profile; only its manifest was read.
#[derive(Debug)]
pub struct Store {
    pub(super) label: String,
    pub(super) manifest: Manifest,
    /// Index of each part in the manifest.
    pub(super) parts: BTreeMap<String, usize>,
    pub(super) archive: Archive,
}

impl Store {
    /// Opens a saved profile.
    pub fn open(label: &str, bytes: impl Into<Bytes>) -> Result<Self, Problem> {
        let bytes = bytes.into();
        if !is_store(&bytes) {
            return Err(Problem::new("not a saved profile")
                .in_file(label)
                .hint("write one with `railwright save PATH... -o run.railwright`"));
        }
        let archive = Archive::open(label, bytes)?;
        let first = archive.get(MANIFEST).unwrap_or_default();
        let manifest: Manifest = serde_json::from_slice(&first).map_err(|error| {
            Problem::new(format!("the manifest of the saved profile is damaged: {error}")).in_file(label)
        })?;
        if manifest.format != FORMAT || manifest.version == 0 {
            return Err(Problem::new("the manifest is not that of a saved profile").in_file(label));
        }
        if manifest.version > VERSION {
            let message = format!(
                "the saved profile has version {}, written by {}; this program reads up to version {VERSION}",
                manifest.version, manifest.written_by
            );
            return Err(Problem::new(message)
                .in_file(label)
                .hint("read it with that program, or read the traces again"));
        }
        check(&manifest).map_err(|problem| {
            problem.in_file(label).hint("copy the file again, or read the traces again")
        })?;
        let parts = manifest.parts.iter().enumerate().map(|(at, part)| (part.name.clone(), at)).collect();
        Ok(Self { label: label.to_owned(), manifest, parts, archive })
    }

    /// True if the archive has such a member.
    pub(super) fn has(&self, name: &str) -> bool {
        self.parts.contains_key(name)
    }

    /// Reads a member and checks its checksum.
    pub(super) fn part(&self, name: &str) -> Result<Bytes, Problem> {
        let sealed = self.parts.get(name).and_then(|at| self.manifest.parts.get(*at));
        let sealed = sealed.ok_or_else(|| self.missing(name))?;
        let bytes = self.archive.get(name).ok_or_else(|| self.missing(name))?;
        if bytes.len() as u64 != sealed.bytes || crc32fast::hash(&bytes) != sealed.crc32 {
            return Err(Problem::new(format!(
                "`{name}` in the saved profile is damaged: its checksum is wrong"
            ))
            .in_file(&self.label)
            .hint("copy the file again, or read the traces again"));
        }
        Ok(bytes)
    }

    pub(super) fn missing(&self, what: &str) -> Problem {
        Problem::new(format!("the saved profile lacks {what}")).in_file(&self.label)
    }

    /// Name of a member with its file, for problems.
    pub(super) fn within(&self, part: &str) -> String {
        format!("{} ({part})", self.label)
    }
}
