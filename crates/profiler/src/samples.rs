//! Measurements of single operators and collectives, from traces as plain values: the input of a calibration.
//!
//! Responsible for: kernels of one operator call, its shape and format, transfers without waits, and parts of
//! steps. Does not fit, and skips samples without a recorded shape, with their number.

mod collectives;
mod options;
mod products;
mod shapes;
mod steps;

pub(crate) use shapes::{attention, format, lists, product};

pub use options::{Part, SampleOptions};

use crate::Job;
use crate::joined::Joined;
use crate::profile::{OneByOne, profile};
use crate::view::View;
use railwright_spec::calibration::Samples;
use railwright_spec::problem::Problem;

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
