//! Recompute policies of a model's layers, the choices of a solver.
//!
//! Responsible for: every useful set of modules of the model. Does not compare them.

use railwright_spec::model::{FeedForward, Layer, Mixer, Model};
use railwright_spec::plan::{Recompute, RecomputeModule};
use railwright_spec::software;
use std::collections::BTreeSet;

/// Tests whether a kind of layer has a module.
pub fn has(layer: &Layer, module: RecomputeModule) -> bool {
    match module {
        RecomputeModule::CoreAttention => matches!(layer.mixer, Mixer::Attention(_) | Mixer::Latent(_)),
        RecomputeModule::LatentUpProjection => matches!(layer.mixer, Mixer::Latent(_)),
        RecomputeModule::Mlp => matches!(layer.feed_forward, FeedForward::Dense(_)),
        RecomputeModule::Moe => matches!(layer.feed_forward, FeedForward::MixtureOfExperts(_)),
        RecomputeModule::Activation => !matches!(layer.feed_forward, FeedForward::None),
        RecomputeModule::Norm | RecomputeModule::Operators => true,
    }
}

/// Tests whether a generation recomputes by operators, as torch's selective policy does; the others do by
/// modules.
pub fn by_operators(software: &str) -> bool {
    !software.starts_with("megatron")
}

/// Modules that some layer of the model has and the software generation recomputes, as in a search.
pub fn modules(model: &Model, software: &str) -> BTreeSet<RecomputeModule> {
    let known = named_modules(model, software);
    match software::by_id(software) {
        Ok(it) => known.into_iter().filter(|&module| it.offers.recomputes(module, model)).collect(),
        Err(_) => known,
    }
}

/// Modules that some layer of the model has, by the kind of the software's policies, including those that
/// this generation lacks.
pub fn named_modules(model: &Model, software: &str) -> BTreeSet<RecomputeModule> {
    use RecomputeModule::{Activation, CoreAttention, LatentUpProjection, Mlp, Moe, Norm, Operators};
    [CoreAttention, Norm, Activation, Mlp, Moe, LatentUpProjection, Operators]
        .into_iter()
        .filter(|&module| model.layer_kinds.iter().any(|layer| has(layer, module)))
        .filter(|&module| module != Operators || by_operators(software))
        .collect()
}

/// No recompute, every useful set of the modules, and whole layers: on any number of layers. A set with an
/// activation and its whole block would count twice, and operators are a separate policy.
pub fn policies(model: &Model, allowed: &BTreeSet<RecomputeModule>) -> Vec<Recompute> {
    use RecomputeModule::{Activation, CoreAttention, LatentUpProjection, Mlp, Moe, Norm, Operators};
    let mut sets = vec![BTreeSet::new()];
    let mut extend = |choices: &[&[RecomputeModule]]| {
        let before = sets.clone();
        for choice in choices {
            if choice.iter().all(|m| allowed.contains(m)) && !choice.is_empty() {
                sets.extend(before.iter().map(|set: &BTreeSet<_>| {
                    let mut set = set.clone();
                    set.extend(choice.iter().copied());
                    set
                }));
            }
        }
    };
    let blocks: Vec<RecomputeModule> = [Mlp, Moe].into_iter().filter(|m| allowed.contains(m)).collect();
    extend(&[&[CoreAttention]]);
    extend(&[&[Norm]]);
    extend(&[&[LatentUpProjection]]);
    extend(&[&[Activation], &blocks]);
    let mut list = vec![Recompute::None];
    list.extend(
        sets.into_iter()
            .filter(|s| !s.is_empty())
            .map(|modules| Recompute::Selective { modules, layers: None }),
    );
    if allowed.contains(&Operators) {
        list.push(Recompute::Selective { modules: BTreeSet::from([Operators]), layers: None });
    }
    list.push(Recompute::Full { layers: None });
    list.retain(|policy| match policy {
        Recompute::Selective { modules, .. } => {
            modules.iter().all(|&m| model.layer_kinds.iter().any(|layer| has(layer, m)))
        }
        _ => true,
    });
    list
}

/// The policy without the modules that a kind of layer does not have.
pub fn on_layer(policy: &Recompute, layer: &Layer) -> Recompute {
    match policy {
        Recompute::Selective { modules, layers } => {
            let modules: BTreeSet<_> = modules.iter().copied().filter(|&m| has(layer, m)).collect();
            if modules.is_empty() {
                Recompute::None
            } else {
                Recompute::Selective { modules, layers: *layers }
            }
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use railwright_spec::model::by_name;

    #[test]
    fn every_sensible_set_stands_once() {
        let dense = by_name("llama-3-8b").expect("known");
        // With or without core attention, with or without norms, and of the MLP nothing, the activation, or
        // all: 12 sets; and whole layers.
        let list = policies(&dense, &named_modules(&dense, "megatron-core-2025"));
        assert_eq!(list.len(), 13);
        assert_eq!(
            (list.first(), list.last()),
            (Some(&Recompute::None), Some(&Recompute::Full { layers: None }))
        );
        let mixture = by_name("deepseek-v3").expect("known");
        let list = policies(&mixture, &modules(&mixture, "megatron-core-2025"));
        assert_eq!(list.len(), 25);
        assert_eq!(policies(&dense, &named_modules(&dense, "torchtitan-2025")).len(), 14);
        let both: Vec<String> = list.iter().map(Recompute::short).collect();
        assert!(both.contains(&"mlp+moe".to_owned()));
        // Megatron recomputes the activation of experts alone, its generation of 2024 no module but core
        // attention, and torchtitan operators.
        let offered = |software| modules(&dense, software).len();
        assert_eq!(["megatron-core-2025", "megatron-core-2024", "torchtitan-2025"].map(offered), [3, 1, 1]);
        let only = policies(&dense, &BTreeSet::from([RecomputeModule::Mlp]));
        assert_eq!(only.iter().map(Recompute::short).collect::<Vec<_>>(), ["none", "mlp", "full"]);
    }
}
