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
mod sealed;
#[cfg(test)]
mod tests;

pub use archive::Part;
pub use passes::passes_parts;
pub use rank::rank_parts;
use sealed::{FORMAT, Manifest, Sealed, StoredWarning, json};
pub use sealed::{MANIFEST, Store, VERSION, is_store};

use bytes::Bytes;
use railwright_profiler::job::{Job, Member};
use railwright_profiler::passes::Passes;
use railwright_profiler::readers::{Keep, Reader, Recording};
use railwright_spec::problem::{Problem, Warning};

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

impl Store {
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
