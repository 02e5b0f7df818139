//! The script of a step, with the meaning of its tasks.

use super::classes::Dim;
use railwright_network::simulate::{Doing, Script, Work};
use railwright_spec::quantity::Seconds;

/// The script of a step, with the meaning of its tasks.
pub(super) struct Staged {
    pub(super) script: Script,
    /// Exchanges: their tasks with dimension, stage, closed-form time, and its latency part.
    pub(super) moves: Vec<Moved>,
    /// Work of the tasks with a duration.
    pub(super) works: Vec<(u32, Doing)>,
    /// The task that ends the step, except for jitter.
    pub(super) end: u32,
    /// Overlap of the next step with the end of the pipeline, if steps overlap.
    pub(super) earlier: Seconds,
}

impl Staged {
    /// Adds a task of a duration, with its work.
    pub(super) fn pause(&mut self, time: Seconds, doing: Doing, after: impl IntoIterator<Item = u32>) -> u32 {
        let task = self.script.add(Work::Pause(time), after);
        self.works.push((task, doing));
        task
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Moved {
    pub(super) task: u32,
    pub(super) class: u32,
    pub(super) dimension: Dim,
    pub(super) stage: u32,
    pub(super) latency: Seconds,
    pub(super) amount: Seconds,
}
