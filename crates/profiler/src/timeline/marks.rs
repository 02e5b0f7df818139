//! Findings with a place on the timeline.
//!
//! Responsible for: the longest span that shows a finding: of a kernel in its evidence, of the rank in its message, or of the class of its
//! rule. A finding without such a span marks the whole step.

use crate::certainty::Certainty;
use crate::profile::Finding;
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
        cost_ns,
        at_most: finding.certainty == Some(Certainty::AtMost),
        ..Mark::default()
    };
    if let Some((track, span)) = place(columns, finding) {
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

/// The first rank in a sentence.
fn rank(text: &str) -> Option<u32> {
    let (_, after) = text.split_once("rank ")?;
    let digits: String = after.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

/// Classes of spans that show the findings of a rule.
fn classes(id: &str) -> &'static [Class] {
    match id {
        "exposed-tensor" => &[Class::Tensor],
        "exposed-context" => &[Class::Context],
        "exposed-expert" => &[Class::Expert],
        "exposed-pipeline" => &[Class::Pipeline],
        "exposed-data" => &[Class::Data],
        "exposed-other" => &[Class::Communication],
        id if id.starts_with("pipeline") => &[Class::Bubble],
        id if id.starts_with("host") || id.contains("synchron") || id.contains("loading") => &[Class::Host],
        id if id.contains("straggler") || id.contains("wait") || id.contains("imbalance") => {
            &[Class::Waiting]
        }
        id if id.contains("cop") => &[Class::Copy],
        id if id.contains("optimizer") => &[Class::Optimizer],
        id if id.contains("recompute") => &[Class::Recompute],
        _ => &[],
    }
}

fn place(columns: &Columns, finding: &Finding) -> Option<(usize, usize)> {
    let named = rank(&finding.message);
    let of_rank = |at: usize| named.is_none_or(|rank| columns.tracks[at].rank == rank);
    // A straggler is visible in its own slow activity, not in its waits.
    if finding.id == "straggler" {
        let slow: &[Class] = if finding.message.contains("host") {
            &[Class::Host]
        } else {
            &[Class::Forward, Class::Backward, Class::Recompute, Class::Other]
        };
        if let Some(place) = longest(columns, |at, _, class| of_rank(at) && slow.contains(&class)) {
            return Some(place);
        }
    }
    // Evidence is "name of a kernel: share of a step", with the name truncated.
    for line in &finding.evidence {
        let Some((name, _)) = line.rsplit_once(": ") else { continue };
        let name = name.strip_suffix("...").unwrap_or(name);
        if name.len() < 4 {
            continue;
        }
        let names: Vec<bool> = columns.names.iter().map(|known| known.starts_with(name)).collect();
        let fits = |_: usize, at: u32, _: Class| names.get(at as usize).copied().unwrap_or_default();
        if let Some(place) = longest(columns, fits) {
            return Some(place);
        }
    }
    let wanted = classes(&finding.id);
    if !wanted.is_empty()
        && let Some(place) = longest(columns, |at, _, class| of_rank(at) && wanted.contains(&class))
    {
        return Some(place);
    }
    // A named rank is at least visible.
    named.and_then(|_| longest(columns, |at, _, _| of_rank(at)))
}
