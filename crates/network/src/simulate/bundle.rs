//! Aggregates equivalent flows and links: flows that always have the same rate are one, and so are the links
//! that they load equally.
//!
//! Responsible for: the smallest network in which every flow has its rate of the full network. Does not
//! simulate.
//!
//! **Why this is exact.** Colour flows and links. Flows of one colour cross equally many links of every
//! colour, with equal shares. Links of one colour have equal capacity and are crossed by equally many flows
//! of every colour. This is an equitable partition; colour refinement finds the coarsest. Progressive filling
//! raises all rates together. As long as flows of one colour have equal rates, links of one colour
//! carry equal loads, so they fill at the same time. Then every flow of each colour that crosses one of them
//! crosses one, and all of that colour freeze together. By induction rates are equal within colours. One flow
//! of each colour, loading one link of each colour by the sum of its colour there, has the same rates. When
//! all flows of a colour end together, the remaining partition is equitable again. Tests compare this with
//! the full network.
//!
//! Without symmetry (hashes collide, a part is broken) there are too many colours to simulate a long step.
//! Then all members of a class have the rate of their slowest, an approximation that is reported as such
//! ([`Bundle::uniform`]).

use super::class::{Block, Class};
use super::edge::Edge;
use super::links::Links;
use super::rows::{self, Load};
use crate::flow::{Allocator, Flow, Sender, Wires};
use railwright_spec::problem::Problem;
use std::collections::{BTreeMap, BTreeSet};

/// One flow of the small network.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Unit {
    /// The class that it belongs to.
    pub class: u32,
    /// Number of groups that it represents.
    pub members: u32,
    /// Bytes per second on each link of the large network at its ideal speed.
    pub loads: Vec<(u32, f64)>,
    /// The same on the rows of the small one.
    route: Vec<(u32, f64)>,
    /// Latency of the slowest route, in seconds.
    pub latency: f64,
}

/// The small network.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bundle {
    /// Its flows.
    pub units: Vec<Unit>,
    /// The units of each class.
    pub classes: Vec<Vec<u32>>,
    /// Capacities of its rows.
    rows: Vec<f64>,
    /// By class: true if its groups are equivalent in the network, so that they have equal rates.
    pub uniform: Vec<bool>,
    /// By class: true if adaptive routing sends it through third groups.
    pub detours: Vec<bool>,
}

/// A flow that waits without sending: the sender's number in [`Flow::from`].
pub(super) const PAUSE: u32 = u32::MAX;

/// Maximum number of colours of one class for a program that sends repeatedly.
pub const FEW: usize = 64;

/// Relative difference of link loads that a coarse bundle treats as equal.
const COARSE: f64 = 0.02;

/// The flows of the large network with their colours, before their number is reduced.
#[derive(Clone, Debug)]
pub struct Members {
    loads: Vec<Vec<(u32, f64)>>,
    class: Vec<u32>,
    latency: Vec<f64>,
    colours: Vec<u64>,
    /// Number of colours of each class.
    per_class: Vec<usize>,
    capacities: Vec<f64>,
    /// Whether groups of each class stay apart.
    apart: Vec<bool>,
    /// Whether each class goes through third groups.
    detours: Vec<bool>,
}

impl Members {
    /// Of classes on a network.
    pub fn new(links: &dyn Links, classes: &[Class]) -> Result<Self, Problem> {
        let capacities = links.capacities();
        let mut scratch = vec![0.0; capacities.len()];
        let mut members = Self {
            loads: Vec::new(),
            class: Vec::new(),
            latency: Vec::new(),
            colours: Vec::new(),
            per_class: vec![0; classes.len()],
            capacities: Vec::new(),
            apart: classes.iter().map(|class| class.apart).collect(),
            detours: vec![false; classes.len()],
        };
        for (number, class) in classes.iter().enumerate() {
            let ideal = class.ideal;
            if ideal <= 0.0 {
                continue;
            }
            let mut laid = lay(links, class, &mut scratch)?;
            let others = links.others();
            let mut least = if others.is_empty() { 0.0 } else { busiest(&laid, &capacities, &mut scratch) };
            for (other, is_detour) in others {
                // Skipped if the ranks are disconnected there.
                let Ok(link_paths) = lay(other, class, &mut scratch) else { continue };
                let busy = busiest(&link_paths, &capacities, &mut scratch);
                // On equal speed, keep the shorter routes.
                if busy < least * (1.0 - 1e-9) {
                    (laid, least) = (link_paths, busy);
                    members.detours[number] = is_detour;
                }
            }
            for (loads, latency) in laid {
                members.loads.push(loads);
                members.class.push(number as u32);
                members.latency.push(latency);
            }
        }
        members.colours = rows::refine(&members.loads, &members.class, &capacities);
        let known: BTreeSet<(u32, u64)> =
            members.class.iter().copied().zip(members.colours.iter().copied()).collect();
        for (class, _) in known {
            members.per_class[class as usize] += 1;
        }
        members.capacities = capacities;
        Ok(members)
    }

    /// Flows of each class in a small network of at most `most` colours.
    pub fn units(&self, most: usize) -> Vec<usize> {
        let all = self.per_class.iter().zip(&self.apart);
        all.map(|(&colours, apart)| if colours > most && !apart { 1 } else { colours }).collect()
    }

    /// The small network; classes with more than `most` colours keep step with their slowest member, unless
    /// they are to stay apart.
    pub fn bundle(&self, most: usize) -> Bundle {
        Bundle::of(self, most, rows::EXACT)
    }

    /// One flow for each class, and one link for all whose loads differ by less than `COARSE`: for programs
    /// of many tasks on networks of many different links.
    pub fn coarse(&self) -> Bundle {
        Bundle::of(self, 1, COARSE)
    }
}

impl Bundle {
    /// Of classes on a network; those with more than `most` colours keep step with their slowest member,
    /// unless they are to stay apart.
    pub fn new(links: &dyn Links, classes: &[Class], most: usize) -> Result<Self, Problem> {
        Ok(Members::new(links, classes)?.bundle(most))
    }

    fn of(members: &Members, most: usize, tolerance: f64) -> Self {
        let Members { colours, per_class, capacities, .. } = members;
        let classes = per_class.len();
        let units = members.units(most);
        let mut bundle = Self {
            units: Vec::new(),
            classes: vec![Vec::new(); classes],
            rows: Vec::new(),
            uniform: per_class.iter().map(|colours| *colours <= 1).collect(),
            detours: members.detours.clone(),
        };
        // Each class is decided separately, because too many colours of one class would affect the others.
        let mut unit_of: BTreeMap<(u32, u64), usize> = BTreeMap::new();
        let mut of_unit: Vec<Vec<usize>> = Vec::new();
        for (member, (class, colour)) in members.class.iter().zip(colours).enumerate() {
            let colour = if units[*class as usize] < per_class[*class as usize] { 0 } else { *colour };
            let unit = *unit_of.entry((*class, colour)).or_insert_with(|| {
                bundle.classes[*class as usize].push(bundle.units.len() as u32);
                bundle.units.push(Unit { class: *class, ..Unit::default() });
                of_unit.push(Vec::new());
                bundle.units.len() - 1
            });
            of_unit[unit].push(member);
        }
        let mut scratch = vec![0.0; capacities.len()];
        for (unit, own) in bundle.units.iter_mut().zip(&of_unit) {
            unit.members = own.len() as u32;
            unit.loads = sum(own.iter().map(|&member| members.loads[member].as_slice()), &mut scratch);
            unit.latency = own.iter().map(|&member| members.latency[member]).fold(0.0, f64::max);
        }
        let loads: Vec<Load<'_>> = bundle.units.iter().map(|unit| unit.loads.as_slice()).collect();
        let (rows, routes) = rows::few(&loads, capacities, tolerance);
        bundle.rows = rows;
        for (unit, route) in bundle.units.iter_mut().zip(routes) {
            unit.route = route;
        }
        bundle
    }

    /// Tests whether non-equivalent groups of a class are merged into one flow, at the rate of the slowest.
    pub fn is_merged(&self) -> bool {
        self.uniform.iter().zip(&self.classes).any(|(uniform, units)| !uniform && units.len() == 1)
    }

    /// Classes that share nothing: without flows, each takes its ideal time at any start.
    pub fn free(classes: usize) -> Self {
        Self {
            classes: vec![Vec::new(); classes],
            uniform: vec![true; classes],
            detours: vec![false; classes],
            ..Self::default()
        }
    }

    /// By class: relative speed when it has the network for itself; 1 is its ideal speed.
    pub fn uncontended_speeds(&self) -> Vec<f64> {
        let mut paces = vec![1.0; self.classes.len()];
        for (class, units) in self.classes.iter().enumerate() {
            let mut allocator = Allocator::new(self.rows.iter().copied());
            let slots: Vec<_> =
                units.iter().map(|&unit| allocator.insert(&self.units[unit as usize].route)).collect();
            allocator.solve(|_, _| {});
            let slowest = slots.iter().map(|slot| allocator.rate(*slot)).reduce(f64::min);
            paces[class] = slowest.unwrap_or(1.0);
        }
        paces
    }

    /// Limits a unit that sends without end to a pace, as a neighbour's job: pace 1 is its ideal speed.
    pub fn cap(&mut self, class: usize, pace: f64) {
        for &unit in self.classes.get(class).into_iter().flatten() {
            let row = self.rows.len() as u32;
            self.rows.push(pace);
            self.units[unit as usize].route.push((row, 1.0));
        }
    }
}

/// Load of a group on links, in bytes per second at ideal speed, and its longest latency.
type Laid = (Vec<(u32, f64)>, f64);

/// The groups of a class on the links of a network; those that meet no link are left out.
fn lay(links: &dyn Links, class: &Class, scratch: &mut [f64]) -> Result<Vec<Laid>, Problem> {
    let of_edges = class.members.iter().map(|edges| Group::Edges(edges));
    let groups = of_edges.chain(class.blocks.iter().map(|blocks| Group::Blocks(blocks)));
    let mut laid = Vec::with_capacity(class.members.len() + class.blocks.len());
    for group in groups {
        let (loads, latency) = group.loads(links, class.ideal, scratch)?;
        if !loads.is_empty() {
            laid.push((loads, latency));
        }
    }
    Ok(laid)
}

/// Utilization of the busiest link if all groups run at ideal speed.
fn busiest(laid: &[Laid], capacities: &[f64], scratch: &mut [f64]) -> f64 {
    let loads = sum(laid.iter().map(|(loads, _)| loads.as_slice()), scratch);
    loads.iter().map(|(link, load)| load / capacities[*link as usize]).fold(0.0, f64::max)
}

/// One group as in its class.
#[derive(Clone, Copy)]
enum Group<'a> {
    Edges(&'a [Edge]),
    Blocks(&'a [Block]),
}

impl Group<'_> {
    /// Load of its pairs on the links of the network: bytes per second at ideal speed, and the longest
    /// latency.
    fn loads(self, links: &dyn Links, ideal: f64, scratch: &mut [f64]) -> Result<Laid, Problem> {
        let mut touched: Vec<u32> = Vec::new();
        let mut latency = 0.0_f64;
        let mut add = |link: u32, load: f64| {
            let sum = &mut scratch[link as usize];
            if *sum == 0.0 {
                touched.push(link);
            }
            *sum += load;
        };
        let mut pair = |edge: Edge, add: &mut dyn FnMut(u32, f64)| {
            let Some(link_path) = links.link_path(edge.from, edge.to) else {
                return Err(links.apart(edge.from, edge.to));
            };
            latency = latency.max(link_path.latency);
            for (link, share) in link_path.links {
                add(link, edge.bytes / ideal * share);
            }
            Ok(())
        };
        match self {
            Self::Edges(edges) => edges.iter().try_for_each(|edge| pair(*edge, &mut add))?,
            Self::Blocks(blocks) => {
                let mut problem = None;
                for block in blocks {
                    let is_counted = links.count(block, &mut |link, bytes| {
                        if bytes > 0.0 {
                            add(link, bytes / ideal);
                        }
                    });
                    if !is_counted {
                        block.for_each(|edge| {
                            if problem.is_none() {
                                problem = pair(edge, &mut add).err();
                            }
                        });
                        continue;
                    }
                    // Routes of a few members are as long as any.
                    let members = &block.members;
                    for from in [0, members.len() / 2, members.len() - 1].map(|n| members[n]) {
                        for to in members.iter().filter(|to| **to != from) {
                            pair(Edge { from, to: *to, bytes: 0.0 }, &mut |_, _| {})?;
                        }
                    }
                }
                if let Some(problem) = problem {
                    return Err(problem);
                }
            }
        }
        Ok((collect(touched, scratch), latency))
    }
}

fn sum<'a>(parts: impl Iterator<Item = &'a [(u32, f64)]>, scratch: &mut [f64]) -> Vec<(u32, f64)> {
    let mut touched = Vec::new();
    for &(link, load) in parts.flatten() {
        let sum = &mut scratch[link as usize];
        if *sum == 0.0 {
            touched.push(link);
        }
        *sum += load;
    }
    collect(touched, scratch)
}

/// Sums of the touched links, by link; resets the scratch buffer to zero.
fn collect(mut touched: Vec<u32>, scratch: &mut [f64]) -> Vec<(u32, f64)> {
    touched.sort_unstable();
    touched.into_iter().map(|link| (link, std::mem::take(&mut scratch[link as usize]))).collect()
}

impl Wires for Bundle {
    fn capacities(&self) -> Vec<f64> {
        self.rows.clone()
    }

    fn route(&self, flow: &Flow, route: &mut Vec<(u32, f64)>) -> f64 {
        if flow.from == PAUSE {
            return flow.bytes;
        }
        if let Some(unit) = self.units.get(flow.from as usize) {
            route.extend_from_slice(&unit.route);
        }
        0.0
    }

    fn senders(&self) -> Vec<Sender<'_>> {
        self.units.iter().map(|unit| Sender { group: unit.class, route: &unit.route }).collect()
    }
}
