//! Results of analyses as slices.
//!
//! Responsible for: steps of the job, waits of matched collectives, stragglers, and stalls of a pipeline.
//! Waits have the awaited ranks, stragglers the times at which they delayed others, and stalls their cost. A
//! view only: all values come from the analyses.

use crate::Job;
use crate::attribution::StragglerReport;
use crate::joined::Joined;
use crate::passes::Passes;
use crate::pipeline::PipelinePage;
use crate::windows::Windows;
use railwright_spec::human;
use railwright_spec::quantity::Seconds;

/// A slice with a result of an analysis.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    /// Rank of the mark; `None` for the whole job.
    pub rank: Option<u32>,
    /// Track with marks of the same kind.
    pub track: String,
    /// Name.
    pub name: String,
    /// Start time.
    pub start: i64,
    /// End time.
    pub end: i64,
    /// Further details.
    pub details: Vec<(String, String)>,
}

/// Minimum wait in nanoseconds: the accuracy of clocks.
const SHORTEST: i64 = 5_000;

/// The steps of a job, warm-up included.
pub fn steps(windows: &Windows) -> Vec<Mark> {
    let mark = |(at, step): (usize, &crate::windows::StepWindow)| Mark {
        rank: None,
        track: "steps".to_owned(),
        name: format!("step {}", step.number.unwrap_or(at as u64)),
        start: step.start,
        end: step.end,
        details: Vec::new(),
    };
    windows.warm_up.iter().chain(&windows.steps).enumerate().map(mark).collect()
}

/// Waits of every matched collective and early rank, with their causes.
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

/// Name of the track of verdicts.
const VERDICTS: &str = "verdicts";

fn time(nanoseconds: f64) -> String {
    human::seconds(Seconds::new(nanoseconds * 1e-9))
}

/// By straggler: a slice over the recording with its verdict, and one for each interval that delayed others.
pub fn stragglers(windows: &Windows, report: &StragglerReport) -> Vec<Mark> {
    let mut marks = Vec::new();
    let (from, to) = windows.span();
    for culprit in report.stragglers() {
        let cause = culprit.cause_name;
        let mut details: Vec<(String, String)> = vec![
            ("cost_of_a_step".to_owned(), culprit.certainty.worded(&time(culprit.cost))),
            ("waits_caused".to_owned(), time(culprit.waits)),
            ("of_all_waits".to_owned(), human::percent(culprit.waits_share)),
        ];
        details.extend(culprit.evidence.iter().map(|evidence| {
            let shown = |value: f64| if evidence.unit == "ns" { time(value) } else { human::count(value) };
            (
                evidence.name.clone(),
                format!("{}, median of its peers {}", shown(evidence.own), shown(evidence.peers)),
            )
        }));
        let mark = Mark {
            rank: Some(culprit.rank),
            track: VERDICTS.to_owned(),
            name: format!(
                "rank {} is a straggler ({cause}): {} per step",
                culprit.rank,
                culprit.certainty.worded(&time(culprit.cost))
            ),
            start: from,
            end: to,
            details,
        };
        // One mark for the job, and one for the rank.
        marks.push(Mark { rank: None, ..mark.clone() });
        marks.push(mark);
        marks.extend(culprit.moments.iter().filter(|moment| moment.excess >= SHORTEST).map(|moment| Mark {
            rank: Some(culprit.rank),
            track: format!("{VERDICTS}, moments"),
            name: format!("{} late ({cause})", time(moment.excess as f64)),
            start: report.origin + moment.start,
            end: report.origin + moment.start + moment.own,
            details: vec![
                ("waits_caused".to_owned(), time(moment.waits)),
                (
                    "before".to_owned(),
                    moment.before.map_or("unknown", |operation| operation.name()).to_owned(),
                ),
            ],
        }));
    }
    marks.sort_by(|a, b| (a.rank, &a.track, a.start, a.end).cmp(&(b.rank, &b.track, b.start, b.end)));
    marks
}

/// Stalls of a pipeline on their ranks, with the cost of each for its step.
pub fn stalls(passes: &Passes, page: &PipelinePage) -> Vec<Mark> {
    let mut marks: Vec<Mark> = page
        .stalls
        .iter()
        .filter_map(|stall| {
            let pass = passes.passes.iter().find(|pass| {
                (pass.step, pass.rank, pass.kind, pass.micro_batch, pass.chunk)
                    == (stall.step, stall.rank, stall.kind, stall.micro_batch, stall.chunk)
            })?;
            let cost = match stall.cost {
                0 => "nothing".to_owned(),
                cost => stall.certainty.worded(&time(cost as f64)),
            };
            Some(Mark {
                rank: Some(stall.rank),
                track: "stalls".to_owned(),
                name: format!("{} stalls {}: costs {cost}", stall.kind.name(), time(stall.excess as f64)),
                start: pass.start,
                end: pass.end,
                details: vec![
                    ("step".to_owned(), stall.step.to_string()),
                    ("stage".to_owned(), stall.stage.to_string()),
                    ("normally".to_owned(), time(stall.normal as f64)),
                    ("ranks".to_owned(), human::ranges(&stall.ranks)),
                ],
            })
        })
        .collect();
    marks.sort_by_key(|mark| (mark.rank, mark.start, mark.end));
    marks
}
