//! Racks that a job does not fill.

use super::*;

/// On parts of racks, groups that fit into a part are not split. The candidate and the order of rows agree on
/// that.
#[test]
fn groups_within_a_part_of_a_rack_are_whole() {
    let model = model::by_name("qwen3-30b-a3b").expect("known");
    let cluster = cluster::by_name("gb300-nvl72", 128).expect("known");
    let specified = PlanSpec {
        tensor_parallel: Some(1),
        pipeline_parallel: Some(1),
        context_parallel: Some(1),
        expert_parallel: Some(64),
        micro_batch: Some(1),
        global_batch: Some(512),
        ..PlanSpec::default()
    };
    let space = Space::new(&specified, &model, &cluster).expect("a space");
    let search = Search::new(&model, &cluster, space, Options { keep: 1, ..Options::default() });
    let search = search.expect("layouts");
    let outcome = search.outcome(&search.run());
    let first = outcome.candidates.first().expect("it fits");
    assert_eq!(first.plan.segment, Some(64));
    // The ranks of 64 experts fit into 64 of 72 devices, and would span two whole racks.
    assert!(!first.oddities.contains(&crate::simplicity::UnusualFeature::TornGroup), "{:?}", first.oddities);
}

/// Racks of 72, which do not divide 128 devices: parts of racks are compared with whole ones, and neither is
/// lost.
#[test]
fn parts_of_racks_are_compared_with_whole_ones() {
    let model = model::by_name("qwen3-30b-a3b").expect("known");
    let cluster = cluster::by_name("gb300-nvl72", 128).expect("known");
    let specified = PlanSpec {
        tensor_parallel: Some(1),
        pipeline_parallel: Some(2),
        context_parallel: Some(1),
        expert_parallel: Some(32),
        virtual_stages: Some(1),
        global_batch: Some(512),
        recompute: Some(Recompute::None),
        ..PlanSpec::default()
    };
    let best = |segments: Option<Vec<Segment>>| {
        let mut space = Space::new(&specified, &model, &cluster).expect("a space");
        space.segments = segments;
        let search = Search::new(&model, &cluster, space, Options { keep: 1, ..Options::default() });
        let search = search.expect("layouts");
        let outcome = search.outcome(&search.run());
        outcome.candidates.first().map(|c| (c.step_time, c.plan.segment)).expect("it fits")
    };
    let open = best(None);
    let whole = best(Some(vec![Segment::Whole]));
    let part = best(Some(vec![Segment::Devices(64)]));
    assert_eq!((whole.1, part.1), (None, Some(64)));
    // Groups of 32 experts span two racks of 72, but are in one part of 64.
    assert!(part.0 < whole.0, "{part:?} {whole:?}");
    assert_eq!(open, part);
}
