//! Published collectives of whole clusters compared with the closed form and with flows.
//!
//! Responsible for: predictions for a table with the columns of `catalog/evidence/collectives_at_scale.csv`,
//! errors by fabric, collective and size, and rows without a prediction with the reason. A publication
//! without a topology is simulated on the reference design, which the row states. Contains no names of
//! sources or rows.

use super::curve::{Point, Question, closed_form, curve};
use super::network::Network;
use crate::flows::wiring;
use railwright_calculator::collectives::Collective;
use railwright_calculator::validation::statistics::{ErrorSummary, summarize};
use railwright_calculator::validation::table::{Cells, read};
use railwright_network::simulate::Wiring;
use railwright_network::topology::{DesignSpec, Routing};
use railwright_spec::cluster::{Cluster, by_name, from_parts, preset_names};
use railwright_spec::human;
use railwright_spec::problem::Problem;
use railwright_spec::quantity::{Bytes, BytesPerSecond, Seconds};
use serde::Serialize;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// Hash seeds of predictions with hashed routes.
const SEEDS: u32 = 16;
/// Number of GPUs of the largest node with a separate scale-up domain (DGX-2).
const LARGEST_NODE: u64 = 16;
/// Maximum number of GPUs of a row.
const MOST_GPUS: u64 = 1 << 20;

/// Model of the predictions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Predictor {
    /// The closed form alone.
    Closed,
    /// The closed form and flows.
    Flow,
}

/// A table of measured collectives with predictions.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NetworkValidation {
    /// The file.
    pub file: String,
    /// Model of the predictions.
    pub predictor: Predictor,
    /// All rows in their order.
    pub rows: Vec<MeasuredCollective>,
    /// Errors by fabric and collective, then by size.
    pub groups: Vec<FabricErrors>,
    /// Errors of all predicted rows.
    pub overall: Errors,
    /// Errors by source.
    pub sources: BTreeMap<String, Errors>,
    /// Rows without a prediction, by reason.
    pub skipped: BTreeMap<String, usize>,
}

/// One row.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MeasuredCollective {
    /// Line in the file, from 1.
    pub line: usize,
    /// Publication.
    pub source: String,
    /// Its URL.
    pub url: Option<String>,
    /// Accelerator as published.
    pub gpu: Option<String>,
    /// Ranks.
    pub ranks: Option<u64>,
    /// Fabric as published.
    pub fabric: String,
    /// Collective by its name in nccl-tests.
    pub operation: String,
    /// Bytes by nccl-tests' convention.
    pub bytes: Option<Bytes>,
    /// Measured bus bandwidth.
    pub measured: Option<BytesPerSecond>,
    /// Closed form, without contention.
    pub closed_form: Option<Prediction>,
    /// Flows on a network without oversubscription, with packet spraying.
    pub flow: Option<Prediction>,
    /// Flows on the same network with one hash per connection (ECMP), median over hash seeds.
    pub hashed: Option<Prediction>,
    /// Topology of the flows, if the publication has none.
    pub assumed: Option<String>,
    /// Reason for the lack of a prediction.
    pub skipped: Option<String>,
}

/// A prediction.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Prediction {
    /// Bus bandwidth.
    pub bus_bandwidth: BytesPerSecond,
    /// Algorithm of the library.
    pub algorithm: &'static str,
    /// Predicted over measured bus bandwidth, minus 1: positive if the predicted bandwidth is too high.
    pub error: f64,
}

/// Errors of some rows.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Errors {
    /// Rows.
    pub rows: usize,
    /// Errors of the closed form; positive bias is too fast.
    pub closed_form: Option<ErrorSummary>,
    /// Errors of flows with packet spraying.
    pub flow: Option<ErrorSummary>,
    /// Errors of flows with hashed routes.
    pub hashed: Option<ErrorSummary>,
}

/// Errors of one collective on one fabric.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FabricErrors {
    /// Accelerator as published.
    pub gpu: String,
    /// Ranks.
    pub ranks: u64,
    /// Fabric as published.
    pub fabric: String,
    /// Collective.
    pub operation: String,
    /// Errors of all sizes.
    pub errors: Errors,
    /// Indices in `rows`, by size.
    pub rows: Vec<usize>,
}

impl FabricErrors {
    /// The collective and its ranks, as `all-reduce on 64 x H100-80G-SXM`.
    pub fn name(&self) -> String {
        format!("{} on {} x {}", self.operation.replace('_', "-"), human::whole(self.ranks), self.gpu)
    }
}

/// Predicts every row of a table. `watch` receives the number of finished rows and their total, and may stop
/// the work, which is an error.
pub fn validate_network(
    text: &str,
    file: &str,
    predictor: Predictor,
    watch: &mut dyn FnMut(usize, usize) -> ControlFlow<()>,
) -> Result<NetworkValidation, Problem> {
    let table = read(text, file)?;
    if table.iter().all(|cells| cells.text("bus_gbps").is_none()) {
        return Err(Problem::new("the table has no measured `bus_gbps`")
            .in_file(file)
            .hint("the header must be that of catalog/evidence/collectives_at_scale.csv"));
    }
    let mut rows = Vec::with_capacity(table.len());
    for (index, cells) in table.iter().enumerate() {
        if watch(index, table.len()).is_break() {
            return Err(Problem::new("stopped before all rows were predicted").in_file(file));
        }
        rows.push(predicted(cells, predictor));
    }
    let mut skipped = BTreeMap::new();
    for reason in rows.iter().filter_map(|row| row.skipped.clone()) {
        *skipped.entry(reason).or_insert(0) += 1;
    }
    let mut sources: BTreeMap<String, Vec<&MeasuredCollective>> = BTreeMap::new();
    for row in &rows {
        sources.entry(row.source.clone()).or_default().push(row);
    }
    let sources = sources.into_iter().map(|(source, rows)| (source, errors(&rows))).collect();
    let (groups, overall) = (groups(&rows), errors(&rows.iter().collect::<Vec<_>>()));
    Ok(NetworkValidation { file: file.to_owned(), predictor, rows, groups, overall, sources, skipped })
}

/// A row with its predictions, or the reason for having none.
fn predicted(cells: &Cells, predictor: Predictor) -> MeasuredCollective {
    let text = |column: &str| cells.text(column).unwrap_or_default().to_owned();
    let positive = |column: &str| cells.number(column).filter(|value| *value > 0.0);
    let mut row = MeasuredCollective {
        line: cells.line,
        source: text("source"),
        url: cells.text("url").map(str::to_owned),
        gpu: cells.text("gpu").map(str::to_owned),
        ranks: cells.count("n_gpus"),
        fabric: text("fabric"),
        operation: text("operation"),
        bytes: positive("bytes").map(Bytes::new),
        measured: positive("bus_gbps").map(BytesPerSecond::from_gb),
        closed_form: None,
        flow: None,
        hashed: None,
        assumed: None,
        skipped: None,
    };
    if let Err(reason) = predict(cells, predictor, &mut row) {
        row.skipped = Some(reason);
    }
    row
}

fn predict(cells: &Cells, predictor: Predictor, row: &mut MeasuredCollective) -> Result<(), String> {
    let lacks = |column: &str| format!("no `{column}`");
    let gpu = row.gpu.as_deref().ok_or_else(|| lacks("gpu"))?;
    let ranks = row.ranks.ok_or_else(|| lacks("n_gpus"))?;
    let bytes = row.bytes.ok_or_else(|| lacks("bytes"))?;
    let measured = row.measured.ok_or_else(|| lacks("bus_gbps"))?;
    if !(2..=MOST_GPUS).contains(&ranks) {
        return Err(format!("{ranks} ranks are not between 2 and {MOST_GPUS}"));
    }
    let operation = Collective::by_name(&row.operation)
        .ok_or_else(|| format!("unknown collective `{}`", row.operation))?;
    let cluster = cluster(cells, gpu, ranks, &row.fabric)?;
    let (sizes, groups) = ([bytes], [(0..ranks as u32).collect::<Vec<_>>()]);
    let over = |algorithm: &'static str, bus: BytesPerSecond| Prediction {
        bus_bandwidth: bus,
        algorithm,
        error: bus / measured - 1.0,
    };
    let design = |routing: Option<Routing>| {
        wiring(&cluster, &DesignSpec { routing, ..DesignSpec::default() }, &[])
            .map_err(|problem| problem.message)
    };
    let question = |seeds: u32| Question { operation, sizes: &sizes, groups: &groups, seeds };
    let plain = design(None)?;
    if predictor == Predictor::Closed {
        let found = closed_form(&cluster, Network::Design(&plain), &question(1));
        let [(bus, algorithm)] = found.map_err(|problem| problem.message)?[..] else {
            return Err("no prediction".to_owned());
        };
        row.closed_form = Some(over(algorithm, bus));
        return Ok(());
    }
    let on = |wiring: &Wiring, seeds: u32| -> Result<(Point, String), String> {
        let found =
            curve(&cluster, Network::Design(wiring), &question(seeds)).map_err(|problem| problem.message)?;
        let point = found.points.first().copied().ok_or("no prediction")?;
        Ok((point, found.topology))
    };
    let (sprayed, topology) = on(&plain, 1)?;
    row.closed_form = Some(over(sprayed.algorithm, sprayed.closed_form_bus));
    row.flow = Some(over(sprayed.algorithm, sprayed.bus_bandwidth));
    if ranks > cluster.scale_up.domain_size {
        row.assumed = Some(format!("{topology}, 1:1"));
        let (hashed, _) = on(&design(Some(Routing::Ecmp))?, SEEDS)?;
        row.hashed = Some(over(hashed.algorithm, hashed.bus_bandwidth));
    }
    Ok(())
}

/// The machine of a row. Domains of a node have the GPUs of its nodes; those of a rack are the preset's.
fn cluster(cells: &Cells, gpu: &str, ranks: u64, fabric: &str) -> Result<Cluster, String> {
    let nic = cells.number("nic_gbps").filter(|speed| *speed > 0.0).map(BytesPerSecond::from_gbit);
    let mut cluster =
        from_parts(gpu, ranks, cells.count("gpus_per_node"), nic).map_err(|problem| problem.to_string())?;
    if cluster.scale_up.domain_size <= LARGEST_NODE {
        cluster.scale_up.domain_size = cluster.devices_per_node;
    }
    let fabric = fabric.to_ascii_lowercase();
    let named = ["InfiniBand", "RoCE", "EFA", "Omni-Path", "Ethernet"];
    if let Some(kind) = named.into_iter().find(|kind| fabric.contains(&kind.to_ascii_lowercase())) {
        kind.clone_into(&mut cluster.network.kind);
        if let Some(latency) = latency(&cluster) {
            cluster.network.latency = latency;
        }
    } else if ranks > cluster.scale_up.domain_size {
        return Err("unknown kind of network".to_owned());
    }
    let whole = cluster.scale_up.domain_size.clamp(1, ranks);
    cluster.devices = ranks.next_multiple_of(whole);
    Ok(cluster)
}

/// Latency of the catalogue's first cluster with the same accelerator and kind of network.
fn latency(cluster: &Cluster) -> Option<Seconds> {
    let known = preset_names().into_iter().filter_map(|name| by_name(name, cluster.devices).ok());
    let mut same = known.filter(|preset| {
        preset.accelerator.id == cluster.accelerator.id && preset.network.kind == cluster.network.kind
    });
    same.next().map(|preset| preset.network.latency)
}

fn errors(rows: &[&MeasuredCollective]) -> Errors {
    let of = |prediction: fn(&MeasuredCollective) -> Option<Prediction>| {
        let errors: Vec<f64> = rows.iter().filter_map(|row| Some(prediction(row)?.error)).collect();
        summarize(&errors)
    };
    Errors {
        rows: rows.len(),
        closed_form: of(|row| row.closed_form),
        flow: of(|row| row.flow),
        hashed: of(|row| row.hashed),
    }
}

/// Predicted rows by accelerator, ranks, fabric and collective, in the order of their first row.
fn groups(rows: &[MeasuredCollective]) -> Vec<FabricErrors> {
    let mut groups: Vec<FabricErrors> = Vec::new();
    for (position, row) in rows.iter().enumerate() {
        let (Some(gpu), Some(ranks), Some(_)) = (&row.gpu, row.ranks, row.closed_form) else { continue };
        let known = groups.iter_mut().find(|group| {
            group.gpu == *gpu
                && group.ranks == ranks
                && group.fabric == row.fabric
                && group.operation == row.operation
        });
        match known {
            Some(group) => group.rows.push(position),
            None => groups.push(FabricErrors {
                gpu: gpu.clone(),
                ranks,
                fabric: row.fabric.clone(),
                operation: row.operation.clone(),
                errors: Errors::default(),
                rows: vec![position],
            }),
        }
    }
    for group in &mut groups {
        let size = |position: &usize| rows[*position].bytes.map_or(0.0, Bytes::get);
        group.rows.sort_by(|a, b| size(a).total_cmp(&size(b)));
        group.errors = errors(&group.rows.iter().map(|&position| &rows[position]).collect::<Vec<_>>());
    }
    groups
}
