//! A step as tasks that wait for each other: pauses, and exchanges on the network.
//!
//! Responsible for: starting each task when those before it have ended, and times of each task. Independent
//! of the computation in a task.

use super::bundle::{Bundle, PAUSE};
use crate::flow::{Flow, Start, Traffic, simulate};
use railwright_spec::problem::Problem;
use railwright_spec::quantity::Seconds;
use std::ops::{ControlFlow, Range};

/// Number of ended tasks between two calls of the progress callback.
const MOST_LISTED: usize = 256;

/// Share by which two sums of a step's times differ at most.
const ROUNDING: f64 = 1e-9;

/// Action of a task.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Work {
    /// Idle on the network, in seconds.
    Pause(Seconds),
    /// An exchange of a class, with its duration at ideal speed.
    Move {
        /// The class's number in the bundle.
        class: u32,
        /// At ideal speed.
        amount: Seconds,
    },
    /// Endless communication without dependents.
    Endless {
        /// The class's number in the bundle.
        class: u32,
    },
}

/// Tasks in the order in which they were added.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Script {
    work: Vec<Work>,
    /// By task: number of tasks that it waits for.
    waits: Vec<u32>,
    /// Pairs of tasks: the second waits for the first.
    links: Vec<(u32, u32)>,
}

/// Times at which tasks ran.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Played {
    /// Start by task.
    pub starts: Vec<Seconds>,
    /// End by task.
    pub ends: Vec<Seconds>,
    /// Seconds at ideal speed that each unit of the bundle moved.
    pub moved: Vec<f64>,
    /// The end of the last task.
    pub duration: Seconds,
}

/// Lower bounds on the remaining time of a step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RemainingTimeBounds {
    /// By task: from its end to the end of the step.
    after: Vec<Seconds>,
    /// The whole step.
    pub whole: Seconds,
}

impl Script {
    /// Adds a task that waits for others, and returns its number.
    pub fn add(&mut self, work: Work, after: impl IntoIterator<Item = u32>) -> u32 {
        let task = self.work.len() as u32;
        self.work.push(work);
        self.waits.push(0);
        for before in after {
            self.follow(before, task);
        }
        task
    }

    /// Adds a predecessor of a task.
    pub fn follow(&mut self, before: u32, task: u32) {
        self.waits[task as usize] += 1;
        self.links.push((before, task));
    }

    /// Adds all tasks of another script, those without predecessors after a task. `classes` is added to the
    /// numbers of its classes. Gives the number that its first task has now.
    pub fn append(&mut self, other: &Self, classes: u32, after: Option<u32>) -> u32 {
        let first = self.work.len() as u32;
        self.work.extend(other.work.iter().map(|work| match *work {
            Work::Pause(time) => Work::Pause(time),
            Work::Move { class, amount } => Work::Move { class: class + classes, amount },
            Work::Endless { class } => Work::Endless { class: class + classes },
        }));
        self.waits.extend(&other.waits);
        self.links.extend(other.links.iter().map(|(before, task)| (before + first, task + first)));
        for (task, waits) in other.waits.iter().enumerate() {
            if let (0, Some(after)) = (*waits, after) {
                self.follow(after, first + task as u32);
            }
        }
        first
    }

    /// The work of every task.
    pub fn works(&self) -> &[Work] {
        &self.work
    }

    /// Lower bounds on the time after each task on a bundle: each exchange takes as long as its class needs
    /// without contention. `None` if tasks wait for each other.
    ///
    /// `rest(t) = max of time(f) + rest(f) over all f after t`, the longest path.
    pub fn rests(&self, bundle: &Bundle) -> Option<RemainingTimeBounds> {
        let paces = bundle.uncontended_speeds();
        let time = |task: u32| match self.work[task as usize] {
            Work::Pause(time) => time.max(Seconds::ZERO),
            Work::Move { class, amount } => {
                amount.max(Seconds::ZERO) / paces.get(class as usize).copied().unwrap_or(1.0)
            }
            Work::Endless { .. } => Seconds::ZERO,
        };
        let all = self.followers();
        let followers = |task: u32| &all.next[all.of(task)];
        let mut waits = self.waits.clone();
        let mut order: Vec<u32> = (0..waits.len() as u32).filter(|task| waits[*task as usize] == 0).collect();
        let mut at = 0;
        while let Some(&task) = order.get(at) {
            at += 1;
            for &follower in followers(task) {
                waits[follower as usize] -= 1;
                if waits[follower as usize] == 0 {
                    order.push(follower);
                }
            }
        }
        if order.len() < self.work.len() {
            return None;
        }
        let (mut after, mut whole) = (vec![Seconds::ZERO; self.work.len()], Seconds::ZERO);
        for task in order.into_iter().rev() {
            let of = |follower: &u32| time(*follower) + after[*follower as usize];
            let rest = followers(task).iter().map(of).fold(Seconds::ZERO, Seconds::max);
            after[task as usize] = rest;
            whole = whole.max(time(task) + rest);
        }
        Some(RemainingTimeBounds { after, whole })
    }

    /// By task: the predecessor that ended last, the first of equals. `None` without predecessors.
    pub fn released_by(&self, played: &Played) -> Vec<Option<u32>> {
        let mut released: Vec<Option<u32>> = vec![None; self.work.len()];
        for &(before, task) in &self.links {
            let known = &mut released[task as usize];
            if known.is_none_or(|known| played.ends[before as usize] > played.ends[known as usize]) {
                *known = Some(before);
            }
        }
        released
    }

    /// Which tasks follow each.
    fn followers(&self) -> Followers {
        let mut starts = vec![0_u32; self.work.len() + 1];
        for (before, _) in &self.links {
            starts[*before as usize + 1] += 1;
        }
        for n in 1..starts.len() {
            starts[n] += starts[n - 1];
        }
        let mut fill = starts.clone();
        let mut next = vec![0_u32; self.links.len()];
        for (before, task) in &self.links {
            let at = &mut fill[*before as usize];
            next[*at as usize] = *task;
            *at += 1;
        }
        Followers { starts, next }
    }

    /// Number of flows that start on a bundle with these numbers of units by class.
    pub fn flows(&self, units: &[usize]) -> usize {
        let units = |class: u32| units.get(class as usize).copied().unwrap_or_default();
        let of = |work: &Work| match work {
            Work::Pause(_) => 0,
            Work::Move { class, .. } | Work::Endless { class } => units(*class),
        };
        self.work.iter().map(of).sum()
    }

    /// Tasks.
    pub fn len(&self) -> usize {
        self.work.len()
    }

    /// Tests whether the script has no tasks.
    pub fn is_empty(&self) -> bool {
        self.work.is_empty()
    }

    /// Runs it.
    pub fn play(&self, bundle: &Bundle) -> Result<Played, Problem> {
        self.play_watched(bundle, &mut |_| ControlFlow::Continue(()))
    }

    /// Cancellable variant: `watch` receives the number of finished tasks. Cancellation is a problem, because
    /// half a step is not a result.
    pub fn play_watched(
        &self,
        bundle: &Bundle,
        watch: &mut dyn FnMut(usize) -> ControlFlow<()>,
    ) -> Result<Played, Problem> {
        let played = self.play_within(bundle, (Seconds::new(f64::INFINITY), None), watch)?;
        played.ok_or_else(|| Problem::new("the step does not finish"))
    }

    /// Plays a step up to a limit; `None` if it ends later. `rests` stops it as soon as the limit cannot be
    /// met.
    pub fn play_within(
        &self,
        bundle: &Bundle,
        (limit, rests): (Seconds, Option<&RemainingTimeBounds>),
        watch: &mut dyn FnMut(usize) -> ControlFlow<()>,
    ) -> Result<Option<Played>, Problem> {
        let mut player = Player {
            script: self,
            bundle,
            followers: self.followers(),
            waits: self.waits.clone(),
            missing: vec![0; self.work.len()],
            played: Played {
                starts: vec![Seconds::ZERO; self.work.len()],
                ends: vec![Seconds::ZERO; self.work.len()],
                moved: vec![0.0; bundle.units.len()],
                duration: Seconds::ZERO,
            },
            ended: 0,
            now: Seconds::ZERO,
            limit,
            after: rests.map(|rests| rests.after.as_slice()),
            is_beyond: false,
            watch,
            is_stopped: false,
        };
        let ended = simulate(bundle, &mut player);
        if player.is_beyond || player.now > limit {
            return Ok(None);
        }
        ended?;
        if player.is_stopped {
            return Err(Problem::new("stopped while simulating the step"));
        }
        let endless = self.work.iter().filter(|work| matches!(work, Work::Endless { .. })).count();
        if player.ended + endless < self.work.len() {
            return Err(Problem::new("tasks of the step have circular dependencies"));
        }
        let mut played = player.played;
        played.duration = played.ends.iter().copied().fold(Seconds::ZERO, Seconds::max);
        Ok(Some(played))
    }
}

/// The tasks that follow each: those of task `t` are `next[starts[t]..starts[t + 1]]`.
struct Followers {
    starts: Vec<u32>,
    next: Vec<u32>,
}

impl Followers {
    /// Places of a task's followers in `next`.
    fn of(&self, task: u32) -> Range<usize> {
        self.starts[task as usize] as usize..self.starts[task as usize + 1] as usize
    }
}

struct Player<'a> {
    script: &'a Script,
    bundle: &'a Bundle,
    followers: Followers,
    /// By task: number of unfinished predecessors, and of its active flows.
    waits: Vec<u32>,
    missing: Vec<u32>,
    played: Played,
    ended: usize,
    now: Seconds,
    limit: Seconds,
    /// By task: lower bound on the time after it.
    after: Option<&'a [Seconds]>,
    is_beyond: bool,
    watch: &'a mut dyn FnMut(usize) -> ControlFlow<()>,
    is_stopped: bool,
}

impl Player<'_> {
    fn start(&mut self, task: u32, start: &mut Start) {
        self.played.starts[task as usize] = self.now;
        let tag = u64::from(task);
        match self.script.work[task as usize] {
            Work::Pause(time) => {
                self.missing[task as usize] = 1;
                start.push(Flow { from: PAUSE, to: 0, bytes: time.get().max(0.0), tag });
            }
            Work::Move { class, amount } => {
                let units = self.bundle.classes.get(class as usize).map_or(&[][..], Vec::as_slice);
                let bytes = amount.get().max(0.0);
                self.missing[task as usize] = units.len().max(1) as u32;
                for &unit in units {
                    self.played.moved[unit as usize] += bytes;
                    start.push(Flow { from: unit, to: 0, bytes, tag });
                }
                if units.is_empty() {
                    // A class that meets no links takes its ideal time.
                    start.push(Flow { from: PAUSE, to: 0, bytes, tag });
                }
            }
            Work::Endless { class } => {
                for &unit in self.bundle.classes.get(class as usize).into_iter().flatten() {
                    start.push(Flow { from: unit, to: 0, bytes: f64::INFINITY, tag });
                }
            }
        }
    }
}

impl Traffic for Player<'_> {
    fn begin(&mut self, start: &mut Start) {
        let first: Vec<u32> =
            (0..self.waits.len() as u32).filter(|task| self.waits[*task as usize] == 0).collect();
        for task in first {
            self.start(task, start);
        }
    }

    fn clock(&mut self, now: f64) {
        self.now = Seconds::new(now);
    }

    fn goes_on(&mut self) -> bool {
        !self.is_beyond && self.now <= self.limit
    }

    fn arrived(&mut self, tag: u64, start: &mut Start) {
        let task = tag as usize;
        self.missing[task] -= 1;
        // Active messages arrive; no new ones start.
        if self.missing[task] > 0 || self.is_stopped {
            return;
        }
        self.ended += 1;
        if self.ended.is_multiple_of(MOST_LISTED) {
            self.is_stopped = (self.watch)(self.ended).is_break();
        }
        self.played.ends[task] = self.now;
        if let Some(rest) = self.after.and_then(|after| after.get(task)) {
            // Sums in a different order are rounded in another way.
            self.is_beyond |= self.now + *rest > self.limit * (1.0 + ROUNDING);
        }
        for index in self.followers.of(task as u32) {
            let next = self.followers.next[index];
            self.waits[next as usize] -= 1;
            if self.waits[next as usize] == 0 {
                self.start(next, start);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pause(seconds: f64) -> Work {
        Work::Pause(Seconds::new(seconds))
    }

    /// The least that remains is the longest path: the whole of it without contention, and nothing of a
    /// circle.
    #[test]
    fn the_least_of_a_step_is_its_longest_path() {
        let mut script = Script::default();
        let first = script.add(pause(1.0), []);
        let short = script.add(pause(2.0), [first]);
        let long = script.add(Work::Move { class: 0, amount: Seconds::new(5.0) }, [first]);
        script.add(pause(0.5), [short, long]);
        let bundle = Bundle::free(1);
        let rests = script.rests(&bundle).expect("no circle");
        assert_eq!(rests.whole, script.play(&bundle).expect("played").duration);
        assert_eq!(rests.after.iter().map(|rest| rest.get()).collect::<Vec<_>>(), [5.5, 0.5, 0.5, 0.0]);
        // Known from the end of the first task on; a limit that is met changes nothing.
        let within = |seconds: f64| {
            let limit = (Seconds::new(seconds), Some(&rests));
            let played = script.play_within(&bundle, limit, &mut |_| ControlFlow::Continue(()));
            played.expect("played").map(|played| played.duration.get())
        };
        assert_eq!((within(6.4), within(6.5)), (None, Some(6.5)));
        script.follow(long, first);
        assert_eq!(script.rests(&bundle), None);
    }
}
