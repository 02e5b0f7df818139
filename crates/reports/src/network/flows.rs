//! Flows of a table: the makespan, the slowest flows, and the links.

use crate::network::tables::layers;
use railwright_network::simulate::LayerLoad;
use railwright_report::document::{Block, Cell, Column, Document, Table, Tone};
use railwright_report::{Answer, Terminal};
use railwright_spec::human;
use railwright_spec::problem::Warning;
use railwright_spec::quantity::{Bytes, BytesPerSecond, Seconds};
use railwright_tuner::simulate::quantile;
use serde::Serialize;

/// A table of flows with simulated times.
#[derive(Default)]
pub struct Answered {
    /// Name of the network.
    pub network: String,
    /// Name of the routing.
    pub routing: &'static str,
    /// Number of devices.
    pub devices: u32,
    /// Names of the devices in the file of a fabric; empty on a design, whose devices are numbers.
    pub device_names: Vec<String>,
    /// Settings that were not specified.
    pub chosen: Vec<String>,
    /// Makespans of every seed, in order.
    pub makespans: Vec<Seconds>,
    /// Load of the links by layer.
    pub layers: Vec<LayerLoad>,
    /// Flows, slowest first.
    pub flows: Vec<Shown>,
    /// A command for the next question.
    pub next: String,
    /// Doubts.
    pub warnings: Vec<Warning>,
}

/// A flow with its times.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Shown {
    /// Name in the table.
    pub name: String,
    /// Sending device.
    pub source: u32,
    /// Receiving device.
    pub destination: u32,
    /// Size.
    pub bytes: Bytes,
    /// Start of the flow.
    pub begin: Seconds,
    /// End of the flow.
    pub end: Seconds,
    /// Upper bound on the end on a lossless network (PFC, credits), for flows that pauses at a congested
    /// receiver may delay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latest_end: Option<Seconds>,
}

/// Maximum number of flows in a report; `--ends` and JSON have all.
const LISTED: usize = 20;

impl Shown {
    fn time(&self) -> Seconds {
        self.end - self.begin
    }
}

fn sorted(times: impl Iterator<Item = Seconds>) -> Vec<Seconds> {
    let mut times: Vec<Seconds> = times.collect();
    times.sort_by(|a, b| a.get().total_cmp(&b.get()));
    times
}

/// Fields in JSON.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FlowsFields<'a> {
    network: &'a str,
    routing: &'static str,
    devices: u32,
    /// Settings that were not specified.
    chosen: &'a [String],
    /// Time until the last flow ends, with the first seed.
    makespan: Option<Seconds>,
    over_seeds: OverSeeds,
    /// Load of the links, by layer.
    layers: &'a [LayerLoad],
    flows: &'a [Shown],
    /// Number of flows that pauses at a congested receiver may delay.
    held_up: usize,
    /// Upper bound on the makespan with such pauses.
    latest_makespan: Option<Seconds>,
}

/// Makespans over hash seeds.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct OverSeeds {
    seeds: usize,
    median: Seconds,
    p90: Seconds,
}

impl Answer for Answered {
    const KIND: &'static str = "network_flows";

    type Json<'a> = FlowsFields<'a>;

    fn json(&self) -> FlowsFields<'_> {
        let makespans = sorted(self.makespans.iter().copied());
        FlowsFields {
            network: &self.network,
            routing: self.routing,
            devices: self.devices,
            chosen: &self.chosen,
            makespan: self.makespans.first().copied(),
            over_seeds: OverSeeds {
                seeds: makespans.len(),
                median: quantile(&makespans, 0.5),
                p90: quantile(&makespans, 0.9),
            },
            layers: &self.layers,
            flows: &self.flows,
            held_up: self.held().0,
            latest_makespan: self.held().1,
        }
    }

    fn document(&self, _: Terminal) -> Document {
        let mut document = Document::default();
        let flows = human::whole(self.flows.len() as u64);
        let counted = human::several(self.flows.len() as u64, "flow");
        document.verdict(self.verdict(&counted));
        document.chosen(&self.chosen);
        let remark = format!("{} devices, routing {}", human::whole(u64::from(self.devices)), self.routing);
        document.heading_with("flows", remark);
        let times = sorted(self.flows.iter().map(Shown::time));
        let over = match self.makespans.len() {
            1 => String::new(),
            n => format!(
                "median {}, 90th percentile {} over {n} hash seeds",
                human::seconds(self.makespan(0.5)),
                human::seconds(self.makespan(0.9))
            ),
        };
        document.pairs(vec![
            ("makespan", Cell::seconds(self.makespan(0.5)).toned(Tone::Strong)),
            ("over hash seeds", over.into()),
            ("median flow time", Cell::seconds(quantile(&times, 0.5))),
            ("99th percentile of flow times", Cell::seconds(quantile(&times, 0.99))),
        ]);
        if let (held, Some(latest)) = self.held() {
            document.blocks.push(Block::Bullets(vec![
                format!(
                    "{} of {flows} flows share links with traffic to congested receivers: on a lossless network (PFC, credits) they end \
                     between `end` and `latest end`, depending on buffers and congestion control",
                    human::whole(held as u64)
                )
                .into(),
                format!("the makespan with such pauses is at most {}", human::seconds(latest)).into(),
            ]));
        }
        let shown = self.flows.len().min(LISTED);
        document.heading_with("slowest flows", format!("{shown} of {flows}, longest first"));
        document.table(self.slowest());
        document.heading("links");
        document.table(layers::table(&self.layers));
        let mut remarks: Vec<Cell> = vec![
            "rates: max-min fair; queues, pauses and congestion control are not simulated".into(),
            "links: directed; busy: share of the makespan that the bytes take at full rate".into(),
        ];
        if let [first, _, ..] = *self.makespans.as_slice() {
            let first = human::seconds(first);
            remarks
                .push(format!("flows and links: of the first hash seed, with a makespan of {first}").into());
        }
        document.blocks.push(Block::Bullets(remarks));
        document.next_step(format!("`{}`", self.next));
        document
    }
}

impl Answered {
    /// A quantile of the makespan over hash seeds. The makespan of several is their median.
    fn makespan(&self, share: f64) -> Seconds {
        quantile(&sorted(self.makespans.iter().copied()), share)
    }

    /// The makespan, and the links that take most of it.
    fn verdict(&self, flows: &str) -> String {
        let of = match self.makespans.len() {
            0 | 1 => String::new(),
            seeds => format!(", the median of {seeds} hash seeds"),
        };
        let busiest = self.layers.iter().max_by(|a, b| a.busiest.total_cmp(&b.busiest));
        let busiest = busiest.filter(|layer| layer.busiest > 0.0).map_or_else(String::new, |layer| {
            format!("; busiest link: {} ({}, {})", layer.link, layer.layer, human::percent(layer.busiest))
        });
        let take = if flows.starts_with("1 ") { "takes" } else { "take" };
        format!("{flows} on {} {take} {}{of}{busiest}", self.network, human::seconds(self.makespan(0.5)))
    }

    /// Name of a device in its file, else its number.
    pub fn device(&self, number: u32) -> String {
        self.device_names.get(number as usize).cloned().unwrap_or_else(|| number.to_string())
    }

    /// Number of flows that may be delayed, and the latest end of all flows if there are any.
    fn held(&self) -> (usize, Option<Seconds>) {
        let held = self.flows.iter().filter(|flow| flow.latest_end.is_some()).count();
        let end = |flow: &Shown| flow.latest_end.unwrap_or(flow.end);
        let latest = self.flows.iter().map(end).chain(self.makespans.first().copied());
        (held, (held > 0).then(|| latest.fold(Seconds::ZERO, Seconds::max)))
    }

    fn slowest(&self) -> Table {
        let is_held = self.held().0 > 0;
        let mut flows: Vec<&Shown> = self.flows.iter().collect();
        flows.sort_by(|a, b| b.time().get().total_cmp(&a.time().get()));
        let is_named = !self.device_names.is_empty();
        let device = |number: u32| {
            if is_named { self.device(number).into() } else { Cell::whole(u64::from(number)) }
        };
        let column = if is_named { Column::words } else { Column::numbers };
        let rows = flows.into_iter().take(LISTED).map(|flow| {
            let time = flow.time();
            let rate =
                BytesPerSecond::new(if time.get() > 0.0 { flow.bytes.get() / time.get() } else { 0.0 });
            let mut row = vec![
                flow.name.as_str().into(),
                device(flow.source),
                device(flow.destination),
                Cell::number(human::bytes(flow.bytes), flow.bytes.get()),
                Cell::seconds(flow.begin),
                Cell::seconds(flow.end),
                Cell::number(format!("{:.2} GB/s", rate.gb()), rate.gb()),
            ];
            if is_held {
                row.push(flow.latest_end.map_or_else(Cell::default, Cell::seconds));
            }
            row
        });
        let mut columns = vec![
            Column::words("flow"),
            column("source"),
            column("destination"),
            Column::numbers("size").unit("bytes").expendable(1),
            Column::numbers("begin").unit("s"),
            Column::numbers("end").unit("s"),
            Column::numbers("mean rate").unit("gb_s"),
        ];
        if is_held {
            columns.push(Column::numbers("latest end").unit("s"));
        }
        Table { columns, rows: rows.collect() }
    }
}
