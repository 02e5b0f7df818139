//! Storage, in-band and out-of-band networks of the servers of a design.
//!
//! Responsible for: their settings, sizes and parts, for the bill of a whole site. Excludes their traffic:
//! steps do not use them.
//!
//! A storage or in-band network is one folded Clos for each port of a server, so that a server keeps a port
//! when a switch fails. An out-of-band network is a tier of copper switches with two uplinks each to the
//! in-band network. It connects servers, the switches of all other networks, and further ports. The rules are
//! those of NVIDIA's DGX SuperPOD reference architecture with H100 systems (RA-11333-001 V11, sections
//! Storage Fabric, In-Band and Out-of-Band Management Network, tables 7 and 8).

use super::clos::{Clos, Request};
use super::counts::{Counts, LayerCount, TierCount};
use super::design::{Cabling, Design};
use super::graph::Layer;
use super::kind::Medium;
use super::resolve::{MOST_DEVICES, MOST_PORTS, within};
use super::side::{Purpose, SideNetwork};
use super::spec::DesignSpec;
use railwright_spec::human;
use railwright_spec::problem::{Problem, did_you_mean};
use railwright_spec::quantity::BytesPerSecond;
use railwright_spec::run::{Field as _, Value};

/// Settings of a side network, in its key.
const SETTINGS: [&str; 7] = ["ports", "speed", "radix", "oversubscription", "endpoints", "medium", "uplinks"];
/// Uplinks of an out-of-band switch ("Two uplinks per OOB to in-band", table 8).
const UPLINKS: u64 = 2;
/// Ports of an out-of-band switch (SN2201: 48 RJ45 ports, table 7).
const COPPER_PORTS: u64 = 48;
/// Accelerators of a server at most, if the domain is a server.
const LARGEST_SERVER: u64 = 8;

impl SideNetwork {
    /// Parts, as those of a network of accelerators. NICs are ports of servers; those of an out-of-band
    /// network are part of the servers.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts { tiers: Vec::new(), layers: Vec::new(), nics: 0, circuit_ports: 0 };
        let hosts = self.servers * self.ports + self.endpoints;
        if self.purpose != Purpose::OutOfBand {
            counts.nics = self.servers * self.ports;
        }
        let clos = &self.clos;
        let (lower, upper) = (self.fabrics * clos.leaf_spine_links(), self.fabrics * clos.spine_core_links());
        let mut tier = |name, switches: u64, ports_used| {
            if switches > 0 {
                let (switches, ports) = (self.fabrics * switches, self.fabrics * switches * self.radix);
                counts.tiers.push(TierCount { name, switches, ports_used, ports });
            }
        };
        tier("leaf", clos.leaves(), hosts + lower);
        tier("spine", clos.spines(), lower + upper);
        tier("core", clos.cores(), upper);
        for (layer, links, cabling) in [
            (Layer::Access, hosts, self.cabling[0]),
            (Layer::LeafSpine, lower, self.cabling[1]),
            (Layer::SpineCore, upper, self.cabling[1]),
        ] {
            if links > 0 {
                let transceivers = cabling.medium.transceivers(layer == Layer::Access) * links;
                let bandwidth = self.speed;
                counts.layers.push(LayerCount {
                    layer,
                    links,
                    cables: links,
                    cabling,
                    transceivers,
                    bandwidth,
                });
            }
        }
        counts
    }
}

/// Settings of one side network: those given, over the defaults of its purpose.
struct Asked {
    ports: u64,
    speed: BytesPerSecond,
    radix: u64,
    oversubscription: f64,
    endpoints: u64,
    medium: Medium,
    uplinks: u64,
}

impl Asked {
    fn usual(purpose: Purpose, design: &Design) -> Self {
        let (ports, speed, radix, medium) = match purpose {
            Purpose::Storage => (2, design.nic_bandwidth, design.radix, Medium::Fibre),
            Purpose::InBand => (2, BytesPerSecond::from_gbit(100.0), 64, Medium::Fibre),
            Purpose::OutOfBand => (1, BytesPerSecond::from_gbit(1.0), COPPER_PORTS, Medium::Copper),
        };
        Self { ports, speed, radix, oversubscription: 1.0, endpoints: 0, medium, uplinks: UPLINKS }
    }

    /// Reads `ports=2,speed=400G,oversubscription=4:3`.
    fn read(mut self, purpose: Purpose, text: &str) -> Result<Self, Problem> {
        let problem = |message: String| Problem::new(message).at_key(format!("design.{}", purpose.key()));
        for setting in text.split(',').map(str::trim).filter(|setting| !setting.is_empty()) {
            let Some((key, value)) = setting.split_once('=').map(|(key, value)| (key.trim(), value.trim()))
            else {
                return Err(problem(format!("`{}` has no value", human::shorten(setting)))
                    .hint("write a key and a value, as in `ports=2,endpoints=48`"));
            };
            let invalid = || {
                problem(format!(
                    "`{}` is not a valid value of `{}`",
                    human::shorten(value),
                    human::shorten(key)
                ))
            };
            let count = |most: u64| value.parse::<u64>().ok().filter(|n| *n <= most).ok_or_else(invalid);
            match key {
                "ports" => self.ports = count(64)?,
                "radix" => self.radix = count(MOST_PORTS)?,
                "endpoints" => self.endpoints = count(MOST_DEVICES)?,
                "uplinks" if purpose == Purpose::OutOfBand => self.uplinks = count(64)?,
                "speed" => self.speed = speed(value).ok_or_else(invalid)?,
                "oversubscription" => self.oversubscription = ratio(value).ok_or_else(invalid)?,
                "medium" => {
                    self.medium = Medium::read(&Value::Text(value.to_owned())).map_err(|_| invalid())?;
                    // Networks of servers have no circuit switches.
                    if self.medium == Medium::Circuit {
                        return Err(invalid());
                    }
                }
                _ => {
                    let known =
                        || SETTINGS.into_iter().filter(|k| *k != "uplinks" || purpose == Purpose::OutOfBand);
                    let list = format!("settings are {}", known().collect::<Vec<_>>().join(", "));
                    return Err(problem(format!("unknown setting `{}`", human::shorten(key)))
                        .hint(did_you_mean(key, known(), &list)));
                }
            }
        }
        if self.ports + self.endpoints == 0 {
            return Err(problem("no ports".to_owned()).hint("set `ports`, the number of ports per server"));
        }
        Ok(self)
    }

    /// The network for its ports, spread over one fabric for each port of a server.
    fn build(&self, purpose: Purpose, servers: u64) -> Result<SideNetwork, Problem> {
        let at_key = |problem: Problem| problem.at_key(format!("design.{}", purpose.key()));
        within("radix", self.radix, 2, MOST_PORTS).map_err(at_key)?;
        let ports = servers.saturating_mul(self.ports).saturating_add(self.endpoints);
        let is_flat = purpose == Purpose::OutOfBand;
        let fabrics = if is_flat { ports.div_ceil(self.radix) } else { self.ports.max(1) };
        let request = Request {
            groups: 1,
            endpoints: ports.div_ceil(fabrics),
            radix: self.radix,
            spine_radix: None,
            core_radix: None,
            top_radix: None,
            hosts_per_port: 1,
            hosts_per_leaf: None,
            server: 1,
            backup_ports: 0,
            tiers: is_flat.then_some(1),
            leaf_oversubscription: Some(self.oversubscription),
            spine_oversubscription: 1.0,
            core_oversubscription: 1.0,
            pods: None,
            zones: None,
            groups_in_pods: false,
        };
        // Hints about the accelerators' network do not help here.
        let clos = Clos::new(&request).map_err(|problem| {
            at_key(Problem::new(format!("{} network: {}", purpose.name(), problem.message)))
        })?;
        let usual = |length| Cabling { medium: self.medium, length };
        Ok(SideNetwork {
            purpose,
            servers,
            ports: self.ports,
            endpoints: self.endpoints,
            speed: self.speed,
            radix: self.radix,
            fabrics,
            clos,
            uplinks: if is_flat { fabrics * self.uplinks } else { 0 },
            cabling: [usual(5.0), usual(30.0)],
        })
    }
}

/// `400G`, `400 Gbit/s`.
fn speed(text: &str) -> Option<BytesPerSecond> {
    let number = text.strip_suffix("Gbit/s").or_else(|| text.strip_suffix('G'))?;
    let gbit = number.trim().parse::<f64>().ok()?;
    (gbit > 0.0 && gbit <= 1e6).then(|| BytesPerSecond::from_gbit(gbit))
}

/// `1.5`, `4:3`.
fn ratio(text: &str) -> Option<f64> {
    let (over, under) = text.split_once(':').unwrap_or((text, "1"));
    let ratio = over.trim().parse::<f64>().ok()? / under.trim().parse::<f64>().ok()?;
    (1.0..=1e4).contains(&ratio).then_some(ratio)
}

impl DesignSpec {
    /// The requested side networks of a design.
    pub(super) fn side_networks(&self, design: &Design) -> Result<Vec<SideNetwork>, Problem> {
        let text = |purpose| match purpose {
            Purpose::Storage => self.storage.as_deref(),
            Purpose::InBand => self.in_band.as_deref(),
            Purpose::OutOfBand => self.out_of_band.as_deref(),
        };
        let asked = |purpose| {
            let read = |text: &str| Asked::usual(purpose, design).read(purpose, text);
            text(purpose).map(read).transpose()
        };
        let storage = asked(Purpose::Storage)?;
        let (in_band, out_of_band) = (asked(Purpose::InBand)?, asked(Purpose::OutOfBand)?);
        if storage.is_none() && in_band.is_none() && out_of_band.is_none() {
            return Ok(Vec::new());
        }
        let servers = self.servers(design)?;
        let mut networks = Vec::new();
        for (purpose, asked) in [(Purpose::Storage, &storage), (Purpose::InBand, &in_band)] {
            networks.extend(asked.as_ref().map(|asked| asked.build(purpose, servers)).transpose()?);
        }
        let Some(mut lowest) = out_of_band else { return Ok(networks) };
        let switches = |network: &SideNetwork| network.counts().switches();
        let others = design.counts().switches() + networks.iter().map(switches).sum::<u64>();
        lowest.endpoints += others;
        let out_of_band = lowest.build(Purpose::OutOfBand, servers)?;
        if let Some(mut upper) = in_band {
            // Its switches take ports of the in-band network, which can need further switches of its own.
            upper.endpoints += out_of_band.uplinks;
            let rebuilt = upper.build(Purpose::InBand, servers)?;
            networks.retain(|network| network.purpose != Purpose::InBand);
            networks.push(rebuilt);
        }
        networks.push(out_of_band);
        Ok(networks)
    }

    /// Servers of a design.
    fn servers(&self, design: &Design) -> Result<u64, Problem> {
        let domain = design.domain.size;
        let Some(server) = self.server.or_else(|| (domain <= LARGEST_SERVER).then_some(domain)) else {
            return Err(Problem::new(format!("the servers of a domain of {domain} devices are unknown"))
                .at_key("design.server")
                .hint(
                    "set design.server, the number of devices per server, such as 4 for a compute tray in an NVL72",
                ));
        };
        let server = within("server", server, 1, MOST_DEVICES)?;
        if !design.devices.is_multiple_of(server) {
            let devices = human::whole(design.devices);
            return Err(Problem::new(format!("{devices} devices are not a multiple of {server} per server"))
                .at_key("design.server"));
        }
        Ok(design.devices / server)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::Kind;

    fn superpod() -> DesignSpec {
        DesignSpec { extra_endpoints: Some(4), ..DesignSpec::of(Kind::RailOptimized, 127 * 8, 8, 64) }
    }

    fn parts(spec: &DesignSpec) -> Vec<(Purpose, Counts)> {
        let design = spec.resolve().expect("it can be built");
        design.side.iter().map(|side| (side.purpose, side.counts())).collect()
    }

    /// DGX SuperPOD of 127 H100 systems (RA-11333-001 V11, tables 7 and 8). In-band: 8 switches of 64 ports,
    /// 24 cables between leaves and cores, ports for 254 cables of systems, 8 of management servers, 4 of
    /// the site, 8 of NFS storage and 2 uplinks of each of the 8 out-of-band switches. Out-of-band: 8
    /// switches for 127 systems, 72 switches, 8 management servers, 2 UFM and 108 power distribution
    /// units; ports of storage vary ("Varies").
    #[test]
    fn management_networks_of_a_published_superpod() {
        let of = |storage: u64| {
            let counts = parts(&DesignSpec {
                in_band: Some("ports=2,oversubscription=15,endpoints=20".to_owned()),
                // 16 switches of the storage fabric, which is not part of this design, are further ports.
                out_of_band: Some(format!("endpoints={}", 16 + 8 + 2 + 108 + storage)),
                ..superpod()
            });
            (counts[0].1.clone(), counts[1].1.clone())
        };
        for storage in [20, 67] {
            let (in_band, out_of_band) = of(storage);
            assert_eq!(in_band.switches(), 8);
            assert_eq!(in_band.links_in(Layer::LeafSpine), 24);
            assert_eq!(in_band.links_in(Layer::Access), 254 + 8 + 4 + 8 + 16);
            assert_eq!((in_band.nics, out_of_band.nics), (254, 0));
            assert_eq!((out_of_band.switches(), out_of_band.transceivers()), (8, 0));
            assert_eq!(out_of_band.links_in(Layer::Access), 127 + 64 + 8 + 8 + 2 + 108 + storage);
        }
        assert_eq!((of(19).1.switches(), of(68).1.switches()), (7, 9));
    }

    /// The same system's storage fabric, 4:3 at its systems: 254 cables of systems and 240 between switches
    /// make its 494. It has 16 switches, two more than needed here: its storage has leaves of its own
    /// ("adjustments as needed").
    #[test]
    fn storage_network_of_a_published_superpod() {
        let counts = parts(&DesignSpec {
            storage: Some("ports=2,speed=400G,oversubscription=4:3,endpoints=56".to_owned()),
            ..superpod()
        });
        let storage = &counts[0].1;
        assert_eq!(254 + storage.links_in(Layer::LeafSpine), 494);
        assert_eq!(storage.switches(), 14);
        // Transceivers of switches are for two links: 369 for the systems, both ends of 240 links, and 4 of
        // UFM.
        assert_eq!((254 + 2 * storage.links_in(Layer::LeafSpine) + 4) / 2, 369);
    }

    /// DGX A100 SuperPOD of 140 systems, storage at 4:3: the 18 leaves published have the 8 spines published.
    #[test]
    fn spines_of_a_published_storage_fabric() {
        for endpoints in [74, 116] {
            let counts = parts(&DesignSpec {
                storage: Some(format!("ports=2,oversubscription=4:3,endpoints={endpoints}")),
                ..DesignSpec::of(Kind::RailOptimized, 1120, 8, 40)
            });
            let storage = &counts[0].1;
            assert_eq!((storage.switches_in("leaf"), storage.switches_in("spine")), (18, 8));
        }
    }

    #[test]
    fn servers_of_large_domains_are_not_guessed() {
        let rack = DesignSpec {
            storage: Some("ports=1".to_owned()),
            ..DesignSpec::of(Kind::RailOptimized, 576, 72, 64)
        };
        let problem = rack.resolve().expect_err("trays are unknown");
        assert_eq!(problem.place.expect("a key").key.as_deref(), Some("design.server"));
        let design = DesignSpec { server: Some(4), ..rack.clone() }.resolve().expect("18 trays each");
        assert_eq!(design.side[0].servers, 144);
        assert!(DesignSpec { server: Some(7), ..rack }.resolve().is_err());
    }

    #[test]
    fn mistakes_in_settings_are_at_their_key() {
        for (text, message) in [
            ("prots=2", "unknown setting `prots`"),
            ("ports", "`ports` has no value"),
            ("ports=-1", "`-1` is not a valid value of `ports`"),
            ("speed=fast", "`fast` is not a valid value of `speed`"),
            ("oversubscription=0", "`0` is not a valid value of `oversubscription`"),
            ("uplinks=2", "unknown setting `uplinks`"),
            ("ports=0", "no ports"),
        ] {
            let spec = DesignSpec { storage: Some(text.to_owned()), ..superpod() };
            let problem = spec.resolve().expect_err(text);
            assert_eq!(problem.message, message);
            assert_eq!(problem.place.expect("a key").key.as_deref(), Some("design.storage"));
        }
    }

    #[test]
    fn designs_without_side_networks_have_none() {
        assert!(superpod().resolve().expect("built").side.is_empty());
    }
}
