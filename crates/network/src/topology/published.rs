//! Published systems, counted again.
//!
//! Responsible for: comparing the generator with published tables (`catalog/network/superpod_tables.csv`),
//! given the parameters of each system (`catalog/network/published_designs.csv`), and the reasons for rows
//! that cannot be compared. No system is referred to by name.

use super::graph::Layer;
use super::{Counts, DesignSpec, SideNetwork};
use railwright_spec::problem::Problem;
use railwright_spec::run::Sheet;
use serde::Serialize;

/// The published tables.
pub const TABLES: &str = railwright_catalog::SUPERPOD_TABLES;
const DESIGNS: &str = railwright_catalog::PUBLISHED_DESIGNS;

/// Quantity in each column of the tables.
const COLUMNS: [&str; 9] = [
    "leaf",
    "spine",
    "core",
    "cables_node_leaf",
    "cables_leaf_spine",
    "cables_spine_core",
    "switches",
    "transceivers",
    "circuit_ports",
];

/// One count, published and here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Compared {
    /// The column of the table.
    pub column: &'static str,
    /// Published value.
    pub published: u64,
    /// Generated value.
    pub here: u64,
}

/// One row of the tables.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Row {
    /// The system.
    pub system: String,
    /// Its size in the vendor's units.
    pub size: String,
    /// Devices.
    pub devices: u64,
    /// The compared design, as a design file; empty if there is none.
    pub design: String,
    /// Counts that can be compared.
    pub compared: Vec<Compared>,
    /// Reason why a row, or a part of it, is not compared; empty if all of it is.
    pub reason: String,
    /// Remark on the row.
    pub note: String,
    /// True if the table marks the row as derived from rules.
    pub marked_derivable: bool,
    /// Publication of the row.
    pub source: String,
}

impl Row {
    /// Tests whether all compared values agree, and at least one is compared.
    pub fn agrees(&self) -> bool {
        !self.compared.is_empty() && self.compared.iter().all(|c| c.published == c.here)
    }
}

struct Table {
    header: csv::StringRecord,
    records: Vec<csv::StringRecord>,
}

impl Table {
    fn read(text: &str, file: &str) -> Result<Self, Problem> {
        let broken = |error: csv::Error| Problem::new(error.to_string()).in_file(file);
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let header = reader.headers().map_err(broken)?.clone();
        let records = reader.records().collect::<Result<_, _>>().map_err(broken)?;
        Ok(Self { header, records })
    }

    fn cell<'a>(&self, record: &'a csv::StringRecord, name: &str) -> &'a str {
        let column = self.header.iter().position(|known| known == name);
        column.and_then(|column| record.get(column)).unwrap_or_default()
    }
}

/// Every row of the published tables.
pub fn rows() -> Result<Vec<Row>, Problem> {
    let tables = Table::read(TABLES, "catalog/network/superpod_tables.csv")?;
    let designs = Table::read(DESIGNS, "catalog/network/published_designs.csv")?;
    let mut rows = Vec::new();
    for record in &tables.records {
        let cell = |name: &str| tables.cell(record, name);
        let of_system = |d: &&csv::StringRecord| designs.cell(d, "system") == cell("system");
        // A line for this size overrides the line for all sizes.
        let field = designs
            .records
            .iter()
            .filter(of_system)
            .filter(|d| ["", cell("su")].contains(&designs.cell(d, "su")))
            .max_by_key(|d| designs.cell(d, "su").len());
        let field = |name: &str| field.map_or("", |d| designs.cell(d, name));
        let design = field("design").replace("; ", "\n");
        let mut row = Row {
            system: cell("system").to_owned(),
            size: cell("su").to_owned(),
            devices: cell("gpus").parse().unwrap_or(0),
            compared: Vec::new(),
            reason: field("reason").to_owned(),
            note: cell("note").to_owned(),
            marked_derivable: cell("generator_rule_matches") == "yes",
            source: cell("url").to_owned(),
            design,
        };
        if !row.design.is_empty() {
            let Sheet { mut spec, .. } =
                Sheet::<DesignSpec>::parse(&row.design, "catalog/network/published_designs.csv")?;
            // Nodes times devices of a node if both are known: one printed number of devices is a misprint.
            let nodes: Option<u64> = cell("nodes").parse().ok();
            row.devices = match (nodes, row.devices) {
                (Some(nodes), devices) if !devices.is_multiple_of(nodes.max(1)) => {
                    nodes * spec.domain.unwrap_or(1)
                }
                (_, devices) => devices,
            };
            spec.devices = Some(row.devices);
            let design = spec.resolve()?;
            // The line of a side network names it.
            let side = design.side.iter().find(|side| side.purpose.name() == field("network"));
            let counts = side.map_or_else(|| design.counts(), SideNetwork::counts);
            let links_per_cable = spec.links_per_cable.unwrap_or(1);
            for column in COLUMNS {
                let skipped = field("not_compared").split(' ').any(|skipped| skipped == column);
                if let (Some(published), false) = (leading_number(cell(column)), skipped) {
                    let here = count(&counts, column, links_per_cable, cell("cables_spine_core").is_empty());
                    row.compared.push(Compared { column, published, here });
                }
            }
        }
        rows.push(row);
    }
    Ok(rows)
}

/// The number that a cell starts with, times the ports that it names: `960 x 400G (8 per Agg)`, `15360 GPUs x
/// 2 ports`.
fn leading_number(cell: &str) -> Option<u64> {
    let digits: String = cell.chars().take_while(char::is_ascii_digit).collect();
    let first: u64 = digits.parse().ok()?;
    let ports =
        cell.strip_suffix(" ports").and_then(|rest| rest.rsplit_once(" x ")).and_then(|p| p.1.parse().ok());
    Some(first * ports.unwrap_or(1))
}

fn count(counts: &Counts, column: &str, links_per_cable: u64, is_all_in_one: bool) -> u64 {
    let cables = |layer| counts.links_in(layer).div_ceil(links_per_cable);
    match column {
        "leaf" => counts.switches_in("leaf") + counts.switches_in("router"),
        "spine" => counts.switches_in("spine"),
        "core" => counts.switches_in("core"),
        "cables_node_leaf" => cables(Layer::Access),
        // A table without a column for the upper layer counts all links between switches in one.
        "cables_leaf_spine" if is_all_in_one => {
            counts.links().div_ceil(links_per_cable) - cables(Layer::Access)
        }
        "cables_leaf_spine" => cables(Layer::LeafSpine),
        "switches" => counts.switches(),
        "transceivers" => counts.transceivers(),
        "circuit_ports" => counts.circuit_ports,
        _ => cables(Layer::SpineCore),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_that_is_marked_derivable_is_reproduced() {
        let rows = rows().expect("well formed");
        assert!(rows.len() >= 40);
        let mut derivable = 0;
        for row in &rows {
            if row.marked_derivable {
                derivable += 1;
                assert!(row.agrees() && row.reason.is_empty(), "{row:?}");
                assert!(row.compared.len() >= 3, "{row:?}");
            } else if !row.agrees() {
                assert!(row.compared.is_empty() && row.reason.len() > 20, "{row:?}");
            }
        }
        assert!(derivable >= 28, "{derivable}");
    }

    #[test]
    fn rows_that_are_not_marked_are_reproduced_or_have_a_reason() {
        let rows = rows().expect("well formed");
        let of = |system: &str| rows.iter().find(|row| row.system.starts_with(system)).expect("listed");
        // HPN: 240 leaves, 120 spines, 30,720 + 14,400 + 960 links from published port counts.
        let pod = of("HPN pod (any");
        assert!(pod.agrees() && pod.compared.len() == 5, "{pod:?}");
        // The system of 140 nodes is reproduced with its rails as pods.
        let symmetric = rows.iter().find(|row| row.size == "7" && row.devices == 1120).expect("listed");
        assert!(symmetric.agrees() && symmetric.compared.len() == 6, "{symmetric:?}");
        assert!(rows.iter().filter(|row| !row.agrees()).count() <= 8);
    }

    /// Totals that were published without their tiers: of clusters of 512 to 131,072 devices, and of toruses.
    #[test]
    fn totals_of_large_clusters_and_toruses() {
        let rows = rows().expect("well formed");
        let of = |system: &str| -> Vec<&Row> {
            rows.iter().filter(|row| row.system.starts_with(system)).collect()
        };
        let sheet = of("H100 price sheet");
        assert!(sheet.len() == 9 && sheet.iter().all(|row| row.agrees()), "{sheet:?}");
        let here: Vec<u64> = sheet.iter().map(|row| row.compared[0].here).collect();
        assert_eq!(here, [8, 48, 96, 192, 384, 768, 2560, 5120, 10_240]);
        // 96 optical ends at each of 64 and of 144 cubes.
        let ends = |system: &str| of(system)[0].compared.iter().map(|c| c.here).collect::<Vec<_>>();
        assert_eq!((ends("TPU v4"), ends("TPU7x")), (vec![64 * 96, 48 * 128], vec![144 * 96]));
        assert!(of("TPU v4")[0].agrees() && of("TPU7x")[0].agrees());
    }

    /// Networks of the servers of one system, each compared with its own counts.
    #[test]
    fn side_networks_of_a_published_system() {
        let rows = rows().expect("well formed");
        let of = |system: &str| rows.iter().find(|row| row.system.ends_with(system)).expect("listed");
        for (system, compared) in
            [("in-band Ethernet", 3), ("out-of-band Ethernet", 1), ("storage NDR IB", 2)]
        {
            let row = of(system);
            assert!(row.agrees() && row.compared.len() == compared, "{row:?}");
        }
        assert_eq!(of("out-of-band Ethernet").compared[0].here, 8);
    }

    #[test]
    fn the_largest_pods_of_hpn() {
        // arXiv/SIGCOMM 2024 (10.1145/3651890.3672265): 15,360 devices in a pod, 122,880 with rail-only above
        // the leaves.
        for (kind, devices) in [("dual-plane", 15_360), ("rail-only", 122_880)] {
            let text = format!(
                "kind = \"{kind}\"\ndomain = 8\nplanes = 2\nradix = 128\nport_speed = \"400 Gbit/s\"\nhosts_per_leaf = 128\n\
                 backup_ports = 8\ntiers = 3\nspine_oversubscription = 15.0\npods = 1\n"
            );
            let mut spec = Sheet::<DesignSpec>::parse(&text, "pod").expect("valid").spec;
            spec.devices = Some(devices);
            let counts = spec.resolve().expect("it is built").counts();
            assert_eq!(counts.switches_in("leaf") * 128, devices * 2);
            assert_eq!(counts.switches_in("spine"), devices / 128);
            spec.devices = Some(devices + 8);
            assert!(spec.resolve().is_err(), "{kind}");
        }
    }
}
