//! Readers of one format each: what they are asked to keep, and what they return.

use crate::flight::FlightRecord;
use crate::job::{Family, FileIdentity, Standing};
use crate::log::TrainingLog;
use crate::monitors::{inspector, xpu_timer};
use crate::telemetry::Sample;
use crate::{RankTrace, passes::Passes};
use railwright_spec::problem::Problem;
use std::io::Read;

/// Content of one file.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Recording {
    /// The trace of one rank.
    Rank(Box<RankTrace>),
    /// Passes of a pipeline, operator by operator, of one rank or of many.
    Passes(Passes),
    /// Dump of one rank's flight recorder.
    Flight(Box<FlightRecord>),
    /// A training log.
    Log(Box<TrainingLog>),
    /// Lines of NCCL Inspector.
    Inspector {
        /// The collectives.
        records: Vec<inspector::Record>,
        /// Number of unreadable objects.
        damaged: u64,
    },
    /// Counters of devices and network cards, recorded with a trace.
    Telemetry {
        /// The readings.
        samples: Vec<Sample>,
        /// Number of unreadable rows.
        damaged: u64,
    },
    /// XPUTimer's metrics.
    Metrics {
        /// The gauges.
        gauges: Vec<xpu_timer::Gauge>,
        /// Number of unreadable lines.
        damaged: u64,
    },
}

/// Optional content to keep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Keep {
    /// Keep Python functions, which can be most of a trace.
    pub python: bool,
}

/// A reader of one format.
pub trait Reader: Sync {
    /// Name of the format in messages.
    fn name(&self) -> &'static str;

    /// Tests whether bytes (inflated; at least the first 64 KiB, or all) look like this format.
    fn matches(&self, head: &[u8]) -> bool;

    /// Kind of record in its files.
    fn family(&self) -> Family {
        Family::Ranks
    }

    /// Relation of a file with this beginning to a job.
    fn standing(&self, _head: &[u8]) -> Standing {
        Standing::Part
    }

    /// Identity of a trace from the beginning of its file.
    fn clue(&self, _head: &[u8]) -> FileIdentity {
        FileIdentity::default()
    }

    /// Reads a whole inflated file. `label` names it in errors.
    fn read(&self, label: &str, bytes: &[u8], keep: Keep) -> Result<Vec<Recording>, Problem>;

    /// Reads a stream of inflated bytes; readers of large files hold only a window of it.
    fn read_stream(&self, label: &str, source: &mut dyn Read, keep: Keep) -> Result<Vec<Recording>, Problem> {
        let mut bytes = Vec::new();
        source
            .read_to_end(&mut bytes)
            .map_err(|e| Problem::new(format!("it could not be read: {e}")).in_file(label))?;
        self.read(label, &bytes, keep)
    }
}

/// The integer after the first occurrence of a key.
pub(super) fn number_after(bytes: &[u8], key: &[u8]) -> Option<u64> {
    let from = memchr::memmem::find(bytes, key)? + key.len();
    let rest = bytes.get(from..)?.trim_ascii_start().strip_prefix(b":")?.trim_ascii_start();
    let rest = rest.strip_prefix(b"\"").unwrap_or(rest);
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    std::str::from_utf8(rest.get(..digits)?).ok()?.parse().ok()
}
