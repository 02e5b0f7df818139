//! Bubbles and their causes.
//!
//! Responsible for: following the chain of passes before the awaited pass back through other ranks. Every
//! nanosecond of the wait gets the cause of the chain's activity at that time. The pieces of a bubble are
//! disjoint, and their sum is the bubble. Pieces that other ranks cause name the pass whose result the next
//! pass needs: the last one on the chain before the rank itself.
//!
//! A pass on the chain is split into three parts. Its time on balanced stages is schedule; the usual excess
//! of its rank is imbalance; time beyond the usual is stall or jitter.

use super::decomposition::balanced;
use super::{PassBox, stalls};
use crate::passes::{Pass, PassKind};
use crate::replay::Replay;
use serde::Serialize;

/// Reason why a rank had no pass to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The schedule: work of other ranks, at its time on balanced stages.
    Schedule,
    /// A stage with more work than others.
    Imbalance,
    /// A message in transit, or the transition to the next pass.
    Message,
    /// A stall.
    Stall,
    /// A pass that took a little longer than normal.
    Jitter,
    /// A pass that could have begun earlier.
    Launch,
    /// Before the first and after the last pass of the pipeline.
    Outside,
}

impl Cause {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Schedule,
        Self::Imbalance,
        Self::Message,
        Self::Stall,
        Self::Jitter,
        Self::Launch,
        Self::Outside,
    ];

    /// Common name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Schedule => "schedule",
            Self::Imbalance => "imbalance",
            Self::Message => "P2P",
            Self::Stall => "stall",
            Self::Jitter => "jitter",
            Self::Launch => "launch",
            Self::Outside => "outside",
        }
    }
}

/// Time without a pass, in nanoseconds since the step began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Bubble {
    /// Start time.
    #[serde(rename = "start_ns")]
    pub start: i64,
    /// End time.
    #[serde(rename = "end_ns")]
    pub end: i64,
    /// Cause.
    pub cause: Cause,
    /// Pass of another rank that the rank waits for. `None` if the chain of passes has none: the cause is on
    /// the rank itself, or not recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub awaited: Option<AwaitedPass>,
}

/// A pass that a bubble waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AwaitedPass {
    /// Stage.
    pub stage: u32,
    /// Rank.
    pub rank: u32,
    /// Kind.
    pub kind: PassKind,
    /// Micro-batch, if known.
    pub micro_batch: Option<u32>,
    /// Virtual stage.
    pub chunk: u32,
}

/// Nanoseconds by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Causes {
    /// The schedule.
    #[serde(rename = "schedule_ns")]
    pub schedule: i64,
    /// Imbalance of stages.
    #[serde(rename = "imbalance_ns")]
    pub imbalance: i64,
    /// Messages.
    #[serde(rename = "message_ns")]
    pub message: i64,
    /// Stalls.
    #[serde(rename = "stall_ns")]
    pub stall: i64,
    /// Jitter.
    #[serde(rename = "jitter_ns")]
    pub jitter: i64,
    /// Late launches.
    #[serde(rename = "launch_ns")]
    pub launch: i64,
    /// Outside the pipeline.
    #[serde(rename = "outside_ns")]
    pub outside: i64,
}

impl Causes {
    /// Sums of bubbles by cause.
    pub fn of(bubbles: &[Bubble]) -> Self {
        let mut sums = Self::default();
        for bubble in bubbles {
            *sums.get_mut(bubble.cause) += bubble.end - bubble.start;
        }
        sums
    }

    fn get_mut(&mut self, cause: Cause) -> &mut i64 {
        match cause {
            Cause::Schedule => &mut self.schedule,
            Cause::Imbalance => &mut self.imbalance,
            Cause::Message => &mut self.message,
            Cause::Stall => &mut self.stall,
            Cause::Jitter => &mut self.jitter,
            Cause::Launch => &mut self.launch,
            Cause::Outside => &mut self.outside,
        }
    }

    /// Time of one cause, in nanoseconds.
    pub fn get(mut self, cause: Cause) -> i64 {
        *self.get_mut(cause)
    }

    /// Total time, in nanoseconds.
    pub fn total(self) -> i64 {
        Cause::ALL.iter().map(|&cause| self.get(cause)).sum()
    }
}

/// Bubbles of a row with the schedule as the only cause.
pub(super) fn schedule(boxes: &[PassBox], end: i64) -> Vec<Bubble> {
    let mut bubbles = Vec::new();
    let mut before = 0;
    for (start, next) in boxes.iter().map(|b| (b.start, b.end)).chain([(end, end)]) {
        if start > before {
            bubbles.push(Bubble { start: before, end: start, cause: Cause::Schedule, awaited: None });
        }
        before = before.max(next);
    }
    bubbles
}

/// State of following chains through a step.
pub(super) struct Walker<'a, 'b> {
    pub(super) replay: &'b Replay<'a>,
    pub(super) at: usize,
    pub(super) of_step: &'a [Pass],
    pub(super) first: usize,
    pub(super) origin: i64,
    pub(super) end: i64,
    /// Participants of a communication.
    meets: Vec<u32>,
    pub(super) last: Option<usize>,
}

/// A wait that is being attributed, from its end to its beginning.
struct Wait {
    from: i64,
    until: i64,
    pieces: Vec<Bubble>,
}

impl Wait {
    /// Adds the part of `start` to `end` (in nanoseconds) that belongs to the wait and has no cause yet.
    fn explain(&mut self, start: i64, end: i64, cause: Cause) {
        let (start, end) = (start.max(self.from), end.min(self.until));
        if start < end {
            self.until = start;
            match self.pieces.last_mut() {
                Some(piece) if piece.cause == cause && piece.start == end => piece.start = start,
                _ => self.pieces.push(Bubble { start, end, cause, awaited: None }),
            }
        }
    }
}

impl<'a, 'b> Walker<'a, 'b> {
    pub(super) fn new(replay: &'b Replay<'a>, at: usize) -> Self {
        let (of_step, origin, measured) = replay.step_passes(at);
        let last = (0..of_step.len()).max_by_key(|&n| (of_step[n].end, std::cmp::Reverse(n)));
        Self {
            replay,
            at,
            of_step,
            first: replay.first_of(at),
            origin,
            end: origin + measured,
            meets: replay.latest_of_meetings(at),
            last,
        }
    }

    /// Bubbles of a rank, in order.
    pub(super) fn bubbles(&self, rank: u32) -> Vec<Bubble> {
        let own = self.of_step.iter().enumerate().filter(|(_, p)| p.rank == rank && p.kind.is_compute());
        let mut found: Vec<Bubble> = Vec::new();
        let mut before = self.origin;
        let mut wait = |from: i64, until: i64, node: Option<usize>, ended: bool| {
            if from < until {
                let mut wait = Wait { from, until, pieces: Vec::new() };
                self.walk(&mut wait, node, ended);
                let awaited = node.and_then(|node| self.awaited(rank, node, ended));
                for piece in &mut wait.pieces {
                    let caused = !matches!(piece.cause, Cause::Launch | Cause::Outside);
                    piece.awaited = awaited.filter(|_| caused);
                }
                found.extend(wait.pieces.into_iter().rev());
            }
        };
        for (n, pass) in own {
            wait(before, pass.start, Some(n), false);
            before = before.max(pass.end);
        }
        wait(before, self.end, self.last, true);
        for bubble in &mut found {
            bubble.start -= self.origin;
            bubble.end -= self.origin;
        }
        found
    }

    /// Attributes a wait for a pass to start, or (`ended`) for one to end.
    fn walk(&self, wait: &mut Wait, node: Option<usize>, ended: bool) {
        let Some(mut node) = node else { return wait.explain(wait.from, wait.until, Cause::Outside) };
        if ended {
            wait.explain(self.of_step[node].end, wait.until, Cause::Outside);
            self.explain_pass(wait, node);
            node = self.latest(node);
        }
        while wait.from < wait.until {
            let Some((from, lag)) = self.replay.binding(self.at, node) else { break };
            let ends = self.of_step[from].end;
            let inside = self.of_step[node].kind.is_compute() || self.of_step[node].kind.is_message();
            let late = if inside { Cause::Launch } else { Cause::Outside };
            wait.explain(ends.saturating_add(lag), wait.until, late);
            wait.explain(ends, wait.until, Cause::Message);
            self.explain_pass(wait, from);
            node = self.latest(from);
        }
        // No earlier pass: the step had not begun.
        wait.explain(wait.from, wait.until, Cause::Outside);
    }

    /// The last compute of another rank on the chain before a pass, or (`ended`) on the chain that ends with
    /// it. `None` if the chain reaches compute of the rank itself first.
    fn awaited(&self, rank: u32, node: usize, ended: bool) -> Option<AwaitedPass> {
        // A message has a send and a receive, and a step may end with several reductions.
        const HOPS: usize = 16;
        let mut next = if ended { Some(node) } else { self.before(self.latest(node)) };
        for _ in 0..HOPS {
            let at = self.latest(next?);
            let pass = &self.of_step[at];
            if pass.kind.is_compute() {
                let Pass { stage, rank: other, kind, micro_batch, chunk, .. } = *pass;
                return (other != rank).then_some(AwaitedPass {
                    stage,
                    rank: other,
                    kind,
                    micro_batch,
                    chunk,
                });
            }
            next = self.before(at);
        }
        None
    }

    /// The pass that a pass follows.
    fn before(&self, node: usize) -> Option<usize> {
        self.replay.binding(self.at, node).map(|(from, _)| from)
    }

    /// The latest node of a communication.
    pub(super) fn latest(&self, node: usize) -> usize {
        self.meets[node] as usize
    }

    fn explain_pass(&self, wait: &mut Wait, node: usize) {
        let pass = &self.of_step[node];
        let duration = self.replay.duration(self.first + node);
        let start = pass.end - duration;
        let normal = self.replay.normal().of_pass(pass).median;
        if pass.kind.is_compute() {
            let measured = (self.end - self.origin).min(self.replay.median_step());
            let stalled = stalls::is_stall(self.replay, pass, duration, measured);
            let beyond = if stalled { Cause::Stall } else { Cause::Jitter };
            wait.explain(start + normal.min(duration), pass.end, beyond);
            wait.explain(start + balanced(self.replay, pass).min(duration), pass.end, Cause::Imbalance);
            wait.explain(start, pass.end, Cause::Schedule);
        } else if pass.kind.is_message() {
            wait.explain(start, pass.end, Cause::Message);
        } else {
            let cause = if pass.kind == PassKind::DataLoading { Cause::Launch } else { Cause::Outside };
            wait.explain(start, pass.end, cause);
        }
    }
}
