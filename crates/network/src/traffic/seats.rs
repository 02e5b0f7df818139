//! Ranks on chosen devices.
//!
//! Responsible for: the device of a rank and the rank of a device, each device once. Independent of the
//! reason for the choice (`crate::placement`).

use railwright_spec::problem::Problem;
use std::sync::Arc;

/// The device of every rank, and the rank of every device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankPlacement(Arc<Table>);

#[derive(Debug, PartialEq, Eq)]
struct Table {
    devices: Vec<u32>,
    /// By device: its rank, or a marker for none.
    ranks: Vec<u32>,
}

impl RankPlacement {
    /// Creates seats from a list of devices by rank, each once.
    pub fn new(devices: Vec<u32>) -> Result<Self, Problem> {
        let most = devices.iter().copied().max().map_or(0, |last| last as usize + 1);
        let mut ranks = vec![u32::MAX; most];
        for (rank, device) in devices.iter().enumerate() {
            let seat = &mut ranks[*device as usize];
            if *seat != u32::MAX {
                return Err(Problem::new(format!("ranks {seat} and {rank} share device {device}"))
                    .hint("list every device once"));
            }
            *seat = rank as u32;
        }
        Ok(Self(Arc::new(Table { devices, ranks })))
    }

    /// Devices by rank.
    pub fn devices(&self) -> &[u32] {
        &self.0.devices
    }

    /// The device of a rank; ranks without a seat are on the device of their number.
    pub fn device(&self, rank: u32) -> u32 {
        self.0.devices.get(rank as usize).copied().unwrap_or(rank)
    }

    /// The rank of a device that has one.
    pub fn rank(&self, device: u32) -> u32 {
        self.0.ranks.get(device as usize).copied().unwrap_or(u32::MAX)
    }

    /// The last device that has a rank.
    pub fn last(&self) -> u32 {
        (self.0.ranks.len() as u32).saturating_sub(1)
    }
}
