//! Recompute and offload of layers, if pipeline stages differ.
//!
//! Responsible for: converting per-stage entries of a plan to treatments (recompute and offload) of the
//! layers of each virtual stage, for time and memory. Does not price.

use crate::partition::local_chunks;
use railwright_spec::plan::{Plan, Recompute, StageRecompute};

/// Treatment of the activations of a layer.
#[derive(Clone, Debug, PartialEq)]
pub struct Treatment {
    /// Recompute policy, independent of the number of layers.
    pub recompute: Recompute,
    /// Share of kept activations in host memory.
    pub offload: f64,
}

/// The treatment of every layer of every virtual stage.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Coverage {
    /// The distinct treatments.
    pub treatments: Vec<Treatment>,
    /// By virtual stage in pipeline order: indices of treatments in the order of its layers, each with its
    /// number of consecutive layers.
    pub chunks: Vec<Vec<(usize, u64)>>,
    /// The treatment of multi-token prediction, which is part of the last virtual stage.
    pub beside: usize,
}

impl Coverage {
    /// The coverage of a plan with per-stage entries, for the layers of each virtual stage; `None` if all
    /// stages are equal.
    pub(crate) fn new(plan: &Plan, split: &[u64]) -> Option<Self> {
        let stages = plan.stage_recompute.as_ref()?;
        let mut coverage = Self { treatments: Vec::new(), chunks: vec![Vec::new(); split.len()], beside: 0 };
        let mut last = StageRecompute::default();
        if stages.len() == split.len() {
            for (index, (stage, &layers)) in stages.iter().zip(split).enumerate() {
                coverage.lay(plan, stage, &[index], &[layers]);
            }
            last = stages.last().cloned().unwrap_or_default();
        } else {
            for (index, stage) in stages.iter().enumerate() {
                let mut own = local_chunks(plan, index);
                own.retain(|chunk| *chunk < split.len());
                let layers: Vec<u64> = own.iter().map(|&c| split[c]).collect();
                coverage.lay(plan, stage, &own, &layers);
                if own.contains(&(split.len() - 1)) {
                    last = stage.clone();
                }
            }
        }
        coverage.beside = coverage.number(&Treatment { recompute: last.rest(), offload: share(plan, &last) });
        Some(coverage)
    }

    /// Assigns the policies of a stage to the layers of its virtual stages, in sequence.
    fn lay(&mut self, plan: &Plan, stage: &StageRecompute, chunks: &[usize], layers: &[u64]) {
        let offload = share(plan, stage);
        let mut runs = stage
            .runs(layers.iter().sum())
            .into_iter()
            .map(|(recompute, count)| (Treatment { recompute, offload }, count));
        let mut run = runs.next();
        for (&chunk, &room) in chunks.iter().zip(layers) {
            let mut left = room;
            while left > 0 {
                let Some((treatment, count)) = &mut run else { break };
                let here = left.min(*count);
                let number = self.number(treatment);
                self.chunks[chunk].push((number, here));
                left -= here;
                *count -= here;
                if *count == 0 {
                    run = runs.next();
                }
            }
        }
    }

    fn number(&mut self, treatment: &Treatment) -> usize {
        self.treatments.iter().position(|known| known == treatment).unwrap_or_else(|| {
            self.treatments.push(treatment.clone());
            self.treatments.len() - 1
        })
    }

    /// The treatment of a layer of a virtual stage, both from 0.
    pub(crate) fn of(&self, chunk: usize, layer: usize) -> usize {
        let mut left = layer as u64;
        for &(treatment, count) in self.chunks.get(chunk).map_or(&[][..], Vec::as_slice) {
            if left < count {
                return treatment;
            }
            left -= count;
        }
        self.beside
    }
}

fn share(plan: &Plan, stage: &StageRecompute) -> f64 {
    stage.offload.unwrap_or(plan.offload.activations).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::testing;
    use railwright_spec::plan::Schedule;
    use railwright_spec::run::{Field, Value};

    fn covered(
        schedule: Schedule,
        virtual_stages: u64,
        split: &[u64],
        texts: &[&str],
    ) -> Vec<Vec<(String, u64)>> {
        let mut plan = testing::plan();
        (plan.schedule, plan.pipeline_parallel, plan.virtual_stages) = (schedule, 2, virtual_stages);
        let list = texts.iter().map(|t| Value::Text((*t).to_owned())).collect();
        plan.stage_recompute = Some(Field::read(&Value::List(list)).expect("reads"));
        let coverage = Coverage::new(&plan, split).expect("given");
        let name = |&(t, n): &(usize, u64)| (coverage.treatments[t].recompute.short(), n);
        coverage.chunks.iter().map(|chunk| chunk.iter().map(name).collect()).collect()
    }

    #[test]
    fn a_stage_covers_its_virtual_stages_one_after_another() {
        let of = |list: &[(&str, u64)]| list.iter().map(|(p, n)| ((*p).to_owned(), *n)).collect::<Vec<_>>();
        let interleaved = covered(Schedule::OneForwardOneBackward, 2, &[3, 3, 3, 3], &["full:4", "mlp"]);
        let expected =
            [of(&[("full", 3)]), of(&[("mlp", 3)]), of(&[("full", 1), ("none", 2)]), of(&[("mlp", 3)])];
        assert_eq!(interleaved, expected);
        // Folded: stage 0 holds the first and the last virtual stage.
        let folded = covered(Schedule::ZbV, 2, &[3, 3, 3, 3], &["full:4", "none"]);
        assert_eq!(folded[0], of(&[("full", 3)]));
        assert_eq!(folded[3], of(&[("full", 1), ("none", 2)]));
        assert_eq!(folded[1], of(&[("none", 3)]));
        // One entry per virtual stage.
        let each = covered(Schedule::OneForwardOneBackward, 2, &[3; 4], &["none", "full:1", "none", "mlp:2"]);
        assert_eq!(each[1], of(&[("full", 1), ("none", 2)]));
        assert_eq!(each[3], of(&[("mlp", 2), ("none", 1)]));
    }

    /// A common policy and the same policy per stage have an identical step and memory.
    #[test]
    fn equal_stages_equal_the_uniform_plan() {
        use crate::costing::{Costing, Machine};
        use crate::evaluate::evaluate;
        use crate::memory::{MemoryInput, SoftwareCatalogue, report};
        use railwright_spec::plan::{PlanSpec, RecomputeModule, Sharding};
        use railwright_spec::{cluster, model};
        let cluster = cluster::by_name("dgx-h100", 512).expect("a preset");
        let machine = Machine::new(&cluster);
        let modules = [RecomputeModule::Norm, RecomputeModule::CoreAttention].into();
        let policies = [
            Recompute::Full { layers: None },
            // Of the layers beyond, the one of multi-token prediction follows a common policy, but the rest
            // of a stage's entry.
            Recompute::Full { layers: Some(2) },
            Recompute::Selective { modules, layers: None },
            Recompute::None,
        ];
        for (name, expert, uneven) in [("llama-3-70b", 1, false), ("deepseek-v3", 32, true)] {
            let model = model::by_name(name).expect("known");
            let is_comparable = |policy: &&Recompute| {
                model.multi_token_prediction.is_none() || **policy != Recompute::Full { layers: Some(2) }
            };
            for (recompute, zero_stage) in
                policies.iter().filter(is_comparable).flat_map(|p| [(p, 1), (p, 3)])
            {
                let spec = PlanSpec {
                    pipeline_parallel: Some(8),
                    expert_parallel: Some(expert),
                    uneven_stages: Some(uneven),
                    recompute: Some(recompute.clone()),
                    offload_activations: Some(0.5),
                    sharding: Some(Sharding { zero_stage, group: None, reshard_after_forward: true }),
                    ..PlanSpec::default()
                };
                let once = spec.resolve(&model, &cluster).expect("sound");
                let mut by_stage = once.clone();
                by_stage.recompute = Recompute::None;
                let entry = StageRecompute { segments: vec![recompute.clone()], offload: None };
                by_stage.stage_recompute = Some(vec![entry; 8]);
                let software = SoftwareCatalogue::shared().expect("reads").get(&once.software);
                let of = |plan: &Plan| {
                    let costing = Costing::new(&model, &cluster, plan, &machine).expect("priced");
                    let input =
                        MemoryInput { model: &model, cluster: &cluster, plan, software, in_flight: None };
                    let evaluation = evaluate(&costing).expect("runs");
                    (evaluation.time, evaluation.hardware_flop, report(&input))
                };
                assert!(of(&once) == of(&by_stage), "{name} {recompute:?} {zero_stage}");
            }
        }
    }
}
