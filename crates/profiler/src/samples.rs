//! Measurements of single operators and collectives, from traces as plain values: the input of a calibration.
//!
//! Responsible for: kernels of one operator call, its shape and format, transfers without waits, and parts of
//! steps. Does not fit, and skips samples without a recorded shape, with their number.

mod collectives;
mod products;
mod shapes;
mod steps;

pub(crate) use shapes::{attention, format, lists, product};

use crate::Job;
use crate::joined::Joined;
use crate::profile::{OneByOne, Options, profile};
use crate::view::View;
use railwright_spec::calibration::Samples;
use railwright_spec::precision::DataType;
use railwright_spec::problem::Problem;

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
    fn takes(self, start: i64, (from, to): (i64, i64)) -> bool {
        let middle = from + (to - from) / 2;
        match self {
            Self::All => true,
            Self::FirstHalf => start < middle,
            Self::SecondHalf => start >= middle,
        }
    }
}

/// Measurements of a joined job.
pub fn samples(job: &Job, joined: &Joined, options: &SampleOptions) -> Result<Samples, Problem> {
    let mut all = Samples {
        from: labels(job),
        device: job.members.iter().find_map(|m| m.trace.identity.devices.first()).map(|d| d.name.clone()),
        ..Samples::default()
    };
    let mut left = products::Left::default();
    let mut found = products::Found::default();
    for member in &job.members {
        let view = View::new(&member.trace, &options.profile.tables);
        if view.from_host {
            continue;
        }
        products::collect(&view, options, &mut found, &mut left);
    }
    found.into_samples(&mut all);
    left.tell(&mut all.remarks);
    collectives::collect(job, joined, options, &mut all);
    if !job.members.is_empty() {
        let profile = profile(job, joined, &options.profile, &OneByOne)?;
        steps::collect(&profile, &mut all);
    }
    Ok(all)
}

/// Shortened labels of a job's traces.
fn labels(job: &Job) -> String {
    let names: Vec<&str> = job
        .members
        .iter()
        .map(|member| member.trace.identity.label.rsplit(['/', '\\']).next().unwrap_or_default())
        .collect();
    match names.as_slice() {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first, .., last] => format!("{first} to {last} ({} ranks)", names.len()),
    }
}
