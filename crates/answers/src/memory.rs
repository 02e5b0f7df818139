//! What fills each stage's memory, and one stage's memory over a step.

use crate::{Refused, Resolved, title};
use railwright_calculator::memory::{MemoryInput, MemoryReport, SoftwareCatalogue, report};
use railwright_calculator::timeline::{Detail, timeline_with};
use railwright_spec::problem::{Problem, Warning};
use railwright_spec::quantity::Seconds;
use railwright_step::Step;
use railwright_step::memory::{Held, MemoryKind, Peak, curve, fullest, peaks};
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

/// Into how many pieces of time a step is cut.
const PIECES: usize = 256;

/// Memory of a run.
#[derive(Clone, Debug)]
pub struct Memory {
    /// The run in one line.
    pub title: String,
    /// Every stage, item by item.
    pub report: MemoryReport,
    /// The stage that is shown over the step.
    pub stage: usize,
    /// That stage over the step; empty where a step has too many passes to draw.
    pub over_time: OverTime,
    /// The reason why it is empty.
    pub left_out: Option<Problem>,
    /// What is doubtful about the plan.
    pub warnings: Vec<Warning>,
}

/// Memory of one stage over a step.
#[derive(Clone, Debug, Default)]
pub struct OverTime {
    /// Seconds since the step began, and bytes.
    pub curve: Vec<(f64, f64)>,
    /// The highest in each of equal pieces of the step, by kind.
    pub pieces: Vec<Held>,
    /// Length of the step.
    pub end: Seconds,
    /// When it is fullest.
    pub peak: Option<Peak>,
}

/// Memory of a run, over the step on one stage: the worst where none is given.
pub fn memory(resolved: &Resolved, stage: Option<usize>) -> Result<Memory, Refused> {
    let run = &resolved.run;
    let catalogue = SoftwareCatalogue::shared()?;
    // An unknown generation must not be priced as another.
    railwright_calculator::software::by_id(&run.plan.software)?;
    let report = report(&MemoryInput {
        model: &run.model,
        cluster: &run.cluster,
        plan: &run.plan,
        software: catalogue.get(&run.plan.software),
        in_flight: None,
    });
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
    Ok(Memory { title: title(run), report, stage, over_time, left_out, warnings: resolved.warnings.clone() })
}

impl OverTime {
    fn of(step: &Step, stage: usize) -> Self {
        let rank = step.ranks.get(stage);
        let points = rank.map(|rank| curve(&rank.memory)).unwrap_or_default();
        let until = step.start + step.duration();
        Self {
            curve: points.iter().map(|&(t, b)| ((t - step.start).seconds().get(), b as f64)).collect(),
            pieces: rank.map(|rank| fullest(&rank.memory, step.start, until, PIECES)).unwrap_or_default(),
            end: step.duration().seconds(),
            peak: rank.and_then(|rank| peaks(step).into_iter().find(|peak| peak.rank == rank.rank)),
        }
    }
}

impl Serialize for Memory {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(4))?;
        map.serialize_entry("title", &self.title)?;
        map.serialize_entry("memory", &self.report)?;
        map.serialize_entry("stage", &self.stage)?;
        map.serialize_entry("over_time", &self.over_time)?;
        map.end()
    }
}

/// One kind of memory over the step.
#[derive(Serialize)]
struct KindOverTime {
    kind: MemoryKind,
    bytes: Vec<i64>,
}

impl Serialize for OverTime {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let highest: Vec<i64> = self.pieces.iter().map(|held| held.iter().sum()).collect();
        let parts: Vec<KindOverTime> = MemoryKind::ALL
            .into_iter()
            .map(|kind| KindOverTime {
                kind,
                bytes: self.pieces.iter().map(|held| held[kind as usize]).collect(),
            })
            .filter(|part| part.bytes.iter().any(|n| *n != 0))
            .collect();
        let mut map = serializer.serialize_map(Some(4))?;
        map.serialize_entry("duration", &self.end)?;
        map.serialize_entry("highest_bytes", &highest)?;
        map.serialize_entry("parts", &parts)?;
        map.serialize_entry("peak", &self.peak)?;
        map.end()
    }
}
