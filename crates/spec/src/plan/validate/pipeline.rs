//! Rules on layers per stage and on schedules.

use super::super::{Chunks, Need, Plan, Recompute, Refusal, Schedule, StageSplit, uneven_layers};
use super::advice::{divides_ranks, nearest_where, with_values_or};
use super::stage_recompute;
use crate::human::counts;
use crate::model::Model;
use crate::problem::Problem;
use crate::software;

pub(super) fn check(model: &Model, plan: &Plan, problems: &mut Vec<Problem>) {
    layers(model, plan, problems);
    schedule(model, plan, problems);
    recompute(model, plan, problems);
}

fn layers(model: &Model, plan: &Plan, problems: &mut Vec<Problem>) {
    let layers = model.num_layers();
    let (pp, vp) = (plan.pipeline_parallel, plan.virtual_stages);
    let chunks = pp * vp;
    let schedule_takes = |n: u64| match plan.schedule.facts().chunks {
        Chunks::Exactly(chunks) => pp > 1 && n == chunks,
        Chunks::Any => pp > 1 || n == 1,
    };
    let chunks_work = |n: u64| layers.is_multiple_of(pp.saturating_mul(n)) && schedule_takes(n);
    // A single stage has no chunks, and schedules of exactly some number of them need several stages.
    let is_single = |n: u64| n == 1 && (vp > 1 || plan.schedule.facts().chunks != Chunks::Any);
    let stages_work = |n: u64| {
        layers.is_multiple_of(n.saturating_mul(vp))
            && !is_single(n)
            && divides_ranks(plan, [n, plan.tensor_parallel, plan.context_parallel])
    };
    if let Some(list) = &plan.layers_per_stage {
        let sum: u64 = list.iter().sum();
        // A list per pipeline stage is accepted too; its entries are divided among the chunks of the stage.
        let entries = list.len() as u64;
        if entries != chunks && entries != pp {
            problems.push(
                Problem::new(format!("{entries} entries for {pp} x {vp} = {chunks} virtual stages"))
                    .at_key("plan.layers_per_stage")
                    .hint(format!("omit it, and {}", suggestion(model, plan, chunks))),
            );
        } else if sum != layers {
            problems.push(
                Problem::new(format!("the entries sum to {sum}, but {} has {layers} layers", model.name))
                    .at_key("plan.layers_per_stage")
                    .hint(format!("omit it, and {}", suggestion(model, plan, chunks))),
            );
        }
        return;
    }
    if chunks > layers {
        let key = if pp > layers { "plan.pipeline_parallel" } else { "plan.virtual_stages" };
        // The largest value below that divides the layers, and for stages the ranks of the job.
        let most = if pp > layers {
            (1..=layers).rev().find(|n| stages_work(*n))
        } else {
            (1..=layers / pp).rev().find(|n| chunks_work(*n))
        };
        let values: Vec<u64> = most.into_iter().collect();
        let problem =
            Problem::new(format!("{chunks} virtual stages, but {} has only {layers} layers", model.name))
                .at_key(key);
        let problem =
            with_values_or(problem, &values, "set uneven_stages = true if embedding and head take a stage");
        // Embedding and head occupy at most one stage each.
        let is_near = chunks <= layers.saturating_add(2);
        problems.push(if is_near { problem.remedy("plan.uneven_stages", true) } else { problem });
    } else if !layers.is_multiple_of(chunks) {
        let (key, works) = if layers.is_multiple_of(pp) {
            ("plan.virtual_stages", nearest_where(layers / pp, vp, chunks_work))
        } else {
            ("plan.pipeline_parallel", nearest_where(layers, pp, stages_work))
        };
        let by = if vp == 1 { format!("{pp} stages") } else { format!("{pp} stages of {vp} chunks") };
        problems.push(
            with_values_or(
                Problem::new(format!("{layers} layers cannot be divided evenly among {by}")).at_key(key),
                &works,
                &suggestion(model, plan, chunks),
            )
            .remedy("plan.uneven_stages", true),
        );
    }
}

fn suggestion(model: &Model, plan: &Plan, chunks: u64) -> String {
    let split = software::by_id(&plan.software).map_or(StageSplit::Even, |s| s.stage_split);
    format!("set uneven_stages = true for [{}]", counts(&uneven_layers(model, chunks, split)))
}

fn schedule(model: &Model, plan: &Plan, problems: &mut Vec<Problem>) {
    let (pp, vp) = (plan.pipeline_parallel, plan.virtual_stages);
    // A hint that is a bare value is also a remedy.
    let mut complain = |message: String, key: &str, hint: &str, value: Option<String>| {
        let problem = Problem::new(message).at_key(key).hint(hint);
        problems.push(value.into_iter().fold(problem, |problem, value| problem.remedy(key, value)));
    };
    if vp > 1 && pp == 1 {
        complain(
            format!("{vp} virtual stages, but only one pipeline stage"),
            "plan.virtual_stages",
            "use 1",
            Some("1".to_owned()),
        );
    }
    if let Chunks::Exactly(chunks) = plan.schedule.facts().chunks {
        let name = plan.schedule.name();
        if pp == 1 {
            complain(
                format!("{name} is a pipeline schedule, but there is only one stage"),
                "plan.schedule",
                &format!("use {}", Schedule::default().name()),
                Some(Schedule::default().name().to_owned()),
            );
        } else if vp != chunks {
            let is_even = model.num_layers().is_multiple_of(pp.saturating_mul(chunks));
            let layers = if is_even { "" } else { " and set uneven_stages = true" };
            complain(
                format!("{name} runs {chunks} chunk{} per stage, found {vp}", plural(chunks)),
                "plan.virtual_stages",
                &format!("use {chunks}{layers}"),
                is_even.then(|| chunks.to_string()),
            );
        }
    }
    // A batch that does not divide has no number of micro-batches to check.
    let unit = plan.micro_batch.saturating_mul(plan.data_parallel).max(1);
    let divides = plan.global_batch.is_multiple_of(unit);
    let judged = |refusal: &Refusal| divides || !matches!(refusal.need, Need::MicroBatches(_));
    for refusal in plan.schedule.refusals(plan.counts()).filter(judged) {
        let (hint, value) = match refusal.need {
            Need::Words(words) => (words.to_owned(), None),
            Need::MicroBatches(least) => {
                let batch = least.saturating_mul(unit);
                (format!("use {batch} or more"), Some(batch.to_string()))
            }
        };
        complain((refusal.message)(plan.counts()), refusal.key, &hint, value);
    }
}

fn plural(n: u64) -> &'static str {
    if n == 1 { "" } else { "s" }
}

/// The layers to recompute must exist in a stage.
fn recompute(model: &Model, plan: &Plan, problems: &mut Vec<Problem>) {
    if let Some(list) = &plan.stage_recompute {
        stage_recompute::check(model, plan, list, problems);
        return;
    }
    let (Recompute::Full { layers: Some(n) } | Recompute::Selective { layers: Some(n), .. }) = plan.recompute
    else {
        return;
    };
    let pp = plan.pipeline_parallel as usize;
    let most = match &plan.layers_per_stage {
        // A stage holds every pp-th entry of the list.
        Some(list) => (0..pp).map(|s| list.iter().skip(s).step_by(pp).sum::<u64>()).max().unwrap_or(0),
        None => model.num_layers().div_ceil(plan.pipeline_parallel),
    };
    if n > most {
        problems.push(
            Problem::new(format!("{n} layers per stage are set to be recomputed, but a stage has {most}"))
                .at_key("plan.recompute")
                .hint("omit the number to recompute all layers"),
        );
    }
}
