//! The verdict: reported stragglers, or none.
//!
//! Responsible for: its values (stragglers, none, or inconclusive with reasons), and the reasons. It is
//! inconclusive if the replay is inaccurate or a rank has no counterparts.

use super::lengths::Work;
use crate::Job;
use crate::certainty::Certainty;
use crate::joined::Joined;
use railwright_spec::human;
use serde::Serialize;

/// Cause of a stage with one rank whose heavy kernels alone are longer by one factor.
pub(super) const EITHER: &str = "imbalance or slow chip";

/// Maximum replay error of the measured times, as a share of a step: beyond it there is no verdict.
pub const MOST_OFF: f64 = 0.02;

/// Maximum saving of a job with equal ranks for the verdict "no straggler", as a share of a step. Ranks of
/// equal work differ by chance, and the slowest of them determines every interval.
const LEFT: f64 = 0.05;

/// The same if one rank causes most waits: chance does not choose the same rank each time.
const LEFT_OF_ONE: f64 = 0.02;

/// Minimum share of all waits of one rank with which ranks do not delay each other in turn.
pub(super) const LEADING: f64 = 0.6;

/// Reason against the verdict "no straggler": without any difference between ranks the steps are much
/// shorter. Both times are those of all steps, in nanoseconds. `leading` is the rank with the most waits of
/// others, with its share of all waits.
pub(super) fn unnamed(base: i64, without_all: i64, leading: Option<(u32, f64)>) -> Option<String> {
    let left = 1.0 - without_all as f64 / (base as f64).max(1.0);
    let leading = leading.filter(|(_, share)| *share >= LEADING);
    (left > if leading.is_some() { LEFT_OF_ONE } else { LEFT }).then(|| match leading {
        Some((rank, share)) => format!(
            "with equal ranks the step would be {:.1}% shorter: rank {rank} causes {:.0}% of the waits, but the \
            replay confirms none of its delays",
            left * 100.0,
            share * 100.0
        ),
        None => format!(
            "ranks delay each other in turn: with equal ranks the step would be {:.1}% shorter, but no single \
            rank, link or stage accounts for it",
            left * 100.0
        ),
    })
}

/// Causes of delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// One rank or a few.
    Straggler,
    /// A group whose transfers take longer than those of its peers.
    SlowLink,
    /// A pipeline stage that computes longer than others, or ranks with different work in turn (sequence
    /// lengths, expert loads).
    Imbalance,
    /// No straggler: every rank was matched, the replay is accurate, and no delay costs more than the noise.
    None,
    /// The recording does not determine a verdict.
    CannotTell,
}

/// Missing input of an inconclusive verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lacking {
    /// All ranks and groups are known: more steps show whether a delay recurs.
    #[default]
    Steps,
    /// Ranks were not recorded, or not in these steps.
    Ranks,
    /// Process groups are unknown, or collectives of a rank have no counterparts.
    Groups,
}

impl Lacking {
    /// Action that provides it.
    pub const fn action(self) -> &'static str {
        match self {
            Self::Ranks => "record all ranks in the same steps",
            Self::Groups => "specify the layout (`--layout`): process groups are unknown",
            Self::Steps => "record more steps, with `with_stack=True`: functions show the cause of delays",
        }
    }

    /// Missing input of a job. `bounded` is true if ranks were not recorded in all steps.
    pub(super) fn of(job: &Job, joined: &Joined, bounded: bool) -> Self {
        let recorded = job.members.len() as u32;
        if recorded < 2 || bounded || job.world_size_known && job.world_size > recorded {
            Self::Ranks
        } else if !joined.matching.unspecified.is_empty() || !unmatched(job, joined).is_empty() {
            Self::Groups
        } else {
            Self::Steps
        }
    }
}

/// The kind of a straggler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Ranks that are late.
    Rank,
    /// A group with slow transfers, or ranks that delay each other in turn.
    Group,
    /// A pipeline stage.
    Stage,
}

/// Causes of delay with the step time saved without each.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Named {
    /// Kind.
    pub kind: Kind,
    /// Its ranks.
    pub ranks: Vec<u32>,
    /// Its pipeline stage, from 0.
    pub stage: Option<u32>,
    /// Cause of the delay.
    pub cause: &'static str,
    /// Step time saved in seconds, after the preceding causes are fixed.
    pub cost_s: f64,
    /// Certainty of the cost.
    pub certainty: Certainty,
}

impl Named {
    /// Work that differs between ranks, so that they delay each other in turn: a group, but no slow link.
    pub fn work(&self) -> Option<Work> {
        Work::ALL.into_iter().find(|work| self.cause == work.cause())
    }

    /// Unequal work of these ranks, for a sentence.
    pub fn unequal_work(&self) -> String {
        let ranks = human::ranks(&self.ranks);
        match self.work() {
            Some(Work::Chunks) => format!("{ranks} have the longer chunks of context parallelism"),
            _ => format!("{ranks} wait for each other in turn ({})", self.cause),
        }
    }

    /// Tests whether the traces do not separate more work of a stage from a slow chip.
    pub fn is_unclear(&self) -> bool {
        self.cause == EITHER
    }
}

/// Reasons for an inconclusive verdict, with and without stragglers.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Doubts {
    /// Reasons that exclude any verdict.
    pub always: Vec<String>,
    /// Reasons that exclude the verdict "no straggler".
    pub acquittal: Vec<String>,
}

impl Doubts {
    pub(super) fn of(job: &Job, joined: &Joined, off: f64, forced: u32, bounds: Option<&str>) -> Self {
        let mut doubts = Self::default();
        if job.members.len() < 2 {
            doubts.acquittal.push("only one rank was traced".to_owned());
            return doubts;
        }
        if off.abs() > MOST_OFF {
            doubts.always.push(format!(
                "the replay of the recorded step has an error of {:+.1}% (limit: {:.0}%)",
                off * 100.0,
                MOST_OFF * 100.0
            ));
        }
        if forced > 0 {
            let collectives = joined.matching.collectives.len();
            let reason = format!("{forced} waits on {collectives} collectives have an impossible order");
            doubts.acquittal.push(reason);
        }
        let unmatched = unmatched(job, joined);
        match unmatched.as_slice() {
            [] => {}
            [one] => doubts
                .always
                .push(format!("most collectives of rank {one} could not be matched with other ranks")),
            many => doubts.always.push(format!(
                "most collectives of ranks {} could not be matched with other ranks",
                crate::groups::RankSet::new(many)
            )),
        }
        doubts.acquittal.extend(bounds.map(str::to_owned));
        if joined.matching.collectives.is_empty() {
            doubts.acquittal.push("no two ranks share a collective".to_owned());
        }
        if !joined.matching.unspecified.is_empty() {
            let lanes: Vec<String> = joined.matching.unspecified.iter().map(ToString::to_string).collect();
            doubts.acquittal.push(format!("the process groups of {} are unknown", lanes.join(", ")));
        }
        doubts
    }

    /// The verdict on the reported ones, and reasons for an inconclusive one.
    pub(super) fn judge(self, named: &[Named]) -> (Verdict, Vec<String>) {
        if !self.always.is_empty() {
            let mut reasons = self.always;
            reasons.extend(self.acquittal);
            return (Verdict::CannotTell, reasons);
        }
        let worst = named.iter().max_by(|a, b| a.cost_s.total_cmp(&b.cost_s));
        match worst.map(|worst| worst.kind) {
            Some(Kind::Rank) => (Verdict::Straggler, Vec::new()),
            Some(Kind::Group) if worst.is_some_and(|worst| worst.work().is_some()) => {
                (Verdict::Imbalance, Vec::new())
            }
            Some(Kind::Group) => (Verdict::SlowLink, Vec::new()),
            Some(Kind::Stage) => (Verdict::Imbalance, Vec::new()),
            None if self.acquittal.is_empty() => (Verdict::None, Vec::new()),
            None => (Verdict::CannotTell, self.acquittal),
        }
    }
}

/// Ranks with mostly unmatched communications.
fn unmatched(job: &Job, joined: &Joined) -> Vec<u32> {
    let matching = &joined.matching;
    // Ranks whose peers were not traced have no counterpart.
    let traced = |group: &crate::groups::Group| match &group.ranks {
        Some(ranks) => ranks.ranks().iter().filter(|&&rank| job.position(rank).is_some()).count() > 1,
        None => group.size > 1,
    };
    let counts: Vec<bool> = joined.groups.groups.iter().map(traced).collect();
    let with_others = |part: &crate::matching::Part| {
        part.group.is_none_or(|id| counts.get(id.0 as usize).copied().unwrap_or(true))
    };
    let of_rank = |member: usize| {
        let pairs = matching.parts[member].iter().zip(&matching.of[member]);
        let (mut all, mut alone) = (0_usize, 0_usize);
        for (_, of) in pairs.filter(|(part, _)| with_others(part)) {
            all += 1;
            alone += usize::from(of.is_none());
        }
        alone * 2 > all
    };
    (0..job.members.len()).filter(|&member| of_rank(member)).map(|member| job.members[member].rank).collect()
}

#[cfg(test)]
mod tests {
    use super::unnamed;

    #[test]
    fn a_rank_with_most_waits_is_named_instead_of_turns() {
        let most = unnamed(100, 80, Some((3, 0.7))).expect("a reason");
        assert!(most.contains("20.0% shorter: rank 3 causes 70% of the waits"), "{most}");
        assert!(unnamed(100, 80, Some((3, 0.3))).is_some_and(|reason| reason.contains("in turn")));
        assert_eq!(unnamed(100, 99, Some((3, 0.9))), None);
        // A few percent acquit nobody if one rank is always the late one, and are chance otherwise.
        assert!(unnamed(1_000, 970, Some((3, 0.7))).is_some());
        assert_eq!(unnamed(1_000, 970, Some((3, 0.3))), None);
    }
}
