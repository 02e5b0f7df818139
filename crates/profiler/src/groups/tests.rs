//! Groups joined by their sets of ranks.

use super::*;
use crate::RankTrace;
use railwright_step::CollectiveKind;

fn trace(rank: u32, world: u32, groups: &[(&str, Option<&str>, &[u32])]) -> RankTrace {
    let mut trace = RankTrace::default();
    trace.identity.rank = Some(rank);
    trace.identity.world_size = Some(world);
    for &(name, description, ranks) in groups {
        trace.groups.push(RankGroup {
            name: name.to_owned(),
            description: description.map(str::to_owned),
            ranks: Some(ranks.to_vec()),
            size: Some(ranks.len() as u32),
        });
    }
    trace
}

#[test]
fn a_counter_of_one_rank_means_nothing_on_another() {
    // The data-parallel group of ranks 0 and 2 is "1", that of ranks 1 and 3 is "2".
    let job = Job::new(vec![
        trace(0, 4, &[("1", None, &[0, 2]), ("3", None, &[0, 1])]),
        trace(1, 4, &[("2", None, &[1, 3]), ("3", None, &[0, 1])]),
        trace(2, 4, &[("1", None, &[0, 2]), ("4", None, &[2, 3])]),
        trace(3, 4, &[("2", None, &[3, 1]), ("4", None, &[2, 3])]),
    ]);
    let groups = Groups::of(&job);
    assert_eq!(groups.groups.len(), 4);
    assert_eq!(groups.id(0, 0), groups.id(2, 0));
    assert_eq!(groups.id(1, 0), groups.id(3, 0));
    assert_ne!(groups.id(0, 0), groups.id(1, 0));
}

#[test]
fn several_groups_of_one_set_are_distinguished() {
    // Two groups of the same ranks: joined by name if names agree, otherwise by order of creation.
    let same = Job::new(vec![
        trace(0, 2, &[("13", None, &[0, 1]), ("20", None, &[0, 1])]),
        trace(1, 2, &[("20", None, &[0, 1]), ("13", None, &[0, 1])]),
    ]);
    let groups = Groups::of(&same);
    assert_eq!((groups.groups.len(), groups.id(0, 0)), (2, groups.id(1, 1)));
    let different = Job::new(vec![
        trace(0, 2, &[("9", None, &[0, 1]), ("10", None, &[0, 1])]),
        trace(1, 2, &[("5", None, &[0, 1]), ("7", None, &[0, 1])]),
    ]);
    let groups = Groups::of(&different);
    assert_eq!((groups.id(0, 0), groups.id(0, 1)), (groups.id(1, 0), groups.id(1, 1)));
    assert_ne!(groups.id(0, 0), groups.id(0, 1));
}

/// The first and the last stage share an embedding, in a group of their own that is listed first.
#[test]
fn a_pair_of_stages_is_no_pipeline() {
    let pair: &[u32] = &[0, 3];
    let all: &[u32] = &[0, 1, 2, 3];
    let of = |rank: u32| {
        let mut own = vec![("9", Some("PIPELINE_MODEL_PARALLEL_GROUP"), all)];
        if pair.contains(&rank) {
            own.insert(0, ("1", Some("PIPELINE_PAIR"), pair));
        }
        trace(rank, 4, &own)
    };
    let mut groups = Groups::of(&Job::new((0..4).map(of).collect()));
    for group in &mut groups.groups {
        group.dimension = GroupDimension::known(Dimension::Pipeline, Evidence::Operations);
    }
    let stages: Vec<(u32, u32)> = groups.stages().into_iter().map(|(rank, of)| (rank, of.1)).collect();
    assert_eq!(stages, [(0, 0), (1, 1), (2, 2), (3, 3)]);
}

fn dimensions(
    job: &Job,
    layout: Option<&Layout>,
    profile: &dyn Fn(&Group) -> GroupProfile,
) -> Vec<(String, Evidence)> {
    let mut groups = Groups::of(job);
    let profile: Vec<GroupProfile> = groups.groups.iter().map(profile).collect();
    infer(&mut groups, job.world_size, layout, |at| profile[at].clone());
    groups
        .groups
        .into_iter()
        .map(|g| (format!("{} {}", g.ranks.unwrap_or_default(), g.dimension.label), g.dimension.evidence))
        .collect()
}

#[test]
fn dimensions_in_the_order_of_trust() {
    let plain = Job::new(vec![trace(
        0,
        16,
        &[("1", None, &[0, 1]), ("2", None, &[0, 2, 4, 6]), ("3", None, &[0, 8]), ("4", None, &[0, 5])],
    )]);
    let nothing = |_: &Group| GroupProfile::default();
    assert_eq!(
        dimensions(&plain, None, &nothing),
        [
            ("0,1 tensor".to_owned(), Evidence::Tiling),
            ("0-6:2 data".to_owned(), Evidence::Tiling),
            ("0,5 unknown (size 2, stride 5)".to_owned(), Evidence::Nothing),
            ("0,8 pipeline".to_owned(), Evidence::Tiling),
        ]
    );
    let layout = Layout::read("tp=2,cp=4,dp=2").unwrap();
    assert_eq!(dimensions(&plain, Some(&layout), &nothing)[1], ("0-6:2 context".to_owned(), Evidence::Sizes));
    let stated = Job::new(vec![trace(
        0,
        8,
        &[
            ("1", Some("TENSOR_MODEL_PARALLEL_GROUP"), &[0, 1]),
            ("2", Some("DATA_PARALLEL_GROUP_WITH_CP"), &[0, 2]),
            ("3", Some("mesh_pp"), &[0, 4]),
            ("4", Some("EXPERT_MODEL_PARALLEL_GROUP"), &[0, 3]),
            ("5", Some("EMBEDDING_GROUP"), &[0, 7]),
        ],
    )]);
    let labels: Vec<String> = dimensions(&stated, None, &nothing).into_iter().map(|(text, _)| text).collect();
    assert_eq!(labels, ["0,1 tensor", "0,2 data", "0,3 expert", "0,4 pipeline", "0,7 EMBEDDING_GROUP"]);
}

#[test]
fn what_a_group_does_is_the_last_word() {
    let job = Job::new(vec![trace(0, 2, &[("13", None, &[0, 1])])]);
    // Repeated throughout a step of a thousand nanoseconds.
    let even = |list: Vec<(CollectiveKind, u64)>| {
        let count = list.len() as i64;
        let calls = list.into_iter().enumerate().map(|(k, (operation, bytes))| Call {
            operation: Some(operation),
            bytes: Some(bytes),
            start: 1_000 * k as i64 / count,
            phase: railwright_step::Phase::Other,
        });
        GroupProfile { calls: calls.collect(), recorded: (0, 1_000), steps: 1, experts: false }
    };
    let profile = |operation, counts: &'static [(u64, usize)]| {
        move |_: &Group| {
            let list = counts.iter().flat_map(|&(bytes, n)| vec![(operation, bytes); n]);
            even(list.collect())
        }
    };
    let of = |profile: &dyn Fn(&Group) -> GroupProfile| dimensions(&job, None, profile)[0].clone();
    assert_eq!(of(&profile(CollectiveKind::AllReduce, &[(24576, 10), (2048, 3)])).0, "0,1 tensor");
    assert_eq!(of(&profile(CollectiveKind::AllReduce, &[(100, 1), (200, 1), (300, 1)])).0, "0,1 data");
    let exchanges = profile(CollectiveKind::AllToAll, &[(100, 4)]);
    // Recommenders exchange embeddings among all ranks.
    assert_eq!(of(&exchanges).0, "0,1 whole world");
    assert_eq!(of(&|group| GroupProfile { experts: true, ..exchanges(group) }).0, "0,1 expert");
    assert_eq!(of(&profile(CollectiveKind::Send, &[(100, 4)])).0, "0,1 pipeline");
    assert_eq!(
        of(&profile(CollectiveKind::Broadcast, &[(100, 4)])),
        ("0,1 whole world".to_owned(), Evidence::Nothing)
    );
    // Parameter shards of many sizes, in more calls than a plain step has.
    let shards = |_: &Group| {
        let list = [
            (CollectiveKind::ReduceScatter, 100),
            (CollectiveKind::AllGather, 100),
            (CollectiveKind::ReduceScatter, 70),
            (CollectiveKind::AllGather, 30),
        ];
        even(list.repeat(9))
    };
    assert_eq!(of(&shards), ("0,1 data".to_owned(), Evidence::Operations));
    // Activations of sequence parallelism have one size: no evidence of gradients.
    let activations =
        |_: &Group| even([(CollectiveKind::ReduceScatter, 100), (CollectiveKind::AllGather, 100)].repeat(40));
    assert_eq!(of(&activations).0, "0,1 whole world");
}
