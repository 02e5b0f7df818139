//! A saved profile: the ranks of a job and its pipeline passes, in one file that loads fast.
//!
//! Responsible for: one tar archive, readable by any tool. Its first member, [`MANIFEST`], has the version,
//! the ranks and the checksum of every other member; columns are Parquet, the rest is JSON. A profile is read
//! back exactly. Rejects files of newer versions, and members with a wrong checksum.
//!
//! Ranks are independent of each other: [`Store::rank`] and [`rank_parts`] may be called concurrently.

mod archive;
mod passes;
mod rank;
#[cfg(test)]
mod tests;

pub use archive::Part;
pub use passes::passes_parts;
pub use rank::rank_parts;

use archive::Archive;
use bytes::Bytes;
use railwright_profiler::job::{Job, Member};
use railwright_profiler::passes::Passes;
use railwright_profiler::readers::{Keep, Reader, Recording};
use railwright_profiler::trace::NONE;
use railwright_spec::problem::{Problem, Warning};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Name of the first member.
pub const MANIFEST: &str = "railwright-profile.json";
/// Version of the file. It increases when older programs could not read it, or would read it wrongly.
pub const VERSION: u32 = 1;
/// Format name in the manifest.
const FORMAT: &str = "railwright profile";

/// First member of the archive.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Manifest {
    format: String,
    version: u32,
    written_by: String,
    world_size: u32,
    /// Absent in files of the first writers of this version. All other keys are required, so that a damaged
    /// key is not read as an empty profile.
    #[serde(default)]
    world_size_known: bool,
    ranks: Vec<u32>,
    passes: u32,
    warnings: Vec<StoredWarning>,
    parts: Vec<Sealed>,
}

/// A warning, readable.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct StoredWarning {
    id: String,
    message: String,
}

/// A member with its checksum (CRC-32).
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Sealed {
    name: String,
    bytes: u64,
    crc32: u32,
}

/// Checks that a manifest lists each rank and part once, as the writer does. Otherwise a rank listed a
/// hundred times would be read a hundred times.
fn check(manifest: &Manifest) -> Result<(), Problem> {
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

/// Content of a saved profile.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Saved {
    /// Job with its ranks.
    pub job: Job,
    /// Pipeline passes of the same job.
    pub passes: Vec<Passes>,
}

/// Writes a job and passes, rank after rank.
pub fn save(job: &Job, passes: &[Passes]) -> Result<Vec<u8>, Problem> {
    let mut parts = Vec::new();
    for member in &job.members {
        parts.extend(rank_parts(member)?);
    }
    for (index, passes) in passes.iter().enumerate() {
        parts.extend(passes_parts(index, passes)?);
    }
    assemble(job, passes.len(), parts)
}

/// Combines concurrently created parts into a file. `job` provides the parts of all ranks.
pub fn assemble(job: &Job, passes: usize, parts: Vec<Part>) -> Result<Vec<u8>, Problem> {
    let text_of =
        |warning: &Warning| StoredWarning { id: warning.id.clone(), message: warning.message.clone() };
    let sealed = |part: &Part| Sealed {
        name: part.name.clone(),
        bytes: part.bytes.len() as u64,
        crc32: crc32fast::hash(&part.bytes),
    };
    let manifest = Manifest {
        format: FORMAT.to_owned(),
        version: VERSION,
        written_by: format!("railwright {}", env!("CARGO_PKG_VERSION")),
        world_size: job.world_size,
        world_size_known: job.world_size_known,
        ranks: job.members.iter().map(|member| member.rank).collect(),
        passes: passes as u32,
        warnings: job.warnings.iter().map(text_of).collect(),
        parts: parts.iter().map(sealed).collect(),
    };
    let first = Part { name: MANIFEST.to_owned(), bytes: json(&manifest)? };
    archive::pack(std::iter::once(first).chain(parts))
}

fn json(value: &impl Serialize) -> Result<Vec<u8>, Problem> {
    serde_json::to_vec(value).map_err(|error| Problem::new(format!("cannot write JSON: {error}")))
}

/// True if bytes start like a saved profile.
pub fn is_store(head: &[u8]) -> bool {
    head.strip_prefix(MANIFEST.as_bytes()).is_some_and(|rest| rest.first() == Some(&0))
}

/// An opened saved profile; only its manifest was read.
#[derive(Debug)]
pub struct Store {
    label: String,
    manifest: Manifest,
    /// Index of each part in the manifest.
    parts: BTreeMap<String, usize>,
    archive: Archive,
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

    /// Number of ranks.
    pub fn ranks(&self) -> usize {
        self.manifest.ranks.len()
    }

    /// Reads the rank at an index.
    pub fn rank(&self, at: usize) -> Result<Member, Problem> {
        let rank = self.manifest.ranks.get(at).ok_or_else(|| self.missing("the rank"))?;
        rank::read(*rank, self).map_err(|problem| problem.in_file(&self.label))
    }

    /// Reads the tables of passes.
    pub fn passes(&self) -> Result<Vec<Passes>, Problem> {
        (0..self.manifest.passes as usize).map(|index| passes::read(index, self)).collect()
    }

    /// Job of the given ranks.
    pub fn job(&self, mut members: Vec<Member>) -> Job {
        members.sort_by_key(|member| member.rank);
        members.dedup_by_key(|member| member.rank);
        let warnings = self.manifest.warnings.iter();
        Job {
            members,
            world_size: self.manifest.world_size,
            world_size_known: self.manifest.world_size_known,
            warnings: warnings
                .map(|text_of| Warning::new(text_of.id.clone(), text_of.message.clone()))
                .collect(),
            telemetry: Vec::new(),
        }
    }

    /// Reads everything, rank after rank.
    pub fn load(&self) -> Result<Saved, Problem> {
        let members = (0..self.ranks()).map(|at| self.rank(at)).collect::<Result<_, _>>()?;
        Ok(Saved { job: self.job(members), passes: self.passes()? })
    }

    /// True if the archive has such a member.
    fn has(&self, name: &str) -> bool {
        self.parts.contains_key(name)
    }

    /// Reads a member and checks its checksum.
    fn part(&self, name: &str) -> Result<Bytes, Problem> {
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

    fn missing(&self, what: &str) -> Problem {
        Problem::new(format!("the saved profile lacks {what}")).in_file(&self.label)
    }

    /// Name of a member with its file, for problems.
    fn within(&self, part: &str) -> String {
        format!("{} ({part})", self.label)
    }
}

/// Reader of saved profiles.
#[derive(Clone, Copy, Debug)]
pub struct SavedProfile;

impl Reader for SavedProfile {
    fn name(&self) -> &'static str {
        "saved profile"
    }

    fn matches(&self, head: &[u8]) -> bool {
        is_store(head)
    }

    fn read(&self, label: &str, bytes: &[u8], _: Keep) -> Result<Vec<Recording>, Problem> {
        let saved = Store::open(label, Bytes::copy_from_slice(bytes))?.load()?;
        let ranks = saved.job.members.into_iter().map(|member| {
            let mut trace = member.trace;
            trace.identity.rank = Some(member.rank);
            Recording::Rank(Box::new(trace))
        });
        Ok(ranks.chain(saved.passes.into_iter().map(Recording::Passes)).collect())
    }
}
