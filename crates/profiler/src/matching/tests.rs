//! Collectives matched over ranks.

use super::*;
use crate::communication::NameTable;
use crate::testing::{Synthetic, drop_leading, keep, replicate};
use crate::workers::OneByOne;

fn matched(job: &Job) -> Matching {
    let groups = Groups::of(job);
    let parts = parts(job, NameTable::shipped(), &groups, &OneByOne);
    Matching::of(job, &groups, parts, None)
}

/// Tests whether every matched collective is one of the plan's: all parts end within two microseconds.
fn is_true(matching: &Matching) -> bool {
    matching.collectives.iter().all(|collective| {
        let ends = matching.members(collective).iter().map(|&at| matching.part(at).end);
        ends.clone().max().unwrap_or_default() - ends.min().unwrap_or_default() < 2_000
    })
}

#[test]
fn lost_leading_kernels_are_counted() {
    for (described, numbered) in [(true, true), (true, false), (false, false)] {
        let mut job = Synthetic { tensor: 4, data: 1, described, numbered, ..Synthetic::default() }.job();
        drop_leading(&mut job.members[1].trace, 3);
        drop_leading(&mut job.members[3].trace, 1);
        let matching = matched(&job);
        assert!(is_true(&matching));
        let tensor = matching.communicators.iter().max_by_key(|c| c.members[0].parts.len()).unwrap();
        let mut lost: Vec<(u32, u32)> = tensor.members.iter().map(|m| (m.rank, m.lost)).collect();
        lost.sort_unstable();
        assert_eq!(lost, [(0, 0), (1, 3), (2, 0), (3, 1)], "{described} {numbered}");
        assert_eq!(matching.collectives.iter().filter(|c| !c.complete).count(), 3);
    }
}

#[test]
fn numbers_bridge_a_hole_in_the_middle() {
    let mut job = Synthetic { numbered: true, ..Synthetic::default() }.job();
    let trace = &mut job.members[2].trace;
    let middle = trace.gpu.starts()[trace.gpu.len() / 2];
    keep(trace, |row| row.collective.is_none() || !(middle..middle + 3_000_000).contains(&row.start));
    let matching = matched(&job);
    assert!(is_true(&matching));
    assert!(matching.communicators.iter().all(|communicator| communicator.how == How::Sequence));
}

/// The sets of ranks of all communicators, in order.
fn sets(matching: &Matching) -> Vec<Vec<u32>> {
    let of = |communicator: &Communicator| {
        let mut ranks: Vec<u32> = communicator.members.iter().map(|m| m.rank).collect();
        ranks.sort_unstable();
        ranks
    };
    let mut sets: Vec<Vec<u32>> = matching.communicators.iter().map(of).collect();
    sets.sort();
    sets
}

#[test]
fn groups_that_share_a_stream_number_stay_apart() {
    // No group is recorded: the tensor-parallel groups all use one stream, the data parallel ones another.
    // Data-parallel groups end together with their tensor parallel ones. Steps are long enough to
    // distinguish them from one group of all ranks.
    for (tensor, data) in [(2, 3), (2, 4), (4, 2), (3, 3), (8, 2)] {
        let plan = Synthetic { described: false, tensor, data, steps: 16, ..Synthetic::default() };
        let (matching, described) =
            (matched(&plan.job()), matched(&Synthetic { described: true, ..plan.clone() }.job()));
        assert!(is_true(&matching), "{tensor} x {data}");
        assert_eq!(sets(&matching), sets(&described), "{tensor} x {data}: {:?}", matching.inferred);
    }
}

#[test]
fn equal_distances_do_not_shift_ranks_whose_clocks_agree() {
    use crate::RankTrace;
    use crate::testing::Recurrence;
    use crate::trace::GpuActivity;
    // Six successive buckets: shifted by one bucket, the lists fit as well, and by chance better.
    for seed in 0..40 {
        let mut random = Recurrence(seed);
        let mut rank = |rank: u32| {
            let mut trace = RankTrace::default();
            trace.identity.rank = Some(rank);
            let name = trace
                .names
                .intern("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)");
            for k in 0..6 {
                let start = k * 300_000;
                let end = start + 299_000 + random.below(800) as i64;
                trace.gpu.push(GpuActivity { start, end, name, stream: 24, ..GpuActivity::default() });
            }
            trace
        };
        let matching = matched(&Job::new(vec![rank(0), rank(1)]));
        assert_eq!(matching.collectives.len(), 6, "{seed}");
    }
}

#[test]
fn lists_of_one_length_are_not_shifted_by_chance() {
    use crate::RankTrace;
    use crate::testing::Recurrence;
    use crate::trace::{CollectiveCall, GpuActivity, RankGroup};
    // Five described buckets at equal distances, with ends up to 20 us apart, on hosts with clocks seconds
    // apart: three pairs are on a line by chance.
    for seed in 0..60 {
        let mut random = Recurrence(seed * 31 + 1);
        let mut rank = |rank: u32| {
            let mut trace = RankTrace::default();
            (trace.identity.rank, trace.identity.world_size) = (Some(rank), Some(4));
            let ranks = Some(vec![0, 1, 2, 3]);
            trace.groups.push(RankGroup { name: "1".to_owned(), description: None, size: Some(4), ranks });
            let name = trace
                .names
                .intern("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)");
            for k in 0..5 {
                let label = "allreduce".to_owned();
                trace.collectives.push(CollectiveCall { label, group: Some(0), ..CollectiveCall::default() });
                let start = i64::from(rank) * 1_700_000_000 + k * 480_000;
                let end = start + 470_000 + random.below(20_000) as i64;
                let collective = Some(k as u32);
                trace.gpu.push(GpuActivity {
                    start,
                    end,
                    name,
                    stream: 24,
                    collective,
                    ..GpuActivity::default()
                });
            }
            trace
        };
        let matching = matched(&Job::new((0..4).map(&mut rank).collect()));
        assert_eq!(matching.collectives.len(), 5, "{seed}");
        assert!(matching.communicators[0].members.iter().all(|member| member.lost == 0), "{seed}");
    }
}

#[test]
fn streams_of_other_numbers_are_recognised_by_their_kernels() {
    let plan = Synthetic { described: false, tensor: 2, data: 4, steps: 16, ..Synthetic::default() };
    let mut job = plan.job();
    for member in &mut job.members {
        let moved = 16 * (member.rank % 3);
        let mut gpu = crate::trace::GpuActivities::default();
        for row in member.trace.gpu.iter() {
            gpu.push(crate::trace::GpuActivity { stream: row.stream + moved, ..row });
        }
        member.trace.gpu = gpu;
    }
    let matching = matched(&job);
    assert!(is_true(&matching));
    assert_eq!(sets(&matching), sets(&matched(&Synthetic { described: true, ..plan }.job())));
}

#[test]
fn a_layout_limits_the_possible_groups() {
    let plan = Synthetic { described: false, tensor: 2, data: 4, steps: 16, ..Synthetic::default() };
    let job = plan.job();
    let groups = Groups::of(&job);
    let layout = Layout::read("tp=2,dp=4").unwrap();
    let parts = parts(&job, NameTable::shipped(), &groups, &OneByOne);
    let matching = Matching::of(&job, &groups, parts, Some(&layout));
    assert_eq!(sets(&matching), sets(&matched(&Synthetic { described: true, ..plan }.job())));
    assert!(matching.inferred.iter().all(|inferred| inferred.tiling.size < 8));
}

#[test]
fn a_thousand_ranks_of_replicas_with_their_groups_moved() {
    let job = replicate(&Synthetic { steps: 2, ..Synthetic::default() }.job(), 256);
    assert_eq!((job.members.len(), job.world_size), (1024, 1024));
    let matching = matched(&job);
    assert!(is_true(&matching));
    // Two tensor and two data-parallel groups for each replica.
    assert_eq!(matching.communicators.len(), 4 * 256);
    assert!(matching.collectives.iter().all(|collective| collective.complete));
    assert_eq!((0..1024).map(|member| matching.unmatched(member)).sum::<u32>(), 0);
}

#[test]
fn messages_go_by_channel_and_unknown_ends_stay_alone() {
    use crate::RankTrace;
    use crate::trace::{CollectiveCall, GpuActivity};
    let rank = |rank: u32, rows: &[(&str, Option<u32>, i64)]| {
        let mut trace = RankTrace::default();
        trace.identity.rank = Some(rank);
        for &(label, peer, start) in rows {
            let name = trace.names.intern("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)");
            trace.collectives.push(CollectiveCall {
                label: label.to_owned(),
                peer,
                ..CollectiveCall::default()
            });
            let collective = Some(trace.collectives.len() as u32 - 1);
            trace.gpu.push(GpuActivity {
                start,
                end: start + 50,
                name,
                stream: 9,
                collective,
                ..GpuActivity::default()
            });
        }
        trace
    };
    let job = Job::new(vec![
        rank(0, &[("send", Some(1), 0), ("send", Some(2), 100), ("recv", Some(1), 300), ("send", None, 400)]),
        rank(1, &[("recv", Some(0), 5), ("send", Some(0), 290)]),
        rank(2, &[("recv", Some(0), 90)]),
    ]);
    let matching = matched(&job);
    let channels: Vec<_> = matching.communicators.iter().filter_map(|c| c.channel).collect();
    assert_eq!(channels, [(0, 1), (0, 2), (1, 0)]);
    assert_eq!((matching.collectives.len(), matching.unmatched(0)), (3, 1));
}
