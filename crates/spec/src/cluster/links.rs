//! Rates of a device's links where the catalogue has several, or none.
//!
//! Responsible for: the link between the devices of a domain, and the maximum rate of a device into the
//! network.

use super::{Accelerator, Cluster};
use crate::quantity::BytesPerSecond;

impl Accelerator {
    /// Bandwidth of the link to the host, one direction; that of PCIe 4.0 x16 if it is unknown.
    pub fn host_link(&self) -> BytesPerSecond {
        self.host_bandwidth.unwrap_or(BytesPerSecond::from_gb(31.0))
    }
}

impl Cluster {
    /// Bandwidth of a device to the others of its domain, one direction: of the scale-up links, or of the
    /// host without any.
    pub fn domain_bandwidth(&self) -> BytesPerSecond {
        if self.scale_up.bandwidth.get() > 0.0 {
            self.scale_up.bandwidth
        } else {
            self.accelerator.host_link()
        }
    }

    /// Maximum bandwidth of a device into the network, one direction: of its port or its link to the host,
    /// whichever is faster. A NIC beyond it waits for the device. The machine's own NICs are never
    /// limited, because their path is not always that of the host (NICs on the accelerator's die, or
    /// several ports).
    pub fn device_limit(&self) -> BytesPerSecond {
        let host = self.accelerator.host_link();
        let port = self.accelerator.port_bandwidth.unwrap_or(host);
        port.max(host).max(self.network.bandwidth)
    }
}

/// Bandwidth of the PCIe generation and lanes in a link's name such as `PCIe5 x8`, one direction; `None` for
/// other links. Without lanes in the name there are 16. It is the device's own port, which a host of an older
/// generation does not use in full.
///
/// A lane has `8 x 2^(generation - 3)` GT/s. Its payload is 128 of 130 bits up to generation 5, and 242 of
/// 256 bytes of a flit in generation 6 (PCI Express Base Specification, revisions 3.0 to 6.0).
pub(super) fn pcie_port(link: &str) -> Option<BytesPerSecond> {
    let name = link.strip_prefix("PCIe")?;
    let generation = name.chars().next()?.to_digit(10)?;
    let lanes = match name.split_once(" x") {
        Some((_, rest)) => rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()?,
        None => 16_u32,
    };
    let transfers = 8.0 * f64::from(1_u32 << generation.checked_sub(3)?);
    let payload = if generation < 6 { 128.0 / 130.0 } else { 242.0 / 256.0 };
    Some(BytesPerSecond::from_gb(transfers * f64::from(lanes) / 8.0 * payload))
}

#[cfg(test)]
mod tests {
    use super::super::{ClusterSpec, accelerators, by_name};
    use super::*;

    #[test]
    fn ports_agree_with_the_catalogue() {
        let mut compared = 0;
        for accelerator in accelerators() {
            let Some(port) = accelerator.port_bandwidth else { continue };
            // Hosts of the B200 are one generation behind it.
            if accelerator.id != "b200-sxm-180gb" {
                assert!((port / accelerator.host_link() - 1.0).abs() < 0.02, "{}", accelerator.id);
                compared += 1;
            }
        }
        assert!(compared > 60, "{compared}");
        let gb = |link| pcie_port(link).map(|port| port.gb().round());
        assert_eq!((gb("PCIe5 x8"), gb("PCIe5 x16"), gb("PCIe4")), (Some(32.0), Some(63.0), Some(32.0)));
        assert_eq!(gb("PCIe6 x16 (5 on CX7 hosts)"), Some(121.0));
        assert_eq!(pcie_port("NVLink-C2C"), None);
        assert_eq!(pcie_port("PCIe"), None);
    }

    #[test]
    fn devices_without_scale_up_links_communicate_through_the_host() {
        let of = |name: &str| by_name(name, 64).expect("known").domain_bandwidth().gb();
        assert_eq!((of("l40s-48gb"), of("rtxpro6000-server"), of("v100-pcie-32gb")), (31.0, 63.0, 15.8));
        assert_eq!(of("dgx-h100"), 450.0);
    }

    #[test]
    fn devices_limit_faster_nics_and_never_their_own() {
        let gbit = |name: &str| (by_name(name, 64).expect("known").device_limit().gb() * 8.0).round();
        // PCIe 5.0 x16 cannot feed 800 Gbit/s.
        assert_eq!((gbit("dgx-h100"), gbit("h800"), gbit("dgx-a100")), (504.0, 504.0, 252.0));
        for name in ["dgx-b200", "dgx-b300", "gb200-nvl72", "gb300-nvl72"] {
            assert!(gbit(name) >= 800.0, "{name}");
        }
        // NICs on the die.
        assert_eq!(gbit("gaudi3"), 600.0);
        let own = |key: &str| {
            let spec = ClusterSpec::parse(&format!("preset = \"dgx-h100\"\n{key}"), "c.toml").expect("valid");
            (spec.resolve().expect("a cluster").device_limit().gb() * 8.0).round()
        };
        assert_eq!(own("[network]\nbandwidth = \"800 Gbit/s\""), 800.0);
        assert_eq!(own("[host]\nbandwidth = \"20 GB/s\""), 400.0);
        assert_eq!(own("[host]\nbandwidth = \"121 GB/s\""), 968.0);
    }
}
