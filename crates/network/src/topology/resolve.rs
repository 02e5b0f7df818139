//! User settings of a network to a complete design.
//!
//! Responsible for: defaults, and errors with their key for designs that cannot be built. Does not read text.

use super::clos::{Clos, Request};
use super::design::{Cabling, ClosNetwork, Connection, Design, Domain, Fabric};
use super::dragonfly::{Dragonfly, DragonflyPlus, GroupRequest, SlimFly};
use super::kind::{Forwarding, Kind, Medium, Routing};
use super::scale_up::ScaleUp;
use super::spec::DesignSpec;
use super::torus::Torus;
use railwright_spec::human;
use railwright_spec::problem::Problem;
use railwright_spec::quantity::{BytesPerSecond, Seconds};
use railwright_spec::run::Section as _;

/// Maximum number of devices, 100 times the largest system: a larger number is a typing error.
pub const MOST_DEVICES: u64 = 1 << 24;
/// Routes of one connection: more than these are equivalent to spraying.
const MOST_ROUTES: u64 = 1024;
/// Maximum number of ports of a switch.
pub(super) const MOST_PORTS: u64 = 4096;

impl DesignSpec {
    /// The network with every value set. Problems carry the invalid key; see `Sheet::placed`.
    pub fn resolve(&self) -> Result<Design, Problem> {
        let kind = self.kind.unwrap_or(Kind::Clos);
        let devices = within("gpus", self.devices.unwrap_or(1024), 1, MOST_DEVICES)?;
        let radix = within("radix", self.radix.unwrap_or(64), 2, MOST_PORTS)?;
        let planes = within("planes", self.planes.unwrap_or(usual_planes(kind)), 1, 64)?;
        let domain = self.domain(kind, devices)?;
        let rails = self.rails(kind, domain.size)?;
        let nic_bandwidth = speed("speed", self.speed, BytesPerSecond::from_gbit(400.0))?;
        let usual = if kind == Kind::DualPlane { nic_bandwidth } else { nic_bandwidth / planes as f64 };
        let port_bandwidth = speed("port_speed", self.port_speed, usual)?;
        let ports_per_switch = ports_at(radix, nic_bandwidth, port_bandwidth)?;
        let links_per_cable = within("links_per_cable", self.links_per_cable.unwrap_or(1), 1, 16)?;
        let mut design = Design {
            name: self.title(),
            kind,
            devices,
            domain,
            nic_bandwidth,
            planes,
            rails,
            radix,
            port_bandwidth,
            ports_per_switch,
            fabric: Fabric::None,
            extra_endpoints: within("extra_endpoints", self.extra_endpoints.unwrap_or(0), 0, MOST_DEVICES)?,
            links_per_cable,
            routing: self.routing.or(kind.usual_routing()).unwrap_or_default(),
            connection: self.connection(planes)?,
            seed: self.seed.unwrap_or(0),
            forwarding: Forwarding::None,
            link_latency: latency("link_latency", self.link_latency)?,
            cabling: self.cabling()?,
            side: Vec::new(),
        };
        design.fabric = self.fabric(&design)?;
        design.side = self.side_networks(&design)?;
        check_routing(kind, self.routing)?;
        if self.flowlets.is_some_and(|flowlets| flowlets > 1) && !design.routing.is_hashed() {
            return Err(Problem::new(format!("`{}` routing has no flowlets", design.routing.name()))
                .at_key("design.flowlets")
                .hint("set design.routing to `ecmp`, or omit flowlets"));
        }
        design.forwarding = match self.forwarding {
            Some(Forwarding::None) if design.separates_rails() => {
                return Err(Problem::new(
                    "without forwarding, devices on different rails cannot reach each other",
                )
                .at_key("design.forwarding")
                .hint("choose `before` or `after`, or a kind that joins rails such as `rail-optimized`"));
            }
            Some(given) => given,
            // NCCL sends through the device on the receiver's rail (PXN) by default since 2.12, even where
            // switches join the rails.
            None if design.rails > 1 => Forwarding::Before,
            None => Forwarding::None,
        };
        Ok(design)
    }

    fn connection(&self, planes: u64) -> Result<Connection, Problem> {
        let usual = Connection::default();
        let connection = Connection {
            channels: within("channels", self.channels.unwrap_or(usual.channels), 1, 64)?,
            queue_pairs: within("queue_pairs", self.queue_pairs.unwrap_or(usual.queue_pairs), 1, 128)?,
            flowlets: within("flowlets", self.flowlets.unwrap_or(usual.flowlets), 1, MOST_ROUTES)?,
            plane_striping: self.plane_striping.unwrap_or(usual.plane_striping),
        };
        let routes = connection.routes() * planes;
        if routes > MOST_ROUTES {
            return Err(Problem::new(format!(
                "a connection has {routes} routes (channels x queue pairs x flowlets x planes), more than {MOST_ROUTES}"
            ))
            .at_key("design.channels")
            .hint("NCCL uses 2 channels and 1 queue pair per network peer"));
        }
        Ok(connection)
    }

    fn domain(&self, kind: Kind, devices: u64) -> Result<Domain, Problem> {
        let usual = match kind {
            Kind::ScaleUp => devices,
            Kind::Torus => 1,
            // A handful of devices is one domain.
            _ => self.devices.map_or(8, |n| n.min(8)),
        };
        let size = within("domain", self.domain.unwrap_or(usual), 1, MOST_DEVICES)?;
        if !devices.is_multiple_of(size) {
            let below = devices / size * size;
            let near: Vec<u64> = [below, below + size].into_iter().filter(|number| *number > 0).collect();
            let listed = near.iter().map(|number| human::whole(*number)).collect::<Vec<_>>().join(" or ");
            let devices = human::whole(devices);
            let problem =
                Problem::new(format!("{devices} devices are not a multiple of the domain size {size}"))
                    .at_key("design.domain")
                    .hint(format!("use {listed} devices, or a domain size that divides {devices}"));
            return Err(near.into_iter().fold(problem, |problem, near| problem.remedy("design.gpus", near)));
        }
        if kind == Kind::ScaleUp && size != devices {
            return Err(Problem::new(format!("a scale-up network is one domain of all {devices} devices"))
                .at_key("design.domain")
                .hint("omit design.domain, or choose another kind"));
        }
        let bandwidth = speed("domain_bandwidth", self.domain_bandwidth, BytesPerSecond::from_gb(450.0))?;
        let parts = self.domain_parts(size)?;
        Ok(Domain { size, bandwidth, latency: latency("domain_latency", self.domain_latency)?, parts })
    }

    fn domain_parts(&self, size: u64) -> Result<Option<ScaleUp>, Problem> {
        let Some(text) = &self.domain_parts else {
            let key = match (self.domain_spares, self.domain_without_part) {
                (Some(_), _) => "design.domain_spares",
                (None, Some(_)) => "design.domain_without_part",
                (None, None) => return Ok(None),
            };
            return Err(Problem::new("the parts of the scale-up domain are unknown")
                .at_key(key)
                .hint("set design.domain_parts, such as `gb200-nvl72`"));
        };
        let parts = ScaleUp::read(text, size)?;
        let spares = within("domain_spares", self.domain_spares.unwrap_or(0), 0, size - 1)?;
        Ok(Some(ScaleUp { spares, without_part: self.domain_without_part.unwrap_or_default(), ..parts }))
    }

    fn rails(&self, kind: Kind, domain: u64) -> Result<u64, Problem> {
        let usual = match kind {
            Kind::RailOptimized | Kind::RailOnly | Kind::Trimmed | Kind::DualPlane => domain,
            _ => 1,
        };
        let rails = within("rails", self.rails.unwrap_or(usual), 1, MOST_DEVICES)?;
        if !domain.is_multiple_of(rails) {
            return Err(Problem::new(format!("{rails} rails do not divide a domain of {domain} devices"))
                .at_key("design.rails")
                .hint("a rail has the same number of devices in every domain"));
        }
        if rails > 1 && !kind.is_clos() {
            return Err(Problem::new(format!("a {} has no rails", kind.name())).at_key("design.rails"));
        }
        Ok(rails)
    }

    fn cabling(&self) -> Result<[Cabling; 3], Problem> {
        let cabling = |key: &str, medium: Option<Medium>, length: Option<f64>, usual: f64| {
            let length = length.unwrap_or(usual);
            if (0.0..=1e5).contains(&length) {
                Ok(Cabling { medium: medium.unwrap_or_default(), length })
            } else {
                Err(Problem::new(format!("{length} m is not a valid cable length"))
                    .at_key(format!("design.{key}"))
                    .hint("use 0 m to 100 km"))
            }
        };
        let access = if self.kind == Some(Kind::Torus) { Some(Medium::Copper) } else { None };
        Ok([
            cabling("access_length", self.access_medium.or(access), self.access_length, 5.0)?,
            cabling("spine_length", self.spine_medium, self.spine_length, 30.0)?,
            cabling("core_length", self.core_medium, self.core_length, 100.0)?,
        ])
    }

    fn group_request(&self, design: &Design) -> GroupRequest {
        GroupRequest {
            endpoints: design.devices,
            radix: design.ports_per_switch,
            groups: self.groups,
            routers: self.routers_per_group,
            hosts: self.hosts_per_router,
            globals: self.globals_per_router,
            spines: self.spines_per_group,
        }
    }

    fn fabric(&self, design: &Design) -> Result<Fabric, Problem> {
        self.refuse_foreign_keys(design.kind)?;
        for (key, given) in [
            ("groups", self.groups),
            ("routers_per_group", self.routers_per_group),
            ("hosts_per_router", self.hosts_per_router),
            ("globals_per_router", self.globals_per_router),
            ("spines_per_group", self.spines_per_group),
            ("pods", self.pods),
            ("zones", self.zones),
            ("hosts_per_leaf", self.hosts_per_leaf),
        ] {
            within(key, given.unwrap_or(1), u64::from(key != "globals_per_router"), MOST_DEVICES)?;
        }
        Ok(match design.kind {
            Kind::ScaleUp => Fabric::None,
            Kind::Torus => Fabric::Torus(Torus::new(design.devices, self.dimensions.as_deref(), self.cube)?),
            Kind::SlimFly => Fabric::SlimFly(SlimFly::new(design.devices, design.ports_per_switch)?),
            Kind::Dragonfly => Fabric::Dragonfly(Dragonfly::new(&self.group_request(design))?),
            Kind::DragonflyPlus => Fabric::DragonflyPlus(DragonflyPlus::new(&self.group_request(design))?),
            _ => Fabric::Clos(self.clos(design)?),
        })
    }

    /// A key of another family would be ignored in silence.
    fn refuse_foreign_keys(&self, kind: Kind) -> Result<(), Problem> {
        // Keys of prices and wires are harmless; the shape is not.
        let shape = [
            "tiers",
            "spine_radix",
            "core_radix",
            "top_radix",
            "core_oversubscription",
            "leaf_oversubscription",
            "spine_oversubscription",
            "pods",
            "zones",
            "hosts_per_leaf",
            "backup_ports",
            "groups",
            "routers_per_group",
            "hosts_per_router",
            "globals_per_router",
            "spines_per_group",
            "dimensions",
            "cube",
        ];
        let is_foreign = |key: &&&str| self.get(key).is_some() && !kind.takes(key);
        let planes = self.planes.is_some_and(|planes| planes > 1) && !kind.takes("planes");
        match shape.iter().find(is_foreign).or_else(|| planes.then_some(&"planes")) {
            Some(key) => Err(Problem::new(format!("a {} has no `{key}`", kind.name()))
                .at_key(format!("design.{key}"))
                .hint("`railwright network topologies` lists the settings of each kind")),
            None => Ok(()),
        }
    }

    fn clos(&self, design: &Design) -> Result<ClosNetwork, Problem> {
        let host = design.nic_port_bandwidth();
        let ratio = design.port_bandwidth / host;
        if ratio < 1.0 - 1e-9 || (ratio - ratio.round()).abs() > 1e-9 * ratio || ratio > 64.0 {
            return Err(Problem::new(format!(
                "a switch port of {} is not a multiple of NIC ports of {}",
                human::bandwidth(design.port_bandwidth),
                human::bandwidth(host)
            ))
            .at_key("design.port_speed")
            .hint("set design.port_speed to a multiple of design.speed / design.planes"));
        }
        let hosts_per_port = ratio.round() as u64;
        let separate = design.kind == Kind::RailOnly;
        let per_rail = design.devices / design.rails;

        let extra = design.extra_endpoints;
        let backup = self.backup_ports.unwrap_or(0);
        let ports = design.ports_per_switch;
        if backup.div_ceil(hosts_per_port) >= ports {
            return Err(Problem::new(format!("{backup} backup ports use all {ports} ports"))
                .at_key("design.backup_ports"));
        }
        let ports_of = |key: &str, radix: Option<u64>| -> Result<Option<u64>, Problem> {
            let Some(radix) = radix else { return Ok(None) };
            let radix = within(key, radix, 2, MOST_PORTS)?;
            let at_key = |problem: Problem| problem.at_key(format!("design.{key}"));
            ports_at(radix, design.nic_bandwidth, design.port_bandwidth).map(Some).map_err(at_key)
        };
        let mut request = Request {
            groups: if separate { 1 } else { design.rails },
            endpoints: per_rail,
            radix: ports,
            spine_radix: ports_of("spine_radix", self.spine_radix)?,
            core_radix: ports_of("core_radix", self.core_radix)?,
            top_radix: ports_of("top_radix", self.top_radix)?,
            hosts_per_port,
            hosts_per_leaf: self.hosts_per_leaf,
            // The NICs of a server are on different leaves if each rail has its own.
            server: if design.rails == 1 {
                self.server.unwrap_or_else(|| server(design.domain.size))
            } else {
                1
            },
            backup_ports: backup.div_ceil(hosts_per_port),
            tiers: self.tiers,
            leaf_oversubscription: ratio_from_one("leaf_oversubscription", self.leaf_oversubscription)?,
            spine_oversubscription: ratio_from_one("spine_oversubscription", self.spine_oversubscription)?
                .unwrap_or(1.0),
            core_oversubscription: ratio_from_one("core_oversubscription", self.core_oversubscription)?
                .unwrap_or(1.0),
            pods: self.pods,
            zones: self.zones,
            groups_in_pods: false,
        };
        let may_share = self.share_switches.unwrap_or(true);
        let rails_per_group = if separate || !may_share { 1 } else { sharing(&request, extra)? };
        request.groups /= rails_per_group;
        // Extra endpoints spread over the groups.
        let endpoints = per_rail * rails_per_group;
        request.endpoints = endpoints + extra.div_ceil(request.groups);
        let clos = match (design.kind, request.groups) {
            // Rails whose traffic stays in a pod need no cores; the rest of the tree is removed below.
            (Kind::Trimmed, _) => Clos::new(&Request { groups_in_pods: true, ..request })?,
            (_, 1) => Clos::new(&request)?,
            _ => {
                // Unit by unit, so that a pod has whole domains; rail by rail if one unit is larger than a
                // pod.
                let units = Clos::new(&request)?;
                if units.tiers == 3 && (self.pods.is_some() || units.leaves_per_pod < request.groups) {
                    Clos::new(&Request { groups_in_pods: true, ..request })?
                } else {
                    units
                }
            }
        };
        let fabrics_per_switch = if separate && clos.tiers == 1 && may_share {
            (clos.hosts_per_leaf / request.endpoints).clamp(1, design.rails)
        } else {
            1
        };
        Ok(ClosNetwork {
            // Capacity reserved for extra endpoints is not filled with devices.
            clos: Clos { endpoints_per_group: endpoints, ..clos },
            fabrics_per_plane: if separate { design.rails } else { 1 },
            fabrics_per_switch,
            rails_per_group,
            kept_tiers: if design.kind == Kind::Trimmed { kept_tiers(&clos) } else { clos.tiers },
            hosts_per_port,
            spine_ports: request.spine_ports(),
            core_ports: request.core_ports(),
            top_ports: clos.upper.map(|_| request.top_ports()),
        })
    }
}

/// Devices of a server: at most 8 in common ones. Larger domains consist of servers.
fn server(domain: u64) -> u64 {
    (1..=8).rev().find(|devices| domain.is_multiple_of(*devices)).unwrap_or(1)
}

/// Rails per leaf; a divisor of all rails, so that leaves are equal.
fn sharing(request: &Request, extra: u64) -> Result<u64, Problem> {
    let each = request.endpoints + extra.div_ceil(request.groups);
    let most = (request.leaf_hosts()? / each).clamp(1, request.groups);
    Ok((1..=most).rev().find(|rails| request.groups.is_multiple_of(*rails)).unwrap_or(1))
}

/// Number of ports of a switch at one speed, from its radix at another.
fn ports_at(radix: u64, speed: BytesPerSecond, port: BytesPerSecond) -> Result<u64, Problem> {
    let ports = radix as f64 * (speed / port);
    if (ports - ports.round()).abs() > 1e-9 * ports || !(2.0..=65_536.0).contains(&ports.round()) {
        return Err(Problem::new(format!(
            "a switch of {radix} ports of {} has {ports:.2} ports of {}",
            human::bandwidth(speed),
            human::bandwidth(port)
        ))
        .at_key("design.port_speed")
        .hint("design.radix counts ports at design.speed; choose a port speed that divides radix x speed"));
    }
    Ok(ports.round() as u64)
}

/// Tiers of a rail-optimized tree with traffic within rails: leaves alone if a rail has one leaf, also spines
/// if its leaves are in one pod.
fn kept_tiers(clos: &Clos) -> u64 {
    if clos.tiers == 1 || clos.leaves_per_group == 1 {
        1
    } else if clos.by_group && clos.leaves_per_pod.is_multiple_of(clos.leaves_per_group) {
        clos.tiers.min(2)
    } else {
        clos.tiers
    }
}

const fn usual_planes(kind: Kind) -> u64 {
    match kind {
        Kind::DualPlane => 2,
        Kind::MultiPlane => 4,
        _ => 1,
    }
}

pub(super) fn within(key: &str, value: u64, least: u64, most: u64) -> Result<u64, Problem> {
    if (least..=most).contains(&value) {
        return Ok(value);
    }
    Err(Problem::new(format!("{value} is not between {least} and {}", human::whole(most)))
        .at_key(format!("design.{key}")))
}

fn speed(key: &str, given: Option<BytesPerSecond>, usual: BytesPerSecond) -> Result<BytesPerSecond, Problem> {
    let speed = given.unwrap_or(usual);
    if speed.get() > 0.0 && speed.get() <= 1e15 {
        return Ok(speed);
    }
    Err(Problem::new(format!("the bandwidth {} is not above 0", human::bandwidth(speed)))
        .at_key(format!("design.{key}"))
        .hint("use a value above 0, as in \"400 Gbit/s\""))
}

fn latency(key: &str, given: Option<Seconds>) -> Result<Seconds, Problem> {
    let latency = given.unwrap_or(Seconds::from_micros(1.0));
    if (0.0..=1.0).contains(&latency.get()) {
        return Ok(latency);
    }
    Err(Problem::new(format!("the latency {} is not between 0 and 1 s", human::seconds(latency)))
        .at_key(format!("design.{key}")))
}

fn ratio_from_one(key: &str, given: Option<f64>) -> Result<Option<f64>, Problem> {
    match given {
        // Below 1 there is more above than below (Meta's 1:1.125 at leaves).
        Some(ratio) if !(0.1..=1e4).contains(&ratio) => {
            Err(Problem::new(format!("the oversubscription {ratio} is not between 0.1 and 10,000"))
                .at_key(format!("design.{key}"))
                .hint("for example, 3 means three times as much downlink as uplink bandwidth"))
        }
        other => Ok(other),
    }
}

/// Detours through third groups need groups.
fn check_routing(kind: Kind, given: Option<Routing>) -> Result<(), Problem> {
    let known = kind.routings();
    let Some(routing) = given.filter(|routing| !known.is_empty() && !known.contains(routing)) else {
        return Ok(());
    };
    let names: Vec<&str> = known.iter().map(|routing| routing.name()).collect();
    let name = routing.name();
    Err(Problem::new(format!(
        "`{name}` routing requires intermediate groups, but a {} has none",
        kind.name()
    ))
    .at_key("design.routing")
    .hint(format!(
        "choose one of {}; `{name}` is for dragonflies{}",
        names.join(", "),
        if routing == Routing::Adaptive { " and trees" } else { "" }
    )))
}
