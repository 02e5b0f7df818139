//! The hosts assigned to a run.
//!
//! Responsible for: `--nodelist`, `--hostfile`, `--fragments` to an allocation, and the devices that a
//! network needs for it. Independent of the run.

use crate::networks::on_network::OnNetwork;
use crate::{CONFIG_LIMIT, read};
use railwright_network::placement::{Allocation, Host, Inventory, Tree, host_names, number_of, read_hosts};
use railwright_network::topology::{MOST_DEVICES, Topology};
use railwright_spec::cluster::Cluster;
use railwright_spec::human;
use railwright_spec::problem::Problem;
use railwright_spec::run::Run;

/// Flags that name hosts.
#[derive(Clone, Debug, Default)]
pub struct OnHosts {
    /// A Slurm node list.
    pub nodelist: Option<String>,
    /// A host file.
    pub hostfile: Option<String>,
    /// Numbers of hosts in each pod.
    pub fragments: Option<String>,
    /// Number in the name of the network's first node.
    pub first_node: u32,
}

impl OnHosts {
    /// Tests whether any flag names hosts.
    pub const fn are_named(&self) -> bool {
        self.nodelist.is_some() || self.hostfile.is_some() || self.fragments.is_some()
    }
}

impl From<&Self> for OnHosts {
    fn from(on: &Self) -> Self {
        on.clone()
    }
}

/// Hosts as specified, before the network is known.
pub struct Hosts {
    source: Source,
    first: u32,
    per_host: u32,
}

enum Source {
    Names(Vec<String>),
    File { text: String, name: String },
    Fragments(Vec<u32>),
}

impl Hosts {
    /// The hosts of flags; `None` without any.
    pub fn read(on: impl Into<OnHosts>, cluster: &Cluster) -> Result<Option<Self>, Problem> {
        let on = on.into();
        let source = if let Some(list) = &on.nodelist {
            Source::Names(host_names(list).map_err(|problem| problem.in_file("--nodelist"))?)
        } else if let Some(file) = &on.hostfile {
            Source::File { text: read(file, CONFIG_LIMIT)?, name: file.clone() }
        } else if let Some(counts) = &on.fragments {
            Source::Fragments(fragments(counts)?)
        } else if on.first_node > 0 {
            return Err(Problem::new("a first node has no effect without named hosts")
                .in_file("--first-node")
                .hint("add --nodelist or --hostfile"));
        } else {
            return Ok(None);
        };
        Ok(Some(Self { source, first: on.first_node, per_host: per_host(cluster) }))
    }

    /// Number of devices up to the last host that a number of ranks needs; `None` if it depends on the
    /// network.
    fn devices(&self, ranks: u64) -> Result<Option<u64>, Problem> {
        let inventory =
            Inventory { first: self.first, per_host: self.per_host, devices: MOST_DEVICES as u32 };
        let needed = usize::try_from(ranks.div_ceil(u64::from(self.per_host))).unwrap_or(usize::MAX);
        let last = match &self.source {
            Source::Names(names) => names.iter().take(needed).try_fold(0, |last: u32, name| {
                let number = number_of(name).map_err(|problem| problem.in_file("--nodelist"))?;
                Ok::<_, Problem>(last.max(number))
            })?,
            Source::File { text, name } => {
                let hosts = read_hosts(text, name, &inventory)?;
                let last = hosts.iter().flat_map(|host| &host.devices).max();
                return Ok(last.map(|last| u64::from(last / self.per_host + 1) * u64::from(self.per_host)));
            }
            Source::Fragments(_) => return Ok(None),
        };
        Ok(Some((u64::from(last.saturating_sub(self.first)) + 1) * u64::from(self.per_host)))
    }

    /// The allocation on a network.
    pub fn allocation(&self, topology: &Topology, ranks: u64) -> Result<Allocation, Problem> {
        let inventory =
            Inventory { first: self.first, per_host: self.per_host, devices: topology.graph.devices() };
        let (hosts, place): (Result<Vec<Host>, Problem>, &str) = match &self.source {
            Source::Names(names) => {
                (names.iter().map(|name| inventory.host(name.clone(), None)).collect(), "--nodelist")
            }
            Source::File { text, name } => (read_hosts(text, name, &inventory), "--hostfile"),
            Source::Fragments(counts) => {
                let tree = Tree::new(topology).ok_or_else(|| {
                    Problem::new(format!("{} has no pods or leaf groups", topology.design.name))
                });
                (tree.and_then(|tree| tree.fragments(counts, &inventory)), "--fragments")
            }
        };
        hosts.and_then(|hosts| Allocation::new(hosts, ranks)).map_err(|problem| problem.in_file(place))
    }
}

/// Devices of a host.
pub fn per_host(cluster: &Cluster) -> u32 {
    u32::try_from(cluster.devices_per_node.max(1)).unwrap_or(u32::MAX)
}

/// A run on the parts of scale-up domains that it uses. Named hosts are those of whole domains. They
/// determine the used part of each, so a chosen segment is removed.
pub fn laid(mut run: Run, are_named: bool, chosen: &mut Vec<String>) -> Run {
    if are_named && run.plan.segment.take().is_some() {
        chosen.push(format!(
            "whole domains of {}, because hosts are named",
            human::whole(run.cluster.scale_up.domain_size)
        ));
    }
    run.as_used()
}

/// Named hosts of an allocation that its run does not use, in words.
pub fn unused(allocation: &Allocation) -> Option<String> {
    let ranks = || human::several(allocation.ranks(), "rank");
    (allocation.unused > 0)
        .then(|| format!("{} unused for {}", human::several(allocation.unused as u64, "host"), ranks()))
}

/// A network with the devices of all requested hosts, if none are set, with the defaults chosen. `other` is a
/// second run: its number of ranks, and its hosts if they are named. Without hosts it uses those that the
/// first run leaves free.
pub fn grown(
    on: impl Into<OnNetwork>,
    specified: Option<u64>,
    cluster: &Cluster,
    (wanted, other): (Option<&Hosts>, Option<(u64, Option<&Hosts>)>),
) -> Result<(OnNetwork, Option<String>), Problem> {
    let mut on = on.into();
    let devices = |hosts: Option<&Hosts>, ranks: u64| {
        hosts.map(|hosts| hosts.devices(ranks)).transpose().map(|devices| devices.flatten().unwrap_or(0))
    };
    let own = devices(wanted, cluster.devices)?.max(cluster.devices);
    let least = match other {
        None => own,
        Some((ranks, None)) => own + ranks,
        Some((ranks, hosts)) => {
            own.max(devices(hosts, ranks).map_err(|problem| problem.in_file("--job-nodelist"))?)
        }
    };
    if specified.is_some() || least <= cluster.devices {
        return Ok((on, None));
    }
    let devices = least.next_multiple_of(cluster.scale_up.domain_size.max(1));
    on.keys.push(format!("gpus={devices}"));
    Ok((on, Some(format!("a network of {} devices", human::whole(devices)))))
}

/// The first hosts that another run leaves free, for a number of ranks.
pub fn left_over(
    used: &dyn Fn(u32) -> bool,
    cluster: &Cluster,
    (devices, ranks): (u32, u64),
) -> Result<Allocation, Problem> {
    let inventory = Inventory { first: 0, per_host: per_host(cluster), devices };
    let free = (0..inventory.hosts())
        .map(|place| inventory.at(place, format!("node{place}"), None))
        .filter(|host| !host.devices.iter().any(|device| used(*device)));
    Allocation::new(free.collect(), ranks)
}

/// `20,0,12`.
fn fragments(text: &str) -> Result<Vec<u32>, Problem> {
    text.split(',')
        .map(|part| {
            part.trim().parse::<u32>().map_err(|_| {
                Problem::new(format!("`{}` is not a number of hosts", human::shorten(part)))
                    .in_file("--fragments")
                    .hint("list the number of hosts in each pod, as in `20,0,12`")
            })
        })
        .collect()
}
