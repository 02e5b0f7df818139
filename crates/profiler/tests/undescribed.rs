//! Recordings without groups, steps and passes: only kernels, as from Nsight Systems and old versions of
//! PyTorch.

use crate::jobs;
use proptest::prelude::*;
use railwright_profiler::clocks::ClockPolicy;
use railwright_profiler::groups::{Evidence, Layout, RankSet};
use railwright_profiler::joined::{JoinOptions, Joined, join};
use railwright_profiler::passes::PassKind;
use railwright_profiler::pipeline::from_job;
use railwright_profiler::testing::{Pipelined, Synthetic, drop_leading, move_clock};
use railwright_profiler::trace::{GpuActivities, GpuActivity};
use railwright_step::Dimension;
use std::collections::BTreeMap;

/// Every pipeline, every tensor-parallel group and the passes of 1F1B are found.
#[test]
fn a_pipeline_is_found_by_when_its_messages_end() {
    for (stages, tensor) in [(2, 1), (2, 2), (4, 2), (3, 4), (8, 1)] {
        let plan = Pipelined { stages, tensor, ..Pipelined::default() };
        let label = format!("{stages} stages of {tensor}");
        let mut job = plan.job();
        let joined = join(&mut job, &JoinOptions::default());
        let mut found: BTreeMap<Dimension, Vec<RankSet>> = BTreeMap::new();
        for group in &joined.groups.groups {
            assert_eq!(group.dimension.evidence, Evidence::Operations, "{label}: {group:?}");
            found.entry(group.dimension.dimension).or_default().extend(group.ranks.clone());
        }
        let pipeline =
            |first: u32| RankSet::new(&(0..stages).map(|s| s * tensor + first).collect::<Vec<_>>());
        for first in 0..tensor {
            let all = found.get(&Dimension::Pipeline).is_some_and(|all| all.contains(&pipeline(first)));
            assert!(all, "{label}: {found:?} {:?}", joined.matching.inferred);
        }
        if tensor > 1 {
            let group =
                |stage: u32| RankSet::new(&(0..tensor).map(|t| stage * tensor + t).collect::<Vec<_>>());
            assert_eq!(found[&Dimension::Tensor], (0..stages).map(group).collect::<Vec<_>>(), "{label}");
        }
        // Both ends of every message are joined: two messages per micro-batch at every boundary of stages.
        let messages: usize = plan.steps as usize * 2 * plan.micro_batches as usize * (stages as usize - 1);
        let matched = joined.matching.collectives.iter().filter(|collective| {
            let communicator = joined.matching.communicator(collective);
            let group = communicator.group.and_then(|id| joined.groups.get(id));
            group.is_some_and(|group| group.dimension.dimension == Dimension::Pipeline)
        });
        assert_eq!(matched.count(), messages * tensor as usize, "{label}");
        let passes = from_job::passes(&job, &joined).expect("passes");
        assert_eq!(passes.shape.pipeline_parallel, stages, "{label}");
        assert_eq!((passes.shape.data_parallel, passes.shape.shards), (1, tensor), "{label}");
        let of = |stage: u32, kind: PassKind| {
            let wanted = |p: &&_| {
                let p: &railwright_profiler::passes::Pass = p;
                p.stage == stage && p.kind == kind && p.step == passes.passes[0].step && p.shard == 0
            };
            passes.passes.iter().filter(wanted).count()
        };
        for stage in 0..stages {
            let both = (of(stage, PassKind::Forward), of(stage, PassKind::Backward));
            assert_eq!(both, (8, 8), "{label}, stage {stage}");
        }
    }
}

/// Kernel names mark a tenth of a transformer's backward pass. Passes are found completely, steps by the
/// launches of the update, and both are reported as inferred.
#[test]
fn a_transformers_passes_and_steps_are_found_by_the_names_of_few_kernels() {
    let plan = Pipelined { tensor: 1, layers: 3, layer: 400_000, transformer: true, ..Pipelined::default() };
    let mut job = plan.job();
    let joined = join(&mut job, &JoinOptions::default());
    let passes = from_job::passes(&job, &joined).expect("passes");
    assert_eq!((passes.shape.pipeline_parallel, passes.shape.micro_batches), (4, 8));
    let reported: Vec<&str> = passes.warnings.iter().map(|warning| warning.id.as_str()).collect();
    assert_eq!(reported, ["pipeline-passes-cut"]);
    let steps: std::collections::BTreeSet<u32> = passes.passes.iter().map(|pass| pass.step).collect();
    // From one update to the next: work before the first update may be part of a step.
    assert_eq!(steps.len(), 2);
    for stage in 0..4 {
        for (kind, layer) in [(PassKind::Forward, 1.0), (PassKind::Backward, 2.0)] {
            let of = passes.passes.iter().filter(|pass| pass.stage == stage && pass.kind == kind);
            let times: Vec<f64> = of.map(|pass| (pass.end - pass.start) as f64).collect();
            assert_eq!(times.len(), 16, "stage {stage}, {kind:?}");
            // Stages without messages between both directions are included: GEMMs of other shapes separate
            // them.
            let (mean, expected) = (times.iter().sum::<f64>() / 16.0, 3.0 * 400_000.0 * layer);
            assert!((mean / expected - 1.0).abs() < 0.05, "stage {stage}, {kind:?}: {mean}, not {expected}");
        }
    }
}

/// Sizes set by the user determine every rank's stage, replica and shard.
#[test]
fn a_layout_decides_the_places_of_ranks() {
    let plan = Pipelined { stages: 4, tensor: 2, ..Pipelined::default() };
    for (text, shape) in [("tp=2,pp=4", (4, 1, 2)), ("tp=2,dp=2,pp=2", (2, 2, 2)), ("dp=2,pp=4", (4, 2, 1))] {
        let mut job = plan.job();
        let layout = Layout::read(text).expect("layout");
        let joined = join(&mut job, &JoinOptions { layout: Some(layout), ..JoinOptions::default() });
        let shape_of = from_job::passes(&job, &joined).expect("passes").shape;
        let found = (shape_of.pipeline_parallel, shape_of.data_parallel, shape_of.shards);
        assert_eq!(found, shape, "{text}");
    }
}

/// Costs of a pipeline with one half missing would be wrong: a warning replaces them.
#[test]
fn backward_passes_alone_are_no_pipeline() {
    let mut job = Pipelined::default().job();
    // All names of forward kernels are also those of backward kernels.
    for member in &mut job.members {
        let backward = member.trace.names.intern("flash_bwd_kernel");
        let names: Vec<_> =
            member.trace.gpu.iter().map(|row| member.trace.names.get(row.name).contains("fwd")).collect();
        let rows: Vec<_> = member
            .trace
            .gpu
            .iter()
            .zip(names)
            .map(|(row, forward)| if forward { GpuActivity { name: backward, ..row } } else { row })
            .collect();
        member.trace.gpu = GpuActivities::default();
        for row in rows {
            member.trace.gpu.push(row);
        }
    }
    let joined = join(&mut job, &JoinOptions::default());
    let problem = from_job::passes(&job, &joined).expect_err("one half alone");
    assert!(problem.message.contains("no forward pass"), "{problem}");
    assert!(problem.hint.is_some());
}

/// Inferred sets of ranks, by dimension.
fn sets(joined: &Joined) -> BTreeMap<Dimension, Vec<RankSet>> {
    let mut found: BTreeMap<Dimension, Vec<RankSet>> = BTreeMap::new();
    for group in joined.groups.groups.iter().filter(|group| group.inferred) {
        found.entry(group.dimension.dimension).or_default().extend(group.ranks.clone());
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Offsets of up to ten seconds, drifts of up to 50 ppm and lost leading kernels do not change the groups. Offsets between the ranks of
    /// a tensor-parallel group are recovered within 5 us.
    #[test]
    fn groups_are_reported_whatever_clocks_show(
        shape in prop::sample::select(vec![(2_u32, 2_u32), (2, 4), (4, 2)]),
        off in prop::collection::vec((-10_000_000_000_i64..10_000_000_000, -50.0_f64..50.0), 8),
        lost in prop::collection::vec(0_usize..3, 8),
    ) {
        let (tensor, data) = shape;
        let mut job = Synthetic { described: false, tensor, data, steps: 16, ..Synthetic::default() }.job();
        // The builder names its undescribed groups in the head: a recorder without descriptions has none.
        for member in &mut job.members {
            member.trace.groups.clear();
            drop_leading(&mut member.trace, lost[member.rank as usize]);
            // Ranks of a tensor-parallel group share a host.
            let (offset, ppm) = off[(member.rank / tensor) as usize];
            move_clock(&mut member.trace, offset, ppm);
        }
        let joined = join(&mut job, &JoinOptions { clocks: ClockPolicy::Align, ..JoinOptions::default() });
        let all: Vec<RankSet> = sets(&joined).into_values().flatten().collect();
        for replica in 0..data {
            let set = RankSet::new(&(0..tensor).map(|t| replica * tensor + t).collect::<Vec<_>>());
            prop_assert!(all.contains(&set), "{all:?} {:?}", joined.matching.inferred);
        }
        for shard in 0..tensor {
            let set = RankSet::new(&(0..data).map(|d| d * tensor + shard).collect::<Vec<_>>());
            prop_assert!(all.contains(&set), "{all:?} {:?}", joined.matching.inferred);
        }
        for clock in joined.clocks.clocks.iter().filter(|clock| clock.rank % tensor != 0) {
            let first = &joined.clocks.clocks[(clock.rank - clock.rank % tensor) as usize];
            let apart = clock.offset - first.offset;
            prop_assert!(apart.abs() < 5_000, "rank {}: {apart} ns", clock.rank);
        }
    }
}

/// Four V100 exchange embeddings in one group, without recorded groups.
#[test]
fn a_group_that_fits_no_dimension_of_the_layout_stays_unknown() {
    let folder = "torchrec_v100_4r/sst_long_a2a_optimizer_3";
    let of = |layout: &str| {
        let options = JoinOptions { layout: Layout::read(layout).ok(), ..JoinOptions::default() };
        let joined = join(&mut jobs::job(folder, ".json.gz"), &options);
        let dimensions: Vec<Dimension> =
            joined.groups.groups.iter().map(|group| group.dimension.dimension).collect();
        let ids: Vec<String> = joined.warnings.iter().map(|warning| warning.id.clone()).collect();
        let text: String = joined.warnings.iter().map(|warning| warning.message.clone()).collect();
        (dimensions, ids, text)
    };
    let (dimensions, ids, text) = of("dp=2,tp=2");
    assert_eq!(dimensions, [Dimension::Other]);
    assert!(ids.iter().any(|id| id == "layout-fits-no-group"), "{text}");
    assert!(!text.contains("Specify the layout"), "{text}");
    // The layout confirms the group, so that nothing is left to specify.
    let (dimensions, ids, _) = of("dp=4");
    assert_eq!(dimensions, [Dimension::Data]);
    assert!(ids.iter().all(|id| !id.starts_with("layout-") && id != "groups-inferred-from-ends"), "{ids:?}");
}
