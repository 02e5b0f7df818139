//! Parameters of one folded Clos fabric: number of switches of each tier, and their cabling.
//!
//! Responsible for: the rules by which a fabric of one to four tiers follows from ports and endpoints,
//! checked against published reference architectures. Excludes the graph and prices.
//!
//! Sources: C. Leiserson, "Fat-trees" (1985); M. Al-Fares et al. (SIGCOMM 2008) for the k-ary form; NVIDIA's
//! DGX SuperPOD reference architectures for the construction of partly filled fabrics
//! (`catalog/network/superpod_tables.csv` has their tables).

pub use super::request::Request;
use super::request::{Split, core_down, spine_down};
use railwright_spec::human;
use railwright_spec::problem::Problem;
use serde::Serialize;

/// The fourth tier, above zones: fabrics of three tiers whose cores have ports upwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Upper {
    /// Zones.
    pub zones: u64,
    /// Links from a core upwards.
    pub core_uplinks: u64,
    /// Top switches.
    pub tops: u64,
    /// Groups of top switches: cores of the same index in their zones share one.
    pub groups: u64,
}

/// A folded Clos: tiers, switches and links. Leaves of a pod are joined to its spines, spines to the cores of
/// their core group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Clos {
    /// Tiers of switches, 1 to 4.
    pub tiers: u64,
    /// Groups of endpoints with leaves of their own.
    pub groups: u64,
    /// Endpoints in each group.
    pub endpoints_per_group: u64,
    /// Endpoints that fit under a leaf.
    pub hosts_per_leaf: u64,
    /// Leaves of each group.
    pub leaves_per_group: u64,
    /// Links from a leaf upwards.
    pub leaf_uplinks: u64,
    /// Pods; 1 below three tiers.
    pub pods: u64,
    /// Maximum number of leaves of a pod; the last pod may have fewer.
    pub leaves_per_pod: u64,
    /// Spines in each pod.
    pub spines_per_pod: u64,
    /// Links from a spine upwards.
    pub spine_uplinks: u64,
    /// Core groups of a zone: spines of the same index in their pods share one.
    pub core_groups: u64,
    /// Cores in each core group.
    pub cores_per_group: u64,
    /// True if leaves are numbered group by group instead of unit by unit.
    pub by_group: bool,
    /// The fourth tier; `None` below four tiers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upper: Option<Upper>,
}

/// The smallest divisor of `n` that is at least `least`.
fn divisor_from(n: u64, least: u64) -> Option<u64> {
    (least.max(1)..=n).find(|d| n.is_multiple_of(*d))
}

impl Clos {
    /// Total number of leaves.
    pub const fn leaves(&self) -> u64 {
        if self.tiers == 1 { 1 } else { self.groups * self.leaves_per_group }
    }

    /// Total number of spines.
    pub const fn spines(&self) -> u64 {
        if self.tiers < 2 { 0 } else { self.pods * self.spines_per_pod }
    }

    /// Total number of cores.
    pub const fn cores(&self) -> u64 {
        if self.tiers < 3 { 0 } else { self.zones() * self.core_groups * self.cores_per_group }
    }

    /// Fabrics of three tiers below the top switches; 1 below four tiers.
    pub const fn zones(&self) -> u64 {
        match self.upper {
            Some(upper) => upper.zones,
            None => 1,
        }
    }

    /// Total number of top switches.
    pub const fn tops(&self) -> u64 {
        match self.upper {
            Some(upper) => upper.tops,
            None => 0,
        }
    }

    /// Links between cores and top switches.
    pub const fn core_top_links(&self) -> u64 {
        match self.upper {
            Some(upper) => self.cores() * upper.core_uplinks,
            None => 0,
        }
    }

    /// Total number of endpoints.
    pub const fn endpoints(&self) -> u64 {
        self.groups * self.endpoints_per_group
    }

    /// Links between leaves and spines.
    pub const fn leaf_spine_links(&self) -> u64 {
        if self.tiers < 2 { 0 } else { self.leaves() * self.leaf_uplinks }
    }

    /// Links between spines and cores.
    pub const fn spine_core_links(&self) -> u64 {
        if self.tiers < 3 { 0 } else { self.spines() * self.spine_uplinks }
    }

    /// Pods per zone; with fewer than four tiers, all pods.
    pub fn pods_per_zone(&self) -> u64 {
        (self.pods / self.zones()).max(1)
    }

    /// Cores of a zone; all of them below four tiers.
    pub const fn cores_per_zone(&self) -> u64 {
        self.core_groups * self.cores_per_group
    }

    /// The zone of a pod; 0 below four tiers.
    pub fn zone(&self, pod: u64) -> u64 {
        pod / self.pods_per_zone()
    }

    /// Links of one spine to one leaf of its pod.
    pub fn trunk(&self) -> u64 {
        self.leaf_uplinks.checked_div(self.spines_per_pod).unwrap_or(0)
    }

    /// The leaf of an endpoint of a group, by its index in the group.
    pub const fn leaf(&self, group: u64, place: u64) -> u64 {
        if self.tiers == 1 {
            return 0;
        }
        let within = place / self.hosts_per_leaf;
        if self.by_group { group * self.leaves_per_group + within } else { within * self.groups + group }
    }

    /// The pod of a leaf.
    pub const fn pod(&self, leaf: u64) -> u64 {
        leaf / self.leaves_per_pod
    }

    /// Spines of a pod that share a core group.
    pub fn spines_per_core_group(&self) -> u64 {
        self.spines_per_pod.checked_div(self.core_groups).unwrap_or(0)
    }

    /// Links of a pod into one core group.
    pub fn pod_links(&self) -> u64 {
        self.spine_uplinks * self.spines_per_core_group()
    }

    /// Tests whether every pod has as many links to each core of a group as to the others, and every zone to
    /// each top switch of a group. Pods and zones then have equal places in the fabric.
    pub fn is_regular(&self) -> bool {
        let upper = self.upper.is_none_or(|upper| {
            let links = self.cores_per_zone() / upper.groups * upper.core_uplinks;
            links.is_multiple_of(upper.tops / upper.groups)
        });
        upper && (self.tiers < 3 || self.pod_links().is_multiple_of(self.cores_per_group))
    }

    /// The core that an uplink of a spine of a pod leads to, counted through all zones.
    pub(crate) fn core_of(&self, pod: u64, spine: u64, uplink: u64) -> u64 {
        let sharing = self.spines_per_core_group();
        let (group, within) = (spine / sharing, spine % sharing);
        let (zone, pod) = (self.zone(pod), pod % self.pods_per_zone());
        let n = (pod * sharing + within) * self.spine_uplinks + uplink;
        zone * self.cores_per_zone() + group * self.cores_per_group + n % self.cores_per_group
    }

    /// The top switch that an uplink of a core leads to; cores are counted through all zones.
    pub(crate) const fn top_of(&self, upper: &Upper, core: u64, uplink: u64) -> u64 {
        let (zone, core) = (core / self.cores_per_zone(), core % self.cores_per_zone());
        let (sharing, per_group) = (self.cores_per_zone() / upper.groups, upper.tops / upper.groups);
        let n = (zone * sharing + core % sharing) * upper.core_uplinks + uplink;
        core / sharing * per_group + n % per_group
    }

    /// The fabric with as few tiers as the request allows. Among the splits of a leaf's ports at its
    /// oversubscription, the one with the fewest switches, then links. 42 ports below and 21 above need
    /// three spines, while 40 and 20 need two.
    pub fn new(request: &Request) -> Result<Self, Problem> {
        let split = Split::of(request)?;
        let first = Self::with(request, split);
        let others =
            split.equivalents(request).into_iter().filter_map(|split| Self::with(request, split).ok());
        let cost = |clos: &Self| {
            let links = clos.leaf_spine_links() + clos.spine_core_links() + clos.core_top_links();
            (clos.leaves() + clos.spines() + clos.cores() + clos.tops(), links)
        };
        // On equal cost the fullest leaf, which comes first.
        first.into_iter().chain(others).min_by_key(cost).map_or_else(|| Self::with(request, split), Ok)
    }

    fn with(request: &Request, split: Split) -> Result<Self, Problem> {
        if let (Some(zones), Some(tiers @ 0..=3)) = (request.zones, request.tiers) {
            return Err(Problem::new(format!("{zones} zones require four tiers, but {tiers} are set"))
                .at_key("design.zones")
                .hint("omit design.tiers; islands of two tiers are modelled as pods of three tiers (design.pods)"));
        }
        let found = match request.tiers {
            Some(1) => Self::one_tier(request),
            Some(2) => Self::two_tiers(request, &split),
            Some(3) => Self::three_tiers(request, &split)?,
            Some(4) => Self::four_tiers(request, &split)?,
            Some(other) => {
                return Err(Problem::new(format!("{other} tiers are not supported"))
                    .at_key("design.tiers")
                    .hint("use 1 to 4 tiers"));
            }
            // Zones exist only with four tiers, so a request for zones implies four.
            None if request.zones.is_some() => Self::four_tiers(request, &split)?,
            None => {
                // Pods exist only with three tiers, so a request for pods implies three.
                let small = request.pods.is_none();
                match Self::one_tier(request).or_else(|| Self::two_tiers(request, &split)).filter(|_| small) {
                    Some(clos) => Some(clos),
                    None => Self::three_tiers(request, &split)?,
                }
            }
        };
        found.ok_or_else(|| too_many(request, &split))
    }

    /// One switch: `endpoints <= radix`.
    fn one_tier(request: &Request) -> Option<Self> {
        let ports = (request.radix - request.backup_ports) * request.hosts_per_port;
        let endpoints = request.groups.checked_mul(request.endpoints)?;
        (endpoints <= ports && request.hosts_per_leaf.is_none_or(|hosts| endpoints <= hosts)).then_some(
            Self {
                tiers: 1,
                groups: request.groups,
                endpoints_per_group: request.endpoints,
                hosts_per_leaf: ports,
                leaves_per_group: 1,
                leaf_uplinks: 0,
                pods: 1,
                leaves_per_pod: 1,
                spines_per_pod: 0,
                spine_uplinks: 0,
                core_groups: 0,
                cores_per_group: 0,
                by_group: request.groups_in_pods,
                upper: None,
            },
        )
    }

    fn leaves_for(request: &Request, split: &Split) -> Option<(u64, u64)> {
        let per_group = request.endpoints.div_ceil(split.hosts);
        Some((per_group, request.groups.checked_mul(per_group)?))
    }

    /// Leaves and spines. `spines = leaves * uplinks / ports of a spine`, raised to the next divisor of the
    /// uplinks so that every leaf spreads its uplinks evenly: with radix 64, 24 leaves have 16 spines and
    /// not 12 (DGX H100 SuperPOD, 3 SU), with radix 144, 32 leaves have 18 and not 16 (DGX B300 XDR, 4
    /// SU).
    fn two_tiers(request: &Request, split: &Split) -> Option<Self> {
        let (leaves_per_group, leaves) = Self::leaves_for(request, split)?;
        let needed = leaves.checked_mul(split.uplinks)?.div_ceil(request.spine_ports());
        let spines = divisor_from(split.uplinks, needed)?;
        Some(Self {
            tiers: 2,
            groups: request.groups,
            endpoints_per_group: request.endpoints,
            hosts_per_leaf: split.hosts,
            leaves_per_group,
            leaf_uplinks: split.uplinks,
            pods: 1,
            leaves_per_pod: leaves,
            spines_per_pod: spines,
            spine_uplinks: 0,
            core_groups: 0,
            cores_per_group: 0,
            by_group: request.groups_in_pods,
            upper: None,
        })
    }

    /// Pods of leaves and spines, connected by cores. Pods are equal, as few as the spine ports allow; spines
    /// of a pod follow the rule of two tiers; `cores = pods * spines * spine uplinks / ports of a core`,
    /// in the grouping that needs fewest. Without oversubscription and with full pods: spines = leaves,
    /// cores = leaves / 2 (DGX B200 SuperPOD, 16 to 64 SU). `None` if three tiers are insufficient.
    fn three_tiers(request: &Request, split: &Split) -> Result<Option<Self>, Problem> {
        let Some((leaves_per_group, leaves)) = Self::leaves_for(request, split) else { return Ok(None) };
        let down = spine_down(request)?;
        // Leaves of a pod are at most the ports of a spine below; whole groups, if requested and possible.
        let whole = request.groups_in_pods && leaves_per_group <= down;
        let most = if whole { down / leaves_per_group * leaves_per_group } else { down };
        let pods = request.pods.unwrap_or_else(|| leaves.div_ceil(most)).max(1);
        let leaves_per_pod = if whole {
            request.groups.div_ceil(pods).saturating_mul(leaves_per_group)
        } else {
            leaves.div_ceil(pods)
        };
        // Empty pods are not built.
        let pods = leaves.div_ceil(leaves_per_pod.max(1));
        let Some(links) = leaves_per_pod.checked_mul(split.uplinks) else { return Ok(None) };
        let Some(spines_per_pod) = divisor_from(split.uplinks, links.div_ceil(down)) else { return Ok(None) };
        let used_down = links / spines_per_pod;
        let least = ((used_down as f64 / request.spine_oversubscription).ceil() as u64).max(1);
        // Fewest cores; among these the most core groups, which is the classic wiring, and the fewest
        // uplinks.
        let mut best: Option<(u64, Self)> = None;
        let groupings: Vec<u64> =
            (1..=spines_per_pod).rev().filter(|groups| spines_per_pod.is_multiple_of(*groups)).collect();
        for spine_uplinks in least..=request.spine_ports().saturating_sub(used_down) {
            for &core_groups in &groupings {
                let from_pod = spine_uplinks * (spines_per_pod / core_groups);
                let cores_per_group = (pods * from_pod).div_ceil(request.core_ports());
                let cores = core_groups * cores_per_group;
                // Every pod must reach every core of a group, or pods could not reach each other.
                if cores_per_group > from_pod || best.as_ref().is_some_and(|(fewest, _)| cores >= *fewest) {
                    continue;
                }
                let clos = Self {
                    tiers: 3,
                    groups: request.groups,
                    endpoints_per_group: request.endpoints,
                    hosts_per_leaf: split.hosts,
                    leaves_per_group,
                    leaf_uplinks: split.uplinks,
                    pods,
                    leaves_per_pod,
                    spines_per_pod,
                    spine_uplinks,
                    core_groups,
                    cores_per_group,
                    by_group: request.groups_in_pods,
                    upper: None,
                };
                best = Some((cores, clos));
            }
        }
        Ok(best.map(|(_, clos)| clos))
    }
}

/// Maximum endpoints by number of tiers: the ports of a leaf, a leaf below each port of a spine, a pod below
/// each port of a core. A zone below each port of a top switch. With switches of `k` ports at 1:1 these are
/// k, k^2/2, k^3/4 and k^4/8.
pub fn most_endpoints(request: &Request, tiers: u64) -> u64 {
    let Ok(split) = Split::of(request) else { return 0 };
    let down = spine_down(request).unwrap_or(0);
    match tiers {
        1 => (request.radix - request.backup_ports) * request.hosts_per_port,
        2 => request.spine_ports().saturating_mul(split.hosts),
        3 => request.core_ports().saturating_mul(down).saturating_mul(split.hosts),
        _ => {
            let zone = core_down(request).unwrap_or(0).saturating_mul(down).saturating_mul(split.hosts);
            request.top_ports().saturating_mul(zone)
        }
    }
}

fn too_many(request: &Request, split: &Split) -> Problem {
    let tiers = request.tiers.unwrap_or(if request.zones.is_some() { 4 } else { 3 });
    let most = most_endpoints(request, tiers);
    let asked = request.groups.saturating_mul(request.endpoints);
    // Smallest larger radix that suffices with the same settings.
    let wider = (1..=6).map(|n| request.radix << n).find(|radix| {
        let hosts_per_leaf = request.hosts_per_leaf;
        Clos::new_quietly(&Request { radix: *radix, hosts_per_leaf, pods: None, ..*request })
    });
    // The same for spines alone, as modular chassis.
    let chassis = (1..=6).map(|n| request.spine_ports() << n).find(|ports| {
        tiers > 1 && Clos::new_quietly(&Request { spine_radix: Some(*ports), pods: None, ..*request })
    });
    let (s, ports) = (if tiers == 1 { "" } else { "s" }, request.ports());
    let message = if asked > most {
        format!(
            "{} endpoints exceed the {} that {tiers} tier{s} of {ports}-port switches connect",
            human::whole(asked),
            human::whole(most)
        )
    } else {
        let leaves = request.groups * request.endpoints.div_ceil(split.hosts);
        format!(
            "{leaves} leaves for {} groups of {} endpoints exceed {tiers} tier{s} of {ports}-port switches",
            request.groups, request.endpoints
        )
    };
    let mut hints = Vec::new();
    if let Some(wider) = wider {
        hints.push(format!("design.radix = {wider} is sufficient"));
    }
    if let Some(chassis) = chassis {
        hints.push(format!("design.spine_radix = {chassis} (modular spines) is sufficient"));
    }
    if request.tiers.is_some_and(|tiers| tiers < 3) {
        hints.push("more tiers may be sufficient".to_owned());
    } else if tiers == 3 && Clos::new_quietly(&Request { tiers: Some(4), pods: None, ..*request }) {
        hints.push("design.tiers = 4 is sufficient".to_owned());
    }
    hints.push(
        "rail-only requires fewer ports per fabric; more planes double the ports of a switch".to_owned(),
    );
    let problem = Problem::new(message).at_key("design.gpus").hint(hints.join("; "));
    wider.into_iter().fold(problem, |problem, radix| problem.remedy("design.radix", radix))
}

impl Clos {
    /// Tests whether a request can be built. [`too_many`] calls this, so it must not call [`too_many`].
    fn new_quietly(request: &Request) -> bool {
        let Ok(split) = Split::of(request) else { return false };
        match request.tiers {
            Some(1) => Self::one_tier(request).is_some(),
            Some(2) => Self::two_tiers(request, &split).is_some(),
            Some(4) => matches!(Self::four_tiers(request, &split), Ok(Some(_))),
            None if request.zones.is_some() => matches!(Self::four_tiers(request, &split), Ok(Some(_))),
            _ => matches!(Self::three_tiers(request, &split), Ok(Some(_))),
        }
    }
}

impl Clos {
    /// Zones of three tiers, connected by top switches. Zones are equal, as few as the ports of cores allow
    /// or as requested, and contain all groups. `tops = zones * cores * core uplinks / ports of a top
    /// switch`, in the grouping that needs fewest, so that every zone reaches every top switch of a
    /// group. `None` if four tiers are insufficient.
    fn four_tiers(request: &Request, split: &Split) -> Result<Option<Self>, Problem> {
        let down = core_down(request)?;
        let (per_group, hosts) = (request.endpoints.div_ceil(split.hosts), split.hosts);
        // Leaves of a zone: a pod below each port of a core, a leaf below each port of a spine.
        let most = down.saturating_mul(spine_down(request)?) / request.groups.max(1);
        if most == 0 {
            return Ok(None);
        }
        let zones = request.zones.unwrap_or(1).max(per_group.div_ceil(most));
        if let Some(asked) = request.zones.filter(|asked| *asked < zones) {
            return Err(Problem::new(format!(
                "{asked} zones are too few for {} endpoints",
                human::whole(request.groups.saturating_mul(request.endpoints))
            ))
            .at_key("design.zones")
            .hint(format!("{zones} zones are sufficient"))
            .remedy("design.zones", zones));
        }
        let leaves_per_zone = per_group.div_ceil(zones);
        let zones = per_group.div_ceil(leaves_per_zone);
        let of_zone = Request {
            endpoints: leaves_per_zone.saturating_mul(hosts),
            core_radix: Some(down),
            spine_radix: Some(request.spine_ports()),
            ..*request
        };
        let Some(zone) = Self::three_tiers(&of_zone, split)? else { return Ok(None) };
        let cores = zone.core_groups * zone.cores_per_group;
        let used_down = zone.spine_core_links().div_ceil(cores.max(1));
        let least = ((used_down as f64 / request.core_oversubscription).ceil() as u64).max(1);
        let mut best: Option<Upper> = None;
        let groupings: Vec<u64> = (1..=cores).rev().filter(|groups| cores.is_multiple_of(*groups)).collect();
        for core_uplinks in least..=request.core_ports().saturating_sub(used_down) {
            for &groups in &groupings {
                let from_zone = core_uplinks * (cores / groups);
                let Some(links) = zones.checked_mul(from_zone) else { return Ok(None) };
                let per_group = links.div_ceil(request.top_ports());
                let tops = groups * per_group;
                // Every zone must reach every top switch of a group.
                if per_group <= from_zone && best.is_none_or(|best| tops < best.tops) {
                    best = Some(Upper { zones, core_uplinks, tops, groups });
                }
            }
        }
        Ok(best.map(|upper| Self {
            tiers: 4,
            endpoints_per_group: request.endpoints,
            leaves_per_group: per_group,
            pods: zone.pods * zones,
            upper: Some(upper),
            ..zone
        }))
    }
}

#[cfg(test)]
mod tests;
