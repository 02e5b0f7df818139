//! Report of a simulated step: from the closed form to the step by dimension, and the busiest links.

mod placement;

use crate::network::tables::{layers, waits};
use railwright_calculator::memory::Fit;
use railwright_report::document::{Block, Cell, Column, Document, Table, Tone};
use railwright_report::{Answer, Terminal};
use railwright_spec::human;
use railwright_spec::quantity::Seconds;
use railwright_tuner::simulate::Simulation;
use serde::Serialize;

/// A result with the defaults chosen for it.
pub struct Simulated {
    /// Model and machine.
    pub title: String,
    /// Settings that were not specified.
    pub chosen: Vec<String>,
    /// Memory verdict of the run.
    pub fit: Fit,
    /// The simulated step.
    pub simulation: Simulation,
    /// True on a fabric from a file.
    pub is_on_file: bool,
}

/// Fields in JSON.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SimulatedFields<'a> {
    #[serde(flatten)]
    simulation: &'a Simulation,
    title: &'a str,
    /// Memory verdict of the run.
    fit: Fit,
    /// Settings that were not specified.
    chosen: &'a [String],
}

impl Answer for Simulated {
    const KIND: &'static str = "network_simulate";

    type Json<'a> = SimulatedFields<'a>;

    fn json(&self) -> SimulatedFields<'_> {
        SimulatedFields {
            simulation: &self.simulation,
            title: &self.title,
            fit: self.fit,
            chosen: &self.chosen,
        }
    }

    /// From the closed form to the simulated step, regardless of the other sections.
    fn csv(&self) -> String {
        let mut document = Document::default();
        document.table(changes(&self.simulation));
        railwright_report::csv(&document)
    }

    fn document(&self, _: Terminal) -> Document {
        let simulation = &self.simulation;
        let mut document = Document::default();
        // One hash seed is a draw; over several, the step is their median.
        let (step_time, of) = match simulation.over_seeds {
            Some(over) => (over.median, format!(", the median of {} hash seeds", over.seeds)),
            None => (simulation.step_time, String::new()),
        };
        // Below the last digit of a percentage.
        let how = match step_time / simulation.closed_form - 1.0 {
            longer if longer.abs() < 5e-4 => "the same as".to_owned(),
            longer => format!("{} longer than", human::percent(longer)),
        };
        document.verdict(format!(
            "{}{} per step on {}{of}: {how} in closed form",
            self.fit.caveat(),
            human::seconds(step_time),
            simulation.topology
        ));
        document.spans(vec![Cell::new(self.title.as_str(), Tone::Strong)]);
        document.chosen(&self.chosen);
        document.heading_with(
            format!("step on {}", simulation.topology),
            format!("{} devices, routing {}", human::whole(simulation.devices), simulation.routing),
        );
        document.pairs(vec![
            ("step time", Cell::seconds(step_time).toned(Tone::Strong)),
            ("over seeds", seeds(simulation).into()),
            ("closed form", Cell::seconds(simulation.closed_form)),
            ("failed parts", simulation.failed.join(", ").into()),
            ("other jobs", background(simulation).into()),
        ]);
        placement::write(&mut document, simulation);
        document.heading("change from closed form to simulation");
        document.table(changes(simulation));
        document.heading("communication by dimension");
        document.table(dimensions(simulation));
        document.heading_with("waits of pipeline stages", "time without compute, by its cause");
        document.table(waits::table(&simulation.waits));
        document.heading("links");
        document.table(layers::table(&simulation.layers));
        document.blocks.push(Block::Bullets(remarks(simulation)));
        document.details(|details| {
            details.heading("notes");
            details.blocks.push(Block::Bullets(DEFINITIONS.map(Cell::from).to_vec()));
        });
        let failures = if self.is_on_file { "" } else { "; `--fail PART` simulates a failure" };
        document.next_step(format!("`--routing ecmp --seeds 16` simulates hash collisions{failures}"));
        document
    }
}

fn seeds(simulation: &Simulation) -> String {
    simulation.over_seeds.map_or_else(String::new, |over| {
        format!(
            "median {}, 90th percentile {}, range {} to {} over {} hash seeds; the tables show seed {} with {}",
            human::seconds(over.median),
            human::seconds(over.p90),
            human::seconds(over.least),
            human::seconds(over.most),
            over.seeds,
            over.first,
            human::seconds(simulation.step_time)
        )
    })
}

fn background(simulation: &Simulation) -> String {
    simulation.background.map_or_else(String::new, |jobs| {
        let who = if jobs.spare_only { "unused devices" } else { "every device" };
        format!("{who}, up to {} of its network bandwidth", human::percent(jobs.load))
    })
}

/// Slowdown relative to communication alone that indicates full queues.
const CONGESTED: f64 = 1.5;

fn difference(time: Seconds, of: Seconds) -> Cell {
    // Rounding is not a difference.
    if time.get().abs() < 1e-9 * of.get() {
        return Cell::number("none", 0.0);
    }
    let sign = if time.get() < 0.0 { "-" } else { "+" };
    Cell::number(format!("{sign}{}", human::seconds(Seconds::new(time.get().abs()))), time.get())
}

fn changes(simulation: &Simulation) -> Table {
    let first = vec!["closed form".into(), Cell::seconds(simulation.closed_form), Cell::from("")];
    let rest = simulation.changes.iter().map(|change| {
        vec![
            change.what.into(),
            Cell::seconds(change.step_time),
            difference(change.cost, simulation.closed_form),
        ]
    });
    Table {
        columns: vec![
            Column::words("effect"),
            Column::numbers("step").unit("s"),
            Column::numbers("added time").unit("s"),
        ],
        rows: std::iter::once(first).chain(rest).collect(),
    }
}

fn dimensions(simulation: &Simulation) -> Table {
    let rows = simulation.dimensions.iter().map(|row| {
        let slow = Cell::number(format!("{:.3}", row.slowdown), row.slowdown);
        vec![
            if row.dimension == "shard" { "FSDP" } else { row.dimension }.into(),
            Cell::whole(u64::from(row.stage)),
            Cell::whole(row.exchanges as u64),
            Cell::seconds(row.closed_form),
            Cell::seconds(row.alone),
            Cell::seconds(row.in_step),
            if row.slowdown > CONGESTED { slow.toned(Tone::Bad) } else { slow },
        ]
    });
    Table {
        columns: vec![
            Column::words("dimension"),
            Column::numbers("stage").expendable(2),
            Column::numbers("operations").expendable(3),
            Column::numbers("closed form").unit("s"),
            Column::numbers("alone").unit("s").expendable(1),
            Column::numbers("within step").unit("s"),
            Column::numbers("slowdown"),
        ],
        rows: rows.collect(),
    }
}

/// Meaning of the tables.
const DEFINITIONS: [&str; 2] = [
    "dimensions: all communication of a step, overlapped or not, on the slowest stage; alone: one dimension without the others; slowdown: within the step, relative to alone",
    "links: directed; busy: share of the step in which traffic of this run occupies the links, at attained rates (below the capacity)",
];

fn remarks(simulation: &Simulation) -> Vec<Cell> {
    let mut remarks = vec![Cell::from(if simulation.is_exact {
        "process groups of a dimension are equivalent in this network, so one per dimension is simulated"
    } else {
        "approximate: process groups of a dimension differ on this network; the slowest determines the time"
    })];
    if simulation.routing == "ecmp" && simulation.over_seeds.is_none() {
        remarks.push(Cell::from("routes: of one hash seed; --seeds 16 shows the distribution over seeds"));
    }
    if simulation.dimensions.iter().any(|row| row.slowdown > CONGESTED) {
        remarks.push(Cell::new(
            "lossless Ethernet (PFC): pauses are not simulated; flows next to a congested receiver can take 7 to 27 times as long",
            Tone::Doubtful,
        ));
    }
    if simulation.routing == "adaptive" {
        remarks.push(Cell::from(if simulation.detours.is_empty() {
            "adaptive routing: minimal routes, which are at least as fast for each dimension alone".to_owned()
        } else {
            format!(
                "adaptive routing: non-minimal routes for {}, minimal routes for all others",
                simulation.detours.join(", ")
            )
        }));
    }
    remarks
}
