//! A found plan as the shortest specification that reproduces it.
//!
//! Responsible for: removal of defaults from a specification, of settings that a file contains, and of
//! settings without effect on the plan. Never removes a setting with an effect: the result resolves to the
//! same plan except for these, or is complete.

use railwright_spec::cluster::Cluster;
use railwright_spec::model::Model;
use railwright_spec::plan::{Plan, PlanSpec};
use railwright_spec::run::{Section, Value};

/// Settings that are always written: parallel sizes and batch.
const ALWAYS: [&str; 4] = ["tensor_parallel", "pipeline_parallel", "micro_batch", "global_batch"];
/// Aliases of the batch; the found plan has `global_batch`.
const BATCH: [&str; 2] = ["micro_batches", "batch_tokens"];

/// The shortest specification that resolves to the plan and keeps the settings of `specified`, in the order
/// of the documentation.
pub fn shortest(specified: &PlanSpec, plan: &Plan, model: &Model, cluster: &Cluster) -> PlanSpec {
    let full = PlanSpec::from_plan(plan);
    let wanted = plan.clone().placed_alike();
    let leads_back =
        |spec: &PlanSpec| spec.resolve(model, cluster).is_ok_and(|found| found.placed_alike() == wanted);
    let mut words: Vec<(&'static str, Value)> = Vec::new();
    for key in PlanSpec::KEYS {
        let value = if BATCH.contains(&key.name) {
            None
        } else {
            full.get(key.name).or_else(|| specified.get(key.name))
        };
        words.extend(value.map(|value| (key.name, value)));
    }
    if !leads_back(&spec_of(&words)) {
        return full;
    }
    // A list of layers is rarely needed: the specification can usually derive the uneven division itself.
    if specified.layers_per_stage.is_none() && full.layers_per_stage.is_some() {
        let mut shorter: Vec<(&'static str, Value)> =
            words.iter().filter(|(name, _)| *name != "layers_per_stage").cloned().collect();
        shorter.retain(|(name, _)| *name != "uneven_stages");
        shorter.push(("uneven_stages", Value::Flag(true)));
        if leads_back(&spec_of(&shorter)) {
            words = shorter;
        }
    }
    let mut index = words.len();
    while index > 0 {
        index -= 1;
        let name = words[index].0;
        if ALWAYS.contains(&name) || specified.get(name).is_some() {
            continue;
        }
        let mut shorter = words.clone();
        shorter.remove(index);
        if leads_back(&spec_of(&shorter)) {
            words = shorter;
        }
    }
    spec_of(&words)
}

/// The fewest settings in addition to those of a file that resolve to the plan: none of them can be removed.
/// Complete if some setting of the file cannot be replaced.
pub fn shortest_over(file: &PlanSpec, plan: &Plan, model: &Model, cluster: &Cluster) -> PlanSpec {
    let full = PlanSpec::from_plan(plan);
    let wanted = plan.clone().placed_alike();
    let leads_back = |words: &[(&'static str, Value)]| {
        laid_over(file, words).resolve(model, cluster).is_ok_and(|found| found.placed_alike() == wanted)
    };
    let every: Vec<(&'static str, Value)> = PlanSpec::KEYS
        .iter()
        .filter(|key| !BATCH.contains(&key.name))
        .filter_map(|key| Some((key.name, full.get(key.name)?)))
        .collect();
    let mut words: Vec<(&'static str, Value)> =
        every.iter().filter(|(name, value)| file.get(name).as_ref() != Some(value)).cloned().collect();
    if !leads_back(&words) {
        // A preset of the file, such as `precision`, may replace settings with its values.
        words = every;
    }
    if !leads_back(&words) {
        return full;
    }
    let mut index = words.len();
    while index > 0 {
        index -= 1;
        let mut shorter = words.clone();
        shorter.remove(index);
        if leads_back(&shorter) {
            words = shorter;
        }
    }
    spec_of(&words)
}

/// Settings in addition to those of a file, as on a command line: its batch replaces that of the file, for
/// any of its keys.
fn laid_over(file: &PlanSpec, words: &[(&'static str, Value)]) -> PlanSpec {
    let mut spec = file.clone();
    let later: Vec<&str> = words.iter().map(|(name, _)| *name).collect();
    spec.clear_replaced(&later, true);
    for (name, value) in words {
        // The values are from a specification, so setting them cannot fail.
        let _ = spec.set(name, value);
    }
    spec
}

fn spec_of(words: &[(&'static str, Value)]) -> PlanSpec {
    let mut spec = PlanSpec::default();
    for (name, value) in words {
        // The values are from a specification, so setting them cannot fail.
        let _ = spec.set(name, value);
    }
    spec
}

#[cfg(test)]
mod tests {
    use super::*;
    use railwright_calculator::costing::{Costing, Machine};
    use railwright_calculator::evaluate::evaluate;
    use railwright_spec::cluster;
    use railwright_spec::model::by_name;
    use railwright_spec::plan::{ContextKind, RankOrder, Recompute, Schedule};

    #[test]
    fn no_setting_over_those_of_a_file_can_be_left_out() {
        let model = by_name("llama-3-70b").expect("known");
        let cluster = cluster::by_name("dgx-h100", 64).expect("known");
        // As a torchtitan file: one micro-batch of 8 on a mesh of 8.
        let file = PlanSpec {
            tensor_parallel: Some(8),
            pipeline_parallel: Some(1),
            context_parallel: Some(1),
            micro_batch: Some(8),
            micro_batches: Some(1),
            sequence_length: Some(8192),
            recompute: Some(Recompute::Full { layers: None }),
            software: Some("torchtitan-2024-eager".to_owned()),
            ..PlanSpec::default()
        };
        let own = file.resolve(&model, &cluster).expect("possible");
        assert_eq!(shortest_over(&file, &own, &model, &cluster), PlanSpec::default(), "the file's own plan");
        let wanted = PlanSpec {
            tensor_parallel: Some(4),
            micro_batch: Some(1),
            micro_batches: None,
            global_batch: Some(128),
            recompute: Some(Recompute::None),
            ..file.clone()
        };
        let plan = wanted.resolve(&model, &cluster).expect("possible");
        let short = shortest_over(&file, &plan, &model, &cluster);
        let words: Vec<(&'static str, Value)> =
            PlanSpec::KEYS.iter().filter_map(|key| Some((key.name, short.get(key.name)?))).collect();
        let names: Vec<&str> = words.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, ["tensor_parallel", "micro_batch", "global_batch", "recompute"]);
        let resolved = |words: &[(&'static str, Value)]| laid_over(&file, words).resolve(&model, &cluster);
        assert_eq!(resolved(&words).as_ref(), Ok(&plan));
        for index in 0..words.len() {
            let mut fewer = words.clone();
            let (name, _) = fewer.remove(index);
            assert_ne!(resolved(&fewer).as_ref(), Ok(&plan), "{name} is needed");
        }
    }

    #[test]
    fn settings_without_effect_are_not_written_and_have_none() {
        let model = by_name("llama-3-8b").expect("known");
        let cluster = cluster::by_name("dgx-h100", 32).expect("known");
        let machine = Machine::new(&cluster);
        let layouts = [(1, 1, 1), (8, 1, 1), (1, 4, 1), (2, 2, 2), (1, 1, 4), (8, 4, 1)];
        let mut effects = 0;
        for (tensor, pipeline, context) in layouts {
            let specified = PlanSpec {
                tensor_parallel: Some(tensor),
                pipeline_parallel: Some(pipeline),
                context_parallel: Some(context),
                global_batch: Some(64),
                ..PlanSpec::default()
            };
            let base = specified.resolve(&model, &cluster).expect("possible");
            let step = |plan: &Plan| {
                let costing = Costing::new(&model, &cluster, plan, &machine).expect("known software");
                evaluate(&costing).expect("a price").time.total
            };
            for rank_order in [RankOrder::TensorContextDataPipeline, RankOrder::TensorContextPipelineData] {
                for context_kind in [ContextKind::Ring, ContextKind::AllGather] {
                    let plan = Plan { rank_order, context_kind, ..base.clone() };
                    let has_no_effect = plan.clone().placed_alike() == base.clone().placed_alike();
                    let short = shortest(&PlanSpec::default(), &plan, &model, &cluster);
                    let back = short.resolve(&model, &cluster).expect("possible");
                    assert_eq!(step(&back), step(&plan), "{tensor} {pipeline} {context}: {short:?}");
                    if has_no_effect {
                        assert_eq!((short.rank_order, short.context_kind), (None, None));
                        assert_eq!(step(&plan), step(&base), "{tensor} {pipeline} {context}");
                    } else {
                        effects += 1;
                    }
                }
            }
        }
        assert!(effects > 4, "{effects}");
    }

    #[test]
    fn values_equal_to_defaults_are_left_out_and_the_rest_leads_back() {
        let model = by_name("llama-3.1-405b").expect("known");
        let cluster = cluster::by_name("dgx-h100", 1024).expect("known");
        let specified = PlanSpec {
            tensor_parallel: Some(8),
            pipeline_parallel: Some(16),
            uneven_stages: Some(true),
            batch_tokens: Some(railwright_spec::run::Amount(4.0 * 1_048_576.0)),
            recompute: Some(Recompute::Full { layers: Some(3) }),
            ..PlanSpec::default()
        };
        let plan = specified.resolve(&model, &cluster).expect("possible");
        let open = PlanSpec::default();
        let short = shortest(&open, &plan, &model, &cluster);
        assert_eq!(short.resolve(&model, &cluster).as_ref(), Ok(&plan));
        let names: Vec<&str> =
            PlanSpec::KEYS.iter().map(|key| key.name).filter(|name| short.get(name).is_some()).collect();
        assert_eq!(
            names,
            [
                "tensor_parallel",
                "pipeline_parallel",
                "micro_batch",
                "global_batch",
                "recompute",
                "uneven_stages"
            ]
        );
        let odd = Plan { schedule: Schedule::ZbH1, dropout: true, ..plan };
        let short = shortest(&specified, &odd, &model, &cluster);
        assert_eq!((short.schedule, short.dropout), (Some(Schedule::ZbH1), Some(true)));
        assert_eq!(short.resolve(&model, &cluster), Ok(odd));
    }
}
