//! Findings with a place on the timeline.
//!
//! Responsible for: the longest span that shows the subject of a finding. A finding without such a span marks
//! the whole step.

use crate::certainty::Certainty;
use crate::profile::{Finding, Subject};
use railwright_step::columns::{Class, Columns, Mark, Severity};

/// Marks of findings, in their order.
pub(super) fn of(columns: &Columns, findings: &[Finding]) -> Vec<Mark> {
    findings.iter().map(|finding| mark(columns, finding)).collect()
}

fn mark(columns: &Columns, finding: &Finding) -> Mark {
    let cost_ns = finding.cost.map(|cost| cost.round() as i64);
    let share = cost_ns.unwrap_or(0) as f64 / columns.duration_ns.max(1) as f64;
    let severity = match share {
        share if share >= 0.05 => Severity::Fault,
        share if share >= 0.01 => Severity::Warning,
        _ => Severity::Note,
    };
    let mut detail = finding.evidence.join("; ");
    if !finding.advice.is_empty() {
        if !detail.is_empty() {
            detail.push_str(". ");
        }
        detail.push_str("Do: ");
        detail.push_str(&finding.advice);
    }
    let mut mark = Mark {
        id: finding.id.clone(),
        title: finding.message.clone(),
        detail,
        severity,
        rank: finding.subject.ranks.first().copied(),
        cost_ns,
        at_most: finding.certainty == Some(Certainty::AtMost),
        ..Mark::default()
    };
    if let Some((track, span)) = place(columns, &finding.subject) {
        let own = &columns.tracks[track];
        mark.track = Some(track as u32);
        mark.span = Some(span as u32);
        mark.at = own.starts[span];
        mark.length = own.lengths[span];
    }
    mark
}

/// The longest span that fits, as indices of track and span.
fn longest(columns: &Columns, fits: impl Fn(usize, u32, Class) -> bool) -> Option<(usize, usize)> {
    let mut best: Option<(i64, (usize, usize))> = None;
    for (at, track) in columns.tracks.iter().enumerate() {
        let spans = track.lengths.iter().zip(&track.names).zip(&track.colours).enumerate();
        for (span, ((length, name), colour)) in spans {
            let class = Class::ALL.get(usize::from(*colour)).copied().unwrap_or_default();
            if best.is_none_or(|(known, _)| *length > known) && fits(at, *name, class) {
                best = Some((*length, (at, span)));
            }
        }
    }
    best.map(|(_, place)| place)
}

/// The longest span that shows a finding on its ranks: of its kernels in their order, else of its classes,
/// else any of its ranks.
fn place(columns: &Columns, subject: &Subject) -> Option<(usize, usize)> {
    let of_rank = |at: usize| subject.ranks.is_empty() || subject.ranks.contains(&columns.tracks[at].rank);
    let of_kernel = |kernel: &String| {
        let name = columns.names.iter().position(|name| name == kernel)? as u32;
        longest(columns, |at, of, _| of == name && of_rank(at))
    };
    subject
        .kernels
        .iter()
        .find_map(of_kernel)
        .or_else(|| longest(columns, |at, _, class| of_rank(at) && subject.spans.contains(&class)))
        .or_else(|| longest(columns, |at, _, _| of_rank(at)).filter(|_| !subject.ranks.is_empty()))
}
