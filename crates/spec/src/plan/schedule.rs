//! Pipeline schedules and their properties.
//!
//! Responsible for: one file per schedule with its names, source, placement of chunks, micro-batches in
//! flight and refusals; and the placement that follows. `railwright_calculator::schedule` defines the order
//! of passes, in a file of the same name. A new schedule requires a variant and a line of [`Schedule::facts`]
//! here, and these two files.

mod dual_pipe;
mod facts;
mod gpipe;
mod one_forward_one_backward;
mod zb_h1;
mod zb_h2;
mod zb_v;

pub use facts::{Chunks, Counts, Need, Placement, Refusal, ScheduleFacts};

use crate::problem::Problem;
use crate::run::{Field, Kind, Value, no_choice, wrong};
use serde::{Deserialize, Serialize};

/// A pipeline schedule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Schedule {
    /// All forwards, then all backwards.
    Gpipe,
    /// One forward, one backward (PipeDream-flush); interleaved if there are virtual stages.
    #[default]
    #[serde(rename = "1f1b")]
    OneForwardOneBackward,
    /// Zero bubble with the memory of 1F1B.
    ZbH1,
    /// Zero bubble with twice the activations.
    ZbH2,
    /// Zero bubble over two chunks in a V, memory of 1F1B.
    ZbV,
    /// Bidirectional, two copies of the parameters (DeepSeek-V3).
    DualPipe,
}

impl Schedule {
    /// All schedules, the default first.
    pub const ALL: [Self; 6] =
        [Self::OneForwardOneBackward, Self::Gpipe, Self::ZbH1, Self::ZbH2, Self::ZbV, Self::DualPipe];

    /// Names in run files, in the order of [`Schedule::ALL`].
    pub const NAMES: [&'static str; 6] = {
        let mut names = [""; 6];
        let mut at = 0;
        while at < names.len() {
            names[at] = Self::ALL[at].facts().names[0];
            at += 1;
        }
        names
    };

    /// Properties of the schedule.
    pub const fn facts(self) -> &'static ScheduleFacts {
        match self {
            Self::Gpipe => &gpipe::FACTS,
            Self::OneForwardOneBackward => &one_forward_one_backward::FACTS,
            Self::ZbH1 => &zb_h1::FACTS,
            Self::ZbH2 => &zb_h2::FACTS,
            Self::ZbV => &zb_v::FACTS,
            Self::DualPipe => &dual_pipe::FACTS,
        }
    }

    /// Name in run files.
    pub const fn name(self) -> &'static str {
        self.facts().names[0]
    }

    /// Usual name, for this number of chunks per stage.
    pub fn label(self, virtual_stages: u64) -> &'static str {
        let facts = self.facts();
        facts.interleaved.filter(|_| virtual_stages > 1).unwrap_or(facts.label)
    }

    /// True if the passes of a stage alternate over several chunks.
    pub fn interleaves(self) -> bool {
        self.facts().interleaved.is_some()
    }

    /// True if weight gradients have passes of their own, separate from input gradients.
    pub const fn divides_backward(self) -> bool {
        self.facts().divides_backward
    }

    /// True if the optimizer step is validated afterwards, so that stages start the next step without waiting
    /// for each other (zero bubble, section 4).
    pub const fn validates_afterwards(self) -> bool {
        self.facts().validates_afterwards
    }

    /// True if micro-batches enter at both ends, so that each stage runs half of them in either direction.
    pub fn has_two_directions(self) -> bool {
        self.facts().placement == Placement::BothEnds
    }

    /// Copies of every parameter along a pipeline of `stages`: two if micro-batches enter at both ends.
    pub fn copies(self, stages: u64) -> u64 {
        if self.has_two_directions() && stages > 1 { 2 } else { 1 }
    }

    /// Chunks per stage: as required by the schedule, else the plan's virtual stages.
    pub fn chunks_per_stage(self, virtual_stages: u64) -> u64 {
        match self.facts().chunks {
            Chunks::Exactly(chunks) => chunks,
            Chunks::Any => virtual_stages.max(1),
        }
    }

    /// Virtual stages along the whole pipeline.
    pub fn chunk_count(self, stages: u64, virtual_stages: u64) -> u64 {
        stages.saturating_mul(self.chunks_per_stage(virtual_stages))
    }

    /// Chunks of a stage in ascending order; with two directions, its own and those of its mirror image.
    pub fn local_chunks(self, stages: u64, virtual_stages: u64, stage: u64) -> Vec<u64> {
        match self.facts().placement {
            Placement::Around => {
                (0..self.chunks_per_stage(virtual_stages)).map(|v| v * stages + stage).collect()
            }
            Placement::Vee => vec![stage, 2 * stages - 1 - stage],
            Placement::BothEnds if stages == 1 => vec![0],
            Placement::BothEnds => {
                let mirror = stages - 1 - stage;
                vec![stage.min(mirror), stage.max(mirror)]
            }
        }
    }

    /// Stage that runs a chunk for a micro-batch. The micro-batch matters only for schedules with two
    /// directions.
    pub fn stage_of(self, stages: u64, micro_batches: u64, chunk: u64, micro_batch: u64) -> u64 {
        let stages = stages.max(1);
        match self.facts().placement {
            Placement::Around => chunk % stages,
            Placement::Vee if chunk < stages => chunk,
            Placement::Vee => 2 * stages - 1 - chunk,
            Placement::BothEnds if micro_batch < micro_batches.div_ceil(2) => chunk,
            Placement::BothEnds => stages - 1 - chunk,
        }
    }

    /// Reasons to reject these counts, except the number of chunks.
    pub fn refusals(self, counts: Counts) -> impl Iterator<Item = Refusal> {
        (self.facts().refuses)(counts).into_iter().flatten()
    }

    /// True if the schedule runs with these counts.
    pub fn runs(self, counts: Counts) -> bool {
        let Counts { stages, virtual_stages, .. } = counts;
        let fits = match self.facts().chunks {
            Chunks::Any => virtual_stages > 0 && (virtual_stages == 1 || stages > 1),
            Chunks::Exactly(chunks) => stages > 1 && virtual_stages == chunks,
        };
        fits && self.refusals(counts).next().is_none()
    }

    /// Schedule named in a published text by any of its names; the default if there is none.
    pub fn named_in(text: &str) -> Self {
        let is_named = |one: &&Self| one.facts().names.iter().any(|name| text.contains(name));
        Self::ALL.iter().skip(1).find(is_named).copied().unwrap_or_default()
    }
}

impl Field for Schedule {
    const KIND: Kind = Kind::Choice(&Self::NAMES);

    fn read(value: &Value) -> Result<Self, Problem> {
        let Value::Text(text) = value else { return Err(wrong(Self::KIND, value)) };
        let text = text.trim().to_ascii_lowercase();
        let known = Self::ALL.into_iter().find(|one| one.facts().names.contains(&text.as_str()));
        known.ok_or_else(|| no_choice(Self::KIND, &Self::NAMES, &text))
    }

    fn write(&self) -> Value {
        Value::Text(self.name().to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every chunk is placed on the stages that hold it, and on no other.
    #[test]
    fn chunks_lie_where_their_passes_run() {
        for schedule in Schedule::ALL {
            for (stages, virtual_stages) in [(1, 1), (2, 1), (4, 1), (4, 2), (8, 2), (6, 3)] {
                let (each, m) = (schedule.chunks_per_stage(virtual_stages), 2 * stages);
                assert_eq!(schedule.chunk_count(stages, virtual_stages), stages * each);
                for stage in 0..stages {
                    let local = schedule.local_chunks(stages, virtual_stages, stage);
                    for chunk in 0..schedule.chunk_count(stages, virtual_stages) {
                        let runs = (0..m).any(|n| schedule.stage_of(stages, m, chunk, n) == stage);
                        assert_eq!(local.contains(&chunk), runs, "{schedule:?} {stages} {stage} {chunk}");
                    }
                }
            }
        }
    }

    #[test]
    fn names_are_read_and_belong_to_one_schedule() {
        let mut all: Vec<&str> = Vec::new();
        for schedule in Schedule::ALL {
            let facts = schedule.facts();
            for name in facts.names {
                assert_eq!(Schedule::read(&Value::Text(name.to_uppercase())), Ok(schedule));
                assert!(!all.contains(name), "{name}");
                all.push(name);
            }
            assert!(!facts.label.is_empty() && facts.source.contains("20"), "{schedule:?}");
        }
        assert_eq!(
            Schedule::named_in("megatron zbv, 8 stages"),
            Schedule::read(&Value::Text("zb-v".into())).expect("a name")
        );
        assert_eq!(Schedule::named_in("megatron, interleaved"), Schedule::default());
    }
}
