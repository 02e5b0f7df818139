//! Requirements for a folded Clos fabric, and the split of the ports of its switches.
//!
//! Responsible for: ports below and above each tier at its oversubscription. Excludes the number of switches
//! ([`super::clos`]).

use railwright_spec::problem::Problem;

/// Requirements for a fabric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Request {
    /// Groups of endpoints with separate leaves: rails, else 1.
    pub groups: u64,
    /// Endpoints in each group.
    pub endpoints: u64,
    /// Ports of a leaf.
    pub radix: u64,
    /// Ports of a spine, such as of a modular chassis; `None` for those of a leaf.
    pub spine_radix: Option<u64>,
    /// Ports of a core; `None` for those of a spine.
    pub core_radix: Option<u64>,
    /// Ports of a fourth-tier switch; `None` for those of a core.
    pub top_radix: Option<u64>,
    /// Endpoints that one switch port serves when it is split; 1 mostly.
    pub hosts_per_port: u64,
    /// Endpoints under a leaf, if not by the rule.
    pub hosts_per_leaf: Option<u64>,
    /// Neighbouring endpoints of one server, which the rule keeps under one leaf; 1 if they are on different
    /// leaves anyway.
    pub server: u64,
    /// Free switch ports of a leaf.
    pub backup_ports: u64,
    /// Tiers; `None` for the minimum.
    pub tiers: Option<u64>,
    /// Bandwidth below a leaf over bandwidth above it; `None` is 1, or the ratio that follows from
    /// `hosts_per_leaf`.
    pub leaf_oversubscription: Option<f64>,
    /// The same at a spine.
    pub spine_oversubscription: f64,
    /// The same at a core below top switches.
    pub core_oversubscription: f64,
    /// Pods; `None` for the minimum.
    pub pods: Option<u64>,
    /// Zones below top switches, such as buildings; `None` for the minimum.
    pub zones: Option<u64>,
    /// True to keep a group's leaves in one pod (numbered group by group), if they fit.
    pub groups_in_pods: bool,
}

impl Request {
    /// Ports of a spine.
    pub fn spine_ports(&self) -> u64 {
        self.spine_radix.unwrap_or(self.radix)
    }

    /// Ports of a core.
    pub fn core_ports(&self) -> u64 {
        self.core_radix.unwrap_or_else(|| self.spine_ports())
    }

    /// Ports of a fourth-tier switch.
    pub fn top_ports(&self) -> u64 {
        self.top_radix.unwrap_or_else(|| self.core_ports())
    }

    /// Ports of the switches, in words: of each tier where they differ.
    pub(super) fn ports(&self) -> String {
        if self.spine_ports() == self.radix && self.core_ports() == self.radix {
            return self.radix.to_string();
        }
        format!("{}/{}/{}", self.radix, self.spine_ports(), self.core_ports())
    }

    /// Ports of whole servers among the ports below a leaf; all of them if no server fits.
    fn whole(&self, down: u64) -> u64 {
        let server = self.server.div_ceil(self.hosts_per_port).max(1);
        if down < server { down } else { down - down % server }
    }

    /// Endpoints that fit under a leaf.
    pub fn leaf_hosts(&self) -> Result<u64, Problem> {
        Split::of(self).map(|split| split.hosts)
    }
}

/// Split of a leaf's ports into endpoints below and uplinks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Split {
    /// Endpoints below a leaf.
    pub(super) hosts: u64,
    /// Links upwards.
    pub(super) uplinks: u64,
}

impl Split {
    /// `down = ports * o / (1 + o)`, `uplinks = down / o`; `o` the oversubscription. Endpoints below a leaf
    /// are whole servers, if one fits, and may be given instead.
    pub(super) fn of(request: &Request) -> Result<Self, Problem> {
        let ports = request.radix.saturating_sub(request.backup_ports);
        let o = request.leaf_oversubscription;
        let down = if let Some(hosts) = request.hosts_per_leaf {
            hosts.div_ceil(request.hosts_per_port)
        } else {
            request.whole(below(ports, o.unwrap_or(1.0)))
        };
        let hosts = request.hosts_per_leaf.unwrap_or(down * request.hosts_per_port);
        let most = ports.saturating_sub(down);
        // Whole servers leave ports for more uplinks, so that the oversubscription is at most the requested
        // one.
        let up = |o: f64| {
            let up = down as f64 / o;
            if request.server > 1 { (up - 1e-9).ceil() } else { (up + 1e-9).floor() }
        };
        let uplinks = o.map_or_else(|| most.min(down), |o| (up(o) as u64).min(most));
        if hosts == 0 || uplinks == 0 {
            return Err(Problem::new(format!(
                "a leaf of {} ports with {} backup ports has {hosts} ports for devices and {uplinks} uplinks",
                request.radix, request.backup_ports
            ))
            .at_key("design.radix")
            .hint("increase design.radix, or reduce the oversubscription or design.hosts_per_leaf"));
        }
        Ok(Self { hosts, uplinks })
    }
}

impl Split {
    /// Splits of at most the same oversubscription whose uplinks have more divisors, so that fewer spines
    /// divide them. Uplinks are rounded down to powers of two and to the leaf of the network without
    /// oversubscription; those of a leaf with whole servers also rounded up.
    pub(super) fn equivalents(&self, request: &Request) -> Vec<Self> {
        let (Some(o), None) = (request.leaf_oversubscription, request.hosts_per_leaf) else {
            return Vec::new();
        };
        if o <= 1.0 {
            return Vec::new();
        }
        let half = request.radix.saturating_sub(request.backup_ports) / 2;
        let rounded = (1..64).map(|bits| self.uplinks >> bits << bits).take_while(|uplinks| *uplinks > 0);
        let mut uplinks: Vec<u64> = rounded.chain([(half as f64 / o) as u64]).collect();
        uplinks.dedup();
        uplinks.retain(|n| *n > 0 && *n < self.uplinks);
        let down = |uplinks: u64| request.whole((uplinks as f64 * o + 1e-9).floor() as u64);
        let of = |uplinks: u64| Self { hosts: down(uplinks) * request.hosts_per_port, uplinks };
        let taken = self.hosts.div_ceil(request.hosts_per_port) + request.backup_ports;
        let most = half.min(request.radix.saturating_sub(taken));
        let fuller = self.uplinks + 1..=if request.server > 1 { most } else { 0 };
        let fuller = fuller.map(|uplinks| Self { uplinks, ..*self });
        // If ports do not divide at the requested ratio, the split has less oversubscription.
        let holds_server = |split: &Self| split.hosts >= request.server.min(self.hosts);
        uplinks.into_iter().map(of).filter(holds_server).chain(fuller).collect()
    }
}

/// Ports below of a switch with `ports` and oversubscription `o`: `ports * o / (1 + o)`.
fn below(ports: u64, o: f64) -> u64 {
    (ports as f64 * o / (1.0 + o) + 1e-9).floor() as u64
}

/// Ports of a spine below when there are cores above.
pub(super) fn spine_down(request: &Request) -> Result<u64, Problem> {
    down("spine", request.spine_ports(), request.spine_oversubscription)
}

/// Ports of a core below when there are top switches above.
pub(super) fn core_down(request: &Request) -> Result<u64, Problem> {
    down("core", request.core_ports(), request.core_oversubscription)
}

fn down(tier: &str, ports: u64, o: f64) -> Result<u64, Problem> {
    let down = below(ports, o);
    if down == 0 || down >= ports {
        return Err(Problem::new(format!(
            "a {tier} of {ports} ports with oversubscription {o} has {down} downlinks"
        ))
        .at_key(format!("design.{tier}_oversubscription"))
        .hint("choose an oversubscription below the radix"));
    }
    Ok(down)
}
