//! The ranks of one job.
//!
//! Responsible for: files of one job ([`group`]), ranks of traces, and missing ranks. Does not read the rows
//! of traces: matching, alignment and verdicts are modules that take a [`Job`].

mod grouping;
mod naming;

pub use grouping::{Family, FileIdentity, Found, Sighting, Standing, group};
pub(crate) use naming::rank_in_name;
pub use naming::{DIGEST_SUFFIX, skeleton};

use crate::RankTrace;
use crate::telemetry::Sample;
use crate::trace::{DamageKind, GpuKind, HostKind, Identity};
use railwright_spec::human;
use railwright_spec::problem::Warning;
use std::collections::{BTreeMap, BTreeSet};

/// One rank of a job.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Member {
    /// Its rank in the job.
    pub rank: u32,
    /// Recording of the rank.
    pub trace: RankTrace,
}

/// The ranks of one job, in order of rank, each at most once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Job {
    /// The ranks that were recorded.
    pub members: Vec<Member>,
    /// World size: the most frequent recorded one, otherwise the highest rank plus one.
    pub world_size: u32,
    /// True if the world size is recorded. Otherwise it is a lower bound.
    pub world_size_known: bool,
    /// Warnings about the assignment of traces to ranks.
    pub warnings: Vec<Warning>,
    /// Counters of devices and network cards recorded with the traces.
    pub telemetry: Vec<Sample>,
}

impl Job {
    /// Assigns ranks: the recorded one, otherwise the free number by index in `traces`, with a warning. If
    /// two traces record the same rank and the name of one has the missing number, that number is used,
    /// with a warning. Of two traces of one rank the first is kept unless they differ in their groups,
    /// with a warning.
    pub fn new(mut traces: Vec<RankTrace>) -> Self {
        let mut job = Self::default();
        for trace in &mut traces {
            // A world size of 32 bits cannot include the highest number, so it is not a rank.
            trace.identity.rank = trace.identity.rank.filter(|rank| *rank < u32::MAX);
        }
        job.warnings.extend(believe_name(&mut traces));
        let (stated, silent): (Vec<_>, Vec<_>) = traces.into_iter().partition(|t| t.identity.rank.is_some());
        // Index of the member by rank.
        let mut known: BTreeMap<u32, usize> = BTreeMap::new();
        for trace in stated {
            let rank = trace.identity.rank.unwrap_or_default();
            let at = *known.entry(rank).or_insert(job.members.len());
            if let Some(first) = job.members.get(at) {
                let text = format!(
                    "{} and {} both have rank {rank}; the second is ignored",
                    first.trace.identity.label, trace.identity.label
                );
                job.warnings.push(Warning::new("trace-duplicate-rank", text));
            } else {
                job.members.push(Member { rank, trace });
            }
        }
        // Names are used if all have different ranks.
        let named: Option<BTreeSet<u32>> = silent.iter().map(|t| named_rank(&t.identity.label)).collect();
        let by_name = named.is_some_and(|named| {
            named.len() == silent.len() && known.keys().all(|rank| !named.contains(rank))
        });
        let mut taken_ranks: BTreeSet<u32> = known.into_keys().collect();
        let mut free = 0;
        let mut taken: Vec<(u32, String)> = Vec::new();
        for trace in silent {
            while taken_ranks.contains(&free) {
                free += 1;
            }
            let rank = named_rank(&trace.identity.label).filter(|_| by_name).unwrap_or(free);
            taken_ranks.insert(rank);
            taken.push((rank, trace.identity.label.clone()));
            job.members.push(Member { rank, trace });
        }
        job.warnings.extend(unknown_ranks(&taken, by_name));
        job.members.sort_by_key(|m| m.rank);
        job.take_world_size();
        job
    }

    /// The world size is the most frequent recorded one that includes all ranks; a warning lists traces with
    /// another one.
    fn take_world_size(&mut self) {
        let least = self.members.last().map_or(0, |m| m.rank + 1);
        let mut claims: BTreeMap<u32, Vec<&str>> = BTreeMap::new();
        for member in &self.members {
            let Identity { world_size, label, .. } = &member.trace.identity;
            if let Some(size) = world_size {
                claims.entry(*size).or_default().push(label);
            }
        }
        let fitting = claims.iter().filter(|(size, _)| **size >= least);
        let chosen = fitting.max_by_key(|(size, who)| (who.len(), **size)).map(|(size, _)| *size);
        self.world_size = chosen.unwrap_or(least);
        self.world_size_known = chosen.is_some();
        let count =
            |who: usize| if who == 1 { "1 other has".to_owned() } else { format!("{who} others have") };
        for (size, who) in claims.iter().filter(|(size, _)| Some(**size) != chosen) {
            let claim = match who.as_slice() {
                [one] => format!("{one} has"),
                [one, others @ ..] => format!("{one} and {} more have", others.len()),
                [] => continue,
            };
            let instead = match chosen {
                Some(chosen) => format!("{} {chosen}: using {chosen}", count(claims[&chosen].len())),
                None => format!("but rank {} is among the traces", least - 1),
            };
            let text = format!("{claim} world size {size}, {instead}");
            self.warnings.push(Warning::new("trace-world-size", text));
        }
    }

    /// Number of recorded ranks and of all ranks, in words.
    pub fn extent(&self) -> String {
        extent(self.members.len(), self.world_size, self.world_size_known)
    }

    /// Removes ranks without device activities if other ranks have them: recorders write the host first, so a
    /// truncated file has nothing else, and host operators must not replace device activities. These ranks
    /// count as not recorded, with a warning.
    pub fn drop_ranks_without_device_activity(&mut self) {
        self.note_kernels_not_recorded();
        if !self.members.iter().any(|member| sees_device(&member.trace)) {
            return;
        }
        let warnings = &mut self.warnings;
        self.members.retain(|member| {
            let trace = &member.trace;
            if sees_device(trace) {
                return true;
            }
            let why = if trace.report.count(DamageKind::Truncated) > 0 {
                "the file is truncated before them"
            } else if trace.host.kinds().contains(&HostKind::Runtime) {
                "activities launched by the host are missing"
            } else {
                "other ranks have some"
            };
            let text = format!(
                "{} contains no device activities ({why}); rank {} is skipped",
                trace.identity.label, member.rank
            );
            warnings.push(Warning::new("trace-no-device", text));
            false
        });
    }

    /// Reports Nsight Systems exports without kernels: an export has no table for activities that were not
    /// recorded.
    fn note_kernels_not_recorded(&mut self) {
        let without: Vec<&Member> =
            self.members.iter().filter(|member| member.trace.lacks_kernels()).collect();
        let Some(first) = without.first().map(|member| &member.trace) else { return };
        let are = match without.len() - 1 {
            0 => "holds".to_owned(),
            others => format!("and {others} more contain"),
        };
        let has = |kind| without.iter().any(|member| member.trace.host.kinds().contains(&kind));
        let ranges = has(HostKind::Annotation) || has(HostKind::Operator) || has(HostKind::Collective);
        let copies = without.iter().any(|member| sees_device(&member.trace));
        let there: Vec<&str> = [
            (ranges, "NVTX ranges"),
            (has(HostKind::Runtime), "CUDA runtime calls"),
            (copies, "memory copies and sets"),
        ]
        .into_iter()
        .filter_map(|(is_there, what)| is_there.then_some(what))
        .collect();
        let text = format!(
            "{} {are} no kernels, only {} (listed by `railwright query`): compute and idle time of the device \
             are unknown; record them with `nsys profile --trace=cuda,nvtx`",
            first.identity.label,
            there.join(" and ")
        );
        self.warnings.push(Warning::new("trace-no-kernels", text));
    }

    /// Ranks of the job without a trace, at most `limit` of them.
    pub fn missing(&self, limit: usize) -> Vec<u32> {
        (0..self.world_size).filter(|&rank| self.position(rank).is_none()).take(limit).collect()
    }

    /// Index of a rank in [`Self::members`].
    pub fn position(&self, rank: u32) -> Option<usize> {
        self.members.binary_search_by_key(&rank, |m| m.rank).ok()
    }
}

/// `4 ranks` if all were recorded, `1 of 4 ranks` if not, `1 of at least 4 ranks` if the world size is
/// unknown.
pub fn extent(recorded: usize, world_size: u32, world_size_known: bool) -> String {
    let ranks = |count: u64| format!("{} rank{}", human::whole(count), if count == 1 { "" } else { "s" });
    let recorded = recorded as u64;
    if recorded == u64::from(world_size) {
        return ranks(recorded);
    }
    let least = if world_size_known { "" } else { "at least " };
    format!("{} of {least}{}", human::whole(recorded), ranks(world_size.into()))
}

/// If one trace records the rank of another, and its name has a rank that no other trace records, assigns the
/// rank of its name.
fn believe_name(traces: &mut [RankTrace]) -> Option<Warning> {
    let claims: Vec<_> = traces.iter().map(|t| (t.identity.rank, named_rank(&t.identity.label))).collect();
    let (at, rank) = naming::miscalled(&claims)?;
    let (odd, stated) = (&traces[at], claims[at].0?);
    let other =
        traces.iter().enumerate().find(|(other, t)| *other != at && t.identity.rank == Some(stated))?.1;
    // A copy of the other's file is no other rank.
    if odd.gpu == other.gpu && odd.host == other.host {
        return None;
    }
    let text = format!(
        "{} and {} both record rank {stated}; the name of the first has rank {rank}, which no other file has: \
         using that",
        odd.identity.label, other.identity.label
    );
    traces[at].identity.rank = Some(rank);
    Some(Warning::new("trace-duplicate-rank", text))
}

/// The rank in the name of a file or of its folder.
fn named_rank(label: &str) -> Option<u32> {
    let (folder, name) = label.rsplit_once(['/', '\\']).unwrap_or(("", label));
    // `report.sqlite (process 2000, device 0)`: one recording of several processes, whose numbers are no
    // ranks.
    let name = name.split_once(" (process ").map_or(name, |(file, _)| file);
    rank_in_name(name, false).or_else(|| naming::rank_in_folder(folder))
}

/// Tests whether any device activity was recorded.
fn sees_device(trace: &RankTrace) -> bool {
    trace.gpu.kinds().iter().any(|kind| !matches!(kind, GpuKind::Annotation | GpuKind::Sync))
}

/// A warning about files without a recorded rank, and their assumed ranks.
fn unknown_ranks(taken: &[(u32, String)], by_name: bool) -> Option<Warning> {
    let text = match taken {
        [] => return None,
        [(rank, label)] => {
            let why = if by_name { "by its name, it" } else { "it" };
            format!("{label} does not record its rank; {why} is assumed to be rank {rank}")
        }
        [(rank, label), ..] => {
            let mut ranks: Vec<u32> = taken.iter().map(|(rank, _)| *rank).collect();
            ranks.sort_unstable();
            let why = if by_name { "by name" } else { "in file order" };
            format!(
                "{} files do not record their ranks; {why}, they are assumed to be {}: {label} is rank {rank}",
                taken.len(),
                human::ranks(&ranks)
            )
        }
    };
    Some(Warning::new("trace-unknown-rank", text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{GpuActivity, HostActivity, Source};

    fn trace(label: &str, rank: Option<u32>, world_size: Option<u32>) -> RankTrace {
        let mut trace = RankTrace::default();
        trace.identity.label = label.to_owned();
        trace.identity.rank = rank;
        trace.identity.world_size = world_size;
        trace
    }

    #[test]
    fn ranks_come_from_traces_and_are_free_numbers_otherwise() {
        let job = Job::new(vec![
            trace("b", Some(2), Some(4)),
            trace("silent", None, None),
            trace("a", Some(0), Some(4)),
            trace("again", Some(2), Some(4)),
        ]);
        assert_eq!(job.members.iter().map(|m| m.rank).collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!((job.world_size, job.missing(9)), (4, vec![3]));
        assert_eq!(
            job.warnings.iter().map(|w| w.id.as_str()).collect::<Vec<_>>(),
            ["trace-duplicate-rank", "trace-unknown-rank"]
        );
    }

    #[test]
    fn the_job_size_of_most_traces_counts_and_the_odd_one_is_reported() {
        let of = |claims: &[(u32, Option<u32>)]| {
            Job::new(
                claims.iter().map(|&(rank, size)| trace(&format!("r{rank}"), Some(rank), size)).collect(),
            )
        };
        let text = |job: &Job| job.warnings.iter().map(|w| w.message.clone()).collect::<Vec<_>>();
        let job = of(&[(0, Some(4)), (1, Some(4)), (2, Some(8)), (3, Some(4))]);
        assert_eq!((job.world_size, job.world_size_known, job.extent()), (4, true, "4 ranks".to_owned()));
        assert_eq!(text(&job), ["r2 has world size 8, 3 others have 4: using 4"]);
        // World sizes below the highest rank are ignored, however frequent.
        let job = of(&[(0, Some(2)), (1, Some(2)), (5, Some(8))]);
        assert_eq!((job.world_size, job.extent()), (8, "3 of 8 ranks".to_owned()));
        assert_eq!(text(&job), ["r0 and 1 more have world size 2, 1 other has 8: using 8"]);
        let job = of(&[(0, Some(1)), (3, None)]);
        assert_eq!((job.world_size, job.extent()), (4, "2 of at least 4 ranks".to_owned()));
        assert_eq!(text(&job), ["r0 has world size 1, but rank 3 is among the traces"]);
        // Without a recorded world size: at least the highest rank plus one.
        let job = of(&[(3, None)]);
        assert_eq!((job.world_size_known, job.extent()), (false, "1 of at least 4 ranks".to_owned()));
        assert_eq!(of(&[(0, None)]).extent(), "1 rank");
    }

    #[test]
    fn a_rank_that_no_world_size_holds_is_none() {
        let job = Job::new(vec![trace("a", Some(u32::MAX), Some(2)), trace("b", Some(1), Some(2))]);
        assert_eq!(job.members.iter().map(|m| m.rank).collect::<Vec<_>>(), [0, 1]);
        assert_eq!((job.world_size, job.warnings[0].id.as_str()), (2, "trace-unknown-rank"));
        let job = Job::new(vec![trace("a", Some(u32::MAX - 1), None)]);
        assert_eq!((job.world_size, job.missing(2)), (u32::MAX, vec![0, 1]));
    }

    #[test]
    fn names_give_ranks_where_traces_do_not() {
        let ranks = |labels: &[&str]| {
            let job = Job::new(labels.iter().map(|label| trace(label, None, None)).collect());
            job.members.iter().map(|m| (m.rank, m.trace.identity.label.clone())).collect::<Vec<_>>()
        };
        let pairs = |pairs: &[(u32, &str)]| -> Vec<(u32, String)> {
            pairs.iter().map(|(rank, label)| (*rank, (*label).to_owned())).collect()
        };
        // A gap in the numbers is kept, and the order of files does not matter.
        assert_eq!(
            ranks(&["x/rank3.json", "x/rank0.json"]),
            pairs(&[(0, "x/rank0.json"), (3, "x/rank3.json")])
        );
        assert_eq!(
            ranks(&["proc1/a.json", "proc0/a.json"]),
            pairs(&[(0, "proc0/a.json"), (1, "proc1/a.json")])
        );
        // One file without a number: indices then apply to all.
        assert_eq!(
            ranks(&["x/rank3.json", "x/other.json"]),
            pairs(&[(0, "x/rank3.json"), (1, "x/other.json")])
        );
    }

    #[test]
    fn a_rank_without_its_device_is_left_out_beside_ranks_with_theirs() {
        let host = |label: &str, rank| {
            let mut trace = trace(label, Some(rank), Some(3));
            let name = trace.names.intern("aten::mm");
            trace.host.push(HostActivity {
                end: 5,
                name,
                kind: HostKind::Operator,
                ..HostActivity::default()
            });
            trace
        };
        let mut whole = host("whole", 0);
        let name = whole.names.intern("gemm");
        whole.gpu.push(GpuActivity { end: 5, name, kind: GpuKind::Kernel, ..GpuActivity::default() });
        let mut cut = host("cut", 1);
        cut.report.note(DamageKind::Truncated, 9, String::new);
        let mut job = Job::new(vec![whole, cut, host("no device", 2)]);
        job.drop_ranks_without_device_activity();
        assert_eq!((job.members.len(), job.world_size, job.missing(9)), (1, 3, vec![1, 2]));
        let text: Vec<&str> = job.warnings.iter().map(|w| w.message.as_str()).collect();
        assert!(text[0].contains("truncated") && text[0].contains("rank 1"), "{text:?}");
        assert_eq!(text.len(), 2);
        // Without any device, hosts compute.
        let mut cpus = Job::new(vec![host("a", 0), host("b", 1)]);
        cpus.drop_ranks_without_device_activity();
        assert_eq!(cpus.members.len(), 2);
    }

    #[test]
    fn of_two_traces_of_one_rank_one_may_be_called_by_the_rank_that_is_missing() {
        let with = |label: &str, rank, end| {
            let mut trace = trace(label, Some(rank), Some(3));
            trace.gpu.push(GpuActivity { end, ..GpuActivity::default() });
            trace
        };
        let job = |end| {
            Job::new(vec![
                with("x/rank0.json", 0, 1),
                with("x/rank1.json", 2, end),
                with("x/rank2.json", 2, 3),
            ])
        };
        let corrected = job(2);
        let of = |job: &Job| {
            job.members.iter().map(|m| (m.rank, m.trace.identity.label.clone())).collect::<Vec<_>>()
        };
        let names = ["x/rank0.json", "x/rank1.json", "x/rank2.json"];
        assert_eq!(
            of(&corrected),
            names.iter().enumerate().map(|(r, n)| (r as u32, (*n).to_owned())).collect::<Vec<_>>()
        );
        assert_eq!(corrected.warnings.len(), 1);
        assert!(
            corrected.warnings[0].message.contains("the name of the first has rank 1"),
            "{:?}",
            corrected.warnings
        );
        // The same bytes under two names are a copy.
        assert_eq!(job(3).members.len(), 2);
    }

    #[test]
    fn exports_without_kernels_are_reported() {
        let mut export = trace("ranges.sqlite", Some(0), None);
        export.identity.source = Source::NsightSystems;
        let name = export.names.intern("step");
        export.host.push(HostActivity {
            end: 5,
            name,
            kind: HostKind::Annotation,
            ..HostActivity::default()
        });
        let text = |traces: Vec<RankTrace>| {
            let mut job = Job::new(traces);
            job.drop_ranks_without_device_activity();
            let kernels = job.warnings.iter().filter(|w| w.id == "trace-no-kernels");
            kernels.map(|w| w.message.clone()).collect::<Vec<_>>()
        };
        let one = text(vec![export.clone()]);
        assert!(one[0].starts_with("ranges.sqlite holds no kernels, only NVTX ranges ("), "{one:?}");
        assert!(one[0].ends_with("record them with `nsys profile --trace=cuda,nvtx`"), "{one:?}");
        let mut second = export.clone();
        second.identity.rank = Some(1);
        assert!(
            text(vec![export.clone(), second])[0].starts_with("ranges.sqlite and 1 more contain no kernels")
        );
        // Copies are recorded, kernels are not; with one kernel, nothing is missing.
        export.gpu.push(GpuActivity { end: 5, name, kind: GpuKind::Copy, ..GpuActivity::default() });
        assert!(text(vec![export.clone()])[0].contains("only NVTX ranges and memory copies and sets"));
        export.gpu.push(GpuActivity { end: 5, name, kind: GpuKind::Kernel, ..GpuActivity::default() });
        assert!(text(vec![export]).is_empty());
        // On a machine without devices, PyTorch's profiler records everything there is.
        let mut host = trace("cpu.json", Some(0), None);
        host.host.push(HostActivity { end: 5, ..HostActivity::default() });
        assert!(text(vec![host]).is_empty());
    }

    #[test]
    fn numbers_of_processes_are_no_ranks() {
        assert_eq!(named_rank("report.sqlite (process 2000, device 0)"), None);
        assert_eq!(named_rank("rank_3.sqlite (process 2000, device 0)"), Some(3));
        assert_eq!(named_rank("copy (rank 3).json"), Some(3));
    }
}
