//! Memory of each stage by kind, and of one stage over a step.

use crate::{Refused, Resolved, memory_report, title};
use railwright_calculator::memory::MemoryReport;
use railwright_calculator::timeline::{Detail, timeline_with};
use railwright_spec::problem::{Problem, Warning};
use railwright_spec::quantity::{Rank, Seconds};
use railwright_step::Step;
use railwright_step::memory::{Held, MemoryKind, Peak, curve, fullest, peaks};
use serde::Serialize;

/// Number of time intervals of a step.
const PIECES: usize = 256;

/// Memory of a run.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Memory {
    /// Title: the run in one line.
    pub title: String,
    /// Memory of every stage, item by item.
    #[serde(rename = "memory")]
    pub report: MemoryReport,
    /// Index of the stage in `over_time`.
    pub stage: usize,
    /// Memory of that stage over the step; empty if a step has too many passes to draw.
    pub over_time: OverTime,
    /// Reason why `over_time` is empty.
    #[serde(skip)]
    pub left_out: Option<Problem>,
    /// Warnings about the plan.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
    /// Defaults of unspecified settings.
    #[serde(skip)]
    pub chosen: Vec<String>,
}

/// Memory of one stage over a step.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OverTime {
    /// Total memory at each change: seconds since the step began, and bytes.
    #[serde(skip)]
    pub curve: Vec<(f64, f64)>,
    /// Peak bytes in equal time intervals of the step, over all kinds.
    pub highest_bytes: Vec<i64>,
    /// Bytes by kind at those peaks, without kinds that are always zero.
    pub parts: Vec<KindOverTime>,
    /// Step time.
    #[serde(rename = "duration")]
    pub end: Seconds,
    /// Peak with its time; `None` without events.
    pub peak: Option<PeakMemory>,
}

/// Peak memory of one rank over a step.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PeakMemory {
    /// Rank.
    pub rank: Rank,
    /// First time of the peak since the step began.
    pub time: Seconds,
    /// Number of bytes.
    pub bytes: i64,
    /// Bytes by kind, largest first, without zeros.
    pub parts: Vec<(MemoryKind, i64)>,
}

/// Computes the memory of a run, and that of one stage over the step; `None`: the stage with the least free
/// memory.
pub fn memory(resolved: &Resolved, stage: Option<usize>) -> Result<Memory, Refused> {
    let run = &resolved.run;
    // An unknown generation must not be priced as another one.
    railwright_calculator::software::by_id(&run.plan.software)?;
    let report = memory_report(run)?;
    let stage = stage.unwrap_or(report.worst);
    if stage >= report.stages.len() {
        let problem = Problem::new(format!("there is no stage {stage}")).in_file("--stage");
        return Err(problem
            .hint(format!("stages go from 0 to {}", report.stages.len().saturating_sub(1)))
            .into());
    }
    let drawn = timeline_with(&run.model, &run.cluster, &run.plan, Detail::Passes);
    let (over_time, left_out) = match drawn {
        Ok(step) => (OverTime::of(&step, stage), None),
        Err(problem) => (OverTime::default(), Some(problem)),
    };
    let (warnings, chosen) = (resolved.warnings.clone(), resolved.chosen.clone());
    Ok(Memory { title: title(run), report, stage, over_time, left_out, warnings, chosen })
}

impl OverTime {
    fn of(step: &Step, stage: usize) -> Self {
        let rank = step.ranks.get(stage);
        let points = rank.map(|rank| curve(&rank.memory)).unwrap_or_default();
        let until = step.start + step.duration();
        let pieces: Vec<Held> =
            rank.map(|rank| fullest(&rank.memory, step.start, until, PIECES)).unwrap_or_default();
        let of = |kind: MemoryKind| KindOverTime {
            kind,
            bytes: pieces.iter().map(|held| held[kind as usize]).collect(),
        };
        Self {
            curve: points.iter().map(|&(t, b)| ((t - step.start).seconds().get(), b as f64)).collect(),
            highest_bytes: pieces.iter().map(|held| held.iter().sum()).collect(),
            parts: MemoryKind::ALL
                .into_iter()
                .map(of)
                .filter(|part| part.bytes.iter().any(|n| *n != 0))
                .collect(),
            end: step.duration().seconds(),
            peak: rank.and_then(|rank| peaks(step).into_iter().find(|peak| peak.rank == rank.rank)).map(
                |Peak { rank, time, bytes, parts }| PeakMemory {
                    rank,
                    time: (time - step.start).seconds(),
                    bytes,
                    parts,
                },
            ),
        }
    }
}

/// Memory of one kind over the step.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KindOverTime {
    /// Kind of memory.
    pub kind: MemoryKind,
    /// Bytes of this kind at the peak of each interval.
    pub bytes: Vec<i64>,
}
