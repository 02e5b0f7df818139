//! torchtitan's pipelines: schedules, and the layers of each stage.
//!
//! Responsible for: names of schedules, and torchtitan's rule of dividing layers, which counts the embedding
//! and the head as layers of the first and the last stage. Divisions that torchtitan rejects are errors.

use super::models;
use crate::RemarkKind;
use crate::document::Data;
use crate::fields::Fields;
use railwright_spec::plan::Schedule;
use railwright_spec::problem::{Problem, nearest};

const SCHEDULE: &str = "parallelism.pipeline_parallel_schedule";
const PER_STAGE: &str = "parallelism.pipeline_parallel_layers_per_stage";
const FIRST: &str = "parallelism.pipeline_parallel_first_stage_less_layers";
const LAST: &str = "parallelism.pipeline_parallel_last_stage_less_layers";
const PARTS: &str = "parallelism.module_fqns_per_model_part";
const SPLITS: &str = "parallelism.pipeline_parallel_split_points";

/// Name, the plan's schedule, true if a rank has several stages, and the lost property.
const SCHEDULES: &[(&str, Schedule, bool, &str)] = &[
    ("1F1B", Schedule::OneForwardOneBackward, false, ""),
    ("GPipe", Schedule::Gpipe, false, ""),
    ("Interleaved1F1B", Schedule::OneForwardOneBackward, true, ""),
    ("LoopedBFS", Schedule::Gpipe, true, ""),
    ("ZBVZeroBubble", Schedule::ZbV, true, ""),
    (
        "InterleavedZeroBubble",
        Schedule::OneForwardOneBackward,
        true,
        "zero bubble with interleaved stages is estimated as interleaved 1f1b, with a larger bubble",
    ),
    (
        "DualPipeV",
        Schedule::ZbV,
        true,
        "estimated as zb-v, which has the same layer placement; overlapped passes of two micro-batches are not estimated",
    ),
];

/// The name of a schedule, for a plan that has it.
pub(super) fn name_of(schedule: Schedule, virtual_stages: u64) -> &'static str {
    let found = SCHEDULES.iter().find(|(_, known, several, lost)| {
        *known == schedule && *several == (virtual_stages > 1) && lost.is_empty()
    });
    // Schedules that torchtitan lacks are written as 1F1B and reported as lost.
    found.map_or(if virtual_stages > 1 { "Interleaved1F1B" } else { "1F1B" }, |(name, ..)| name)
}

pub(super) fn read(fields: &mut Fields<'_>, is_whole: bool) {
    let schedule = fields.word(SCHEDULE);
    let per_stage = fields.count(PER_STAGE);
    let first_less = fields.count(FIRST).unwrap_or(1);
    let last_less = fields.count(LAST).unwrap_or(1);
    let parts = fields.take(PARTS).map(|entry| entry.data);
    let splits = fields.words(SPLITS).filter(|splits| !splits.is_empty());
    let stages = fields.draft.spec().plan.pipeline_parallel;
    let mut several = false;
    if let Some(name) = schedule
        && (stages != Some(1) && (stages.is_some() || !is_whole))
    {
        let Some((_, schedule, more, lost)) = SCHEDULES.iter().find(|s| s.0.eq_ignore_ascii_case(&name))
        else {
            let near = nearest(&name, SCHEDULES.iter().map(|s| s.0)).first().copied();
            let list = SCHEDULES.iter().map(|s| format!("`{}`", s.0)).collect::<Vec<_>>().join(", ");
            let problem = Problem::new(format!("unknown schedule `{name}`"));
            let hint = near.map_or(format!("use one of {list}"), |near| format!("did you mean `{near}`?"));
            return fields.problem(problem.hint(hint), SCHEDULE);
        };
        several = *more;
        fields.set("plan.schedule", schedule, SCHEDULE);
        if !lost.is_empty() {
            fields.remark(RemarkKind::NotModelled, SCHEDULE, *lost);
        }
    }
    let Some(stages) = stages.filter(|&stages| stages > 1) else { return };
    if let Some(Data::List(parts)) = parts.filter(|data| matches!(data, Data::List(list) if !list.is_empty()))
    {
        let counts: Vec<u64> = parts.iter().map(|part| layers_of(&part.data)).collect();
        return explicit(fields, PARTS, stages, several, &counts);
    }
    let Some(layers) = models::layers(fields) else {
        if several || per_stage.is_some() {
            let message = "layers per stage depend on the model, which is unknown: virtual stages stay unset";
            fields.remark(RemarkKind::Unresolved, if several { SCHEDULE } else { PER_STAGE }, message);
        }
        return;
    };
    if let Some(splits) = splits {
        let mut starts: Vec<u64> = splits
            .iter()
            .filter_map(|name| name.rsplit('.').next().and_then(|number| number.parse().ok()))
            .collect();
        starts.sort_unstable();
        let starts: Vec<u64> = std::iter::once(0).chain(starts).chain([layers]).collect();
        let counts: Vec<u64> = starts.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).collect();
        return explicit(fields, SPLITS, stages, several, &counts);
    }
    let effective = layers.saturating_add(first_less).saturating_add(last_less);
    let chunks = match per_stage {
        Some(0) => return fields.problem(Problem::new("expected a number of 1 or more, found 0"), PER_STAGE),
        Some(each) => effective.div_ceil(each),
        None => stages.saturating_mul(if several { 2 } else { 1 }),
    };
    let path = if per_stage.is_some() { PER_STAGE } else { SCHEDULE };
    if !chunks.is_multiple_of(stages) || (!several && chunks != stages) || (several && chunks < 2 * stages) {
        let message = format!(
            "{layers} layers, plus {} for embedding and head, result in {chunks} stages for {stages} pipeline \
             ranks",
            first_less.saturating_add(last_less)
        );
        let hint = if several {
            format!("this schedule needs a multiple of {stages}, with at least 2 stages per rank")
        } else {
            format!("this schedule needs {stages}: set {} layers per stage", effective.div_ceil(stages))
        };
        return fields.problem(Problem::new(message).hint(hint), path);
    }
    let Some(counts) = divide(layers, chunks, first_less, last_less) else {
        let message = format!("{layers} layers cannot be divided among {chunks} stages");
        return fields.problem(Problem::new(message), "parallelism.pipeline_parallel_degree");
    };
    fields.default("plan.virtual_stages", &(chunks / stages), "torchtitan's rule for this schedule");
    if counts.iter().any(|count| *count != counts[0]) {
        let why = "torchtitan's division of layers, which counts embedding and head as layers";
        fields.default("plan.layers_per_stage", &counts, why);
    }
}

/// Stages that are listed one by one.
fn explicit(fields: &mut Fields<'_>, path: &str, stages: u64, several: bool, counts: &[u64]) {
    let chunks = counts.len() as u64;
    if !chunks.is_multiple_of(stages) || (!several && chunks != stages) {
        let message = format!("{chunks} parts for {stages} pipeline ranks");
        return fields.problem(Problem::new(message), path);
    }
    fields.set("plan.virtual_stages", &(chunks / stages), path);
    // Equal parts are the default without a list.
    if counts.iter().any(|count| *count != counts[0]) {
        fields.set("plan.layers_per_stage", &counts.to_vec(), path);
    }
}

/// Layers among the modules that a part lists.
fn layers_of(part: &Data) -> u64 {
    let Data::List(names) = part else { return 0 };
    names.iter().filter(|name| matches!(&name.data, Data::Text(text) if text.starts_with("layers."))).count()
        as u64
}

/// torchtitan's division: embedding and head count as `first_less` and `last_less` layers, and a remainder is
/// assigned to the first stages. `None` if a stage would have a negative number of layers.
pub(super) fn divide(layers: u64, stages: u64, first_less: u64, last_less: u64) -> Option<Vec<u64>> {
    let effective = layers.checked_add(first_less)?.checked_add(last_less)?;
    if stages == 0 || stages > 100_000 || effective / stages == 0 {
        return None;
    }
    let (each, extra) = (effective / stages, effective % stages);
    let mut counts: Vec<u64> = (0..stages).map(|stage| each + u64::from(stage < extra)).collect();
    let first = counts.first_mut()?;
    *first = first.checked_sub(first_less)?;
    let last = counts.last_mut()?;
    *last = last.checked_sub(last_less)?;
    Some(counts)
}
