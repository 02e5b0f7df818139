//! `clusters`: presets, and a template for new ones.

use railwright_report::document::{Block, Cell, Column, Document, Table, Tone};
use railwright_report::{Answer, Terminal};
use railwright_spec::cluster::{Accelerator, Cluster, Host, Network, ScaleUp};
use railwright_spec::human;
use serde::Serialize;

/// A preset has no number of devices; values are shown for this number.
pub const SHOWN_DEVICES: u64 = 1024;

/// Presets of the catalogue.
pub struct Clusters(pub Vec<Cluster>);

/// One preset.
pub struct Preset {
    /// Its machine.
    pub cluster: Cluster,
    /// Its file in the catalogue.
    pub text: Option<&'static str>,
}

/// Fields in JSON.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClustersField<'a> {
    clusters: Vec<ClusterFields<'a>>,
}

/// A preset; presets have no number of devices.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct ClusterFields<'a> {
    name: &'a str,
    accelerator: &'a Accelerator,
    devices_per_node: u64,
    scale_up: &'a ScaleUp,
    network: &'a Network,
    host: &'a Host,
    /// Origin of the data.
    source: &'a str,
}

impl<'a> ClusterFields<'a> {
    fn of(cluster: &'a Cluster) -> Self {
        let Cluster { name, accelerator, devices_per_node, scale_up, network, host, source, .. } = cluster;
        Self { name, accelerator, devices_per_node: *devices_per_node, scale_up, network, host, source }
    }
}

impl Answer for Clusters {
    const KIND: &'static str = "clusters";

    type Json<'a> = ClustersField<'a>;

    fn json(&self) -> ClustersField<'_> {
        ClustersField { clusters: self.0.iter().map(ClusterFields::of).collect() }
    }

    fn document(&self, _: Terminal) -> Document {
        let columns = vec![
            Column::words("cluster"),
            Column::words("accelerator"),
            Column::numbers("per node").expendable(3),
            Column::numbers("domain").expendable(2),
            Column::numbers("scale-up").expendable(1),
            Column::numbers("network").expendable(4),
            Column::words("kind").expendable(5),
        ];
        let rows = self.0.iter().map(|c| {
            vec![
                Cell::new(c.name.as_str(), Tone::Name),
                c.accelerator.id.as_str().into(),
                Cell::whole(c.devices_per_node),
                Cell::whole(c.scale_up.domain_size),
                Cell::number(human::bandwidth(c.scale_up.bandwidth), c.scale_up.bandwidth.get()),
                Cell::number(human::bandwidth(c.network.bandwidth), c.network.bandwidth.get()),
                c.network.kind.as_str().into(),
            ]
        });
        let mut document = Document::default();
        document.table(Table { columns, rows: rows.collect() });
        document
    }
}

/// Fields in JSON.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PresetFields<'a> {
    cluster: ClusterFields<'a>,
    /// The text of its file.
    file: Option<&'static str>,
}

impl Answer for Preset {
    const KIND: &'static str = "cluster";

    type Json<'a> = PresetFields<'a>;

    fn json(&self) -> PresetFields<'_> {
        PresetFields { cluster: ClusterFields::of(&self.cluster), file: self.text }
    }

    fn document(&self, _: Terminal) -> Document {
        let c = &self.cluster;
        let mut document = Document::default();
        document.heading_with(c.name.clone(), format!("{} {}", c.accelerator.vendor, c.accelerator.name));
        let reduces = if c.scale_up.in_network_reduction { ", in-network reduction" } else { "" };
        let oversubscribed = |x: f64| if x > 1.0 { format!(", {x}:1") } else { String::new() };
        let tiers: Vec<String> = c
            .network
            .tiers
            .iter()
            .map(|t| {
                format!(
                    "{} of {} devices{}",
                    t.name,
                    human::whole(t.devices),
                    oversubscribed(t.oversubscription)
                )
            })
            .collect();
        document.pairs(vec![
            ("accelerator", Cell::new(c.accelerator.id.as_str(), Tone::Name)),
            ("devices per node", human::whole(c.devices_per_node).into()),
            (
                "scale-up",
                format!(
                    "domains of {} at {} per device and direction over {}{reduces}",
                    human::whole(c.scale_up.domain_size),
                    human::bandwidth(c.scale_up.bandwidth),
                    c.scale_up.link
                )
                .into(),
            ),
            (
                "network",
                format!(
                    "{} per device and direction, {}, latency {}",
                    human::bandwidth(c.network.bandwidth),
                    c.network.kind,
                    human::seconds(c.network.latency)
                )
                .into(),
            ),
            ("tiers", tiers.join("; ").into()),
            (
                "host",
                format!(
                    "{} and {} of memory per device, {} without the accelerator, PUE {}",
                    human::bytes(c.host.memory_per_device),
                    human::bandwidth(c.host.memory_bandwidth_per_device),
                    human::watts(c.host.power_per_device),
                    c.host.power_usage_effectiveness
                )
                .into(),
            ),
            ("source", c.source.as_str().into()),
        ]);
        if let Some(text) = self.text {
            document.heading("TOML of this cluster: copy it, edit it, and pass its path with --cluster");
            document.blocks.push(Block::Verbatim(text.to_owned()));
        }
        document
    }
}
