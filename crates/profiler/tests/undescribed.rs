//! Recordings that name neither groups nor steps nor passes: kernels alone, as Nsight Systems and old versions of PyTorch leave them.

use railwright_profiler::groups::{Evidence, RankSet};
use railwright_profiler::joined::{JoinOptions, join};
use railwright_profiler::passes::PassKind;
use railwright_profiler::pipeline::from_job;
use railwright_profiler::testing::Pipelined;
use railwright_step::Dimension;
use std::collections::BTreeMap;

/// Every pipeline and every tensor parallel group is found, and the passes of 1F1B.
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
            assert!(all, "{label}: {found:?} {:?}", joined.matching.told);
        }
        if tensor > 1 {
            let group =
                |stage: u32| RankSet::new(&(0..tensor).map(|t| stage * tensor + t).collect::<Vec<_>>());
            assert_eq!(found[&Dimension::Tensor], (0..stages).map(group).collect::<Vec<_>>(), "{label}");
        }
        // Both ends of every message met: two of each micro batch at every border of stages.
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
