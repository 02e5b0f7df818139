//! Pipeline timers of Primus: `pp_rank_N.json`, the passes of one stage by step, and `config.json`, the job's
//! shape.
//!
//! Responsible for: both files, each alone; [`Passes::join`] combines them into one job and assigns positions
//! to chunks. The rank is only in the file's name, so it comes from the label; a label without a number is
//! rank 0. Ignores the rest of the name.

use super::objects::objects;
use super::{Keep, Reader, Recording};
use crate::job::{Family, Standing};
use crate::passes::{Pass, PassKind, PassShape, Passes, StepTime};
use railwright_spec::problem::{Problem, Warning};
use serde::Deserialize;

/// The reader of one stage's passes.
pub(super) struct PrimusRank;

/// The reader of the job's shape.
pub(super) struct PrimusConfig;

/// One step of a stage. Times are milliseconds since the step began, lists are in execution order.
#[derive(Deserialize)]
struct Iteration {
    total: Option<f64>,
    /// Memory in GiB.
    memory: Option<f64>,
    #[serde(default)]
    fwd_start: Vec<f64>,
    #[serde(default)]
    fwd_end: Vec<f64>,
    #[serde(default)]
    bwd_start: Vec<f64>,
    #[serde(default)]
    bwd_end: Vec<f64>,
    #[serde(default)]
    wgrad_start: Vec<f64>,
    #[serde(default)]
    wgrad_end: Vec<f64>,
    #[serde(default)]
    fwd_minibatch: Vec<u32>,
    #[serde(default)]
    bwd_minibatch: Vec<u32>,
    #[serde(default)]
    wgrad_minibatch: Vec<u32>,
    #[serde(default)]
    fwd_chunk: Vec<u32>,
    #[serde(default)]
    bwd_chunk: Vec<u32>,
    #[serde(default)]
    wgrad_chunk: Vec<u32>,
}

#[derive(Deserialize)]
struct Config {
    #[serde(default = "one")]
    dp_size: u32,
    #[serde(default = "one")]
    tp_size: u32,
    pp_size: u32,
    #[serde(default = "one", alias = "vpp_size")]
    vp_size: u32,
    #[serde(default, alias = "micro_batches")]
    num_mbs: u32,
}

fn one() -> u32 {
    1
}

/// Milliseconds as nanoseconds; `None` if invalid.
fn nanoseconds(milliseconds: f64) -> Option<i64> {
    // A year is far beyond any step.
    (milliseconds.is_finite() && milliseconds.abs() < 4e10).then(|| (milliseconds * 1e6).round() as i64)
}

/// Rank from the number at the end of the file's name.
fn rank_of(label: &str) -> u32 {
    let name = label.rsplit(['/', '\\', '!']).next().unwrap_or_default();
    let digits = name.split(|c: char| !c.is_ascii_digit()).rfind(|run| !run.is_empty());
    digits.and_then(|run| run.parse().ok()).filter(|&rank| rank < 1 << 20).unwrap_or(0)
}

/// Tests whether a text contains a key.
fn has(head: &[u8], key: &str) -> bool {
    memchr::memmem::find(head, key.as_bytes()).is_some()
}

impl Reader for PrimusRank {
    fn name(&self) -> &'static str {
        "Primus pipeline timers"
    }

    fn family(&self) -> Family {
        Family::Passes
    }

    fn matches(&self, head: &[u8]) -> bool {
        head.trim_ascii_start().starts_with(b"{")
            && has(head, "\"fwd_start\"")
            && !has(head, "\"traceEvents\"")
    }

    fn read(&self, label: &str, bytes: &[u8], _: Keep) -> Result<Vec<Recording>, Problem> {
        let rank = rank_of(label);
        let mut passes = Passes { label: label.to_owned(), ..Passes::default() };
        let mut dropped = Vec::new();
        for object in objects(bytes, 1) {
            let key = object.key.and_then(|key| std::str::from_utf8(key).ok()).unwrap_or_default();
            let Ok(step) = key.parse::<u32>() else { continue };
            match serde_json::from_slice::<Iteration>(object.bytes) {
                Ok(iteration) if add(&mut passes, step, rank, &iteration) => {}
                _ => dropped.push(step),
            }
        }
        if let Err(error) = serde_json::from_slice::<serde::de::IgnoredAny>(bytes)
            && error.is_eof()
        {
            passes.warn(format!("{label} is truncated; its complete rows were read"));
        }
        if !dropped.is_empty() {
            passes.warn(format!("{label}: {} could not be read and were skipped", steps(&dropped)));
        }
        passes.leave_out_impossible();
        if passes.passes.is_empty() {
            return Err(Problem::new("contains no readable step of pipeline timers").in_file(label));
        }
        passes.sort();
        Ok(vec![Recording::Passes(passes)])
    }
}

fn steps(numbers: &[u32]) -> String {
    let shown: Vec<String> = numbers.iter().take(3).map(u32::to_string).collect();
    let more = if numbers.len() > 3 { ", ..." } else { "" };
    format!("step{} {}{more}", if numbers.len() == 1 { "" } else { "s" }, shown.join(", "))
}

/// Adds a step's passes. Returns false, without adding any, if it contains an invalid time.
fn add(passes: &mut Passes, step: u32, rank: u32, iteration: &Iteration) -> bool {
    let i = iteration;
    let weight = !i.wgrad_start.is_empty();
    let backward = if weight { PassKind::BackwardInput } else { PassKind::Backward };
    let lists = [
        (PassKind::Forward, &i.fwd_start, &i.fwd_end, &i.fwd_minibatch, &i.fwd_chunk),
        (backward, &i.bwd_start, &i.bwd_end, &i.bwd_minibatch, &i.bwd_chunk),
        (PassKind::BackwardWeight, &i.wgrad_start, &i.wgrad_end, &i.wgrad_minibatch, &i.wgrad_chunk),
    ];
    let mut found = Vec::new();
    for (kind, starts, ends, micro_batches, chunks) in lists {
        // Micro-batches may be counted from 1.
        let lowest = micro_batches.iter().copied().min().unwrap_or(0);
        for (at, (&start, &end)) in starts.iter().zip(ends).enumerate() {
            let (Some(start), Some(end)) = (nanoseconds(start), nanoseconds(end)) else { return false };
            if end < start {
                return false;
            }
            found.push(Pass {
                step,
                rank,
                stage: rank,
                replica: 0,
                shard: 0,
                kind,
                micro_batch: Some(micro_batches.get(at).map_or(at as u32, |m| m - lowest)),
                chunk: chunks.get(at).copied().unwrap_or(0).min(1 << 16),
                start,
                end,
            });
        }
        if starts.len() != ends.len() {
            return false;
        }
    }
    passes.passes.append(&mut found);
    if let Some(duration) = iteration.total.and_then(nanoseconds).filter(|duration| *duration >= 0) {
        let memory = iteration.memory.filter(|m| (0.0..1e9).contains(m));
        let memory_bytes = memory.map(|gib| (gib * 1024.0 * 1024.0 * 1024.0) as u64);
        passes.steps.push(StepTime { step, rank, duration, memory_bytes });
    }
    true
}

impl Reader for PrimusConfig {
    fn name(&self) -> &'static str {
        "Primus pipeline shape"
    }

    fn family(&self) -> Family {
        Family::Passes
    }

    fn standing(&self, _: &[u8]) -> Standing {
        Standing::Beside
    }

    fn matches(&self, head: &[u8]) -> bool {
        head.trim_ascii_start().starts_with(b"{")
            && has(head, "\"pp_size\"")
            && (has(head, "\"num_mbs\"") || has(head, "\"micro_batches\""))
            && !has(head, "\"traceEvents\"")
    }

    fn read(&self, label: &str, bytes: &[u8], _: Keep) -> Result<Vec<Recording>, Problem> {
        let config: Config =
            serde_json::from_slice(bytes).map_err(|e| Problem::new(e.to_string()).in_file(label))?;
        let shape = PassShape {
            pipeline_parallel: config.pp_size,
            virtual_pipeline: config.vp_size,
            data_parallel: config.dp_size,
            shards: config.tp_size,
            micro_batches: config.num_mbs,
        };
        Ok(vec![Recording::Passes(Passes { label: label.to_owned(), shape, ..Passes::default() })])
    }
}

impl Passes {
    /// Adds a warning about an omission or a repair on reading.
    pub(crate) fn warn(&mut self, message: String) {
        self.warnings.push(Warning::new("trace-damaged", message));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(label: &str, text: &str) -> Result<Passes, Problem> {
        PrimusRank.read(label, text.as_bytes(), Keep::default()).map(|mut found| match found.remove(0) {
            Recording::Passes(passes) => passes,
            _ => Passes::default(),
        })
    }

    #[test]
    fn a_stage_by_its_name_and_a_broken_step_costs_itself() {
        let text = r#"{"2": {"total": 30.5, "fwd_start": [0.5], "fwd_end": [10], "bwd_start": [12], "bwd_end": [30]},
            "3": {"fwd_start": [5], "fwd_end": [1], "bwd_start": [], "bwd_end": []},
            "4": {"fwd_start": [0], "fwd_end": [9], "bwd_start": [9], "bwd_e"#;
        let passes = read("run 7/pp_rank_5.json", text).unwrap();
        let kinds: Vec<_> = passes.passes.iter().map(|p| (p.stage, p.kind, p.duration())).collect();
        assert_eq!(kinds, [(5, PassKind::Forward, 9_500_000), (5, PassKind::Backward, 18_000_000)]);
        assert_eq!(passes.steps[0].duration, 30_500_000);
        assert_eq!(passes.warnings.len(), 2, "{:?}", passes.warnings);
        assert!(read("x.json", "{\"fwd_start\": []}").is_err());
    }
}
