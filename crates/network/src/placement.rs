//! Ranks of a run on chosen devices of a network: hosts of an allocation, their positions, and orders of
//! them.
//!
//! Responsible for: node lists and host files; parts of a network that share switches; the order of hosts
//! with the least traffic above leaves; the bytes that cross each level. Does not simulate
//! (`railwright_tuner::simulate`).
//!
//! A *host* is an entry of a node list: some devices of one scale-up domain, in the order of local ranks.
//! Ranks are assigned to hosts in order, as launchers number them.

mod allocation;
mod hostfile;
mod names;
mod order;
mod survey;
#[cfg(test)]
mod tests;
mod tree;

pub use allocation::{Allocation, Host, Inventory};
pub use hostfile::{read_hosts, written_hosts};
pub use names::{host_names, number_of, same_number};
pub use order::{Between, MOST_HOSTS, by_network, refined, spots};
pub use survey::{ByLevel, LeafGroupRow, Survey, survey};
pub use tree::{Spot, Tree};
