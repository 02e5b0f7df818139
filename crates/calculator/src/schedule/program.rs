//! Schedule compiled to a straight-line recurrence, so that a search can evaluate it without ordering or
//! lookups.
//!
//! Responsible for: one topological order of the passes of all stages, with relative addresses. Includes the
//! part of that order that repeats for every further micro-batch (or group of them). Does not time; see
//! [`super::recurrence`].
//!
//! `end[i] = max(end[i - own] + before, end[i - input] + latency) + duration`, with the three times selected
//! by `code`. Weight gradients have no external input and no dependents, so they are part of `before` of the
//! next pass on their stage. A fused pair is two entries: the first, of no duration, waits for the forward's
//! input.

use super::in_flight::{self, InFlight};
use super::list::rules;
use super::slot::{Pass, Shape, Slot};
use railwright_spec::problem::Problem;

/// One entry of the recurrence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// Distance to the entry of the input; equal to `own` without input.
    pub(super) input: u32,
    /// Distance to the stage's previous entry.
    pub(super) own: u32,
    /// Index into [`Program::codes`].
    pub(super) code: u32,
}

/// Components of an entry's times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Code {
    pub(super) stage: u32,
    pub(super) pass: Pass,
    pub(super) chunk: u32,
    /// For a fused pair's second entry: the chunk of its forward.
    pub(super) fused_with: u32,
    pub(super) before: Before,
    /// True if the input is from another stage.
    pub(super) receives: bool,
}

/// Time on a stage between two entries: blocking transfers and weight gradients.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Before {
    pub(super) transfers: u32,
    /// Chunk and count.
    pub(super) weights: Vec<(u32, u32)>,
}

impl Before {
    fn add_weight(&mut self, chunk: u32) {
        match self.weights.iter_mut().find(|(c, _)| *c == chunk) {
            Some((_, count)) => *count += 1,
            None => self.weights.push((chunk, 1)),
        }
    }
}

/// A time relative to an entry's end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Moment {
    pub(super) entry: u32,
    pub(super) after: Before,
}

/// Evaluated times of a stage.
#[derive(Clone, Debug, Default)]
pub(super) struct StageMarks {
    /// The chunks of the stage.
    pub(super) local: Vec<u64>,
    pub(super) first: u32,
    pub(super) first_backward: u32,
    pub(super) last_backward: u32,
    pub(super) end: Moment,
    /// Per local chunk, the completion of its weight gradients.
    pub(super) gradients: Vec<Moment>,
    pub(super) in_flight: InFlight,
    /// Total number of blocking transfers for the compiled micro-batches.
    pub(super) transfers: u64,
    /// Blocking transfers of each additional period.
    pub(super) transfers_per_period: u64,
    pub(super) fused: Vec<Fused>,
}

/// Number of fused pairs of two chunks on a stage.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fused {
    pub(super) forward: u32,
    pub(super) backward: u32,
    pub(super) count: u64,
    pub(super) per_period: u64,
}

/// A range of entries that repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Body {
    pub(super) start: usize,
    pub(super) len: usize,
    /// Maximum distance of an input of the range, or of entries after it.
    pub(super) reach: usize,
}

/// A compiled schedule.
#[derive(Clone, Debug)]
pub(super) struct Program {
    /// The compiled shape.
    pub(super) compiled: Shape,
    /// The remaining shape: the same, with fewer micro-batches if there are bodies.
    pub(super) shape: Shape,
    pub(super) entries: Vec<Entry>,
    pub(super) codes: Vec<Code>,
    /// Ranges, each repeated once more for every `period` micro-batches beyond the compiled ones.
    pub(super) bodies: Vec<Body>,
    pub(super) stages: Vec<StageMarks>,
}

/// Number of micro-batches after which the steady state repeats.
pub(super) fn period(shape: &Shape) -> u64 {
    rules(shape.schedule).period(shape)
}

/// Number of micro-batches that certainly suffices for warmup, two periods of steady state and cooldown.
fn enough(shape: &Shape) -> u64 {
    rules(shape.schedule).enough(shape)
}

/// Tests whether the order has a repeating steady state.
fn repeats(shape: &Shape) -> bool {
    rules(shape.schedule).repeats(shape)
}

/// The shape to compile for a shape to evaluate: the same, or one with fewer micro-batches by a number of
/// whole periods.
pub(super) fn reduced(shape: &Shape) -> Shape {
    let (period, enough) = (period(shape), enough(shape));
    if !repeats(shape) || shape.micro_batches < enough + period {
        return *shape;
    }
    Shape { micro_batches: enough + (shape.micro_batches - enough) % period, ..*shape }
}

struct Item {
    slot: Slot,
    before: Before,
    fused_with: u32,
    receives: bool,
}

/// Compiles the order of all stages.
pub(super) fn compile(shape: Shape) -> Result<Program, Problem> {
    let mut stages = Vec::with_capacity(shape.stages as usize);
    let mut items = Vec::with_capacity(shape.stages as usize);
    let mut ends = Vec::new();
    for stage in 0..shape.stages {
        let local = shape.local_chunks(stage);
        let order = rules(shape.schedule).order(&shape, stage);
        let mut marks = StageMarks { in_flight: in_flight::count(&order, &local), ..StageMarks::default() };
        let folded = fold(&shape, &order, &local, &mut marks);
        marks.local = local;
        ends.push(folded.1);
        items.push(folded.0);
        stages.push(marks);
    }
    let mut program = Program {
        compiled: shape,
        shape,
        entries: Vec::new(),
        codes: Vec::new(),
        bodies: Vec::new(),
        stages,
    };
    let places = program.lay_out(&items)?;
    for (stage, marks) in program.stages.iter_mut().enumerate() {
        let at = |item: usize| places[stage].get(item).copied().unwrap_or(0);
        let back = |i: &Item| i.slot.hands_back();
        marks.first = at(0);
        marks.first_backward = at(items[stage].iter().position(back).unwrap_or(0));
        marks.last_backward = at(items[stage].iter().rposition(back).unwrap_or(0));
        let (end, gradients) = &ends[stage];
        let moment = |(item, after): (usize, &Before)| Moment { entry: at(item), after: after.clone() };
        marks.end = moment((end.0, &end.1));
        marks.gradients = gradients.iter().map(|(item, after)| moment((*item, after))).collect();
    }
    if shape == reduced(&shape) && shape.micro_batches >= enough(&shape) && repeats(&shape) {
        program.find_bodies();
    }
    Ok(program)
}

type StageMoments = ((usize, Before), Vec<(usize, Before)>);

/// Converts a stage's order to items that include weight gradients and blocking transfers. Also returns the
/// end of the stage and of the gradients of each of its chunks, as times relative to items.
fn fold(shape: &Shape, order: &[Slot], local: &[u64], marks: &mut StageMarks) -> (Vec<Item>, StageMoments) {
    let mut items: Vec<Item> = Vec::with_capacity(order.len());
    let mut before = Before::default();
    let mut sent = false;
    let mut gradients = vec![(0, Before::default()); local.len()];
    for (n, &slot) in order.iter().enumerate() {
        let chunk = local.iter().position(|&c| c == u64::from(slot.chunk)).unwrap_or(0);
        let receives = shape.source(slot).is_some();
        if slot.pass == Pass::BackwardWeight {
            before.transfers += u32::from(sent);
            sent = false;
            before.add_weight(slot.chunk);
            gradients[chunk] = (items.len().saturating_sub(1), before.clone());
            continue;
        }
        let second = slot.pass == Pass::FusedBackward;
        if !second {
            let pair_receives = slot.pass == Pass::FusedForward
                && order.get(n + 1).is_some_and(|&pair| shape.source(pair).is_some());
            before.transfers += u32::from(sent || receives || pair_receives);
            sent = false;
        }
        marks.transfers += u64::from(before.transfers);
        let fused_with = if second { order[n - 1].chunk } else { slot.chunk };
        if second {
            let (forward, backward) = (fused_with, slot.chunk);
            let known = marks.fused.iter_mut().find(|f| (f.forward, f.backward) == (forward, backward));
            if let Some(known) = known {
                known.count += 1;
            } else {
                marks.fused.push(Fused { forward, backward, count: 1, per_period: 0 });
            }
        }
        items.push(Item { slot, before: std::mem::take(&mut before), fused_with, receives });
        sent |= shape.target(slot).is_some();
        if slot.hands_back() && slot.pass != Pass::BackwardInput {
            gradients[chunk] = (items.len() - 1, Before::default());
        }
    }
    before.transfers += u32::from(sent);
    marks.transfers += u64::from(before.transfers);
    let end = (items.len().saturating_sub(1), before);
    (items, (end, gradients))
}

impl Program {
    /// Arranges the items round by round: in each round a stage runs its next item if an earlier round
    /// produced the input. That is the schedule with all times equal, so it converges to a period.
    /// Returns each item's index.
    fn lay_out(&mut self, items: &[Vec<Item>]) -> Result<Vec<Vec<u32>>, Problem> {
        let stages = items.len();
        let micro_batches = self.shape.micro_batches as usize;
        let index = |chunk: u64, micro_batch: u32| chunk as usize * micro_batches + micro_batch as usize;
        let total: usize = items.iter().map(Vec::len).sum();
        // Index of the entry of each forward and backward pass, from 1; 0 is unknown.
        let mut made = [(); 2].map(|()| vec![0u32; self.shape.chunks() as usize * micro_batches]);
        let mut next = vec![0usize; stages];
        let mut previous = vec![0u32; stages];
        let mut places: Vec<Vec<u32>> = items.iter().map(|i| Vec::with_capacity(i.len())).collect();
        let mut codes: Vec<Vec<u32>> = vec![Vec::new(); stages];
        self.entries.reserve(total);
        while self.entries.len() < total {
            let visible = self.entries.len() as u32;
            for stage in 0..stages {
                let Some(item) = items[stage].get(next[stage]) else { continue };
                let slot = item.slot;
                let place = self.entries.len() as u32 + 1;
                let own = place - previous[stage];
                let mut input = own;
                if item.receives {
                    let Some((_, chunk)) = self.shape.source(slot) else { continue };
                    let at = made[usize::from(!slot.is_forward())][index(chunk, slot.micro_batch)];
                    // A fused pair's forward is complete with the pair, which is its second entry.
                    if at == 0 || at > visible {
                        continue;
                    }
                    input = place - at;
                }
                let code = Code {
                    stage: stage as u32,
                    pass: slot.pass,
                    chunk: slot.chunk,
                    fused_with: item.fused_with,
                    before: item.before.clone(),
                    receives: item.receives,
                };
                let known = codes[stage].iter().find(|&&c| self.codes[c as usize] == code).copied();
                let code = known.unwrap_or_else(|| {
                    self.codes.push(code);
                    codes[stage].push(self.codes.len() as u32 - 1);
                    self.codes.len() as u32 - 1
                });
                self.entries.push(Entry { input, own, code });
                let here = usize::from(!slot.is_forward());
                if slot.pass == Pass::FusedBackward {
                    made[0]
                        [index(u64::from(item.fused_with), items[stage][next[stage] - 1].slot.micro_batch)] =
                        place;
                }
                if slot.pass != Pass::FusedForward {
                    made[here][index(u64::from(slot.chunk), slot.micro_batch)] = place;
                }
                previous[stage] = place;
                places[stage].push(place);
                next[stage] += 1;
            }
            if self.entries.len() as u32 == visible {
                return Err(Problem::new("the schedule cannot finish: all stages are deadlocked"));
            }
        }
        Ok(places)
    }

    /// Finds the ranges that repeat, which are the longest runs of entries equal to those one period later.
    /// Removes every repetition but one from the program. Relative addresses need no change.
    fn find_bodies(&mut self) {
        let apart = rules(self.shape.schedule).repeats_apart();
        let per_period = (period(&self.shape) * self.shape.chunks()) as usize;
        let len = if apart { per_period } else { 2 * per_period };
        let mut runs: Vec<(usize, usize)> = Vec::new();
        let mut run = 0;
        for i in 0..self.entries.len().saturating_sub(len) {
            if self.entries[i] == self.entries[i + len] {
                run += 1;
                if run == len {
                    runs.push((i + 1 - len, len));
                } else if run > len
                    && let Some(last) = runs.last_mut()
                {
                    last.1 = run;
                }
            } else {
                run = 0;
            }
        }
        let wanted = if apart { 2 } else { 1 };
        runs.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
        runs.truncate(wanted);
        if runs.len() < wanted {
            return;
        }
        runs.sort_unstable();
        let periods = runs.iter().map(|(_, run)| run / len).min().unwrap_or(0);
        self.bodies = runs.iter().map(|&(start, _)| Body { start, len, reach: 0 }).collect();
        self.count_per_period();
        self.cut(periods);
        for n in 0..self.bodies.len() {
            let body = self.bodies[n];
            let end = body.start + body.len;
            let back = |(at, e): (usize, &Entry)| (e.input.max(e.own) as usize).saturating_sub(at);
            let within = self.entries[body.start..end].iter().map(|e| back((0, e))).max().unwrap_or(0);
            let beyond = self.entries[end..].iter().enumerate().map(back).max().unwrap_or(0);
            self.bodies[n].reach = within.max(beyond);
        }
    }

    /// Removes `n` repetitions after each loop body.
    fn cut(&mut self, periods: usize) {
        for n in (0..self.bodies.len()).rev() {
            let end = self.bodies[n].start + self.bodies[n].len;
            let gone = periods * self.bodies[n].len;
            self.entries.drain(end..end + gone);
            for later in &mut self.bodies[n + 1..] {
                later.start -= gone;
            }
            // The last entry of a kind may move into the body, and then refers to its last repetition. The
            // first of a kind is never removed.
            let moved = |place: &mut u32| {
                if *place as usize > end {
                    *place = (*place - gone as u32).max((end - self.bodies[n].len) as u32 + 1);
                }
            };
            for marks in &mut self.stages {
                moved(&mut marks.first_backward);
                moved(&mut marks.last_backward);
                moved(&mut marks.end.entry);
                marks.gradients.iter_mut().for_each(|m| moved(&mut m.entry));
            }
        }
        let periods = periods as u64;
        self.shape.micro_batches -= periods * period(&self.shape);
        for marks in &mut self.stages {
            marks.transfers -= periods * marks.transfers_per_period;
            for fused in &mut marks.fused {
                fused.count -= periods * fused.per_period;
            }
        }
    }

    /// Counts the additions of each further period on each stage.
    fn count_per_period(&mut self) {
        for body in &self.bodies {
            for entry in &self.entries[body.start..body.start + body.len] {
                let code = &self.codes[entry.code as usize];
                let marks = &mut self.stages[code.stage as usize];
                marks.transfers_per_period += u64::from(code.before.transfers);
                let pair = (code.pass == Pass::FusedBackward).then_some((code.fused_with, code.chunk));
                if let Some(fused) = marks.fused.iter_mut().find(|f| Some((f.forward, f.backward)) == pair) {
                    fused.per_period += 1;
                }
            }
        }
    }
}
