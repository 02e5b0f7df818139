//! ByteDance's operator tables (StragglerAnalysis): one row per operator of every worker and step of a
//! production job, as Parquet.
//!
//! Responsible for: conversion of rows to passes, and the job's shape from the numbers in the rows. A row
//! that ends before it starts is skipped and reported. Excludes analysis, see the replay in the profiler.
//!
//! Times are seconds from the start of the step, stored in single precision: at 46 s the resolution is 4 us.
//! One rank represents all of the same stage and replica, so the stride of rank numbers is their count.

use crate::parquet::Columns;
use railwright_profiler::passes::{Pass, PassKind, PassShape, Passes};
use railwright_profiler::trace::Damage;
use railwright_spec::greatest_common_divisor;
use railwright_spec::problem::{Problem, Warning};
use std::collections::BTreeSet;

const WANTED: [&str; 9] =
    ["dp_rank", "stage", "rank", "step", "optype", "start_ts", "duration", "seq_id", "mc"];
/// Micro-batch column; -1 in rows of messages.
const MICRO_BATCH: &str = "mb_id";

/// True for the columns of such a table.
pub(crate) fn matches(names: &[String]) -> bool {
    ["optype", "start_ts", "duration", "dp_rank", "stage"]
        .iter()
        .all(|wanted| names.iter().any(|name| name == wanted))
}

fn nanoseconds(seconds: f64) -> i64 {
    (seconds * 1e9).round() as i64
}

/// Reads a table.
pub(crate) fn read(label: &str, bytes: &[u8]) -> Result<Passes, Problem> {
    let wanted: Vec<&str> = WANTED.into_iter().chain([MICRO_BATCH]).collect();
    let table = Columns::read(label, bytes, &wanted)?;
    let [replica, stage, rank, step, operator, start, duration, sequence, chunk] = WANTED;
    let need = |name| table.need(name);
    let (replica, stage, step) = (need(replica)?, need(stage)?, need(step)?);
    let (operator, start, duration) = (need(operator)?, need(start)?, need(duration)?);
    let rank = table.get(rank);
    let (sequence, chunk, micro_batch) = (table.get(sequence), table.get(chunk), table.get(MICRO_BATCH));
    let mut passes = Passes { label: label.to_owned(), ..Passes::default() };
    let mut negative = Negative::default();
    for row in 0..table.rows() {
        let number = |column| table.whole(column, row).and_then(|n| u32::try_from(n).ok());
        let wrong =
            |what: &str| Problem::new(format!("row {row} of the table has no valid {what}")).in_file(label);
        let time = |column, what| {
            // The limit is half a century, more than any step; the sum of two such times is within `Times`.
            table.real(column, row).filter(|s| s.abs() < 2e9).ok_or_else(|| wrong(what))
        };
        let (stage, replica) =
            (number(stage).ok_or_else(|| wrong("stage"))?, number(replica).ok_or_else(|| wrong("dp_rank"))?);
        let (from, long) = (time(start, "start_ts")?, time(duration, "duration")?);
        if long < 0.0 {
            negative.note(row, table.text(operator, row).unwrap_or("operator"), long);
            continue;
        }
        let kind = table.text(operator, row).and_then(PassKind::of_timer).unwrap_or(PassKind::Other);
        let own = micro_batch.and_then(number).filter(|_| kind.is_compute());
        passes.passes.push(Pass {
            step: number(step).ok_or_else(|| wrong("step"))?,
            rank: rank.and_then(number).unwrap_or(u32::MAX),
            stage,
            replica,
            shard: 0,
            kind,
            // Messages are numbered in order; the shape determines whether that is the micro-batch.
            micro_batch: own.or_else(|| sequence.and_then(number).filter(|_| kind.is_message())),
            chunk: chunk.and_then(number).unwrap_or(0),
            start: nanoseconds(from),
            end: nanoseconds(from + long),
        });
    }
    if negative.count > 0 {
        if passes.passes.is_empty() {
            let text = format!("no row of the table ends after it starts ({} rows)", negative.count);
            return Err(Problem::new(text)
                .in_file(label)
                .hint("`duration` must be in seconds from `start_ts`"));
        }
        passes.warnings.push(Warning::new("trace-damaged", negative.text(label)));
    }
    passes.leave_out_impossible();
    shape(&mut passes);
    passes.sort();
    Ok(passes)
}

/// Rows that end before they start: their number and the first positions.
#[derive(Default)]
struct Negative {
    count: u64,
    places: Vec<String>,
}

impl Negative {
    fn note(&mut self, row: usize, operator: &str, seconds: f64) {
        self.count += 1;
        if self.places.len() < Damage::PLACES {
            let operator: String = operator.chars().take(40).collect();
            self.places.push(format!("row {row} (`{operator}`, {seconds} s)"));
        }
    }

    fn text(&self, label: &str) -> String {
        let (rows, were) = if self.count == 1 {
            ("1 row ends before it starts", "was")
        } else {
            ("rows end before they start", "were")
        };
        let count = if self.count == 1 { String::new() } else { format!("{} ", self.count) };
        let first = if self.count == 1 { "" } else { "the first: " };
        format!("{label}: {count}{rows} and {were} left out ({first}{})", self.places.join(", "))
    }
}

/// Finds the job's shape, numbers ranks without a number in the table, and interprets the numbers of messages
/// as micro-batches if they are.
fn shape(passes: &mut Passes) {
    let rows = &mut passes.passes;
    let highest =
        |of: fn(&Pass) -> u32, rows: &[Pass]| rows.iter().map(of).max().map_or(0, |n| n.saturating_add(1));
    let (stages, replicas) = (highest(|p| p.stage, rows), highest(|p| p.replica, rows));
    let chunks =
        rows.iter().filter(|p| p.kind.is_compute()).map(|p| p.chunk).max().map_or(1, |n| n.saturating_add(1));
    if rows.iter().any(|p| p.rank == u32::MAX) {
        for pass in &mut *rows {
            pass.rank = pass.stage.saturating_mul(replicas).saturating_add(pass.replica);
        }
    }
    let workers: BTreeSet<(u32, u32, u32)> = rows.iter().map(|p| (p.replica, p.stage, p.rank)).collect();
    let places = workers.iter().map(|&(replica, stage, _)| (replica, stage)).collect::<BTreeSet<_>>().len();
    let ranks: BTreeSet<u32> = workers.iter().map(|&(.., rank)| rank).collect();
    let together = (workers.len() / places.max(1)) as u32;
    let apart = ranks.iter().fold(0, |divisor, &rank| greatest_common_divisor(divisor, u64::from(rank)));
    let shards = if together > 1 { together } else { (apart as u32).max(1) };
    if together > 1 {
        // Of the ranks with equal stage and replica, the first is shard 0.
        let mut firsts = workers.iter().peekable();
        let mut shard_of = std::collections::BTreeMap::new();
        while let Some(&(replica, stage, rank)) = firsts.next() {
            shard_of.insert(rank, 0);
            let mut shard = 0;
            while let Some(&&(_, _, next)) = firsts.peek().filter(|w| (w.0, w.1) == (replica, stage)) {
                shard += 1;
                shard_of.insert(next, shard);
                firsts.next();
            }
        }
        for pass in &mut *rows {
            pass.shard = shard_of.get(&pass.rank).copied().unwrap_or(0);
        }
    }
    if chunks > 1 {
        for pass in rows.iter_mut().filter(|p| p.kind.is_message()) {
            pass.micro_batch = None;
        }
    }
    let batches: BTreeSet<u32> = rows
        .iter()
        .filter(|p| p.kind == PassKind::Forward)
        .fold(std::collections::BTreeMap::new(), |mut most, p| {
            let batches = p.micro_batch.map_or(0, |n| n.saturating_add(1));
            let entry = most.entry((p.step, p.rank)).or_insert(0);
            *entry = batches.max(*entry);
            most
        })
        .into_values()
        .collect();
    passes.shape = PassShape {
        pipeline_parallel: stages,
        virtual_pipeline: chunks,
        data_parallel: replicas,
        shards,
        micro_batches: if batches.len() == 1 { batches.first().copied().unwrap_or(0) } else { 0 },
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    macro_rules! fixture {
        ($name:literal) => {
            include_bytes!(concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/../../fixtures/traces/bytedance_whatif/",
                $name
            ))
        };
    }

    fn table(name: &str) -> Passes {
        let bytes: &[u8] = match name {
            "ST" => fixture!("trace-ST.parquet"),
            _ => fixture!("trace-AR.parquet"),
        };
        assert!(matches(&crate::parquet::names(bytes).expect("Parquet")));
        read(name, bytes).expect("a table")
    }

    /// `reference/pipeline/bytedance_stage_compute.csv`: means over steps of forward and backward per worker,
    /// and of the step.
    #[test]
    fn compute_of_every_stage_is_the_reference() {
        let reference = include_str!(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../fixtures/traces/reference/pipeline/bytedance_stage_compute.csv"
        ));
        let (st, ar) = (table("ST"), table("AR"));
        assert_eq!((st.passes.len(), ar.passes.len()), (6784, 117_216));
        let mut checked = 0;
        for line in reference.lines().skip(1).filter(|line| line.starts_with("ST") || line.starts_with("AR"))
        {
            let cells: Vec<&str> = line.split(',').collect();
            let number = |at: usize| cells[at].parse::<f64>().expect("a number");
            let passes = if cells[0] == "ST" { &st } else { &ar };
            let steps: BTreeSet<u32> = passes.passes.iter().map(|p| p.step).collect();
            let sum = |keep: &dyn Fn(&Pass) -> bool| {
                let own = passes.passes.iter().filter(|p| {
                    (f64::from(p.replica), f64::from(p.stage)) == (number(1), number(2)) && keep(p)
                });
                own.map(Pass::duration).sum::<i64>() as f64 / 1e9 / steps.len() as f64
            };
            assert!((sum(&|p| p.kind.is_compute()) - number(4)).abs() < 1e-6 * number(3), "{line}");
            assert!((sum(&|p| p.kind == PassKind::Forward) - number(5)).abs() < 1e-6 * number(3), "{line}");
            let whole: i64 = steps
                .iter()
                .map(|&step| {
                    let of = || passes.passes.iter().filter(|p| p.step == step);
                    of().map(|p| p.end).max().unwrap_or(0) - of().map(|p| p.start).min().unwrap_or(0)
                })
                .sum();
            assert!((whole as f64 / 1e9 / steps.len() as f64 - number(3)).abs() < 1e-6 * number(3), "{line}");
            checked += 1;
        }
        assert_eq!(checked, 24);
    }

    #[test]
    fn the_shape_is_that_of_the_authors() {
        let says = |meta: &str, key: &str| -> u32 {
            let line = meta.lines().find_map(|line| line.strip_prefix(key)).expect("the key");
            line.trim_start_matches(':').trim().parse().expect("a number")
        };
        for (name, meta) in [
            (
                "ST",
                &include_str!(concat!(
                    env!("CARGO_MANIFEST_DIR"),
                    "/../../fixtures/traces/bytedance_whatif/meta-ST.yaml"
                )),
            ),
            (
                "AR",
                &include_str!(concat!(
                    env!("CARGO_MANIFEST_DIR"),
                    "/../../fixtures/traces/bytedance_whatif/meta-AR.yaml"
                )),
            ),
        ] {
            let shape = table(name).shape;
            assert_eq!(shape.pipeline_parallel, says(meta, "pp_size"), "{name}");
            assert_eq!(shape.data_parallel, says(meta, "dp_size"), "{name}");
            assert_eq!(shape.virtual_pipeline, says(meta, "vpp_size"), "{name}");
            assert_eq!(shape.shards, says(meta, "tp_size") * says(meta, "dsp_size"), "{name}");
            assert_eq!(shape.micro_batches, if name == "ST" { 4 } else { 32 }, "{name}");
        }
    }

    #[test]
    fn a_message_has_the_micro_batch_of_its_pass() {
        let passes = table("ST");
        let of = |kind: PassKind| {
            let own = passes.passes.iter().filter(move |p| (p.step, p.rank, p.kind) == (23, 2, kind));
            own.map(|p| (p.micro_batch, p.start, p.end)).collect::<Vec<_>>()
        };
        for (message, pass) in of(PassKind::ReceiveForward).iter().zip(of(PassKind::Forward)) {
            assert_eq!(message.0, pass.0);
            assert!(message.2 <= pass.1 + 100_000, "a pass begins when its input is there");
        }
        assert_eq!(of(PassKind::ReceiveForward).len(), 4);
    }

    #[test]
    fn damage_is_reported() {
        let whole: &[u8] = fixture!("trace-ST.parquet");
        for length in [0, 4, 100, whole.len() / 2, whole.len() - 1] {
            let problem = read("t", &whole[..length]).expect_err("cut off");
            assert!(problem.to_string().starts_with("t: the Parquet file cannot be read: "), "{problem}");
        }
        let other: &[u8] = include_bytes!(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../fixtures/traces/jaxtoolbox_nsys_fsdp4/proc0/system-metadata.parquet"
        ));
        assert!(!matches(&crate::parquet::names(other).expect("Parquet")));
        assert!(read("t", other).expect_err("another table").message.contains("no column `dp_rank`"));
    }

    /// A table as the authors' tools write it, of one worker; durations are given.
    fn made(durations: &[&str]) -> Vec<u8> {
        use crate::parquet::{Field, Values, write};
        let rows = durations.len();
        let zeros = || Values::Repeating(vec![0; rows]);
        let starts: Vec<String> = (0..rows).map(|at| format!("{at}.5")).collect();
        write(&[
            Field { name: "dp_rank", values: zeros() },
            Field { name: "stage", values: zeros() },
            Field { name: "rank", values: zeros() },
            Field { name: "step", values: zeros() },
            Field { name: "seq_id", values: Values::Repeating((0..rows as u32).collect()) },
            Field { name: "mc", values: zeros() },
            Field { name: "optype", values: Values::Texts(vec!["forward-compute"; rows]) },
            Field { name: "start_ts", values: Values::Texts(starts.iter().map(String::as_str).collect()) },
            Field { name: "duration", values: Values::Texts(durations.to_vec()) },
        ])
        .expect("a table")
    }

    #[test]
    fn rows_that_end_before_they_start_are_left_out_and_reported() {
        let whole = read("t", &made(&["0.25", "0.5", "0"])).expect("a table");
        assert_eq!((whole.passes.len(), whole.warnings.len()), (3, 0));
        let one = read("t", &made(&["0.25", "-0.5", "0"])).expect("a table");
        assert_eq!(one.passes.iter().map(Pass::duration).collect::<Vec<_>>(), [250_000_000, 0]);
        assert_eq!(
            one.warnings[0].message,
            "t: 1 row ends before it starts and was left out (row 1 (`forward-compute`, -0.5 s))"
        );
        let many = read("t", &made(&["-1", "-2", "-3", "-4", "1"])).expect("a table");
        assert_eq!(many.passes.len(), 1);
        assert!(
            many.warnings[0]
                .message
                .starts_with("t: 4 rows end before they start and were left out (the first: row 0")
        );
        assert!(read("t", &made(&["-1"])).expect_err("nothing left").message.contains("no row of the table"));
    }

    /// Receives are not recorded as waits for the forward pass before them: concurrent compute of the slow
    /// rank is not a wait.
    #[test]
    fn a_slow_rank_computes_and_does_not_wait() {
        let passes = table("AR");
        let page =
            railwright_profiler::pipeline::page(passes, &railwright_profiler::pipeline::Question::default())
                .expect("a page");
        let path = &page.shown.critical;
        let slow = path.ranks[0];
        let share = |part: i64| part as f64 / page.shown.measured as f64;
        assert_eq!(slow.rank, 0, "{}", path.words);
        assert!(share(slow.compute) > 0.9 && share(slow.waiting) < 0.03, "{}", path.words);
        // Passes on the path are sequential.
        assert!(path.passes.windows(2).all(|w| w[0].end <= w[1].start), "{}", path.words);
        let sum: i64 = path.ranks.iter().map(|r| r.compute + r.communication + r.waiting).sum();
        assert_eq!(sum + path.outside, page.shown.measured, "{}", path.words);
    }
}
