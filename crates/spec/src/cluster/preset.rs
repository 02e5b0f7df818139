//! The catalogue of clusters, from `catalog/clusters/`.
//!
//! Responsible for: presets by name and by instance type of public clouds, and the usual system of an
//! accelerator.

use super::table::{Record, fields};
use super::{Cluster, ClusterSpec, HourlyPrice, accelerator_by_name};
use crate::problem::{Problem, did_you_mean};
use crate::quantity::{BytesPerSecond, Dollars};
use railwright_catalog::{CLUSTERS as PRESETS, INSTANCES};
use std::sync::LazyLock;

/// A preset that a public cloud rents.
#[derive(Clone, Debug, PartialEq)]
pub struct Instance {
    /// Name of the preset.
    pub cluster: String,
    /// Provider.
    pub provider: String,
    /// Instance types, other names of the preset.
    pub types: Vec<String>,
    /// List price per device-hour, if the catalogue has one.
    pub price: Option<HourlyPrice>,
}

static RENTED: LazyLock<Vec<Instance>> = LazyLock::new(|| {
    let mut lines = INSTANCES.lines();
    let header = fields(lines.next().unwrap_or_default());
    let instance = |line: &str| {
        let record = Record::new(&header, line);
        let source = format!("{} {}", record.text("date"), record.text("price_source"));
        Instance {
            cluster: record.text("cluster").to_owned(),
            provider: record.text("provider").to_owned(),
            types: record.list("instances"),
            price: record.number("usd_hr_gpu").map(|typical| HourlyPrice {
                low: None,
                typical: Dollars::new(typical),
                high: None,
                source,
            }),
        }
    };
    lines.filter(|line| !line.is_empty()).map(instance).collect()
});

/// Instance types of public clouds with a preset.
pub fn instances() -> &'static [Instance] {
    &RENTED
}

/// A name without case, with hyphens between its words.
fn normal(name: &str) -> String {
    name.trim().to_ascii_lowercase().replace(['_', ' '], "-")
}

/// Names of the presets.
pub fn preset_names() -> Vec<&'static str> {
    PRESETS.iter().map(|preset| preset.0).collect()
}

/// Source text of a preset, for display or as a template.
pub fn preset_text(name: &str) -> Option<&'static str> {
    PRESETS.iter().find(|preset| preset.0 == name).map(|preset| preset.1)
}

/// Spellings of a node's name: NVIDIA's own system (DGX), the same board from another manufacturer (HGX), or
/// the accelerator alone; and the preset of an instance type.
fn spellings(written: &str) -> Vec<String> {
    let board = written.strip_prefix("hgx-").or_else(|| written.strip_prefix("dgx-"));
    let mut names = vec![written.to_owned()];
    names.extend(board.iter().flat_map(|board| [format!("dgx-{board}"), (*board).to_owned()]));
    let is_type = |instance: &&Instance| instance.types.iter().any(|name| normal(name) == written);
    names.extend(instances().iter().find(is_type).map(|instance| instance.cluster.clone()));
    names
}

/// Price of a preset's devices if a cloud rents it with this accelerator.
pub(super) fn price(preset: &str, accelerator: &str) -> Option<HourlyPrice> {
    let instance = instances().iter().find(|instance| instance.cluster == preset)?;
    let is_its_own = preset_text(preset).is_some_and(|text| text.contains(&line_of(accelerator)));
    if is_its_own { instance.price.clone() } else { None }
}

/// The line of a cluster file that names an accelerator.
fn line_of(accelerator: &str) -> String {
    format!("accelerator = \"{accelerator}\"")
}

/// A preset as a specification, to be overridden by settings.
pub(super) fn spec(name: &str) -> Result<ClusterSpec, Problem> {
    let Some((plain, text)) =
        spellings(&normal(name)).into_iter().find_map(|p| preset_text(&p).map(|text| (p, text)))
    else {
        let shown = crate::human::shorten(name);
        let list = PRESETS.iter().map(|p| p.0).collect::<Vec<_>>().join(", ");
        // Systems first: every instance type has the name of its accelerator, so all of them are near it.
        let (rented, systems): (Vec<&str>, Vec<&str>) =
            preset_names().into_iter().partition(|preset| is_rented(preset));
        let types = instances().iter().flat_map(|instance| instance.types.iter().map(String::as_str));
        let near_types = did_you_mean(
            name,
            rented.into_iter().chain(types),
            &format!("use one of {list}, or pass an accelerator of `railwright gpus list`"),
        );
        let hint = did_you_mean(name, systems, &near_types);
        return Err(Problem::new(format!("unknown cluster `{shown}`")).hint(hint));
    };
    let mut spec = ClusterSpec::parse(text, &format!("catalog/clusters/{plain}.toml"))?;
    spec.name.get_or_insert(plain);
    Ok(spec)
}

fn is_rented(preset: &str) -> bool {
    instances().iter().any(|instance| instance.cluster == preset)
}

/// Name of the usual system of an accelerator: the first preset with it that is not an instance of a cloud.
pub fn usual_preset(id: &str) -> Option<&'static str> {
    // The text is searched before it is parsed, because parsing every preset for every row of a table would
    // dominate the run time.
    let line = line_of(id);
    PRESETS.iter().find(|(name, text)| text.contains(&line) && !is_rented(name)).map(|preset| preset.0)
}

/// Usual system of an accelerator, without its name. Its host and fabric are the best estimate for any node
/// with the same accelerator.
pub(super) fn usual_system(id: &str) -> Option<ClusterSpec> {
    Some(ClusterSpec { name: None, ..spec(usual_preset(id)?).ok()? })
}

/// Cluster of some devices by the name of a preset or of an accelerator (with its typical host and links).
pub fn by_name(name: &str, devices: u64) -> Result<Cluster, Problem> {
    match spec(name) {
        Ok(spec) => {
            ClusterSpec { preset: spec.name, devices: Some(devices), ..ClusterSpec::default() }.resolve()
        }
        Err(problem) if accelerator_by_name(name).is_err() => Err(problem),
        Err(_) => from_parts(name, devices, None, None),
    }
}

/// Cluster from a row of a table of measured runs: accelerator, number of devices, devices per node (`None`:
/// the usual number), and network bandwidth per device (`None`: the usual one).
pub fn from_parts(
    accelerator: &str,
    devices: u64,
    devices_per_node: Option<u64>,
    network: Option<BytesPerSecond>,
) -> Result<Cluster, Problem> {
    let spec = ClusterSpec {
        accelerator: Some(accelerator.to_owned()),
        devices: Some(devices),
        devices_per_node,
        network_bandwidth: network,
        ..ClusterSpec::default()
    };
    spec.resolve()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_resolves_with_a_source() {
        for name in preset_names() {
            let cluster = by_name(name, 64).unwrap_or_else(|p| panic!("{name}: {p} {:?}", p.hint));
            assert_eq!(cluster.name, name);
            assert!(cluster.source.len() > 20, "{name}");
            assert!(cluster.host.power_per_device.get() > 10.0 && !cluster.network.kind.is_empty(), "{name}");
        }
    }

    #[test]
    fn the_makers_name_of_a_node_does_not_matter() {
        for (name, preset) in [("dgx-h800", "h800"), ("hgx-h100", "dgx-h100"), ("HGX_H200", "dgx-h200")] {
            assert_eq!(by_name(name, 8).expect("known").name, preset, "{name}");
        }
        assert!(by_name("dgx-x9000", 8).is_err() && by_name("dgx-", 8).is_err());
    }

    #[test]
    fn presets_equal_published_systems() {
        // DGX H100: 8 x 450 GB/s NVLink with SHARP, 8 x 400 Gbit/s, 10.2 kW, of which 8 x 700 W are GPUs.
        let h100 = by_name("dgx-h100", 1024).expect("known");
        assert_eq!((h100.devices_per_node, h100.scale_up.domain_size, h100.devices), (8, 8, 1024));
        assert_eq!((h100.scale_up.bandwidth.gb(), h100.network.bandwidth.gb()), (450.0, 50.0));
        assert!(h100.scale_up.in_network_reduction);
        assert_eq!(h100.host.power_per_device.get() * 8.0 + 8.0 * 700.0, 10200.0);
        // DGX A100: NVLink3 300 GB/s, 8 x 200 Gbit/s, 6.5 kW.
        let a100 = by_name("dgx-a100", 8).expect("known");
        assert_eq!((a100.scale_up.bandwidth.gb(), a100.network.bandwidth.gb()), (300.0, 25.0));
        assert!(!a100.scale_up.in_network_reduction);
        assert_eq!(a100.host.power_per_device.get() * 8.0 + 8.0 * 400.0, 6500.0);
        // NVL72: 72 GPUs at 900 GB/s in one domain, 4 per tray.
        let gb200 = by_name("gb200-nvl72", 72).expect("known");
        assert_eq!((gb200.scale_up.domain_size, gb200.devices_per_node), (72, 4));
        assert_eq!(gb200.scale_up.bandwidth.gb(), 900.0);
        assert_eq!(by_name("dgx2", 16).expect("known").devices_per_node, 16);
    }

    /// Instance types name their preset, in the spelling of the provider and without case.
    #[test]
    fn instance_types_are_names_of_presets() {
        for (name, preset) in [
            ("p5.48xlarge", "aws-p5"),
            ("P5en.48xlarge", "aws-p5en"),
            ("Standard_ND96isr_H100_v5", "azure-nd-h100-v5"),
            ("a3-megagpu-8g", "gcp-a3-mega"),
        ] {
            assert_eq!(by_name(name, 16).expect("known").name, preset, "{name}");
        }
        let mistyped = by_name("p5.48xlage", 16).expect_err("a typo");
        assert!(mistyped.hint.is_some_and(|hint| hint.contains("p5.48xlarge")));
        for instance in instances() {
            let cluster = by_name(&instance.cluster, 16).expect("a preset");
            assert!(!instance.types.is_empty() && !instance.provider.is_empty(), "{instance:?}");
            if let Some(price) = &instance.price {
                assert_eq!(cluster.accelerator.price.as_ref(), Some(price));
                assert!(price.source.len() > 40, "{price:?}");
            }
        }
    }

    /// 32 x 100, 16 x 200, 8 x 400 and 16 x 400 Gbit/s per eight GPUs; an instance is never the usual system
    /// of its accelerator, and another accelerator has its own price.
    #[test]
    fn instances_have_their_network_and_are_not_the_usual_system() {
        for (name, gb, kind) in [
            ("aws-p5", 50.0, "EFA"),
            ("aws-p5en", 50.0, "EFA"),
            ("aws-p6-b200", 50.0, "EFA"),
            ("aws-p6-b300", 100.0, "EFA"),
            ("azure-nd-h100-v5", 50.0, "InfiniBand"),
            ("gcp-a3-mega", 25.0, "Ethernet"),
            ("gcp-a3-ultra", 50.0, "RoCE"),
        ] {
            let network = by_name(name, 64).expect("a preset").network;
            assert_eq!((network.bandwidth.gb(), network.kind.as_str()), (gb, kind), "{name}");
        }
        let usual = ["h100", "h200", "b200", "b300"].map(|name| accelerator_by_name(name).expect("known").id);
        let usual = usual.each_ref().map(|id| usual_preset(id));
        assert_eq!(usual, ["dgx-h100", "dgx-h200", "dgx-b200", "dgx-b300"].map(Some));
        let price = |spec: ClusterSpec| {
            spec.resolve().expect("a cluster").accelerator.price.expect("a price").typical
        };
        let rented = ClusterSpec { preset: Some("p5.48xlarge".to_owned()), ..ClusterSpec::default() };
        assert_eq!(price(rented.clone()).get(), 6.88);
        let other = ClusterSpec { accelerator: Some("h200".to_owned()), ..rented };
        assert_eq!(price(other), accelerator_by_name("h200").expect("known").price.expect("a price").typical);
    }

    #[test]
    fn an_accelerator_alone_makes_a_cluster_and_a_typo_is_reported() {
        assert_eq!(by_name("mi325x", 16).expect("known").network.bandwidth.gb(), 50.0);
        let (bare, preset) = (by_name("h100", 64).expect("known"), by_name("dgx-h100", 64).expect("known"));
        assert_eq!((bare.name.as_str(), bare.host), ("h100-sxm5-80gb", preset.host));
        let problem = by_name("dgx-h10", 8).expect_err("typo");
        assert_eq!(problem.message, "unknown cluster `dgx-h10`");
        assert!(problem.hint.as_deref().is_some_and(|h| h.contains("`dgx-h100`")), "{:?}", problem.hint);
        assert!(by_name("dgx-h100", 0).is_err());
    }

    #[test]
    fn parts_of_a_measured_run() {
        let slow =
            from_parts("A100-80G-SXM", 416, Some(8), Some(BytesPerSecond::from_gbit(50.0))).expect("known");
        assert_eq!((slow.network.bandwidth.gb(), slow.accelerator.id.as_str()), (6.25, "a100-sxm4-80gb"));
        let half = from_parts("H100-80G-SXM", 4, Some(4), None).expect("known");
        assert_eq!((half.devices_per_node, half.scale_up.domain_size), (4, 4));
        let rack = from_parts("GB200", 256, Some(4), None).expect("known");
        assert_eq!((rack.devices_per_node, rack.scale_up.domain_size), (4, 72));
        assert!(from_parts("H100-96G-SXM", 8, None, None).is_ok());
        // An accelerator without a system of its own has links.
        let v4 = from_parts("TPUv4", 6144, None, None).expect("known");
        assert_eq!((v4.scale_up.bandwidth.gb(), v4.scale_up.domain_size), (300.0, 4096));
    }
}
