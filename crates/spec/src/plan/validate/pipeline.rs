//! Dividing layers among stages, and what each schedule needs.

use super::super::{Plan, Recompute, Schedule, StageSplit, uneven_layers};
use super::{nearest_divisors, stage_recompute, use_one_of};
use crate::human::counts;
use crate::model::Model;
use crate::problem::Problem;
use crate::software;

pub(super) fn check(model: &Model, plan: &Plan, problems: &mut Vec<Problem>) {
    layers(model, plan, problems);
    schedule(plan, problems);
    recompute(model, plan, problems);
}

/// Layers per virtual stage when they do not divide: as even as possible, the fewer at the two ends, where embedding and
/// head weigh as much as a layer or so. Its sum is `layers`.
pub fn balanced_layers(layers: u64, stages: u64) -> Vec<u64> {
    let stages = stages.clamp(1, 100_000);
    let (each, extra) = (layers / stages, layers % stages);
    let first = (stages - extra) / 2;
    (0..stages).map(|stage| each + u64::from(stage >= first && stage < first + extra)).collect()
}

fn layers(model: &Model, plan: &Plan, problems: &mut Vec<Problem>) {
    let layers = model.num_layers();
    let (pp, vp) = (plan.pipeline_parallel, plan.virtual_stages);
    let chunks = pp * vp;
    if let Some(list) = &plan.layers_per_stage {
        let sum: u64 = list.iter().sum();
        // A list per pipeline stage is understood, too; its entries are divided among the chunks of the stage.
        let entries = list.len() as u64;
        if entries != chunks && entries != pp {
            problems.push(
                Problem::new(format!("{entries} entries for {pp} x {vp} = {chunks} virtual stages"))
                    .at_key("plan.layers_per_stage")
                    .hint(suggestion(model, plan, chunks)),
            );
        } else if sum != layers {
            problems.push(
                Problem::new(format!("the entries sum to {sum}, but {} has {layers} layers", model.name))
                    .at_key("plan.layers_per_stage")
                    .hint(suggestion(model, plan, chunks)),
            );
        }
        return;
    }
    if chunks > layers {
        let key = if pp > layers { "plan.pipeline_parallel" } else { "plan.virtual_stages" };
        let most = if pp > layers { layers } else { layers / pp };
        problems.push(
            Problem::new(format!("{chunks} virtual stages, but {} has only {layers} layers", model.name))
                .at_key(key)
                .hint(format!(
                    "use at most {most}, or set uneven_stages = true if embedding and head are a stage"
                )),
        );
    } else if !layers.is_multiple_of(chunks) {
        let (key, works) = if layers.is_multiple_of(pp) {
            ("plan.virtual_stages", nearest_divisors(layers / pp, vp))
        } else {
            ("plan.pipeline_parallel", nearest_divisors(layers, pp))
        };
        let by = if vp == 1 { format!("{pp} stages") } else { format!("{pp} stages of {vp} chunks") };
        problems.push(
            Problem::new(format!("{layers} layers do not divide evenly among {by}"))
                .at_key(key)
                .hint(format!("{}, or {}", use_one_of(&works), suggestion(model, plan, chunks))),
        );
    }
}

fn suggestion(model: &Model, plan: &Plan, chunks: u64) -> String {
    let split = software::by_id(&plan.software).map_or(StageSplit::Even, |s| s.stage_split);
    format!("set uneven_stages = true for [{}]", counts(&uneven_layers(model, chunks, split)))
}

fn schedule(plan: &Plan, problems: &mut Vec<Problem>) {
    let (pp, vp) = (plan.pipeline_parallel, plan.virtual_stages);
    let mut complain = |message: String, key: &str, hint: &str| {
        problems.push(Problem::new(message).at_key(key).hint(hint));
    };
    if vp > 1 && pp == 1 {
        complain(format!("{vp} virtual stages, but only one pipeline stage"), "plan.virtual_stages", "use 1");
        return;
    }
    let (name, chunks) = match plan.schedule {
        Schedule::Gpipe | Schedule::OneForwardOneBackward => return,
        Schedule::ZbH1 => ("zb-h1", 1),
        Schedule::ZbH2 => ("zb-h2", 1),
        Schedule::ZbV => ("zb-v", 2),
        Schedule::DualPipe => ("dualpipe", 1),
    };
    if pp == 1 {
        complain(
            format!("{name} is a pipeline schedule, but there is only one stage"),
            "plan.schedule",
            "use 1f1b",
        );
    } else if vp != chunks {
        let hint = format!("use {chunks}");
        complain(
            format!("{name} runs {chunks} chunk{} per stage, found {vp}", plural(chunks)),
            "plan.virtual_stages",
            &hint,
        );
    }
    if plan.schedule == Schedule::DualPipe && pp > 1 {
        let micro_batches = plan.micro_batches();
        if pp % 2 != 0 {
            complain(
                format!("dualpipe pairs stages from both ends, {pp} is odd"),
                "plan.pipeline_parallel",
                "use an even number",
            );
        }
        if !micro_batches.is_multiple_of(2) || micro_batches < 2 * pp {
            complain(
                format!(
                    "dualpipe needs an even number of micro-batches, at least {}, found {micro_batches}",
                    2 * pp
                ),
                "plan.global_batch",
                &format!("use {} or more", 2 * pp * plan.micro_batch * plan.data_parallel),
            );
        }
    }
}

fn plural(n: u64) -> &'static str {
    if n == 1 { "" } else { "s" }
}

/// Layers to recompute are layers that a stage has.
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
            Problem::new(format!("{n} layers per stage to recompute, but a stage has {most}"))
                .at_key("plan.recompute")
                .hint("omit the number to recompute all layers"),
        );
    }
}
