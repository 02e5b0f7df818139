//! End of the reductions of gradients after a pipeline.
//!
//! Responsible for: a step by itself, and the interval of consecutive steps under schedules that validate the
//! optimizer afterwards. Excludes the part of a reduction that is hidden by passes.

use super::PipelineSummary;
use railwright_spec::quantity::Seconds;

/// Times of a pipeline that determine when its gradients are reduced.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GradientEnds {
    duration: Seconds,
    /// The longest own step of a stage; `None` if all stages wait for each other.
    cycle: Option<Seconds>,
    /// Start of a stage and the end of its gradients.
    stages: Vec<(Seconds, Seconds)>,
}

/// Time from the start of a step to the end of all reductions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reduced {
    /// In a step by itself.
    pub alone: Seconds,
    /// In a sequence of steps, from a step to the next.
    pub in_sequence: Seconds,
}

impl GradientEnds {
    /// The times of a pipeline, whose schedule may validate afterwards.
    pub fn new(summary: &PipelineSummary, validates_afterwards: bool) -> Self {
        Self {
            duration: summary.duration,
            cycle: validates_afterwards.then_some(summary.cycle),
            stages: summary.start.iter().copied().zip(summary.gradients_end.iter().copied()).collect(),
        }
    }

    /// The pipeline alone: its duration, or the interval of consecutive steps.
    pub fn pipeline(&self) -> Seconds {
        self.cycle.unwrap_or(self.duration)
    }

    /// End times of the gradient reductions, from the exposed time of each stage.
    ///
    /// By itself, a step takes `max over s of max(duration, end of gradients + exposed)`. If the optimizer is
    /// validated afterwards (Qi et al. 2023, section 4), a stage begins its next step after its own
    /// reduction, without the others. Steps then follow each other at the longest own step of a stage:
    /// `max over s of max(cycle, end of gradients + exposed - start)`.
    pub fn reduced(&self, exposed: impl IntoIterator<Item = Seconds>) -> Reduced {
        let mut ends = Reduced { alone: self.duration, in_sequence: self.pipeline() };
        for (&(start, end), exposed) in self.stages.iter().zip(exposed) {
            let own_start = if self.cycle.is_some() { start } else { Seconds::ZERO };
            ends.alone = ends.alone.max(end + exposed);
            ends.in_sequence = ends.in_sequence.max(end + exposed - own_start);
        }
        ends
    }
}
