//! Map over tensor- and pipeline-parallel sizes: the fastest layout of each pair, or its missing memory.
//!
//! Responsible for: one search per pair of sizes, and its result as figures. Excludes drawing.

use crate::Refused;
use crate::question::Question;
use crate::searcher::{SearchResults, Searcher};
use railwright_spec::problem::Problem;
use railwright_spec::quantity::{Bytes, Seconds};
use railwright_tuner::search::Search;
use serde::Serialize;

/// All layouts with one tensor- and one pipeline-parallel size.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cell {
    /// Cluster as named by the user.
    pub cluster: String,
    /// Number of devices.
    pub devices: u64,
    /// Tensor-parallel size.
    pub tensor: u64,
    /// Pipeline-parallel size.
    pub pipeline: u64,
    /// Result of the search.
    pub outcome: Outcome,
}

/// Result of a cell.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "is")]
pub enum Outcome {
    /// At least one layout fits.
    Fits {
        /// Step time of the fastest layout, allocator retries included.
        step_time: Seconds,
        /// Throughput in tokens per second over all devices.
        tokens_per_second: f64,
        /// Layout as flags.
        layout: String,
    },
    /// No layout fits. The figures are those of the layout with the least memory.
    OutOfMemory {
        /// Missing memory per device for the required probability of fitting.
        lacks: Bytes,
        /// Memory of a device.
        device_memory: Bytes,
        /// Stage with the largest memory.
        stage: usize,
        /// Layout as flags.
        layout: String,
    },
    /// The sizes multiply to the number of devices, but no layout with them is valid.
    Invalid,
    /// The search was stopped before the cell was complete.
    Unsearched,
}

/// Cells of all searches, by search, tensor- and pipeline-parallel size.
pub(super) fn cells(
    asked: &dyn Question,
    searcher: &Searcher<'_>,
    searches: &[Search<'_>],
    indices: &[usize],
) -> Result<Vec<Cell>, Refused> {
    if searches.iter().any(Search::is_simulated) {
        let problem =
            Problem::new("the map runs one search per cell, which is too slow with simulated collectives");
        return Err(problem.in_file("--map").hint("omit --map or --network flow").into());
    }
    let mut degrees: Vec<(usize, u64, u64)> = Vec::new();
    let mut narrowed: Vec<Search<'_>> = Vec::new();
    for (search, &index) in searches.iter().zip(indices) {
        for (tensor, pipeline) in search.cells() {
            degrees.push((index, tensor, pipeline));
            narrowed.push(search.for_cell(tensor, pipeline));
        }
    }
    let ran = searcher.run(&narrowed);
    let each = degrees.into_iter().zip(&narrowed).zip(&ran);
    let cell =
        |(((index, tensor, pipeline), search), ran): (((usize, u64, u64), &Search<'_>), &SearchResults)| {
            let setting = asked.settings().get(index)?;
            let outcome = outcome(search, ran, |plan| setting.layout(plan));
            let (cluster, devices) = (setting.word.clone(), search.cluster.devices);
            Some(Cell { cluster, devices, tensor, pipeline, outcome })
        };
    Ok(each.filter_map(cell).collect())
}

fn outcome(
    search: &Search<'_>,
    ran: &SearchResults,
    layout: impl Fn(&railwright_spec::plan::Plan) -> String,
) -> Outcome {
    if !ran.is_complete {
        return Outcome::Unsearched;
    }
    let found = search.outcome(&ran.results);
    if let Some(best) = found.candidates.first() {
        return Outcome::Fits {
            step_time: best.step_time,
            tokens_per_second: best.tokens_per_second,
            layout: layout(&best.plan),
        };
    }
    match found.nearest_misses.first() {
        Some(miss) => Outcome::OutOfMemory {
            lacks: miss.missing,
            device_memory: miss.device_memory,
            stage: miss.memory.stage,
            layout: layout(&miss.plan),
        },
        None => Outcome::Invalid,
    }
}
