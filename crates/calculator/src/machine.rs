//! The laws of a cluster's hardware, apart from any plan.
//!
//! Responsible for: looking operator and collective laws up once for many plans, with what was measured on the machine. Refuses to know a
//! plan.

use crate::collectives::Fabric;
use crate::operators::Device;
use crate::software::{self, Software};
use railwright_spec::calibration::Calibration;
use railwright_spec::cluster::Cluster;
use std::sync::Arc;

/// Hardware and software, apart from any plan: built once and shared by a whole search.
#[derive(Clone, Debug)]
pub struct Machine {
    /// Operator laws of the accelerator.
    pub device: Device,
    /// Collective laws of the cluster.
    pub fabric: Fabric,
    /// The accelerator's architecture.
    pub architecture: String,
    /// What was measured on it, if anything.
    pub calibration: Option<Arc<Calibration>>,
    /// The constants of the calibration's software generation as it measured them.
    software: Option<Box<Software>>,
}

impl Machine {
    /// Looks up the laws for a cluster.
    pub fn new(cluster: &Cluster) -> Self {
        let device = Device::new(&cluster.accelerator);
        let calibration = cluster.calibration.clone();
        Self {
            device: match &calibration {
                Some(calibration) => device.calibrated(calibration),
                None => device,
            },
            software: calibration.as_deref().and_then(software::calibrated).map(Box::new),
            calibration,
            fabric: Fabric::new(cluster),
            // `Hopper+Grace` computes as Hopper does.
            architecture: cluster.accelerator.architecture.split('+').next().unwrap_or_default().to_owned(),
        }
    }

    /// The constants of a generation: as the calibration measured them where it is of this generation, else as they are.
    pub fn software<'m>(&'m self, software: &'m Software) -> &'m Software {
        match &self.software {
            Some(own) if own.id == software.id => own,
            _ => software,
        }
    }
}
