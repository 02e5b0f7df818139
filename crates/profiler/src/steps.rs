//! The steps of a job, the same for all reports.
//!
//! Responsible for: the steady steps of a job ([`of_job`]), without warm-up and with the whole last step, so
//! that every report has the same mean step. Does not find step boundaries: see [`crate::windows`].

mod count;
mod opening;

pub(crate) use count::count;
pub(crate) use opening::{opened, opening};

use crate::Job;
use crate::joined::Joined;
use crate::occupancy::Occupancy;
use crate::view::{Tables, View};
use crate::windows::{StepRange, StepWindow, Windows, windows_by};
use crate::workers::Workers;
use railwright_spec::problem::Problem;

/// The steps of a joined job: without warm-up, and with the part of the last step after the end of the
/// recording.
pub fn of_job(job: &Job, joined: &Joined, tables: &Tables, workers: &impl Workers) -> Windows {
    steady_of(job, joined, tables, workers).0
}

/// The same, with the activity of the ranks.
pub(crate) fn steady_of(
    job: &Job,
    joined: &Joined,
    tables: &Tables,
    workers: &impl Workers,
) -> (Windows, Vec<Occupancy>) {
    let views = workers.map(&job.members, |_, member| View::new(&member.trace, tables));
    let names = &tables.communication;
    let occupancies = workers.map(&job.members, |_, member| Occupancy::of(&member.trace, names));
    (steady(job, joined, (&views, &occupancies), workers), occupancies)
}

/// The same for known views and activities of the ranks.
pub(crate) fn steady(
    job: &Job,
    joined: &Joined,
    (views, occupancies): (&[View<'_>], &[Occupancy]),
    workers: &impl Workers,
) -> Windows {
    let mut windows = windows_by(views, joined, workers);
    windows.settle(job.members.iter().map(|member| &member.trace));
    complete(job, &mut windows, occupancies);
    windows
}

/// All steps for known views and activities of the ranks, warm-up included.
pub(crate) fn all(
    job: &Job,
    joined: &Joined,
    (views, occupancies): (&[View<'_>], &[Occupancy]),
    workers: &impl Workers,
) -> Windows {
    let mut windows = windows_by(views, joined, workers);
    complete(job, &mut windows, occupancies);
    windows
}

/// The steps of a range, else those of [`of_job`]; an error if the range contains none.
pub(crate) fn of_range(
    job: &Job,
    joined: &Joined,
    tables: &Tables,
    range: Option<StepRange>,
    workers: &impl Workers,
) -> Result<Windows, Problem> {
    let Some(range) = range else { return Ok(of_job(job, joined, tables, workers)) };
    let views = workers.map(&job.members, |_, member| View::new(&member.trace, tables));
    let names = &tables.communication;
    let occupancies = workers.map(&job.members, |_, member| Occupancy::of(&member.trace, names));
    all(job, joined, (&views, &occupancies), workers).within(range)
}

/// Extends the last step by its part after the end of the recording, so that the mean over steps is the mean
/// step. If steps begin with the first compute of the device, the last one lacks the time until a next one.
/// In a job of one rank steps begin with the host's work instead.
pub(crate) fn complete(job: &Job, windows: &mut Windows, occupancies: &[Occupancy]) {
    if job.members.len() < 2 || windows.added != 0 {
        return;
    }
    let opening = opening(job, occupancies, windows);
    let recorded: i64 = windows.steps.iter().map(StepWindow::duration).sum();
    let mean = (recorded + opening) as f64 / count(windows, opening, occupancies);
    let number = windows.steps.len() as f64;
    if let Some(last) = windows.steps.last_mut() {
        windows.added = ((mean * number).round() as i64 - recorded).max(0);
        last.end += windows.added;
    }
}
