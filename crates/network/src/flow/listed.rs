//! Programs of flows from a table or JSON: source, destination, bytes, start, and preceding flows.
//!
//! Responsible for: simulating such a program on any routes, with start and end of every flow. Does not
//! choose routes.
//!
//! A flow begins `start` after the end of the last of its preceding flows, or after the beginning of the
//! program. Its bytes flow after the latency of its route.

mod held;
mod json;
mod mesh;
mod row;
mod rows;
mod table;
#[cfg(test)]
mod tests;

pub use held::{MOST_FLOWS as MOST_HELD, held};
pub use mesh::MeshRoutes;
pub use rows::parse;

use super::engine::simulate;
use super::run::Outcome;
use super::traffic::{Flow, Start, Traffic, Wires};
use crate::flow::LinkPath;
use railwright_spec::problem::Problem;
use railwright_spec::quantity::{Bytes, Seconds};
use serde::Serialize;
use std::ops::ControlFlow;

/// A flow of a program.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed {
    /// Its name, or its number from 0.
    pub name: String,
    /// The sender.
    pub from: u32,
    /// The receiver.
    pub to: u32,
    /// Message size.
    pub bytes: Bytes,
    /// Delay.
    pub start: Seconds,
    /// Numbers of the preceding flows.
    pub after: Vec<u32>,
}

/// Start and end of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Interval {
    /// End of its delay, in seconds.
    pub begin: Seconds,
    /// Arrival of its last byte, in seconds.
    pub end: Seconds,
}

/// Links and routes of any network.
pub trait Routes {
    /// Capacity of every link, in bytes per second.
    fn capacities(&self) -> Vec<f64>;

    /// Links of a message with its share on each; `None` if the devices are disconnected.
    fn link_path(&self, from: u32, to: u32, label: u64) -> Option<LinkPath>;
}

/// Routes with known ports into scale-up domains.
pub trait DomainPorts: Routes {
    /// Number of devices.
    fn device_count(&self) -> u32;

    /// Devices of a scale-up domain.
    fn domain_size(&self) -> u32;

    /// The device of a link into or out of its scale-up domain, and true for the link into it. `None` for
    /// other links.
    fn domain_port(&self, link: u32) -> Option<(u32, bool)>;
}

/// Simulates a program. Every flow has its own hash, which `draw` changes. Fails if a flow has no route.
pub fn play(routes: &impl Routes, flows: &[Listed], draw: u32) -> Result<(Vec<Interval>, Outcome), Problem> {
    play_watched(routes, flows, draw, &mut |_| ControlFlow::Continue(()))
}

/// The same with progress: `watch` receives the number of flows that have ended, and may stop the program,
/// which is a problem.
pub fn play_watched(
    routes: &impl Routes,
    flows: &[Listed],
    draw: u32,
    watch: &mut dyn FnMut(usize) -> ControlFlow<()>,
) -> Result<(Vec<Interval>, Outcome), Problem> {
    let capacities = routes.capacities();
    let mut followers = vec![Vec::new(); flows.len()];
    for (number, flow) in flows.iter().enumerate() {
        for before in &flow.after {
            if let Some(followers) = followers.get_mut(*before as usize) {
                followers.push(number as u32);
            }
        }
    }
    let waits = flows.iter().map(|flow| flow.after.len() as u32).collect();
    let intervals = vec![Interval::default(); flows.len()];
    let mut program = Program { flows, followers, waits, intervals, now: 0.0, ended: 0, watch };
    let outcome = simulate(&Delayed { routes, flows, capacities, draw }, &mut program)?;
    Ok((program.intervals, outcome))
}

/// The hash label of a flow in a draw.
fn label(draw: u32, tag: u64) -> u64 {
    u64::from(draw) << 32 | tag
}

struct Delayed<'a, R> {
    routes: &'a R,
    flows: &'a [Listed],
    capacities: Vec<f64>,
    draw: u32,
}

impl<R: Routes> Wires for Delayed<'_, R> {
    /// Capacities by link. The last one, 0, is that of the link in place of a missing route.
    fn capacities(&self) -> Vec<f64> {
        self.capacities.iter().copied().chain(std::iter::once(0.0)).collect()
    }

    fn route(&self, flow: &Flow, route: &mut Vec<(u32, f64)>) -> f64 {
        let delay = self.flows.get(flow.tag as usize).map_or(0.0, |flow| flow.start.get());
        if flow.from == flow.to {
            return delay;
        }
        let Some(link_path) = self.routes.link_path(flow.from, flow.to, label(self.draw, flow.tag)) else {
            route.push((self.capacities.len() as u32, 1.0));
            return delay;
        };
        route.extend_from_slice(&link_path.links);
        delay + link_path.latency
    }
}

struct Program<'a> {
    flows: &'a [Listed],
    followers: Vec<Vec<u32>>,
    waits: Vec<u32>,
    intervals: Vec<Interval>,
    now: f64,
    ended: usize,
    watch: &'a mut dyn FnMut(usize) -> ControlFlow<()>,
}

impl Program<'_> {
    fn start(&mut self, number: usize, start: &mut Start) {
        if let (Some(flow), Some(interval)) = (self.flows.get(number), self.intervals.get_mut(number)) {
            interval.begin = Seconds::new(self.now + flow.start.get());
            start.push(Flow { from: flow.from, to: flow.to, bytes: flow.bytes.get(), tag: number as u64 });
        }
    }
}

impl Traffic for Program<'_> {
    fn begin(&mut self, start: &mut Start) {
        let first: Vec<usize> =
            self.waits.iter().enumerate().filter(|(_, n)| **n == 0).map(|(n, _)| n).collect();
        for number in first {
            self.start(number, start);
        }
    }

    fn clock(&mut self, now: f64) {
        self.now = now;
    }

    fn goes_on(&mut self) -> bool {
        (self.watch)(self.ended).is_continue()
    }

    fn arrived(&mut self, tag: u64, start: &mut Start) {
        let number = tag as usize;
        self.ended += 1;
        if let Some(interval) = self.intervals.get_mut(number) {
            interval.end = Seconds::new(self.now);
        }
        for next in self.followers.get_mut(number).map(std::mem::take).unwrap_or_default() {
            let Some(left) = self.waits.get_mut(next as usize) else { continue };
            *left = left.saturating_sub(1);
            if *left == 0 {
                self.start(next as usize, start);
            }
        }
    }
}
