//! Routes through a network, computed for one pair at a time.
//!
//! Responsible for: equal paths under every kind of routing, and forwarding of messages to another rail.
//! Excludes tables of pairs and other traffic on the links.

mod clos;
mod grouped;
mod message;
mod torus;
mod valiant;
mod walk;

use super::build::{Detail, FabricLayout, Topology};
use super::design::Fabric;
use super::graph::LinkId;
use super::hash::Choices;
use super::kind::{Forwarding, Routing};
use super::route::Route;
pub(crate) use message::{Draw, Message};

impl Topology {
    /// The route of a message from one device to another: all routes of its connection, each with its share.
    /// Messages between the same devices choose by their label (a chunk). `None` if nothing joins them.
    /// The route from a device to itself is empty.
    pub fn route(&self, from: u32, to: u32, label: u64) -> Option<Route> {
        let draws = self.draws(label);
        if let [only] = draws.as_slice() {
            return self.drawn(from, to, *only, &|_| true);
        }
        // Within a domain there is nothing to draw.
        if self.is_one_domain(from, to) {
            return self.drawn(from, to, Draw { label, plane: None }, &|_| true);
        }
        let routes: Option<Vec<Route>> =
            draws.into_iter().map(|draw| self.drawn(from, to, draw, &|_| true)).collect();
        routes.map(Route::evenly)
    }

    /// The same with detours that avoid broken links; hashed routes are drawn again at the switches that lack
    /// one.
    pub(crate) fn route_past(
        &self,
        from: u32,
        to: u32,
        label: u64,
        is_alive: &dyn Fn(LinkId) -> bool,
    ) -> Option<Route> {
        self.drawn(from, to, Draw { label, plane: None }, is_alive)
    }

    /// Draws of a connection: a route for each queue pair of each channel on each port
    /// ([`super::design::Connection`]). Sprayed packets and routes by destination need no draw. Ports
    /// share striped bytes.
    pub(crate) fn draws(&self, label: u64) -> Vec<Draw> {
        let (connection, planes) = (self.design.connection, self.design.planes);
        let routes = match self.design.routing {
            Routing::Spray | Routing::Valiant | Routing::Adaptive => {
                return vec![Draw { label, plane: None }];
            }
            Routing::Ecmp => connection.routes(),
            Routing::Static => 1,
        };
        // The first draw is that of the label itself.
        let is_striped = connection.plane_striping && planes > 1;
        let ports = if is_striped { planes } else { 1 };
        let draw = |n: u64| Draw { label: label ^ (n << 16), plane: is_striped.then_some(n % ports) };
        (0..routes * ports).map(draw).collect()
    }

    fn is_one_domain(&self, from: u32, to: u32) -> bool {
        let size = self.design.domain.size;
        u64::from(from) / size == u64::from(to) / size && size > 1
    }

    /// The route of one draw. Routes of several ports, by destination or sprayed ignore broken links.
    pub(crate) fn drawn(
        &self,
        from: u32,
        to: u32,
        draw: Draw,
        is_alive: &dyn Fn(LinkId) -> bool,
    ) -> Option<Route> {
        let design = &self.design;
        let devices = self.graph.devices();
        let mut route = Route::default();
        if from >= devices || to >= devices {
            return None;
        }
        if from == to {
            return Some(route);
        }
        let is_inside = self.is_one_domain(from, to);
        let (from, to) = (u64::from(from), u64::from(to));
        let size = design.domain.size;
        if is_inside {
            self.through_domain(from, to, &mut route);
            return Some(route);
        }
        let is_direct = design.rail(from) == design.rail(to)
            || (design.joins_rails() && design.forwarding == Forwarding::None);
        if is_direct {
            self.network(Message { from, to, draw }, is_alive, &mut route)?;
        } else if design.forwarding == Forwarding::After {
            let between = to / size * size + from % size;
            self.network(Message { from, to: between, draw }, is_alive, &mut route)?;
            self.through_domain(between, to, &mut route);
        } else {
            let between = from / size * size + to % size;
            self.through_domain(from, between, &mut route);
            self.network(Message { from: between, to, draw }, is_alive, &mut route)?;
        }
        Some(route)
    }

    /// The device that forwards a message; `None` if no device does.
    pub fn forwarder(&self, from: u32, to: u32) -> Option<u32> {
        let design = &self.design;
        let size = design.domain.size as u32;
        let (a, b) = (u64::from(from), u64::from(to));
        if from / size == to / size
            || design.rail(a) == design.rail(b)
            || (design.joins_rails() && design.forwarding == Forwarding::None)
        {
            return None;
        }
        Some(match design.forwarding {
            Forwarding::After => to / size * size + from % size,
            _ => from / size * size + to % size,
        })
    }

    fn through_domain(&self, from: u64, to: u64, route: &mut Route) {
        if let (Some(up), Some(down)) = (self.domain_link(from as u32), self.domain_link(to as u32)) {
            route.push(up);
            route.push(down.reverse());
        }
    }

    fn choices(&self, message: Message) -> Choices {
        Choices::new(self.design.seed, message.from, message.to, message.draw.label)
    }

    fn network(&self, message: Message, is_alive: &dyn Fn(LinkId) -> bool, route: &mut Route) -> Option<()> {
        let mut choices = self.choices(message);
        let Message { from, to, .. } = message;
        if let (FabricLayout::Torus(first), Fabric::Torus(torus)) = (&self.layout.fabric, &self.design.fabric)
        {
            torus::route(torus, *first, message, self.design.routing, &mut choices, route);
            return Some(());
        }
        route.push(self.host_link(from as u32)?);
        // One plane of several, or all of them side by side.
        let planes = self.design.planes;
        let chosen = match self.design.routing {
            _ if message.draw.plane.is_some() => {
                let plane = message.draw.plane.unwrap_or_default();
                plane..plane + 1
            }
            Routing::Spray | Routing::Valiant | Routing::Adaptive => 0..planes,
            Routing::Ecmp => {
                let plane = choices.below(planes);
                plane..plane + 1
            }
            Routing::Static => to % planes..to % planes + 1,
        };
        let share = 1.0 / (chosen.end - chosen.start) as f64;
        let access = |device: u64| {
            let links = chosen.clone().map(move |plane| self.access_link(device as u32, plane));
            links.collect::<Option<Vec<LinkId>>>()
        };
        route.side_by_side(access(from)?.into_iter().map(|link| (link, share)));
        match (&self.layout.fabric, &self.design.fabric) {
            (FabricLayout::Clos(layout), Fabric::Clos(network)) => {
                let link_path = clos::LinkPath { design: &self.design, network, layout, message };
                let first = route.hops.len();
                match self.detail {
                    Detail::Links if link_path.is_walked() && !self.design.routing.is_spread() => {
                        walk::drawn(self, chosen.start, (from, to), &mut choices, route)?;
                    }
                    Detail::Parted => walk::sprayed(self, chosen.clone(), (from, to), route)?,
                    Detail::Links if link_path.is_walked() => {
                        walk::sprayed(self, chosen.clone(), (from, to), route)?;
                    }
                    Detail::Links => link_path.route(chosen.clone(), &mut choices, route),
                    Detail::Pooled => link_path.route_pooled(chosen.clone(), route),
                }
                let is_hashed = self.design.routing == Routing::Ecmp;
                if is_hashed && !route.hops[first..].iter().all(|hop| is_alive(hop.link)) {
                    let usual: Vec<_> = route.hops.drain(first..).map(|hop| hop.link).collect();
                    walk::redrawn(self, (chosen.start, from, to), &usual, is_alive, &mut choices, route)?;
                }
            }
            (FabricLayout::Dragonfly(layout), Fabric::Dragonfly(dragonfly)) => {
                let is_detour = self.design.routing == Routing::Valiant;
                if !(is_detour && valiant::route(dragonfly, layout, message, is_alive, route)) {
                    grouped::route(dragonfly, layout, message, self.design.routing, &mut choices, route);
                }
            }
            (FabricLayout::DragonflyPlus(layout), Fabric::DragonflyPlus(plus)) => {
                let is_detour = self.design.routing == Routing::Valiant;
                if !(is_detour && valiant::route_plus(plus, layout, message, is_alive, route)) {
                    grouped::route_plus(plus, layout, message, self.design.routing, &mut choices, route);
                }
            }
            _ => return None,
        }
        route.side_by_side(access(to)?.into_iter().map(|link| (link.reverse(), share)));
        route.push(self.host_link(to as u32)?.reverse());
        Some(())
    }
}

#[cfg(test)]
mod tests;
