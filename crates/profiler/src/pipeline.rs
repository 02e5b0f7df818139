//! The pipeline report: passes of a step as a schedule on one clock, causes of bubbles, costs of stalls, and
//! the expected schedule.
//!
//! Responsible for: the report as a value ([`PipelinePage`]); text and JSON are views of it, and [`picture`]
//! draws it. It is the same for passes from a pipeline timer, from traces ([`from_job`]) or predicted
//! ([`from_step`]). Excludes advice: see findings.

mod asked;
mod bubbles;
pub mod columns;
mod critical;
mod decomposition;

pub mod from_job;
pub mod from_step;
mod judged;
mod judgement;
pub mod picture;

mod rows;
mod sheet;
mod stages;
mod stalls;
pub mod strip;
mod units;
mod verdict;

pub use crate::certainty::Certainty;
pub use asked::Asked;
pub use bubbles::{AwaitedPass, Bubble, Cause, Causes};
pub use critical::{CriticalPass, CriticalPath, CriticalRank};
pub use decomposition::Decomposition;
use decomposition::median;
pub use judged::of_job;
pub use judgement::{StragglerVerdict, Verdict};
pub use rows::{PassBox, StepRow};
pub use sheet::{PipelinePage, Question, Row, ShownStep};
pub use stages::StageRow;
pub use stalls::Stall;

use crate::passes::{Pass, PassShape, Passes};
use crate::replay::{Replay, Runner};
use railwright_spec::problem::{Problem, Warning};
use std::collections::BTreeMap;

impl PipelinePage {
    /// The verdict to read first: that there is none, or the most expensive one.
    pub fn headline(&self) -> Option<&Verdict> {
        if self.is_inconclusive() {
            self.verdicts.first()
        } else {
            self.verdicts.iter().max_by_key(|verdict| verdict.cost)
        }
    }

    /// Tests whether the replay is too inaccurate for verdicts. Bounds need no replay.
    pub fn is_inconclusive(&self) -> bool {
        let most = crate::attribution::MOST_OFF * self.median_step as f64;
        self.bounds_only.is_none() && self.replay_error as f64 > most
    }

    /// The command to run next, for the most expensive part of a step that depends on the layout or the
    /// machine. Parts below 1% of a step are ignored.
    pub fn next_step(&self) -> &'static str {
        const BALANCE: &str = "`railwright balance` evens out unequal stages; on kernel traces, `railwright profile` lists causes and remedies";
        let parts = &self.typical;
        let remedies = [
            (parts.imbalance, BALANCE),
            (
                parts.host,
                "host time between passes is the largest avoidable loss, and balancing stages does not reduce it: on kernel traces, `railwright profile` lists its causes",
            ),
            (
                parts.jitter,
                "passes slower than their medians are the largest avoidable loss: on kernel traces, `railwright stragglers` finds the ranks",
            ),
            (
                parts.messages,
                "messages between stages are the largest avoidable loss: on kernel traces, `railwright comm` compares them with the network",
            ),
        ];
        let costliest = remedies.into_iter().max_by_key(|(cost, _)| *cost);
        let chosen =
            costliest.filter(|(cost, _)| *cost > parts.total / 100).map_or(BALANCE, |(_, text)| text);
        if self.is_inconclusive() && chosen == BALANCE {
            return "on kernel traces, `railwright profile` lists causes without a replay of the pipeline";
        }
        chosen
    }
}

/// Creates the report.
///
/// # Errors
///
/// If there is nothing to replay, or the requested step or replica is missing.
pub fn page(mut passes: Passes, question: &Question) -> Result<PipelinePage, Problem> {
    passes.sort();
    passes.check()?;
    let clocks = crate::replay::align_stages(&mut passes);
    let shape = passes.shape.widened(&passes.passes);
    let replay = Replay::new(&passes)?;
    let mut runner = Runner::default();
    let replayed = replay.replayed();
    let settled = replay.settled();
    // Ranks may begin a step before others end the previous one: passes of a step can take longer than the
    // step.
    let known = passes.steps.iter().filter(|_| passes.warm_up.is_some());
    let known: BTreeMap<u32, i64> = known.map(|s| (s.step, s.duration)).collect();
    let step_time = |at: usize| known.get(&replayed[at].step).copied().unwrap_or(replayed[at].measured);
    let mut durations: Vec<i64> = settled.iter().map(|&at| step_time(at)).collect();
    let median_step = crate::replay::lower_median(&mut durations).unwrap_or(0);
    let mean_step = durations.iter().sum::<i64>() as f64 / durations.len().max(1) as f64;
    let stages = stages::rows(&replay, &passes);
    let widest = stages.iter().map(|s| s.ranks).max().unwrap_or(0);
    let missing_stages: Vec<u32> = (0..shape.pipeline_parallel.min(1 << 16))
        .filter(|s| stages.binary_search_by_key(s, |row| row.stage).is_err())
        .collect();
    let missing_ranks = stages.iter().map(|s| widest - s.ranks).sum();
    let bounds = !missing_stages.is_empty() || missing_ranks > 0;
    let found = stalls::find(&replay);
    let costs = stalls::cost_by_step(&replay, &found, bounds, &mut runner);
    let mut counts = vec![0; replay.len()];
    for stall in &found {
        counts[stall.at_step] += 1;
    }
    let steps: Vec<StepRow> = replayed
        .iter()
        .enumerate()
        .map(|(at, s)| StepRow {
            step: s.step,
            step_time: step_time(at),
            measured: s.measured,
            replayed: s.replayed,
            error: s.error(),
            excess: step_time(at) - median_step,
            stalls: counts[at],
            stall_cost: costs[at],
            certainty: Certainty::bounded(bounds),
        })
        .collect();
    let parts: Vec<Decomposition> =
        (0..replay.len()).map(|at| decomposition::of_step(&replay, at, &mut runner)).collect();
    let at = choose(&steps, settled.first().copied().unwrap_or(0), question, &passes.label)?;
    let (listed, stall_count) = stalls::list(&replay, &found, &steps, bounds, &mut runner);
    let shown = show(&replay, at, question.replica, parts[at], &listed, costs[at], &mut runner)?;
    let start = settled.first().and_then(|first| first.checked_sub(1)).map(|last| steps[last].step);
    let replay_error = median(settled.iter().map(|&at| (steps[at].replayed - steps[at].measured).abs()));
    let mut page = PipelinePage {
        missing_stages,
        missing_ranks,
        bounds_only: None,
        replay_error,
        label: passes.label.clone(),
        shape,
        median_step,
        mean_step,
        typical: Decomposition::median(&parts),
        ideal_bubble: ideal_bubble(&shape),
        steps,
        stages,
        stalls: listed,
        stall_count,
        gaps: replay.gaps().clone(),
        clocks,
        what_if: replay.what_if_of(&settled),
        start,
        asked: question.what_if.iter().map(|s| asked::ask(&replay, s, &settled)).collect::<Result<_, _>>()?,
        judgement: None,
        verdicts: Vec::new(),
        shown,
        warnings: passes.warnings.clone(),
    };
    page.bounds_only = page.not_recorded();
    page.doubt(replay.circular());
    page.verdicts = verdict::verdicts(&page);
    if bounds {
        page.note_bounds();
    }
    Ok(page)
}

impl PipelinePage {
    /// Number of stages: `8 stages`, or `7 of 8 stages` if some were not recorded.
    pub fn extent(&self) -> String {
        let all = self.shape.pipeline_parallel;
        match self.missing_stages.len() {
            0 => format!("{all} stages"),
            _ => format!("{} of {all} stages", self.stages.len()),
        }
    }

    /// Missing stages or ranks, as a reason; `None` if all were recorded.
    fn not_recorded(&self) -> Option<String> {
        let stages = self.missing_stages.len();
        let were = |count: usize| if count == 1 { "was" } else { "were" };
        match (stages, self.missing_ranks) {
            (0, 0) => None,
            (0, ranks) => Some(format!(
                "{ranks} rank{} of these stages {} not recorded",
                if ranks == 1 { "" } else { "s" },
                were(ranks)
            )),
            _ => Some(format!(
                "{stages} of {} stages {} not recorded",
                self.shape.pipeline_parallel,
                were(stages)
            )),
        }
    }

    /// Replaces savings by replay with bounds, because parts of the job were not recorded.
    fn note_bounds(&mut self) {
        let of = &mut self.what_if;
        let lists = [&mut of.kinds, &mut of.stages, &mut of.replicas];
        let shares = lists.into_iter().flatten().chain([&mut of.worst_ranks, &mut of.last_stage]);
        for share in shares.chain(self.asked.iter_mut().map(|asked| &mut asked.ideal)) {
            (share.saved, share.certainty) = (share.at_most, Certainty::AtMost);
        }
        self.asked.iter_mut().for_each(|asked| asked.certainty = Certainty::Unknown);
    }

    /// Adds warnings about the limits of the report.
    fn doubt(&mut self, circular: u64) {
        if let Some(reason) = &self.bounds_only {
            let message = format!(
                "{reason}; waits for missing ranks appear as launch delays and messages, and their slack is \
                 unknown: costs are upper bounds"
            );
            self.warnings.push(Warning::new("pipeline-stages-missing", message));
        }
        let worst = self.steps.iter().map(|s| s.error.abs()).collect::<Vec<_>>();
        let typical = median(worst.iter().map(|e| (e * 1e6) as i64)) as f64 / 1e6;
        if typical > 0.02 {
            let costs = if self.bounds_only.is_some() {
                ""
            } else {
                "; smaller savings per step are not shown; costs of stalls are differences of two replays and \
                 less affected"
            };
            let message = format!(
                "the replay deviates from the recorded steps by {:.1}% (median), so the shares of its parts \
                 are approximate{costs}",
                typical * 100.0
            );
            self.warnings.push(Warning::new("pipeline-replay-rough", message));
        }
        if circular > 0 {
            let message =
                format!("{circular} circular dependencies were ignored: the recording is inconsistent");
            self.warnings.push(Warning::new("pipeline-circular", message));
        }
    }
}

/// Bubble share of an ideal schedule (0 to 1): (p - 1) / (v m + p - 1), for p stages, v chunks per rank, m
/// micro-batches.
pub fn ideal_bubble(shape: &PassShape) -> Option<f64> {
    let wait = f64::from(shape.pipeline_parallel) - 1.0;
    let work = f64::from(shape.virtual_pipeline.max(1)) * f64::from(shape.micro_batches);
    (work > 0.0 && wait >= 0.0).then(|| wait / (work + wait))
}

/// Index of the step to show.
fn choose(steps: &[StepRow], settled: usize, question: &Question, label: &str) -> Result<usize, Problem> {
    if let Some(step) = question.step {
        let numbers = || (steps.first().map_or(0, |s| s.step), steps.last().map_or(0, |s| s.step));
        return steps.iter().position(|s| s.step == step).ok_or_else(|| {
            let (first, last) = numbers();
            let between = if steps.len() as u64 > u64::from(last - first) {
                format!("steps go from {first} to {last}")
            } else {
                let list: Vec<String> = steps.iter().take(12).map(|s| s.step.to_string()).collect();
                let more = if steps.len() > 12 { ", ..." } else { "" };
                format!("steps are {}{more}", list.join(", "))
            };
            Problem::new(format!("there is no step {step} in {label}")).in_file("--step").hint(between)
        });
    }
    // Users rarely want a warm-up step if there are others.
    let usual = median(steps.iter().map(|s| s.measured));
    let costliest = steps.iter().enumerate().skip(settled).filter(|(_, s)| s.stall_cost > 0);
    let costliest = costliest.max_by(|a, b| a.1.stall_cost.cmp(&b.1.stall_cost).then(b.0.cmp(&a.0)));
    let typical = steps.iter().enumerate().min_by_key(|(_, s)| (s.measured - usual).abs());
    Ok(costliest.or(typical).map_or(0, |(at, _)| at))
}

/// One step of one replica.
fn show(
    replay: &Replay<'_>,
    at: usize,
    replica: Option<u32>,
    parts: Decomposition,
    listed: &[Stall],
    stall_cost: i64,
    runner: &mut Runner,
) -> Result<ShownStep, Problem> {
    let (of_step, origin, measured) = replay.step_passes(at);
    let step = of_step.first().map_or(0, |p| p.step);
    let last = of_step.iter().filter(|p| p.kind.is_compute()).max_by_key(|p| p.end);
    let replica = replica.or(last.map(|p| p.replica)).unwrap_or(0);
    if of_step.iter().all(|p| p.replica != replica) {
        let most = of_step.iter().map(|p| p.replica).max().unwrap_or(0);
        return Err(Problem::new(format!("there is no replica {replica}"))
            .in_file("--replica")
            .hint(format!("replicas go from 0 to {most}")));
    }
    let stalls: Vec<Stall> = listed.iter().filter(|s| s.step == step).cloned().collect();
    let ranks = representatives(of_step, replica);
    let stall_of = |p: &Pass| {
        stalls.iter().position(|s| {
            let meanwhile = p.start - origin < s.start + s.duration && s.start < p.end - origin;
            (s.stage, s.kind, s.micro_batch, s.chunk) == (p.stage, p.kind, p.micro_batch, p.chunk)
                && if s.rank == p.rank {
                    s.start == p.start - origin
                } else {
                    s.ranks.contains(&p.rank) && meanwhile
                }
        })
    };
    let boxes = |rank: u32, times: &dyn Fn(usize, &Pass) -> (i64, i64), stalls: bool| {
        let own = of_step.iter().enumerate().filter(|(_, p)| p.rank == rank && p.kind.is_compute());
        own.map(|(n, p)| {
            let (start, end) = times(n, p);
            let stall = if stalls { stall_of(p) } else { None };
            PassBox { kind: p.kind, micro_batch: p.micro_batch, chunk: p.chunk, start, end, stall }
        })
        .collect::<Vec<_>>()
    };
    let walker = bubbles::Walker::new(replay, at);
    let rows = ranks.iter().map(|&(stage, rank)| {
        let bubbles = walker.bubbles(rank);
        let causes = Causes::of(&bubbles);
        let boxes = boxes(rank, &|_, p| (p.start - origin, p.end - origin), true);
        Row { stage, rank, boxes, bubbles, causes }
    });
    let rows = rows.collect();
    let expected_duration = decomposition::expected(replay, at, runner);
    let expected = ranks
        .iter()
        .map(|&(stage, rank)| {
            let boxes = boxes(rank, &|n, _| runner.times_of(n), false);
            let bubbles = bubbles::schedule(&boxes, expected_duration);
            Row { stage, rank, causes: Causes::of(&bubbles), boxes, bubbles }
        })
        .collect();
    let of_rows: Vec<u32> = ranks.iter().map(|row| row.1).collect();
    let critical = critical::path(&walker, &of_rows);
    Ok(ShownStep {
        step,
        replica,
        measured,
        parts,
        stall_cost,
        certainty: stalls.first().map(|stall| stall.certainty).unwrap_or_default(),
        stalls,
        rows,
        expected,
        expected_duration,
        critical,
    })
}

/// By stage of a replica: the rank with the longest compute.
fn representatives(of_step: &[Pass], replica: u32) -> Vec<(u32, u32)> {
    let mut busy: BTreeMap<(u32, u32), i64> = BTreeMap::new();
    for pass in of_step.iter().filter(|p| p.replica == replica && p.kind.is_compute()) {
        *busy.entry((pass.stage, pass.rank)).or_default() += pass.duration();
    }
    let mut best: BTreeMap<u32, (i64, u32)> = BTreeMap::new();
    for ((stage, rank), time) in busy {
        let entry = best.entry(stage).or_insert((time, rank));
        if time > entry.0 {
            *entry = (time, rank);
        }
    }
    best.into_iter().map(|(stage, (_, rank))| (stage, rank)).collect()
}
