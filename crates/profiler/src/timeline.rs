//! A measured step in columns, for a canvas: recordings of all ranks on one clock, and results of the
//! analyses.
//!
//! Responsible for: selection of the step, the ranks and the number of spans ([`Question`]), and the tracks
//! of each rank in order. These are passes of the pipeline with the bubbles between them, the device, its
//! streams, threads of its host, and its counters. Streams have transfers separate from waits. Arrows are
//! those of `arrows`. Excluded ranks are listed (the critical path includes them), merged spans are counted.

mod arrows;
mod counters;
mod critical;
mod marks;
mod passes;
mod range;
mod rank;
mod rows;
#[cfg(test)]
mod tests;

use crate::Job;
use crate::joined::Joined;
use crate::profile::{Finding, Workers};
use crate::view::{Tables, View};
use crate::waterfall::Exchanges;
use crate::windows::{StepRange, Windows};
pub(crate) use passes::class as pass_class;
use railwright_spec::problem::Problem;
use railwright_step::columns::{Columns, Track, TrackHead, Window};
use railwright_step::{Names, Origin};
pub use range::{RowKind, Rows, Summed, sums};
use rows::Drawn;

/// Maximum number of ranks shown by default.
const MOST_RANKS: usize = 16;
/// Maximum number of spans over all tracks.
const MOST_SPANS: usize = 600_000;

/// Selection of the displayed part.
#[derive(Clone, Debug)]
pub struct Question {
    /// Number of the step; by default a typical one.
    pub step: Option<u64>,
    /// Steps from which the typical one is chosen; by default those after the warm-up.
    pub steps: Option<StepRange>,
    /// Selected ranks in the order of their rows; by default the first of each stage, then others up to a
    /// limit.
    pub ranks: Vec<u32>,
    /// A part of the step, in nanoseconds since it began.
    pub window: Option<Window>,
    /// Maximum number of spans per track before small ones are merged.
    pub most_spans: usize,
    /// True to include the threads of hosts.
    pub host: bool,
}

impl Default for Question {
    fn default() -> Self {
        Self { step: None, steps: None, ranks: Vec::new(), window: None, most_spans: 50_000, host: false }
    }
}

/// One step of a job with aligned clocks, in columns.
///
/// # Errors
///
/// If the step or the rank does not exist.
pub fn columns(
    job: &Job,
    joined: &Joined,
    tables: &Tables,
    windows: &Windows,
    findings: &[Finding],
    question: &Question,
    workers: &impl Workers,
) -> Result<Columns, Problem> {
    let at = chosen(windows, question.step)?;
    let Some(step) = windows.steps.get(at) else {
        return Err(Problem::new("nothing was recorded"));
    };
    let label = format!("step {}", windows.name(at));
    let mut columns = Columns::new(label, Origin::Measured, step.duration());
    if let Some(window) = question.window {
        columns.window = Window { from: window.from.max(0), to: window.to.min(step.duration()) };
    }
    let shown = shown(job, joined, question)?;
    let (mut members, hidden): (Vec<usize>, Vec<usize>) =
        (0..job.members.len()).partition(|at| shown.contains(at));
    columns.hidden_ranks = hidden.iter().map(|&at| job.members[at].rank).collect();
    if !question.ranks.is_empty() {
        members = shown;
    }
    let found = crate::pipeline::from_job::passes(job, joined).ok();
    let inputs =
        rank::Inputs { whole: windows.whole(), start: step.start, end: step.end, host: question.host };
    let (drawn, mut counted): (Vec<_>, Vec<_>) =
        drawn(&Read { job, joined, tables, found: found.as_ref() }, &inputs, &members, workers)
            .into_iter()
            .map(|of| ((of.member, of.tracks), of.counters))
            .unzip();
    let mut recorded = crate::telemetry::of_step(job, step.start, step.end);
    // Other ranks may wait for a rank outside the view: the critical path includes all ranks.
    let unseen: Vec<(usize, Drawn)> = workers.map(&hidden, |_, &at| {
        let view = View::new(&job.members[at].trace, tables);
        let exchanges = Exchanges::of(joined, at, &view);
        (at, rank::device(&view, &exchanges, &inputs))
    });
    let stages: Vec<u32> = drawn.iter().map(|(at, _)| stage(job, joined, found.as_ref(), *at)).collect();
    let staged = stages.iter().any(|stage| *stage > 0);
    let tracks: usize = drawn.iter().map(|(_, drawn)| drawn.len()).sum();
    let most = question.most_spans.min(MOST_SPANS / tracks.max(1)).max(100);
    let mut names = Names::default();
    let mut rank_tracks: Vec<critical::RankTrack<'_>> = Vec::new();
    let mut places = arrows::Places::default();
    for (((at, drawn), counted), stage) in drawn.iter().zip(&mut counted).zip(&stages) {
        let rank = job.members[*at].rank;
        let group = if staged { format!("stage {stage}, rank {rank}") } else { format!("rank {rank}") };
        for one in drawn {
            let rows = one.named(&mut names);
            let (track, went) = Track::of(one.head(&group, rank, *stage), &rows, columns.window, most);
            let track = columns.add(track);
            if one.name == rank::DEVICE {
                rank_tracks.push(critical::RankTrack {
                    member: *at,
                    rank,
                    drawn: one,
                    place: Some((track, went.clone())),
                });
            }
            places.take(*at, one, track, &went);
        }
        let head =
            |name: &str| TrackHead { group: group.clone(), name: name.to_owned(), rank, stage: *stage };
        counted.extend(recorded.get_mut(*at).map(std::mem::take).unwrap_or_default());
        columns.counters.extend(counters::of(std::mem::take(counted), columns.window, head));
    }
    rank_tracks.extend(unseen.iter().map(|(at, drawn)| critical::RankTrack {
        member: *at,
        rank: job.members[*at].rank,
        drawn,
        place: None,
    }));
    critical::mark(&mut columns, &rank_tracks, joined, step.start);
    places.draw(&mut columns, joined);
    columns.bubbles = drawn
        .iter()
        .zip(&stages)
        .filter_map(|((at, drawn), stage)| passes::bubbles(drawn, job.members[*at].rank, *stage))
        .collect();
    columns.name_bubbles(&mut names);
    columns.names = names.iter().map(str::to_owned).collect();
    columns.marks = marks::of(&columns, findings);
    Ok(columns)
}

/// Input of the tracks of all ranks.
struct Read<'a> {
    job: &'a Job,
    joined: &'a Joined,
    tables: &'a Tables,
    found: Option<&'a crate::passes::Passes>,
}

/// Tracks and counters of a member.
struct OfRank {
    /// Index in the job.
    member: usize,
    tracks: Vec<Drawn>,
    counters: Vec<counters::Changes>,
}

/// Tracks and counters of members, by index in the job.
fn drawn(read: &Read<'_>, inputs: &rank::Inputs, places: &[usize], workers: &impl Workers) -> Vec<OfRank> {
    workers.map(places, |_, &at| {
        let member = &read.job.members[at];
        let view = View::new(&member.trace, read.tables);
        let exchanges = Exchanges::of(read.joined, at, &view);
        let own = read.found.map(|found| passes::of_rank(found, member.rank, inputs)).unwrap_or_default();
        OfRank {
            member: at,
            counters: counters::read(&view, &exchanges, inputs),
            tracks: rank::draw(&view, &exchanges, inputs, own),
        }
    })
}

/// Index of the step to show: the given one, otherwise the one whose duration is closest to the median.
fn chosen(windows: &Windows, step: Option<u64>) -> Result<usize, Problem> {
    if let Some(step) = step {
        let numbered = windows.steps.iter().position(|window| window.number == Some(step));
        let by_place = || {
            let none = windows.steps.iter().all(|window| window.number.is_none());
            usize::try_from(step)
                .ok()?
                .checked_sub(windows.warm_up.len())
                .filter(|at| none && *at < windows.steps.len())
        };
        return numbered.or_else(by_place).ok_or_else(|| {
            let names: Vec<String> = (0..windows.steps.len().min(16)).map(|at| windows.name(at)).collect();
            Problem::new(format!("there is no step {step}"))
                .in_file("--step")
                .hint(format!("use one of the recorded steps: {}", names.join(", ")))
        });
    }
    let mut lengths: Vec<i64> = windows.steps.iter().map(crate::windows::StepWindow::duration).collect();
    let median = crate::replay::median(&mut lengths);
    let nearest = windows.steps.iter().enumerate().min_by_key(|(_, step)| (step.duration() - median).abs());
    Ok(nearest.map_or(0, |(at, _)| at))
}

/// Members to show: the selected ones; otherwise the first of each stage, then others up to the limit.
fn shown(job: &Job, joined: &Joined, question: &Question) -> Result<Vec<usize>, Problem> {
    if !question.ranks.is_empty() {
        return selected(job, &question.ranks);
    }
    let mut order: Vec<usize> = (0..job.members.len()).collect();
    let mut seen: Vec<u32> = Vec::new();
    order.sort_by_cached_key(|at| {
        let stage = crate::measured::stage(joined, job.members[*at].rank);
        let again = seen.iter().filter(|known| **known == stage).count();
        seen.push(stage);
        (again, stage, *at)
    });
    order.truncate(MOST_RANKS);
    Ok(order)
}

/// Members of selected ranks, each once.
fn selected(job: &Job, ranks: &[u32]) -> Result<Vec<usize>, Problem> {
    if ranks.len() > MOST_RANKS {
        return Err(Problem::new(format!("{} ranks exceed the limit of {MOST_RANKS}", ranks.len()))
            .in_file("--rank")
            .hint(format!("select at most {MOST_RANKS} ranks")));
    }
    let mut found = Vec::with_capacity(ranks.len());
    for &rank in ranks {
        let at = job.position(rank).ok_or_else(|| {
            let known: Vec<String> = job.members.iter().take(16).map(|m| m.rank.to_string()).collect();
            Problem::new(format!("no trace of rank {rank}"))
                .in_file("--rank")
                .hint(format!("use one of the traced ranks: {}", known.join(", ")))
        })?;
        if !found.contains(&at) {
            found.push(at);
        }
    }
    Ok(found)
}

/// Stage of a member: from its passes, otherwise its index in its pipeline group.
fn stage(job: &Job, joined: &Joined, found: Option<&crate::passes::Passes>, at: usize) -> u32 {
    let rank = job.members[at].rank;
    let own = found.and_then(|found| found.passes.iter().find(|pass| pass.rank == rank));
    own.map_or_else(|| crate::measured::stage(joined, rank), |pass| pass.stage)
}
