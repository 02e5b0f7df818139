//! Losses of NICs from broken links.

use crate::topology::{LinkId, Topology};
/// Losses of NICs; empty if all are whole.
#[derive(Clone, Debug, Default)]
pub(super) struct Lost {
    /// Share of its ports that each device's NIC keeps.
    pub(super) kept: Vec<f64>,
    /// The mean of a domain, by domain.
    pub(super) of_domain: Vec<f64>,
}

/// One end of a message: the device whose NIC it uses.
#[derive(Clone, Copy)]
pub(super) struct Gate {
    pub(super) device: u32,
    pub(super) kept: f64,
    pub(super) domain: f64,
}

impl Gate {
    /// Share of its messages that the device's own NIC carries (0 to 1).
    pub(super) fn own(&self) -> f64 {
        if self.domain > 0.0 { (self.kept / self.domain).min(1.0) } else { 0.0 }
    }
}

impl Lost {
    /// Losses of NICs from broken links.
    pub(super) fn of(topology: &Topology, is_broken: impl Fn(LinkId) -> bool) -> Self {
        let planes = topology.design.planes;
        let kept = |device: u32| {
            let host = topology.host_link(device)?;
            let ports = (0..planes).filter_map(|plane| topology.access_link(device, plane));
            let left = if is_broken(host) { 0 } else { ports.filter(|port| !is_broken(*port)).count() };
            Some(left as f64 / planes as f64)
        };
        // Devices without NICs lose none.
        let kept: Option<Vec<f64>> = (0..topology.graph.devices()).map(kept).collect();
        match kept {
            Some(kept) if kept.iter().any(|share| *share < 1.0) => {
                let size = topology.design.domain.size as usize;
                let mean = |domain: &[f64]| domain.iter().sum::<f64>() / domain.len() as f64;
                Self { of_domain: kept.chunks(size).map(mean).collect(), kept }
            }
            _ => Self::default(),
        }
    }

    /// Share of its ports that a device's NIC keeps.
    pub(super) fn kept(&self, device: u32) -> f64 {
        self.kept.get(device as usize).copied().unwrap_or(1.0)
    }

    /// Devices whose NIC lost some, but not all, of its ports.
    pub(super) fn partly(&self) -> Vec<u32> {
        let is_partly = |device: &u32| (1e-12..1.0).contains(&self.kept(*device));
        (0..self.kept.len() as u32).filter(is_partly).collect()
    }

    pub(super) fn gate(&self, device: u32, size: u32) -> Gate {
        let domain = self.of_domain.get((device / size) as usize).copied().unwrap_or(1.0);
        Gate { device, kept: self.kept(device), domain }
    }
}
