//! Passes of a pipeline in a saved profile.
//!
//! Responsible for: a table of passes and one of step times, written and read back exactly. Rejects unknown
//! kinds.

use super::sealed::json;
use super::{Part, Store};
use crate::parquet::{Field, Table, Values, text_of, write};
use railwright_profiler::passes::{Pass, PassKind, PassShape, Passes, StepTime};
use railwright_profiler::trace::{Impossible, Times, some};
use railwright_spec::problem::{Problem, Warning};
use serde::{Deserialize, Serialize};

#[derive(Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
struct About {
    label: String,
    shape: PassShape,
    host_order: bool,
    warnings: Vec<Warning>,
}

fn name(index: usize, part: &str) -> String {
    format!("passes-{index:03}/{part}")
}

/// Name of a kind, as in JSON.
fn word(kind: PassKind) -> String {
    serde_json::to_value(kind).ok().and_then(|word| word.as_str().map(str::to_owned)).unwrap_or_default()
}

/// Parts of one table of passes; `index` is its number in the file.
pub fn passes_parts(index: usize, passes: &Passes) -> Result<Vec<Part>, Problem> {
    let about = About {
        label: passes.label.clone(),
        shape: passes.shape,
        host_order: passes.host_order,
        warnings: passes.warnings.clone(),
    };
    let rows = &passes.passes;
    let small = |of: fn(&Pass) -> u32| Values::Repeating(rows.iter().map(of).collect());
    let words: Vec<String> = rows.iter().map(|pass| word(pass.kind)).collect();
    let table = [
        Field { name: "step", values: small(|p| p.step) },
        Field { name: "rank", values: small(|p| p.rank) },
        Field { name: "stage", values: small(|p| p.stage) },
        Field { name: "replica", values: small(|p| p.replica) },
        Field { name: "shard", values: small(|p| p.shard) },
        Field { name: "kind", values: Values::Texts(words.iter().map(String::as_str).collect()) },
        Field {
            name: "micro_batch",
            values: Values::SizesOrNone(rows.iter().map(|p| p.micro_batch.map(u64::from)).collect()),
        },
        Field { name: "chunk", values: small(|p| p.chunk) },
        Field { name: "start_ns", values: Values::Signed(rows.iter().map(|p| p.start).collect()) },
        Field {
            name: "duration_ns",
            values: Values::Signed(rows.iter().map(|p| p.end.wrapping_sub(p.start)).collect()),
        },
    ];
    let steps = &passes.steps;
    let times = [
        Field { name: "step", values: Values::Repeating(steps.iter().map(|s| s.step).collect()) },
        Field { name: "rank", values: Values::Repeating(steps.iter().map(|s| s.rank).collect()) },
        Field { name: "duration_ns", values: Values::Signed(steps.iter().map(|s| s.duration).collect()) },
        Field {
            name: "memory_bytes",
            values: Values::SizesOrNone(steps.iter().map(|s| s.memory_bytes).collect()),
        },
    ];
    let part = |file: &str, fields: &[Field<'_>]| {
        let bytes = write(fields).map_err(|error| Problem::new(text_of(&error)).in_file(file))?;
        Ok(Part { name: name(index, file), bytes })
    };
    Ok(vec![
        Part { name: name(index, "about.json"), bytes: json(&about)? },
        part("passes.parquet", &table)?,
        part("steps.parquet", &times)?,
    ])
}

fn impossible(row: usize, why: Impossible) -> Problem {
    Problem::new(format!("row {row} {}", why.words()))
        .hint("the saved profile is damaged: read the traces again")
}

/// Checks times and indices of passes, because sums of times and allocations by index rely on them.
fn check(passes: &Passes) -> Result<(), Problem> {
    let mut times = Times::default();
    for (row, pass) in passes.passes.iter().enumerate() {
        times.take(pass.start, pass.end).map_err(|why| impossible(row, why))?;
        let places = [pass.stage, pass.replica, pass.shard, pass.chunk];
        if let Some(place) = places.iter().find(|place| **place > Passes::MOST_PLACES) {
            return Err(Problem::new(format!(
                "row {row} refers to {place}, above the limit of {}",
                Passes::MOST_PLACES
            )));
        }
    }
    Ok(())
}

/// Reads a table of passes.
pub(super) fn read(index: usize, store: &Store) -> Result<Passes, Problem> {
    let part = name(index, "about.json");
    let about: About = serde_json::from_slice(&store.part(&part)?)
        .map_err(|error| Problem::new(format!("damaged: {error}")).in_file(store.within(&part)))?;
    let part = name(index, "passes.parquet");
    let label = store.within(&part);
    let table = Table::open(label.clone(), &store.part(&part)?)?;
    let number = |name: &str| table.numbers(name, |n| n);
    let (step, rank, stage) = (number("step")?, number("rank")?, number("stage")?);
    let (replica, shard, chunk) = (number("replica")?, number("shard")?, number("chunk")?);
    let (start, duration) = (table.signed("start_ns")?, table.signed("duration_ns")?);
    let (words, micro_batch) = (table.texts("kind")?, table.sizes_or_none("micro_batch")?);
    let mut passes = Passes {
        label: about.label,
        shape: about.shape,
        host_order: about.host_order,
        warnings: about.warnings,
        ..Passes::default()
    };
    for at in 0..table.rows() {
        let word = String::from_utf8_lossy(words[at].data());
        let kind = serde_json::from_value(serde_json::Value::String(word.clone().into_owned()));
        let kind: PassKind =
            kind.map_err(|_| Problem::new(format!("unknown kind of pass `{word}`")).in_file(&label))?;
        passes.passes.push(Pass {
            step: step[at],
            rank: rank[at],
            stage: stage[at],
            replica: replica[at],
            shard: shard[at],
            kind,
            micro_batch: micro_batch[at].and_then(|n| u32::try_from(n).ok()).and_then(some),
            chunk: chunk[at],
            start: start[at],
            end: start[at].saturating_add(duration[at]),
        });
    }
    check(&passes).map_err(|problem| problem.in_file(&label))?;
    let part = name(index, "steps.parquet");
    let table = Table::open(store.within(&part), &store.part(&part)?)?;
    let (step, rank) = (table.numbers("step", |n| n)?, table.numbers("rank", |n| n)?);
    let (duration, memory) = (table.signed("duration_ns")?, table.sizes_or_none("memory_bytes")?);
    let mut times = Times::default();
    for (row, &duration) in duration.iter().enumerate() {
        times.take(0, duration).map_err(|why| impossible(row, why).in_file(store.within(&part)))?;
    }
    passes.steps = (0..table.rows())
        .map(|at| StepTime {
            step: step[at],
            rank: rank[at],
            duration: duration[at],
            memory_bytes: memory[at],
        })
        .collect();
    Ok(passes)
}
