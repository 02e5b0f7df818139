//! What traces do not record, for samples of operators.
//!
//! Responsible for: the options of a reading. Excludes their defaults in commands.

use crate::profile::Options;
use railwright_spec::precision::DataType;

/// Values that traces do not record.
#[derive(Clone, Debug, Default)]
pub struct SampleOptions {
    /// Tables of names and rules for step boundaries.
    pub profile: Options,
    /// The format of GEMMs without a format in their kernel name.
    pub format: Option<DataType>,
    /// Part of the recording to use, so that one part of a trace can validate a fit to the other.
    pub part: Part,
}

/// A part of the recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Part {
    /// The whole recording.
    #[default]
    All,
    /// Activities that began in the first half of the recording.
    FirstHalf,
    /// Activities that began in the second half.
    SecondHalf,
}

impl Part {
    /// Tests whether an activity that began at `start` belongs to the part.
    pub(super) fn takes(self, start: i64, (from, to): (i64, i64)) -> bool {
        let middle = from + (to - from) / 2;
        match self {
            Self::All => true,
            Self::FirstHalf => start < middle,
            Self::SecondHalf => start >= middle,
        }
    }
}
