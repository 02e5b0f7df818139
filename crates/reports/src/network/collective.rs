//! A collective over sizes as a table and as a chart.

use crate::network::tables::layers;
use railwright_calculator::collectives::MEASURED_RACKS;
use railwright_network::picture::{self, Lines};
use railwright_report::document::{Block, Cell, Column, Document, Table, Tone};
use railwright_report::{Answer, Terminal, words};
use railwright_spec::human;
use railwright_spec::quantity::BytesPerSecond;
use railwright_tuner::collective::{Curve, Point};
use serde::Serialize;

/// A curve with the defaults chosen for the command.
pub struct Answered {
    /// Machine and ranks.
    pub machine: String,
    /// Settings that were not specified.
    pub chosen: Vec<String>,
    /// True on a fabric without lengths of cables.
    pub ignores_cable_latencies: bool,
    /// Bandwidth by size.
    pub curve: Curve,
    /// A command for the next question.
    pub next: String,
}

/// Names of sizes below a chart; more would overlap.
const MOST_NAMES: usize = 10;

/// Fields in JSON.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CollectiveFields<'a> {
    #[serde(flatten)]
    curve: &'a Curve,
    title: String,
    /// Settings that were not specified.
    chosen: &'a [String],
    /// True if latencies of cables have no effect, because those of the cluster are used (a fabric from a
    /// file).
    ignores_cable_latencies: bool,
}

impl Answer for Answered {
    const KIND: &'static str = "network_collective";

    type Json<'a> = CollectiveFields<'a>;

    fn json(&self) -> CollectiveFields<'_> {
        CollectiveFields {
            curve: &self.curve,
            title: self.title(),
            chosen: &self.chosen,
            ignores_cable_latencies: self.ignores_cable_latencies,
        }
    }

    fn document(&self, _: Terminal) -> Document {
        let curve = &self.curve;
        let mut document = Document::default();
        document.verdict(self.verdict());
        document.chosen(&self.chosen);
        document.heading_with(format!("{} on {}", self.operation(), curve.topology), self.placement());
        document.pairs(vec![
            ("slowdown", slowdown(curve).into()),
            ("failed parts", curve.failed.join(", ").into()),
        ]);
        document.table(points(curve));
        document.heading("links");
        document.table(layers::table(&curve.layers));
        document.blocks.push(Block::Bullets(remarks(curve)));
        document.next_step(format!("`{}`", self.next));
        document
    }
}

impl Answered {
    fn operation(&self) -> String {
        words(self.curve.operation).replace(['_', ' '], "-")
    }

    fn title(&self) -> String {
        let ranks = human::whole(self.curve.ranks * self.curve.groups as u64);
        format!("{} on {ranks} x {}", self.operation(), self.machine)
    }

    /// The bus bandwidth of the largest message, and the slowdown by the network.
    fn verdict(&self) -> String {
        let Some(last) = self.curve.points.last() else { return self.title() };
        format!(
            "{}: {:.1} GB/s bus bandwidth with {}",
            self.title(),
            last.bus_bandwidth.gb(),
            human::bytes(last.bytes),
        )
    }

    fn placement(&self) -> String {
        let curve = &self.curve;
        let groups = match curve.groups {
            1 => String::new(),
            n => format!("{n} concurrent process groups, each with "),
        };
        let domains = match curve.domains {
            1 => "1 scale-up domain".to_owned(),
            n => format!("{} scale-up domains", human::whole(n)),
        };
        format!("{groups}{} ranks in {domains}, routing {}", human::whole(curve.ranks), curve.routing)
    }

    /// Bus bandwidth over message size.
    pub fn svg(&self) -> String {
        let points = &self.curve.points;
        let every = points.len().div_ceil(MOST_NAMES).max(1);
        let place = |(n, point): (usize, &Point)| {
            if n % every == 0 { human::bytes(point.bytes) } else { String::new() }
        };
        let of = |name: &str, value: &dyn Fn(&Point) -> BytesPerSecond| picture::Curve {
            name: name.to_owned(),
            values: points.iter().map(|point| Some(value(point).gb())).collect(),
        };
        let mut curves = vec![
            of("topology", &|point| point.bus_bandwidth),
            of("closed form", &|point| point.closed_form_bus),
        ];
        if self.curve.slowdown.seeds > 1 {
            curves.push(of("90th percentile of hash seeds", &|point| {
                point.bus_bandwidth * (point.time / point.time_p90)
            }));
        }
        picture::lines(&Lines {
            title: format!("{}, {}", self.title(), self.curve.topology),
            across: "message size".to_owned(),
            places: points.iter().enumerate().map(place).collect(),
            up: "bus bandwidth, GB/s".to_owned(),
            curves,
        })
    }
}

fn slowdown(curve: &Curve) -> String {
    let spread = curve.slowdown;
    if spread.seeds > 1 {
        format!(
            "median {:.3}, 90th percentile {:.3} over {} hash seeds",
            spread.median, spread.p90, spread.seeds
        )
    } else {
        format!("{:.3}", spread.median)
    }
}

fn points(curve: &Curve) -> Table {
    let has_seeds = curve.slowdown.seeds > 1;
    let gb = |rate: BytesPerSecond| Cell::number(format!("{:.1} GB/s", rate.gb()), rate.gb());
    let rows = curve.points.iter().map(|point| {
        let mut row = vec![
            Cell::number(human::bytes(point.bytes), point.bytes.get()),
            point.algorithm.into(),
            Cell::seconds(point.closed_form),
            gb(point.closed_form_bus),
            Cell::seconds(point.time).toned(Tone::Strong),
        ];
        if has_seeds {
            row.push(Cell::seconds(point.time_p90));
        }
        row.extend([gb(point.algorithm_bandwidth), gb(point.bus_bandwidth).toned(Tone::Strong)]);
        row
    });
    let mut columns = vec![
        Column::numbers("size").unit("bytes"),
        Column::words("algorithm").expendable(1),
        Column::numbers("closed form").unit("s").expendable(2),
        Column::numbers("closed form busbw").unit("gb_s").expendable(3),
        Column::numbers("time").unit("s"),
    ];
    if has_seeds {
        columns.push(Column::numbers("time p90").unit("s"));
    }
    columns.extend([Column::numbers("algbw").unit("gb_s"), Column::numbers("busbw").unit("gb_s")]);
    Table { columns, rows: rows.collect() }
}

fn remarks(curve: &Curve) -> Vec<Cell> {
    let mut remarks = vec![
        Cell::from(
            "closed form: same ranks and NICs without contention, with the fastest algorithm and protocol",
        ),
        Cell::from("slowdown: transfer time on the topology relative to full NIC speed, without latency"),
        Cell::from(
            "links: directed; busy: share of the collective's transfer time that the bytes take at full rate",
        ),
    ];
    let open = curve.points.iter().rev().find_map(|point| point.unmeasured.map(|bounds| (point, bounds)));
    if let Some((point, [least, most])) = open {
        let [near, far] = MEASURED_RACKS;
        remarks.push(Cell::new(
            format!(
                "{} racks: published all-reduces are over {near} and {far}; from these, {} takes {} to {}",
                human::whole(curve.domains),
                human::bytes(point.bytes),
                human::seconds(least),
                human::seconds(most)
            ),
            Tone::Doubtful,
        ));
    }
    if curve.slowdown.median > 1.5 {
        remarks.push(Cell::new(
            "lossless Ethernet (PFC): pauses are not simulated; other flows next to a congested receiver can take 7 to 27 times as long",
            Tone::Doubtful,
        ));
    }
    remarks
}
