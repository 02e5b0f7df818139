//! The traffic report: a summary, and the requested table.

use crate::network::tables::placement;
use railwright_calculator::memory::Fit;
use railwright_network::bill::layer_name;
use railwright_network::placement::{ByLevel, Survey};
use railwright_network::topology::{Design, Detail, Graph, Node, NodeId};
use railwright_network::traffic::{
    ByClass, DomainRow, LinkRow, PairClass, RailRow, Square, Summary, TrafficMatrix,
};
use railwright_report::document::{Block, Cell, Column, Document, Table, Tone};
use railwright_report::{Answer, Terminal, words};
use railwright_spec::human;
use railwright_spec::quantity::Bytes;
use serde::Serialize;

/// The result: the summary, and the requested sums.
pub struct Sums {
    /// Model, machine and plan.
    pub title: String,
    /// Settings that were not specified.
    pub chosen: Vec<String>,
    /// Memory verdict of the run.
    pub fit: Fit,
    /// Bytes by kind.
    pub summary: Summary,
    /// The network.
    pub design: Option<Design>,
    /// Placement on the hosts of an allocation.
    pub placement: Option<Placement>,
    /// Requested sums.
    pub view: View,
}

/// Placement of the ranks of an allocation, and the reach of their traffic.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Placement {
    /// Position of the hosts in the network.
    pub survey: Option<Survey>,
    /// Bytes of all ranks by the highest level that they pass.
    pub bytes: ByLevel,
    /// The same with ranks on the first devices of the network.
    pub contiguous: ByLevel,
}

/// Sums of traffic.
pub enum View {
    /// By kind of exchange.
    Kind,
    /// By class of pairs.
    Pair,
    /// By scale-up domain.
    Domain(Vec<DomainRow>),
    /// By rail.
    Rail(Vec<RailRow>, Vec<Square>),
    /// As a matrix.
    Matrix(TrafficMatrix),
    /// By link.
    Link {
        /// Links.
        rows: Vec<LinkRow>,
        /// The network.
        graph: Graph,
        /// Resolution of parallel links.
        detail: Detail,
        /// Bytes between domains that no network joins.
        unjoined: Bytes,
    },
}

/// Rows that a terminal shows of a long table.
const SHOWN: usize = 24;

/// Fields in JSON.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TrafficFields<'a> {
    title: &'a str,
    /// Settings that were not specified.
    chosen: &'a [String],
    /// Memory verdict of the run.
    fit: Fit,
    design: Option<&'a Design>,
    #[serde(flatten)]
    summary: &'a Summary,
    /// With an allocation of hosts.
    #[serde(skip_serializing_if = "Option::is_none")]
    placement: Option<&'a Placement>,
    /// With `--by domain`.
    #[serde(skip_serializing_if = "Option::is_none")]
    domains: Option<&'a [DomainRow]>,
    /// With `--by rail`.
    #[serde(skip_serializing_if = "Option::is_none")]
    rails: Option<&'a [RailRow]>,
    /// With `--by rail`.
    #[serde(skip_serializing_if = "Option::is_none")]
    squares: Option<&'a [Square]>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    matrix: Option<&'a TrafficMatrix>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    links: Option<LinksFields<'a>>,
}

/// With `--by link`.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct LinksFields<'a> {
    links: Vec<LinkFields<'a>>,
    /// True if a row represents several parallel links.
    links_pooled: bool,
    /// Bytes between domains that no network joins.
    unjoined: Bytes,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct LinkFields<'a> {
    #[serde(flatten)]
    row: &'a LinkRow,
    /// The busiest link.
    #[serde(skip_serializing_if = "Option::is_none")]
    busiest: Option<Ends>,
}

/// Names of the ends of a link.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct Ends {
    from: String,
    to: String,
}

impl Answer for Sums {
    const KIND: &'static str = "network_traffic";

    type Json<'a> = TrafficFields<'a>;

    fn json(&self) -> TrafficFields<'_> {
        let mut fields = TrafficFields {
            title: &self.title,
            chosen: &self.chosen,
            fit: self.fit,
            design: self.design.as_ref(),
            summary: &self.summary,
            placement: self.placement.as_ref(),
            domains: None,
            rails: None,
            squares: None,
            matrix: None,
            links: None,
        };
        match &self.view {
            View::Kind | View::Pair => {}
            View::Domain(rows) => fields.domains = Some(rows),
            View::Rail(rows, squares) => {
                fields.rails = Some(rows);
                fields.squares = Some(squares);
            }
            View::Matrix(squares) => fields.matrix = Some(squares),
            View::Link { rows, graph, detail, unjoined } => {
                let links = rows.iter().map(|row| LinkFields {
                    row,
                    busiest: row
                        .busiest
                        .map(|link| Ends { from: node(graph, link.from), to: node(graph, link.to) }),
                });
                fields.links = Some(LinksFields {
                    links: links.collect(),
                    links_pooled: *detail == Detail::Pooled,
                    unjoined: *unjoined,
                });
            }
        }
        fields
    }

    fn document(&self, _: Terminal) -> Document {
        let mut document = Document::default();
        let stays = human::percent(self.summary.inside_share);
        let (caveat, sent) = (self.fit.caveat(), amount(self.summary.sent));
        document.verdict(format!("{caveat}{sent} per step, {stays} within scale-up domains"));
        document.spans(vec![Cell::new(self.title.as_str(), Tone::Strong)]);
        document.chosen(&self.chosen);
        document.pairs(head(&self.summary, self.design.as_ref().map(|design| design.name.as_str())));
        if let Some(placement) = &self.placement {
            if let Some(survey) = &placement.survey {
                placement::write(&mut document, survey);
            }
            document.heading_with("levels", "bytes sent per step, by the highest level of the route");
            document.table(levels(placement));
        }
        match &self.view {
            View::Kind => {
                document.heading_with("operations", "bytes sent by all ranks per step");
                document.table(exchanges(&self.summary));
                document.heading_with("dimensions", "bytes sent by all ranks per step");
                document.table(dimensions(&self.summary));
            }
            View::Pair => {
                document.heading_with("pairs", "of a sender and a receiver");
                document.table(pairs(&self.summary));
            }
            View::Domain(rows) => {
                let more = left_out(rows.len());
                document.heading_with("domains", format!("bytes of each domain per step{more}"));
                document.table(domains(rows));
            }
            View::Rail(rows, _) => {
                let more = left_out(rows.len());
                document.heading_with("rails", format!("bytes between domains per step{more}"));
                document.table(rails(rows));
            }
            View::Matrix(squares) => {
                let more = left_out(squares.squares.iter().map(|square| square.cells.len()).sum());
                document.heading_with("matrix", format!("mean bytes per step between two ranks{more}"));
                let mut table = squares_table(squares);
                table.rows.truncate(SHOWN);
                document.table(table);
            }
            View::Link { rows, graph, detail, unjoined } => {
                let pooled =
                    if *detail == Detail::Pooled { "; the uplinks of a switch count as one" } else { "" };
                document.heading_with("links", format!("bytes by layer, per step{pooled}"));
                document.table(links(rows, graph));
                if *unjoined > Bytes::ZERO {
                    let text = format!("{} have no route to the receiver", amount(*unjoined));
                    document.spans(vec![Cell::new(text, Tone::Bad)]);
                }
            }
        }
        document.next_step("`railwright network simulate` adds the congestion of this traffic");
        document
    }

    fn csv(&self) -> String {
        // All rows, including those not shown on a terminal.
        let table = match &self.view {
            View::Kind => exchanges(&self.summary),
            View::Pair => pairs(&self.summary),
            View::Domain(rows) => domain_table(rows),
            View::Rail(rows, _) => rail_table(rows),
            View::Matrix(squares) => squares_table(squares),
            View::Link { rows, graph, .. } => links(rows, graph),
        };
        railwright_report::csv(&Document { blocks: vec![Block::Table(table)] })
    }
}

fn levels(placement: &Placement) -> Table {
    let rows =
        [("allocation", &placement.bytes), ("contiguous", &placement.contiguous)].map(|(name, bytes)| {
            vec![
                name.into(),
                cell(bytes.same_domain),
                cell(bytes.same_leaf_group),
                cell(bytes.same_pod),
                cell(bytes.other_pod),
                cell(bytes.other_rail),
            ]
        });
    Table {
        columns: vec![
            Column::words("hosts"),
            Column::numbers("within domains").unit("bytes"),
            Column::numbers("within leaf groups").unit("bytes"),
            Column::numbers("between leaf groups").unit("bytes"),
            Column::numbers("between pods").unit("bytes"),
            Column::numbers("to other rails").unit("bytes"),
        ],
        rows: rows.into(),
    }
}

fn left_out(rows: usize) -> String {
    if rows > SHOWN {
        format!("; {} more in CSV and JSON", human::whole((rows - SHOWN) as u64))
    } else {
        String::new()
    }
}

fn amount(bytes: Bytes) -> String {
    human::bytes_decimal(bytes)
}

fn cell(bytes: Bytes) -> Cell {
    let text = if bytes == Bytes::ZERO { String::new() } else { amount(bytes) };
    Cell::number(text, bytes.get())
}

fn share(share: f64) -> Cell {
    if share == 0.0 { Cell::number("", 0.0) } else { Cell::percent(share) }
}

/// Nearly all pairs are silent: 99.5% and 99.95% are worlds apart.
fn fine_percent(share: f64) -> String {
    format!("{:.3}%", share * 100.0)
}

fn head(summary: &Summary, design: Option<&str>) -> Vec<(&'static str, Cell)> {
    let place = &summary.place;
    vec![
        (
            "ranks",
            format!(
                "{} in {} of {} devices, {}",
                human::whole(place.ranks),
                human::several(place.domains(), "domain"),
                human::whole(place.domain),
                human::several(place.rails, "rail"),
            )
            .into(),
        ),
        ("network", design.unwrap_or_default().into()),
        (
            "sent per step",
            format!("{}, {} by each rank", amount(summary.sent), amount(summary.sent_per_rank)).into(),
        ),
        ("within domains", human::percent(summary.inside_share).into()),
        ("pairs without traffic", fine_percent(summary.silent_share).into()),
    ]
}

/// Shares of a row's bytes by class of pairs.
fn classes(by_class: &ByClass) -> [Cell; 3] {
    let total = by_class.total();
    PairClass::ALL.map(|class| share(if total > 0.0 { by_class.of(class) / total } else { 0.0 }))
}

fn class_columns() -> [Column; 3] {
    [
        Column::numbers("within domain").unit("share").expendable(1),
        Column::numbers("same rail").unit("share").expendable(3),
        Column::numbers("other rail").unit("share").expendable(4),
    ]
}

fn exchanges(summary: &Summary) -> Table {
    let mut columns = vec![
        Column::words("dimension"),
        Column::words("data"),
        Column::words("phase").expendable(8),
        Column::words("operation"),
        Column::words("algorithm").expendable(7),
        Column::numbers("ranks"),
        Column::numbers("groups").expendable(6),
        Column::numbers("bytes"),
        Column::numbers("count").expendable(5),
        Column::numbers("sent").unit("bytes"),
        Column::numbers("share").expendable(2),
    ];
    columns.extend(class_columns());
    let rows = summary.exchanges.iter().map(|row| {
        let mut cells = vec![
            words(row.dimension).into(),
            row.purpose.into(),
            row.phases.iter().map(words).collect::<Vec<_>>().join(", ").into(),
            words(row.kind).replace(' ', "-").into(),
            algorithm(row.algorithm).into(),
            Cell::whole(row.ranks),
            Cell::whole(row.groups),
            cell(row.bytes),
            Cell::number(count(row.count), row.count),
            cell(row.sent),
            share(row.share),
        ];
        cells.extend(classes(&row.by_class));
        cells
    });
    Table { rows: rows.collect(), columns }
}

fn algorithm(algorithm: railwright_network::traffic::Algorithm) -> String {
    use railwright_network::traffic::Algorithm;
    match algorithm {
        Algorithm::Dispatch { .. } => "dispatch".to_owned(),
        other => words(other),
    }
}

/// A count; averages over groups may be fractional.
fn count(n: f64) -> String {
    if n.fract() == 0.0 { human::whole(n as u64) } else { format!("{n:.1}") }
}

fn dimensions(summary: &Summary) -> Table {
    let mut columns =
        vec![Column::words("dimension"), Column::numbers("sent").unit("bytes"), Column::numbers("share")];
    columns.extend(class_columns());
    let rows = summary.dimensions.iter().map(|row| {
        let mut cells = vec![words(row.dimension).into(), cell(row.bytes), share(row.share)];
        cells.extend(classes(&row.by_class));
        cells
    });
    Table { rows: rows.collect(), columns }
}

fn pairs(summary: &Summary) -> Table {
    let columns = vec![
        Column::words("pairs"),
        Column::numbers("number"),
        Column::numbers("communicating"),
        Column::numbers("share of pairs").expendable(3),
        Column::numbers("sent").unit("bytes"),
        Column::numbers("share"),
        Column::numbers("mean per pair").unit("bytes").expendable(2),
        Column::numbers("maximum").unit("bytes").expendable(1),
    ];
    let name = |class: PairClass| match class {
        PairClass::SameDomain => "in one domain",
        PairClass::SameRail => "on one rail",
        PairClass::OtherRail => "on different rails",
    };
    let rows = summary.pairs.iter().map(|row| {
        let of_them = if row.pairs > 0 { row.talking as f64 / row.pairs as f64 } else { 0.0 };
        vec![
            name(row.class).into(),
            Cell::whole(row.pairs),
            Cell::whole(row.talking),
            Cell::number(fine_percent(of_them), of_them),
            cell(row.bytes),
            share(row.share),
            cell(row.mean),
            cell(row.most),
        ]
    });
    Table { rows: rows.collect(), columns }
}

fn domains(rows: &[DomainRow]) -> Table {
    domain_table(&rows[..rows.len().min(SHOWN)])
}

fn domain_table(rows: &[DomainRow]) -> Table {
    let columns = ["domain", "within", "sent", "received"].map(Column::numbers).into();
    let of =
        |row: &DomainRow| vec![Cell::whole(row.domain), cell(row.inside), cell(row.sent), cell(row.received)];
    Table { columns, rows: rows.iter().map(of).collect() }
}

fn rails(rows: &[RailRow]) -> Table {
    rail_table(&rows[..rows.len().min(SHOWN)])
}

fn rail_table(rows: &[RailRow]) -> Table {
    let columns = ["rail", "devices", "along the rail", "to other rails", "from other rails"]
        .map(Column::numbers)
        .into();
    let of = |row: &RailRow| {
        vec![
            Cell::whole(row.rail),
            Cell::whole(row.devices),
            cell(row.along),
            cell(row.sent),
            cell(row.received),
        ]
    };
    Table { columns, rows: rows.iter().map(of).collect() }
}

/// A line for each cell that has bytes; the first square is all dimensions together.
fn squares_table(squares: &TrafficMatrix) -> Table {
    let columns = vec![
        Column::words("dimension"),
        Column::words("from ranks"),
        Column::words("to ranks"),
        Column::numbers("mean").unit("bytes"),
    ];
    let span = |cell: u32| {
        let first = cell * squares.per_cell;
        let last = (first + squares.per_cell).min(squares.ranks).saturating_sub(1);
        if first == last { format!("{first}") } else { format!("{first} to {last}") }
    };
    let rows = squares.squares.iter().flat_map(|square| {
        square.cells.iter().map(move |&(from, to, mean)| {
            let dimension = square.dimension.map_or_else(|| "all".to_owned(), words);
            vec![dimension.into(), span(from).into(), span(to).into(), cell(Bytes::new(mean))]
        })
    });
    Table { rows: rows.collect(), columns }
}

fn links(rows: &[LinkRow], graph: &Graph) -> Table {
    let columns = vec![
        Column::words("layer"),
        Column::words("direction"),
        Column::numbers("links"),
        Column::numbers("used").expendable(3),
        Column::numbers("total").unit("bytes"),
        Column::numbers("mean").unit("bytes").expendable(2),
        Column::numbers("maximum").unit("bytes"),
        Column::numbers("busy").unit("s"),
        Column::words("busiest link").expendable(1),
    ];
    let of = |row: &LinkRow| {
        let ends = row.busiest.map(|link| format!("{} to {}", node(graph, link.from), node(graph, link.to)));
        vec![
            layer_name(row.layer).into(),
            words(row.direction).into(),
            Cell::whole(row.links),
            Cell::whole(row.used),
            cell(row.bytes),
            cell(row.mean),
            cell(row.most),
            Cell::seconds(row.busy),
            ends.unwrap_or_default().into(),
        ]
    };
    Table { columns, rows: rows.iter().map(of).collect() }
}

/// A node in words.
fn node(graph: &Graph, id: NodeId) -> String {
    match graph.node(id) {
        Node::Device(n) => format!("device {n}"),
        Node::Nic(n) => format!("NIC {n}"),
        Node::Domain(n) => format!("domain {n}"),
        Node::Switch(switch) => {
            let tier = match switch.tier {
                1 => "leaf",
                2 => "spine",
                _ => "core",
            };
            format!("{tier} {}", switch.index)
        }
    }
}
