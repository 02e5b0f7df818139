//! Generation of a cluster's scale-up link: the key of collective measurements.

use railwright_spec::cluster::Cluster;

/// Links of a device of a full mesh: one to each of seven peers (MI300X platform data sheet).
pub(super) const MESH_LINKS: u64 = 7;

/// Share of a device's scale-up bandwidth that it has to one other device: one link of a full mesh (MI300X:
/// 64 of 448 GB/s). `None` for domains behind switches, and for domains larger than a mesh.
pub fn pair_share(cluster: &Cluster) -> Option<f64> {
    let is_mesh = LinkClass::of(cluster) == LinkClass::Mesh;
    let links = MESH_LINKS;
    (is_mesh && cluster.scale_up.domain_size <= links + 1).then_some(1.0 / links as f64)
}

/// A generation of scale-up links with equal behaviour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LinkClass {
    /// NVLink up to generation 3 (Volta, Ampere): no reduction in the switch.
    NvLink3,
    /// NVLink 4 (Hopper).
    NvLink4,
    /// NVLink 5 and later (Blackwell, Rubin).
    NvLink5,
    /// A full mesh in which each pair has one link (MI300X).
    Mesh,
    /// PCI Express, through switches or the host.
    Pcie,
    /// A torus of this many dimensions (TPU).
    Torus(u32),
    /// A switched link without published curves.
    Other,
}

/// Channels of NCCL's tree algorithm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct TreeChannels {
    /// Number of channels.
    pub(super) count: f64,
    /// Bytes per second per channel over two domains.
    pub(super) near: f64,
    /// Bytes per second per channel over more domains.
    pub(super) far: f64,
}

impl LinkClass {
    /// Class from the link's name, vendor and architecture.
    pub(super) fn of(cluster: &Cluster) -> Self {
        let link = cluster.scale_up.link.to_ascii_lowercase();
        if cluster.scale_up.bandwidth.get() <= 0.0
            || link.is_empty()
            || link == "none"
            || link.contains("pci")
        {
            Self::Pcie
        } else if link.contains("ici") {
            Self::Torus(if link.contains("2d") { 2 } else { 3 })
        } else if link.contains("xgmi") {
            Self::Mesh
        } else if link.contains("nvlink") {
            match cluster.accelerator.architecture.to_ascii_lowercase().as_str() {
                "volta" | "ampere" | "pascal" => Self::NvLink3,
                "hopper" => Self::NvLink4,
                _ if link.contains("nvlink2") || link.contains("nvlink3") => Self::NvLink3,
                _ if link.contains("nvlink4") => Self::NvLink4,
                _ => Self::NvLink5,
            }
        } else {
            Self::Other
        }
    }

    /// Name in `catalog/collectives/domain.csv`. Links without curves use the slowest NVLink's shares.
    pub(super) fn catalogue_name(self) -> &'static str {
        match self {
            Self::NvLink4 => "nvlink4",
            Self::NvLink5 => "nvlink5",
            Self::Mesh => "xgmi",
            Self::Pcie => "pcie",
            Self::NvLink3 | Self::Torus(_) | Self::Other => "nvlink3",
        }
    }

    /// Minimum number of ranks for which NCCL uses reduction in the switch: 5 on Hopper, 6 on Blackwell
    /// (measured, H200 and B200, 8 GB).
    pub(super) fn in_switch_from(self) -> Option<u64> {
        match self {
            Self::NvLink4 => Some(5),
            Self::NvLink5 => Some(6),
            _ => None,
        }
    }

    /// Channels of a tree over the devices of a domain, one for each link of a device: 18 on Hopper and
    /// Blackwell, 12 before. Rates are bus bandwidths of the Simple protocol (`perChMaxTree`, NCCL's
    /// tuning table). `None` for links that NCCL does not run on.
    pub(super) fn tree_channels(self) -> Option<TreeChannels> {
        let (count, near, far) = match self {
            Self::NvLink5 => (18.0, 42.8e9, 24.0e9),
            Self::NvLink4 => (18.0, 41.4e9, 36.0e9),
            Self::NvLink3 => (12.0, 23.6e9, 17.8e9),
            _ => return None,
        };
        Some(TreeChannels { count, near, far })
    }

    /// Maximum rate of the LL protocol per rank between nodes, in bytes per second (NCCL's tuning table).
    pub(super) fn low_latency_cap(self) -> f64 {
        match self {
            Self::NvLink5 => 70e9,
            Self::NvLink4 => 35e9,
            _ => 19e9,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use railwright_spec::cluster::by_name;

    #[test]
    fn presets_and_accelerators_fall_into_their_class() {
        for (name, class) in [
            ("dgx-v100", LinkClass::NvLink3),
            ("dgx-a100", LinkClass::NvLink3),
            ("dgx-h100", LinkClass::NvLink4),
            ("h800", LinkClass::NvLink4),
            ("dgx-b200", LinkClass::NvLink5),
            ("gb300-nvl72", LinkClass::NvLink5),
            ("vr-nvl72", LinkClass::NvLink5),
            ("mi300x", LinkClass::Mesh),
            ("tpu-v5e-pod", LinkClass::Torus(2)),
            ("tpu-v5p-pod", LinkClass::Torus(3)),
            ("l40s-48gb", LinkClass::Pcie),
            ("a100-pcie-80gb", LinkClass::NvLink3),
            ("h100-nvl-94gb", LinkClass::NvLink4),
            ("gaudi3", LinkClass::Other),
            ("ascend-910b", LinkClass::Other),
            ("trainium2", LinkClass::Other),
        ] {
            let cluster = by_name(name, 8).expect("a known name");
            assert_eq!(LinkClass::of(&cluster), class, "{name}: {}", cluster.scale_up.link);
        }
    }
}
