//! The ranks of a job joined: groups, matched collectives, one common time.
//!
//! Responsible for: the order of joining (groups, parts, matching, clocks, shift to one time, dimensions),
//! and the value that multi-rank analyses start from. Excludes analyses.

mod seen;

use crate::Job;
use crate::clocks::{ClockPolicy, Clocks};
use crate::collectives::Least;
use crate::communication::NameTable;
use crate::groups::{Evidence, Groups, Layout, infer};
use crate::matching::{Alike, Collective, Matching, Part, Tiling, parts};
use crate::workers::{OneByOne, Workers};
use railwright_spec::human;
use railwright_spec::problem::Warning;
use railwright_spec::quantity::Seconds;
use seen::Seen;
pub(crate) use seen::speaks_of_experts;
use std::collections::BTreeMap;

/// Options of joining.
#[derive(Clone, Debug, Default)]
pub struct JoinOptions {
    /// Names of communication; the shipped table by default.
    pub names: Option<NameTable>,
    /// Parallel sizes set by the user.
    pub layout: Option<Layout>,
    /// Clock alignment.
    pub clocks: ClockPolicy,
}

/// The ranks of a job, joined. Times of its parts are those of the job's traces after [`join`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Joined {
    /// The process groups.
    pub groups: Groups,
    /// The collectives.
    pub matching: Matching,
    /// The clocks.
    pub clocks: Clocks,
    /// Warnings.
    pub warnings: Vec<Warning>,
    /// True if ranks of the job were not recorded: an unrecorded communicator may then include them.
    pub ranks_missing: bool,
    /// The shortest of equal collectives, for those with an unknown last rank.
    pub alike: Alike,
    /// Minimum transfer times, for communications with one recorded rank.
    pub least: Least,
    /// Parallel sizes set by the user.
    pub layout: Option<Layout>,
}

impl Joined {
    /// Tests whether a collective has, or may have, ranks that were not recorded at that time. The last rank
    /// to enter is then unknown.
    pub fn misses_ranks(&self, collective: &Collective) -> bool {
        let communicator = self.matching.communicator(collective);
        if communicator.channel.is_some() {
            return false;
        }
        match communicator.group.and_then(|id| self.groups.get(id)) {
            Some(group) => group.size as usize > communicator.members.len() || self.outlasts(collective),
            None => self.ranks_missing || self.outlasts(collective),
        }
    }

    /// Tests whether a collective is outside a member's recording: before the first or after the last
    /// communication of a rank that takes no part. That rank's file begins late or is truncated.
    fn outlasts(&self, collective: &Collective) -> bool {
        if collective.complete {
            return false;
        }
        let present = self.matching.members(collective);
        let moments = || present.iter().map(|&at| self.matching.part(at));
        let (Some(start), Some(end)) = (moments().map(|p| p.start).max(), moments().map(|p| p.end).min())
        else {
            return false;
        };
        let absent = self.matching.communicator(collective).members.iter();
        absent.filter(|m| present.iter().all(|at| at.member != m.member)).any(|absent| {
            let parts = &self.matching.parts[absent.member as usize];
            let (first, last) = (parts.iter().map(|p| p.start).min(), parts.iter().map(|p| p.end).max());
            first.is_none_or(|first| first >= end) || last.is_none_or(|last| last <= start)
        })
    }
}

/// Joins the ranks of a job and shifts its traces to a common time.
pub fn join(job: &mut Job, options: &JoinOptions) -> Joined {
    join_by(job, options, &OneByOne)
}

/// Joins the ranks of a job, with concurrent work on ranks.
pub fn join_by(job: &mut Job, options: &JoinOptions, workers: &impl Workers) -> Joined {
    let table = options.names.as_ref().unwrap_or_else(|| NameTable::shipped());
    let mut groups = Groups::of(job);
    let parts = parts(job, table, &groups, workers);
    let layout = options.layout.as_ref();
    let mut matching = Matching::of(job, &groups, parts, layout);
    matching.name_given(&mut groups);
    let clocks = Clocks::of(job, &matching, options.clocks);
    job.align(&clocks);
    for (at, parts) in matching.parts.iter_mut().enumerate() {
        clocks.align_parts(at, parts);
    }
    let mut seen = Seen::new(job, &matching, workers);
    infer(&mut groups, job.world_size, layout, |group| seen.profile(group));
    let mut warnings = clocks.warnings();
    if let Some(layout) = layout.filter(|layout| layout.world() != u64::from(job.world_size)) {
        let message = format!(
            "the sizes of the dimensions multiply to {} ranks, but the job has {}{}",
            layout.world(),
            if job.world_size_known { "" } else { "at least " },
            job.world_size
        );
        warnings.push(Warning::new("layout-world-size", message));
    }
    warnings.extend(layout.and_then(|layout| unfit(&groups, layout)));
    warnings.extend(guessed(&matching, job.world_size, layout.is_some()));
    warnings.extend(mismatches(job, &matching, &groups));
    let ranks_missing = job.members.len() < job.world_size as usize;
    let alike = Alike::of(&matching);
    let least = Least::of(job);
    Joined { groups, matching, clocks, warnings, ranks_missing, alike, least, layout: layout.cloned() }
}

/// A warning about groups that fit no dimension of the sizes set by the user. A group of all ranks is
/// none of them if others fit: frameworks have one for flags and metrics.
fn unfit(groups: &Groups, layout: &Layout) -> Option<Warning> {
    let fits = groups.groups.iter().any(|group| group.dimension.evidence == Evidence::Sizes);
    let unknown = groups.groups.iter().filter(|group| {
        let is_all = u64::from(group.size) == layout.world();
        group.size > 1 && group.dimension.evidence == Evidence::Nothing && !(fits && is_all)
    });
    let mut sizes: BTreeMap<u32, u64> = BTreeMap::new();
    unknown.for_each(|group| *sizes.entry(group.size).or_default() += 1);
    if sizes.is_empty() {
        return None;
    }
    let list: Vec<String> = sizes
        .iter()
        .map(|(size, count)| format!("{} of {size} ranks", human::several(*count, "group")))
        .collect();
    let text = format!("no dimension of the layout fits {}: their dimension stays unknown", list.join(", "));
    Some(Warning::new("layout-fits-no-group", text))
}

/// A warning about sets of ranks inferred from ends of collectives. `stated` is true if the user has set the
/// layout.
fn guessed(matching: &Matching, world: u32, stated: bool) -> Option<Warning> {
    let time = |apart: f64| human::seconds(Seconds::new(apart * 1e-9));
    let sets = |tiling: Tiling| match (world / tiling.size.max(1), tiling.stride) {
        (1, _) => format!("one group of {}", tiling.size),
        (count, 1) => format!("{count} groups of {}", tiling.size),
        (count, stride) => format!("{count} groups of {} (stride {stride})", tiling.size),
    };
    let inferred = matching.inferred.iter().map(|inferred| {
        let next = inferred.next.map_or_else(String::new, |(tiling, apart)| {
            format!("; {} would have stride {}", sets(tiling), time(apart))
        });
        let or = inferred.or.map_or_else(String::new, |(tiling, apart)| {
            format!(" (or {}, {}: equally close)", sets(tiling), time(apart))
        });
        format!("{}: {}, ends {} apart{or}{next}", inferred.lane, sets(inferred.tiling), time(inferred.apart))
    });
    let messages = matching.pipelines.map(|tiling| format!("messages: pipelines, {}", sets(tiling)));
    let inferred: Vec<String> = inferred.chain(messages).collect();
    let unspecified: Vec<String> = matching.unspecified.iter().map(ToString::to_string).collect();
    // Sets that the stated layout confirms need no remark.
    let confirmed = stated && matching.inferred.iter().all(|one| one.or.is_none() && one.next.is_none());
    if unspecified.is_empty() && (inferred.is_empty() || confirmed) {
        return None;
    }
    let mut parts = vec!["process groups are not recorded in the traces".to_owned()];
    if !inferred.is_empty() {
        parts.push(format!("inferred from the end times of collectives: {}", inferred.join(" | ")));
    }
    if !unspecified.is_empty() {
        parts.push(format!("not determined for {}: waits there are unknown", unspecified.join(", ")));
    }
    let hint = match (stated, unspecified.is_empty()) {
        (true, _) => "",
        (false, true) => ". Specify the layout to override this",
        (false, false) => ". Specify the layout",
    };
    let text = format!("{}{hint}", parts.join("; "));
    Some(Warning::new("groups-inferred-from-ends", text))
}

/// Warnings about communicators whose lists disagree. Operations in a group of one rank need no counterpart
/// and do not count.
fn mismatches(job: &Job, matching: &Matching, groups: &Groups) -> Vec<Warning> {
    let wrong = matching.collectives.iter().filter(|collective| !collective.consistent).count();
    let mut warnings = Vec::new();
    if wrong > 0 {
        let message = format!(
            "{wrong} of {} matched collectives differ in operation or size between their ranks; they are not used for clocks",
            matching.collectives.len()
        );
        warnings.push(Warning::new("collective-mismatch", message));
    }
    let is_own = |part: &Part| part.group.and_then(|id| groups.get(id)).is_some_and(|group| group.size == 1);
    let all = matching.parts.iter().zip(&matching.of).flat_map(|(parts, of)| parts.iter().zip(of));
    let (mut parts, mut alone) = (0_u64, 0_u64);
    for (_, of) in all.filter(|(part, _)| !is_own(part)) {
        parts += 1;
        alone += u64::from(of.is_none());
    }
    if job.members.len() > 1 && alone as f64 > 0.25 * parts as f64 {
        let message = format!(
            "{alone} of {parts} collectives and messages have no counterpart on another rank: their waits are \
             unknown"
        );
        warnings.push(Warning::new("unmatched-communication", message));
    }
    warnings
}
