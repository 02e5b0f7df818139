//! Models of a cluster's hardware, independent of any plan.
//!
//! Responsible for: looking operator and collective models up once for many plans, including measurements of
//! the machine. Independent of a plan.

use crate::collectives::Fabric;
use crate::operators::Device;
use crate::software::{self, Software};
use railwright_spec::calibration::Calibration;
use railwright_spec::cluster::{Cluster, Pool};
use railwright_spec::model::Model;
use railwright_spec::precision::DataType;
use std::ops::Range;
use std::sync::Arc;

/// Hardware and software, independent of any plan: built once and shared by a whole search.
#[derive(Clone, Debug)]
pub struct Machine {
    /// Operator models of the accelerator.
    pub device: Device,
    /// Collective models of the cluster.
    pub fabric: Fabric,
    /// The accelerator's architecture.
    pub architecture: String,
    /// Calibration of the machine, if any.
    pub calibration: Option<Arc<Calibration>>,
    /// Measured constants of the calibration's software generation.
    software: Option<Box<Software>>,
    /// The same for runs of the models and formats with measured step times, in their order.
    own: Vec<Software>,
    /// Devices of other kinds in the same job.
    pub(crate) pools: Vec<PoolMachine>,
}

/// Models of the devices of a pool.
#[derive(Clone, Debug)]
pub(crate) struct PoolMachine {
    /// Ranks on the pool.
    pub ranks: Range<u64>,
    /// Its nodes and links, with the number of devices of the whole job.
    pub cluster: Cluster,
    /// Its models.
    pub machine: Machine,
}

impl Machine {
    /// Looks up the models for a cluster.
    pub fn new(cluster: &Cluster) -> Self {
        let device = Device::new(&cluster.accelerator);
        let calibration = cluster.calibration.clone();
        let steps = calibration.as_deref().and_then(|calibration| calibration.steps.as_ref());
        let own = steps.map_or(&[][..], |steps| steps.own.as_slice());
        let of_factors = |factors| software::calibrated(calibration.as_deref()?, factors);
        Self {
            device: match &calibration {
                Some(calibration) => device.calibrated(calibration),
                None => device,
            },
            software: of_factors(steps.map(|steps| steps.factors)).map(Box::new),
            own: own.iter().filter_map(|own| of_factors(Some(own.factors))).collect(),
            calibration,
            fabric: Fabric::new(cluster),
            // `Hopper+Grace` has the compute of Hopper.
            architecture: cluster.accelerator.device_architecture().to_owned(),
            pools: cluster.pools.iter().map(PoolMachine::new).collect(),
        }
    }

    /// Constants of a generation for runs of a model in a format: those of the calibration if it is of this
    /// generation, otherwise unchanged.
    pub fn software<'m>(&'m self, software: &'m Software, model: &Model, format: DataType) -> &'m Software {
        let steps = self.calibration.as_deref().and_then(|calibration| calibration.steps.as_ref());
        let place = steps.and_then(|steps| steps.own.iter().position(|own| own.holds(model, format)));
        match place.and_then(|place| self.own.get(place)) {
            Some(own) if own.id == software.id => own,
            _ => self.software_of_others(software),
        }
    }

    /// The same for models and formats without measured step times.
    pub fn software_of_others<'m>(&'m self, software: &'m Software) -> &'m Software {
        match &self.software {
            Some(own) if own.id == software.id => own,
            _ => software,
        }
    }
}

impl PoolMachine {
    fn new(pool: &Pool) -> Self {
        let machine = Machine::new(&pool.cluster);
        Self { ranks: pool.ranks(), cluster: pool.cluster.as_ref().clone(), machine }
    }
}
