//! Hosts assigned to a run, and the devices of its ranks.
//!
//! Responsible for: the devices of named hosts, ranks in the order of hosts, and problems such as a device
//! with two ranks.

use super::names::{number_of, same_number};
use crate::traffic::RankPlacement;
use railwright_spec::human;
use railwright_spec::problem::Problem;
use std::collections::BTreeMap;

/// A host of an allocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// Its name.
    pub name: String,
    /// Its devices of the network, by local rank.
    pub devices: Vec<u32>,
}

/// Hosts of a network by number: host `n` has the devices from `(n - first) x per_host` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inventory {
    /// Number in the name of the first host.
    pub first: u32,
    /// Devices of a host.
    pub per_host: u32,
    /// Devices of the network.
    pub devices: u32,
}

impl Inventory {
    /// Hosts.
    pub const fn hosts(&self) -> u32 {
        self.devices / self.per_host
    }

    /// A host by its name, with all of its devices or those of the given local numbers.
    pub fn host(&self, name: String, local: Option<&[u32]>) -> Result<Host, Problem> {
        let number = number_of(&name)?;
        let Some(place) = number.checked_sub(self.first).filter(|place| *place < self.hosts()) else {
            let last = (u64::from(self.first) + u64::from(self.hosts())).saturating_sub(1);
            let message =
                format!("host `{name}` is not in the network, whose hosts are {} to {last}", self.first);
            let hint = "set --first-node to the lowest number, and --network gpus=N to the network's devices";
            return Err(Problem::new(message).hint(hint));
        };
        Ok(self.at(place, name, local))
    }

    /// The host at a position of the network.
    pub fn at(&self, place: u32, name: String, local: Option<&[u32]>) -> Host {
        let from = place * self.per_host;
        let devices = match local {
            Some(local) => local.iter().map(|device| from + device).collect(),
            None => (from..from + self.per_host).collect(),
        };
        Host { name, devices }
    }
}

/// Hosts in the order of their ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// The hosts.
    pub hosts: Vec<Host>,
    /// Number of hosts after the last rank, which the run does not use.
    pub unused: usize,
}

impl Allocation {
    /// Creates an allocation of hosts with as many devices as ranks. Hosts after the last rank stay unused.
    pub fn new(mut hosts: Vec<Host>, ranks: u64) -> Result<Self, Problem> {
        let all: u64 = hosts.iter().map(|host| host.devices.len() as u64).sum();
        if all < ranks {
            return Err(Problem::new(format!(
                "the allocation has {} devices, but the run has {} ranks",
                human::whole(all),
                human::whole(ranks)
            ))
            .hint("list more hosts, or set --gpus to the devices of the allocation"));
        }
        let (mut left, named) = (ranks, hosts.len());
        hosts.retain_mut(|host| {
            let own = left.min(host.devices.len() as u64);
            host.devices.truncate(own as usize);
            left -= own;
            own > 0
        });
        let allocation = Self { unused: named - hosts.len(), hosts };
        allocation.check_names()?;
        allocation.seats()?;
        Ok(allocation)
    }

    /// Hosts with different names are different hosts: a number alone does not distinguish `rack0n1` from
    /// `rack1n1`.
    fn check_names(&self) -> Result<(), Problem> {
        let mut names: BTreeMap<u32, &str> = BTreeMap::new();
        for host in &self.hosts {
            for device in &host.devices {
                let name = *names.entry(*device).or_insert(&host.name);
                if name != host.name {
                    return Err(same_number(name, &host.name, "--fragments"));
                }
            }
        }
        Ok(())
    }

    /// Location of its ranks.
    pub fn seats(&self) -> Result<RankPlacement, Problem> {
        RankPlacement::new(self.hosts.iter().flat_map(|host| host.devices.iter().copied()).collect())
    }

    /// Ranks.
    pub fn ranks(&self) -> u64 {
        self.hosts.iter().map(|host| host.devices.len() as u64).sum()
    }

    /// The same hosts in a different order; `order[n]` is the former index of the n-th host.
    #[must_use]
    pub fn ordered(&self, order: &[usize]) -> Self {
        let hosts = order.iter().filter_map(|place| self.hosts.get(*place).cloned()).collect();
        Self { hosts, unused: self.unused }
    }
}
