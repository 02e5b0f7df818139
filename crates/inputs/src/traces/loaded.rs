//! Recordings of a job, as they were read.

use railwright_profiler::readers::Recording;
use railwright_profiler::telemetry::Sample;
use railwright_profiler::{RankTrace, digest};
use railwright_spec::problem::Problem;

/// Content.
#[derive(Clone, Debug, Default)]
pub struct Loaded {
    /// Recordings, in the order of their paths.
    pub recordings: Vec<Recording>,
    /// Files that could not be read, with the reason.
    pub problems: Vec<Problem>,
    /// Number of files, including members of archives.
    pub files: usize,
}

impl Loaded {
    /// Tests whether there is a trace of a rank.
    pub fn has_ranks(&self) -> bool {
        self.recordings.iter().any(|recording| matches!(recording, Recording::Rank(_)))
    }

    /// Returns an error for digests, for requests that need the data they omit.
    pub fn without_digests(self) -> Result<Self, Problem> {
        let found = self.recordings.iter().find_map(|recording| match recording {
            Recording::Rank(trace) if trace.identity.digest => Some(trace.identity.label.clone()),
            _ => None,
        });
        match found {
            Some(label) => Err(Problem::new(digest::LEFT_OUT)
                .in_file(label)
                .hint("pass the trace; any engine that reads Parquet can query a digest")),
            None => Ok(self),
        }
    }

    /// Readings of counters in the folder of the traces.
    pub fn telemetry(&self) -> Vec<Sample> {
        let of = |recording: &Recording| match recording {
            Recording::Telemetry { samples, .. } => samples.clone(),
            _ => Vec::new(),
        };
        self.recordings.iter().flat_map(of).collect()
    }

    /// Only the traces of ranks.
    pub fn into_ranks(self) -> Vec<RankTrace> {
        self.recordings
            .into_iter()
            .filter_map(|recording| match recording {
                Recording::Rank(trace) => Some(*trace),
                _ => None,
            })
            .collect()
    }
}
