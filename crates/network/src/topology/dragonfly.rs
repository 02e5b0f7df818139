//! Sizes of dragonflies, of tori and of Slim Fly: counts of their parts, without a graph.
//!
//! Responsible for: equations of published counts. Does not build; [`super::Topology`] does.

use super::global::Wiring;
use railwright_spec::problem::Problem;
use serde::Serialize;

/// A dragonfly: `groups` groups of `routers` fully connected routers, each with a number of hosts and global
/// links.
///
/// J. Kim et al. (ISCA 2008): radix `p + a - 1 + h`, at most `a h + 1` groups, `a p g` hosts, balanced at `a
/// = 2p = 2h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Dragonfly {
    /// Groups, `g`.
    pub groups: u64,
    /// Routers in each group, `a`.
    pub routers: u64,
    /// Hosts at each router, `p`.
    pub hosts: u64,
    /// Global links of each router, `h`.
    pub globals: u64,
}

/// User settings of a dragonfly; open ones follow from the radix.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupRequest {
    /// Endpoints to join.
    pub endpoints: u64,
    /// Ports of a router or switch.
    pub radix: u64,
    /// Groups.
    pub groups: Option<u64>,
    /// Routers, or leaves, in a group.
    pub routers: Option<u64>,
    /// Hosts at a router, or under a leaf.
    pub hosts: Option<u64>,
    /// Global links of a router, or of a spine.
    pub globals: Option<u64>,
    /// Spines in a group of a dragonfly+.
    pub spines: Option<u64>,
}

/// Number of groups for a number of endpoints, if possible.
fn groups_for(request: &GroupRequest, per_group: u64, ports: u64) -> Result<u64, Problem> {
    let most = ports.saturating_add(1);
    let needed = request.endpoints.div_ceil(per_group.max(1)).max(1);
    let groups = request.groups.unwrap_or(needed);
    if groups > most {
        let problem = Problem::new(format!(
            "{groups} groups of {per_group} endpoints exceed the capacity of {ports} global ports: {most} \
             groups, or {} endpoints",
            most.saturating_mul(per_group)
        ));
        return Err(problem.at_key("design.gpus").hint(format!(
            "increase design.radix above {}, or increase design.globals_per_router",
            request.radix
        )));
    }
    if groups < needed {
        return Err(Problem::new(format!(
            "{groups} group{} of {per_group} endpoints {} no room for {} devices",
            if groups == 1 { "" } else { "s" },
            if groups == 1 { "has" } else { "have" },
            request.endpoints
        ))
        .at_key("design.groups")
        .hint(format!("{needed} groups are sufficient")));
    }
    Ok(groups)
}

fn ports_exceed(what: &str, used: u64, radix: u64, sum: &str) -> Problem {
    Problem::new(format!("a {what} requires {used} ports ({sum}), but has {radix}"))
        .at_key("design.radix")
        .hint(format!("increase design.radix to {used}, or reduce one of the terms"))
}

impl Dragonfly {
    /// Builds a dragonfly from the radix, balanced by default.
    pub fn new(request: &GroupRequest) -> Result<Self, Problem> {
        let balanced = (request.radix + 1) / 4;
        let hosts = request.hosts.unwrap_or(balanced);
        let globals = request.globals.unwrap_or(balanced);
        let routers = request.routers.unwrap_or(2 * balanced);
        let used = hosts.saturating_add(routers.saturating_sub(1)).saturating_add(globals);
        if hosts == 0 || routers == 0 || used > request.radix {
            let sum =
                format!("{hosts} hosts + {} to its group + {globals} global", routers.saturating_sub(1));
            return Err(ports_exceed("router", used.max(1), request.radix, &sum));
        }
        let groups = groups_for(request, routers * hosts, routers * globals)?;
        Ok(Self { groups, routers, hosts, globals })
    }

    /// Total number of routers: `g a`.
    pub const fn switches(&self) -> u64 {
        self.groups * self.routers
    }

    /// Links within groups: `g a (a - 1) / 2`.
    pub const fn local_links(&self) -> u64 {
        self.groups * (self.routers * (self.routers - 1) / 2)
    }

    /// Links between groups: `g a h / 2`.
    pub const fn global_links(&self) -> u64 {
        self.wiring().links()
    }

    /// Endpoints that fit: `g a p`.
    pub const fn room(&self) -> u64 {
        self.groups * self.routers * self.hosts
    }

    pub(crate) const fn wiring(&self) -> Wiring {
        Wiring::new(self.groups, self.routers * self.globals)
    }
}

/// A dragonfly+: groups are two-tier trees, global links leave from the spines (A. Shpiner et al., HiPINEB
/// 2017).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DragonflyPlus {
    /// Groups.
    pub groups: u64,
    /// Leaves in each group.
    pub leaves: u64,
    /// Spines in each group; each is joined to each leaf once.
    pub spines: u64,
    /// Hosts under each leaf.
    pub hosts: u64,
    /// Global links of each spine.
    pub globals: u64,
}

impl DragonflyPlus {
    /// Builds a dragonfly+ from the radix, by default with half of the ports down and half up.
    pub fn new(request: &GroupRequest) -> Result<Self, Problem> {
        let half = request.radix / 2;
        let leaves = request.routers.unwrap_or(half);
        let spines = request.spines.unwrap_or(half);
        let hosts = request.hosts.unwrap_or(request.radix.saturating_sub(spines).min(half));
        let globals = request.globals.unwrap_or(request.radix.saturating_sub(leaves).min(half));
        let (leaf, spine) = (hosts.saturating_add(spines), leaves.saturating_add(globals));
        if hosts == 0 || spines == 0 || leaf > request.radix {
            let sum = format!("{hosts} hosts + {spines} spines");
            return Err(ports_exceed("leaf", leaf.max(2), request.radix, &sum));
        }
        if leaves == 0 || spine > request.radix {
            let sum = format!("{leaves} leaves + {globals} global");
            return Err(ports_exceed("spine", spine.max(2), request.radix, &sum));
        }
        let groups = groups_for(request, leaves * hosts, spines * globals)?;
        Ok(Self { groups, leaves, spines, hosts, globals })
    }

    /// Links within groups: `g leaves spines`.
    pub const fn local_links(&self) -> u64 {
        self.groups * self.leaves * self.spines
    }

    /// Links between groups: `g spines globals / 2`.
    pub const fn global_links(&self) -> u64 {
        self.wiring().links()
    }

    /// Endpoints that fit.
    pub const fn room(&self) -> u64 {
        self.groups * self.leaves * self.hosts
    }

    pub(crate) const fn wiring(&self) -> Wiring {
        Wiring::new(self.groups, self.spines * self.globals)
    }
}

/// Slim Fly on McKay-Miller-Siran graphs (M. Besta and T. Hoefler, SC 2014): `2 q^2` routers of degree `(3q -
/// d) / 2`, where `q = 4w + d` and `d` is -1, 0 or 1, with `ceil(degree / 2)` hosts each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SlimFly {
    /// The order of the field.
    pub q: u64,
    /// Links of a router to routers.
    pub degree: u64,
    /// Hosts at each router.
    pub hosts: u64,
}

impl SlimFly {
    /// The smallest that joins the endpoints with routers of the radix: of a `q` with a construction
    /// ([`Self::is_constructible`]), else of any other of the form `4w + d`. Published tables count such
    /// graphs as well (q = 28), and reports state that no construction is known.
    pub fn new(endpoints: u64, radix: u64) -> Result<Self, Problem> {
        let sizes = || {
            let all = (3..=radix).filter(|q| q % 4 != 2).map(Self::with);
            all.take_while(|of| of.degree + of.hosts <= radix)
        };
        let enough = |of: &Self| of.room() >= endpoints;
        if let Some(of) = sizes().filter(Self::is_constructible).find(enough).or_else(|| sizes().find(enough))
        {
            return Ok(of);
        }
        let largest = sizes().map(|of| of.room()).max().unwrap_or(0);
        Err(Problem::new(format!(
            "{endpoints} endpoints exceed the {largest} that a Slim Fly of {radix}-port routers connects"
        ))
        .at_key("design.gpus")
        .hint("increase design.radix"))
    }

    /// Tests whether the construction exists: it requires a finite field of order `q`, and one exists for
    /// powers of a prime only.
    pub fn is_constructible(&self) -> bool {
        let Some(prime) = (2..=self.q).find(|n| self.q.is_multiple_of(*n)) else { return false };
        let mut rest = self.q;
        while rest.is_multiple_of(prime) {
            rest /= prime;
        }
        rest == 1
    }

    /// The graph of this order.
    pub const fn with(q: u64) -> Self {
        // 3q - d with d = 1 for q = 4w + 1, 0 for 4w, -1 for 4w + 3.
        let degree = match q % 4 {
            1 => (3 * q - 1) / 2,
            3 => (3 * q).div_ceil(2),
            _ => 3 * q / 2,
        };
        Self { q, degree, hosts: degree.div_ceil(2) }
    }

    /// Routers: `2 q^2`.
    pub const fn switches(&self) -> u64 {
        2 * self.q * self.q
    }

    /// Links between routers: `q^2 degree`.
    pub const fn links(&self) -> u64 {
        self.q * self.q * self.degree
    }

    /// Endpoints that fit.
    pub const fn room(&self) -> u64 {
        self.switches() * self.hosts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(endpoints: u64, radix: u64) -> GroupRequest {
        GroupRequest { endpoints, radix, ..GroupRequest::default() }
    }

    #[test]
    fn counts_of_the_table_that_compares_topologies() {
        // arXiv 2505.09343, Table 3: dragonfly p = h = 16, a = 32, g = 511; Slim Fly q = 28 with 21 hosts.
        let dragonfly = Dragonfly::new(&request(261_632, 64)).expect("radix 63");
        assert_eq!(
            (dragonfly.hosts, dragonfly.globals, dragonfly.routers, dragonfly.groups),
            (16, 16, 32, 511)
        );
        assert_eq!((dragonfly.room(), dragonfly.switches()), (261_632, 16_352));
        assert_eq!(dragonfly.local_links() + dragonfly.global_links(), 384_272);
        let slim = SlimFly::new(32_928, 64).expect("radix 63");
        assert_eq!((slim.q, slim.degree, slim.hosts), (28, 42, 21));
        assert_eq!((slim.switches(), slim.links(), slim.room()), (1568, 32_928, 32_928));
        assert!(!slim.is_constructible(), "28 = 4 * 7 is the order of no field");
        // The example of the Slim Fly paper: q = 19, 722 routers of degree 29 and 10,830 endpoints.
        let paper = SlimFly::with(19);
        assert_eq!((paper.switches(), paper.degree, paper.room()), (722, 29, 10_830));
    }

    #[test]
    fn a_slim_fly_needs_a_finite_field() {
        // M. Besta and T. Hoefler, section II-B: q is a prime power 4w + d, d one of -1, 0, 1.
        let orders = (3..33).filter(|q| q % 4 != 2 && SlimFly::with(*q).is_constructible());
        assert_eq!(
            orders.collect::<Vec<_>>(),
            [3, 4, 5, 7, 8, 9, 11, 13, 16, 17, 19, 23, 25, 27, 29, 31, 32]
        );
        // 12 has enough room, but no field; 13 is next.
        let twelve = SlimFly::with(12);
        assert_eq!(SlimFly::new(twelve.room(), 64).expect("built").q, 13);
        // 28 is the largest that 64 ports allow, and beyond 27.
        assert_eq!(SlimFly::new(SlimFly::with(27).room(), 64).expect("built").q, 27);
        assert_eq!(SlimFly::new(SlimFly::with(27).room() + 1, 64).expect("counted").q, 28);
    }

    #[test]
    fn a_dragonfly_has_at_most_a_h_plus_1_groups() {
        let most = request(262_656, 64);
        assert_eq!(Dragonfly::new(&most).expect("513 groups").groups, 513);
        let problem = Dragonfly::new(&request(262_657, 64)).expect_err("514 groups");
        assert_eq!(
            problem.message,
            "514 groups of 512 endpoints exceed the capacity of 512 global ports: 513 groups, or 262656 endpoints"
        );
        let wide = GroupRequest { hosts: Some(40), ..request(1024, 64) };
        assert_eq!(
            Dragonfly::new(&wide).expect_err("too wide").message,
            "a router requires 87 ports (40 hosts + 31 to its group + 16 global), but has 64"
        );
    }

    #[test]
    fn a_dragonfly_plus_splits_its_ports_in_halves() {
        let plus = DragonflyPlus::new(&request(65_536, 64)).expect("64 groups");
        assert_eq!((plus.leaves, plus.spines, plus.hosts, plus.globals, plus.groups), (32, 32, 32, 32, 64));
        assert_eq!((plus.local_links(), plus.global_links()), (65_536, 32_768));
    }
}
