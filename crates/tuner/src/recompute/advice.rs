//! Changes that make a plan fit if no recompute suffices.
//!
//! Responsible for: a few common changes, each tested. Does not search: see `search`.

use super::lay::bare;
use super::trial::Trial;
use super::{Options, policies, treatments};
use crate::recompute::best_of_group;
use railwright_calculator::choices::Choices;
use railwright_calculator::costing::Costing;
use railwright_calculator::memory::{EVEN_CHANCE, layers_per_chunk};
use railwright_spec::plan::{Plan, balanced_layers, validate};
use serde::Serialize;

/// A change after which everything fits.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Remedy {
    /// The change, as text.
    pub change: String,
}

/// Changes after which a solution exists, the smallest first.
pub(super) fn remedies(trial: &Trial<'_>, plan: &Plan, stages: usize) -> Vec<Remedy> {
    let mut found = Vec::new();
    let mut consider = |change: String, plan: Plan, options: &Options| {
        if validate(trial.model, trial.cluster, &plan).is_empty() && is_solvable(trial, &plan, options) {
            found.push(Remedy { change });
        }
    };
    let options = trial.options;
    if !options.offload {
        let with = Options { offload: true, ..options.clone() };
        consider(
            "allow offload of activations to host memory (--allow-offload)".to_owned(),
            plan.clone(),
            &with,
        );
    }
    if options.probability > EVEN_CHANCE {
        let with = Options { probability: EVEN_CHANCE, ..options.clone() };
        consider("accept a fit probability of 50% (--fit-probability 0.5)".to_owned(), plan.clone(), &with);
    }
    let batch = plan.micro_batch;
    if batch > 1 && batch.is_multiple_of(2) {
        let micro_batch = batch / 2;
        consider(
            format!("micro-batches of {micro_batch} (--micro-batch {micro_batch})"),
            Plan { micro_batch, ..plan.clone() },
            options,
        );
    }
    for zero_stage in (plan.sharding.zero_stage + 1)..=3 {
        let mut sharded = plan.clone();
        sharded.sharding.zero_stage = zero_stage;
        sharded.sharding.reshard_after_forward = zero_stage == 3;
        consider(format!("ZeRO stage {zero_stage} (--sharding zero{zero_stage})"), sharded, options);
    }
    let halved = |plan: &Plan| {
        let data = plan.data_parallel;
        data.is_multiple_of(2).then(|| Plan { data_parallel: data / 2, ..plan.clone() })
    };
    if let Some(half) = halved(plan) {
        let tensor_parallel = plan.tensor_parallel * 2;
        let mut wider = Plan { tensor_parallel, sequence_parallel: true, ..half.clone() };
        if wider.expert_parallel <= 1 {
            wider.expert_tensor_parallel = tensor_parallel;
        }
        consider(format!("more tensor parallelism (--tp {tensor_parallel})"), wider, options);
        let pipeline_parallel = plan.pipeline_parallel * 2;
        let layers = divided(trial, pipeline_parallel * plan.virtual_stages);
        let deeper = Plan { pipeline_parallel, layers_per_stage: layers, ..half.clone() };
        consider(format!("more pipeline stages (--pp {pipeline_parallel})"), deeper, options);
        let context_parallel = plan.context_parallel * 2;
        let shared = Plan { context_parallel, ..half };
        consider(format!("more context parallelism (--cp {context_parallel})"), shared, options);
    }
    if plan.offload.optimizer < 1.0 {
        let mut lighter = plan.clone();
        lighter.offload.optimizer = 1.0;
        consider("optimizer states in host memory (--offload-optimizer 1)".to_owned(), lighter, options);
    }
    if plan.virtual_stages > 1 && stages > 1 {
        let layers = divided(trial, plan.pipeline_parallel);
        let straight = Plan { virtual_stages: 1, layers_per_stage: layers, ..plan.clone() };
        consider("no interleaving (--virtual-stages 1)".to_owned(), straight, options);
    }
    found
}

/// Layers per virtual stage, if they do not divide.
fn divided(trial: &Trial<'_>, chunks: u64) -> Option<Vec<u64>> {
    let layers = trial.model.num_layers();
    (chunks > 0 && chunks <= layers && !layers.is_multiple_of(chunks))
        .then(|| balanced_layers(layers, chunks))
}

/// Tests whether any choice fits.
fn is_solvable(trial: &Trial<'_>, plan: &Plan, options: &Options) -> bool {
    let plan = bare(plan);
    let Ok(costing) = Costing::new(trial.model, trial.cluster, &plan, trial.machine) else { return false };
    let modules = policies::modules(trial.model, &plan.software);
    let list = policies::policies(trial.model, &modules);
    let Ok(mut choices) = Choices::new(&costing, treatments(&list, options.offload)) else { return false };
    let split = layers_per_chunk(trial.model, &plan, costing.stage_split);
    let limit = choices.limit(options.probability);
    let rooms = choices.rooms(&split);
    rooms.iter().all(|room| best_of_group(&choices, trial.model, room, split.len(), limit).is_some())
}
