//! A table of a job as it is asked.

use super::rows::Lazy;
use railwright_profiler::Job;
use railwright_profiler::joined::Joined;
use railwright_profiler::matching::PartRef;
use railwright_profiler::passes::Passes;
use railwright_profiler::windows::Windows;

/// Data of a profile for queries.
#[derive(Clone, Debug, Default)]
pub struct Profile {
    /// Job with its ranks.
    pub job: Job,
    /// Pipeline passes of the same job.
    pub passes: Vec<Passes>,
    /// Joined ranks; `None` if not joined.
    pub joined: Option<Joined>,
    /// Windows of the steps; `None` if steps were not detected.
    pub windows: Option<Windows>,
}

/// A profile with data needed by several tables.
pub(super) struct Asked {
    pub(super) profile: Profile,
    /// Index of the collective and part, for every part of every matched collective.
    pub(super) parts: Vec<(u32, PartRef)>,
    /// Start of the job's first activity.
    pub(super) first: i64,
    pub(super) gpu: Vec<Side>,
    pub(super) host: Vec<Side>,
}

/// A side of a rank: device or host.
#[derive(Default)]
pub(super) struct Side {
    pub(super) sorted: bool,
    pub(super) correlation: Lazy,
    pub(super) collective: Lazy,
}
