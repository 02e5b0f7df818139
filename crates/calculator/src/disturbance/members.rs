//! Slow devices, hosts and links of a run, by the pipeline stage that they belong to.
//!
//! Responsible for: the slow members and their rates. Excludes their cost.

use crate::machine::Machine;
use railwright_spec::cluster::Cluster;

/// Slow members of a run, by pipeline stage. Has no effect if empty.
#[derive(Clone, Debug, Default)]
pub struct Disturbance {
    pub(super) stages: Vec<SlowStage>,
}

/// The slowest member of a stage; 1 is the normal rate.
#[derive(Clone, Debug)]
pub(super) struct SlowStage {
    pub(super) stage: usize,
    /// Rate of the device's kernels, relative to normal.
    pub(super) device: f64,
    /// Rate of the host's kernel launches, relative to normal.
    pub(super) host: f64,
    /// Remaining share of the network bandwidth.
    pub(super) network: f64,
    /// Remaining share of the scale-up bandwidth.
    pub(super) scale_up: f64,
    /// Models of a cluster with links of these shares. `None` if no share is below 1.
    pub(super) machine: Option<Machine>,
}

impl Disturbance {
    /// Tests whether no member is slow.
    pub fn is_empty(&self) -> bool {
        self.stages.is_empty()
    }

    /// Slows a device of a stage: its kernels run at a share of their rate.
    pub fn slow_device(&mut self, stage: usize, rate: f64) {
        let slow = self.stage(stage);
        slow.device = slow.device.min(rate);
    }

    /// Slows a host of a stage: it launches kernels at a share of its rate.
    pub fn slow_host(&mut self, stage: usize, rate: f64) {
        let slow = self.stage(stage);
        slow.host = slow.host.min(rate);
    }

    /// Slows the links of a device of a stage to shares of its network and scale-up bandwidth.
    pub fn slow_links(&mut self, stage: usize, cluster: &Cluster, network: f64, scale_up: f64) {
        let slow = self.stage(stage);
        slow.network = slow.network.min(network);
        slow.scale_up = slow.scale_up.min(scale_up);
        let mut degraded = cluster.clone();
        degraded.network.bandwidth = cluster.network.bandwidth * slow.network;
        degraded.scale_up.bandwidth = cluster.scale_up.bandwidth * slow.scale_up;
        slow.machine = Some(Machine::new(&degraded));
    }

    fn stage(&mut self, stage: usize) -> &mut SlowStage {
        let at = self.stages.iter().position(|slow| slow.stage == stage).unwrap_or_else(|| {
            let (device, host, network, scale_up) = (1.0, 1.0, 1.0, 1.0);
            self.stages.push(SlowStage { stage, device, host, network, scale_up, machine: None });
            self.stages.len() - 1
        });
        &mut self.stages[at]
    }

    pub(super) fn find(&self, stage: usize) -> Option<&SlowStage> {
        self.stages.iter().find(|slow| slow.stage == stage)
    }
}
