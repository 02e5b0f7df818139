//! What analyses found, as slices.
//!
//! Responsible for: steps of the job, and the waits of matched collectives with whom they were for. Refuses to be more than a view: nothing is computed here
//! that the analyses do not say.

use crate::Job;
use crate::joined::Joined;
use crate::windows::Windows;

/// A slice that no recorder wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    /// The rank it belongs to; none for the whole job.
    pub rank: Option<u32>,
    /// The track that it is on with others of its kind.
    pub track: String,
    /// What it is called.
    pub name: String,
    /// From when.
    pub start: i64,
    /// Until when.
    pub end: i64,
    /// What more there is to say.
    pub details: Vec<(String, String)>,
}

/// Waits below this are left out, in nanoseconds: clocks agree no better.
const SHORTEST: i64 = 5_000;

/// The steps of a job.
pub fn steps(windows: &Windows) -> Vec<Mark> {
    let mark = |(at, step): (usize, &crate::windows::StepWindow)| Mark {
        rank: None,
        track: "steps".to_owned(),
        name: format!("step {}", windows.name(at)),
        start: step.start,
        end: step.end,
        details: Vec::new(),
    };
    windows.steps.iter().enumerate().map(mark).collect()
}

/// For every matched collective and every rank that came early: the wait, and for whom.
pub fn waits(job: &Job, joined: &Joined) -> Vec<Mark> {
    let matching = &joined.matching;
    let mut marks = Vec::new();
    for collective in matching.collectives.iter().filter(|collective| collective.consistent) {
        let members = matching.members(collective);
        let Some(last) = members.iter().max_by_key(|at| matching.part(**at).start) else { continue };
        let (begun, late) = (matching.part(*last).start, last.member);
        for at in members {
            let part = matching.part(*at);
            let until = begun.min(part.end);
            let (Some(own), Some(late)) =
                (job.members.get(at.member as usize), job.members.get(late as usize))
            else {
                continue;
            };
            if until - part.start < SHORTEST {
                continue;
            }
            let mut details = vec![("kernel".to_owned(), own.trace.names.get(part.name).to_owned())];
            if let Some(bytes) = part.bytes {
                details.push(("bytes".to_owned(), bytes.to_string()));
            }
            details.push(("transfer_ns".to_owned(), (part.end - until).to_string()));
            marks.push(Mark {
                rank: Some(own.rank),
                track: "waiting".to_owned(),
                name: format!("waits for rank {}", late.rank),
                start: part.start,
                end: until,
                details,
            });
        }
    }
    marks.sort_by_key(|mark| (mark.rank, mark.start, mark.end));
    marks
}
