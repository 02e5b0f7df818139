//! Traces of Megatron's own tracer (MegatronApp's MegaScan): Chrome `B`/`E` events with iteration,
//! micro-batch, chunk and pipeline rank.
//!
//! Responsible for: pairing begins and ends on each row. The attributes of a pass (`microbatch`,
//! `model_chunk`, `pp_rank`) are only on its end. Excludes other Chrome traces.

use super::objects::objects;
use super::reader::number_after;
use super::{Keep, Reader, Recording};
use crate::job::{Family, FileIdentity};
use crate::passes::{Pass, PassKind, PassShape, Passes, StepTime};
use railwright_spec::problem::Problem;
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The reader of MegaScan traces.
pub(super) struct MegaScan;

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow)]
    ph: Cow<'a, str>,
    /// Time in microseconds.
    ts: f64,
    pid: u32,
    #[serde(default)]
    tid: u32,
    #[serde(default)]
    args: Arguments,
}

#[derive(Clone, Copy, Default, Deserialize)]
struct Arguments {
    iteration: Option<u32>,
    microbatch: Option<u32>,
    model_chunk: Option<u32>,
    pp_rank: Option<u32>,
}

/// A pass that has begun: kind, start in nanoseconds, arguments.
type Begun = (PassKind, i64, Arguments);

/// Open passes and iterations of a trace.
#[derive(Default)]
struct Open {
    /// Begun passes by row.
    passes: BTreeMap<(u32, u32), Vec<Begun>>,
    /// Begun iterations by rank: number and start in nanoseconds.
    iterations: BTreeMap<u32, (u32, i64)>,
}

impl Reader for MegaScan {
    fn name(&self) -> &'static str {
        "Megatron tracer"
    }

    fn family(&self) -> Family {
        Family::Passes
    }

    fn clue(&self, head: &[u8]) -> FileIdentity {
        let first_step = number_after(head, b"\"iteration\"").and_then(|step| u32::try_from(step).ok());
        FileIdentity { first_step, ..FileIdentity::default() }
    }

    fn matches(&self, head: &[u8]) -> bool {
        let has = |word: &str| memchr::memmem::find(head, word.as_bytes()).is_some();
        let opens = head.trim_ascii_start().first();
        matches!(opens, Some(b'[' | b'{'))
            && has("\"iteration\"")
            && has("\"ph\"")
            && (has("\"microbatch\"") || has("\"iteration begin\""))
    }

    fn read(&self, label: &str, bytes: &[u8], _: Keep) -> Result<Vec<Recording>, Problem> {
        let depth = if bytes.trim_ascii_start().starts_with(b"[") { 1 } else { 2 };
        let mut passes = Passes { label: label.to_owned(), ..Passes::default() };
        let (mut open, mut bad, mut unmatched) = (Open::default(), 0_u64, 0_u64);
        for object in objects(bytes, depth) {
            let Ok(event) = serde_json::from_slice::<Event<'_>>(object.bytes) else {
                bad += 1;
                continue;
            };
            // Ranks above any machine and times above a century are damage.
            if event.ts.is_finite() && event.ts.abs() < 4e15 && event.pid < 1 << 20 {
                unmatched += u64::from(!open.take(&mut passes, &event));
            } else {
                bad += 1;
            }
        }
        unmatched += open.passes.values().map(|row| row.len() as u64).sum::<u64>();
        if bad > 0 {
            passes.warn(format!("{label}: {bad} events could not be read and were skipped"));
        }
        if unmatched > 0 {
            passes.warn(format!("{label}: {unmatched} passes without begin or end were skipped"));
        }
        if passes.passes.is_empty() {
            return Err(Problem::new("contains no readable pipeline pass").in_file(label));
        }
        passes.leave_out_impossible();
        passes.sort();
        passes.shape = PassShape::default().widened(&passes.passes);
        passes.shape.micro_batches =
            passes.passes.iter().filter_map(|p| p.micro_batch).max().map_or(0, |m| m.saturating_add(1));
        Ok(vec![Recording::Passes(passes)])
    }
}

impl Open {
    /// Adds an event; false for an end without a begin.
    fn take(&mut self, passes: &mut Passes, event: &Event<'_>) -> bool {
        let time = (event.ts * 1e3).round() as i64;
        let rank = event.pid;
        match (&*event.ph, &*event.name) {
            ("i" | "I" | "B", "iteration begin" | "iteration") => {
                self.iterations.insert(rank, (event.args.iteration.unwrap_or(0), time));
            }
            ("i" | "I" | "E", "iteration end" | "iteration") => {
                let Some((step, start)) = self.iterations.remove(&rank) else { return false };
                if time < start {
                    return false;
                }
                passes.steps.push(StepTime { step, rank, duration: time - start, memory_bytes: None });
            }
            ("B", name) => {
                let kind = PassKind::of_timer(name).unwrap_or(PassKind::Other);
                self.passes.entry((rank, event.tid)).or_default().push((kind, time, event.args));
            }
            ("E", name) => {
                let kind = PassKind::of_timer(name).unwrap_or(PassKind::Other);
                let row = self.passes.entry((rank, event.tid)).or_default();
                let Some(at) = row.iter().rposition(|&(open, ..)| open == kind) else { return false };
                let (_, start, begun) = row.remove(at);
                if time < start {
                    return false;
                }
                let stated = event.args;
                passes.passes.push(Pass {
                    step: stated.iteration.or(begun.iteration).unwrap_or(0),
                    rank,
                    stage: stated.pp_rank.or(begun.pp_rank).unwrap_or(rank).min(1 << 20),
                    replica: 0,
                    shard: 0,
                    kind,
                    micro_batch: stated.microbatch.or(begun.microbatch),
                    chunk: stated.model_chunk.or(begun.model_chunk).unwrap_or(0).min(1 << 16),
                    start,
                    end: time,
                });
            }
            _ => {}
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_name_their_begin_and_a_lost_half_costs_one_pass() {
        let text = r#"[{"name": "iteration begin", "ph": "i", "ts": 10, "pid": 1, "args": {"iteration": 4}},
            {"name": "forward", "ph": "B", "ts": 12, "pid": 1, "args": {"iteration": 4}},
            {"name": "forward", "ph": "E", "ts": 20, "pid": 1, "args": {"iteration": 4, "microbatch": 3, "model_chunk": 1, "pp_rank": 2}},
            {"name": "backward", "ph": "E", "ts": 21, "pid": 1, "args": {"iteration": 4}}, {"ph": 3},
            {"name": "iteration end", "ph": "i", "ts": 40, "pid": 1, "args": {"iteration": 4}}, {"name": "forw"#;
        assert!(MegaScan.matches(text.as_bytes()));
        let found = MegaScan.read("t.json", text.as_bytes(), Keep::default()).unwrap();
        let Some(Recording::Passes(passes)) = found.first() else { panic!("no passes") };
        let pass = passes.passes[0];
        assert_eq!((pass.step, pass.rank, pass.stage, pass.chunk), (4, 1, 2, 1));
        assert_eq!((pass.micro_batch, pass.duration()), (Some(3), 8_000));
        assert_eq!((passes.passes.len(), passes.steps[0].duration, passes.warnings.len()), (1, 30_000, 2));
    }
}
